"""One table's restricted or ordinary Laplace fit: Newton's method inside, quasi-Newton steps outside.

Python drives, the kernels do the sums over ratings and levels: compiled in one piece the search would take
minutes to compile.

The Hessian is that of the expected information at the first points, with the changes of the gradient that are
seen on the way (Broyden, Fletcher, Goldfarb and Shanno). A variance at its lower bound whose slope is positive
stays there. The bound is a variance so small that it stands for zero: no formula needs a case of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.latent.moments import information
from humeval_power.estimation.latent.point import Point, Setting, lower_bounds, of_one_level
from humeval_power.kernels.latent import slope as latent_slope

Floats = NDArray[np.float64]

CONVERGED, STALLED, TOO_MANY_STEPS, NO_MODE, SEPARATED, ONE_CATEGORY, TOO_FEW_CATEGORIES = range(7)

_LARGEST = 400.0  # of a variance: a latent SD of 20 puts every rating of a level into one category
_MAX_STEPS = 100
_EXPECTED_STEPS = 2  # steps that take the expected information at their point; later ones keep the last


class End(NamedTuple):
    """Where a search ended: the variances (and theta and beta without restriction), the gradient there."""

    value: float
    x: Floats
    gradient: Floats
    status: int


class Ruler(NamedTuple):
    """The search's own scale: log(variance + shift), shift the variance's standard error at the start, on which
    the criterion is nearer to a parabola and zero is a place like any other; theta and beta as they are."""

    floor: Floats
    shift: Floats

    @classmethod
    def of(cls, floor: Floats, hessian: Floats) -> Ruler:
        """By the expected Hessian at the start."""
        curved = np.maximum(0.5 * hessian.diagonal()[: len(floor)], _LARGEST**-2)
        return cls(floor, 1.0 / np.sqrt(curved))

    def to_search(self, x: Floats) -> Floats:
        q = len(self.floor)
        return np.concatenate([np.log(x[:q] + self.shift), x[q:]])

    def from_search(self, t: Floats) -> Floats:
        q = len(self.floor)
        variance = np.exp(t[:q]) - self.shift
        at_floor = t[:q] <= np.log(self.floor + self.shift)
        return np.concatenate([np.where(at_floor, self.floor, np.maximum(variance, self.floor)), t[q:]])

    def slope(self, x: Floats) -> Floats:
        """dx/dt."""
        return np.concatenate([x[: len(self.floor)] + self.shift, np.ones(len(x) - len(self.floor))])


def descend(setting: Setting, start: Floats, point: Point, tolerance: float) -> End:
    """Minimise the criterion from `start`; `tolerance` bounds the fall that a further step promises.

    `point`, from where the search for the mode starts, is left at the optimum. Variances of a factor with one
    level stay at zero.
    """
    types = setting.n_types
    floor, held = lower_bounds(setting.layout), of_one_level(setting.layout)
    x = np.concatenate([np.where(held, floor, np.maximum(start[:types], floor)), start[types:]])
    held = np.append(held, np.zeros(len(x) - types, dtype=bool))
    value, gradient = evaluate(setting, x, np.sqrt(x[:types]), point, tolerance)
    if not np.isfinite(value):
        return End(value, x, gradient, NO_MODE)
    expected = expected_hessian(setting, x, point)
    ruler = Ruler.of(floor, expected)
    t, slope = ruler.to_search(x), ruler.slope(x)
    lowest = np.concatenate([np.log(floor + ruler.shift), np.full(len(x) - types, -np.inf)])
    hessian, last_move = expected * slope[:, None] * slope, None
    for step in range(_MAX_STEPS):
        if 0 < step < _EXPECTED_STEPS:
            hessian = expected_hessian(setting, x, point) * slope[:, None] * slope
        if last_move is not None:
            hessian = with_change(hessian, *last_move)
        along = gradient * slope
        free = ((t > lowest) | (along < 0.0)) & ~held
        direction = _direction(hessian, along, free)
        promise = -float(along @ np.maximum(direction, lowest - t))
        if abs(promise) < tolerance:
            return End(value, x, gradient, CONVERGED)
        saved = point.dense + point.step_dense, point.inner + point.step_inner
        scale = np.sqrt(x[:types])
        highest = np.full(len(x), np.inf)
        highest[:types] = np.minimum(10.0 * x[:types] + 1.0, np.maximum(_LARGEST, x[:types]))
        highest = ruler.to_search(highest)
        length = 1.0
        while True:
            trial = np.clip(t + length * direction, lowest, highest)
            trial_x = ruler.from_search(trial)
            expected_fall = -float(along @ (trial - t))
            point.dense[:], point.inner[:] = saved
            trial_value, trial_gradient = evaluate(setting, trial_x, scale, point, tolerance, length == 1.0)
            if value - trial_value >= 1e-4 * expected_fall > 0.0:
                break
            length *= 0.4
            if length < 1e-6:
                point.dense[:], point.inner[:] = saved
                value, gradient = evaluate(setting, x, scale, point, tolerance)
                # rounding hides a fall below about 1e-12 of the criterion
                return End(value, x, gradient, CONVERGED if abs(promise) < 1e-6 else STALLED)
        slope = ruler.slope(trial_x)
        last_move = trial - t, trial_gradient * slope - along
        t, x, value, gradient = trial, trial_x, trial_value, trial_gradient
    return End(value, x, gradient, TOO_MANY_STEPS)


def evaluate(
    setting: Setting, x: Floats, old_scale: Floats, point: Point, tolerance: float, predict: bool = False
) -> tuple[float, Floats]:
    """The criterion and its gradient at x. The mode is sought from `point`, found at `old_scale`; `predict` if
    its factor is from there too."""
    layout, types, order = setting.layout, setting.n_types, setting.order
    q = layout.z.shape[1]
    scale = np.sqrt(x[:types])
    ratio = scale / old_scale
    if predict:
        point.predict(setting, ratio)
    # keep u = s v, unless a component all but vanishes or comes into being: then keep v / s
    change = np.where((ratio > 0.3) & (ratio < 30.0), 1.0 / ratio, ratio)
    point.dense[:order] *= change[setting.column_type]
    point.inner *= change[types - q :]
    if not setting.restricted:
        point.dense[order:] = x[types:]
    gradient = np.zeros(types + len(point.dense) - order)
    if not point.find_mode(setting, scale, tolerance):
        return np.inf, gradient[: len(x)]
    rhs, rhs_inner = np.zeros(len(point.dense)), np.zeros(point.inner.shape)
    likelihood = point.grad_dense.copy()
    likelihood[:order] += point.dense[:order]
    latent_slope.slopes(
        layout,
        setting.cuts,
        scale,
        setting.y,
        setting.logit,
        point.factor,
        likelihood,
        point.grad_inner + point.inner,
        rhs,
        rhs_inner,
        gradient,
    )
    # the Newton step that was not taken still counts
    drift = float(rhs @ point.step_dense + np.vdot(rhs_inner, point.step_inner))
    return point.log_det + drift - 2.0 * point.value - point.promise, gradient[: len(x)]


def expected_hessian(setting: Setting, x: Floats, point: Point) -> Floats:
    """Twice the expected information at x."""
    types, order = setting.n_types, setting.order
    hessian = np.zeros((len(x), len(x)))
    hessian[:types, :types] = 2.0 * information(setting, np.sqrt(x[:types]), point)
    if not setting.restricted:
        lower = np.tril(point.matrix)
        across = lower[order:, :order]
        fixed = lower[order:, order:] + np.tril(lower[order:, order:], -1).T
        inverse = point.factor.inverse[:order, :order]
        hessian[types:, types:] = 2.0 * (fixed - across @ inverse @ across.T)
    return hessian


def with_change(hessian: Floats, move: Floats, change: Floats) -> Floats:
    """The Hessian updated by the gradient's change over the last move (damped BFGS)."""
    image = hessian @ move
    curved, seen = float(image @ move), float(change @ move)
    if curved <= 0.0:
        return hessian
    keep = 1.0 if seen >= 0.2 * curved else 0.8 * curved / (curved - seen)
    mixed = keep * change + (1.0 - keep) * image
    return np.asarray(hessian + np.outer(mixed, mixed) / (mixed @ move) - np.outer(image, image) / curved)


def _direction(hessian: Floats, gradient: Floats, free: NDArray[np.bool_]) -> Floats:
    """Solve hessian d = -gradient over the free components, with a ridge if need be."""
    direction = np.zeros(len(gradient))
    index = np.flatnonzero(free)
    if len(index) == 0:
        return direction
    part = hessian[np.ix_(index, index)]
    scale = np.sqrt(np.maximum(part.diagonal(), 1e-300))
    scaled = part / (scale[:, None] * scale)
    ridge = 1e-9  # components that the table cannot tell apart leave the Hessian singular
    while ridge < 1e6:
        try:
            lower = np.linalg.cholesky(scaled + ridge * np.eye(len(index)))
        except np.linalg.LinAlgError:
            ridge *= 30.0
            continue
        half = np.linalg.solve(lower, -gradient[index] / scale)
        direction[index] = np.linalg.solve(lower.T, half) / scale
        break
    return direction
