"""Many tables of one design of any kind: two of its systems, or all of them, fitted by compiled matrices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.joint.strands import StrandFits, joined
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Fitted
from humeval_power.kernels.joint import any_design as compiled

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_COLUMNS = 512  # outer levels times systems: the order of the matrices
_MOST_CELLS = (
    20_000_000  # of inner levels by these, and pairs of cells of one level, which are counted one by one
)

MOST_IN_LANES = 160  # columns up to which tables side by side are faster than one after the other by BLAS
_SIDE_BY_SIDE = 256  # tables of one call


class Patterns(NamedTuple):
    """What variances mean: each adds the outer products of the `vectors` (r, K) that are of its `group` to the
    covariance of what a level gives the systems."""

    vectors: Floats
    group: Codes

    @classmethod
    def of_two(cls) -> Self:
        """Intercepts and slopes of x = -1/2, +1/2."""
        return cls(np.array([[1.0, 1.0], [-0.5, 0.5]]), np.arange(2))

    @classmethod
    def of_all(cls, n_systems: int, *, own: bool) -> Self:
        """What systems share, then what each has of its own: one variance for all, or one for each."""
        group = np.arange(n_systems + 1)
        vectors = np.vstack([np.ones(n_systems), np.eye(n_systems)])
        return cls(vectors, group if own else np.minimum(group, 1))

    @property
    def products(self) -> Floats:
        """(variances, K, K)."""
        values = np.zeros((self.group[-1] + 1, *self.vectors.shape[1:], self.vectors.shape[1]))
        np.add.at(values, self.group, self.vectors[:, :, None] * self.vectors[:, None, :])
        return values


@dataclass(frozen=True, eq=False)
class AnyDesign:
    """Who rated what, as the kernel takes it; variances of workers come first if `worker_is_outer`."""

    design: compiled.DesignArrays
    outer: Codes
    inner: Codes
    system: Codes
    n_systems: int
    worker_is_outer: bool

    @classmethod
    def of_rows(
        cls, worker: Codes, item: Codes, system: Codes, n_systems: int, *, apart: bool = False
    ) -> Self | None:
        """Codes of rows (n,). None where the matrices would be large.

        apart : for tables that each lack some of these rows, which are fitted side by side or not at all.
        """
        worker, item = np.ascontiguousarray(worker), np.ascontiguousarray(item)  # one kind, compiled once
        m, n = int(worker.max()) + 1, int(item.max()) + 1
        columns = min(m, n) * n_systems
        if columns > (MOST_IN_LANES if apart else MOST_COLUMNS) or m * n * n_systems > _MOST_CELLS:
            return None
        outer, inner = (worker, item) if m <= n else (item, worker)
        filled = np.unique(inner * columns + outer * n_systems + system)
        meetings = np.bincount(filled // columns).astype(float)
        if (meetings * (meetings + 1) / 2).sum() > _MOST_CELLS:
            return None
        design = compiled.DesignArrays.of_rows(outer, inner, system, n_systems, apart=apart)
        return cls(design, outer, inner, system, n_systems, m <= n)

    def fit(
        self,
        responses: Floats,
        patterns: Patterns,
        start: Floats,
        *,
        tolerance: float,
        max_steps: int,
        kept: Mask | None = None,
        by_lanes: bool = True,
        n_jobs: int = 1,
    ) -> StrandFits:
        """REML of each row of responses (tables, ratings), from a start (q,) with the variances of workers first.
        What is found has those of the outer factor first, and systems as the strands of one fit.

        kept : (tables, ratings), those that each table has, of a design whose inner levels are `apart`.
        by_lanes : where the matrices are small, as many tables are fitted; a table alone is not. Rounding
            differs, so that the number of tables does not say which.
        """
        if not self.worker_is_outer:
            start = np.roll(start, len(start) // 2)
        start = np.ascontiguousarray(start)
        parts = [slice(first, first + _SIDE_BY_SIDE) for first in range(0, len(responses), _SIDE_BY_SIDE)]
        fits_in_lanes = by_lanes and len(self.design.load) <= MOST_IN_LANES

        def fit(part: slice) -> StrandFits:
            y = responses[part]
            if kept is not None:
                mask = np.ascontiguousarray(kept[part])
                centre = y.mean(axis=1, keepdims=True, where=mask)
                return self._side_by_side(
                    np.where(mask, y - centre, 0.0), mask, patterns, start, tolerance, max_steps
                )
            y = np.ascontiguousarray(y - y.mean(axis=1, keepdims=True))
            if fits_in_lanes:
                everything = np.empty((0, y.shape[1]), dtype=np.bool_)
                return self._side_by_side(y, everything, patterns, start, tolerance, max_steps)
            return self._one_by_one(y, patterns, start, tolerance, max_steps)

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                return joined([fit(part) for part in parts])
            with ThreadPoolExecutor(n_jobs) as pool:
                return joined(list(pool.map(fit, parts)))

    def _side_by_side(
        self,
        responses: Floats,
        kept: Mask,
        patterns: Patterns,
        start: Floats,
        tolerance: float,
        max_steps: int,
    ) -> StrandFits:
        from humeval_power.kernels.joint import any_design_lanes as lanes

        n, q, K = len(responses), len(start), self.n_systems
        status = np.empty(n, dtype=np.int64)
        sums = ((len(self.design.load),), (len(self.design.kind), K), (), ())
        times = np.empty((len(kept), len(self.design.column)))
        fields = ((), (q,), (K,), (K, K), (), (q,), (q, q), (q,), (q, q), (q, K, K), (q, q, K, K))
        y_outer, y_inner, whole, size = (np.full((n, *shape), np.nan) for shape in sums)
        tables = lanes.Tables(
            y_outer, y_inner, whole, size, times, *(np.full((n, *shape), np.nan) for shape in fields)
        )
        lanes.fit_many(
            self.design, patterns.products, *patterns, self.outer, self.inner, self.system, responses, kept,
            start, tolerance, max_steps, status, tables,
        )  # fmt: skip
        tables.rss[status != reml.CONVERGED] = np.nan  # so that nobody takes them for a fit
        values = tables._asdict()
        fitted = Fitted(*(values[name][:, None] for name in Fitted._fields))
        return StrandFits(tables.beta[:, None], status[:, None], fitted)

    def _one_by_one(
        self, responses: Floats, patterns: Patterns, start: Floats, tolerance: float, max_steps: int
    ) -> StrandFits:
        n, q, K = len(responses), len(start), self.n_systems
        status = np.empty(n, dtype=np.int64)
        shapes = ((K,), (q,), (K, K), (), (q,), (q, q), (q,), (q, q), (q, K, K), (q, q, K, K))
        beta, *fields = filled = tuple(np.full((n, *shape), np.nan) for shape in shapes)
        compiled.fit_many(
            self.design, patterns.products, *patterns, self.outer, self.inner, self.system, responses, start,
            tolerance, max_steps, status, *filled,
        )  # fmt: skip
        return StrandFits(beta[:, None], status[:, None], Fitted(*(field[:, None] for field in fields)))
