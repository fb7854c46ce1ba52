"""tr(H^-1 G_s H^-1 G_t) of all variances of tables of any design, in the notation and the lanes of `any_design`: by
pairs of inner levels, or by dense matrices where these are many."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner
from humeval_power.kernels.lane_matrices import (
    add,
    by_block,
    cleared,
    dot,
    mirrored,
    product,
    sandwiched,
    tiled_product,
)
from humeval_power.kernels.lanes import LANES, every, fma, get, put


@inner
def met_through(design, counts, blocks, sign, out):
    """out += sign sum_i C_i'B_c C_i for symmetric blocks B (kinds, K, K), the lower triangle."""
    for c in range(len(design.levels)):
        for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
            block = get(blocks, (c, design.row_system[entry], design.across_system[entry]))
            at = (design.row[entry], design.across[entry])
            value = every(sign) * get(counts.value, (entry,))
            put(out, at, fma(block, value, get(out, at)))


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
def in_shares(patterns, gamma, first, each):
    """What all entries of sum_t gamma_(first + t) D_t share, and into `each` (K,) what its diagonal has beyond."""
    shared = every(0.0)
    for s in range(len(each)):
        value, other = every(0.0), (s + 1) % len(each)
        for v in range(len(patterns)):
            here = get(gamma, (first + v,))
            value = fma(here, every(patterns[v, s, s] - patterns[v, s, other]), value)
            if s == 0:
                shared = fma(here, every(patterns[v, 0, other]), shared)
        put(each, (s,), value)
    return shared


@inner
def add_squared_forms(vectors, block, part, out):
    """out (vectors, vectors) += (u'block v)^2; `part` (K,) is room."""
    n_vectors, K = vectors.shape
    zero = every(0.0)
    if n_vectors == K + 1:  # what all share, then each system
        total = zero
        for t in range(K):
            put(part, (t,), zero)
        for s in range(K):
            row = zero
            for t in range(K):
                value = get(block, (s, t))
                row = row + value
                put(part, (t,), get(part, (t,)) + value)
                put(out, (1 + s, 1 + t), fma(value, value, get(out, (1 + s, 1 + t))))
            put(out, (1 + s, 0), fma(row, row, get(out, (1 + s, 0))))
            total = total + row
        for t in range(K):
            value = get(part, (t,))
            put(out, (0, 1 + t), fma(value, value, get(out, (0, 1 + t))))
        put(out, (0, 0), fma(total, total, get(out, (0, 0))))
        return
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
def through_levels(design, counts, patterns, vectors, group, gamma, at, norm):
    """Fill tr(H^-1 G_s H^-1 G_t) of outer s and inner t, and those of two inner ones but for what they share in a
    level, of `norm` (q, q) which is zero there; Y is overwritten.

    With u and v of the vectors of s and t, they are sums of squares of u'B C_i'M_i'v of each outer level, and of
    u'M_i C_i Go B C_j'M_j'v of each pair of inner ones. All entries of a pattern off its diagonal are one number:
    Gi = c + diag(g) for some c and g, Go likewise, and M_i = diag(d) - f d' with d = 1 / (1 + N_i g) and
    f = c N_i d / (1 + c sum N_i d). For many inner levels `through_matrices` is faster.
    """
    n_vectors, K = vectors.shape
    N, n_inner, h, kinds = len(at.V), len(design.kind), group[-1] + 1, len(at.M)
    zero, one, reach = every(0.0), every(1.0), at.Y  # B'
    own, part = np.empty((K, LANES)), np.empty((K, LANES))
    shared = in_shares(patterns, gamma, h, own)
    d, f = np.empty((kinds, K, LANES)), np.empty((kinds, K, LANES))
    for kind in range(kinds):
        value = one
        for s in range(K):
            count = get(counts.replication, (kind, s))
            put(d, (kind, s), one / fma(count, get(own, (s,)), one))
            put(f, (kind, s), shared * count * get(d, (kind, s)))
            value = value + get(f, (kind, s))
        for s in range(K):
            put(f, (kind, s), get(f, (kind, s)) / value)
    shared = in_shares(patterns, gamma, 0, own)
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
    order, order_begin = (
        np.empty(len(design.column), dtype=np.int64),
        np.zeros(n_inner * K + 1, dtype=np.int64),
    )
    place = 0
    for i in range(n_inner):
        for s in range(K):
            for p in range(design.begin[i], design.begin[i + 1]):
                if design.system[p] == s:
                    order[place] = p
                    place += 1
            order_begin[i * K + s + 1] = place
    sums, far = np.empty((K, N, LANES)), np.empty((N, K, LANES))
    here, block = np.empty((K, K, LANES)), np.empty((K, K, LANES))
    shape = (n_vectors, n_vectors, LANES)
    outer, both, same = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for j in range(n_inner):
        kind = design.kind[j]
        cleared(sums, K, N)
        for p in range(design.begin[j], design.begin[j + 1]):
            s, column, count = design.system[p], design.column[p], get(counts.times, (p,))
            for c in range(N):
                put(sums, (s, c), fma(count, get(reach, (column, c)), get(sums, (s, c))))
        for first in range(0, N, K):
            for t in range(K):
                put(part, (t,), zero)
            for s in range(K):
                value = zero
                for t in range(K):
                    value = fma(get(d, (kind, t)), get(sums, (t, first + s)), value)  # M = diag(d) - f d'
                for t in range(K):
                    other = get(d, (kind, t)) * get(sums, (t, first + s)) - get(f, (kind, t)) * value
                    put(block, (s, t), other)
                    put(part, (t,), get(part, (t,)) + other)
            for s in range(K):
                for t in range(K):
                    value = get(own, (s,)) * get(block, (s, t))
                    put(far, (first + s, t), fma(shared, get(part, (t,)), value))
            add_squared_forms(vectors, block, part, outer)
        for i in range(j + 1):
            kind = design.kind[i]
            for t in range(K):
                put(part, (t,), zero)
            for s in range(K):
                level, share = i * K + s, get(d, (kind, s))
                for t in range(0, K, 4):
                    u, v, w = min(t + 1, K - 1), min(t + 2, K - 1), min(t + 3, K - 1)
                    c0, c1, c2, c3 = zero, zero, zero, zero
                    for place in range(order_begin[level], order_begin[level + 1]):
                        p = order[place]
                        column, count = design.column[p], share * get(counts.times, (p,))
                        c0, c1 = (
                            fma(count, get(far, (column, t)), c0),
                            fma(count, get(far, (column, u)), c1),
                        )
                        c2, c3 = (
                            fma(count, get(far, (column, v)), c2),
                            fma(count, get(far, (column, w)), c3),
                        )
                    put(here, (s, t), c0)
                    put(here, (s, u), c1)
                    put(here, (s, v), c2)
                    put(here, (s, w), c3)
                for t in range(K):
                    add(part, (t,), get(here, (s, t)))
            for s in range(K):
                share = zero - get(f, (kind, s))
                for t in range(K):
                    put(block, (s, t), fma(share, get(part, (t,)), get(here, (s, t))))
            add_squared_forms(vectors, block, part, both if i < j else same)
    for o in range(n_vectors):
        for v in range(n_vectors):
            add(norm, (group[o], h + group[v]), get(outer, (o, v)))
            add(norm, (h + group[v], group[o]), get(outer, (o, v)))
            value = get(same, (o, v)) + (get(both, (o, v)) + get(both, (v, o)))
            add(norm, (h + group[o], h + group[v]), value)


@inner
def through_matrices(design, counts, patterns, at, B, E, hidden, norm):
    """Fill what `through_levels` does by X = B E_t, where E_t = sum_i C_i'M_i'D_t M_i C_i, and `hidden` (h, N, N),
    Go X; B and E are room."""
    h, K = patterns.shape[:2]
    N, kinds, X = len(at.V), len(design.levels), at.Y
    zero = every(0.0)
    by_block(at.V, at.Go, B)
    for r in range(N):
        for c in range(N):
            put(B, (r, c), every(1.0 if r == c else 0.0) - get(B, (r, c)))
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
        tiled_product(B, E, X)
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
                        value = fma(get(at.Go, (s, t)), get(X, (first + t, c)), value)
                    put(hidden, (v, first + s, c), value)
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
def norms(design, counts, patterns, vectors, group, gamma, at, B, E, hidden, norm):
    """tr(H^-1 G_s H^-1 G_t) of the random effects into `norm` (q, q); B, E and hidden are room, empty if levels are
    few, and Y is overwritten."""
    n_vectors, K = vectors.shape
    N, h = len(at.V), group[-1] + 1
    zero = every(0.0)
    cleared(norm, 2 * h, 2 * h)
    part = np.empty((1, N, LANES))
    for v in range(n_vectors):
        for w in range(0, N, K):
            for c in range(N):
                value = zero
                for s in range(K):
                    if vectors[v, s] != 0.0:
                        value = fma(every(vectors[v, s]), get(at.V, (w + s, c)), value)
                put(part, (0, c), value)
            for o in range(n_vectors):
                total = zero
                for c in range(0, N, K):
                    value = zero
                    for t in range(K):
                        if vectors[o, t] != 0.0:
                            value = fma(every(vectors[o, t]), get(part, (0, c + t)), value)
                    total = fma(value, value, total)
                add(norm, (group[v], group[o]), total)
    if len(B):
        through_matrices(design, counts, patterns, at, B, E, hidden, norm)
    else:
        through_levels(design, counts, patterns, vectors, group, gamma, at, norm)
    own, less, half = np.empty((K, K, LANES)), np.empty((K, K, LANES)), np.empty((K, K, LANES))
    across, back = np.empty((1, K, LANES)), np.empty((1, K, LANES))
    for kind in range(len(at.M)):
        product(at.M[kind], at.F[kind], False, half)
        product(half, at.M[kind], True, less)
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
