"""What a contrast's test takes from many REML fits, by eight: `information.precision`, in its names.

Numba comes with this module: it is imported where fits were compiled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed.information import Fitted, Precision, precision
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.lane_matrices import inverted, product
from humeval_power.kernels.lanes import LANES, every, fma, get, put

Floats = NDArray[np.float64]

_LARGEST_INVERSE = 1e6  # Frobenius norm up to which no eigenvalue is near to the least that counts


def precision_of_many(fitted: Fitted, contrast: Floats, *, n: int | NDArray[np.int64]) -> Precision:
    """Of one contrast of REML fits of tables of n rows, an integer or one for each of the last leading axis. Where
    the information does not settle all variances it is that of `information.precision`."""
    lead, q = fitted.rss.shape, fitted.gamma.shape[-1]
    flat = [np.ascontiguousarray(part).reshape(fitted.rss.size, -1) for part in fitted]
    sizes = np.broadcast_to(np.asarray(n, dtype=np.int64), lead).ravel()
    known = np.empty((len(sizes), 4))
    settled = np.zeros(len(sizes), dtype=np.bool_)
    precise_many(tuple(flat), np.asarray(contrast, dtype=np.float64), sizes, q, known, settled)
    if not settled.all():
        left = ~settled
        rest = Fitted(*(part.reshape(len(sizes), *part.shape[len(lead) :])[left] for part in fitted))
        known[left] = np.column_stack(precision(rest, contrast, n=sizes[left], restricted=True))
    return Precision(*(np.ascontiguousarray(kind).reshape(lead) for kind in known.T))


@inner
def taken(field, begin, size, out):
    """Rows of a field as lanes, the last of them for those that are over."""
    for lane in range(LANES):
        b = begin + min(lane, size - 1)
        for i in range(field.shape[1]):
            out[i, lane] = field[b, i]


@inner
def scaled_inverse(matrix, kept, inverse, fits):
    """Of a symmetric matrix without the rows that are not `kept` (rows, LANES), which are zero; fits (LANES,) says
    where it is positive definite by far."""
    rows = len(matrix)
    scale = np.empty((rows, LANES))
    for lane in range(LANES):
        for r in range(rows):
            known = matrix[r, r, lane]
            fits[lane] = fits[lane] and (known > 0.0 or kept[r, lane] == 0.0)
            scale[r, lane] = kept[r, lane] / np.sqrt(known) if known > 0.0 else 0.0
    for r in range(rows):
        for c in range(rows):
            value = get(matrix, (r, c)) * get(scale, (r,)) * get(scale, (c,))
            put(inverse, (r, c), every(1.0) if r == c else value)
    _, least = inverted(inverse, rows)
    norm, pivot = np.empty((1, LANES)), np.empty((1, LANES))
    total = every(0.0)
    for r in range(rows):
        for c in range(rows):
            value = get(inverse, (r, c))
            total = fma(value, value, total)
            put(inverse, (r, c), value * get(scale, (r,)) * get(scale, (c,)))
    put(norm, (0,), total)
    put(pivot, (0,), least)
    for lane in range(LANES):
        fits[lane] = fits[lane] and pivot[0, lane] > 0.0 and norm[0, lane] < _LARGEST_INVERSE**2


@inner
def weighed(weight, left, right):
    """left'weight right, of vectors."""
    total = every(0.0)
    for s in range(len(left)):
        value = every(0.0)
        for t in range(len(right)):
            value = fma(get(weight, (s, t)), get(right, (t,)), value)
        total = fma(get(left, (s,)), value, total)
    return total


@kernel
def precise_many(fitted, contrast, n, q, known, settled):
    """Fill known (b, 4), a Precision of each fit, where `settled` (b,): `fitted` are the fields (b, size) of
    a Fitted, of tables of n (b,) rows, and q its variances. A fit that is NaN is settled: so is its precision.

    All is in units of sigma^2 = 1, in which the residual is the last of the variances.
    """
    p, rows = len(contrast), q + 1
    gamma, phi, rss = np.empty((q, LANES)), np.empty((p * p, LANES)), np.empty((1, LANES))
    trace, quadratic, square = np.empty((q, LANES)), np.empty((q * q, LANES)), np.empty((q, LANES))
    norm, xgx, xggx = (
        np.empty((q * q, LANES)),
        np.empty((q * p * p, LANES)),
        np.empty((q * q * p * p, LANES)),
    )
    whole = phi.reshape(p, p, LANES)
    seen = np.empty((rows, p, p, LANES))  # X'H^-1 G_t H^-1 X, and of the residual
    pairs = np.empty((rows, rows, p, p, LANES))
    across = np.empty((rows, p, p, LANES))
    expected, observed = np.empty((rows, rows, LANES)), np.empty((rows, rows, LANES))
    weight, uncertain = np.empty((rows, rows, LANES)), np.empty((rows, rows, LANES))
    half, pulled, slope = np.empty((p, LANES)), np.empty((rows, p, LANES)), np.empty((rows, LANES))
    kept, each, sigma2 = np.ones((rows, LANES)), np.empty((rows, LANES)), np.empty((1, LANES))
    result = np.empty((4, LANES))
    fits = np.empty(LANES, dtype=np.bool_)
    zero = every(0.0)
    for begin in range(0, len(n), LANES):
        size = min(LANES, len(n) - begin)
        taken(fitted[0], begin, size, gamma)
        taken(fitted[1], begin, size, phi)
        taken(fitted[2], begin, size, rss)
        taken(fitted[3], begin, size, trace)
        taken(fitted[4], begin, size, quadratic)
        taken(fitted[5], begin, size, square)
        taken(fitted[6], begin, size, norm)
        taken(fitted[7], begin, size, xgx)
        taken(fitted[8], begin, size, xggx)
        for lane in range(LANES):
            count = n[begin + min(lane, size - 1)]
            sigma2[0, lane] = rss[0, lane] / (count - p)
            each[q, lane] = count
            fits[lane] = True
        for r in range(p):
            value = zero
            for c in range(p):
                put(seen, (q, r, c), get(whole, (r, c)))
                value = fma(every(contrast[c]), get(whole, (r, c)), value)
            put(half, (r,), value)
        inverted(seen[q], p)
        # H^-1 = H^-2 + sum_t gamma_t H^-1 G_t H^-1 gives the residual's part of everything
        for i in range(p):
            for j in range(i + 1):
                whole_part = every(0.5) * (get(seen, (q, i, j)) + get(seen, (q, j, i)))
                for t in range(q):
                    value = get(xgx, ((t * p + i) * p + j,))
                    put(seen, (t, i, j), value)
                    put(seen, (t, j, i), value)
                    whole_part = whole_part - get(gamma, (t,)) * value
                put(seen, (q, i, j), whole_part)
                put(seen, (q, j, i), whole_part)
        for s in range(q):
            for i in range(p):
                for j in range(p):
                    rest = get(seen, (s, i, j))
                    for t in range(q):
                        value = get(xggx, (((s * q + t) * p + i) * p + j,))
                        put(pairs, (s, t, i, j), value)
                        rest = rest - get(gamma, (t,)) * value
                    put(pairs, (s, q, i, j), rest)
                    put(pairs, (q, s, j, i), rest)
        for i in range(p):
            for j in range(p):
                rest = get(seen, (q, i, j))
                for t in range(q):
                    rest = rest - get(gamma, (t,)) * get(pairs, (q, t, i, j))
                put(pairs, (q, q, i, j), rest)
        last, corner = get(each, (q,)), get(rss, (0,))
        for s in range(q):
            mixed, worked = get(trace, (s,)), get(square, (s,))
            for t in range(q):
                value = get(norm, (s * q + t,))
                put(expected, (s, t), value)
                mixed = mixed - get(gamma, (t,)) * value
                value = get(quadratic, (s * q + t,))
                put(observed, (s, t), value)
                worked = worked - get(gamma, (t,)) * value
            put(expected, (s, q), mixed)
            put(expected, (q, s), mixed)
            put(observed, (s, q), worked)
            put(observed, (q, s), worked)
            last = last - get(gamma, (s,)) * (get(trace, (s,)) + mixed)
            corner = corner - get(gamma, (s,)) * (get(square, (s,)) + worked)
        put(expected, (q, q), last)
        put(observed, (q, q), corner)
        for t in range(rows):
            product(whole, seen[t], False, across[t])
        for s in range(rows):
            for t in range(s + 1):
                value = get(expected, (s, t))
                for i in range(p):
                    for j in range(p):
                        value = fma(get(across, (s, i, j)), get(across, (t, j, i)), value)
                        both = get(pairs, (s, t, i, j)) + get(pairs, (t, s, i, j))
                        value = value - both * get(whole, (j, i))
                value = every(0.5) * value
                put(expected, (s, t), value)
                put(expected, (t, s), value)
                value = get(observed, (s, t)) / get(sigma2, (0,)) - value  # twice the average less this
                put(observed, (s, t), value)
                put(observed, (t, s), value)
        for t in range(rows):
            total = zero
            for i in range(p):
                value = zero
                for j in range(p):
                    value = fma(get(seen, (t, i, j)), get(half, (j,)), value)
                put(pulled, (t, i), value)
                total = fma(value, get(half, (i,)), total)
            put(slope, (t,), total)
            for lane in range(LANES):
                kept[t, lane] = 1.0
        scaled_inverse(expected, kept, weight, fits)
        for t in range(q):
            for lane in range(LANES):
                kept[t, lane] = 1.0 if gamma[t, lane] > 0.0 else 0.0
        scaled_inverse(observed, kept, uncertain, fits)
        variance, correction = zero, zero
        for i in range(p):
            variance = fma(get(half, (i,)), every(contrast[i]), variance)
        for s in range(rows):
            for t in range(rows):
                value = zero
                for i in range(p):
                    paired, projected = zero, zero
                    for j in range(p):
                        paired = fma(get(pairs, (s, t, i, j)), get(half, (j,)), paired)
                        projected = fma(get(whole, (i, j)), get(pulled, (t, j)), projected)
                    value = fma(get(half, (i,)), paired, value)
                    value = value - get(pulled, (s, i)) * projected
                correction = fma(get(weight, (s, t)), value, correction)
        put(result, (0,), variance * get(sigma2, (0,)))
        put(result, (1,), (variance + every(2.0) * correction) * get(sigma2, (0,)))
        twice = every(2.0) * variance * variance
        put(result, (2,), twice / weighed(uncertain, slope, slope))
        put(result, (3,), twice / weighed(weight, slope, slope))
        for lane in range(size):
            b = begin + lane
            settled[b] = True
            if np.isnan(rss[0, lane]):
                known[b] = np.nan
            elif fits[lane] and result[2, lane] > 0.0 and result[3, lane] > 0.0:
                known[b, 0] = np.sqrt(result[0, lane])
                known[b, 1] = np.sqrt(result[1, lane]) if result[1, lane] > 0.0 else np.nan
                known[b, 2], known[b, 3] = result[2, lane], result[3, lane]
            else:
                settled[b] = False
