"""From rows of a table to the crossproducts that the crossed-model kernels work on."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from humeval_power.kernels.crossed.likelihood import Gram
from humeval_power.kernels.kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sparse_gram(
    outer: Ints, inner: Ints, *, outer_columns: Floats, inner_columns: Floats, x: Floats
) -> Gram:
    """Crossproducts of one design but `outer_base`, the only dense one, which is left empty: memory is
    proportional to the rows.

    outer : (kinds, n) level codes, each kind from 0 on; inner : (n,). outer_columns : (kinds, n, qa),
    inner_columns : (n, qb), x : (n, p).
    """
    n_inner = int(inner.max()) + 1
    sizes = [int(codes.max()) + 1 for codes in outer]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    start, pair_outer, cross = _pairs(outer, inner, begin, outer_columns, inner_columns)
    inner_block = _sums(inner, n_inner, inner_columns, inner_columns)
    per_kind = [
        (_sums(codes, size, columns, columns), _sums(codes, size, columns, x))
        for codes, size, columns in zip(outer, sizes, outer_columns, strict=True)
    ]
    outer_block, outer_x = (np.concatenate(part) for part in zip(*per_kind, strict=True))
    meeting, meeting_block = _meetings(outer, begin, outer_columns)
    inner_x = _sums(inner, n_inner, inner_columns, x)
    inverse = np.linalg.pinv(inner_block, rcond=1e-10, hermitian=True)
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    weighted = _by_outer_rows(start, pair_outer, cross @ inverse[_inner_of_pair(start)], len(outer_x))
    p = x.shape[1]
    return Gram(
        start=start,
        outer=pair_outer,
        begin=begin,
        cross=cross,
        inner_block=inner_block,
        outer_block=outer_block,
        meeting=meeting,
        meeting_block=meeting_block,
        inner_x=inner_x,
        outer_x=outer_x,
        xx=x.T @ x,
        n=len(inner),
        inner_pinv=np.ascontiguousarray(inverse),
        outer_base=np.empty((0, 0)),
        outer_base_x=outer_x.reshape(-1, p) - weighted @ inner_x.reshape(-1, p),
        base_xx=x.T @ x - np.einsum("iaj,iab,ibk->jk", inner_x, inverse, inner_x),
        outer_types=tuple(range(outer_columns.shape[2])),
        inner_types=tuple(range(inner_columns.shape[1])),
        coupled=_is_coupled(cross, inner_block, outer_block, meeting_block),
    )


def _pairs(
    outer: Ints, inner: Ints, begin: Ints, outer_columns: Floats, inner_columns: Floats
) -> tuple[Ints, Ints, Floats]:
    """`start`, `outer` and `cross` of Gram: the pairs of inner and outer levels, sorted by both."""
    n_inner, n_outer = int(inner.max()) + 1, int(begin[-1])
    keys, blocks = [], []
    for first, codes, columns in zip(begin[:-1], outer, outer_columns, strict=True):
        own, pair_of_row = np.unique(inner * np.int64(n_outer) + first + codes, return_inverse=True)
        keys.append(own)
        blocks.append(_sums(pair_of_row, len(own), columns, inner_columns))
    key, cross = np.concatenate(keys), np.concatenate(blocks)
    if len(outer) > 1:
        by_inner = np.argsort(key)
        key, cross = key[by_inner], np.ascontiguousarray(cross[by_inner])
    start = np.searchsorted(key, np.arange(n_inner + 1) * np.int64(n_outer)).astype(np.int64)
    return start, (key % n_outer).astype(np.int64), cross


def _meetings(outer: Ints, begin: Ints, outer_columns: Floats) -> tuple[Ints, Floats]:
    """`meeting` and `meeting_block` of Gram."""
    qa = outer_columns.shape[2]
    levels, blocks = [np.empty((0, 2), dtype=np.int64)], [np.empty((0, qa, qa))]
    for a, b in combinations(range(len(outer)), 2):
        size = np.int64(begin[b + 1] - begin[b])
        keys, row = np.unique(outer[a] * size + outer[b], return_inverse=True)
        levels.append(np.column_stack([begin[a] + keys // size, begin[b] + keys % size]))
        blocks.append(_sums(row, len(keys), outer_columns[a], outer_columns[b]))
    return np.concatenate(levels), np.concatenate(blocks)


def connected_levels(gram: Gram) -> Ints:
    """Number of outer levels in each part of a design that shares no rows with the others."""
    n_inner, n_outer = len(gram.inner_block), len(gram.outer_block)
    inner = np.repeat(np.arange(n_inner), np.diff(gram.start)) + n_outer
    rows = np.concatenate([gram.outer, gram.meeting[:, 0]])
    columns = np.concatenate([inner, gram.meeting[:, 1]])
    size = n_inner + n_outer
    meets = csr_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    n_parts, part = connected_components(meets, directed=False)
    return np.bincount(part[:n_outer], minlength=n_parts)


def _add_meetings(matrix: Floats, meeting: Ints, block: Floats) -> None:
    """Add the blocks of outer levels of different kinds, and their mirror images."""
    qa = block.shape[1]
    rows, columns = (meeting[:, [side]] * qa + np.arange(qa) for side in (0, 1))
    matrix[rows[:, :, None], columns[:, None, :]] += block
    matrix[columns[:, :, None], rows[:, None, :]] += block.transpose(0, 2, 1)


def _is_coupled(*blocks: Floats) -> bool:
    """Whether any block has entries off its diagonal, beyond the rounding of sums that cancel."""
    for block in blocks:
        if block.shape[1] != block.shape[2]:
            return True
        off = ~np.eye(block.shape[1], dtype=bool)
        if np.abs(block[:, off]).max(initial=0.0) > 1e-12 * np.abs(block).max(initial=0.0):
            return True
    return False


def with_outer_base(gram: Gram) -> Gram:
    """The same crossproducts with Z_o'Z_o - Z_o'Z_i (Z_i'Z_i)^+ Z_i'Z_o, dense, rows outer level by outer
    level."""
    n_outer, qa, _ = gram.outer_block.shape
    joined = _by_outer_rows(gram.start, gram.outer, gram.cross, n_outer)
    projected = gram.cross @ gram.inner_pinv[_inner_of_pair(gram.start)]
    weighted = _by_outer_rows(gram.start, gram.outer, projected, n_outer)
    base = np.asarray(-(weighted @ joined.T).toarray(), order="C")
    level = np.arange(n_outer * qa).reshape(n_outer, qa)
    base[level[:, :, None], level[:, None, :]] += gram.outer_block
    if len(gram.meeting):
        _add_meetings(base, gram.meeting, gram.meeting_block)
    return gram._replace(outer_base=base)


def _inner_of_pair(start: Ints) -> Ints:
    """The inner level of each pair."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def _by_outer_rows(start: Ints, pair_outer: Ints, blocks: Floats, n_outer: int) -> csr_array:
    """The blocks (n_pairs, qa, qb) of pairs at their places in one matrix, outer rows by inner columns."""
    _, qa, qb = blocks.shape
    row = np.broadcast_to((pair_outer * qa)[:, None, None] + np.arange(qa)[:, None], blocks.shape)
    inner = _inner_of_pair(start)
    column = np.broadcast_to((inner * qb)[:, None, None] + np.arange(qb), blocks.shape)
    shape, place = (n_outer * qa, (len(start) - 1) * qb), (row.ravel(), column.ravel())
    return csr_array((blocks.ravel(), place), shape=shape)


def _sums(group: Ints, n_groups: int, left: Floats, right: Floats) -> Floats:
    """sum of left' right within each group, shape (n_groups, left columns, right columns)."""
    sums = np.empty((n_groups, left.shape[1], right.shape[1]))
    for a in range(left.shape[1]):
        for b in range(right.shape[1]):
            sums[:, a, b] = np.bincount(group, weights=left[:, a] * right[:, b], minlength=n_groups)
    return sums


@kernel
def response_products(gram, outer, inner, outer_columns, inner_columns, x, y):
    """The fields of Response for several responses y (r, n), each with r as first axis.

    Each response is first freed of its least-squares means per inner level (which leaves all base
    products as they are), so that these do not cancel digits.
    """
    n_responses, n = y.shape
    n_outer, qa = gram.outer_block.shape[0], outer_columns.shape[2]
    n_inner, qb = gram.inner_block.shape[0], inner_columns.shape[1]
    inner_y = np.zeros((n_responses, n_inner, qb))
    outer_y = np.zeros((n_responses, n_outer, qa))
    xy = np.zeros((n_responses, x.shape[1]))
    yy = np.zeros(n_responses)
    outer_base = np.zeros((n_responses, n_outer * qa))
    base_xy = np.zeros((n_responses, x.shape[1]))
    base_yy = np.zeros(n_responses)
    means = np.empty((n_inner, qb))
    for r in range(n_responses):
        for row in range(n):
            value = y[r, row]
            for b in range(qb):
                inner_y[r, inner[row], b] += inner_columns[row, b] * value
            for kind in range(len(outer)):
                level = gram.begin[kind] + outer[kind, row]
                for a in range(qa):
                    outer_y[r, level, a] += outer_columns[kind, row, a] * value
            for j in range(x.shape[1]):
                xy[r, j] += x[row, j] * value
            yy[r] += value * value
        for i in range(n_inner):
            for b in range(qb):
                means[i, b] = 0.0
                for c in range(qb):
                    means[i, b] += gram.inner_pinv[i, b, c] * inner_y[r, i, c]
        for row in range(n):
            value = y[r, row]
            for b in range(qb):
                value -= inner_columns[row, b] * means[inner[row], b]
            for kind in range(len(outer)):
                first = (gram.begin[kind] + outer[kind, row]) * qa
                for a in range(qa):
                    outer_base[r, first + a] += outer_columns[kind, row, a] * value
            for j in range(x.shape[1]):
                base_xy[r, j] += x[row, j] * value
            base_yy[r] += value * value
    return inner_y, outer_y, xy, yy, outer_base, base_xy, base_yy
