"""Fits whose criterion is lowest at a residual of zero: none of their numbers means anything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed import vanishing_residual
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed import likelihood, reml, second_order

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def profile_at(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats, *, restricted: bool
) -> likelihood.Profile:
    """The profile of one response at relative variances in the kernel's order."""
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    if problem.is_large:
        from humeval_power.kernels.large import factored

        factor = factored.factorise(problem.large, gamma)
        return factored.profile(problem.large, response, factor, restricted)
    found: likelihood.Profile = second_order.evaluate(problem.gram, response, gamma, restricted)[1]
    return found


def with_runaways(
    problem: CrossedProblem,
    products: tuple[Floats, ...],
    gamma: Floats,
    criterion: Floats,
    status: Codes,
    restricted: bool,
) -> Codes:
    """The status of each fit, RUNAWAY where the criterion does not rise as the residual vanishes.

    Only fits whose residual has next to no share of the variance are looked at, so that this costs nothing.
    """
    share = vanishing_residual.residual_share(gamma, vanishing_residual.loadings(problem))
    suspect = (share < vanishing_residual.SUSPECT_SHARE) & (status != reml.NO_RESIDUAL)
    for row in np.flatnonzero(suspect).tolist():
        lower = True
        if share[row] > vanishing_residual.NO_SHARE:
            far = vanishing_residual.far_out(gamma[row], float(share[row]))
            beyond = _criterion_at(problem, products, row, far, restricted)
            lower = beyond <= criterion[row] + vanishing_residual.LEAST_RISE
        if lower:
            status[row] = reml.RUNAWAY
    return status


def _criterion_at(
    problem: CrossedProblem, products: tuple[Floats, ...], row: int, gamma: Floats, restricted: bool
) -> float:
    """The criterion of one response at relative variances in the kernel's order."""
    response = likelihood.Response(*(part[row] for part in products))
    return float(profile_at(problem, response, gamma, restricted=restricted).criterion)


def runs_away(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> bool:
    """Whether the criterion at relative variances `gamma` (q,) is not below that without a residual."""
    kernel_gamma = np.array(problem.to_kernel(np.asarray(gamma, dtype=np.float64)))[None]
    products = problem.products(response[None] - response.mean())
    here = np.full(1, np.inf)
    share = vanishing_residual.residual_share(kernel_gamma, vanishing_residual.loadings(problem))[0]
    with one_blas_thread():
        if share > vanishing_residual.NO_SHARE:
            here[0] = _criterion_at(problem, products, 0, kernel_gamma[0], restricted)
        status = np.array([reml.CONVERGED])
        with_runaways(problem, products, kernel_gamma, here, status, restricted)
    return bool(status[0] == reml.RUNAWAY)


def far_criterion(problem: CrossedProblem, response: Floats, gamma: Floats, restricted: bool) -> float:
    """The criterion where next to no residual is left, from a dense matrix of the rows: crossproducts have
    lost their digits there, and can look lower than anything."""
    kernel_gamma = problem.to_kernel(0.5 * gamma[1::2] if problem.is_difference else gamma)
    share = float(vanishing_residual.residual_share(kernel_gamma, vanishing_residual.loadings(problem)))
    if share < vanishing_residual.NO_SHARE:
        kernel_gamma = vanishing_residual.far_out(kernel_gamma, share)
    n, p = problem.x.shape
    H = np.eye(n)
    own = problem.from_kernel(kernel_gamma).reshape(len(problem.factors), -1)
    for (codes, columns), part in zip(problem.factors, own, strict=True):
        H += ((columns * part) @ columns.T) * (codes[:, None] == codes)
    y = response - response.mean()
    y = y if problem.weights is None else np.asarray(problem.weights @ y)
    lower = np.linalg.cholesky(H)
    half = np.linalg.solve(lower, np.column_stack([problem.x, y]))
    triangle: Floats = np.linalg.qr(half)[1]
    df = n - p if restricted else n
    log_det = 2.0 * np.log(np.diag(lower)).sum() + problem.log_det
    if restricted:
        log_det += 2.0 * np.log(np.abs(np.diag(triangle)[:p])).sum()
    return float(df * (1.0 + np.log(2.0 * np.pi * max(float(triangle[p, p]) ** 2, 1e-300) / df)) + log_det)
