"""Workers left out of large tables at the variances of the whole study: against refits, and by both engines."""

import numpy as np
import pandas as pd
import pytest
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.estimation.crossed import problem as problem_module
from humeval_power.estimation.crossed.examination import at_variances_of, is_searched_slowly
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.ratings import ratings_from_table
from humeval_power.simulation.study import simulate
from humeval_power.studies.analyze.diagnostics import leave_one_worker_out
from humeval_power.studies.analyze.result_diagnostics import influence_rows


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
