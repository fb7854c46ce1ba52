"""The crossed model of a large table: its crossproducts in the order in which a sparse factor eliminates them.

The inner factor is eliminated in closed form as in `crossed.likelihood`; what is left of the outer columns is a
sparse matrix, factorised by fronts. Where column types do not meet, the columns of each type are parts of their
own.
A *group* is what is eliminated at once: an inner level, or, where types do not meet, one column of it. Memory
is proportional to the rows and to the fronts. Notation as in `crossed.likelihood`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from humeval_power.kernels.crossed.likelihood import Gram
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.large.elimination import Fronts, fronts_of
from humeval_power.kernels.large.fronts import Span, spans_of
from humeval_power.kernels.small_matrices import small_inverse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Groups(NamedTuple):
    """What each group eliminates, in the order layer by layer, inner level by inner level.

    start : (groups + 1,), the outer columns that group g touches are start[g]:start[g + 1]
    at : their places, rising within a group; cross : (entries, width), Z_o'Z_i
    block : (groups, width, width), Z_i'Z_i; layers : the first inner type of each layer
    """

    start: Ints
    at: Ints
    cross: Floats
    block: Floats
    layers: Ints


class Large(NamedTuple):
    """A design as `factorise` takes it. Vectors of outer columns are by place, those of inner columns by group.

    own_row, own_column, own_value : the lower triangle of Z_o'Z_o, by place; own : the whole, sparse
    touched : (inner columns, outer columns) sparse, Z_i'Z_o
    column_of : the outer column at each place; outer_type : (outer columns,), the type there
    rank : (outer columns,), a number within part and type
    base_x, inner_x : (outer columns, p), (inner columns, p)
    last : the factor at the end of the last fit, if any: what follows the fit asks for the same again
    """

    gram: Gram
    fronts: Fronts
    tasks: list[list[Span]]
    groups: Groups
    own_row: Ints
    own_column: Ints
    own_value: Floats
    own: csr_array
    touched: csr_array
    column_of: Ints
    outer_type: Ints
    rank: Ints
    base_x: Floats
    inner_x: Floats
    last: list[Any]

    @property
    def xx(self) -> Floats:
        """X'X."""
        return self.gram.xx

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.gram.n

    @property
    def q(self) -> int:
        """Number of column types."""
        return (len(self.gram.begin) - 1) * len(self.gram.outer_types) + len(self.gram.inner_types)

    def inner_rows(self, t: int) -> slice:
        """The inner columns of inner type `t`, by group."""
        n_inner, qb = self.gram.inner_block.shape[:2]
        return slice(t, None, qb) if self.gram.coupled else slice(t * n_inner, (t + 1) * n_inner)

    def by_group(self, values: Floats) -> Floats:
        """Values of inner columns (inner levels, qb, ...) by group (inner columns, ...)."""
        if not self.gram.coupled:
            values = np.swapaxes(values, 0, 1)
        return np.ascontiguousarray(values.reshape(-1, *values.shape[2:]))

    def by_level(self, values: Floats) -> Floats:
        """Its inverse."""
        n_inner, qb = self.gram.inner_block.shape[:2]
        if self.gram.coupled:
            return values.reshape(n_inner, qb, *values.shape[1:])
        return np.swapaxes(values.reshape(qb, n_inner, *values.shape[1:]), 0, 1)


def large_design(gram: Gram) -> Large:
    """The design of crossproducts (those that are sparse)."""
    start, column, cross = _entries(gram)
    own_row, own_column, own_value = _own_entries(gram)
    n = gram.outer_block.shape[0] * gram.outer_block.shape[1]
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))
    fronts = _fronts(n, start, column, own_row, own_column)
    place = fronts.place
    by_place = np.argsort(group * np.int64(n) + place[column])
    at, cross = place[column][by_place], np.ascontiguousarray(cross[by_place])
    width = cross.shape[1]
    qb = len(gram.inner_types)
    layers = np.arange(0, qb, width)
    blocks = [gram.inner_block[:, t : t + width, t : t + width] for t in layers]
    block = np.ascontiguousarray(np.concatenate(blocks))
    rows = place[np.stack([own_row, own_column])]
    low, high = rows.min(axis=0), rows.max(axis=0)
    column_of = np.argsort(place)
    outer_type = _types(gram)[column_of]
    p = len(gram.xx)
    large = Large(
        gram=gram,
        fronts=fronts,
        tasks=spans_of(fronts),
        groups=Groups(start, at, cross, block, layers),
        own_row=high,
        own_column=low,
        own_value=own_value,
        own=_symmetric(n, high, low, own_value),
        touched=_touched(start, at, cross, n),
        column_of=column_of,
        outer_type=outer_type,
        rank=_ranks(fronts.part, outer_type),
        base_x=np.ascontiguousarray(gram.outer_base_x[column_of]),
        inner_x=np.empty((0, p)),
        last=[],
    )
    return large._replace(inner_x=large.by_group(gram.inner_x))


def _entries(gram: Gram) -> tuple[Ints, Ints, Floats]:
    """`start` of groups, and of every entry the outer column and its crossproducts (entries, width)."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    columns = gram.outer[:, None] * qa + np.arange(qa)
    if gram.coupled:
        return gram.start * qa, columns.ravel(), gram.cross.reshape(-1, qb)
    n_pairs = len(gram.outer)
    start = np.concatenate([gram.start[:-1] + t * n_pairs for t in range(qb)] + [[qb * n_pairs]])
    cross = np.concatenate([gram.cross[:, t, t] for t in range(qb)])[:, None]
    return start.astype(np.int64), columns.T.ravel(), cross


def _own_entries(gram: Gram) -> tuple[Ints, Ints, Floats]:
    """Places and values of one triangle of Z_o'Z_o, by outer column."""
    n_outer, qa, _ = gram.outer_block.shape
    rows, columns, values = [], [], []
    first = np.arange(n_outer) * qa
    for a in range(qa):
        for b in range(0 if gram.coupled else a, a + 1):
            rows.append(first + a)
            columns.append(first + b)
            values.append(gram.outer_block[:, a, b])
    for a in range(qa):
        for b in range(qa):
            if gram.coupled or a == b:
                rows.append(gram.meeting[:, 0] * qa + a)
                columns.append(gram.meeting[:, 1] * qa + b)
                values.append(gram.meeting_block[:, a, b])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _types(gram: Gram) -> Ints:
    """The type of each outer column."""
    qa, sizes = len(gram.outer_types), np.diff(gram.begin)
    kind = np.repeat(np.arange(len(sizes)) * qa, sizes)
    return np.asarray((kind[:, None] + np.arange(qa)).ravel())


def _fronts(n: int, start: Ints, column: Ints, own_row: Ints, own_column: Ints) -> Fronts:
    """The fronts of outer columns that meet in a group, or in rows of their own."""
    ones = np.ones(len(column), dtype=np.float32)
    member = csr_array((ones, column, start), shape=(len(start) - 1, n))
    own = csr_array((np.ones(len(own_row), dtype=np.float32), (own_row, own_column)), shape=(n, n))
    return fronts_of(member, own)


def _symmetric(n: int, high: Ints, low: Ints, value: Floats) -> csr_array:
    """A sparse symmetric matrix from one triangle."""
    off = high != low
    row, column = np.concatenate([high, low[off]]), np.concatenate([low, high[off]])
    return csr_array((np.concatenate([value, value[off]]), (row, column)), shape=(n, n))


def _touched(start: Ints, at: Ints, cross: Floats, n: int) -> csr_array:
    """Z_i'Z_o, inner columns by group."""
    width = cross.shape[1]
    n_groups = len(start) - 1
    if width == 1:
        return csr_array((cross[:, 0], at, start), shape=(n_groups, n))
    group = np.repeat(np.arange(n_groups), np.diff(start))
    row = (group[:, None] * width + np.arange(width)).ravel()
    entries = (cross.ravel(), (row, np.repeat(at, width)))
    return csr_array(coo_array(entries, shape=(n_groups * width, n)))


def _ranks(part: Ints, outer_type: Ints) -> Ints:
    """Number each column within its part and type, from 0 on; parts stand together."""
    key = part * np.int64(int(outer_type.max()) + 1) + outer_type
    order = np.argsort(key, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(key))])
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = np.arange(len(key)) - starts[key[order]]
    return rank


@inner
def _place_of(fronts, high, low):
    """Where the entry of the columns at places high >= low is in the buffer."""
    s = fronts.front_of[low]
    first, end = fronts.first[s], fronts.first[s + 1]
    begin, last = fronts.begin[s], fronts.begin[s + 1]
    order = end - first + last - begin
    row = high - first
    if high >= end:
        left, right = begin, last
        while left < right:
            middle = (left + right) // 2
            if fronts.rows[middle] < high:
                left = middle + 1
            else:
                right = middle
        row = end - first + left - begin
    return fronts.offset[s] + row * order + low - first


@inner
def _line_of(fronts, high, low):
    """Where the entries of the column at place `high` with those from `low` on begin in the buffer, less their
    places; -1 where they are not in one front."""
    s = fronts.front_of[low]
    first = fronts.first[s]
    if high >= fronts.first[s + 1]:
        return -1
    order = fronts.first[s + 1] - first + fronts.begin[s + 1] - fronts.begin[s]
    return fronts.offset[s] + (high - first) * order - first


@inner
def _most_entries(groups):
    """Most entries of a group."""
    most = 0
    for g in range(len(groups.block)):
        most = max(most, groups.start[g + 1] - groups.start[g])
    return most


@kernel
def assemble(fronts, groups, gamma_inner, root, own, inverse, diagonal, buffer):
    """Fill `buffer` with I + R (Z_o'H_i^-1Z_o) R, R the diagonal of `root`, `inverse` (groups, width, width) with
    (I + A gamma)^-1 and `diagonal` with that of Z_o'H_i^-1Z_o; returns log |H_i|.

    own : (rows, columns, values), Z_o'Z_o by place.
    """
    own_row, own_column, own_value = own
    width = groups.cross.shape[1]
    n_inner = len(groups.block) // len(groups.layers)
    for k in range(len(root)):
        buffer[_place_of(fronts, k, k)] = 1.0
    for k in range(len(own_row)):
        high, low = own_row[k], own_column[k]
        buffer[_place_of(fronts, high, low)] += own_value[k] * root[high] * root[low]
        if high == low:
            diagonal[high] += own_value[k]
    work, left = np.empty((width, 2 * width)), np.empty(width)
    scaled = np.empty((_most_entries(groups), width))
    log_det = 0.0
    for g in range(len(groups.block)):
        layer = groups.layers[g // n_inner]
        log_det += np.log(small_inverse(groups.block[g], gamma_inner, layer, work, inverse[g]))
        begin, end = groups.start[g], groups.start[g + 1]
        for e in range(begin, end):
            high = groups.at[e]
            for c in range(width):
                left[c] = 0.0
                for r in range(width):
                    left[c] += groups.cross[e, r] * gamma_inner[layer + r] * inverse[g, r, c]
            for c in range(width):
                diagonal[high] -= left[c] * groups.cross[e, c]
                left[c] *= root[high]
            for c in range(width):
                scaled[e - begin, c] = root[high] * groups.cross[e, c]
            line = _line_of(fronts, high, groups.at[begin])
            if line >= 0 and width == 1:
                for f in range(begin, e + 1):
                    buffer[line + groups.at[f]] -= left[0] * scaled[f - begin, 0]
                continue
            for f in range(begin, e + 1):
                low = groups.at[f]
                value = 0.0
                for c in range(width):
                    value += left[c] * scaled[f - begin, c]
                buffer[line + low if line >= 0 else _place_of(fronts, high, low)] -= value
    return log_det


@kernel
def quadratic_forms(fronts, groups, root, inverse, result, out):
    """Fill `out` (groups, width, width) with C'KC of each group, C = Z_o'H_i^-1Z_i and K = R S^-1 R, the entries
    of S^-1 in `found`."""
    width = groups.cross.shape[1]
    scaled = np.empty((_most_entries(groups), width))
    sums = np.empty(width)
    for g in range(len(groups.block)):
        begin = groups.start[g]
        size = groups.start[g + 1] - begin
        for e in range(size):
            for r in range(width):
                scaled[e, r] = 0.0
                for k in range(width):
                    scaled[e, r] += groups.cross[begin + e, k] * inverse[g, r, k]
                scaled[e, r] *= root[groups.at[begin + e]]
        for r in range(width):
            for c in range(width):
                out[g, r, c] = 0.0
        for e in range(size):
            high = groups.at[begin + e]
            for c in range(width):
                sums[c] = 0.0
            line = _line_of(fronts, high, groups.at[begin])
            if line >= 0 and width == 1:
                for f in range(e):
                    sums[0] += result[line + groups.at[begin + f]] * scaled[f, 0]
            else:
                for f in range(e):
                    low = groups.at[begin + f]
                    value = result[line + low if line >= 0 else _place_of(fronts, high, low)]
                    for c in range(width):
                        sums[c] += value * scaled[f, c]
            value = 0.5 * result[_place_of(fronts, high, high)]
            for c in range(width):
                sums[c] += value * scaled[e, c]
            for r in range(width):
                for c in range(width):
                    out[g, r, c] += scaled[e, r] * sums[c] + scaled[e, c] * sums[r]
