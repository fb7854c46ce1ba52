"""Many tables of one design in which all systems are rated together, fitted by strands: in pairs, or jointly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.sparse import csr_array

from humeval_power.blas import one_blas_thread
from humeval_power.designs import Assignment
from humeval_power.estimation.crossed.even_batch import search
from humeval_power.estimation.joint.table import by_system
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Fitted
from humeval_power.kernels.joint import own_variances, strands

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_GAMMA = 1e3  # relative variances beyond which sums of squares lose digits
_MOST_KINDS = 4  # of inner levels, by their number of ratings
MOST_LEVELS, MOST_EVEN_LEVELS = (
    128,
    512,
)  # outer levels up to which plain loops beat LAPACK; with equal loads
_FITS = 2048  # fits of one call of the kernel
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


class Found(NamedTuple):
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


class _Sums(NamedTuple):
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
    ) -> Found:
        """REML of each row of responses (tables, ratings), from starts (p, q) with the outer variances first."""
        step = max(1, min(_FITS // len(model.rotation), -(-len(responses) // n_jobs)))
        parts = [responses[first : first + step] for first in range(0, len(responses), step)]

        def fit(part: Floats) -> Found:
            return self._fit(part, model, start, tolerance, max_steps)

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                found = [fit(part) for part in parts]
            else:
                with ThreadPoolExecutor(n_jobs) as pool:
                    found = list(pool.map(fit, parts))
        return _joined(found)

    def _fit(
        self, responses: Floats, model: Model, start: Floats, tolerance: float, max_steps: int
    ) -> Found:
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

        return Found(by_table(beta), status.reshape(tables, p), Fitted(*map(by_table, fitted)))

    def fit_own(
        self, responses: Floats, start: Floats, *, tolerance: float, max_steps: int, n_jobs: int = 1
    ) -> Found:
        """REML of systems with variances of their own, from one start (q,); with equal loads only."""
        assert self.turn is not None
        parts = [responses[first : first + _OWN_FITS] for first in range(0, len(responses), _OWN_FITS)]

        def fit(part: Floats) -> Found:
            return self._fit_own(part, start, tolerance, max_steps)

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                return _joined([fit(part) for part in parts])
            with ThreadPoolExecutor(n_jobs) as pool:
                return _joined(list(pool.map(fit, parts)))

    def _fit_own(self, responses: Floats, start: Floats, tolerance: float, max_steps: int) -> Found:
        n, K = len(responses), len(self.order)
        if n < 2:  # with one lane NumPy adds the parts of a sum in another order
            responses = np.repeat(responses, 2, axis=0)
        given = self._sums(responses)
        left = np.trace(given.left, axis1=1, axis2=2)
        whole = left + np.trace(given.gram[:, 0], axis1=1, axis2=2) / self.count[0]
        meet = np.ascontiguousarray(given.meet[:, 0].swapaxes(1, 2))
        sums = own_variances.Sums(
            np.ascontiguousarray(given.base.swapaxes(1, 2)),
            meet,
            given.inner[:, 0],
            given.gram[:, 0],
            left,
            whole,
        )
        design = own_variances.Design(
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
        return Found(point.beta[:n, None], status[:n, None], Fitted(*(part[:n, None] for part in fitted)))

    def _sums(self, responses: Floats) -> _Sums:
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
        return _Sums(
            base=by_outer(self.to_outer @ left),
            meet=np.stack(meet, axis=1),
            inner=np.stack([part.sum(axis=2) for part in kinds], axis=1),
            gram=np.stack([part @ part.swapaxes(1, 2) for part in kinds], axis=1),
            left=apart @ apart.swapaxes(1, 2),
        )


def _joined(parts: list[Found]) -> Found:
    beta, status, fitted = zip(*parts, strict=True)
    together = Fitted(*(np.concatenate(field) for field in zip(*fitted, strict=True)))
    return Found(np.concatenate(beta), np.concatenate(status), together)
