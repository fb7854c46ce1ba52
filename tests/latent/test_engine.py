"""The array-level engine of the ordinal and binary families: shapes, codes, and what must not matter."""

import numpy as np
import pytest

from humeval_power.estimation.latent import engine as latent_engine
from humeval_power.estimation.latent.engine import LatentProblem, Start, fit_latent_batch

GRID = np.indices((6, 15, 2)).reshape(3, -1)


def ratings(rng, n=1, *, effect=0.5, cuts=(-1.0, 0.0, 1.0), sd=(0.5, 0.3, 0.6, 0.3), codes=GRID):
    """Categories (n, ratings) from the probit model."""
    worker, item, system = codes
    x = system - 0.5
    eta = np.broadcast_to(effect * x, (n, len(x))).copy()
    for column, (a, b) in ((worker, sd[:2]), (item, sd[2:])):
        levels = rng.standard_normal((2, n, column.max() + 1))
        eta += a * levels[0][:, column] + b * levels[1][:, column] * x
    return (eta + rng.standard_normal(eta.shape) > np.reshape(cuts, (-1, 1, 1))).sum(axis=0)


def test_one_row_in_a_batch_is_that_row_alone():
    problem = LatentProblem.of_design(*GRID)
    rows = ratings(np.random.default_rng(1), 20)
    start = Start(np.array([0.5, 0.3, 0.6, 0.3]), np.array([-1.0, 0.0, 1.0]), np.array([0.5]))
    options = {"n_categories": 4, "link": "probit", "start": start}
    together = fit_latent_batch(problem, rows, **options, n_jobs=2)
    alone = fit_latent_batch(problem, rows[7:8], **options)
    assert (together.status == 0).all()
    for all_rows, row in zip(together, alone, strict=True):
        np.testing.assert_array_equal(all_rows[7], row[0])


def test_swapped_systems_turn_the_sign_alone():
    worker, item, system = GRID
    row = ratings(np.random.default_rng(2))
    fits = [
        fit_latent_batch(LatentProblem.of_design(worker, item, s), row, n_categories=4, link="probit")
        for s in (system, 1 - system)
    ]
    assert fits[0].effect == pytest.approx(-fits[1].effect, abs=1e-6)
    for name in ("criterion", "df", "sd", "thresholds"):
        np.testing.assert_allclose(getattr(fits[0], name), getattr(fits[1], name), rtol=1e-4, atol=1e-4)


def test_workers_and_items_may_change_places():
    worker, item, system = GRID
    row = ratings(np.random.default_rng(3))
    one, other = (
        fit_latent_batch(LatentProblem.of_design(*codes, system), row, n_categories=4, link="logit")
        for codes in ((worker, item), (item, worker))
    )
    assert one.criterion == pytest.approx(other.criterion, abs=1e-8)
    np.testing.assert_allclose(one.sd[:, [2, 3, 0, 1]], other.sd, atol=1e-5)
    np.testing.assert_allclose(one.df, other.df, rtol=1e-4)


def test_an_unused_category_changes_nothing_else():
    row = ratings(np.random.default_rng(4))
    problem = LatentProblem.of_design(*GRID)
    four = fit_latent_batch(problem, row, n_categories=4, link="probit")
    wider = np.array([1, 2, 4, 5])[row]  # 0 and 6 at the ends and 3 within are not used
    seven = fit_latent_batch(problem, wider, n_categories=7, link="probit")
    assert seven.criterion == four.criterion
    tau = four.thresholds[0]
    np.testing.assert_array_equal(seven.thresholds[0], [-np.inf, tau[0], tau[1], tau[1], tau[2], np.inf])
    assert (seven.fixed_covariance[0, 0] == 0).all()
    assert seven.fixed_covariance[0, 2, 3] == four.fixed_covariance[0, 1, 1]


def test_ratings_without_a_fit_have_their_own_codes():
    problem = LatentProblem.of_design(*GRID)
    system = GRID[2]
    rows = np.stack([np.full(len(system), 2), system * 2, 1 + system, ratings(np.random.default_rng(5))[0]])
    fit = fit_latent_batch(problem, rows, n_categories=4, link="probit")
    codes = [latent_engine.ONE_CATEGORY, latent_engine.SEPARATED, latent_engine.SEPARATED, 0]
    assert fit.status.tolist() == codes
    assert np.isnan(fit.effect[:3]).all()
    assert np.isfinite(fit.effect[3])


def test_preferences_have_symmetric_thresholds():
    rng = np.random.default_rng(6)
    worker, item = np.indices((8, 20)).reshape(2, -1)
    position = rng.choice([-0.5, 0.5], len(worker))
    eta = 0.4 + 0.3 * position + 0.5 * rng.standard_normal(8)[worker] + 0.4 * rng.standard_normal(20)[item]
    outcome = (eta + rng.standard_normal(len(eta)) > np.array([-0.5, 0.5])[:, None]).sum(axis=0)[None]
    problem = LatentProblem.of_preferences(worker, item, position=position)
    fit = fit_latent_batch(problem, outcome, n_categories=3, link="probit")
    assert fit.status[0] == 0
    assert fit.sd.shape == (1, 2)
    assert fit.coefficients.shape == (1, 2)
    assert fit.thresholds[0, 0] == -fit.thresholds[0, 1] < 0
    assert fit.fixed_covariance[0, 0, 1] == -fit.fixed_covariance[0, 1, 1]
    turned = fit_latent_batch(
        LatentProblem.of_preferences(worker, item, position=-position),
        2 - outcome,
        n_categories=3,
        link="probit",
    )
    assert turned.effect == pytest.approx(-fit.effect, abs=1e-6)
    decided = 2 * (outcome > 0)
    assert fit_latent_batch(problem, decided, n_categories=3, link="probit").thresholds[0].tolist() == [
        0,
        0,
    ]


def test_documents_add_two_standard_deviations():
    worker, item, system = GRID
    row = ratings(np.random.default_rng(7))
    problem = LatentProblem.of_design(worker, item, system, document=item // 5)
    fit = fit_latent_batch(problem, row, n_categories=4, link="probit")
    assert fit.status[0] == 0
    assert fit.sd.shape == (1, 6)
    assert fit.information.shape == (1, 6, 6)


@pytest.mark.parametrize("restricted", [True, False])
def test_a_single_worker_has_no_variance(restricted):
    codes = np.indices((1, 30, 2)).reshape(3, -1)
    row = ratings(np.random.default_rng(8), codes=codes)
    fit = fit_latent_batch(
        LatentProblem.of_design(*codes), row, n_categories=4, link="probit", restricted=restricted
    )
    assert fit.status[0] == 0
    assert fit.sd[0, :2].tolist() == [0.0, 0.0]
    assert np.isfinite(fit.df[0])
