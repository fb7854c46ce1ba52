"""Likelihood of a mixed model with two or more crossed factors.

y = X b + Z_o u_o + Z_i u_i + e. The inner factor is the largest, the outer levels are those of all the
others, kind by kind. Each outer level has `qa` columns, each inner one `qb`; a column type t (of outer levels:
a column of one kind) has variance gamma_t sigma^2, all effects independent.
H = I + sum_t gamma_t Z_t Z_t', so V = sigma^2 H. The inner factor is eliminated block by block, the
outer one by one dense Cholesky; everything is expressed by T = Z'H^-1Z, in a form that never divides by
gamma, so that gamma = 0 needs no special case. With A the inner blocks, C the outer-inner ones and
W = (I + A gamma)^-1, the elimination leaves B - C gamma W C' = (B - C A^+ C') + C A^+ W C': the bracket is
computed once, so that large gamma does not cancel digits. Nothing of size N x N, inner x inner or
inner x outer is formed.

Column types are ordered outer first; `theta` is (gamma_1, ..., gamma_q) sigma^2 and sigma^2 last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner
from humeval_power.kernels.small_matrices import inverse_by_type, small_inverse, spd_inverse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LOOPS = 48  # order up to which a plain loop beats the call of BLAS
_DIRECT = 1e-4  # below this gamma x design size, (1 - S^-1) / gamma would cancel


class Gram(NamedTuple):
    """Crossproducts that depend on the design alone.

    start : (n_inner + 1,), pairs of inner level i are start[i]:start[i + 1]
    outer : (n_pairs,), the outer level of each pair
    begin : (kinds + 1,), outer levels of kind k are begin[k]:begin[k + 1]
    cross : (n_pairs, qa, qb), Z_o'Z_i of the pair
    inner_block : (n_inner, qb, qb); outer_block : (n_outer, qa, qa), the diagonal blocks of Z'Z
    meeting : (n_meetings, 2), the pairs of outer levels of different kinds that share rows, and
        meeting_block : (n_meetings, qa, qa), their blocks of Z_o'Z_o
    inner_x : (n_inner, qb, p); outer_x : (n_outer, qa, p), Z'X; xx : (p, p)
    n : number of observations
    inner_pinv : (n_inner, qb, qb), pseudo-inverse of each inner block
    outer_base : (n_outer qa, n_outer qa), Z_o'Z_o - Z_o'Z_i (Z_i'Z_i)^+ Z_i'Z_o; (0, 0) where it is not
        needed
    outer_base_x : (n_outer qa, p); base_xx : (p, p), the same for X
    outer_types, inner_types : range(qa), range(qb) as tuples, so that loops over them have a length
        known when compiled
    coupled : whether column types meet. Where every worker-item pair has both systems equally often,
        the sums and the differences of ratings are apart: outer type t then meets inner type t only.
    """

    start: Ints
    outer: Ints
    begin: Ints
    cross: Floats
    inner_block: Floats
    outer_block: Floats
    meeting: Ints
    meeting_block: Floats
    inner_x: Floats
    outer_x: Floats
    xx: Floats
    n: int
    inner_pinv: Floats
    outer_base: Floats
    outer_base_x: Floats
    base_xx: Floats
    outer_types: tuple[int, ...]
    inner_types: tuple[int, ...]
    coupled: bool


class Response(NamedTuple):
    """Crossproducts with one response: Z_i'y (n_inner, qb), Z_o'y (n_outer, qa), X'y (p,), y'y; and
    what is left of the last three once the inner factor is projected out (`base_`)."""

    inner_y: Floats
    outer_y: Floats
    xy: Floats
    yy: float
    outer_base: Floats
    base_xy: Floats
    base_yy: float


class Factor(NamedTuple):
    """H factorised at one gamma. With H_i the part of H due to the inner factor alone:

    inner_inverse : (n_inner, qb, qb), (I + A gamma)^-1 for the inner block A
    inner_block : (n_inner, qb, qb), Z_i'H_i^-1Z_i; cross : (n_pairs, qa, qb), Z_o'H_i^-1Z_i
    outer_block : (n_outer qa, n_outer qa), Z_o'H_i^-1Z_o, dense
    k : the same shape, L S^-1 L with S = I + L outer_block L and L^2 = gamma
    log_det : log |H|; ok : whether S was positive definite
    """

    inner_inverse: Floats
    inner_block: Floats
    cross: Floats
    outer_block: Floats
    k: Floats
    log_det: float
    ok: bool


class Profile(NamedTuple):
    """Everything that the criterion and its derivatives need at one gamma."""

    criterion: float
    beta: Floats
    phi: Floats  # (X'H^-1X)^-1
    rss: float  # y'Py in units of H
    inner_hx: Floats  # (p + 1, ...), Z_i'H^-1X, and Z_i'Py last
    outer_hx: Floats  # (p + 1, ...), Z_o'H^-1X, rows outer level by outer level, and Z_o'Py last
    inner_py: Floats  # Z_i'Py
    outer_py: Floats  # Z_o'Py
    ok: bool


@inner
def factorise(gram, gamma):
    """Factorise H at `gamma` (outer column types first)."""
    n_inner, qb = gram.inner_block.shape[0], len(gram.inner_types)
    n_outer, qa = gram.outer_block.shape[0], len(gram.outer_types)
    order = n_outer * qa
    n_kinds = len(gram.begin) - 1
    inverse = np.empty((n_inner, qb, qb))
    block = np.empty((n_inner, qb, qb))
    cross = np.empty(gram.cross.shape)
    outer_block = np.empty((order, order))
    for r in range(order):
        for c in range(order):
            outer_block[r, c] = gram.outer_base[r, c]
    half = np.empty((qb, qb))
    work = np.empty((qb, 2 * qb))
    log_det = 0.0
    for i in range(n_inner):
        log_det += np.log(small_inverse(gram.inner_block[i], gamma, n_kinds * qa, work, inverse[i]))
        for r in range(qb):
            for c in range(qb):
                value = 0.0
                for k in range(qb):
                    value += inverse[i, r, k] * gram.inner_block[i, k, c]
                block[i, r, c] = value
        first, last = gram.start[i], gram.start[i + 1]
        for pair in range(first, last):
            for a in range(qa):
                for c in range(qb):
                    value = 0.0
                    for k in range(qb):
                        value += gram.cross[pair, a, k] * inverse[i, c, k]
                    cross[pair, a, c] = value
        for r in range(qb):
            for c in range(qb):
                half[r, c] = 0.0
                for k in range(qb):
                    half[r, c] += gram.inner_pinv[i, r, k] * inverse[i, k, c]
        for pair in range(first, last):  # the lower triangle of Z_o'H_i^-1Z_o, level by level
            row = gram.outer[pair] * qa
            if not gram.coupled:
                for a in range(qa):
                    left = gram.cross[pair, a, a] * half[a, a]
                    for other in range(first, pair + 1):
                        column = gram.outer[other] * qa
                        outer_block[row + a, column + a] += left * gram.cross[other, a, a]
                continue
            for a in range(qa):
                for k in range(qb):
                    left = 0.0
                    for c in range(qb):
                        left += gram.cross[pair, a, c] * half[c, k]
                    for other in range(first, pair + 1):
                        column = gram.outer[other] * qa
                        for c in range(qa):
                            outer_block[row + a, column + c] += left * gram.cross[other, c, k]
    for r in range(order):  # pairs are sorted by outer level: only the lower triangle was filled
        for c in range(r):
            outer_block[c, r] = outer_block[r, c]
    root = np.empty(order)
    for kind in range(n_kinds):
        for w in range(gram.begin[kind], gram.begin[kind + 1]):
            for a in range(qa):
                root[w * qa + a] = np.sqrt(gamma[kind * qa + a])
    s = np.empty((order, order))
    for r in range(order):
        for c in range(order):
            s[r, c] = root[r] * outer_block[r, c] * root[c]
        s[r, r] += 1.0
    if gram.coupled:
        k_matrix, log_det_s, ok = spd_inverse(s)
    else:
        k_matrix, log_det_s, ok = inverse_by_type(s, qa)
    if ok:
        for r in range(order):
            for c in range(order):
                k_matrix[r, c] *= root[r] * root[c]
    return Factor(inverse, block, cross, outer_block, k_matrix, log_det + log_det_s, ok)


@inner
def _apply_cross(gram, cross, inner_vector, outer_vector):
    """outer_vector += Z_o'H_i^-1Z_i inner_vector."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    for i in range(len(gram.start) - 1):
        for pair in range(gram.start[i], gram.start[i + 1]):
            row = gram.outer[pair] * qa
            if not gram.coupled:
                for a in range(qa):
                    outer_vector[row + a] += cross[pair, a, a] * inner_vector[i, a]
                continue
            for a in range(qa):
                for b in range(qb):
                    outer_vector[row + a] += cross[pair, a, b] * inner_vector[i, b]


@inner
def _apply_cross_transposed(gram, cross, outer_vector, sign, inner_vector):
    """inner_vector += sign Z_i'H_i^-1Z_o outer_vector."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    for i in range(len(gram.start) - 1):
        for pair in range(gram.start[i], gram.start[i + 1]):
            row = gram.outer[pair] * qa
            if not gram.coupled:
                for a in range(qa):
                    inner_vector[i, a] += cross[pair, a, a] * sign * outer_vector[row + a]
                continue
            for a in range(qa):
                value = sign * outer_vector[row + a]
                for b in range(qb):
                    inner_vector[i, b] += cross[pair, a, b] * value


@inner
def _reduce(gram, factor, inner_r, base_r, inner_h, outer_h, outer_u, outer_ku, projected):
    """For a column r, fill Z_i'H^-1r (n_inner, qb), Z_o'H^-1r, u = Z_o'H_i^-1r and K u (order,), and
    `projected` (n_inner, qb) = A^+ W Z_i'r, which gives r'H_i^-1s = base + (Z_i's)'projected.

    inner_r : Z_i'r; base_r : Z_o'r with the inner factor projected out.
    """
    n_inner, qa, qb = len(inner_r), len(gram.outer_types), len(gram.inner_types)
    for r in range(len(base_r)):
        outer_u[r] = base_r[r]
    for i in range(n_inner):
        for b in range(qb):
            value = 0.0
            for c in range(qb):
                value += factor.inner_inverse[i, b, c] * inner_r[i, c]
            inner_h[i, b] = value
        for b in range(qb):
            value = 0.0
            for c in range(qb):
                value += gram.inner_pinv[i, b, c] * inner_h[i, c]
            projected[i, b] = value
        for pair in range(gram.start[i], gram.start[i + 1]):
            row = gram.outer[pair] * qa
            for a in range(qa):
                for b in range(qb):
                    outer_u[row + a] += gram.cross[pair, a, b] * projected[i, b]
    multiply(factor.k, outer_u, outer_ku)
    multiply(factor.outer_block, outer_ku, outer_h)
    for r in range(len(outer_h)):
        outer_h[r] = outer_u[r] - outer_h[r]
    _apply_cross_transposed(gram, factor.cross, outer_ku, -1.0, inner_h)


@inner
def profile(gram, response, factor, restricted):
    """Profile the fixed effects and sigma^2 out: criterion -2 log (restricted) likelihood."""
    n_inner, qb = gram.inner_block.shape[0], len(gram.inner_types)
    n_outer, qa = gram.outer_block.shape[0], len(gram.outer_types)
    p = gram.xx.shape[0]
    order = n_outer * qa
    inner_h = np.empty((p + 1, n_inner, qb))
    outer_h = np.empty((p + 1, order))
    outer_u = np.empty((p + 1, order))
    outer_ku = np.empty((p + 1, order))
    projected = np.empty((p + 1, n_inner, qb))
    inner_r = np.empty((n_inner, qb))
    base_r = np.empty(order)
    for j in range(p + 1):
        for i in range(n_inner):
            for b in range(qb):
                inner_r[i, b] = gram.inner_x[i, b, j] if j < p else response.inner_y[i, b]
        for r in range(order):
            base_r[r] = gram.outer_base_x[r, j] if j < p else response.outer_base[r]
        _reduce(
            gram,
            factor,
            inner_r,
            base_r,
            inner_h[j],
            outer_h[j],
            outer_u[j],
            outer_ku[j],
            projected[j],
        )
    crossproduct = np.empty((p + 1, p + 1))
    for j in range(p + 1):
        for k in range(j + 1):
            if j < p:
                value = gram.base_xx[j, k]
            elif k < p:
                value = response.base_xy[k]
            else:
                value = response.base_yy
            for i in range(n_inner):
                for b in range(qb):
                    raw = gram.inner_x[i, b, k] if k < p else response.inner_y[i, b]
                    value += raw * projected[j, i, b]
            for r in range(order):
                value -= outer_u[j, r] * outer_ku[k, r]
            crossproduct[j, k] = value
            crossproduct[k, j] = value
    xhx = np.empty((p, p))
    for j in range(p):
        for k in range(p):
            xhx[j, k] = crossproduct[j, k]
    phi, log_det_x, ok = spd_inverse(xhx)
    beta = np.zeros(p)
    rss = 0.0
    if ok:
        for j in range(p):
            for k in range(p):
                beta[j] += phi[j, k] * crossproduct[p, k]
        rss = crossproduct[p, p]
        for j in range(p):
            rss -= beta[j] * crossproduct[p, j]
    inner_py, outer_py = inner_h[p], outer_h[p]
    for j in range(p):
        for i in range(n_inner):
            for b in range(qb):
                inner_py[i, b] -= beta[j] * inner_h[j, i, b]
        for r in range(order):
            outer_py[r] -= beta[j] * outer_h[j, r]
    df = gram.n - p if restricted else gram.n
    # rounding leaves about 1e-16 y'y where the true residual is zero
    ok = ok and factor.ok and rss > 1e-14 * response.yy and rss > 0.0
    criterion = np.inf
    if ok:
        criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + factor.log_det
        if restricted:
            criterion += log_det_x
    return Profile(criterion, beta, phi, rss, inner_h, outer_h, inner_py, outer_py, ok)


@inner
def multiply(matrix, vector, out):
    """out = matrix vector for a symmetric matrix; if small, row by row in a loop over plain vectors."""
    n = len(vector)
    if n > _LOOPS:
        np.dot(matrix, vector, out)
        return
    for r in range(n):
        out[r] = 0.0
    for c in range(n):
        value = vector[c]
        if value != 0.0:
            for r in range(n):
                out[r] += matrix[c, r] * value


@inner
def times_t(gram, factor, inner_v, outer_v):
    """T v for v = (outer_v, inner_v), T = Z'H^-1Z."""
    n_inner, qb = inner_v.shape
    order = len(outer_v)
    outer_g, outer_ku, outer_t = np.empty(order), np.empty(order), np.empty(order)
    multiply(factor.outer_block, outer_v, outer_g)
    _apply_cross(gram, factor.cross, inner_v, outer_g)
    inner_g = np.empty((n_inner, qb))
    for i in range(n_inner):
        for b in range(qb):
            value = 0.0
            for c in range(qb):
                value += factor.inner_block[i, b, c] * inner_v[i, c]
            inner_g[i, b] = value
    multiply(factor.k, outer_g, outer_ku)
    multiply(factor.outer_block, outer_ku, outer_t)
    for r in range(order):
        outer_t[r] = outer_g[r] - outer_t[r]
        outer_ku[r] = outer_v[r] - outer_ku[r]
    _apply_cross_transposed(gram, factor.cross, outer_ku, 1.0, inner_g)
    return inner_g, outer_t


@inner
def rows_of(gram, t):
    """The outer rows of type `t`: first, end, step."""
    qa = len(gram.outer_types)
    kind = t // qa
    return gram.begin[kind] * qa + t % qa, gram.begin[kind + 1] * qa, qa


@inner
def n_outer_types(gram):
    """Number of column types of outer levels: of all kinds."""
    return (len(gram.begin) - 1) * len(gram.outer_types)


@inner
def only_type(gram, t, inner, outer):
    """A copy of the vector (outer, inner) with every column type but `t` set to zero."""
    inner_v = np.zeros(inner.shape)
    outer_v = np.zeros(outer.shape)
    before = n_outer_types(gram)
    if t < before:
        first, end, step = rows_of(gram, t)
        for r in range(first, end, step):
            outer_v[r] = outer[r]
    else:
        for i in range(len(inner)):
            inner_v[i, t - before] = inner[i, t - before]
    return inner_v, outer_v


@inner
def dot_type(gram, t, inner_1, outer_1, inner_2, outer_2):
    """Inner product of two vectors over column type `t` alone."""
    value = 0.0
    before = n_outer_types(gram)
    if t < before:
        first, end, step = rows_of(gram, t)
        for r in range(first, end, step):
            value += outer_1[r] * outer_2[r]
    else:
        for i in range(inner_1.shape[0]):
            value += inner_1[i, t - before] * inner_2[i, t - before]
    return value


@inner
def every(matrix, first, end, step):
    """The rows first, first + step, ... below `end` of a square matrix."""
    order = len(matrix)
    rows = np.empty(((end - first + step - 1) // step, order))
    for w in range(len(rows)):
        for c in range(order):
            rows[w, c] = matrix[first + w * step, c]
    return rows


@inner
def traces(gram, factor, gamma):
    """tr(Z_t'H^-1Z_t) for every column type, shape (q,)."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    order = factor.k.shape[0]
    before = n_outer_types(gram)
    trace = np.zeros(before + qb)
    for a in range(before):
        first, end, step = rows_of(gram, a)
        size = 0.0
        for r in range(first, end, step):
            size = max(size, factor.outer_block[r, r])
        if gamma[a] * size > _DIRECT:
            for r in range(first, end, step):
                trace[a] += (1.0 - factor.k[r, r] / gamma[a]) / gamma[a]
        else:
            rows = every(factor.outer_block, first, end, step)
            half = rows @ factor.k
            for w in range(rows.shape[0]):
                trace[a] += rows[w, first + w * step]
                for c in range(order):
                    trace[a] -= half[w, c] * rows[w, c]
    for i in range(len(gram.start) - 1):
        begin, last = gram.start[i], gram.start[i + 1]
        for b in range(qb):
            trace[before + b] += factor.inner_block[i, b, b]
            if not gram.coupled:
                for pair in range(begin, last):
                    row = gram.outer[pair] * qa + b
                    left = factor.cross[pair, b, b]
                    value = 0.5 * factor.k[row, row] * left
                    for other in range(begin, pair):
                        value += factor.k[row, gram.outer[other] * qa + b] * factor.cross[other, b, b]
                    trace[before + b] -= 2.0 * left * value
                continue
            for pair in range(begin, last):
                row = gram.outer[pair] * qa
                for a in range(qa):
                    left = factor.cross[pair, a, b]
                    if left != 0.0:
                        value = 0.5 * factor.k[row + a, row + a] * left
                        for c in range(a):
                            value += factor.k[row + a, row + c] * factor.cross[pair, c, b]
                        for other in range(begin, pair):
                            column = gram.outer[other] * qa
                            for c in range(qa):
                                value += factor.k[row + a, column + c] * factor.cross[other, c, b]
                        trace[before + b] -= 2.0 * left * value
    return trace


@inner
def gradient(gram, prof, trace, restricted):
    """Gradient of the criterion in gamma, shape (q,), from the traces of Z_t'H^-1Z_t."""
    q = len(trace)
    p = len(prof.beta)
    sigma2 = prof.rss / (gram.n - p if restricted else gram.n)
    slope = np.empty(q)
    for t in range(q):
        square = dot_type(gram, t, prof.inner_py, prof.outer_py, prof.inner_py, prof.outer_py)
        slope[t] = trace[t] - square / sigma2
        if restricted:
            for j in range(p):
                for k in range(p):
                    slope[t] -= prof.phi[j, k] * dot_type(
                        gram, t, prof.inner_hx[j], prof.outer_hx[j], prof.inner_hx[k], prof.outer_hx[k]
                    )
    return slope


@inner
def working_products(gram, factor, prof, q):
    """z_s'Z_s'PZ_t z_t (q, q), z_t'z_t (q,), with z_t = Z_t'Py."""
    p = len(prof.beta)
    quadratic = np.empty((q, q))
    square = np.empty(q)
    x_part = np.empty((q, p))
    for t in range(q):
        square[t] = dot_type(gram, t, prof.inner_py, prof.outer_py, prof.inner_py, prof.outer_py)
        for j in range(p):
            x_part[t, j] = dot_type(
                gram, t, prof.inner_hx[j], prof.outer_hx[j], prof.inner_py, prof.outer_py
            )
    for t in range(q):
        inner_v, outer_v = only_type(gram, t, prof.inner_py, prof.outer_py)
        inner_t, outer_t = times_t(gram, factor, inner_v, outer_v)
        for s in range(q):
            value = dot_type(gram, s, prof.inner_py, prof.outer_py, inner_t, outer_t)
            for j in range(p):
                for k in range(p):
                    value -= x_part[s, j] * prof.phi[j, k] * x_part[t, k]
            quadratic[s, t] = value
    return quadratic, square
