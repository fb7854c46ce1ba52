"""REML of the K-system model by projected Newton steps with average information.

The bounds, the halving of steps and the end of the search are those of kernels.reml.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from humeval_power.kernels.crossed.reml import CONVERGED, LARGEST, NO_RESIDUAL, STALLED, TOO_MANY_STEPS
from humeval_power.kernels.joint import model
from humeval_power.kernels.joint.model import JointFactor, JointProfile, Products, StackedTable

Floats = NDArray[np.float64]
_HALVINGS = 40


class SecondOrder(NamedTuple):
    """What Kenward and Roger (1997) need, in units of sigma^2 = 1, the residual last: expected REML information
    (q, q), X'H^-1 G_t H^-1 X (q, K, K) and X'H^-1 G_s H^-1 G_t H^-1 X (q, q, K, K)."""

    expected: Floats
    xgx: Floats
    xggx: Floats


class JointPoint(Protocol):
    """The likelihood of one table at one gamma, (variances,)."""

    @property
    def gamma(self) -> Floats:
        """Variances relative to the residual's."""

    @property
    def df(self) -> int:
        """Ratings less means."""

    @property
    def beta(self) -> Floats:
        """Means, (K,)."""

    @property
    def phi(self) -> Floats:
        """(X'H^-1 X)^-1."""

    @property
    def rss(self) -> float:
        """y'P y."""

    @property
    def criterion(self) -> float:
        """-2 log restricted likelihood, sigma^2 profiled out."""

    def moved(self, gamma: Floats) -> JointPoint:
        """The same table at another gamma; raises LinAlgError where its factors have no digits left."""

    def working_products(self) -> tuple[Floats, Floats]:
        """y'P G_s P G_t P y (variances, variances) and y'P G_t P y (variances,)."""

    def gradient(self, size: Floats) -> Floats:
        """d criterion / d gamma_t = tr(P G_t) - y'P G_t P y / sigma^2, (variances,); size = y'P G_t P y."""

    def second_order(self) -> SecondOrder:
        """What standard errors and df need."""


class TablePoint(NamedTuple):
    """The likelihood of any table at one gamma."""

    table: StackedTable
    data: Products
    factor: JointFactor
    profile: JointProfile

    @classmethod
    def of_table(cls, table: StackedTable, data: Products, gamma: Floats) -> TablePoint:
        """At gamma (variances,); raises LinAlgError as `moved` does."""
        factor = model.factorise(table, np.asarray(gamma, dtype=float))
        return cls(table, data, factor, model.profile(table, factor, data))

    @property
    def gamma(self) -> Floats:
        """Variances relative to the residual's."""
        return self.factor.gamma

    @property
    def df(self) -> int:
        """Ratings less means."""
        return self.table.n - self.table.n_systems

    @property
    def beta(self) -> Floats:
        """Means, (K,)."""
        return self.profile.beta

    @property
    def phi(self) -> Floats:
        """(X'H^-1 X)^-1."""
        return self.profile.phi

    @property
    def rss(self) -> float:
        """y'P y."""
        return self.profile.rss

    @property
    def criterion(self) -> float:
        """-2 log restricted likelihood, sigma^2 profiled out."""
        return self.profile.criterion

    def moved(self, gamma: Floats) -> TablePoint:
        """The same table at another gamma."""
        return self.of_table(self.table, self.data, gamma)

    def working_products(self) -> tuple[Floats, Floats]:
        """y'P G_s P G_t P y (variances, variances) and y'P G_t P y (variances,)."""
        table, prof = self.table, self.profile
        columns, size = model.working_columns(table, prof)
        solved = model.solve(table, self.factor, columns)
        products = ((prof.outer_py, prof.outer_x), (prof.inner_py, prof.inner_x))
        wx = np.concatenate([model.patterns(table, py) @ x for py, x in products])
        return solved.square - wx @ prof.phi @ wx.T, size

    def gradient(self, size: Floats) -> Floats:
        """d criterion / d gamma_t, (variances,)."""
        table, factor = self.table, self.factor
        trace = model.traces(table, factor, model.outer_half(factor), model.inner_blocks(table, factor))
        fixed = model.fixed_products(table, self.profile)
        return np.asarray(trace - np.einsum("tab,ba->t", fixed, self.phi) - size / (self.rss / self.df))

    def second_order(self) -> SecondOrder:
        """What standard errors and df need."""
        info = model.information(self.table, self.factor, self.profile)
        cross = np.einsum("ab,stba->st", self.phi, info.xggx)
        moved = info.xgx @ self.phi
        fixed = np.einsum("sab,tba->st", moved, moved)
        return SecondOrder(0.5 * (info.gg - cross - cross.T + fixed), info.xgx, info.xggx)


class JointOptimum(NamedTuple):
    """Where a search ended, and a status of kernels.reml."""

    point: JointPoint
    n_steps: int
    status: int


def optimise(start: JointPoint, *, tolerance: float, max_steps: int, smallest_rss: float) -> JointOptimum:
    """Minimise the criterion from `start`; `smallest_rss` is what counts as no residual at all."""
    point, status, step = start, TOO_MANY_STEPS, 0
    while step < max_steps:
        if not point.rss > smallest_rss:
            status = NO_RESIDUAL
            break
        step += 1
        quadratic, size = point.working_products()
        slope = point.gradient(size)
        sigma2 = point.rss / point.df
        hessian = quadratic / sigma2 - np.outer(size, size) / (sigma2**2 * point.df)
        gamma = point.gamma
        direction = _newton_direction(hessian, slope, (gamma > 0) | (slope < 0))
        # a component pressed against its bound promises no fall
        promise = abs(float(np.where(gamma + direction < 0, slope * gamma, -slope * direction).sum()))
        if promise < tolerance:
            status = CONVERGED
            break
        result = _line_search(point, slope, direction)
        if result is None:  # rounding hides a fall below about 1e-12 of the criterion
            near = 1e-7 * max(1.0, 1e-3 * point.df)
            status = CONVERGED if promise < near else STALLED
            break
        point = result
    return JointOptimum(point, step, status)


def average_information(point: JointPoint) -> Floats:
    """y'P G_s P G_t P y / 2 in units of variances, the residual last, shape (q, q) (Gilmour, Thompson and
    Cullis 1995)."""
    quadratic, size = point.working_products()
    q, gamma = len(size), point.gamma
    full = np.zeros((q + 1, q + 1))
    # P y = P H P y: the residual's column is what the random effects leave
    full[:q, :q] = quadratic
    full[:q, q] = full[q, :q] = size - quadratic @ gamma
    full[q, q] = point.rss - size @ gamma - full[q, :q] @ gamma
    sigma2 = point.rss / point.df
    return np.asarray(full / (2.0 * sigma2**3))


def _newton_direction(hessian: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats:
    """Solve hessian d = -slope over the free components, with a small ridge."""
    direction = np.zeros(len(slope))
    index = np.flatnonzero(free)
    if len(index) == 0:
        return direction
    part = hessian[np.ix_(index, index)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-200))  # a step without curvature is long, and finite
    values, vectors = np.linalg.eigh(part / np.outer(scale, scale))
    values = np.maximum(values, 1e-7)  # components that the table cannot tell apart leave it singular
    direction[index] = -(vectors / values) @ (vectors.T @ (slope[index] / scale)) / scale
    return direction


def _line_search(here: JointPoint, slope: Floats, direction: Floats) -> JointPoint | None:
    """The first of halved, projected steps that lowers the criterion enough; None if there is none."""
    gamma = here.gamma
    length = 1.0
    for _ in range(_HALVINGS):
        trial = np.clip(gamma + length * direction, 0.0, np.minimum(100.0 * gamma + 10.0, LARGEST))
        expected = float(slope @ (gamma - trial))
        try:
            moved = here.moved(trial)
        except LinAlgError:
            length *= 0.5
            continue
        if expected > 0 and here.criterion - moved.criterion >= 1e-4 * expected:
            return moved
        length *= 0.5 if length > 1e-3 else 0.1
    return None
