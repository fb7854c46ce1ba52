"""The worker-item term: against lme4, the dense twin, and what must not change."""

import numpy as np
import pytest
from reference import dense_model
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.simulation.study import SimulatedRatings, simulate

TRUTH = seven(0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.15, sd_worker_item=0.12)

# lme4 1.1-31, lmerTest 3.1-3 (R 4.2.2), REML, bobyqa with rhoend 1e-10:
# rating ~ x + (1|worker) + (0+x|worker) + (1|item) + (0+x|item) + (1|worker:item)
LME4 = {
    "repeats": (-270.390791, 0.1933642, 0.04683441, 0.101401, 0.141400, 8.875342),
    "single": (-31.2761808, 0.2074421, 0.04721417, 0.147563, 0.140199, 10.96260),
}


@pytest.mark.parametrize("name", LME4)
def test_the_term_agrees_with_lme4(name):
    design = crossed(6, 20, n_repeats=2) if name == "repeats" else crossed(6, 15)
    found = fit(simulate(TRUTH, design, seed=3), worker_item=True)
    criterion, effect, error, shared, residual, df = LME4[name]
    assert found.criterion == pytest.approx(criterion, abs=1e-6)
    assert found.parameters.effect == pytest.approx(effect, abs=1e-6)
    assert found.standard_error == pytest.approx(error, rel=1e-5)
    assert found.parameters.sd_worker_item == pytest.approx(shared, abs=1e-5)
    assert found.parameters.sd_residual == pytest.approx(residual, abs=1e-5)
    assert found.df_kenward_roger == pytest.approx(df, rel=1e-4)


def test_its_variance_is_as_uncertain_as_the_others_in_errors_and_df():
    design = k_per_item(4, 10, ratings_per_item=3, seed=2)
    ratings = simulate(TRUTH, design, seed=5)
    kept = np.random.default_rng(2).random(len(ratings.rating)) < 0.85
    rows = (ratings.worker, ratings.item, ratings.system, ratings.rating)
    ratings = SimulatedRatings(*(values[kept] for values in rows))
    found = fit(ratings, worker_item=True)
    values = found.parameters
    sds = np.array([getattr(values, name) for name in (*PARAMETER_NAMES[2:6], "sd_worker_item")])
    gamma = (sds / values.sd_residual) ** 2
    assert gamma[-1] > 0.1  # else the test would say nothing
    X, zs = dense_model.design_matrices(ratings.worker, ratings.item, ratings.system)
    pair = ratings.worker * 100 + ratings.item
    shared = (pair[:, None] == np.unique(pair)[None, :]).astype(float)
    expected = dense_model.precision(gamma, ratings.rating, X, [*zs, shared], np.array([0.0, 1.0]))
    ours = (
        found.standard_error,
        found.standard_error_adjusted,
        found.df_satterthwaite,
        found.df_kenward_roger,
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-8)


def test_transformed_ratings_follow_the_dense_model_with_the_term():
    rng = np.random.default_rng(4)
    rows = k_per_item(6, 12, ratings_per_item=3).assignment
    kept = rng.random(len(rows.worker)) < 0.8
    worker, item, system = rows.worker[kept], rows.item[kept], rows.system[kept]
    y, share, gamma = rng.random(kept.sum()), 0.7, np.array([0.3, 0.2, 0.4, 0.5])
    problem = CrossedProblem.of_design(worker, item, system).with_interaction(worker, item, share)
    X, zs = dense_model.design_matrices(worker, item, system)
    pair = worker * 100 + item
    shared = (pair[:, None] == np.unique(pair)[None, :]).astype(float)
    expected = dense_model.criterion([*gamma, share], y, X, [*zs, shared])
    batch = fit_batch(problem, y[None], start=gamma)
    best = dense_model.criterion([*batch.gamma[0], share], y, X, [*zs, shared])
    assert batch.criterion[0] == pytest.approx(best, rel=1e-9)
    assert best <= expected


def test_the_difference_between_systems_is_untouched_where_every_pair_has_both():
    ratings = simulate(TRUTH, crossed(8, 20), seed=6)
    assert fit(ratings, worker_item=True).parameters.effect == pytest.approx(fit(ratings).parameters.effect)


def test_a_table_that_cannot_tell_is_refused():
    one_each = k_per_item(8, 30, ratings_per_item=2, paired=False)
    with pytest.raises(InputError, match="no worker rated an item twice"):
        fit(simulate(TRUTH, one_each, seed=1), worker_item=True)
