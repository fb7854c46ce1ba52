"""The effect without single workers and groups of items equals the fit of the table without them."""

import math

import numpy as np
import pandas as pd
import pytest
from places import ROOT
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.crossed import problem as problem_module
from humeval_power.estimation.crossed.examination import at_variances_of, is_searched_slowly
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.files.tables import read_table
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.study import simulate
from humeval_power.studies.analyze.diagnostics import leave_item_groups_out, leave_one_worker_out
from humeval_power.studies.analyze.result_diagnostics import influence_rows
from humeval_power.studies.fit.wald import difference_test, effect_test

PILOT = ROOT / "data" / "pilot.csv"


def pilot():
    return ratings_from_table(read_table(PILOT).frame)


@pytest.mark.parametrize(
    "rule",
    [DEFAULT_RULE, DecisionRule(estimator="ml", df="satterthwaite"), DecisionRule(analysis="differences")],
    ids=str,
)
def test_leaving_a_worker_out_is_analysing_the_table_without_the_worker(rule):
    ratings, frame = pilot(), read_table(PILOT).frame
    influence = leave_one_worker_out(ratings, rule=rule)
    assert [one.name for one in influence.left_out] == list(ratings.worker_names)
    for one in (influence.left_out[0], influence.left_out[-1]):
        rest = ratings_from_table(frame[frame["worker"] != one.name], scale=ratings.scale)
        if rule.analysis == "differences":
            expected = difference_test(rest, rule)
        else:
            expected = effect_test(fit(rest, estimator=rule.estimator), rule)
        assert one.n_ratings == ratings.n_ratings - rest.n_ratings
        assert one.estimate == pytest.approx(expected.estimate, abs=1e-9)
        assert one.p_value == pytest.approx(expected.p_value, rel=1e-6)


def test_only_the_workers_with_most_ratings_are_left_out_where_asked():
    frame = read_table(PILOT).frame
    ratings = ratings_from_table(frame.drop(frame[frame["worker"].isin(["w01", "w02"])].index[::3]))
    influence = leave_one_worker_out(ratings, largest=8)
    assert {one.name for one in influence.left_out} == set(ratings.worker_names) - {"w01", "w02"}
    assert influence.n_not_tried == 2
    with pytest.raises(InputError, match="largest"):
        leave_one_worker_out(ratings, largest=0)


def test_groups_of_items_part_the_items_evenly_and_the_seed_decides():
    ratings = pilot()
    influence = leave_item_groups_out(ratings, seed=3)
    assert len(influence.left_out) == 10
    # every item of the pilot has as many ratings as any other
    assert {one.n_ratings for one in influence.left_out} == {ratings.n_ratings // 10}
    assert influence == leave_item_groups_out(ratings, seed=3)
    assert influence.range != leave_item_groups_out(ratings, seed=4).range
    assert len(leave_item_groups_out(ratings, n_groups=1000).left_out) == ratings.n_items


def test_those_without_whom_the_decision_differs_are_named():
    influence = leave_one_worker_out(pilot())
    expected = [
        one.name for one in influence.left_out if one.test.significant != influence.whole.significant
    ]
    assert [one.name for one in influence.changed] == expected
    low, high = influence.range
    assert low < influence.whole.estimate < high


def test_where_the_rest_cannot_be_analysed_the_reason_is_given():
    rng = np.random.default_rng(1)
    worker, item, system = np.indices((2, 12, 2)).reshape(3, -1)
    frame = pd.DataFrame({"worker": worker, "item": item, "system": system})
    ratings = ratings_from_table(frame.assign(rating=rng.integers(1, 6, len(worker))), systems=("0", "1"))
    influence = leave_one_worker_out(ratings)
    assert all(one.test is None and "At least 2 workers" in one.reason for one in influence.left_out)
    assert all(math.isnan(one.estimate) and math.isnan(one.p_value) for one in influence.left_out)
    assert influence.changed == ()
    assert all(math.isnan(end) for end in influence.range)


def test_simulated_rules_and_single_groups_are_refused():
    with pytest.raises(InputError, match="choose another df"):
        leave_one_worker_out(pilot(), rule=DecisionRule(df="bootstrap"))
    with pytest.raises(InputError, match="n_groups"):
        leave_item_groups_out(pilot(), n_groups=1)


# Workers left out of large tables at the variances of the whole study: against refits, and by both engines.


@pytest.fixture(scope="module")
def ratings():
    truth = seven(0.5, 0.05, 0.1, 0.1, 0.1, 0.1, 0.15)
    drawn = simulate(truth, k_per_item(230, 300, ratings_per_item=3), seed=2)
    names = ("worker", "item", "system", "rating")
    frame = pd.DataFrame({name: getattr(drawn, name) for name in names})
    return ratings_from_table(frame.astype({"worker": str, "item": str, "system": str}))


@pytest.fixture(scope="module")
def whole(ratings):
    return fit(ratings)


def test_the_whole_study_at_its_own_variances_is_its_fit(ratings, whole):
    found = at_variances_of(whole, ratings)
    assert found.parameters.effect == pytest.approx(whole.parameters.effect, rel=1e-8)
    assert found.parameters.baseline == pytest.approx(whole.parameters.baseline, rel=1e-8)
    assert found.standard_error == pytest.approx(whole.standard_error, rel=1e-6)
    assert found.standard_error_adjusted == pytest.approx(whole.standard_error_adjusted, rel=1e-6)


def test_one_worker_fewer_is_nearly_a_refit(ratings, whole):
    assert is_searched_slowly(ratings)
    found = leave_one_worker_out(ratings, largest=3, fitted=whole)
    assert found.n_approximate == 3
    for one in found.left_out:
        kept = ratings.worker != ratings.worker_names.index(one.name)
        refitted = fit(ratings.of_rows(kept))
        error = refitted.standard_error_adjusted
        assert one.n_ratings == (~kept).sum()
        assert one.estimate == pytest.approx(refitted.parameters.effect, abs=0.02 * error)
        assert one.test.standard_error == pytest.approx(error, rel=0.01)
        assert one.estimate != found.whole.estimate
    assert "each at the variances of the whole study" in influence_rows(found)[1]


def test_solves_by_conjugate_gradients_say_the_same(ratings, whole, monkeypatch):
    part = ratings.of_rows(np.arange(ratings.n_ratings) % 40 > 0)
    direct = at_variances_of(whole, part)
    monkeypatch.setattr(problem_module, "_MOST_WORK", 0.0)
    monkeypatch.setattr(problem_module, "_MOST_SPARSE_WORK", 0.0)
    assert CrossedProblem.of_ratings(part).is_iterative
    iterated = at_variances_of(whole, part)
    assert iterated.parameters.effect == pytest.approx(direct.parameters.effect, rel=1e-6)
    assert iterated.parameters.baseline == pytest.approx(direct.parameters.baseline, rel=1e-8)
    assert iterated.standard_error == pytest.approx(direct.standard_error, rel=1e-7)
