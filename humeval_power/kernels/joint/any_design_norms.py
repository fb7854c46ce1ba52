"""tr(H^-1 G_s H^-1 G_t) of all variances of tables of any design, in the notation and the lanes of `any_design`: by
pairs of inner levels, or by dense matrices where these are many."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner
from humeval_power.kernels.lane_matrices import (
    add,
    add_row_products,
    cleared,
    dot,
    mirrored,
    sandwiched,
)
from humeval_power.kernels.lanes import LANES, every, fma, get, put


@inner
def met_through(design, counts, blocks, sign, out):
    """out += sign sum_i C_i'B_c C_i for symmetric blocks B (kinds, K, K), the lower triangle."""
    if len(design.levels) == len(design.kind):  # cell by cell: entries of one level share nothing
        for i in range(len(design.kind)):
            c = design.kind[i]
            for p in range(design.begin[i], design.begin[i + 1]):
                s, row, value = design.system[p], design.column[p], every(sign) * get(counts.times, (p,))
                for o in range(design.begin[i], p + 1):
                    at = (row, design.column[o])
                    both = value * get(counts.times, (o,))
                    put(out, at, fma(get(blocks, (c, s, design.system[o])), both, get(out, at)))
        return
    K, N = blocks.shape[1], len(out)
    for c in range(len(design.levels)):
        for row in range(N):
            for t in range(K):
                block, group = every(sign) * get(blocks, (c, row % K, t)), (c * N + row) * K + t
                for entry in range(design.entry_begin[group], design.entry_begin[group + 1]):
                    at = (row, design.across[entry])
                    put(out, at, fma(block, every(design.value[entry]), get(out, at)))


@inner
def gathered(design, counts, Y, F):
    """Fill F (kinds, K, K), the sums of C_i Y C_i' of each kind, by the lower triangle of Y."""
    kinds, K, N = len(F), F.shape[1], len(Y)
    half = np.empty((K, K, LANES))
    is_apart = kinds == len(design.kind)
    for number in range(kinds):
        cleared(half, K, K)
        c = design.kind[number] if is_apart else number
        cleared(F[c], K, K)
        if is_apart:
            for p in range(design.begin[number], design.begin[number + 1]):
                s, row, value = design.system[p], design.column[p], get(counts.times, (p,))
                for o in range(design.begin[number], p):
                    t = design.system[o]
                    both = value * get(counts.times, (o,))
                    put(half, (s, t), fma(both, get(Y, (row, design.column[o])), get(half, (s, t))))
                put(F, (c, s, s), fma(value * value, get(Y, (row, row)), get(F, (c, s, s))))
        else:
            for row in range(N):
                s = row % K
                for t in range(K):
                    group, value = (c * N + row) * K + t, every(0.0)
                    for entry in range(design.entry_begin[group], design.entry_begin[group + 1]):
                        each = get(Y, (row, design.across[entry]))
                        if design.across[entry] == row:
                            add(F, (c, s, s), every(design.value[entry]) * each)
                        else:
                            value = fma(every(design.value[entry]), each, value)
                    add(half, (s, t), value)
        for s in range(K):
            for t in range(K):
                add(F, (c, s, t), get(half, (s, t)) + get(half, (t, s)))


@inner
def by_shares(rows, at, sign, out):
    """Every block of K columns of some rows, times Go and a sign."""
    K, shared, side = len(at.own), get(at.shared, (0,)), every(sign)
    for r in range(len(rows)):
        for first in range(0, rows.shape[1], K):
            value = every(0.0)
            for s in range(K):
                value = value + get(rows, (r, first + s))
            value = shared * value
            for s in range(K):
                place = (r, first + s)
                put(out, place, side * fma(get(at.own, (s,)), get(rows, place), value))


@inner
def hidden_of(at, kind, total, back, less):
    """M F M' of a kind into `less` (K, K); total and back (K,) are room."""
    K = len(total)
    q = every(0.0)
    for s in range(K):
        value = every(0.0)
        for t in range(K):
            value = fma(get(at.F, (kind, s, t)), get(at.d, (kind, t)), value)
        put(total, (s,), value)
        q = fma(value, get(at.d, (kind, s)), q)
    for s in range(K):  # half of what f takes from both sides, for each
        half = every(0.5) * q * get(at.f, (kind, s))
        put(back, (s,), half - get(total, (s,)) * get(at.d, (kind, s)))
    for s in range(K):
        for t in range(K):
            value = get(at.d, (kind, s)) * get(at.d, (kind, t)) * get(at.F, (kind, s, t))
            value = fma(get(at.f, (kind, s)), get(back, (t,)), value)
            put(less, (s, t), fma(get(back, (s,)), get(at.f, (kind, t)), value))


@inner
def levels_are_few(design, h):
    """Whether `through_levels` takes less products than `through_matrices`."""
    N, K, n_inner, cells = (
        len(design.load),
        design.replication.shape[1],
        len(design.kind),
        len(design.column),
    )
    pairs = n_inner * (n_inner + 1) / 2
    return pairs * (K * cells / n_inner + 6 * K**2) + N * (cells + 5 * n_inner * K) < h * N**3


@inner
def add_squared_forms(vectors, block, part, out):
    """out (vectors, vectors) += (u'block v)^2; `part` (K,) is room."""
    n_vectors, K = vectors.shape
    zero = every(0.0)
    for o in range(n_vectors):
        for t in range(K):
            value = zero
            for s in range(K):
                value = fma(every(vectors[o, s]), get(block, (s, t)), value)
            put(part, (t,), value)
        for v in range(n_vectors):
            value = zero
            for t in range(K):
                value = fma(every(vectors[v, t]), get(part, (t,)), value)
            put(out, (o, v), fma(value, value, get(out, (o, v))))


@inner
def add_square(out, row, column, value):
    """out[row, column] += value^2."""
    put(out, (row, column), fma(value, value, get(out, (row, column))))


@inner
def take_shared(here, sides, f, kind, rest, first, is_squared, block, rows, out):
    """Four columns from `first` of X - f 1'X into those of `block` (K, K), of which X is `here` (K, 4) and 1'X
    `sides`, zero beyond the last; their sums are added to `rows` (K,), and if `is_squared` the squares of all, and
    of the sums of columns, to `out`. The sum of all."""
    K = len(here)
    u, v, w = min(first + 1, K - 1), min(first + 2, K - 1), min(first + 3, K - 1)
    p0, p1, p2, p3 = sides
    for s in range(K):
        share = every(0.0) - get(f, (kind, s))
        c0, c1 = fma(share, p0, get(here, (s, 0))), fma(share, p1, get(here, (s, 1)))
        c2, c3 = fma(share, p2, get(here, (s, 2))), fma(share, p3, get(here, (s, 3)))
        put(rows, (s,), get(rows, (s,)) + ((c0 + c1) + (c2 + c3)))
        if len(block):
            put(block, (s, w), c3)  # what is beyond the last column is written over
            put(block, (s, v), c2)
            put(block, (s, u), c1)
            put(block, (s, first), c0)
        if is_squared:
            add_square(out, 1 + s, 1 + first, c0)
            add_square(out, 1 + s, 1 + u, c1)
            add_square(out, 1 + s, 1 + v, c2)
            add_square(out, 1 + s, 1 + w, c3)
    left = get(rest, (kind,))
    p0, p1, p2, p3 = left * p0, left * p1, left * p2, left * p3
    if is_squared:
        add_square(out, 0, 1 + first, p0)
        add_square(out, 0, 1 + u, p1)
        add_square(out, 0, 1 + v, p2)
        add_square(out, 0, 1 + w, p3)
    return (p0 + p1) + (p2 + p3)


@inner
def through_levels(design, counts, vectors, group, at, norm):
    """Fill tr(H^-1 G_s H^-1 G_t) of outer s and inner t, and those of two inner ones but for what they share in a
    level, of `norm` (q, q) which is zero there; Y is overwritten.

    With u and v of the vectors of s and t, they are sums of squares of v'M_i C_i B'u of each outer level, and of
    u'M_i C_i Go B C_j'M_j'v of each pair of inner ones. All entries of a pattern off its diagonal are one number:
    Gi = c + diag(g) for some c and g, Go likewise, and M_i = diag(d) - f d' with d = 1 / (1 + N_i g) and
    f = c N_i d / (1 + c sum N_i d). For many inner levels `through_matrices` is faster.
    """
    n_vectors, K = vectors.shape
    is_squared = n_vectors == K + 1  # what all share, then each system
    N, n_inner, h = len(at.V), len(design.kind), group[-1] + 1
    zero, one, reach = every(0.0), every(1.0), at.Y  # B'
    own, part, d, f, rest, shared = at.own, np.empty((K, LANES)), at.d, at.f, at.rest, get(at.shared, (0,))
    for first in range(0, N, K):
        for c in range(N):
            value = zero
            for t in range(K):
                value = value + get(at.V, (first + t, c))
            value = shared * value
            for s in range(K):
                put(reach, (first + s, c), zero - fma(get(own, (s,)), get(at.V, (first + s, c)), value))
    for c in range(N):
        add(reach, (c, c), one)
    cells = len(design.column)
    column, weight = np.empty(cells, dtype=np.int64), np.empty((cells, LANES))
    order_begin = np.zeros(n_inner * K + 1, dtype=np.int64)
    place = 0
    for i in range(n_inner):
        for s in range(K):
            for p in range(design.begin[i], design.begin[i + 1]):
                if design.system[p] == s:
                    column[place] = design.column[p]
                    put(weight, (place,), get(d, (design.kind[i], s)) * get(counts.times, (p,)))
                    place += 1
            order_begin[i * K + s + 1] = place
    sums, far = np.empty((K, N, LANES)), np.empty((N, K, LANES))
    here, block, none = np.empty((K, 4, LANES)), np.empty((K, K, LANES)), np.empty((0, K, LANES))
    shape = (n_vectors, n_vectors, LANES)
    outer, both, same = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for j in range(n_inner):
        kind = design.kind[j]
        for s in range(K):
            level = j * K + s
            for c in range(0, N, 4):
                u, v, w = min(c + 1, N - 1), min(c + 2, N - 1), min(c + 3, N - 1)
                c0, c1, c2, c3 = zero, zero, zero, zero
                for place in range(order_begin[level], order_begin[level + 1]):
                    r, count = column[place], get(weight, (place,))
                    c0, c1 = fma(count, get(reach, (r, c)), c0), fma(count, get(reach, (r, u)), c1)
                    c2, c3 = fma(count, get(reach, (r, v)), c2), fma(count, get(reach, (r, w)), c3)
                put(sums, (s, c), c0)
                put(sums, (s, u), c1)
                put(sums, (s, v), c2)
                put(sums, (s, w), c3)
        for first in range(0, N, K):
            total = zero
            for s in range(K):
                put(part, (s,), zero)
            for t in range(0, K, 4):
                p0, p1, p2, p3 = zero, zero, zero, zero
                for s in range(K):
                    for c in range(4):
                        put(here, (s, c), get(sums, (s, first + t + c)) if t + c < K else zero)
                    p0, p1 = p0 + get(here, (s, 0)), p1 + get(here, (s, 1))
                    p2, p3 = p2 + get(here, (s, 2)), p3 + get(here, (s, 3))
                sides = (p0, p1, p2, p3)
                total = total + take_shared(here, sides, f, kind, rest, t, is_squared, block, part, outer)
            for s in range(K):
                value = get(part, (s,))
                if is_squared:
                    add_square(outer, 1 + s, 0, value)
                for t in range(K):
                    put(far, (first + t, s), fma(get(own, (t,)), get(block, (s, t)), shared * value))
            if is_squared:
                add_square(outer, 0, 0, total)
            else:
                add_squared_forms(vectors, block, part, outer)
        for i in range(j + 1):
            kind, total = design.kind[i], zero
            squares = both if i < j else same
            for s in range(K):
                put(part, (s,), zero)
            for t in range(0, K, 4):
                u, v, w = min(t + 1, K - 1), min(t + 2, K - 1), min(t + 3, K - 1)
                in1, in2, in3 = (
                    every(1.0 if t + 1 < K else 0.0),
                    every(1.0 if t + 2 < K else 0.0),
                    every(1.0 if t + 3 < K else 0.0),
                )
                p0, p1, p2, p3 = zero, zero, zero, zero
                for s in range(K):
                    level = i * K + s
                    c0, c1, c2, c3 = zero, zero, zero, zero
                    for place in range(order_begin[level], order_begin[level + 1]):
                        r, count = column[place], get(weight, (place,))
                        c0, c1 = fma(count, get(far, (r, t)), c0), fma(count, get(far, (r, u)), c1)
                        c2, c3 = fma(count, get(far, (r, v)), c2), fma(count, get(far, (r, w)), c3)
                    c1, c2, c3 = in1 * c1, in2 * c2, in3 * c3
                    p0, p1, p2, p3 = p0 + c0, p1 + c1, p2 + c2, p3 + c3
                    put(here, (s, 0), c0)
                    put(here, (s, 1), c1)
                    put(here, (s, 2), c2)
                    put(here, (s, 3), c3)
                left, sides = none if is_squared else block, (p0, p1, p2, p3)
                total = total + take_shared(here, sides, f, kind, rest, t, is_squared, left, part, squares)
            if is_squared:
                for s in range(K):
                    add_square(squares, 1 + s, 0, get(part, (s,)))
                add_square(squares, 0, 0, total)
            else:
                add_squared_forms(vectors, block, part, squares)
    for o in range(n_vectors):
        for v in range(n_vectors):
            add(norm, (group[o], h + group[v]), get(outer, (v, o)))
            add(norm, (h + group[v], group[o]), get(outer, (v, o)))
            value = get(same, (o, v)) + (get(both, (o, v)) + get(both, (v, o)))
            add(norm, (h + group[o], h + group[v]), value)


@inner
def through_matrices(design, counts, patterns, at, B, E, hidden, norm):
    """Fill what `through_levels` does by X = B E_t, where E_t = sum_i C_i'M_i'D_t M_i C_i, and `hidden` (h, N, N),
    Go X; B and E are room."""
    h, K = patterns.shape[:2]
    N, kinds, X = len(at.V), len(design.levels), at.Y
    zero = every(0.0)
    by_shares(at.V, at, -1.0, B)
    for r in range(N):
        add(B, (r, r), every(1.0))
    shape, half, small = (
        np.empty((kinds, K, K, LANES)),
        np.empty((K, K, LANES)),
        np.empty((K, K, LANES)),
    )
    for v in range(h):
        for c in range(kinds):
            sandwiched(at.M[c], patterns[v], at.M[c], half, shape[c])
        cleared(E, N, N)
        met_through(design, counts, shape, 1.0, E)
        mirrored(E)
        cleared(X, N, N)
        add_row_products(B, E, 0, N, 1, 0, N, 0, N, X)
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
            for c in range(N):
                value = zero
                for t in range(K):
                    value = value + get(X, (first + t, c))
                value = get(at.shared, (0,)) * value
                for s in range(K):
                    put(hidden, (v, first + s, c), fma(get(at.own, (s,)), get(X, (first + s, c)), value))
        for c in range(N):
            for r in range(N):
                put(E, (c, r), get(hidden, (v, r, c)))
        for s in range(v + 1):
            value = zero
            for r in range(N):
                value = value + dot(hidden[s], r, E, r)
            put(norm, (h + v, h + s), value)
            put(norm, (h + s, h + v), value)


@inner
def norms(design, counts, patterns, vectors, group, at, B, E, hidden, norm):
    """tr(H^-1 G_s H^-1 G_t) of the random effects into `norm` (q, q); B, E and hidden are room, empty if levels are
    few, and Y is overwritten."""
    n_vectors, K = vectors.shape
    N, h = len(at.V), group[-1] + 1
    zero = every(0.0)
    cleared(norm, 2 * h, 2 * h)
    block, part = np.empty((K, K, LANES)), np.empty((K, LANES))
    both, same = np.zeros((n_vectors, n_vectors, LANES)), np.zeros((n_vectors, n_vectors, LANES))
    for first in range(0, N, K):
        for other in range(0, first + K, K):
            squares = both if other < first else same
            if n_vectors == K + 1:  # what all share, then each system
                total = zero
                for t in range(K):
                    put(part, (t,), zero)
                for s in range(K):
                    row = zero
                    for t in range(K):
                        value = get(at.V, (first + s, other + t))
                        row = row + value
                        put(part, (t,), get(part, (t,)) + value)
                        add_square(squares, 1 + s, 1 + t, value)
                    add_square(squares, 1 + s, 0, row)
                    total = total + row
                for t in range(K):
                    add_square(squares, 0, 1 + t, get(part, (t,)))
                add_square(squares, 0, 0, total)
            else:
                for s in range(K):
                    for t in range(K):
                        put(block, (s, t), get(at.V, (first + s, other + t)))
                add_squared_forms(vectors, block, part, squares)
    for o in range(n_vectors):
        for v in range(n_vectors):
            value = get(same, (o, v)) + (get(both, (o, v)) + get(both, (v, o)))
            add(norm, (group[o], group[v]), value)
    if len(B):
        through_matrices(design, counts, patterns, at, B, E, hidden, norm)
    else:
        through_levels(design, counts, vectors, group, at, norm)
    own, less, sums = np.empty((K, K, LANES)), np.empty((K, K, LANES)), np.empty((K, LANES))
    across, back = np.empty((1, K, LANES)), np.empty((1, K, LANES))
    for kind in range(len(at.M)):
        hidden_of(at, kind, part, sums, less)
        for s in range(K):
            for t in range(K):
                value = get(at.M, (kind, s, t)) * get(counts.replication, (kind, t))
                put(own, (s, t), value)
                put(less, (s, t), every(design.levels[kind]) * value - every(2.0) * get(less, (s, t)))
        for v in range(n_vectors):
            for s in range(K):
                to, fro = zero, zero
                for t in range(K):
                    if vectors[v, t] != 0.0:
                        to = fma(every(vectors[v, t]), get(own, (s, t)), to)
                        fro = fma(every(vectors[v, t]), get(less, (t, s)), fro)
                put(across, (0, s), to)
                put(back, (0, s), fro)
            for o in range(n_vectors):
                to, fro = zero, zero
                for s in range(K):
                    if vectors[o, s] != 0.0:
                        to = fma(every(vectors[o, s]), get(across, (0, s)), to)
                        fro = fma(every(vectors[o, s]), get(back, (0, s)), fro)
                add(norm, (h + group[v], h + group[o]), to * fro)
