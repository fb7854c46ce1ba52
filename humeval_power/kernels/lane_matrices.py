"""Small dense matrices of eight tables side by side, compiled: lanes are the last axis, which shapes leave out."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner
from humeval_power.kernels.lanes import LANES, every, fma, get, lesser, put


@inner
def add(array, index, value):
    """array[index] += value."""
    put(array, index, get(array, index) + value)


@inner
def cleared(array, rows, columns):
    """Zeros in the first rows and columns of a matrix."""
    zero = every(0.0)
    for r in range(rows):
        for c in range(columns):
            put(array, (r, c), zero)


@inner
def dot(left, i, right, j):
    """left[i]'right[j], of rows of two matrices."""
    n = left.shape[1]
    a, b, c, d = every(0.0), every(0.0), every(0.0), every(0.0)
    for r in range(0, n - 3, 4):
        a = fma(get(left, (i, r)), get(right, (j, r)), a)
        b = fma(get(left, (i, r + 1)), get(right, (j, r + 1)), b)
        c = fma(get(left, (i, r + 2)), get(right, (j, r + 2)), c)
        d = fma(get(left, (i, r + 3)), get(right, (j, r + 3)), d)
    for r in range(n // 4 * 4, n):
        a = fma(get(left, (i, r)), get(right, (j, r)), a)
    return (a + b) + (c + d)


@inner
def product(left, right, is_turned, out):
    """left right or left right', of small matrices."""
    for r in range(len(left)):
        for c in range(out.shape[1]):
            value = every(0.0)
            for k in range(left.shape[1]):
                other = get(right, (c, k)) if is_turned else get(right, (k, c))
                value = fma(get(left, (r, k)), other, value)
            put(out, (r, c), value)


@inner
def add_lower_products(left, right, begin, end, out):
    """out += left right' in its lower triangle at least, but for rows and columns from `begin` to before `end`,
    which mean nothing then. By tiles of four by four, in strips of columns that stay in a cache."""
    n, size = len(out), left.shape[1]
    for strip in range(0, n, 32):
        for r in range(strip, n, 4):
            s, t, u = min(r + 1, n - 1), min(r + 2, n - 1), min(r + 3, n - 1)
            for c in range(strip, min(strip + 32, r + 4, n), 4):
                if (begin <= r and u < end) or (begin <= c and min(c + 3, n - 1) < end):
                    continue
                d, e, f = min(c + 1, n - 1), min(c + 2, n - 1), min(c + 3, n - 1)
                a0, a1, a2, a3 = get(out, (r, c)), get(out, (r, d)), get(out, (r, e)), get(out, (r, f))
                b0, b1, b2, b3 = get(out, (s, c)), get(out, (s, d)), get(out, (s, e)), get(out, (s, f))
                c0, c1, c2, c3 = get(out, (t, c)), get(out, (t, d)), get(out, (t, e)), get(out, (t, f))
                d0, d1, d2, d3 = get(out, (u, c)), get(out, (u, d)), get(out, (u, e)), get(out, (u, f))
                for k in range(size):
                    p, q, v, w = (
                        get(right, (c, k)),
                        get(right, (d, k)),
                        get(right, (e, k)),
                        get(right, (f, k)),
                    )
                    x, y = get(left, (r, k)), get(left, (s, k))
                    a0, a1, a2, a3 = fma(x, p, a0), fma(x, q, a1), fma(x, v, a2), fma(x, w, a3)
                    b0, b1, b2, b3 = fma(y, p, b0), fma(y, q, b1), fma(y, v, b2), fma(y, w, b3)
                    x, y = get(left, (t, k)), get(left, (u, k))
                    c0, c1, c2, c3 = fma(x, p, c0), fma(x, q, c1), fma(x, v, c2), fma(x, w, c3)
                    d0, d1, d2, d3 = fma(y, p, d0), fma(y, q, d1), fma(y, v, d2), fma(y, w, d3)
                put(out, (r, c), a0)
                put(out, (r, d), a1)
                put(out, (r, e), a2)
                put(out, (r, f), a3)
                put(out, (s, c), b0)
                put(out, (s, d), b1)
                put(out, (s, e), b2)
                put(out, (s, f), b3)
                put(out, (t, c), c0)
                put(out, (t, d), c1)
                put(out, (t, e), c2)
                put(out, (t, f), c3)
                put(out, (u, c), d0)
                put(out, (u, d), d1)
                put(out, (u, e), d2)
                put(out, (u, f), d3)


@inner
def add_row_products(left, right, begin, end, step, first_row, last_row, first, last, out):
    """out += left right' over columns begin, begin + step, ... before end; of its rows from first_row to before
    last_row, and its columns from first to before last. By tiles of four by four."""
    for c in range(first, last, 4):
        d, e, f = min(c + 1, last - 1), min(c + 2, last - 1), min(c + 3, last - 1)
        for r in range(first_row, last_row, 4):
            s, t, u = min(r + 1, last_row - 1), min(r + 2, last_row - 1), min(r + 3, last_row - 1)
            a0, a1, a2, a3 = get(out, (r, c)), get(out, (r, d)), get(out, (r, e)), get(out, (r, f))
            if s == r:  # a single row
                for k in range(begin, end, step):
                    x = get(left, (r, k))
                    a0, a1 = fma(x, get(right, (c, k)), a0), fma(x, get(right, (d, k)), a1)
                    a2, a3 = fma(x, get(right, (e, k)), a2), fma(x, get(right, (f, k)), a3)
                put(out, (r, c), a0)
                put(out, (r, d), a1)
                put(out, (r, e), a2)
                put(out, (r, f), a3)
                continue
            b0, b1, b2, b3 = get(out, (s, c)), get(out, (s, d)), get(out, (s, e)), get(out, (s, f))
            c0, c1, c2, c3 = get(out, (t, c)), get(out, (t, d)), get(out, (t, e)), get(out, (t, f))
            d0, d1, d2, d3 = get(out, (u, c)), get(out, (u, d)), get(out, (u, e)), get(out, (u, f))
            for k in range(begin, end, step):
                p, q, v, w = (
                    get(right, (c, k)),
                    get(right, (d, k)),
                    get(right, (e, k)),
                    get(right, (f, k)),
                )
                x, y = get(left, (r, k)), get(left, (s, k))
                a0, a1, a2, a3 = fma(x, p, a0), fma(x, q, a1), fma(x, v, a2), fma(x, w, a3)
                b0, b1, b2, b3 = fma(y, p, b0), fma(y, q, b1), fma(y, v, b2), fma(y, w, b3)
                x, y = get(left, (t, k)), get(left, (u, k))
                c0, c1, c2, c3 = fma(x, p, c0), fma(x, q, c1), fma(x, v, c2), fma(x, w, c3)
                d0, d1, d2, d3 = fma(y, p, d0), fma(y, q, d1), fma(y, v, d2), fma(y, w, d3)
            put(out, (r, c), a0)
            put(out, (r, d), a1)
            put(out, (r, e), a2)
            put(out, (r, f), a3)
            put(out, (s, c), b0)
            put(out, (s, d), b1)
            put(out, (s, e), b2)
            put(out, (s, f), b3)
            put(out, (t, c), c0)
            put(out, (t, d), c1)
            put(out, (t, e), c2)
            put(out, (t, f), c3)
            put(out, (u, c), d0)
            put(out, (u, d), d1)
            put(out, (u, e), d2)
            put(out, (u, f), d3)


@inner
def inverted(matrix, size):
    """Put the inverse of the first rows and columns of a matrix, which is a diagonal scaling away from a symmetric
    positive definite one and so needs no pivoting, in their place. Its determinant, and its least pivot."""
    zero, one = every(0.0), every(1.0)
    det, least = one, one
    for r in range(size):
        pivot = get(matrix, (r, r))
        det, least = det * pivot, lesser(least, pivot)
        share = one / pivot
        put(matrix, (r, r), one)
        for c in range(size):
            put(matrix, (r, c), get(matrix, (r, c)) * share)
        for s in range(size):
            if s != r:
                factor = zero - get(matrix, (s, r))
                put(matrix, (s, r), zero)
                for c in range(size):
                    put(matrix, (s, c), fma(factor, get(matrix, (r, c)), get(matrix, (s, c))))
    return det, least


@inner
def mirrored(matrix):
    """Copy the lower triangle to the upper one."""
    for r in range(len(matrix)):
        for c in range(r):
            put(matrix, (c, r), get(matrix, (r, c)))


@inner
def add_log(log_det, times, det, least):
    """log_det (1,) += times log(det), NaN where rounding has left a pivot no digits."""
    both = np.empty((2, LANES))
    put(both, (0,), det)
    put(both, (1,), least)
    for lane in range(LANES):
        if both[1, lane] > 0.0:
            log_det[0, lane] += times * np.log(both[0, lane])
        else:
            log_det[0, lane] = np.nan


@inner
def sandwiched(left, middle, right, half, out):
    """left'middle right, all (K, K), `middle` of plain numbers."""
    K = len(out)
    for r in range(K):
        for c in range(K):
            value = every(0.0)
            for k in range(K):
                if middle[k, c] != 0.0:
                    value = fma(get(left, (k, r)), every(middle[k, c]), value)
            put(half, (r, c), value)
    product(half, right, False, out)
