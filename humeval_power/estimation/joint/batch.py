"""Fit the means of several systems in many tables of one design: complete ones at once, others one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from humeval_power.comparisons import SystemVariances
from humeval_power.designs import Assignment
from humeval_power.estimation.joint import closed_form as joint_closed_form
from humeval_power.estimation.joint.fit import inverse_information, precision_of, precision_of_contrasts
from humeval_power.estimation.joint.table import JointTable
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Fitted, expected_information
from humeval_power.kernels.joint import batch as joint_batch
from humeval_power.kernels.joint.reml import optimise

Floats = NDArray[np.float64]
TOLERANCE = 1e-8  # fall of the criterion that a further step would bring
MOST_STEPS = 100
_NO_RESIDUAL = 1e-14  # of the ratings' mean square; rounding leaves about 1e-16


class ContrastFits(NamedTuple):
    """Fits of n tables: estimates, standard errors as they are and Kenward and Roger's adjusted ones, and both df,
    each (n, contrasts); a status (n,), 0 where the fit can be used; and whether the fit that a contrast is of
    estimates a variance as zero, (n, contrasts), or (n, 1) where one fit is of all."""

    estimate: Floats
    standard_error: Floats
    adjusted: Floats
    satterthwaite: Floats
    kenward_roger: Floats
    status: NDArray[np.int64]
    boundary: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: list[ContrastFits]) -> ContrastFits:
        """One record from consecutive parts."""
        return cls._make(np.concatenate(kind) for kind in zip(*parts, strict=True))


def fit_complete_common(
    workers: Floats, items: Floats, residual: Floats, estimate: Floats, size: tuple[int, int, int, int]
) -> ContrastFits:
    """Complete tables with common variances, in closed form.

    workers, items : cross products (n, K, K) as in kernels.joint_batch; residual (n,) sums of squares.
    estimate : (n, contrasts) differences of two systems; size : workers, items, systems, repeats.
    """
    m, n, K, r = size
    df = joint_closed_form.degrees_of_freedom(*size)
    strata = []
    for sums in (workers, items):
        shared = sums.sum(axis=(1, 2)) / K
        strata += [shared, np.einsum("akk->a", sums) - shared]
    squares = np.maximum(np.column_stack([*strata, residual]), 0.0) / df
    expected, pooled, block = joint_batch.fit_common(np.ascontiguousarray(squares), df)
    weight = np.array([0.0, 1.0, 0.0, 1.0, -1.0])
    combined = expected @ weight
    with np.errstate(divide="ignore", invalid="ignore"):
        kenward_roger = combined**2 / (expected**2 * weight**2 / df).sum(axis=1)
        together = np.zeros((len(expected), 5))  # the weights of each block, at its first stratum
        for stratum in range(5):
            together[np.arange(len(block)), block[:, stratum]] += weight[stratum]
        each = np.take_along_axis(together, block, axis=1)
        shares = np.ones_like(each) / (block[:, :, None] == block[:, None, :]).sum(axis=2)
        satterthwaite = combined**2 / (each**2 * expected**2 / pooled * shares).sum(axis=1)
    error = np.sqrt(2.0 * combined / (m * n * r))
    shape = estimate.shape
    error, satterthwaite, kenward_roger = (
        np.broadcast_to(one[:, None], shape) for one in (error, satterthwaite, kenward_roger)
    )
    status = np.where((combined > 0) & (expected[:, 4] > 0), reml.CONVERGED, reml.NO_RESIDUAL)
    zero = (expected[:, :4] <= expected[:, [1, 4, 3, 4]]).any(axis=1)
    return ContrastFits(estimate, error, error, satterthwaite, kenward_roger, status, zero[:, None])


def fit_complete_own(
    workers: Floats,
    items: Floats,
    residual: Floats,
    estimate: Floats,
    size: tuple[int, int, int, int],
    *,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    start: Floats,
) -> ContrastFits:
    """Complete tables with each system's own variances; the contrasts are second - first.

    start : (2 + 2 K,) relative variances from which every search starts. Satterthwaite's df with the observed
        information is not computed: it is NaN.
    """
    total = residual + np.einsum("akk->a", workers) + np.einsum("akk->a", items)
    gamma, sigma2, status = joint_batch.fit_own(
        np.ascontiguousarray(workers), np.ascontiguousarray(items), residual, size, start,
        TOLERANCE, MOST_STEPS, _NO_RESIDUAL * total,
    )  # fmt: skip
    variance, df = joint_batch.own_precision(
        gamma, sigma2, size, np.ascontiguousarray(first), np.ascontiguousarray(second)
    )
    error = np.sqrt(np.where(variance > 0, variance, np.nan))
    zero = (gamma == 0).any(axis=1)[:, None]
    return ContrastFits(estimate, error, error, np.full_like(df, np.nan), df, status, zero)


def contrasts_of_many(means: Floats, fitted: Fitted, n: int, contrasts: Floats) -> ContrastFits:
    """What `precision_of` and `precision_of_contrasts` say of REML fits of tables of n rows, all at once.

    means (tables, K), in the coordinates of `fitted`; contrasts (contrasts, K) of these.
    """
    K, phi = means.shape[1], fitted.phi
    sigma2 = (fitted.rss / (n - K))[:, None]
    info = fitted.information(n)
    expected = expected_information(info, phi, 1.0, restricted=True)
    inverse = inverse_information(expected)
    moved = info.xgx @ phi[:, None]
    weighted = np.einsum("ast,atkl->askl", inverse, info.xgx)
    middle = np.einsum("ast,astkl->akl", inverse, info.xggx) - (moved @ weighted).sum(axis=1)
    adjusted = phi + 2.0 * phi @ middle @ phi
    observed = 2.0 * _average_information(fitted, sigma2[:, 0]) - expected
    free = np.concatenate([fitted.gamma > 0, np.ones((len(means), 1), dtype=np.bool_)], axis=1)
    both = free[:, :, None] & free[:, None, :]
    uncertain = np.where(both, inverse_information(np.where(both, observed, np.eye(free.shape[1]))), 0.0)

    def variance_of(covariance: Floats) -> Floats:
        return np.asarray(((contrasts @ covariance) * contrasts).sum(axis=-1))

    # of d covariance / d variance_t, sigma^2 cancels against that of the variances' own covariance
    slopes = variance_of(phi[:, None] @ info.xgx @ phi[:, None]).swapaxes(1, 2)
    variance = variance_of(phi)

    def df(uncertainty: Floats) -> Floats:
        spread = ((slopes @ uncertainty) * slopes).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, 2.0 * variance**2 / spread, np.nan)

    def root(values: Floats) -> Floats:
        return np.sqrt(np.where(values > 0, values, np.nan))

    return ContrastFits(
        (contrasts @ means[:, :, None])[:, :, 0],
        root(variance * sigma2),
        root(variance_of(adjusted) * sigma2),
        df(uncertain),
        df(inverse),
        np.zeros(len(means), dtype=np.int64),
        (fitted.gamma == 0).any(axis=1)[:, None],
    )


def _average_information(fitted: Fitted, sigma2: Floats) -> Floats:
    """`kernels.joint.reml.average_information` of many fits, in units of sigma^2 = 1."""
    gamma, quadratic, square = fitted.gamma, fitted.quadratic, fitted.square
    q = gamma.shape[1]
    full = np.empty((len(gamma), q + 1, q + 1))
    full[:, :q, :q] = quadratic
    full[:, :q, q] = full[:, q, :q] = square - (quadratic @ gamma[..., None])[..., 0]
    full[:, q, q] = fitted.rss - (square * gamma).sum(axis=1) - (full[:, q, :q] * gamma).sum(axis=1)
    return np.asarray(full / (2.0 * sigma2[:, None, None]))


class AnyTable:
    """Tables of one assignment, fitted one by one from the assumed variances."""

    def __init__(
        self,
        rows: Assignment,
        *,
        worker: Floats,
        item: Floats,
        residual: float,
        variances: SystemVariances,
        contrasts: Floats,
    ) -> None:
        """worker, item : variances (1 + K,), what systems share first; contrasts (contrasts, K)."""
        self._contrasts = contrasts
        own = variances == "own"
        if not own:
            worker, item = (np.append(part[0], part[1:].mean()) for part in (worker, item))
        self._table = JointTable.of_rows(
            rows.worker, rows.item, rows.system, n_systems=contrasts.shape[1], own=own
        )
        both = (worker, item) if self._table.worker_is_outer else (item, worker)
        self.start = np.concatenate(both) / residual

    def fit(self, rating: Floats) -> ContrastFits:
        """One table of ratings (n_ratings,)."""
        system = self._table.system
        centre = np.bincount(system, rating) / np.bincount(system)
        n_contrasts = len(self._contrasts)
        blank, none = np.full((1, n_contrasts), np.nan), np.zeros((1, 1), dtype=np.bool_)
        try:
            end = optimise(
                self._table.point(rating - centre[system], self.start),
                tolerance=TOLERANCE,
                max_steps=MOST_STEPS,
                smallest_rss=_NO_RESIDUAL * float(rating @ rating),
            )
        except LinAlgError:
            return ContrastFits(*(blank,) * 5, np.array([reml.STALLED]), none)
        if end.status != reml.CONVERGED:
            return ContrastFits(*(blank,) * 5, np.array([end.status]), none)
        point = end.point
        known = precision_of(point, point.second_order(), point.rss / point.df)
        found = precision_of_contrasts(point.beta + centre, known, self._contrasts)
        zero = np.array([[bool((point.gamma == 0).any())]])
        return ContrastFits._make([*(kind[None] for kind in found), np.zeros(1, dtype=np.int64), zero])
