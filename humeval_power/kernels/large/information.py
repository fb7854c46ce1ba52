"""Second-order quantities of the crossed model of a large table, and fits of it.

||Z_s'H^-1Z_t||_F^2 needs all of S^-1 within a connected part. A part that is one large front has it at hand; of
others it is solved for, a few columns at a time. With C = Z_o'H_i^-1Z_i and G_b = C_b C_b' over the inner
columns of type b: the inner blocks are tr(G_b K G_c K) and terms of single groups, the mixed ones are
v'G_b v over the columns v of I - K B, and the outer ones B v. Notation as in `factored`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csr_array

from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.by_python import run_by_python
from humeval_power.kernels.crossed.likelihood import Profile, Response
from humeval_power.kernels.large import fronts
from humeval_power.kernels.large.design import Large
from humeval_power.kernels.large.elimination import SMALL
from humeval_power.kernels.large.factored import (
    SparseFactor,
    columns_of_type,
    factorise,
    member,
    optimise,
    profile,
    seen_columns,
    split_by_type,
    sums_by_type,
    times_blocks,
    times_t,
    traces,
)

Floats = NDArray[np.float64]

_LEAST_WHOLE, _MOST_WHOLE = 256, 6_000  # columns of a part whose whole inverse is formed
_DENSE_SPEED = 100  # how many times faster LAPACK inverts than fronts are solved, an entry
_DENSE = 0.1  # share of entries from which a sparse matrix is multiplied as a dense one


def frobenius(large: Large, factor: SparseFactor, norm: Floats) -> None:
    """Fill `norm` (q, q) with ||Z_s'H^-1Z_t||_F^2 of all pairs of column types."""
    if factor.norm is not None:
        norm[:] = factor.norm
        return
    qb = len(large.gram.inner_types)
    before = large.q - qb
    norm[:] = 0.0
    products = [_products(large, factor, b) for b in range(qb)]
    whole = _whole_parts(large)
    streamed = np.ones(len(factor.root), dtype=bool)
    for places in whole:
        _add_whole(large, factor, products, places, norm)
        streamed[places] = False
    if streamed.any():
        for t in range(before):
            for chosen in columns_of_type(large, t, streamed):
                _add_streamed(large, factor, products, t, chosen, norm)
    norm[before:, :before] = norm[:before, before:].T
    own = factor.inverse @ large.groups.block
    fit = factor.forms
    width = own.shape[1]
    per_layer = len(own) // len(large.groups.layers)
    for layer, first in enumerate(large.groups.layers.tolist()):
        rows = slice(layer * per_layer, (layer + 1) * per_layer)
        block, form = own[rows], fit[rows]
        inside = slice(before + first, before + first + width)
        norm[inside, inside] += (block * (block - 2.0 * form)).sum(axis=0)
    factor.norm = norm.copy()
    large.last[:] = [factor]


def _whole_parts(large: Large) -> list[slice]:
    """The places of each part whose inverse is at hand, as one large front, or cheap to have."""
    own = large.fronts
    sizes = np.bincount(own.part)
    ends = np.cumsum(sizes)
    entries = np.bincount(own.part[own.first[:-1]], weights=own.orders**2)
    alone = np.bincount(own.part[own.first[:-1]]) == 1
    cheap = (sizes > _LEAST_WHOLE) & (sizes <= _MOST_WHOLE) & (sizes**2 < _DENSE_SPEED * entries)
    chosen = np.flatnonzero((alone & (sizes > SMALL)) | cheap)
    return [slice(int(ends[part] - sizes[part]), int(ends[part])) for part in chosen]


def _inverse_of(large: Large, factor: SparseFactor, places: slice) -> Floats:
    """S^-1 of a whole part."""
    own = large.fronts
    front = int(own.front_of[places.start])
    if own.first[front + 1] == places.stop:
        return fronts.view_of(own, factor.selected, front)
    root = factor.root[places]
    s = root[:, None] * factor.outer_sparse[places, places].toarray() * root
    s[np.diag_indices_from(s)] += 1.0
    upper, _ = lapack.dpotrf(s.T, lower=0, clean=0, overwrite_a=1)
    result, _ = lapack.dpotri(upper, lower=0, overwrite_c=1)
    inverse = np.ascontiguousarray(result.T)
    fronts.mirror(inverse)
    return inverse


def _products(large: Large, factor: SparseFactor, b: int) -> csr_array:
    """C_b C_b' over the inner columns of type `b`, by place."""
    seen = csr_array(times_blocks(factor.inverse, large.touched)[large.inner_rows(b)])
    return csr_array(seen.T @ seen)


def _add_whole(
    large: Large, factor: SparseFactor, products: list[csr_array], places: slice, norm: Floats
) -> None:
    """Add the part whose inverse is one front."""
    before = large.q - len(products)
    s_inverse = _inverse_of(large, factor, places)
    root, types = factor.root[places], large.outer_type[places]
    k = root[:, None] * s_inverse * root
    of_type = member(large)[:, places]
    here = [_fit_for_product(product[places, places]) for product in products]
    seen = [np.asarray(product @ k) for product in here]
    for b, left in enumerate(seen):
        for c, right in enumerate(seen[: b + 1]):
            value = float((left * right.T).sum())
            norm[before + b, before + c] += value
            if b != c:
                norm[before + c, before + b] += value
    clear = factor.clear[types]
    t_block = np.where(clear, 1.0, 0.0)[:, None] * (np.eye(len(root)) - s_inverse)
    scale = np.where(clear, 1.0 / np.where(clear, root, 1.0), 0.0)
    t_block = scale[:, None] * t_block * scale
    by_gamma = np.where(clear, scale**2, 0.0) ** 2
    for b, left in enumerate(seen):
        norm[:before, before + b] += of_type @ (by_gamma * np.einsum("rc,rc->c", k, left))
    if not clear.all():
        columns = np.flatnonzero(~clear)
        block = np.zeros((len(factor.root), len(columns)))
        block[columns + places.start, np.arange(len(columns))] = 1.0
        solved = k @ factor.outer_block(block)[places]
        block[places] -= solved
        t_columns = factor.outer_block(block)[places]
        t_block[:, columns] = t_columns
        t_block[columns] = t_columns.T
        v = block[places]
        for b, product in enumerate(here):
            norm[:before, before + b] += of_type[:, columns] @ (v * (product @ v)).sum(axis=0)
    norm[:before, :before] += of_type @ (t_block**2) @ of_type.T


def _fit_for_product(matrix: csr_array) -> Any:
    """The matrix dense where it is nearly so."""
    rows, columns = matrix.shape
    return matrix.toarray() if matrix.nnz > _DENSE * rows * columns else csr_array(matrix)


def _add_streamed(
    large: Large, factor: SparseFactor, products: list[csr_array], t: int, chosen: Floats, norm: Floats
) -> None:
    """Add the columns of outer type `t` that the indicators `chosen` (outer columns, c) stand for."""
    before = large.q - len(products)
    root = factor.root[:, None]

    def k_times(right: Floats) -> Floats:
        return np.asarray(root * factor.solve(root * right))

    k_chosen = k_times(chosen)
    for c, product in enumerate(products):
        seen = np.asarray(product @ chosen)
        if seen.any():
            right = k_times(seen)
            for b, other in enumerate(products):
                norm[before + b, before + c] += float(((other @ k_chosen) * right).sum())
    hidden = not factor.clear[t]
    v = chosen - k_times(factor.outer_block(chosen)) if hidden else k_chosen / factor.gamma[t]
    for b, product in enumerate(products):
        norm[t, before + b] += float((v * (product @ v)).sum())
    norm[:before, t] += member(large) @ (factor.outer_block(v) ** 2).sum(axis=1)


def second_order(
    large: Large, factor: SparseFactor, prof: Profile, norm: Floats, xgx: Floats, xggx: Floats
) -> None:
    """Fill norm (q, q) = ||Z_s'H^-1Z_t||_F^2, xgx (q, p, p) = X'H^-1G_tH^-1X and
    xggx (q, q, p, p) = X'H^-1G_sH^-1G_tH^-1X for the column types s and t."""
    q, p = xgx.shape[:2]
    frobenius(large, factor, norm)
    outer, inner = (part[:, :p] for part in seen_columns(large, prof))
    xgx[:] = sums_by_type(
        large, outer[:, :, None] * outer[:, None, :], inner[:, :, None] * inner[:, None, :]
    )
    outer_t, inner_t = times_t(large, factor, *split_by_type(large, outer, inner))
    for j in range(p):
        across = sums_by_type(large, outer[:, [j]] * outer_t, inner[:, [j]] * inner_t)  # (q, q p)
        xggx[:, :, j, :] = across.reshape(q, q, p)


def examine(
    large: Large,
    response: Response,
    gamma: Floats,
    restricted: bool,
    norm: Floats,
    xgx: Floats,
    xggx: Floats,
) -> tuple[Profile, SparseFactor, Floats]:
    """What `second_order.examine` gives."""
    factor = factorise(large, gamma)
    prof = profile(large, response, factor, restricted)
    trace = traces(large, factor, gamma)
    second_order(large, factor, prof, norm, xgx, xggx)
    return prof, factor, trace


def fit_many(large: Large, *arguments: Any) -> None:
    """What `reml.fit_many` gives."""
    _fit_many(large, *arguments)


_fit_many = run_by_python(reml.fit_many, optimise=optimise, second_order=second_order)
