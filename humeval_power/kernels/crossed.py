"""Likelihood, derivatives and information of a mixed model with two crossed factors.

y = X b + Z_o u_o + Z_i u_i + e. Each level of the outer (smaller) factor has `qa` columns, each level
of the inner (larger) one `qb`; a column type t has variance gamma_t sigma^2, all effects independent.
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
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALL = 40  # below this order plain loops beat LAPACK's call overhead
_DIRECT = 1e-4  # below this gamma x design size, (1 - S^-1) / gamma would cancel


class Gram(NamedTuple):
    """Crossproducts that depend on the design alone.

    start : (n_inner + 1,), pairs of inner level i are start[i]:start[i + 1]
    outer : (n_pairs,), the outer level of each pair
    cross : (n_pairs, qa, qb), Z_o'Z_i of the pair
    inner_block : (n_inner, qb, qb); outer_block : (n_outer, qa, qa), the diagonal blocks of Z'Z
    inner_x : (n_inner, qb, p); outer_x : (n_outer, qa, p), Z'X; xx : (p, p)
    n : number of observations
    inner_pinv : (n_inner, qb, qb), pseudo-inverse of each inner block
    outer_base : (n_outer qa, n_outer qa), Z_o'Z_o - Z_o'Z_i (Z_i'Z_i)^+ Z_i'Z_o
    outer_base_x : (n_outer qa, p); base_xx : (p, p), the same for X
    outer_types, inner_types : range(qa), range(qb) as tuples, so that loops over them have a length
        known when compiled
    coupled : whether column types meet. Where every worker-item pair has both systems equally often,
        the sums and the differences of ratings are apart: outer type t then meets inner type t only.
    """

    start: Ints
    outer: Ints
    cross: Floats
    inner_block: Floats
    outer_block: Floats
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
    inner_hx: Floats  # Z_i'H^-1X
    outer_hx: Floats  # Z_o'H^-1X, rows outer level by outer level
    inner_py: Floats  # Z_i'Py
    outer_py: Floats  # Z_o'Py
    ok: bool


@njit(cache=True, nogil=True)
def _small_inverse(a, gamma, work, out):
    """(I + a diag(gamma))^-1 by elimination without pivoting; returns its determinant.

    The matrix is a diagonal scaling away from a symmetric positive definite one, so all pivots are
    at least 1 and no pivoting is needed. work : (q, 2 q), overwritten.
    """
    q = a.shape[0]
    if q == 1:
        out[0, 0] = 1.0 / (1.0 + a[0, 0] * gamma[0])
        return 1.0 + a[0, 0] * gamma[0]
    if q == 2:
        first, second = 1.0 + a[0, 0] * gamma[0], 1.0 + a[1, 1] * gamma[1]
        det = first * (second - a[0, 1] * gamma[1] * a[1, 0] * gamma[0] / first)
        out[0, 0] = second / det
        out[0, 1] = -a[0, 1] * gamma[1] / det
        out[1, 0] = -a[1, 0] * gamma[0] / det
        out[1, 1] = first / det
        return det
    for r in range(q):
        for c in range(q):
            work[r, c] = a[r, c] * gamma[c]
            work[r, q + c] = 0.0
        work[r, r] += 1.0
        work[r, q + r] = 1.0
    det = 1.0
    for r in range(q):
        pivot = work[r, r]
        det *= pivot
        for c in range(2 * q):
            work[r, c] /= pivot
        for s in range(q):
            if s != r:
                factor = work[s, r]
                for c in range(2 * q):
                    work[s, c] -= factor * work[r, c]
    for r in range(q):
        for c in range(q):
            out[r, c] = work[r, q + c]
    return det


@njit(cache=True, nogil=True)
def _spd_inverse(s):
    """Inverse and log determinant of a symmetric positive definite matrix; ok is False if it is not."""
    n = s.shape[0]
    if n > _SMALL:
        lower = np.linalg.cholesky(s)
        log_det = 0.0
        for r in range(n):
            log_det += 2.0 * np.log(lower[r, r])
        return np.ascontiguousarray(np.linalg.inv(s)), log_det, np.isfinite(log_det)
    lower = s.copy()
    log_det = 0.0
    for c in range(n):
        for k in range(c):
            lower[c, c] -= lower[c, k] * lower[c, k]
        if not lower[c, c] > 0.0:
            return lower, 0.0, False
        lower[c, c] = np.sqrt(lower[c, c])
        log_det += 2.0 * np.log(lower[c, c])
        for r in range(c + 1, n):
            value = lower[r, c]
            for k in range(c):
                value -= lower[r, k] * lower[c, k]
            lower[r, c] = value / lower[c, c]
    # inverse of the lower triangle in place, then L^-T L^-1
    for c in range(n):
        lower[c, c] = 1.0 / lower[c, c]
        for r in range(c + 1, n):
            value = 0.0
            for k in range(c, r):
                value -= lower[r, k] * lower[k, c]
            lower[r, c] = value / lower[r, r]
    inverse = np.empty((n, n))
    for r in range(n):
        for c in range(r + 1):
            value = 0.0
            for k in range(r, n):
                value += lower[k, r] * lower[k, c]
            inverse[r, c] = value
            inverse[c, r] = value
    return inverse, log_det, True


@njit(cache=True, nogil=True)
def _inverse_by_type(s, qa):
    """The same for a matrix in which column types (index modulo `qa`) do not meet."""
    n = s.shape[0]
    n_levels = n // qa
    inverse = np.zeros((n, n))
    part = np.empty((n_levels, n_levels))
    total = 0.0
    for a in range(qa):
        for r in range(n_levels):
            for c in range(n_levels):
                part[r, c] = s[r * qa + a, c * qa + a]
        block, log_det, ok = _spd_inverse(part)
        if not ok:
            return inverse, 0.0, False
        total += log_det
        for r in range(n_levels):
            for c in range(n_levels):
                inverse[r * qa + a, c * qa + a] = block[r, c]
    return inverse, total, True


@njit(cache=True, nogil=True)
def factorise(gram, gamma):
    """Factorise H at `gamma` (outer column types first)."""
    n_inner, qb = gram.inner_block.shape[0], len(gram.inner_types)
    n_outer, qa = gram.outer_block.shape[0], len(gram.outer_types)
    order = n_outer * qa
    gamma_inner = gamma[qa:]
    inverse = np.empty((n_inner, qb, qb))
    block = np.empty((n_inner, qb, qb))
    cross = np.empty_like(gram.cross)
    outer_block = gram.outer_base.copy()
    half = np.empty((qb, qb))
    work = np.empty((qb, 2 * qb))
    log_det = 0.0
    for i in range(n_inner):
        log_det += np.log(_small_inverse(gram.inner_block[i], gamma_inner, work, inverse[i]))
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
    for w in range(n_outer):
        for a in range(qa):
            root[w * qa + a] = np.sqrt(gamma[a])
    s = np.empty((order, order))
    for r in range(order):
        for c in range(order):
            s[r, c] = root[r] * outer_block[r, c] * root[c]
        s[r, r] += 1.0
    if gram.coupled:
        k_matrix, log_det_s, ok = _spd_inverse(s)
    else:
        k_matrix, log_det_s, ok = _inverse_by_type(s, qa)
    if ok:
        for r in range(order):
            for c in range(order):
                k_matrix[r, c] *= root[r] * root[c]
    return Factor(inverse, block, cross, outer_block, k_matrix, log_det + log_det_s, ok)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _reduce(gram, factor, inner_r, base_r, inner_h, outer_h, outer_u, outer_ku, projected):
    """For a column r, fill Z_i'H^-1r (n_inner, qb), Z_o'H^-1r, u = Z_o'H_i^-1r and K u (order,), and
    `projected` (n_inner, qb) = A^+ W Z_i'r, which gives r'H_i^-1s = base + (Z_i's)'projected.

    inner_r : Z_i'r; base_r : Z_o'r with the inner factor projected out.
    """
    n_inner, qa, qb = len(inner_r), len(gram.outer_types), len(gram.inner_types)
    outer_u[:] = base_r
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
    outer_ku[:] = factor.k @ outer_u
    outer_h[:] = outer_u - factor.outer_block @ outer_ku
    _apply_cross_transposed(gram, factor.cross, outer_ku, -1.0, inner_h)


@njit(cache=True, nogil=True)
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
    for j in range(p):
        inner_r = np.ascontiguousarray(gram.inner_x[:, :, j])
        _reduce(
            gram,
            factor,
            inner_r,
            gram.outer_base_x[:, j],
            inner_h[j],
            outer_h[j],
            outer_u[j],
            outer_ku[j],
            projected[j],
        )
    _reduce(
        gram,
        factor,
        response.inner_y,
        response.outer_base,
        inner_h[p],
        outer_h[p],
        outer_u[p],
        outer_ku[p],
        projected[p],
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
    phi, log_det_x, ok = _spd_inverse(crossproduct[:p, :p].copy())
    beta = np.zeros(p)
    rss = 0.0
    if ok:
        for j in range(p):
            for k in range(p):
                beta[j] += phi[j, k] * crossproduct[p, k]
        rss = crossproduct[p, p]
        for j in range(p):
            rss -= beta[j] * crossproduct[p, j]
    inner_py = inner_h[p].copy()
    outer_py = outer_h[p].copy()
    for j in range(p):
        inner_py -= beta[j] * inner_h[j]
        outer_py -= beta[j] * outer_h[j]
    df = gram.n - p if restricted else gram.n
    # rounding leaves about 1e-16 y'y where the true residual is zero
    ok = ok and factor.ok and rss > 1e-14 * response.yy and rss > 0.0
    criterion = np.inf
    if ok:
        criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + factor.log_det
        if restricted:
            criterion += log_det_x
    return Profile(criterion, beta, phi, rss, inner_h[:p], outer_h[:p], inner_py, outer_py, ok)


@njit(cache=True, nogil=True)
def _times_t(gram, factor, inner_v, outer_v):
    """T v for v = (outer_v, inner_v), T = Z'H^-1Z."""
    n_inner, qb = inner_v.shape
    outer_g = factor.outer_block @ outer_v
    _apply_cross(gram, factor.cross, inner_v, outer_g)
    inner_g = np.zeros((n_inner, qb))
    for i in range(n_inner):
        for b in range(qb):
            for c in range(qb):
                inner_g[i, b] += factor.inner_block[i, b, c] * inner_v[i, c]
    outer_ku = factor.k @ outer_g
    _apply_cross_transposed(gram, factor.cross, outer_v - outer_ku, 1.0, inner_g)
    return inner_g, outer_g - factor.outer_block @ outer_ku


@njit(cache=True, nogil=True)
def _only_type(t, qa, inner, outer):
    """A copy of the vector (outer, inner) with every column type but `t` set to zero."""
    inner_v = np.zeros_like(inner)
    outer_v = np.zeros_like(outer)
    if t < qa:
        outer_v[t::qa] = outer[t::qa]
    else:
        inner_v[:, t - qa] = inner[:, t - qa]
    return inner_v, outer_v


@njit(cache=True, nogil=True)
def _dot_type(t, qa, inner_1, outer_1, inner_2, outer_2):
    """Inner product of two vectors over column type `t` alone."""
    value = 0.0
    if t < qa:
        for r in range(t, len(outer_1), qa):
            value += outer_1[r] * outer_2[r]
    else:
        for i in range(inner_1.shape[0]):
            value += inner_1[i, t - qa] * inner_2[i, t - qa]
    return value


@njit(cache=True, nogil=True)
def traces(gram, factor, gamma):
    """tr(Z_t'H^-1Z_t) for every column type, shape (qa + qb,)."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    order = factor.k.shape[0]
    trace = np.zeros(qa + qb)
    for a in range(qa):
        size = 0.0
        for r in range(a, order, qa):
            size = max(size, factor.outer_block[r, r])
        if gamma[a] * size > _DIRECT:
            for r in range(a, order, qa):
                trace[a] += (1.0 - factor.k[r, r] / gamma[a]) / gamma[a]
        else:
            rows = np.ascontiguousarray(factor.outer_block[a::qa])
            half = rows @ factor.k
            for w in range(rows.shape[0]):
                trace[a] += rows[w, w * qa + a]
                for c in range(order):
                    trace[a] -= half[w, c] * rows[w, c]
    for i in range(len(gram.start) - 1):
        first, last = gram.start[i], gram.start[i + 1]
        for b in range(qb):
            trace[qa + b] += factor.inner_block[i, b, b]
            if not gram.coupled:
                for pair in range(first, last):
                    row = gram.outer[pair] * qa + b
                    left = factor.cross[pair, b, b]
                    value = 0.5 * factor.k[row, row] * left
                    for other in range(first, pair):
                        value += factor.k[row, gram.outer[other] * qa + b] * factor.cross[other, b, b]
                    trace[qa + b] -= 2.0 * left * value
                continue
            for pair in range(first, last):
                row = gram.outer[pair] * qa
                for a in range(qa):
                    left = factor.cross[pair, a, b]
                    if left != 0.0:
                        value = 0.5 * factor.k[row + a, row + a] * left
                        for c in range(a):
                            value += factor.k[row + a, row + c] * factor.cross[pair, c, b]
                        for other in range(first, pair):
                            column = gram.outer[other] * qa
                            for c in range(qa):
                                value += factor.k[row + a, column + c] * factor.cross[other, c, b]
                        trace[qa + b] -= 2.0 * left * value
    return trace


@njit(cache=True, nogil=True)
def gradient(gram, prof, trace, restricted):
    """Gradient of the criterion in gamma, shape (q,), from the traces of Z_t'H^-1Z_t."""
    qa = len(gram.outer_types)
    q = len(trace)
    p = len(prof.beta)
    sigma2 = prof.rss / (gram.n - p if restricted else gram.n)
    slope = trace.copy()
    for t in range(q):
        slope[t] -= _dot_type(t, qa, prof.inner_py, prof.outer_py, prof.inner_py, prof.outer_py) / sigma2
        if restricted:
            for j in range(p):
                for k in range(p):
                    slope[t] -= prof.phi[j, k] * _dot_type(
                        t, qa, prof.inner_hx[j], prof.outer_hx[j], prof.inner_hx[k], prof.outer_hx[k]
                    )
    return slope


@njit(cache=True, nogil=True)
def working_products(gram, factor, prof, q):
    """z_s'Z_s'PZ_t z_t (q, q), z_t'z_t (q,), with z_t = Z_t'Py."""
    qa = len(gram.outer_types)
    p = len(prof.beta)
    quadratic = np.empty((q, q))
    square = np.empty(q)
    x_part = np.empty((q, p))
    for t in range(q):
        square[t] = _dot_type(t, qa, prof.inner_py, prof.outer_py, prof.inner_py, prof.outer_py)
        for j in range(p):
            x_part[t, j] = _dot_type(
                t, qa, prof.inner_hx[j], prof.outer_hx[j], prof.inner_py, prof.outer_py
            )
    for t in range(q):
        inner_v, outer_v = _only_type(t, qa, prof.inner_py, prof.outer_py)
        inner_t, outer_t = _times_t(gram, factor, inner_v, outer_v)
        for s in range(q):
            value = _dot_type(s, qa, prof.inner_py, prof.outer_py, inner_t, outer_t)
            for j in range(p):
                for k in range(p):
                    value -= x_part[s, j] * prof.phi[j, k] * x_part[t, k]
            quadratic[s, t] = value
    return quadratic, square


@njit(cache=True, nogil=True)
def frobenius(gram, factor):
    """||Z_s'H^-1Z_t||_F^2 for all pairs of column types, shape (q, q); only outer-sized matrices."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    order = factor.k.shape[0]
    n_inner = len(gram.start) - 1
    norm = np.zeros((qa + qb, qa + qb))
    bk = factor.outer_block @ factor.k
    t_outer = factor.outer_block - bk @ factor.outer_block
    for r in range(order):
        for c in range(order):
            norm[r % qa, c % qa] += t_outer[r, c] * t_outer[r, c]
    j_matrix = -bk
    for r in range(order):
        j_matrix[r, r] += 1.0
    for a in range(qa):
        rows = np.ascontiguousarray(j_matrix[a::qa])
        square = rows.T @ rows
        fit = np.zeros((qb, qb))
        for i in range(n_inner):
            if not gram.coupled:
                norm[a, qa + a] += _quadratic_form_of_type(gram, factor.cross, square, i, a)
                continue
            _quadratic_form(gram, factor.cross, square, i, fit)
            for b in range(qb):
                norm[a, qa + b] += fit[b, b]
        for b in range(qb):
            norm[qa + b, a] = norm[a, qa + b]
    products = np.zeros((qb, order, order))
    for b in range(qb):
        products[b] = factor.k @ _outer_products(gram, factor.cross, b)
    for b in range(qb):
        for c in range(b + 1):
            if b != c and not gram.coupled:
                continue
            value = 0.0
            for r in range(order):
                for s in range(order):
                    value += products[c, r, s] * products[b, s, r]
            norm[qa + b, qa + c] = value
            norm[qa + c, qa + b] = value
    fit = np.empty((qb, qb))
    for i in range(n_inner):
        _quadratic_form(gram, factor.cross, factor.k, i, fit)
        for b in range(qb):
            for c in range(qb):
                diagonal = factor.inner_block[i, b, c]
                norm[qa + b, qa + c] += diagonal * (diagonal - 2.0 * fit[b, c])
    return norm


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _quadratic_form(gram, cross, matrix, i, out):
    """C_i'M C_i of inner level i into `out` (qb, qb), M symmetric."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    out[:] = 0.0
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


class Information(NamedTuple):
    """Second-order quantities in units of H, residual last (index q), for p coefficients.

    gg : (q + 1, q + 1), tr(H^-1G_sH^-1G_t)
    xgx : (q + 1, p, p), X'H^-1G_tH^-1X; xggx : (q + 1, q + 1, p, p), X'H^-1G_sH^-1G_tH^-1X
    """

    gg: Floats
    xgx: Floats
    xggx: Floats


@njit(cache=True, nogil=True)
def information(gram, factor, gamma, trace, inner_hx, outer_hx, xhx):
    """Traces and crossproducts of Kenward and Roger (1997) for every pair of variance parameters.

    The residual's follow from H^-1 = H^-2 + sum_t gamma_t H^-1G_tH^-1, so that nothing but T is needed.
    """
    q = len(gamma)
    qa = len(gram.outer_types)
    p = xhx.shape[0]
    gg = np.empty((q + 1, q + 1))
    gg[:q, :q] = frobenius(gram, factor)
    trace_h = float(gram.n)
    for t in range(q):
        trace_h -= gamma[t] * trace[t]
        value = trace[t]
        for s in range(q):
            value -= gamma[s] * gg[t, s]
        gg[t, q] = value
        gg[q, t] = value
    gg[q, q] = trace_h
    for t in range(q):
        gg[q, q] -= gamma[t] * gg[t, q]
    xgx = np.zeros((q + 1, p, p))
    xggx = np.zeros((q + 1, q + 1, p, p))
    for j in range(p):
        for k in range(p):
            for t in range(q):
                xgx[t, j, k] = _dot_type(t, qa, inner_hx[j], outer_hx[j], inner_hx[k], outer_hx[k])
    xgx[q] = xhx
    for t in range(q):
        xgx[q] -= gamma[t] * xgx[t]
    for k in range(p):
        for t in range(q):
            if xgx[t, k, k] == 0.0:  # this column of X has no part in the type: |Z_t'H^-1x|^2 is zero
                continue
            inner_v, outer_v = _only_type(t, qa, inner_hx[k], outer_hx[k])
            inner_t, outer_t = _times_t(gram, factor, inner_v, outer_v)
            for s in range(q):
                for j in range(p):
                    xggx[s, t, j, k] = _dot_type(s, qa, inner_hx[j], outer_hx[j], inner_t, outer_t)
    for s in range(q):
        value = xgx[s].copy()
        for t in range(q):
            value -= gamma[t] * xggx[s, t]
        xggx[s, q] = value
        xggx[q, s] = value.T
    xggx[q, q] = xgx[q]
    for s in range(q):
        xggx[q, q] -= gamma[s] * xggx[s, q]
    return Information(gg, xgx, xggx)


@njit(cache=True, nogil=True)
def _pseudo_inverse(matrix):
    """Inverse over the eigenvalues that are clearly positive, after scaling to unit diagonal."""
    n = matrix.shape[0]
    scale = np.empty(n)
    for r in range(n):
        scale[r] = np.sqrt(matrix[r, r]) if matrix[r, r] > 0.0 else 0.0
    scaled = np.zeros((n, n))
    for r in range(n):
        for c in range(n):
            if scale[r] > 0.0 and scale[c] > 0.0:
                scaled[r, c] = matrix[r, c] / (scale[r] * scale[c])
    inverse, _, ok = _spd_inverse(scaled)
    if ok:
        largest = 0.0
        for r in range(n):
            largest = max(largest, inverse[r, r])
        if largest < 1e8:
            for r in range(n):
                for c in range(n):
                    inverse[r, c] /= scale[r] * scale[c]
            return inverse
    values, vectors = np.linalg.eigh(scaled)
    inverse = np.zeros((n, n))
    for k in range(n):
        if values[k] > 1e-9:
            for r in range(n):
                for c in range(n):
                    if scale[r] > 0.0 and scale[c] > 0.0:
                        inverse[r, c] += vectors[r, k] * vectors[c, k] / (values[k] * scale[r] * scale[c])
    return inverse


@njit(cache=True, nogil=True)
def _phi_times(phi, xgx):
    """Phi X'H^-1G_tH^-1X for every t, shape (q + 1, p, p); plain loops, for p is small."""
    q1, p = xgx.shape[0], phi.shape[0]
    product = np.zeros((q1, p, p))
    for t in range(q1):
        for j in range(p):
            for k in range(p):
                for inner in range(p):
                    product[t, j, k] += phi[j, inner] * xgx[t, inner, k]
    return product


@njit(cache=True, nogil=True)
def expected_information(info, phi, sigma2, restricted):
    """Expected information of theta = (gamma sigma^2, sigma^2): Kenward and Roger (1997), REML;
    without the terms of the fixed effects for ML. Shape (q + 1, q + 1)."""
    q1, p = info.gg.shape[0], phi.shape[0]
    expected = info.gg.copy()
    if restricted:
        across = _phi_times(phi, info.xgx)
        for s in range(q1):
            for t in range(s + 1):
                value = 0.0
                for j in range(p):
                    for k in range(p):
                        value += across[s, j, k] * across[t, k, j] - 2.0 * phi[j, k] * info.xggx[s, t, k, j]
                expected[s, t] += value
                expected[t, s] = expected[s, t]
    return 0.5 * expected / sigma2**2


class Precision(NamedTuple):
    """Standard error of the contrast, Kenward and Roger's adjusted one, and the two df."""

    standard_error: float
    standard_error_adjusted: float
    df_satterthwaite: float
    df_kenward_roger: float


@njit(cache=True, nogil=True)
def contrast_variance_slopes(info, phi, contrast):
    """d Var(l'b) / d theta_t = l'Phi X'V^-1G_tV^-1X Phi l, shape (q + 1,), free of sigma^2."""
    q1 = info.gg.shape[0]
    half = phi @ contrast
    slopes = np.empty(q1)
    for t in range(q1):
        slopes[t] = half @ (info.xgx[t] @ half)
    return slopes


@njit(cache=True, nogil=True)
def kenward_roger(info, phi, sigma2, contrast, expected):
    """Adjusted standard error and df of one contrast (Kenward and Roger 1997): the df is
    Satterthwaite's with the expected information, all components kept."""
    q1 = info.gg.shape[0]
    w = _pseudo_inverse(expected)
    variance = sigma2 * (contrast @ (phi @ contrast))
    slopes = contrast_variance_slopes(info, phi, contrast)
    spread = slopes @ (w @ slopes)
    half = phi @ contrast
    p = len(half)
    across = _phi_times(phi, info.xgx)
    correction = 0.0
    for s in range(q1):
        for t in range(q1):
            value = 0.0
            for j in range(p):
                for k in range(p):
                    term = info.xggx[s, t, j, k]
                    for inner in range(p):
                        term -= info.xgx[s, j, inner] * across[t, inner, k]
                    value += half[j] * term * half[k]
            correction += w[s, t] * value
    adjusted = variance + 2.0 * correction / sigma2
    df = 2.0 * variance**2 / spread if spread > 0.0 else np.inf
    return np.sqrt(adjusted) if adjusted > 0.0 else np.nan, df


@njit(cache=True, nogil=True)
def satterthwaite(info, prof, quadratic, square, gamma, contrast, sigma2, expected):
    """df from the observed information of the components that are not at zero, as lmerTest."""
    q = len(gamma)
    observed = np.empty((q + 1, q + 1))
    observed[:q, :q] = quadratic
    residual_square = prof.rss
    for t in range(q):
        residual_square -= gamma[t] * square[t]
        value = square[t]
        for s in range(q):
            value -= gamma[s] * quadratic[t, s]
        observed[t, q] = value
        observed[q, t] = value
    observed[q, q] = residual_square
    for t in range(q):
        observed[q, q] -= gamma[t] * observed[t, q]
    observed = observed / sigma2**3 - expected  # twice the average information less the expected
    slopes = contrast_variance_slopes(info, prof.phi, contrast)
    free = np.empty(q + 1, dtype=np.int64)
    n_free = 0
    for t in range(q + 1):
        if t == q or gamma[t] > 0.0:
            free[n_free] = t
            n_free += 1
    part = np.empty((n_free, n_free))
    slope = np.empty(n_free)
    for r in range(n_free):
        slope[r] = slopes[free[r]]
        for c in range(n_free):
            part[r, c] = observed[free[r], free[c]]
    variance = sigma2 * (contrast @ (prof.phi @ contrast))
    spread = slope @ (_pseudo_inverse(part) @ slope)
    return 2.0 * variance**2 / spread if spread > 0.0 else np.inf


@njit(cache=True, nogil=True)
def precision(gram, factor, prof, gamma, trace, quadratic, square, contrast, restricted):
    """Standard errors and degrees of freedom of one contrast at a fitted gamma, from its traces and
    working products."""
    sigma2 = prof.rss / (gram.n - len(prof.beta) if restricted else gram.n)
    xhx, _, _ = _spd_inverse(prof.phi)
    info = information(gram, factor, gamma, trace, prof.inner_hx, prof.outer_hx, xhx)
    expected = expected_information(info, prof.phi, sigma2, restricted)
    df_satterthwaite = satterthwaite(info, prof, quadratic, square, gamma, contrast, sigma2, expected)
    adjusted, df_kr = kenward_roger(info, prof.phi, sigma2, contrast, expected)
    standard_error = np.sqrt(sigma2 * (contrast @ (prof.phi @ contrast)))
    if not restricted:
        adjusted, df_kr = np.nan, np.nan
    return Precision(standard_error, adjusted, df_satterthwaite, df_kr)


@njit(cache=True, nogil=True)
def examine(gram, response, gamma, restricted):
    """Profile, log |H| and information at one gamma."""
    factor = factorise(gram, gamma)
    prof = profile(gram, response, factor, restricted)
    xhx, _, _ = _spd_inverse(prof.phi)
    trace = traces(gram, factor, gamma)
    info = information(gram, factor, gamma, trace, prof.inner_hx, prof.outer_hx, xhx)
    return prof, factor.log_det, info


@njit(cache=True, nogil=True)
def design_information(gram, gamma):
    """Information at assumed variances, without a response: (Information, Phi) in units of H."""
    p = gram.xx.shape[0]
    inner, outer = gram.inner_block.shape[:2], gram.outer_block.shape[:2]
    order = outer[0] * outer[1]
    response = Response(
        np.zeros(inner), np.zeros(outer), np.zeros(p), 1.0, np.zeros(order), np.zeros(p), 1.0
    )
    prof, _, info = examine(gram, response, gamma, True)
    return info, prof.phi
