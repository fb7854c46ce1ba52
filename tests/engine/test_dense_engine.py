"""The engine by one dense matrix: the same numbers as the kernels and as the dense model of the tests."""

import numpy as np
import pytest
from cases import each_case, few_fast
from reference import dense_model

from humeval_power.designs import both_nested, k_per_item
from humeval_power.errors import HumevalPowerError
from humeval_power.estimation.crossed import problem as choice
from humeval_power.estimation.crossed.examination import examine
from humeval_power.estimation.crossed.fits import fit_one
from humeval_power.estimation.crossed.problem import EFFECT, CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed import dense, information, likelihood, reml
from humeval_power.kernels.crossed.crossproducts import response_products
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.simulation.study import SimulatedRatings

GAMMAS = (np.array([0.3, 0.8, 0.1, 1.2]), np.array([0.0, 0.5, 0.0, 1e-7]), np.array([30.0, 0.0, 5.0, 2.0]))
DESIGNS = {
    "workers are fewer": k_per_item(6, 20, ratings_per_item=3, seed=1),
    "items are fewer": k_per_item(20, 8, ratings_per_item=5, seed=1),
    "unpaired": k_per_item(12, 15, ratings_per_item=2, paired=False, seed=2),
    "one rating": k_per_item(8, 30, ratings_per_item=1, seed=1),
    "nested": both_nested(6, 12),
}


def _table(name):
    rows = DESIGNS[name].assignment
    rng = np.random.default_rng(len(rows.worker))
    rating = rng.normal(0.5, 0.3, len(rows.worker)) + rng.normal(0, 0.2, rows.worker.max() + 1)[rows.worker]
    return rows, rating


@each_case("name", DESIGNS)
@each_case("gamma", GAMMAS, ids=["inside", "at zero", "large"])
def test_its_information_is_that_of_full_matrices(name, gamma):
    rows, _ = _table(name)
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    info, phi = dense.design_information(problem.gram, problem.to_kernel(gamma))
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    order = [*problem.from_kernel(np.arange(4.0)).astype(int), 4]
    gg, xgx, xggx = dense_model.information(gamma, X, zs)
    # T is a difference of two matrices: a relative variance of 30 costs two or three digits of its largest entry
    for ours, theirs in ((info.gg[np.ix_(order, order)], gg), (info.xgx[order], xgx)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
    np.testing.assert_allclose(
        info.xggx[np.ix_(order, order)], xggx, rtol=1e-8, atol=1e-8 * np.abs(xggx).max()
    )
    Hi = np.linalg.inv(dense_model.h_matrix(zs, gamma))
    theirs = np.linalg.inv(X.T @ Hi @ X)
    np.testing.assert_allclose(phi, theirs, rtol=1e-9, atol=1e-12 * theirs.max())


@each_case("name", DESIGNS)
@each_case("restricted", [True, False])
def test_its_criterion_slope_and_working_products_are_those_of_full_matrices(name, restricted):
    rows, rating = _table(name)
    gamma = GAMMAS[0]
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    products = dense.response_products(problem.gram, *problem.rows(), rating[None])
    wide = dense.widened(problem.gram)
    at = problem.to_kernel(gamma)
    factor = dense.factorise(wide, at)
    prof = dense.profile(wide, likelihood.Response(*(part[0] for part in products)), factor, restricted)
    slope = dense.gradient(wide, prof, dense.traces(wide, factor, at), restricted)
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    assert prof.criterion == pytest.approx(
        dense_model.criterion(gamma, rating, X, zs, restricted), rel=1e-11
    )
    expected = dense_model.gradient(gamma, rating, X, zs, restricted)
    np.testing.assert_allclose(problem.from_kernel(slope), expected, rtol=1e-8, atol=1e-8)
    quadratic, square = dense.working_products(wide, factor, prof, 4)
    order = problem.from_kernel(np.arange(4.0)).astype(int)
    theirs = dense_model.working_products(gamma, rating, X, zs)
    np.testing.assert_allclose(quadratic[np.ix_(order, order)], theirs[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(square[order], theirs[1], rtol=1e-8, atol=1e-10)


@few_fast("name", DESIGNS, fast=2)
@pytest.mark.parametrize("restricted", [True, False])
def test_its_fit_is_that_of_the_kernels(name, restricted, monkeypatch):
    rows, rating = _table(name)
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    fits = []
    for by_dense in (False, True):
        monkeypatch.setattr(choice, "by_dense_matrices", lambda _gram, chosen=by_dense: chosen)
        fits.append(fit_one(problem, rating, restricted=restricted))
        gamma = np.array([0.2, 0.4, 0.3, 0.1])
        fits.append(examine(problem, rating, gamma, restricted=restricted))
    kernels, seen, ours, ours_seen = fits
    assert ours.status[0] == kernels.status[0] == reml.CONVERGED
    # Both stop where a further step promises a fall of the criterion below 1e-10.
    assert ours.criterion[0] == pytest.approx(kernels.criterion[0], abs=1e-8)
    assert ours.estimate[0] == pytest.approx(kernels.estimate[0], abs=1e-6)
    assert ours.standard_error[0] == pytest.approx(kernels.standard_error[0], rel=1e-4)
    assert ours_seen.criterion == pytest.approx(seen.criterion, rel=1e-11)
    assert ours_seen.rss == pytest.approx(seen.rss, rel=1e-10)
    np.testing.assert_allclose(ours_seen.information.gg, seen.information.gg, rtol=1e-8)


def _random_table(seed):
    """An unbalanced table; some without variation of a kind, some on the five points of a scale."""
    rng = np.random.default_rng(seed)
    workers, items = int(rng.integers(3, 13)), int(rng.integers(4, 31))
    grid = np.indices((workers, items, 2)).reshape(3, -1)
    kept = grid[:, rng.random(grid.shape[1]) < rng.choice([0.35, 0.6, 0.9])]
    worker, item = (np.unique(codes, return_inverse=True)[1] for codes in kept[:2])
    system = kept[2]
    sds = rng.choice([0.0, 0.05, 0.2], size=4)
    levels = [
        rng.normal(0, sd, size) for sd, size in zip(sds, (workers, workers, items, items), strict=True)
    ]
    own = levels[0][worker] + levels[2][item] + (system - 0.5) * (levels[1][worker] + levels[3][item])
    rating = 0.5 + 0.05 * system + own + rng.normal(0, 0.15, len(worker))
    if seed % 3 == 0:
        rating = np.round(np.clip(rating, 0, 1) * 4) / 4
    return SimulatedRatings(worker, item, system, rating)


def _seen(ratings, estimator):
    """The numbers of a fit, or why there are none."""
    try:
        found = fit(ratings, estimator=estimator)
    except HumevalPowerError as error:
        return str(error)
    dfs = (found.df_kenward_roger, found.df_satterthwaite)
    sds = [getattr(found.parameters, name) for name in PARAMETER_NAMES]
    return np.array([found.criterion, found.standard_error, found.standard_error_adjusted, *dfs, *sds])


def _compare_engines(seeds):
    fitted = 0
    for seed in seeds:
        ratings, estimator = _random_table(seed), ("ml", "reml")[seed % 2]
        with choice.few_fits():
            dense_fit = _seen(ratings, estimator)
        by_kernels = _seen(ratings, estimator)
        if isinstance(by_kernels, str):
            assert dense_fit == by_kernels
        else:
            fitted += 1
            np.testing.assert_allclose(dense_fit, by_kernels, rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}")
    return fitted


def test_fits_of_unbalanced_and_singular_tables_are_those_of_the_kernels():
    assert _compare_engines(range(8)) >= 7


@pytest.mark.long
@pytest.mark.slow
def test_fits_of_200_tables_are_those_of_the_kernels():
    assert _compare_engines(range(200)) >= 190


def test_the_number_of_fits_and_the_shape_of_the_table_choose_the_engine():
    rows, _ = _table("items are fewer")  # 56 columns
    gram = CrossedProblem.of_design(rows.worker, rows.item, rows.system).design
    assert not choice.by_dense_matrices(gram)
    with choice.few_fits():
        assert choice.by_dense_matrices(gram)
        with choice.few_fits(100):
            assert not choice.by_dense_matrices(gram)
        assert choice.by_dense_matrices(gram)
    large = k_per_item(100, 60, ratings_per_item=1).assignment
    with choice.few_fits():
        design = CrossedProblem.of_design(large.worker, large.item, large.system).design
        assert not choice.by_dense_matrices(design)


def test_products_with_responses_are_those_of_the_kernel():
    rows, _ = _table("unpaired")
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    y = np.random.default_rng(4).normal(size=(3, len(rows.worker)))
    arguments = (problem.gram, *problem.rows(), y)
    for ours, theirs in zip(
        dense.response_products(*arguments), response_products(*arguments), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_precision_of_a_fit_does_not_depend_on_the_fits_beside_it():
    rng = np.random.default_rng(0)
    n, q, p = 70, 4, 2
    spd = rng.normal(size=(n, p, p + 2))
    half = rng.normal(size=(n, q, q + 3))
    fitted = information.Fitted(
        gamma=np.where(rng.random((n, q)) < 0.3, 0.0, rng.random((n, q))),
        phi=spd @ spd.transpose(0, 2, 1),
        rss=np.where(np.arange(n) % 9 == 0, np.nan, 1 + rng.random(n)),
        trace=5 + rng.random((n, q)),
        quadratic=half @ half.transpose(0, 2, 1),
        square=rng.random((n, q)),
        norm=np.eye(q) * 8 + rng.random((n, 1, 1)),
        xgx=rng.random((n, q, p, p)),
        xggx=rng.random((n, q, q, p, p)),
    )
    together = information.precision(fitted, EFFECT, n=60, restricted=True)
    for first, last in ((0, 1), (1, 40), (40, n)):
        part = information.Fitted(*(field[first:last] for field in fitted))
        alone = information.precision(part, EFFECT, n=60, restricted=True)
        for ours, theirs in zip(alone, together, strict=True):
            assert ours.tobytes() == theirs[first:last].tobytes()
    assert np.isnan(together.standard_error[::9]).all()
    assert np.isfinite(together.standard_error[1:9]).all()
