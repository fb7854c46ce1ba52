"""REML of the K-system model by projected Newton steps with average information.

The bounds, the halving of steps and the end of the search are those of kernels.reml.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from humeval_power.kernels import compound_symmetric as model
from humeval_power.kernels.compound_symmetric import Factor, Products, Profile, Table
from humeval_power.kernels.reml import CONVERGED, LARGEST, NO_RESIDUAL, STALLED, TOO_MANY_STEPS

Floats = NDArray[np.float64]
_HALVINGS = 40


class Optimum(NamedTuple):
    """Where a search ended, and a status of kernels.reml."""

    gamma: Floats
    factor: Factor
    profile: Profile
    n_steps: int
    status: int


def optimise(
    table: Table, data: Products, *, start: Floats, tolerance: float, max_steps: int, smallest_rss: float
) -> Optimum:
    """Minimise the criterion from `start` (4,); `smallest_rss` is what counts as no residual at all."""
    df = table.n - table.n_systems
    gamma = np.asarray(start, dtype=float)
    factor = model.factorise(table, gamma)
    prof = model.profile(table, factor, data)
    status, step = TOO_MANY_STEPS, 0
    while step < max_steps:
        if not prof.rss > smallest_rss:
            status = NO_RESIDUAL
            break
        step += 1
        quadratic, size = working_products(table, factor, prof)
        slope = gradient(table, factor, prof, size)
        sigma2 = prof.rss / df
        hessian = quadratic / sigma2 - np.outer(size, size) / (sigma2**2 * df)
        direction = _newton_direction(hessian, slope, (gamma > 0) | (slope < 0))
        # a component pressed against its bound promises no fall
        promise = abs(float(np.where(gamma + direction < 0, slope * gamma, -slope * direction).sum()))
        if promise < tolerance:
            status = CONVERGED
            break
        found = _line_search(table, data, (gamma, factor, prof), slope, direction)
        if found is None:  # rounding hides a fall below about 1e-12 of the criterion
            status = CONVERGED if promise < 1e-7 * max(1.0, 1e-3 * table.n) else STALLED
            break
        gamma, factor, prof = found
    return Optimum(gamma, factor, prof, step, status)


def working_products(table: Table, factor: Factor, prof: Profile) -> tuple[Floats, Floats]:
    """y'P G_s P G_t P y (4, 4) and y'P G_t P y (4,)."""
    K = table.n_systems
    columns, size = model.working_columns(table, prof)
    solved = model.solve(table, factor, columns)
    on_x = []
    for py, x in ((prof.outer_py, prof.outer_x), (prof.inner_py, prof.inner_x)):
        on_x += [model.shared(py, K) @ x, py @ x]
    wx = np.array(on_x)
    return solved.square - wx @ prof.phi @ wx.T, size


def gradient(table: Table, factor: Factor, prof: Profile, size: Floats) -> Floats:
    """d criterion / d gamma_t = tr(P G_t) - y'P G_t P y / sigma^2, shape (4,); size = y'P G_t P y."""
    trace = model.traces(factor, model.outer_half(factor), model.inner_blocks(table, factor))
    fixed = model.fixed_products(prof, table.n_systems)
    sigma2 = prof.rss / (table.n - table.n_systems)
    return np.asarray(trace - np.einsum("tab,ba->t", fixed, prof.phi) - size / sigma2)


def average_information(table: Table, factor: Factor, prof: Profile) -> Floats:
    """y'P G_s P G_t P y / 2 in units of variances, the residual last, shape (5, 5) (Gilmour, Thompson and
    Cullis 1995)."""
    quadratic, size = working_products(table, factor, prof)
    full = np.zeros((5, 5))
    # P y = P H P y: the residual's column is what the random effects leave
    full[:4, :4] = quadratic
    full[:4, 4] = full[4, :4] = size - quadratic @ factor.gamma
    full[4, 4] = prof.rss - size @ factor.gamma - full[4, :4] @ factor.gamma
    sigma2 = prof.rss / (table.n - table.n_systems)
    return np.asarray(full / (2.0 * sigma2**3))


def _newton_direction(hessian: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats:
    """Solve hessian d = -slope over the free components, with a small ridge."""
    direction = np.zeros(len(slope))
    index = np.flatnonzero(free)
    if len(index) == 0:
        return direction
    part = hessian[np.ix_(index, index)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    values, vectors = np.linalg.eigh(part / np.outer(scale, scale))
    values = np.maximum(values, 1e-7)  # components that the table cannot tell apart leave it singular
    direction[index] = -(vectors / values) @ (vectors.T @ (slope[index] / scale)) / scale
    return direction


def _line_search(
    table: Table,
    data: Products,
    here: tuple[Floats, Factor, Profile],
    slope: Floats,
    direction: Floats,
) -> tuple[Floats, Factor, Profile] | None:
    """The first of halved, projected steps that lowers the criterion enough; None if there is none."""
    gamma, _, prof = here
    length = 1.0
    for _ in range(_HALVINGS):
        trial = np.clip(gamma + length * direction, 0.0, np.minimum(100.0 * gamma + 10.0, LARGEST))
        expected = float(slope @ (gamma - trial))
        try:
            factor = model.factorise(table, trial)
        except LinAlgError:
            length *= 0.5
            continue
        found = model.profile(table, factor, data)
        if expected > 0 and prof.criterion - found.criterion >= 1e-4 * expected:
            return trial, factor, found
        length *= 0.5 if length > 1e-3 else 0.1
    return None
