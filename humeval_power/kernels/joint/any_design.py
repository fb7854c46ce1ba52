"""Tables of any design, many studies of each, by eight: who rates which systems of an item is free.

Outer levels (m) and systems (K) span dense matrices of order N = m K, levels first; inner levels are eliminated.
What a level gives the systems has covariance Go or Gi (K, K), a sum of variances times patterns D_t, which are sums
of outer products of vectors. With C_i (K, N) the ratings of an inner level and N_i those of each system on a
diagonal,

    M_i = (I + N_i Gi)^-1,   W_i = Gi M_i,   A = Zo'H_i^-1 Zo = diag(load) - sum_i C_i'W_i C_i
    V = (A^-1 + I x Go)^-1,  B = I - V Go,   Y = Go B

make up Zo'H^-1 Zo = V, Zo'H^-1 Zi = B C_i'M_i' and Zi'H^-1 Zj = M_i N_i - M_i C_i Y C_j'M_j'. V comes out of A by
a few outer levels after the other, each of which take U Go (I + S Go)^-1 U' away; U are their columns and S is their
own block: no root of Go is taken, and a variance of zero is like any other. Inner levels with as many ratings of each
system are of one kind c: they share M and W, and meet in the sum E_c of their C_i'C_i, the entries of which are
listed. All arrays have an axis of lanes behind, which is left out where shapes are said.
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.lanes import LANES, every, fma, get, lesser, put

_TOGETHER = 4  # columns of outer levels that are taken away at once, at least


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
def by_block(rows, square, out):
    """Every block of K columns of some rows, times a matrix (K, K)."""
    K = len(square)
    for r in range(len(rows)):
        for first in range(0, rows.shape[1], K):
            for t in range(K):
                value = every(0.0)
                for s in range(K):
                    value = fma(get(rows, (r, first + s)), get(square, (s, t)), value)
                put(out, (r, first + t), value)


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
def inverted(left, size, inverse):
    """Overwrite the first rows and columns of a matrix that is a diagonal scaling away from a symmetric positive
    definite one, and so needs no pivoting; fill its inverse. Its determinant, and its least pivot."""
    zero, one = every(0.0), every(1.0)
    det, least = one, one
    for r in range(size):
        for c in range(size):
            put(inverse, (r, c), zero)
        put(inverse, (r, r), one)
    for r in range(size):
        pivot = get(left, (r, r))
        det = det * pivot
        least = lesser(least, pivot)
        share = one / pivot
        for c in range(size):
            put(left, (r, c), get(left, (r, c)) * share)
            put(inverse, (r, c), get(inverse, (r, c)) * share)
        for s in range(size):
            if s != r:
                factor = zero - get(left, (s, r))
                for c in range(size):
                    put(left, (s, c), fma(factor, get(left, (r, c)), get(left, (s, c))))
                    put(inverse, (s, c), fma(factor, get(inverse, (r, c)), get(inverse, (s, c))))
    return det, least


@inner
def add_log(log_det, times, det, least, both):
    """log_det (1,) += times log(det), NaN where rounding has left a pivot no digits."""
    put(both, (0,), det)
    put(both, (1,), least)
    for lane in range(LANES):
        if both[1, lane] > 0.0:
            log_det[0, lane] += times * np.log(both[0, lane])
        else:
            log_det[0, lane] = np.nan


@inner
def covariance(patterns, gamma, first, out):
    """sum_t gamma_(first + t) D_t."""
    K = len(out)
    for s in range(K):
        for t in range(K):
            value = every(0.0)
            for v in range(len(patterns)):
                if patterns[v, s, t] != 0.0:
                    value = fma(get(gamma, (first + v,)), every(patterns[v, s, t]), value)
            put(out, (s, t), value)


@inner
def met_through(design, blocks, sign, out):
    """out += sign sum_i C_i'B_c C_i for symmetric blocks B (kinds, K, K), the lower triangle."""
    for c in range(len(design.levels)):
        for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
            block = get(blocks, (c, design.row_system[entry], design.across_system[entry]))
            at = (design.row[entry], design.across[entry])
            put(out, at, fma(block, every(sign * design.value[entry]), get(out, at)))


@inner
def mirrored(matrix):
    """Copy the lower triangle to the upper one."""
    for r in range(len(matrix)):
        for c in range(r):
            put(matrix, (c, r), get(matrix, (r, c)))


@inner
def less_products(matrix, left, right, size):
    """matrix - left'right of `size` rows, the lower triangle; by four of these rows and two of the matrix."""
    N = len(matrix)
    zero = every(0.0)
    for k in range(0, size, 4):
        for r in range(0, N - 1, 2):
            a, b = zero - get(left, (k, r)), zero - get(left, (k + 1, r))
            c, d = zero - get(left, (k + 2, r)), zero - get(left, (k + 3, r))
            e, f = zero - get(left, (k, r + 1)), zero - get(left, (k + 1, r + 1))
            g, h = zero - get(left, (k + 2, r + 1)), zero - get(left, (k + 3, r + 1))
            for i in range(r + 2):
                upper, lower = get(matrix, (r, i)), get(matrix, (r + 1, i))
                first, second = get(right, (k, i)), get(right, (k + 1, i))
                third, fourth = get(right, (k + 2, i)), get(right, (k + 3, i))
                upper = fma(d, fourth, fma(c, third, fma(b, second, fma(a, first, upper))))
                lower = fma(h, fourth, fma(g, third, fma(f, second, fma(e, first, lower))))
                put(matrix, (r, i), upper)
                put(matrix, (r + 1, i), lower)
        if N % 2:
            for i in range(N):
                value = get(matrix, (N - 1, i))
                for j in range(k, k + 4):
                    value = fma(zero - get(left, (j, N - 1)), get(right, (j, i)), value)
                put(matrix, (N - 1, i), value)


@inner
def taken_through(matrix, Go, U, L, kept, left, inverse, log_det, both):
    """Put V in the place of A, of which the lower triangle is read, and add log det(I + A Go) to `log_det`.

    U, L, kept : (columns at once, N), room of zeros; left, inverse : (columns at once, columns at once)
    """
    K, N, most = len(Go), len(matrix), len(left)
    zero = every(0.0)
    for w in range(0, N, most):
        size = min(most, N - w)
        for k in range(size):
            for c in range(w + k + 1):
                put(U, (k, c), get(matrix, (w + k, c)))
            for c in range(w + k + 1, N):
                put(U, (k, c), get(matrix, (c, w + k)))
        for r in range(size):
            for c in range(size):
                value = every(1.0 if r == c else 0.0)
                first = c // K * K
                for t in range(K):
                    value = fma(get(U, (r, w + first + t)), get(Go, (t, c - first)), value)
                put(left, (r, c), value)
        det, least = inverted(left, size, inverse)
        add_log(log_det, 1.0, det, least, both)
        for r in range(size):
            for c in range(N):
                value = zero
                for k in range(size):
                    value = fma(get(inverse, (r, k)), get(U, (k, c)), value)
                put(kept, (r, c), value)
        for first in range(0, size, K):
            for s in range(K):
                for c in range(N):
                    value = zero
                    for t in range(K):
                        value = fma(get(Go, (s, t)), get(kept, (first + t, c)), value)
                    put(L, (first + s, c), value)
        padded = -(-size // 4) * 4
        for r in range(size, padded):  # the last levels are fewer
            for c in range(N):
                put(L, (r, c), zero)
                put(U, (r, c), zero)
        less_products(matrix, L, U, padded)
        for k in range(size):
            for c in range(w + k + 1):
                put(matrix, (w + k, c), get(kept, (k, c)))
            for r in range(w + k + 1, N):
                put(matrix, (r, w + k), get(kept, (k, r)))
    mirrored(matrix)


@inner
def along(vectors, v, rows, out):
    """What vector v of systems makes of each level: rows (k, levels K), out (k, levels)."""
    K = vectors.shape[1]
    for j in range(len(out)):
        for w in range(out.shape[1]):
            value = every(0.0)
            for s in range(K):
                if vectors[v, s] != 0.0:
                    value = fma(every(vectors[v, s]), get(rows, (j, w * K + s)), value)
            put(out, (j, w), value)


@inner
def level_products(vectors, group, rows, first, each, out):
    """Sums over levels of left'D_t right for all pairs of rows (k, levels K), added to out (q, k, k) from `first`;
    each (k, levels) is room."""
    k = len(rows)
    for v in range(len(vectors)):
        along(vectors, v, rows, each)
        for i in range(k):
            for j in range(i + 1):
                value = dot(each, i, each, j)
                add(out, (first + group[v], i, j), value)
                if i != j:
                    add(out, (first + group[v], j, i), value)


@inner
def met_with(rows, K, matrix, M, meet, Go, design, effect, turned, e, half, result):
    """E'H^-1 E of effects of levels, into result (2 rows, 2 rows): outer ones first, `effect`, then inner ones, e.

    effect : (2 rows, N), of which the second half is filled; meet (rows, N), turned (rows, inner levels K) and
        half (N,) are room.
    """
    N = len(matrix)
    pushed = np.empty((1, K, LANES))
    cleared(meet, rows, N)
    for row in range(rows):
        for i in range(len(design.kind)):
            c = design.kind[i]
            for t in range(K):
                value = every(0.0)
                for s in range(K):
                    value = fma(get(M, (c, s, t)), get(e, (row, i * K + s)), value)
                put(pushed, (0, t), value)
                put(turned, (row, i * K + t), every(design.replication[c, t]) * value)  # M N is symmetric
            for p in range(design.begin[i], design.begin[i + 1]):
                at = (row, design.column[p])
                put(meet, at, fma(every(design.times[p]), get(pushed, (0, design.system[p])), get(meet, at)))
    by_block(meet, Go, effect[rows:])
    zero = every(0.0)
    for row in range(rows, 2 * rows):
        for c in range(N):
            put(effect, (row, c), zero - get(effect, (row, c)))
    for row in range(2 * rows):
        for c in range(N):
            put(half, (0, c), dot(effect, row, matrix, c))
        for other in range(row + 1):
            value = dot(half, 0, effect, other)
            if row >= rows:
                value = value + dot(meet, row - rows, effect, other)
                if other >= rows:
                    value = value + dot(e, row - rows, turned, other - rows)
            put(result, (row, other), value)
            put(result, (other, row), value)


@inner
def effects_of(vectors, group, seen, seen_inner, outer_part, inner_part, effect, e):
    """G_t's effects of k columns, of which H^-1 is given as levels see it: seen (k, N), seen_inner (k, inner levels
    K), into the first rows t k + j of effect and e."""
    k, K = len(seen), vectors.shape[1]
    rows = (group[-1] + 1) * k
    cleared(effect, rows, seen.shape[1])
    cleared(e, rows, seen_inner.shape[1])
    for v in range(len(vectors)):
        along(vectors, v, seen, outer_part)
        along(vectors, v, seen_inner, inner_part)
        for j in range(k):
            row = group[v] * k + j
            for s in range(K):
                if vectors[v, s] != 0.0:
                    share = every(vectors[v, s])
                    for w in range(outer_part.shape[1]):
                        at = (row, w * K + s)
                        put(effect, at, fma(share, get(outer_part, (j, w)), get(effect, at)))
                    for i in range(inner_part.shape[1]):
                        at = (row, i * K + s)
                        put(e, at, fma(share, get(inner_part, (j, i)), get(e, at)))


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


@inner
def norms(design, patterns, vectors, group, M, F, V, Go, B, E, X, hidden, norm):
    """tr(H^-1 G_s H^-1 G_t) of the random effects into `norm` (q, q), by X = B E and `hidden` (h, N, N), Go X."""
    h, K = patterns.shape[:2]
    N, kinds = len(V), len(design.levels)
    m = N // K
    zero = every(0.0)
    cleared(norm, 2 * h, 2 * h)
    by_block(V, Go, B)
    for r in range(N):
        for c in range(N):
            put(B, (r, c), every(1.0 if r == c else 0.0) - get(B, (r, c)))
    part = np.empty((1, N, LANES))
    for v in range(len(vectors)):
        for w in range(m):
            for c in range(N):
                value = zero
                for s in range(K):
                    if vectors[v, s] != 0.0:
                        value = fma(every(vectors[v, s]), get(V, (w * K + s, c)), value)
                put(part, (0, c), value)
            for o in range(len(vectors)):
                total = zero
                for c in range(m):
                    value = zero
                    for t in range(K):
                        if vectors[o, t] != 0.0:
                            value = fma(every(vectors[o, t]), get(part, (0, c * K + t)), value)
                    total = fma(value, value, total)
                add(norm, (group[v], group[o]), total)
    shape, half, small = (
        np.empty((kinds, K, K, LANES)),
        np.empty((K, K, LANES)),
        np.empty((K, K, LANES)),
    )
    for v in range(h):
        for c in range(kinds):
            sandwiched(M[c], patterns[v], M[c], half, shape[c])
        cleared(E, N, N)
        met_through(design, shape, 1.0, E)
        mirrored(E)
        cleared(X, N, N)
        for k in range(0, N - 3, 4):  # X = B E, by four columns and two rows of B
            for r in range(0, N - 1, 2):
                a0, a1, a2, a3 = get(B, (r, k)), get(B, (r, k + 1)), get(B, (r, k + 2)), get(B, (r, k + 3))
                n = r + 1
                b0, b1, b2, b3 = get(B, (n, k)), get(B, (n, k + 1)), get(B, (n, k + 2)), get(B, (n, k + 3))
                for j in range(N):
                    first, second = get(E, (k, j)), get(E, (k + 1, j))
                    third, fourth = get(E, (k + 2, j)), get(E, (k + 3, j))
                    upper, lower = get(X, (r, j)), get(X, (n, j))
                    put(X, (r, j), fma(a3, fourth, fma(a2, third, fma(a1, second, fma(a0, first, upper)))))
                    put(X, (n, j), fma(b3, fourth, fma(b2, third, fma(b1, second, fma(b0, first, lower)))))
        for r in range(N):
            begin = 0 if r == N - 1 and N % 2 else N // 4 * 4
            for k in range(begin, N):
                share = get(B, (r, k))
                for j in range(N):
                    put(X, (r, j), fma(share, get(E, (k, j)), get(X, (r, j))))
        cleared(small, K, K)
        for first in range(0, N, K):
            for s in range(K):
                for t in range(K):
                    add(small, (s, t), dot(X, first + s, B, first + t))
        for s in range(h):
            value = zero
            for r in range(K):
                for c in range(K):
                    if patterns[s, r, c] != 0.0:
                        value = fma(every(patterns[s, r, c]), get(small, (r, c)), value)
            put(norm, (s, h + v), value)
            put(norm, (h + v, s), value)
        for first in range(0, N, K):
            for s in range(K):
                for c in range(N):
                    value = zero
                    for t in range(K):
                        value = fma(get(Go, (s, t)), get(X, (first + t, c)), value)
                    put(hidden, (v, first + s, c), value)
        for s in range(v + 1):
            value = zero
            for r in range(N):
                for c in range(N):
                    value = fma(get(hidden, (s, r, c)), get(hidden, (v, c, r)), value)
            put(norm, (h + v, h + s), value)
    own, less = np.empty((K, K, LANES)), np.empty((K, K, LANES))
    for kind in range(kinds):
        product(M[kind], F[kind], False, half)
        product(half, M[kind], True, less)
        for s in range(K):
            for t in range(K):
                value = get(M, (kind, s, t)) * every(design.replication[kind, t])
                put(own, (s, t), value)
                put(less, (s, t), every(design.levels[kind]) * value - every(2.0) * get(less, (s, t)))
        for v in range(h):
            for o in range(v + 1):
                # D_o own D_v less, traced
                value = zero
                for r in range(K):
                    for c in range(K):
                        if patterns[o, r, c] != 0.0:
                            for s in range(K):
                                for t in range(K):
                                    if patterns[v, s, t] != 0.0:
                                        weight = patterns[o, r, c] * patterns[v, s, t]
                                        value = fma(every(weight), get(own, (c, s)) * get(less, (t, r)), value)
                add(norm, (h + v, h + o), value)
    for v in range(h):
        for o in range(v):
            put(norm, (h + o, h + v), get(norm, (h + v, h + o)))


@kernel
def sums_of(design, outer, inner_level, system, y, y_outer, y_inner, whole):
    """Sums of the ratings of tables b (b, n) by column (b, N) and by inner level and system (b, inner levels, K); and
    of their squares (b,). No lanes here."""
    K = y_inner.shape[2]
    for b in range(len(y)):
        whole[b] = 0.0
        y_outer[b] = 0.0
        y_inner[b] = 0.0
        for place in range(design.n):
            value = y[b, place]
            y_outer[b, outer[place] * K + system[place]] += value
            y_inner[b, inner_level[place], system[place]] += value
            whole[b] += value**2


@kernel
def evaluate(
    design, patterns, vectors, group, y_outer, y_inner, whole, gamma, is_last,
    left, log_det, beta, phi, trace, square, xgx, quadratic, norm, xggx,
):  # fmt: skip
    """The profiled likelihoods of tables b at gamma (q, b), outer variances first.

    patterns : (h, K, K), D_t, each the sum of outer products of those `vectors` (r, K) whose `group` (r,) is t
    y_outer, y_inner, whole : of `sums_of`

    Fills, with axis b last, y'Py; the log determinant of H and X'H^-1 X, NaN where there is none; the means (K,) and
    their phi (K, K); and tr(H^-1 G_t), |Z_t'Py|^2, X'H^-1 G_t H^-1 X and y'PG_sPG_tPy of all t; and if `is_last`
    tr(H^-1 G_s H^-1 G_t) and X'H^-1 G_s H^-1 G_t H^-1 X.
    """
    h, K = patterns.shape[:2]
    N, n_inner, kinds, q = len(design.load), len(design.kind), len(design.levels), 2 * h
    m = N // K
    most = K * max(1, _TOGETHER // K)
    padded, last = -(-most // 4) * 4, 1 if is_last else 0
    zero = every(0.0)
    here, sums = np.empty((q, LANES)), np.empty((1, LANES))
    logs, both = np.empty((1, LANES)), np.empty((2, LANES))
    Go, Gi = np.empty((K, K, LANES)), np.empty((K, K, LANES))
    M, W, F = (
        np.empty((kinds, K, K, LANES)),
        np.empty((kinds, K, K, LANES)),
        np.empty((kinds, K, K, LANES)),
    )
    V, Y, Q = np.empty((N, N, LANES)), np.empty((N, N, LANES)), np.empty((K, N, LANES))
    U, L, kept = np.zeros((padded, N, LANES)), np.zeros((padded, N, LANES)), np.empty((padded, N, LANES))
    taken, inverse = np.empty((most, most, LANES)), np.empty((most, most, LANES))
    base, through, seen = (
        np.empty((K + 1, N, LANES)),
        np.empty((K + 1, N, LANES)),
        np.empty((K + 1, N, LANES)),
    )
    inner_sums, seen_inner = np.empty((n_inner, K, LANES)), np.empty((K + 1, n_inner * K, LANES))
    pushed = np.empty((K, K + 1, LANES))
    means, gram, precise = np.empty((K, LANES)), np.empty((K, K, LANES)), np.empty((K, K, LANES))
    half, small, total, blocks = (
        np.empty((K, K, LANES)),
        np.empty((K, K, LANES)),
        np.empty((K, K, LANES)),
        np.empty((K, K, LANES)),
    )
    outer_part, inner_part = np.empty((K + 1, m, LANES)), np.empty((K + 1, n_inner, LANES))
    products = np.empty((q, K + 1, K + 1, LANES))
    rows = h * (K if is_last else 1)
    effect, meet, e, turned = (
        np.empty((2 * rows, N, LANES)),
        np.empty((rows, N, LANES)),
        np.empty((rows, n_inner * K, LANES)),
        np.empty((rows, n_inner * K, LANES)),
    )
    line, working = np.empty((1, N, LANES)), np.empty((2 * rows, 2 * rows, LANES))
    B, E, hidden = (
        np.empty((last * N, last * N, LANES)),
        np.empty((last * N, last * N, LANES)),
        np.empty((last * h, last * N, last * N, LANES)),
    )
    squares = np.empty((q, q, LANES))
    for begin in range(0, len(whole), LANES):
        size = min(LANES, len(whole) - begin)
        for lane in range(LANES):
            b = begin + min(lane, size - 1)  # the last lane fills those that are over
            sums[0, lane], logs[0, lane] = whole[b], 0.0
            for t in range(q):
                here[t, lane] = gamma[t, b]
            for c in range(N):
                base[K, c, lane] = y_outer[b, c]
            for i in range(n_inner):
                for s in range(K):
                    inner_sums[i, s, lane] = y_inner[b, i, s]
        covariance(patterns, here, 0, Go)
        covariance(patterns, here, h, Gi)
        for c in range(kinds):
            for s in range(K):
                for t in range(K):
                    value = every(design.replication[c, s]) * get(Gi, (s, t))
                    put(half, (s, t), value + every(1.0) if s == t else value)
            det, least = inverted(half, K, M[c])
            add_log(logs, design.levels[c], det, least, both)
            product(Gi, M[c], False, W[c])
        cleared(V, N, N)
        for r in range(N):
            put(V, (r, r), every(design.load[r]))
            for t in range(K):
                put(base, (t, r), every(design.load[r] if t == r % K else 0.0))
        met_through(design, W, -1.0, V)
        taken_through(V, Go, U, L, kept, taken, inverse, logs, both)

        rest = get(sums, (0,))
        for i in range(n_inner):
            c = design.kind[i]
            for s in range(K):
                value = zero
                for t in range(K):
                    value = fma(get(W, (c, s, t)), get(inner_sums, (i, t)), value)
                    put(pushed, (s, t), zero - get(W, (c, s, t)) * every(design.replication[c, t]))
                put(pushed, (s, K), zero - value)
                rest = fma(zero - value, get(inner_sums, (i, s)), rest)
            for p in range(design.begin[i], design.begin[i + 1]):
                s, column, times = design.system[p], design.column[p], every(design.times[p])
                for j in range(K + 1):
                    value = fma(times, get(pushed, (s, j)), get(base, (j, column)))
                    put(base, (j, column), value)
        by_block(base, Go, through)
        for c in range(N):
            for j in range(K + 1):
                put(seen, (j, c), get(base, (j, c)) - dot(through, j, V, c))
        by_block(seen, Go, through)
        rest = rest - dot(base, K, through, K)
        for s in range(K):
            for j in range(K + 1):
                value = zero
                for c in range(s, N, K):
                    value = value + get(seen, (j, c))
                if j < K:
                    put(gram, (s, j), value)
                else:
                    put(means, (s,), value)  # X'H^-1 y, until the means are known
        det, least = inverted(gram, K, precise)
        add_log(logs, 1.0, det, least, both)
        for s in range(K):
            value = zero
            for t in range(K):
                value = fma(get(precise, (s, t)), get(means, (t,)), value)
            put(half, (0, s), value)
        for s in range(K):
            value = get(half, (0, s))
            rest = fma(zero - value, get(means, (s,)), rest)
            put(means, (s,), value)

        # y without the means, as levels see it
        for j in range(K):
            share = zero - get(means, (j,))
            for c in range(N):
                put(seen, (K, c), fma(share, get(seen, (j, c)), get(seen, (K, c))))
                put(through, (K, c), fma(share, get(through, (j, c)), get(through, (K, c))))
        for i in range(n_inner):
            kind = design.kind[i]
            for s in range(K):
                count = every(design.replication[kind, s])
                for j in range(K):
                    put(pushed, (s, j), count if j == s else zero)
                put(pushed, (s, K), fma(zero - count, get(means, (s,)), get(inner_sums, (i, s))))
            for p in range(design.begin[i], design.begin[i + 1]):
                s, column, count = design.system[p], design.column[p], every(-design.times[p])
                for j in range(K + 1):
                    put(pushed, (s, j), fma(count, get(through, (j, column)), get(pushed, (s, j))))
            for j in range(K + 1):
                for s in range(K):
                    value = zero
                    for t in range(K):
                        value = fma(get(M, (kind, s, t)), get(pushed, (t, j)), value)
                    put(seen_inner, (j, i * K + s), value)

        # traces, by the sums F_c of C_i Y C_i'
        cleared(total, K, K)
        cleared(blocks, K, K)
        for first in range(0, N, K):
            for s in range(K):
                for c in range(first + K):
                    put(Q, (s, c), get(V, (first + s, c)))
                for t in range(K):
                    add(blocks, (s, t), get(V, (first + s, first + t)))
            for block in range(0, first + K, K):
                for s in range(K):
                    for t in range(K):
                        value = zero
                        for k in range(K):
                            value = fma(get(Q, (s, block + k)), get(Go, (k, t)), value)
                        put(half, (s, t), value)
                for s in range(K):
                    for t in range(K):
                        value = zero
                        for k in range(K):
                            value = fma(get(Go, (s, k)), get(half, (k, t)), value)
                        value = get(Go, (s, t)) - value if block == first else zero - value
                        put(Y, (first + s, block + t), value)
        for c in range(kinds):
            cleared(F[c], K, K)
            for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
                r, k = design.row[entry], design.across[entry]
                s, t = design.row_system[entry], design.across_system[entry]
                value = every(design.value[entry]) * get(Y, (r, k))
                add(F, (c, s, t), value)
                if r != k:
                    add(F, (c, t, s), value)
            product(M[c], F[c], False, half)
            product(half, M[c], True, small)
            for s in range(K):
                for t in range(K):
                    value = every(design.levels[c] * design.replication[c, t]) * get(M, (c, s, t))
                    add(total, (s, t), value - get(small, (s, t)))
        for t in range(q):
            value = zero
            for r in range(K):
                for c in range(K):
                    if patterns[t % h, r, c] != 0.0:
                        block = get(blocks, (r, c)) if t < h else get(total, (r, c))
                        value = fma(every(patterns[t % h, r, c]), block, value)
            put(here, (t,), value)  # the variances are not needed any more
            for j in range(K + 1):
                for k in range(K + 1):
                    put(products, (t, j, k), zero)
        level_products(vectors, group, seen, 0, outer_part, products)
        level_products(vectors, group, seen_inner, h, inner_part, products)

        one = h if is_last else rows
        effects_of(
            vectors, group, seen[K:], seen_inner[K:], outer_part[:1], inner_part[:1], effect[:one], e[:one]
        )
        met_with(one, K, V, M, meet[:one], Go, design, effect[: 2 * one], turned[:one], e[:one], line, working)
        for s in range(q):
            for t in range(q):
                value = get(working, (s, t))
                for j in range(K):
                    pulled = zero
                    for k in range(K):
                        pulled = fma(get(precise, (j, k)), get(products, (t, K, k)), pulled)
                    value = fma(zero - get(products, (s, K, j)), pulled, value)
                put(squares, (s, t), value)
        for lane in range(size):
            b = begin + lane
            log_det[b] = logs[0, lane]
            for j in range(K):
                beta[j, b] = means[j, lane]
                for k in range(K):
                    phi[j, k, b] = precise[j, k, lane]
            for t in range(q):
                trace[t, b], square[t, b] = here[t, lane], products[t, K, K, lane]
                for j in range(K):
                    for k in range(K):
                        xgx[t, j, k, b] = products[t, j, k, lane]
                for s in range(q):
                    quadratic[s, t, b] = squares[s, t, lane]
        put(sums, (0,), rest)
        for lane in range(size):
            left[begin + lane] = sums[0, lane]
        if is_last:
            effects_of(
                vectors, group, seen[:K], seen_inner[:K], outer_part[:K], inner_part[:K], effect[:rows], e
            )
            met_with(rows, K, V, M, meet, Go, design, effect, turned, e, line, working)
            norms(design, patterns, vectors, group, M, F, V, Go, B, E, Y, hidden, squares)
            for lane in range(size):
                b = begin + lane
                for s in range(q):
                    for t in range(q):
                        norm[s, t, b] = squares[s, t, lane]
                        for j in range(K):
                            for k in range(K):
                                xggx[s, t, j, k, b] = working[s * K + j, t * K + k, lane]
