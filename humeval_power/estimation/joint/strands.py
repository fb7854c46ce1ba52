"""Many tables of one design in which all systems are rated together, fitted by strands: in pairs, or jointly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.sparse import csr_array

from humeval_power.blas import one_blas_thread
from humeval_power.designs import Assignment
from humeval_power.estimation.crossed.fits import search
from humeval_power.estimation.joint.fit import (
    JointTable,
    by_system,
    degrees_of_freedom,
    inverse_information,
    precision_of,
    precision_of_contrasts,
)
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Fitted
from humeval_power.kernels.joint import batch as joint_batch
from humeval_power.kernels.joint import own_variances, strands
from humeval_power.kernels.joint.reml import optimise
from humeval_power.rules import SystemVariances

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_GAMMA = 1e3  # relative variances beyond which sums of squares lose digits
_MOST_KINDS = 4  # of inner levels, by their number of ratings
MOST_LEVELS, MOST_EVEN_LEVELS = (
    128,
    512,
)  # outer levels up to which plain loops beat LAPACK; with equal loads
_FITS = 2048  # fits of one call of the kernel
_MOST_UNEVEN = 1e7  # condition of an information whose directions need not be looked at one by one
_CONTRASTS = 16  # tables whose information is held at once: more would need new memory each time
_OWN_FITS = 64  # tables side by side whose systems have variances of their own


class Model(NamedTuple):
    """How the systems of p fits are rotated into strands (p, S, K), and what each variance, outer or inner, adds to
    the variance of a level of a strand (h, S)."""

    rotation: Floats
    pattern: Floats

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.int64], n_systems: int) -> Self:
        """Sums and differences of two systems, pairs (p, 2); the variances are those of intercepts and slopes."""
        rotation = np.zeros((len(pairs), 2, n_systems))
        number = np.arange(len(pairs))
        rotation[number, 0, pairs[:, 0]] = rotation[number, 0, pairs[:, 1]] = np.sqrt(0.5)
        rotation[number, 1, pairs[:, 0]] = -np.sqrt(0.5)
        rotation[number, 1, pairs[:, 1]] = np.sqrt(0.5)
        return cls(rotation, np.diag([2.0, 0.5]))

    @classmethod
    def of_all(cls, n_systems: int) -> Self:
        """The mean of all systems and contrasts; the variances are those that systems share, and their own."""
        shared = np.zeros(n_systems)
        shared[0] = n_systems
        return cls(helmert(n_systems, full=True)[None], np.stack([shared, np.ones(n_systems)]))


class StrandFits(NamedTuple):
    """Fits with axes (tables, p): coefficients of the strands (S,), status, and what their precision needs.

    What is not `trusted` is left to a search that keeps more digits: it did not converge, or has large variances.
    """

    beta: Floats
    status: Codes
    fitted: Fitted

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """Which fits can be used as they are."""
        return np.asarray((self.status == reml.CONVERGED) & (self.fitted.gamma.max(axis=-1) <= _MOST_GAMMA))

    def of(self, chosen: NDArray[np.bool_]) -> StrandFits:
        """Those of some tables (tables,); they are not copied if these are all."""
        if chosen.all():
            return self
        fitted = Fitted(*(part[chosen] for part in self.fitted))
        return StrandFits(self.beta[chosen], self.status[chosen], fitted)


class _StrandSums(NamedTuple):
    """Of systems, as the kernel takes them of strands: `base` (tables, K, m), `meet` (tables, kinds, K, m), `inner`
    (tables, kinds, K), and products `gram` (tables, kinds, K, K) and `left` (tables, K, K)."""

    base: Floats
    meet: Floats
    inner: Floats
    gram: Floats
    left: Floats


@dataclass(frozen=True, eq=False)
class Together:
    """A design in which each worker rates an item under all systems equally often.

    order : (K, n / K), the rows of each system by worker and item
    base, met, count, levels, reach : as the kernel takes them
    turn : (m, m), from outer levels to the eigenvectors of `met`, which then is diagonal; None where it is not
    inner, kind : inner level of each row of a system, and kind of each level
    to_inner, to_outer, cross : from rows to levels, and of each kind from inner levels to outer ones
    worker_is_outer : whether variances of workers come first
    """

    order: Codes
    base: Floats
    met: Floats
    count: Floats
    levels: Floats
    reach: Floats
    turn: Floats | None
    inner: Codes
    kind: Codes
    to_inner: csr_array
    to_outer: csr_array
    cross: tuple[csr_array, ...]
    worker_is_outer: bool

    @classmethod
    def of_rows(cls, rows: Assignment, n_systems: int) -> Self | None:
        """None where systems are not rated together, where inner levels have many different numbers of ratings, or
        where the matrices would be large."""
        order = by_system(rows.worker, rows.item, rows.system, n_systems)
        worker_is_outer = int(rows.worker.max()) <= int(rows.item.max())
        outer, inner = (rows.worker, rows.item) if worker_is_outer else (rows.item, rows.worker)
        m, n_inner = int(outer.max()) + 1, int(inner.max()) + 1
        if order is None or m > MOST_EVEN_LEVELS:
            return None
        outer, inner = outer[order[0]], inner[order[0]]
        count, kind, levels = np.unique(
            np.bincount(inner, minlength=n_inner), return_inverse=True, return_counts=True
        )
        load = np.bincount(outer, minlength=m).astype(float)
        is_even = len(count) == 1 and np.ptp(load) == 0
        if len(count) > _MOST_KINDS or count[0] == 0 or (m > MOST_LEVELS and not is_even):
            return None
        number, ones = np.arange(len(inner)), np.ones(len(inner))
        to_inner = csr_array((ones, (inner, number)), shape=(n_inner, len(inner)))
        to_outer = csr_array((ones, (outer, number)), shape=(m, len(inner)))
        between = csr_array(to_outer @ to_inner.T)
        cross = tuple(csr_array(between[:, kind == c]) for c in range(len(count)))
        met = np.stack([(part @ part.T).toarray() for part in cross])
        base = np.diag(load) - np.tensordot(1.0 / count, met, 1)
        reach = np.stack([np.asarray(part.sum(axis=1), dtype=np.float64).ravel() for part in cross])
        turn = None
        if is_even:
            values, vectors = np.linalg.eigh(met[0])
            turn = np.ascontiguousarray(vectors.T)
            met, base, reach = np.diag(values)[None], np.diag(load - values / count[0]), reach @ vectors
        return cls(
            order=order,
            base=base,
            met=met,
            count=count.astype(float),
            levels=levels.astype(float),
            reach=reach,
            turn=turn,
            inner=inner,
            kind=kind,
            to_inner=to_inner,
            to_outer=to_outer,
            cross=cross,
            worker_is_outer=worker_is_outer,
        )

    def fit(
        self,
        responses: Floats,
        model: Model,
        start: Floats,
        *,
        tolerance: float,
        max_steps: int,
        n_jobs: int = 1,
    ) -> StrandFits:
        """REML of each row of responses (tables, ratings), from starts (p, q) with the outer variances first."""
        step = max(1, min(_FITS // len(model.rotation), -(-len(responses) // n_jobs)))
        parts = [responses[first : first + step] for first in range(0, len(responses), step)]

        def fit(part: Floats) -> StrandFits:
            return self._fit(part, model, start, tolerance, max_steps)

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                fits = [fit(part) for part in parts]
            else:
                with ThreadPoolExecutor(n_jobs) as pool:
                    fits = list(pool.map(fit, parts))
        return joined(fits)

    def _fit(
        self, responses: Floats, model: Model, start: Floats, tolerance: float, max_steps: int
    ) -> StrandFits:
        sums, U = self._sums(responses), model.rotation
        tables, (p, S, _), q = len(responses), U.shape, start.shape[1]
        n = tables * p

        def squares(products: Floats) -> Floats:
            """Of strands, from products of systems (..., K, K), with p before the strands."""
            return np.asarray(((U @ products[..., None, :, :]) * U).sum(axis=-1))

        y_base = (U @ sums.base[:, None]).reshape(n, S, -1)
        meet = np.moveaxis(U @ sums.meet[:, :, None], 1, 3)  # (tables, p, S, kinds, m)
        y_meet = np.ascontiguousarray(meet).reshape(n, S, *self.reach.shape)
        y_sum = np.moveaxis(U @ sums.inner[:, :, None, :, None], 1, -1).reshape(n, S, -1)
        y_square = np.moveaxis(squares(sums.gram), 1, -1).reshape(n, S, -1)
        y_left = squares(sums.left).reshape(n, S)
        whole = y_left.sum(axis=1) + (y_square / self.count).sum(axis=(1, 2))
        status = np.empty(n, dtype=np.int64)
        shapes = ((S,), (q,), (S,), (), (q,), (q, q), (q,), (q, q), (q, S), (q, q, S))
        beta, *fields = filled = tuple(np.full((n, *shape), np.nan) for shape in shapes)
        strands.fit_many(
            self.base, self.met, self.turn is not None, self.count, self.levels, self.reach, model.pattern,
            S * len(self.inner), y_base, y_meet, np.ascontiguousarray(y_sum), np.ascontiguousarray(y_square),
            y_left, whole, np.tile(start, (tables, 1)), tolerance, max_steps, status, *filled,
        )  # fmt: skip
        gamma, phi, rss, trace, quadratic, square, norm, xgx, xggx = fields
        between = np.eye(S)
        fitted = Fitted(
            gamma, phi[..., None] * between, rss, trace, quadratic, square, norm,
            xgx[..., None] * between, xggx[..., None] * between,
        )  # fmt: skip

        def by_table(part: Floats) -> Floats:
            return part.reshape(tables, p, *part.shape[1:])

        return StrandFits(by_table(beta), status.reshape(tables, p), Fitted(*map(by_table, fitted)))

    def fit_own(
        self, responses: Floats, start: Floats, *, tolerance: float, max_steps: int, n_jobs: int = 1
    ) -> StrandFits:
        """REML of systems with variances of their own, from one start (q,); with equal loads only."""
        assert self.turn is not None
        parts = [responses[first : first + _OWN_FITS] for first in range(0, len(responses), _OWN_FITS)]

        def fit(part: Floats) -> StrandFits:
            return self._fit_own(part, start, tolerance, max_steps)

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                return joined([fit(part) for part in parts])
            with ThreadPoolExecutor(n_jobs) as pool:
                return joined(list(pool.map(fit, parts)))

    def _fit_own(self, responses: Floats, start: Floats, tolerance: float, max_steps: int) -> StrandFits:
        n, K = len(responses), len(self.order)
        if n < 2:  # with one lane NumPy adds the parts of a sum in another order
            responses = np.repeat(responses, 2, axis=0)
        given = self._sums(responses)
        left = np.trace(given.left, axis1=1, axis2=2)
        whole = left + np.trace(given.gram[:, 0], axis1=1, axis2=2) / self.count[0]
        meet = np.ascontiguousarray(given.meet[:, 0].swapaxes(1, 2))
        sums = own_variances.OwnVariancesSums(
            np.ascontiguousarray(given.base.swapaxes(1, 2)),
            meet,
            given.inner[:, 0],
            given.gram[:, 0],
            left,
            whole,
        )
        design = own_variances.OwnVariancesDesign(
            np.diag(self.base).copy(),
            np.diag(self.met[0]).copy(),
            self.reach[0],
            float(self.count[0]),
            len(self.kind),
            K * len(self.inner),
        )
        with np.errstate(all="ignore"):  # a lane that goes astray is marked, and no concern of the others
            at = partial(own_variances.evaluate, design)
            gamma, status = search(at, sums, start, design.n - K, tolerance, max_steps)
            point = at(sums, gamma)
            norm, xggx = own_variances.second_order(design, point)
            fitted = Fitted(
                gamma.T, point.phi, point.rss, point.trace, np.moveaxis(point.quadratic, -1, 0), point.square.T,
                norm, point.xgx, xggx,
            )  # fmt: skip
        return StrandFits(
            point.beta[:n, None], status[:n, None], Fitted(*(part[:n, None] for part in fitted))
        )

    def _sums(self, responses: Floats) -> _StrandSums:
        centred = responses - responses.mean(axis=1, keepdims=True)
        y = np.ascontiguousarray(centred[:, self.order])
        tables, K, _ = y.shape
        rows = y.reshape(tables * K, -1).T
        of_level = np.asarray(self.to_inner @ rows)
        left = rows - (of_level / self.count[self.kind][:, None])[self.inner]
        apart = np.ascontiguousarray(left.T).reshape(y.shape)
        inner = np.ascontiguousarray(of_level.T).reshape(tables, K, -1)
        kinds = [inner[:, :, self.kind == c] for c in range(len(self.count))]

        def by_outer(part: Floats) -> Floats:
            each = np.ascontiguousarray(np.asarray(part).T).reshape(tables, K, -1)
            # table by table: BLAS adds in another order where there are more
            return each if self.turn is None else each @ self.turn.T

        meet = [
            by_outer(cross @ np.ascontiguousarray(of_level[self.kind == c]))
            for c, cross in enumerate(self.cross)
        ]
        return _StrandSums(
            base=by_outer(self.to_outer @ left),
            meet=np.stack(meet, axis=1),
            inner=np.stack([part.sum(axis=2) for part in kinds], axis=1),
            gram=np.stack([part @ part.swapaxes(1, 2) for part in kinds], axis=1),
            left=apart @ apart.swapaxes(1, 2),
        )


def joined(parts: list[StrandFits]) -> StrandFits:
    """One record from consecutive parts."""
    if len(parts) == 1:
        return parts[0]
    beta, status, fitted = zip(*parts, strict=True)
    together = Fitted(*(np.concatenate(field) for field in zip(*fitted, strict=True)))
    return StrandFits(np.concatenate(beta), np.concatenate(status), together)


# Fit the means of several systems in many tables of one design: complete ones at once, others one by one.

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
    df = degrees_of_freedom(*size)
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


def contrasts_of_many(means: Floats, fitted: Fitted, n: int | Codes, contrasts: Floats) -> ContrastFits:
    """What `precision_of` and `precision_of_contrasts` say of REML fits of tables of n rows, all at once.

    means (tables, K), in the coordinates of `fitted`; contrasts (contrasts, K) of these; n for all or (tables, 1).
    """
    sizes = np.broadcast_to(n, (len(means), 1))
    parts = [slice(first, first + _CONTRASTS) for first in range(0, len(means), _CONTRASTS)] or [slice(0)]
    return ContrastFits.joined(
        [
            _contrasts_of_many(
                means[part], Fitted(*(field[part] for field in fitted)), sizes[part], contrasts
            )
            for part in parts
        ]
    )


def _contrasts_of_many(means: Floats, fitted: Fitted, n: Codes, contrasts: Floats) -> ContrastFits:
    K, phi, gamma = means.shape[1], fitted.phi, fitted.gamma
    tables, q = gamma.shape
    sigma2 = fitted.rss[:, None] / (n - K)
    # all is linear in X'H^-1 G_s H^-1 G_t H^-1 X of the random effects, by which those of the residual follow
    pairs = fitted.xggx.reshape(tables, q * q, K * K)
    xgx = np.empty((tables, q + 1, K, K))
    xgx[:, :q] = fitted.xgx
    xgx[:, q] = np.linalg.inv(phi) - (gamma[:, None] @ fitted.xgx.reshape(tables, q, K * K)).reshape(
        tables, K, K
    )
    flat = xgx.reshape(tables, q + 1, K * K)
    of_pairs = (pairs @ phi.reshape(tables, K * K, 1)).reshape(tables, q, q)
    of_one = (flat @ phi.reshape(tables, K * K, 1))[..., 0]
    moved = (xgx.reshape(tables, (q + 1) * K, K) @ phi).reshape(xgx.shape)
    together = moved.reshape(tables, q + 1, K * K) @ moved.swapaxes(2, 3).reshape(
        tables, q + 1, K * K
    ).swapaxes(1, 2)
    twice = of_pairs + of_pairs.swapaxes(1, 2)
    sums = _with_residual(fitted.norm - twice, fitted.trace - 2.0 * of_one[:, :q], gamma)
    sums[:, q, q] += n[:, 0] - 2.0 * of_one[:, q] - (gamma * fitted.trace).sum(axis=1)
    expected = 0.5 * (sums + together)
    inverse = _inverses(expected)
    weighted = (inverse @ flat).reshape(xgx.shape)
    # what these weigh in the sum over all pairs, and what `xgx` does
    across = inverse[:, :q, q, None] * gamma[:, None]
    weight = inverse[:, :q, :q] - across - across.swapaxes(1, 2)
    weight += inverse[:, q, q, None, None] * gamma[:, :, None] * gamma[:, None]
    own = np.append(
        2.0 * inverse[:, q, :q] - inverse[:, q, q, None] * gamma, inverse[:, q, q, None], axis=1
    )
    middle = (weight.reshape(tables, 1, q * q) @ pairs + own[:, None] @ flat).reshape(tables, K, K)
    middle -= moved.swapaxes(1, 2).reshape(tables, K, (q + 1) * K) @ weighted.reshape(
        tables, (q + 1) * K, K
    )
    adjusted = phi + 2.0 * phi @ middle @ phi
    observed = 2.0 * _average_information(fitted, sigma2[:, 0]) - expected
    free = np.concatenate([gamma > 0, np.ones((tables, 1), dtype=np.bool_)], axis=1)
    both = free[:, :, None] & free[:, None, :]
    uncertain = np.where(both, _inverses(np.where(both, observed, np.eye(q + 1))), 0.0)

    def variance_of(covariance: Floats) -> Floats:
        return np.asarray(((contrasts @ covariance) * contrasts).sum(axis=-1))

    # of d covariance / d variance_t, sigma^2 cancels against that of the variances' own covariance
    half = phi @ contrasts.T
    slopes = (xgx.reshape(tables, (q + 1) * K, K) @ half).reshape(tables, q + 1, K, len(contrasts)) * half[
        :, None
    ]
    slopes = slopes.sum(axis=2).swapaxes(1, 2)
    variance = variance_of(phi)

    def df(uncertainty: Floats) -> Floats:
        spread = ((slopes @ uncertainty) * slopes).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
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
        (gamma == 0).any(axis=1)[:, None],
    )


def _average_information(fitted: Fitted, sigma2: Floats) -> Floats:
    """`kernels.joint.reml.average_information` of many fits, in units of sigma^2 = 1."""
    full = _with_residual(fitted.quadratic, fitted.square, fitted.gamma)
    full[:, -1, -1] += fitted.rss - (fitted.square * fitted.gamma).sum(axis=1)
    return np.asarray(full / (2.0 * sigma2[:, None, None]))


def _with_residual(pairs: Floats, single: Floats, gamma: Floats) -> Floats:
    """Traces of pairs of variances (n, q, q) with those of the residual, I = H - sum gamma_t G_t, behind: all of it
    but for what H gives with itself. single : (n, q), those of H and one variance."""
    n, q = gamma.shape
    full = np.empty((n, q + 1, q + 1))
    mixed = single - (pairs @ gamma[..., None])[..., 0]
    full[:, :q, :q] = pairs
    full[:, :q, q] = full[:, q, :q] = mixed
    full[:, q, q] = -(mixed * gamma).sum(axis=1)
    return full


def _inverses(matrices: Floats) -> Floats:
    """`inverse_information`, by elimination where no direction is near to flat."""
    scale = np.sqrt(np.maximum(np.diagonal(matrices, axis1=1, axis2=2), 1e-300))
    across = scale[:, :, None] * scale[:, None, :]
    scaled = matrices / across
    plain = np.linalg.slogdet(scaled)[0] != 0
    inverse = np.linalg.inv(np.where(plain[:, None, None], scaled, np.eye(scale.shape[1])))
    sizes = [np.sqrt((part**2).sum(axis=(1, 2))) for part in (scaled, inverse)]
    plain &= sizes[0] * sizes[1] < _MOST_UNEVEN
    result = inverse / across
    if not plain.all():
        result[~plain] = inverse_information(matrices[~plain])
    return np.asarray(result)


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
        precision = precision_of_contrasts(point.beta + centre, known, self._contrasts)
        zero = np.array([[bool((point.gamma == 0).any())]])
        return ContrastFits._make([*(kind[None] for kind in precision), np.zeros(1, dtype=np.int64), zero])
