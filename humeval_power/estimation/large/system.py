"""Products with V^-1 of a table of very many workers and items, at one set of relative variances.

Vectors are over all columns of the random effects, outer levels first, level by level: (n_columns, WIDTH) for
WIDTH right-hand sides, of which several such groups are solved at once, one a thread. A group is computed alone, so
results are the same bytes for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import information
from humeval_power.kernels.crossed.likelihood import Gram
from humeval_power.kernels.large import iterative
from humeval_power.kernels.large.iterative import WIDTH

Floats = NDArray[np.float64]
Given = TypeVar("Given")
Found = TypeVar("Found")

_MOST_WALKS = 2000  # of one solve; tables of people need 10 to 60


class LargeSystem:
    """Crossproducts of one design, and solves with them at the relative variances of `at`."""

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.qa, self.qb = gram.outer_block.shape[1], gram.inner_block.shape[1]
        self.order = len(gram.outer_block) * self.qa
        self.n_columns = self.order + len(gram.inner_block) * self.qb
        self.n_types = (len(gram.begin) - 1) * self.qa + self.qb
        self.gamma = np.zeros(self.n_types)
        self.operator = self._prepared()

    def at(self, gamma: Floats) -> None:
        """Move to relative variances (n_types,), outer types first."""
        self.gamma = np.ascontiguousarray(gamma, dtype=np.float64)
        self.operator = self._prepared()

    def _prepared(self) -> iterative.Operator:
        gram = self.gram
        keep, gain = np.empty_like(gram.inner_block), np.empty_like(gram.inner_block)
        root, over = np.empty(self.order), np.empty(self.order)
        inverse = np.empty_like(gram.outer_block)
        design = (gram.start, gram.outer, gram.begin, gram.cross, gram.inner_block, gram.outer_block)
        iterative.prepare(*design, self.gamma, keep, gain, root, over, inverse)
        return iterative.Operator(
            gram.start,
            gram.outer,
            gram.cross,
            gram.inner_block,
            gram.outer_block,
            gram.meeting,
            gram.meeting_block,
            keep,
            gain,
            root,
            over,
            inverse,
            gram.coupled,
        )

    def rows_of(self, t: int) -> slice:
        """The rows of column type t."""
        kinds = len(self.gram.begin) - 1
        if t >= kinds * self.qa:
            return slice(self.order + t - kinds * self.qa, None, self.qb)
        kind, column = divmod(t, self.qa)
        begin = self.gram.begin * self.qa
        return slice(int(begin[kind]) + column, int(begin[kind + 1]), self.qa)

    def size_of(self, t: int) -> int:
        """Levels of column type t."""
        return len(range(self.n_columns)[self.rows_of(t)])

    def by_type(self, left: Floats, right: Floats) -> Floats:
        """left'right over each column type, (n_types, left columns, right columns)."""
        rows = [self.rows_of(t) for t in range(self.n_types)]
        return np.stack([left[part].T @ right[part] for part in rows])

    def only(self, t: int, vector: Floats) -> Floats:
        """A copy with every column type but t at zero."""
        kept = np.zeros_like(vector)
        kept[self.rows_of(t)] = vector[self.rows_of(t)]
        return kept

    def gram_times(self, vectors: Floats) -> Floats:
        """Z'Z v."""
        out = np.empty_like(vectors)
        order = self.order
        iterative.gram_times(self.operator, vectors[order:], vectors[:order], out[order:], out[:order])
        return out

    def solve(self, crossproducts: Floats, start: Floats, tolerance: float) -> bool:
        """Turn Z'r into Z'H^-1r, in place, and `start` (order, WIDTH) into a start for the next time; whether
        the tolerance was met."""
        outer, inner = crossproducts[: self.order], crossproducts[self.order :]
        walks: int = iterative.solve(self.operator, inner, outer, start, tolerance, _MOST_WALKS)
        return walks > 0

    def plain_information(self, xx: Floats) -> tuple[information.Information, Floats]:
        """Information at variances of zero, and (X'X)^-1: exact, from sums over the pairs alone.

        P is then the projection off X. What directions of the variances leave PVP unchanged is the same at
        any variances, so this says what a table of any size identifies.
        """
        gram, n_types = self.gram, self.n_types
        n_outer_types = n_types - self.qb
        trace, norm = np.zeros(n_types), np.zeros((n_types, n_types))
        kind = np.repeat(np.arange(len(gram.begin) - 1), np.diff(gram.begin))
        inside = slice(n_outer_types, None)
        norm[inside, inside] = (gram.inner_block**2).sum(axis=0)
        trace[inside] = np.einsum("ibb->b", gram.inner_block)
        for k in range(len(gram.begin) - 1):
            own = slice(k * self.qa, (k + 1) * self.qa)
            blocks = gram.outer_block[kind == k]
            norm[own, own] = (blocks**2).sum(axis=0)
            trace[own] = np.einsum("ibb->b", blocks)
            norm[own, inside] = (gram.cross[kind[gram.outer] == k] ** 2).sum(axis=0)
            norm[inside, own] = norm[own, inside].T
        if len(gram.meeting):
            for k in range(len(gram.begin) - 1):
                for j in range(k + 1, len(gram.begin) - 1):
                    both = (kind[gram.meeting] == (k, j)).all(axis=1)
                    first, second = (slice(e * self.qa, (e + 1) * self.qa) for e in (k, j))
                    norm[first, second] = (gram.meeting_block[both] ** 2).sum(axis=0)
                    norm[second, first] = norm[first, second].T
        zx = self.crossproducts_x()
        xgx = self.by_type(zx, zx)
        xggx = np.stack([self.by_type(zx, self.through(t, zx)) for t in range(n_types)], axis=1)
        phi = np.asarray(np.linalg.inv(xx), dtype=np.float64)
        info = information.with_residual(np.zeros(n_types), trace, norm, xgx, xggx, phi, gram.n)
        return info, phi

    def through(self, t: int, vectors: Floats) -> Floats:
        """Z'Z of the part of the columns (n_columns, c) of type t."""
        masked = self.only(t, vectors)
        done = [self.gram_times(group) for group in grouped(masked)]
        return np.concatenate(done, axis=1)[:, : vectors.shape[1]]

    def crossproducts_x(self) -> Floats:
        """Z'X, (n_columns, p)."""
        p = self.gram.xx.shape[0]
        return np.concatenate([self.gram.outer_x.reshape(-1, p), self.gram.inner_x.reshape(-1, p)])


def grouped(columns: Floats) -> Floats:
    """Columns (n, c) as groups (groups, n, WIDTH), the last one filled with zeros."""
    n, c = columns.shape
    groups = -(-c // WIDTH)
    full = np.zeros((n, groups * WIDTH))
    full[:, :c] = columns
    return np.ascontiguousarray(full.reshape(n, groups, WIDTH).transpose(1, 0, 2))


def in_threads(work: Callable[[Given], Found], given: Iterable[Given]) -> list[Found]:
    """work(each) in the order given, on the cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, given))
