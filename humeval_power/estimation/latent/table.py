"""One table of categories: coded without gaps, started, searched, and written beside its fellows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.latent.moments import effect_parts, information
from humeval_power.estimation.latent.point import Point, Setting, lower_bounds, thresholds
from humeval_power.estimation.latent.search import NO_MODE, End, descend
from humeval_power.kernels.latent.mode import Cuts, Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ROUNDING = 1e-9  # difference of the criterion that is none
_ROUGH = 1e-4  # tolerance of the restricted fit from which an unrestricted one starts
_FINAL = 1e-20  # promise of the last Newton step at the optimum
_LOGISTIC_TO_NORMAL = 0.36  # about the variance of a normal variable relative to that of a logistic one


class Found(NamedTuple):
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
    def empty(cls, layout: Layout, n: int, n_categories: int, status: Codes) -> Found:
        q = layout.z.shape[1] * (layout.block.shape[1] + 1)
        size = n_categories - 1 + layout.fixed.shape[1]
        shapes = ((), (q,), (size,), (size, size), (q, q), (q,), (q, q))
        blank = (np.full((n, *shape), np.nan) for shape in shapes)
        return cls(status.copy(), *blank)


class Table(NamedTuple):
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
        layout: Layout,
        categories: Codes,
        n_categories: int,
        *,
        symmetric: bool,
        logit: bool,
        restricted: bool,
    ) -> Table:
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

    def fit(self, starts: list[Floats], fixed: Floats, tolerance: float, found: Found, row: int) -> None:
        """Search from every start; write the best end into `row`."""
        best: tuple[End, Point] | None = None
        for start in starts:
            reached = self._search(start, fixed, tolerance)
            if best is None or reached[0].value < best[0].value - _ROUNDING:
                best = reached
        assert best is not None  # there is a start
        self._write(*best, found, row)

    def _search(self, variances: Floats, fixed: Floats, tolerance: float) -> tuple[End, Point]:
        setting = self.setting
        point = Point.of(setting)
        self._start(point, variances, fixed)
        if setting.restricted:
            return descend(setting, variances, point, tolerance), point
        first = descend(setting._replace(restricted=True), variances, point, _ROUGH)
        if first.status == NO_MODE:
            return first, point
        return descend(setting, np.append(first.x, point.dense[setting.order :]), point, tolerance), point

    def _start(self, point: Point, variances: Floats, fixed: Floats) -> None:
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

    def _write(self, end: End, point: Point, found: Found, row: int) -> None:
        setting = self.setting
        found.status[row] = end.status
        if end.status == NO_MODE:
            return
        types, order, cuts = setting.n_types, setting.order, setting.cuts
        variances = end.x[:types]
        scale = np.sqrt(variances)
        at_bound = variances <= lower_bounds(setting.layout)
        found.variance[row] = np.where(at_bound, 0.0, variances)
        found.criterion[row] = end.value - float(end.gradient[:types][at_bound] @ variances[at_bound])
        point.find_mode(setting, scale, _FINAL)
        found.information[row] = information(setting, scale, point)
        if not setting.restricted:
            point.invert(setting, with_fixed=True)
        n_cuts = len(self.n_below)
        inside = np.flatnonzero((self.n_below > 0) & (self.n_below < self.n_used))
        which = self.n_below[inside] - 1
        theta = point.dense[order : order + cuts.n_theta]
        found.fixed[row, :n_cuts] = np.where(self.n_below == 0, -np.inf, np.inf)
        found.fixed[row, inside] = thresholds(cuts, theta)[which]
        found.fixed[row, n_cuts:] = point.dense[order + cuts.n_theta :]
        # from theta and the coefficients to thresholds and coefficients
        jacobian = np.zeros((found.fixed.shape[1], len(point.dense) - order))
        free = cuts.theta[which] >= 0
        jacobian[inside[free], cuts.theta[which[free]]] = cuts.sign[which[free]]
        jacobian[n_cuts:, cuts.n_theta :] = np.eye(len(jacobian) - n_cuts)
        found.covariance[row] = jacobian @ point.factor.inverse[order:, order:] @ jacobian.T
        found.norm[row], found.products[row] = effect_parts(setting, scale, point, order + cuts.n_theta)
