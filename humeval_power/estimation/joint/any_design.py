"""Many tables of one design of any kind: two of its systems, or all of them, fitted by compiled matrices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.joint.strands import StrandFits, joined
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Fitted, expected_information

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_COLUMNS = 512  # outer levels times systems: the order of the matrices
_MOST_CELLS = (
    20_000_000  # of inner levels by these, and pairs of cells of one level, which are counted one by one
)

_FEW_LEVELS = 12  # outer ones, below which likelihoods may have two optima: steps are those of a single fit
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


class DesignArrays(NamedTuple):
    """Counts of n ratings. Columns of the matrices are `outer level * K + system`.

    load : (N,) ratings of each column; begin, column, system, times : those of each inner level, cell by cell
    level : (cells,) inner level; column_begin, by_column : the cells of each column
    kind : (inner levels,); replication (kinds, K), levels (kinds,) : ratings of each system of a kind, and how many
        inner levels are of it
    entry_begin, across, value : the lower triangles of E_c; entries of kind c, row r and columns of system t are
        from entry_begin[(c N + r) K + t] to before the next
    """

    n: int
    load: Floats
    begin: Codes
    column: Codes
    system: Codes
    times: Floats
    level: Codes
    column_begin: Codes
    by_column: Codes
    kind: Codes
    replication: Floats
    levels: Floats
    entry_begin: Codes
    across: Codes
    value: Floats

    @classmethod
    def of_rows(
        cls, outer: Codes, inner_level: Codes, system: Codes, n_systems: int, *, apart: bool = False
    ) -> DesignArrays:
        """Of codes (n,); apart : every inner level is a kind of its own."""
        m, n_inner = int(outer.max()) + 1, int(inner_level.max()) + 1
        N = n_systems * m
        cells = np.bincount(inner_level * N + outer * n_systems + system, minlength=n_inner * N)
        filled = np.flatnonzero(cells)
        of, column, times = filled // N, filled % N, cells[filled].astype(float)
        begin = np.searchsorted(of, np.arange(n_inner + 1))
        each = cells.reshape(n_inner, m, n_systems).sum(axis=1)
        key = np.arange(n_inner) if apart else each[:, 0]
        for count in () if apart else each.T[1:]:  # ranks of the systems' counts so far
            key = np.unique(key * (count.max() + 1) + count, return_inverse=True)[1]
        _, first, kind, levels = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        size = np.arange(len(of)) - begin[of] + 1  # cells of the level so far, each of which meets this one
        one = np.repeat(np.arange(len(of)), size)
        other = np.arange(len(one)) - np.repeat(np.cumsum(size) - size - begin[of], size)
        level, of_system = np.divmod(column[other], n_systems)
        place = ((kind[of[one]] * N + column[one]) * n_systems + of_system) * m + level
        value = times[one] * times[other]
        if len(levels) * N**2 <= 4 * len(place):
            total = np.bincount(place, value, minlength=len(levels) * N**2)
            place = np.flatnonzero(total)
            value = total[place]
        else:
            order = np.argsort(place, kind="stable")
            place, value = place[order], value[order]
        return cls(
            n=len(outer),
            load=cells.reshape(n_inner, N).sum(axis=0).astype(float),
            begin=begin,
            column=column,
            system=column % n_systems,
            times=times,
            level=of,
            column_begin=np.searchsorted(np.sort(column), np.arange(N + 1)),
            by_column=np.argsort(column, kind="stable"),
            kind=kind,
            replication=each[first].astype(float),
            levels=levels.astype(float),
            entry_begin=np.searchsorted(place, np.arange(len(levels) * N * n_systems + 1) * m),
            across=place % m * n_systems + place // m % n_systems,
            value=value,
        )


@dataclass(frozen=True, eq=False)
class AnyDesign:
    """Who rated what, as the kernel takes it; variances of workers come first if `worker_is_outer`."""

    design: DesignArrays
    outer: Codes
    inner: Codes
    system: Codes
    n_systems: int
    worker_is_outer: bool
    _known: dict[tuple[bytes, ...], Floats] = field(default_factory=dict, init=False, repr=False)

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
        if columns > MOST_COLUMNS or m * n * n_systems > _MOST_CELLS:
            return None
        outer, inner = (worker, item) if m <= n else (item, worker)
        filled = np.unique(inner * columns + outer * n_systems + system)
        meetings = np.bincount(filled // columns).astype(float)
        if (meetings * (meetings + 1) / 2).sum() > _MOST_CELLS:
            return None
        design = DesignArrays.of_rows(outer, inner, system, n_systems, apart=apart)
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
        n_jobs: int = 1,
    ) -> StrandFits:
        """REML of each row of responses (tables, ratings), from a start (q,) with the variances of workers first.
        What is found has those of the outer factor first, and systems as the strands of one fit.

        kept : (tables, ratings), those that each table has, of a design whose inner levels are `apart`.
        """
        if not self.worker_is_outer:
            start = np.roll(start, len(start) // 2)
        start = np.ascontiguousarray(start)
        parts = [slice(first, first + _SIDE_BY_SIDE) for first in range(0, len(responses), _SIDE_BY_SIDE)]

        def fit(part: slice) -> StrandFits:
            y = responses[part]
            if kept is None:
                everything = np.empty((0, y.shape[1]), dtype=np.bool_)
                y = np.ascontiguousarray(y - y.mean(axis=1, keepdims=True))
                return self._side_by_side(y, everything, patterns, start, information, tolerance, max_steps)
            mask = np.ascontiguousarray(kept[part])
            centre = y.mean(axis=1, keepdims=True, where=mask)
            y = np.where(mask, y - centre, 0.0)
            return self._side_by_side(y, mask, patterns, start, information, tolerance, max_steps)

        with one_blas_thread():
            information = self._information(patterns, start)
            if n_jobs == 1 or len(parts) == 1:
                return joined([fit(part) for part in parts])
            with ThreadPoolExecutor(n_jobs) as pool:
                return joined(list(pool.map(fit, parts)))

    def _information(self, patterns: Patterns, start: Floats) -> Floats:
        """tr(P G_s P G_t) of the whole design at a start, the residual last, (q + 1, q + 1); (0, 0) if there is no
        likelihood, or levels are few. No rating has a part in it."""
        if len(self.design.load) < _FEW_LEVELS * self.n_systems:
            return np.empty((0, 0))
        key = (patterns.vectors.tobytes(), patterns.group.tobytes(), start.tobytes())
        if key not in self._known:
            anything = np.cos(np.arange(self.design.n, dtype=np.float64))[None]
            everything, none = np.empty((0, self.design.n), dtype=np.bool_), np.empty((0, 0))
            # any fall is small enough: the search ends where it starts
            there = self._side_by_side(anything, everything, patterns, start, none, np.inf, 1)
            fitted = Fitted(*(part[0, 0] for part in there.fitted))
            info = fitted.information(self.design.n)
            result = 2.0 * expected_information(info, fitted.phi, 1.0, restricted=True)
            self._known[key] = result if np.isfinite(result).all() else none
        return self._known[key]

    def _side_by_side(
        self,
        responses: Floats,
        kept: Mask,
        patterns: Patterns,
        start: Floats,
        information: Floats,
        tolerance: float,
        max_steps: int,
    ) -> StrandFits:
        from humeval_power.kernels.joint.any_design import Tables, fit_many

        n, q, K = len(responses), len(start), self.n_systems
        status = np.empty(n, dtype=np.int64)
        sums = ((len(self.design.load),), (len(self.design.kind), K), (), ())
        times = np.empty((len(kept), len(self.design.column)))
        fields = ((), (q,), (K,), (K, K), (), (q,), (q, q), (q,), (q, q), (q, K, K), (q, q, K, K))
        y_outer, y_inner, whole, size = (np.empty((n, *shape)) for shape in sums)
        tables = Tables(y_outer, y_inner, whole, size, times, *(np.empty((n, *shape)) for shape in fields))
        fit_many(
            self.design, patterns.products, *patterns, self.outer, self.inner, self.system, responses, kept,
            start, information, tolerance, max_steps, status, tables,
        )  # fmt: skip
        failed = status != reml.CONVERGED
        for part in (tables.rss, tables.norm, tables.xggx):
            part[failed] = np.nan  # so that nobody takes them for a fit
        values = tables._asdict()
        fitted = Fitted(*(values[name][:, None] for name in Fitted._fields))
        return StrandFits(tables.beta[:, None], status[:, None], fitted)
