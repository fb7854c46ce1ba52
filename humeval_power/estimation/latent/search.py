"""One table's restricted or ordinary Laplace fit: Newton's method inside, quasi-Newton steps outside.

Python drives, the kernels do the sums over ratings and levels: compiled in one piece the search would take
minutes to compile.

The Hessian is that of the expected information at the first points, with the changes of the gradient that are
seen on the way (Broyden, Fletcher, Goldfarb and Shanno). A variance at its lower bound whose slope is positive
stays there. The bound is a variance so small that it stands for zero: no formula needs a case of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from humeval_power.kernels.latent import information as latent_information
from humeval_power.kernels.latent import mode as latent_mode
from humeval_power.kernels.latent import slope as latent_slope
from humeval_power.kernels.latent.mode import Cuts, LatentFactor, LatentLayout

# The joint mode of thresholds, fixed effects and random effects at given variances, by Newton's method.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_NOTHING = 1e-8  # relative change of a level's weight by a variance that stands for zero
_MODE_STEPS = 60
_EVEN_SMALLER = 1e-12  # of h: a fall that is rounding


class Setting(NamedTuple):
    """What stays the same through one search: the categories are coded 0 to their number without gaps."""

    layout: LatentLayout
    cuts: Cuts
    y: Codes
    logit: bool
    restricted: bool

    @property
    def order(self) -> int:
        """Number of dense columns of random effects."""
        return int(self.layout.z.shape[1]) * len(self.layout.kind)

    @property
    def n_types(self) -> int:
        return int(self.layout.z.shape[1]) * (int(self.layout.block.shape[1]) + 1)

    @property
    def column_type(self) -> Codes:
        """The column type of each dense column of random effects."""
        q = self.layout.z.shape[1]
        return np.asarray((self.layout.kind[:, None] * q + np.arange(q)).ravel())


@dataclass(eq=False)
class LatentPoint:
    """Where h is taken, and what is known there; filled again and again.

    step_dense, step_inner : the Newton step that was found last and not taken
    log_det : log|H|; promise : twice what that step would add to h
    """

    dense: Floats
    inner: Floats
    grad_dense: Floats
    grad_inner: Floats
    step_dense: Floats
    step_inner: Floats
    matrix: Floats
    cross: Floats
    factor: LatentFactor
    value: float = 0.0
    log_blocks: float = 0.0
    log_det: float = 0.0
    promise: float = 0.0

    @classmethod
    def of(cls, setting: Setting) -> LatentPoint:
        """Room for a search, at zero."""
        layout = setting.layout
        n, q = layout.z.shape
        levels, nb = len(layout.start) - 1, setting.cuts.n_theta + layout.fixed.shape[1]
        m, entries = setting.order + nb, q * len(layout.listed) + levels * nb
        dense = (np.zeros(m) for _ in range(3))
        inner = (np.zeros((levels, q)) for _ in range(3))
        (at, grad, step), (at_inner, grad_inner, step_inner) = dense, inner
        factor = LatentFactor(
            np.empty((n, 4)), np.empty((entries, q)), np.empty((levels, q, q)), np.empty((m, m))
        )
        room = np.zeros((m, m)), np.empty((entries, q))
        return cls(at, at_inner, grad, grad_inner, step, step_inner, *room, factor)

    def assemble(self, setting: Setting, scale: Floats) -> bool:
        """h, its gradient and H; False where the thresholds do not ascend or h is not a number."""
        cuts = setting.cuts
        theta = self.dense[setting.order : setting.order + cuts.n_theta]
        tau = thresholds(cuts, theta)
        if not np.isfinite(tau).all() or (tau[1:] <= tau[:-1]).any():
            return False
        self.value, self.log_blocks = latent_mode.assemble(
            setting.layout,
            cuts,
            tau,
            scale,
            self.dense,
            self.inner,
            setting.y,
            setting.logit,
            self.factor,
            self.cross,
            self.matrix,
            self.grad_dense,
            self.grad_inner,
        )
        return bool(np.isfinite(self.value))

    def invert(self, setting: Setting, *, with_fixed: bool) -> bool:
        """The inverse of the dense part, log|H| and the Newton step; without the fixed part its rows of the
        inverse are zero."""
        upper, info = dpotrf(self.matrix.T, lower=0, clean=1)  # its lower triangle is filled
        if info != 0:
            return False
        size = len(upper) if with_fixed else setting.order
        logs = np.log(upper.diagonal()[:size])
        self.log_det = self.log_blocks + 2.0 * float(logs.sum())
        half, _ = dpotri(upper[:size, :size], lower=0)
        inverse = self.factor.inverse
        if size < len(inverse):
            inverse[:] = 0.0
        inverse[:size, :size] = half
        inverse[:size, :size] += half.T
        inverse.flat[:: len(inverse) + 1] *= 0.5
        latent_mode.solve(
            setting.layout, self.factor, self.grad_dense, self.grad_inner, self.step_dense, self.step_inner
        )
        self.promise = float(self.grad_dense @ self.step_dense + np.vdot(self.grad_inner, self.step_inner))
        return bool(np.isfinite(self.promise))

    def predict(self, setting: Setting, ratio: Floats) -> None:
        """Move to where the mode would be after a small change of the scale, by the last factor."""
        q = self.inner.shape[1]
        share = np.where((ratio > 0.5) & (ratio < 2.0), 1.0 - 1.0 / ratio**2, 0.0)
        rhs = np.zeros(len(self.dense))
        rhs[: setting.order] = self.dense[: setting.order] * share[setting.column_type]
        out, out_inner = np.empty(rhs.shape), np.empty(self.inner.shape)
        latent_mode.solve(setting.layout, self.factor, rhs, self.inner * share[-q:], out, out_inner)
        self.dense += out
        self.inner += out_inner

    def find_mode(self, setting: Setting, scale: Floats, tolerance: float) -> bool:
        """Newton's method from here, each step halved until h does not fall; whether the mode was found.

        It ends where the next step, which is kept but not taken, promises less than the tolerance.
        """
        if not self.assemble(setting, scale):
            return False
        for _ in range(_MODE_STEPS):
            if not self.invert(setting, with_fixed=setting.restricted):
                return False
            if self.promise < tolerance:
                return True
            before, taken, length = self.value, 0.0, 1.0
            while True:
                self.dense += (length - taken) * self.step_dense
                self.inner += (length - taken) * self.step_inner
                taken = length
                if self.assemble(setting, scale) and self.value >= before - _EVEN_SMALLER * abs(before):
                    break
                length *= 0.5
                if length < 1e-9:
                    return False
        return False


def thresholds(cuts: Cuts, theta: Floats) -> Floats:
    """The thresholds of theta."""
    if cuts.n_theta == 0:
        return np.zeros(len(cuts.theta))
    return np.asarray(cuts.sign * theta[cuts.theta])


def lower_bounds(layout: LatentLayout) -> Floats:
    """Variances that stand for zero, (types,)."""
    sizes = [*np.bincount(layout.kind), len(layout.start) - 1]
    weight = np.maximum(np.square(layout.z).sum(axis=0), 1e-300)
    return np.concatenate([_NOTHING * size / weight for size in sizes])


def of_one_level(layout: LatentLayout) -> NDArray[np.bool_]:
    """Which variances, (types,), are those of a factor with one level, which is but a further fixed effect."""
    sizes = np.array([*np.bincount(layout.kind), len(layout.start) - 1])
    return np.repeat(sizes == 1, layout.z.shape[1])


# What the test of a latent effect needs at the mode, from C = H^-1 alone.


def information(setting: Setting, scale: Floats, point: LatentPoint) -> Floats:
    """Expected information of the variances, 1/2 ||Z_a'P Z_b||^2, in the layout's order."""
    q, m, types = setting.layout.z.shape[1], len(point.dense), setting.n_types
    total, products = np.zeros((types, types)), np.zeros((q, m, m))
    latent_information.information_sums(setting.layout, point.factor, total, products)
    lower = np.tril(products, -1)
    products += np.swapaxes(lower, 1, 2)
    half = point.factor.inverse @ products
    total[types - q :, types - q :] += np.einsum("brs,csr->bc", half, half)
    square = scale * scale
    return np.asarray(0.5 * total / (square[:, None] * square))


def effect_parts(setting: Setting, scale: Floats, point: LatentPoint, column: int) -> tuple[Floats, Floats]:
    """For the fixed effect in dense column `column`: g_a = ||c_a||^2 (types,) and c_a'Z_a'P Z_b c_b (types,
    types), with c_a = Z_a'V^-1 X Phi.

    Both are derivatives of the effect's variance; the second makes the adjusted variance of Kenward and
    Roger (1997), Phi + 2 sum W_ab c_a'Z_a'P Z_b c_b, W the inverse of the information.
    """
    unit, none = np.zeros(len(point.dense)), np.zeros(point.inner.shape)
    unit[column] = 1.0
    at, at_inner = np.empty(unit.shape), np.empty(none.shape)
    latent_mode.solve(setting.layout, point.factor, unit, none, at, at_inner)
    return quadratic_forms(setting, scale, point, at, at_inner)


def quadratic_forms(
    setting: Setting, scale: Floats, point: LatentPoint, dense: Floats, inner: Floats
) -> tuple[Floats, Floats]:
    """||c_a||^2 (types,) and c_a'Z_a'P Z_b c_b (types, types), c_a the part of type a of (dense, inner) / s."""
    layout, types = setting.layout, setting.n_types
    parts, parts_inner = np.zeros((types, len(dense))), np.zeros((types, *inner.shape))
    latent_information.split_types(layout, dense, inner, parts, parts_inner)
    parts /= scale[:, None]
    parts_inner /= scale[:, None, None]
    norm = np.einsum("tr,tr->t", parts, parts) + np.einsum("trb,trb->t", parts_inner, parts_inner)
    products = np.empty((types, types))
    out, out_inner = np.empty(len(dense)), np.empty(inner.shape)
    for t in range(types):
        latent_mode.solve(layout, point.factor, parts[t], parts_inner[t], out, out_inner)
        rest = (parts_inner[t] - out_inner).ravel()
        products[t] = parts @ (parts[t] - out) + parts_inner.reshape(types, -1) @ rest
    return norm, products / (scale[:, None] * scale)


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


def descend(setting: Setting, start: Floats, point: LatentPoint, tolerance: float) -> End:
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
    setting: Setting,
    x: Floats,
    old_scale: Floats,
    point: LatentPoint,
    tolerance: float,
    predict: bool = False,
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


def expected_hessian(setting: Setting, x: Floats, point: LatentPoint) -> Floats:
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


# One table of categories: coded without gaps, started, searched, and written beside its fellows.

_ROUNDING = 1e-9  # difference of the criterion that is none
_ROUGH = 1e-4  # tolerance of the restricted fit from which an unrestricted one starts
_FINAL = 1e-20  # promise of the last Newton step at the optimum
_LOGISTIC_TO_NORMAL = 0.36  # about the variance of a normal variable relative to that of a logistic one


class LatentFits(NamedTuple):
    """What is found for each replicate, with components in the layout's order.

    fixed, covariance : thresholds and coefficients; norm, products : as in `latent_moments.effect_parts`
    """

    status: Codes
    criterion: Floats
    variance: Floats
    fixed: Floats
    covariance: Floats
    information: Floats
    norm: Floats
    products: Floats

    @classmethod
    def empty(cls, layout: LatentLayout, n: int, n_categories: int, status: Codes) -> LatentFits:
        q = layout.z.shape[1] * (layout.block.shape[1] + 1)
        size = n_categories - 1 + layout.fixed.shape[1]
        shapes = ((), (q,), (size,), (size, size), (q, q), (q,), (q, q))
        blank = (np.full((n, *shape), np.nan) for shape in shapes)
        return cls(status.copy(), *blank)


class LatentTable(NamedTuple):
    """One replicate, its categories coded without gaps.

    n_below : (C-1,), how many categories in use lie at or below each threshold
    n_used : categories in use
    """

    setting: Setting
    n_below: Codes
    n_used: int

    @classmethod
    def of(
        cls,
        layout: LatentLayout,
        categories: Codes,
        n_categories: int,
        *,
        symmetric: bool,
        logit: bool,
        restricted: bool,
    ) -> LatentTable:
        there = np.bincount(categories, minlength=n_categories) > 0
        n_below = np.cumsum(there, dtype=np.int64)
        n_used = int(n_below[-1])
        y = categories if n_used == n_categories else np.ascontiguousarray((n_below - 1)[categories])
        if not symmetric:
            cuts = Cuts(np.arange(n_used - 1), np.ones(n_used - 1), n_used - 1)
        elif n_used == 3:
            cuts = Cuts(np.zeros(2, dtype=np.int64), np.array([-1.0, 1.0]), 1)
        else:
            cuts = Cuts(np.array([-1]), np.zeros(1), 0)
        return cls(Setting(layout, cuts, y, logit, restricted), n_below[:-1], n_used)

    def fit(
        self, starts: list[Floats], fixed: Floats, tolerance: float, fits: LatentFits, row: int
    ) -> None:
        """Search from every start; write the best end into `row`."""
        best: tuple[End, LatentPoint] | None = None
        for start in starts:
            reached = self._search(start, fixed, tolerance)
            if best is None or reached[0].value < best[0].value - _ROUNDING:
                best = reached
        assert best is not None  # there is a start
        self._write(*best, fits, row)

    def _search(self, variances: Floats, fixed: Floats, tolerance: float) -> tuple[End, LatentPoint]:
        setting = self.setting
        point = LatentPoint.of(setting)
        self._start(point, variances, fixed)
        if setting.restricted:
            return descend(setting, variances, point, tolerance), point
        first = descend(setting._replace(restricted=True), variances, point, _ROUGH)
        if first.status == NO_MODE:
            return first, point
        return descend(setting, np.append(first.x, point.dense[setting.order :]), point, tolerance), point

    def _start(self, point: LatentPoint, variances: Floats, fixed: Floats) -> None:
        """Thresholds and coefficients given, or those of the shares of all ratings."""
        cuts, order = self.setting.cuts, self.setting.order
        n_cuts = len(self.n_below)
        if len(fixed) and self.n_used == n_cuts + 1:
            for k in np.flatnonzero(cuts.theta >= 0):
                point.dense[order + cuts.theta[k]] = cuts.sign[k] * fixed[k]
            point.dense[order + cuts.n_theta :] = fixed[n_cuts:]
            return
        spread = np.sqrt((1.0 if self.setting.logit else _LOGISTIC_TO_NORMAL) + 0.5 * variances.sum())
        shares = np.cumsum(np.bincount(self.setting.y))[:-1] / len(self.setting.y)
        if cuts.n_theta == len(cuts.theta):
            point.dense[order : order + cuts.n_theta] = spread * np.log(shares / (1.0 - shares))
        elif cuts.n_theta:
            ties = shares[1] - shares[0]
            point.dense[order] = spread * np.log((1.0 + ties) / (1.0 - ties))

    def _write(self, end: End, point: LatentPoint, fits: LatentFits, row: int) -> None:
        setting = self.setting
        fits.status[row] = end.status
        if end.status == NO_MODE:
            return
        types, order, cuts = setting.n_types, setting.order, setting.cuts
        variances = end.x[:types]
        scale = np.sqrt(variances)
        at_bound = variances <= lower_bounds(setting.layout)
        fits.variance[row] = np.where(at_bound, 0.0, variances)
        fits.criterion[row] = end.value - float(end.gradient[:types][at_bound] @ variances[at_bound])
        point.find_mode(setting, scale, _FINAL)
        fits.information[row] = information(setting, scale, point)
        if not setting.restricted:
            point.invert(setting, with_fixed=True)
        n_cuts = len(self.n_below)
        inside = np.flatnonzero((self.n_below > 0) & (self.n_below < self.n_used))
        which = self.n_below[inside] - 1
        theta = point.dense[order : order + cuts.n_theta]
        fits.fixed[row, :n_cuts] = np.where(self.n_below == 0, -np.inf, np.inf)
        fits.fixed[row, inside] = thresholds(cuts, theta)[which]
        fits.fixed[row, n_cuts:] = point.dense[order + cuts.n_theta :]
        # from theta and the coefficients to thresholds and coefficients
        jacobian = np.zeros((fits.fixed.shape[1], len(point.dense) - order))
        free = cuts.theta[which] >= 0
        jacobian[inside[free], cuts.theta[which[free]]] = cuts.sign[which[free]]
        jacobian[n_cuts:, cuts.n_theta :] = np.eye(len(jacobian) - n_cuts)
        fits.covariance[row] = jacobian @ point.factor.inverse[order:, order:] @ jacobian.T
        fits.norm[row], fits.products[row] = effect_parts(setting, scale, point, order + cuts.n_theta)
