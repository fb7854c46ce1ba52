"""From rows of a table to the crossproducts that the crossed-model kernels work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from humeval_power.kernels.crossed import Gram
from humeval_power.kernels.kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def build_gram(
    outer: Ints, inner: Ints, *, outer_columns: Floats, inner_columns: Floats, x: Floats
) -> Gram:
    """Crossproducts of one design.

    outer, inner : (n,) level codes; outer_columns : (n, qa), inner_columns : (n, qb), x : (n, p).
    """
    n_outer, n_inner = int(outer.max()) + 1, int(inner.max()) + 1
    keys, pair_of_row = np.unique(inner * np.int64(n_outer) + outer, return_inverse=True)
    start = np.searchsorted(keys, np.arange(n_inner + 1) * np.int64(n_outer)).astype(np.int64)
    pair_outer = (keys % n_outer).astype(np.int64)
    cross = _sums(pair_of_row, len(keys), outer_columns, inner_columns)
    inner_block = _sums(inner, n_inner, inner_columns, inner_columns)
    outer_block = _sums(outer, n_outer, outer_columns, outer_columns)
    inner_x = _sums(inner, n_inner, inner_columns, x)
    outer_x = _sums(outer, n_outer, outer_columns, x)
    inverse = np.linalg.pinv(inner_block, rcond=1e-10, hermitian=True)
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    base, base_x = _without_inner(
        start, pair_outer, cross, inverse, outer_block=outer_block, inner_x=inner_x, outer_x=outer_x
    )
    return Gram(
        start=start,
        outer=pair_outer,
        cross=cross,
        inner_block=inner_block,
        outer_block=outer_block,
        inner_x=inner_x,
        outer_x=outer_x,
        xx=x.T @ x,
        n=len(outer),
        inner_pinv=np.ascontiguousarray(inverse),
        outer_base=base,
        outer_base_x=base_x,
        base_xx=x.T @ x - np.einsum("iaj,iab,ibk->jk", inner_x, inverse, inner_x),
        outer_types=tuple(range(outer_columns.shape[1])),
        inner_types=tuple(range(inner_columns.shape[1])),
        coupled=_is_coupled(cross, inner_block, outer_block),
    )


def _is_coupled(*blocks: Floats) -> bool:
    """Whether any block has entries off its diagonal, beyond the rounding of sums that cancel."""
    for block in blocks:
        if block.shape[1] != block.shape[2]:
            return True
        off = ~np.eye(block.shape[1], dtype=bool)
        if np.abs(block[:, off]).max(initial=0.0) > 1e-12 * np.abs(block).max():
            return True
    return False


def _without_inner(
    start: Ints,
    pair_outer: Ints,
    cross: Floats,
    inner_pinv: Floats,
    *,
    outer_block: Floats,
    inner_x: Floats,
    outer_x: Floats,
) -> tuple[Floats, Floats]:
    """Z_o'Z_o - Z_o'Z_i (Z_i'Z_i)^+ Z_i'Z_o, dense, and the same for X, rows outer level by outer level."""
    n_outer, qa, p = outer_x.shape
    n_inner, qb, _ = inner_x.shape
    inner = np.repeat(np.arange(n_inner), np.diff(start))
    row = np.broadcast_to((pair_outer * qa)[:, None, None] + np.arange(qa)[:, None], cross.shape)
    column = np.broadcast_to((inner * qb)[:, None, None] + np.arange(qb), cross.shape)
    shape, place = (n_outer * qa, n_inner * qb), (row.ravel(), column.ravel())
    joined = csr_array((cross.ravel(), place), shape=shape)
    weighted = csr_array(((cross @ inner_pinv[inner]).ravel(), place), shape=shape)
    base = np.asarray(-(weighted @ joined.T).toarray(), order="C")
    level = np.arange(n_outer * qa).reshape(n_outer, qa)
    base[level[:, :, None], level[:, None, :]] += outer_block
    return base, outer_x.reshape(-1, p) - weighted @ inner_x.reshape(-1, p)


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
    n_outer, qa = gram.outer_block.shape[0], outer_columns.shape[1]
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
            for a in range(qa):
                outer_y[r, outer[row], a] += outer_columns[row, a] * value
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
            for a in range(qa):
                outer_base[r, outer[row] * qa + a] += outer_columns[row, a] * value
            for j in range(x.shape[1]):
                base_xy[r, j] += x[row, j] * value
            base_yy[r] += value * value
    return inner_y, outer_y, xy, yy, outer_base, base_xy, base_yy
