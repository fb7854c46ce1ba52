"""Second-order quantities of the crossed model: what only a walk over the design can give.

Frobenius norms of the blocks of T = Z'H^-1Z, and X'H^-1G_tH^-1X and X'H^-1G_sH^-1G_tH^-1X. What follows from
them, small matrices alone, is in `information` and needs no compiling. Notation as in `likelihood`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed.likelihood import (
    Factor,
    Gram,
    Profile,
    Response,
    dot_type,
    every,
    factorise,
    n_outer_types,
    only_type,
    profile,
    rows_of,
    times_t,
    traces,
)
from humeval_power.kernels.kernel import inner, kernel

Floats = NDArray[np.float64]


@inner
def transposed(matrix):
    """A copy of the transpose in rows, so that products of matrices are of one kind alone."""
    rows, columns = matrix.shape
    turned = np.empty((columns, rows))
    for r in range(rows):
        for c in range(columns):
            turned[c, r] = matrix[r, c]
    return turned


@inner
def frobenius(gram, factor, norm):
    """Fill `norm` (q, q) with ||Z_s'H^-1Z_t||_F^2 of all pairs of column types; only outer-sized matrices."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    order = factor.k.shape[0]
    n_inner = len(gram.start) - 1
    before = n_outer_types(gram)
    type_of = np.empty(order, dtype=np.int64)
    for a in range(before):
        first, end, step = rows_of(gram, a)
        for r in range(first, end, step):
            type_of[r] = a
    for t in range(before + qb):
        for s in range(before + qb):
            norm[t, s] = 0.0
    bk = factor.outer_block @ factor.k
    product = bk @ factor.outer_block
    for r in range(order):
        for c in range(order):
            norm[type_of[r], type_of[c]] += (factor.outer_block[r, c] - product[r, c]) ** 2
    for r in range(order):
        for c in range(order):
            bk[r, c] = -bk[r, c]
        bk[r, r] += 1.0
    for a in range(before):
        first, end, step = rows_of(gram, a)
        rows = every(bk, first, end, step)
        square = transposed(rows) @ rows
        fit = np.zeros((qb, qb))
        for i in range(n_inner):
            if not gram.coupled:
                norm[a, before + a % qa] += _quadratic_form_of_type(gram, factor.cross, square, i, a % qa)
                continue
            _quadratic_form(gram, factor.cross, square, i, fit)
            for b in range(qb):
                norm[a, before + b] += fit[b, b]
        for b in range(qb):
            norm[before + b, a] = norm[a, before + b]
    products = np.empty((qb, order, order))
    for b in range(qb):
        product = factor.k @ _outer_products(gram, factor.cross, b)
        for r in range(order):
            for s in range(order):
                products[b, r, s] = product[r, s]
    for b in range(qb):
        for c in range(b + 1):
            if b != c and not gram.coupled:
                continue
            value = 0.0
            for r in range(order):
                for s in range(order):
                    value += products[c, r, s] * products[b, s, r]
            norm[before + b, before + c] = value
            norm[before + c, before + b] = value
    fit = np.empty((qb, qb))
    for i in range(n_inner):
        _quadratic_form(gram, factor.cross, factor.k, i, fit)
        for b in range(qb):
            for c in range(qb):
                diagonal = factor.inner_block[i, b, c]
                norm[before + b, before + c] += diagonal * (diagonal - 2.0 * fit[b, c])


@inner
def _outer_products(gram, cross, b):
    """sum_i c_i c_i', c_i the outer vector of column `b` of inner level i."""
    qa = len(gram.outer_types)
    order = gram.outer_block.shape[0] * qa
    sums = np.zeros((order, order))
    for i in range(len(gram.start) - 1):
        for pair in range(gram.start[i], gram.start[i + 1]):
            row = gram.outer[pair] * qa
            for other in range(gram.start[i], pair + 1):
                column = gram.outer[other] * qa
                if not gram.coupled:
                    sums[row + b, column + b] += cross[pair, b, b] * cross[other, b, b]
                    continue
                for a in range(qa):
                    left = cross[pair, a, b]
                    for c in range(qa):
                        sums[row + a, column + c] += left * cross[other, c, b]
    for r in range(order):
        for c in range(r):
            sums[c, r] = sums[r, c]
    return sums


@inner
def _quadratic_form_of_type(gram, cross, matrix, i, b):
    """The diagonal element b of C_i'M C_i where column types do not meet, M symmetric."""
    qa = len(gram.outer_types)
    total = 0.0
    for pair in range(gram.start[i], gram.start[i + 1]):
        row = gram.outer[pair] * qa + b
        value = 0.5 * matrix[row, row] * cross[pair, b, b]
        for other in range(gram.start[i], pair):
            value += matrix[row, gram.outer[other] * qa + b] * cross[other, b, b]
        total += 2.0 * cross[pair, b, b] * value
    return total


@inner
def _quadratic_form(gram, cross, matrix, i, out):
    """C_i'M C_i of inner level i into `out` (qb, qb), M symmetric."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    for b in range(qb):
        for c in range(qb):
            out[b, c] = 0.0
    if not gram.coupled:
        for b in range(qb):
            out[b, b] = _quadratic_form_of_type(gram, cross, matrix, i, b)
        return
    for pair in range(gram.start[i], gram.start[i + 1]):
        row = gram.outer[pair] * qa
        for c in range(qb):
            for a in range(qa):
                value = 0.0
                for other in range(gram.start[i], gram.start[i + 1]):
                    column = gram.outer[other] * qa
                    for d in range(qa):
                        value += matrix[row + a, column + d] * cross[other, d, c]
                for b in range(qb):
                    out[b, c] += cross[pair, a, b] * value


@inner
def second_order(gram, factor, prof, norm, xgx, xggx):
    """Fill norm (q, q) = ||Z_s'H^-1Z_t||_F^2, xgx (q, p, p) = X'H^-1G_tH^-1X and
    xggx (q, q, p, p) = X'H^-1G_sH^-1G_tH^-1X for the column types s and t."""
    q = norm.shape[0]
    p = xgx.shape[1]
    frobenius(gram, factor, norm)
    for t in range(q):
        for j in range(p):
            for k in range(p):
                xgx[t, j, k] = dot_type(
                    gram, t, prof.inner_hx[j], prof.outer_hx[j], prof.inner_hx[k], prof.outer_hx[k]
                )
    for k in range(p):
        for t in range(q):
            for s in range(q):
                for j in range(p):
                    xggx[s, t, j, k] = 0.0
            if xgx[t, k, k] == 0.0:  # this column of X has no part in the type: |Z_t'H^-1x|^2 is zero
                continue
            inner_v, outer_v = only_type(gram, t, prof.inner_hx[k], prof.outer_hx[k])
            inner_t, outer_t = times_t(gram, factor, inner_v, outer_v)
            for s in range(q):
                for j in range(p):
                    xggx[s, t, j, k] = dot_type(
                        gram, s, prof.inner_hx[j], prof.outer_hx[j], inner_t, outer_t
                    )


@kernel
def examine(gram, response, gamma, restricted, norm, xgx, xggx):
    """Profile, factor and traces at one gamma; the second-order quantities go into the last three."""
    factor = factorise(gram, gamma)
    prof = profile(gram, response, factor, restricted)
    trace = traces(gram, factor, gamma)
    second_order(gram, factor, prof, norm, xgx, xggx)
    return prof, factor, trace


def evaluate(gram: Gram, response: Response, gamma: Floats, restricted: bool) -> tuple[Factor, Profile]:
    """The factor and the profile at one gamma: `examine` again, for a kernel more takes seconds to compile."""
    q, p = len(gamma), len(gram.xx)
    room = np.empty((q, q)), np.empty((q, p, p)), np.empty((q, q, p, p))
    prof, factor, _ = examine(gram, response, gamma, restricted, *room)
    return factor, prof
