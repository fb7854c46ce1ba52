"""The effect without single workers and groups of items equals the fit of the table without them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from places import ROOT

from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.files.tables import read_table
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.analyze.diagnostics import leave_item_groups_out, leave_one_worker_out
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
