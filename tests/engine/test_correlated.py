"""Correlated intercepts and slopes: against full matrices, and what they are refused for."""

from itertools import pairwise

import numpy as np
import pytest
from cases import few_fast

from humeval_power.errors import InputError
from humeval_power.estimation import correlated
from humeval_power.estimation.correlated import dense_quantities
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed import information
from humeval_power.simulation.study import SimulatedRatings


def table(rho_worker=0.6, rho_item=-0.4, seed=7, m=9, n=14, kept=0.75):
    rng = np.random.default_rng(seed)
    worker, item, system = _rows(rng, m, n, kept)
    x = system - 0.5
    pairs = [
        rng.multivariate_normal([0, 0], [[a * a, rho * a * b], [rho * a * b, b * b]], size)
        for a, b, rho, size in ((0.2, 0.15, rho_worker, m), (0.12, 0.1, rho_item, n))
    ]
    y = 0.5 + 0.05 * x + rng.normal(0, 0.15, len(x))
    for codes, effects in zip((worker, item), pairs, strict=True):
        y = y + effects[codes, 0] + effects[codes, 1] * x
    return SimulatedRatings(worker, item, system, y)


def _rows(rng, m, n, kept):
    codes = np.indices((m, n, 2)).reshape(3, -1)
    return codes[:, rng.random(codes.shape[1]) < kept]


def theta_of(fitted):
    """Relative covariance matrices of workers and items."""
    values, found = fitted.parameters, []
    for noun in ("worker", "item"):
        a, b = getattr(values, f"sd_{noun}_intercept"), getattr(values, f"sd_{noun}_slope")
        rho = getattr(values, f"correlation_{noun}")
        found.append(np.array([[a * a, rho * a * b], [rho * a * b, b * b]]) / values.sd_residual**2)
    return found


def dense(ratings, matrices, restricted=True):
    """Criterion, beta, sigma^2, H and the derivatives of H, from n x n matrices."""
    x = ratings.system - 0.5
    X = np.column_stack([np.ones_like(x), x])
    y, n = ratings.rating, len(x)
    H, slopes = np.eye(n), []
    for codes, matrix in zip((ratings.worker, ratings.item), matrices, strict=True):
        same = (codes[:, None] == codes).astype(float)
        own = [same, same * (x[:, None] + x), same * np.outer(x, x)]
        H += matrix[0, 0] * own[0] + matrix[0, 1] * own[1] + matrix[1, 1] * own[2]
        slopes.append(own)
    Hi = np.linalg.inv(H)
    xhx = X.T @ Hi @ X
    beta = np.linalg.solve(xhx, X.T @ Hi @ y)
    rss = (y - X @ beta) @ Hi @ (y - X @ beta)
    df = n - 2 * restricted
    value = df * (1 + np.log(2 * np.pi * rss / df)) + np.linalg.slogdet(H)[1]
    return value + restricted * np.linalg.slogdet(xhx)[1], beta, rss / df, H, slopes


@few_fast("restricted", [True, False], fast=1)
@pytest.mark.parametrize("which", [("worker",), ("item",), ("worker", "item")])
def test_the_criterion_is_the_dense_one_and_no_point_near_is_lower(which, restricted):
    ratings = table()
    fitted = fit(ratings, estimator="reml" if restricted else "ml", correlated=which)
    matrices = theta_of(fitted)
    here, beta, sigma2, *_ = dense(ratings, matrices, restricted)
    assert fitted.criterion == pytest.approx(here, abs=1e-6)
    assert fitted.parameters.effect == pytest.approx(beta[1], abs=1e-9)
    assert fitted.parameters.sd_residual == pytest.approx(np.sqrt(sigma2), rel=1e-6)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2):
        for _ in range(6):
            moved = []
            for noun, matrix in zip(("worker", "item"), matrices, strict=True):
                L = np.linalg.cholesky(matrix) + size * np.tril(rng.normal(size=(2, 2)))
                other = L @ L.T
                if noun not in which:
                    other = np.diag(np.diag(other))
                moved.append(other)
            assert dense(ratings, moved, restricted)[0] >= here - 1e-6


def test_the_test_is_kenward_and_rogers_with_derivatives_for_the_covariances():
    ratings = table()
    fitted = fit(ratings, correlated=("worker", "item"))
    _, _, s2, H, slopes = dense(ratings, theta_of(fitted))
    x = ratings.system - 0.5
    X = np.column_stack([np.ones_like(x), x])
    G = [part for own in slopes for part in own] + [np.eye(len(x))]
    Vi = np.linalg.inv(H) / s2
    Phi = np.linalg.inv(X.T @ Vi @ X)
    P = Vi - Vi @ X @ Phi @ X.T @ Vi
    W = np.linalg.inv([[0.5 * np.trace(P @ a @ P @ b) for b in G] for a in G])
    Pi = [-X.T @ Vi @ g @ Vi @ X for g in G]
    extra = sum(
        W[i, j] * (X.T @ Vi @ G[i] @ Vi @ G[j] @ Vi @ X - Pi[i] @ Phi @ Pi[j])
        for i in range(len(G))
        for j in range(len(G))
    )
    adjusted = Phi + 2 * Phi @ extra @ Phi
    slope = np.array([(Phi @ p @ Phi)[1, 1] for p in Pi])
    df = 2 * Phi[1, 1] ** 2 / (slope @ W @ slope)
    assert fitted.standard_error == pytest.approx(np.sqrt(Phi[1, 1]), rel=1e-5)
    assert fitted.standard_error_adjusted == pytest.approx(np.sqrt(adjusted[1, 1]), rel=1e-5)
    assert fitted.df_kenward_roger == pytest.approx(df, rel=1e-4)


def test_without_a_covariance_the_dense_quantities_are_those_of_the_kernels():
    ratings = table(0.0, 0.0)
    plain = fit(ratings)
    problem = CrossedProblem.of_ratings(ratings)
    gamma = np.array([getattr(plain.parameters, name) for name in problem.components]) ** 2
    gamma = gamma / plain.parameters.sd_residual**2
    found = correlated.CorrelatedOptimum({}, 0.0, gamma, 1.0, 0)
    parameters = correlated._parameters(problem, found)
    fitted, beta = dense_quantities(problem, ratings.rating - ratings.rating.mean(), parameters)
    seen = information.precision(fitted, problem.contrast, n=len(ratings.rating), restricted=True)
    assert beta[1] == pytest.approx(plain.parameters.effect, abs=1e-9)
    assert float(seen.df_kenward_roger) == pytest.approx(plain.df_kenward_roger, rel=1e-6)
    assert float(seen.df_satterthwaite) == pytest.approx(plain.df_satterthwaite, rel=1e-4)
    assert float(seen.standard_error_adjusted) == pytest.approx(plain.standard_error_adjusted, rel=1e-8)


def test_the_likelihood_ratio_falls_with_the_correlation_and_names_its_factor():
    falls = [fit(table(rho, 0.0, m=25), correlated=("worker",)).correlations[0] for rho in (0.0, 0.5, 0.9)]
    assert all(first.fall < second.fall for first, second in pairwise(falls))
    assert falls[0].p_value > 0.05 > falls[2].p_value
    assert falls[2].factor == "worker"
    assert falls[2].value == pytest.approx(0.9, abs=0.15)


def test_a_perfect_correlation_and_a_variance_at_zero_are_fitted():
    perfect = fit(table(1.0, 0.0, seed=3), correlated=("worker",))
    assert perfect.converged
    assert perfect.parameters.correlation_worker > 0.8
    assert np.isfinite(perfect.df_kenward_roger)
    flat = table(0.0, 0.0, seed=4)
    rating = flat.rating.copy()
    for code in range(9):  # workers alike under both systems: no variance of intercepts is left
        rating[flat.worker == code] -= rating[flat.worker == code].mean()
    zero = fit(SimulatedRatings(flat.worker, flat.item, flat.system, rating), correlated=("worker",))
    assert np.isfinite(zero.standard_error)


def test_what_cannot_correlate_is_refused():
    ratings = table()
    with pytest.raises(InputError, match="native engine, without the worker-item term"):
        fit(ratings, correlated=("worker",), worker_item=True)
    rng = np.random.default_rng(0)
    n = 30
    single = SimulatedRatings(np.arange(n) % 5, np.arange(n) % 15, np.arange(n) // 15, rng.random(n))
    with pytest.raises(InputError, match="does not tell"):
        fit(single, correlated=("item",))
