"""Fits of tables with very many workers, by conjugate gradients and fixed probes.

Given the variances, effect, its standard error and its derivatives are exact, by solves. The variances carry
the Monte Carlo error of the probes, and so does their information (of Kenward and Roger 1997), whose Frobenius
norms are estimated with probes as well. `MonteCarlo` says how much, by the delta method from how the probes
differ; where an SD's error is too large for its own standard error, more probes are drawn.
There is no criterion, and nothing that needs one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed.examination import Examination
from humeval_power.estimation.crossed.fits import BatchFit
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.large.probed_search import (
    LargeSystem,
    MonteCarlo,
    Search,
    SearchState,
    flat_inverse,
    grouped,
    in_threads,
    minimise,
)
from humeval_power.kernels.crossed import information, reml
from humeval_power.kernels.crossed.information import Fitted, Information
from humeval_power.kernels.large.iterative import WIDTH

Floats = NDArray[np.float64]

PROBES = 24
PROBE_SEED = 1
_MOST_PROBES = 384
_LARGEST_ERROR = 0.01  # of an SD, in its own standard errors: beyond, more probes are drawn
_NORM_GROUPS = 4  # groups of right-hand sides for the information's norms
_ROUGH = 1e-4  # tolerance of their solves: an error of 1e-8 in the norms
_CLOSE = 1e-7
_RANK_TOLERANCE = 1e-8  # of the information at variances of zero, as in identification


def fit_iterative(
    problem: CrossedProblem,
    response: Floats,
    *,
    restricted: bool = True,
    contrasts: Floats | None = None,
    probes: int = PROBES,
    seed: int = PROBE_SEED,
) -> BatchFit:
    """Fit one response (n,) as `fits.fit_one` does, arrays of length 1; its criterion is NaN.

    probes : vectors of random signs to begin with, rounded up to groups of `WIDTH`.
    """
    with one_blas_thread():
        center = 0.0 if problem.is_difference else float(response.mean())
        search = _search_of(problem, response - center, seed)
        search.draw_probes(max(-(-probes // WIDTH), 1))
        state, status = minimise(search, search.start(), restricted=restricted)
        while True:
            seen = _examine(search, state)
            result = _monte_carlo(problem, search, state, seen, restricted=restricted)
            groups = len(search.signs)
            if (
                status != reml.CONVERGED
                or result.largest <= _LARGEST_ERROR
                or groups * WIDTH >= _MOST_PROBES
            ):
                break
            wanted = math.ceil(1.1 * groups * (result.largest / _LARGEST_ERROR) ** 2)
            search.draw_probes(min(max(wanted, groups + 1), _MOST_PROBES // WIDTH))
            state, status = minimise(search, state.gamma, restricted=restricted)
        return _as_batch(problem, search, state, seen, result, status, center, contrasts, restricted)


def information_at(problem: CrossedProblem, gamma: Floats) -> tuple[Information, Floats]:
    """Information at relative variances in the kernel's order, and (X'H^-1X)^-1, without any response: its norms
    and traces carry the Monte Carlo error of the probes."""
    anything = np.random.default_rng(PROBE_SEED).normal(size=len(problem.x))  # is not in what comes back
    if problem.weights is not None:
        problem = replace(problem, weights=None)
    with one_blas_thread():
        search = _search_of(problem, anything, PROBE_SEED)
        search.draw_probes(-(-PROBES // WIDTH))
        state = search.evaluate(np.ascontiguousarray(gamma), restricted=True)
        info = _information(search, _examine(search, state), restricted=True)
    return Information(*(part[0] for part in info)), state.phi


class RandomEffects(NamedTuple):
    """Predictions at one gamma, relative to sigma: beta (p,), phi (p, p); Z'H^-1X (n_columns, p), Z'Py
    (n_columns,) and the diagonal of Z'H^-1Z by probes, outer columns first."""

    beta: Floats
    phi: Floats
    hx: Floats
    py: Floats
    diagonal: Floats


def effects_at(problem: CrossedProblem, response: Floats, gamma: Floats) -> RandomEffects:
    """What predictions of single levels need, at relative variances in the kernel's order."""
    with one_blas_thread():
        search = _search_of(problem, response, PROBE_SEED)
        search.draw_probes(-(-PROBES // WIDTH))
        state = search.evaluate(np.ascontiguousarray(gamma), restricted=True)
        return RandomEffects(state.beta, state.phi, state.hx, state.py, search.diagonal())


def fixed_effects_at(problem: CrossedProblem, response: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Fixed effects (p,) and (X'H^-1X)^-1 (p, p) at relative variances in the kernel's order: exact, by solves."""
    with one_blas_thread():
        search = _search_of(problem, response, PROBE_SEED)
        return search.fixed_effects(np.ascontiguousarray(gamma))


def _search_of(problem: CrossedProblem, response: Floats, seed: int) -> Search:
    y = response if problem.weights is None else np.asarray(problem.weights @ response)
    parts = []
    for place in (*problem.outer, problem.inner):
        codes, columns = problem.factors[place]
        size = int(codes.max()) + 1
        sums = [np.bincount(codes, weights=column * y, minlength=size) for column in columns.T]
        parts.append(np.stack(sums, axis=1).ravel())
    return Search(LargeSystem(problem.design), problem.x, y, np.concatenate(parts), seed)


def _examine(search: Search, state: SearchState) -> Fitted:
    """Everything that the precision needs at the end of a search, with a leading axis of one fit."""
    system = search.system
    xgx = system.by_type(state.hx, state.hx)
    norm = _norms(search)
    xggx = _second_products(search, state)
    parts = (
        state.gamma,
        state.phi,
        np.array(state.rss),
        state.trace,
        state.quadratic,
        state.square,
        norm,
        xgx,
        xggx,
    )
    return Fitted(*(part[None] for part in parts))


def _norms(search: Search) -> Floats:
    """||Z_s'H^-1Z_t||_F^2 (q, q) by probes of each component alone."""
    system, q = search.system, search.system.n_types
    each = max(WIDTH // q, 1)

    def work(group: int) -> Floats:
        random = np.random.default_rng((search.seed, 1, group))
        signs = np.zeros((system.n_columns, WIDTH))
        for t in range(q):
            rows = system.rows_of(t)
            own = 2.0 * random.integers(0, 2, size=(system.size_of(t), each)) - 1.0
            signs[rows, t * each : (t + 1) * each] = own
        columns = system.gram_times(signs)
        system.solve(columns, np.zeros((system.order, WIDTH)), _ROUGH)
        squares = np.stack([(columns[system.rows_of(s)] ** 2).sum(axis=0) for s in range(q)])
        return np.asarray(squares[:, : q * each].reshape(q, q, each).mean(axis=2))

    norm = np.mean(in_threads(work, range(_NORM_GROUPS)), axis=0)
    return np.asarray(0.5 * (norm + norm.T))


def _second_products(search: Search, state: SearchState) -> Floats:
    """X'H^-1G_sH^-1G_tH^-1X, (q, q, p, p), exact."""
    system, q, p = search.system, search.system.n_types, search.p
    alone = np.concatenate([system.only(t, state.hx) for t in range(q)], axis=1)

    def work(columns: Floats) -> Floats:
        through = system.gram_times(columns)
        system.solve(through, np.zeros((system.order, WIDTH)), _CLOSE)
        return through

    through = np.concatenate(in_threads(work, grouped(alone)), axis=1)[:, : q * p]
    return system.by_type(state.hx, through).reshape(q, p, q, p).transpose(0, 2, 1, 3)


def _information(search: Search, fitted: Fitted, *, restricted: bool) -> Information:
    """The information of a fit, with exactly nothing along directions in which the design tells no variances
    apart: probes alone would leave noise there."""
    info = fitted.information(search.n)
    plain, phi = search.system.plain_information(search.xx)
    exact = information.expected_information(plain, phi, 1.0, restricted)
    scale = np.sqrt(np.diag(exact))
    values, vectors = np.linalg.eigh(exact / np.outer(scale, scale))
    flat = vectors[:, values < _RANK_TOLERANCE] / scale[:, None]
    if flat.shape[1] == 0:
        return info
    expected = information.expected_information(info, fitted.phi, np.ones(1), restricted)[0]
    size = np.sqrt(np.diag(expected))
    basis = np.linalg.qr(flat * size[:, None])[0]
    off = np.eye(len(size)) - basis @ basis.T
    kept = off @ (expected / np.outer(size, size)) @ off * np.outer(size, size)
    return info._replace(gg=info.gg + 2.0 * (kept - expected))


def _monte_carlo(
    problem: CrossedProblem, search: Search, state: SearchState, fitted: Fitted, *, restricted: bool
) -> MonteCarlo:
    """What the probes leave uncertain: the variance of the mean trace, through the Newton step that it moves."""
    df = search.n - (search.p if restricted else 0)
    sigma2 = state.rss / df
    free = state.gamma > 0.0
    step = flat_inverse(state.hessian, free)
    spread = np.cov(state.of_probe.T, ddof=1).reshape(len(free), len(free)) / len(state.of_probe)
    covariance = step @ spread @ step
    residual_slope = -state.square / df  # d sigma^2 / d gamma
    slopes = np.vstack([sigma2 * np.eye(len(free)) + np.outer(state.gamma, residual_slope), residual_slope])
    errors = np.sqrt(np.einsum("st,tu,su->s", slopes, covariance, slopes))
    expected = information.expected_information(
        _information(search, fitted, restricted=restricted), fitted.phi, np.array([sigma2]), restricted
    )[0]
    inside = np.append(free, True)
    own = np.sqrt(np.diag(information.pseudo_inverse(expected, inside)))
    order = np.append(problem.from_kernel(np.arange(float(len(free)))), len(free)).astype(int)
    names = problem.components[1::2] if problem.is_difference else problem.components
    relative = {
        name: float(errors[t] / own[t])
        for name, t in zip((*names, "sd_residual"), order, strict=True)
        if inside[t] and own[t] > 0
    }
    half = state.phi @ problem.contrast
    variance = float(half @ problem.contrast)
    system = search.system
    moved = -(system.by_type(state.hx, state.py[:, None])[:, :, 0] @ half)
    widened = np.einsum("tjk,j,k->t", fitted.xgx[0], half, half) / variance + residual_slope / sigma2
    return MonteCarlo(
        probes=len(state.of_probe),
        seed=search.seed,
        deviations=relative,
        effect=float(np.sqrt(moved @ covariance @ moved / (sigma2 * variance))),
        standard_error=float(0.5 * np.sqrt(widened @ covariance @ widened)),
    )


def _as_batch(
    problem: CrossedProblem,
    search: Search,
    state: SearchState,
    fitted: Fitted,
    estimates: MonteCarlo,
    status: int,
    center: float,
    contrasts: Floats | None,
    restricted: bool,
) -> BatchFit:
    """The fit in the words of `fits.fit_batch`."""
    sigma2 = fitted.rss / (search.n - (search.p if restricted else 0))
    info = _information(search, fitted, restricted=restricted)
    expected = information.expected_information(info, fitted.phi, sigma2, restricted)

    def look(contrast: Floats) -> list[Floats]:
        half = fitted.phi @ contrast
        error = np.sqrt(sigma2 * (half * contrast).sum(axis=-1))
        df = information.satterthwaite(fitted, info, sigma2, contrast, expected)
        adjusted, df_adjusted = np.full(1, np.nan), np.full(1, np.nan)
        if restricted:
            adjusted, df_adjusted = information.kenward_roger(info, fitted.phi, sigma2, contrast, expected)
        return [error, adjusted, *(np.where(np.isinf(each), np.nan, each) for each in (df, df_adjusted))]

    error, adjusted, df_satterthwaite, df_kenward_roger = look(problem.contrast)
    wanted = [] if contrasts is None else list(contrasts)
    further = [np.stack([np.array([state.beta @ each]), *look(each)], axis=1) for each in wanted]
    gamma = problem.from_kernel(fitted.gamma)
    baseline = np.array([state.beta[0] + center])
    if problem.is_difference:  # 2 sigma^2 is the variance of a difference; the intercepts have cancelled
        slopes, gamma = 2.0 * gamma, np.full((1, 2 * gamma.shape[1]), np.nan)
        gamma[:, 1::2] = slopes
        baseline, sigma2 = np.full(1, np.nan), sigma2 / 2.0
    return BatchFit(
        estimate=np.array([state.beta @ problem.contrast]),
        baseline=baseline,
        standard_error=error,
        standard_error_adjusted=adjusted,
        df_satterthwaite=df_satterthwaite,
        df_kenward_roger=df_kenward_roger,
        criterion=np.full(1, np.nan),
        sigma2=sigma2,
        gamma=gamma,
        status=np.array([status]),
        further=np.stack(further, axis=1) if further else np.empty((1, 0, 5)),
        examination=Examination(math.nan, state.rss, state.phi, Information(*(part[0] for part in info))),
        monte_carlo=estimates,
    )
