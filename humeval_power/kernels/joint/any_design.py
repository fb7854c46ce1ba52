"""Tables of any design, eight at once, fitted by REML: who rates which systems of an item is free.

Outer levels (m) and systems (K) span dense matrices of order N = m K, levels first; inner levels are eliminated.
What a level gives the systems has covariance Go or Gi (K, K), a sum of variances times patterns D_t, which are sums
of outer products of vectors. With C_i (K, N) the ratings of an inner level and N_i those of each system on a
diagonal,

    M_i = (I + N_i Gi)^-1,   W_i = Gi M_i,   A = Zo'H_i^-1 Zo = diag(load) - sum_i C_i'W_i C_i
    V = (A^-1 + I x Go)^-1,  B = I - V Go,   Y = Go B

make up Zo'H^-1 Zo = V, Zo'H^-1 Zi = B C_i'M_i' and Zi'H^-1 Zj = M_i N_i - M_i C_i Y C_j'M_j'. V comes out of A by
one outer level after the other, each of which takes U Go (I + S Go)^-1 U' away; U are its columns and S is its own
block: no root of Go is taken, and a variance of zero is like any other. Inner levels with as many ratings of each
system are of one kind c: they share M and W, and meet in the sum E_c of their C_i'C_i, the entries of which are
listed. The search is that of `reml`, but that its first step is one of Fisher's scoring, which would arrive if all
were balanced, and that it learns from how slopes change what average information lacks of the curvature. The first
point, which is the same for all tables, is factorised once.

Eight tables stand side by side in lanes, which all arrays have behind their other axes; shapes leave them out.
Tables may lack some ratings of the design, each others: every inner level is a kind of its own then. One without a
rating has M = I and meets nobody, an outer one has a load of zero, and neither adds anything to the likelihood.
A lane knows nothing of its neighbours: a table alone has the bytes that it has among others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed.reml import (
    CONVERGED,
    LARGEST,
    NO_RESIDUAL,
    STALLED,
    TOO_MANY_STEPS,
    newton_direction,
)
from humeval_power.kernels.joint.any_design_effects import (
    effects_room,
    level_products,
    through_patterns,
)
from humeval_power.kernels.joint.any_design_norms import (
    by_shares,
    gathered,
    hidden_of,
    levels_are_few,
    met_through,
    norms,
)
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.lane_matrices import (
    add,
    add_log,
    add_lower_products,
    add_row_products,
    cleared,
    inverted,
    mirrored,
)
from humeval_power.kernels.lanes import LANES, every, fma, get, lesser, put

Floats = NDArray[np.float64]

FLAT = 1e-8  # of the curvature that a variance has if the residual is held
NEAR = 0.05  # a promised fall from which on average information is corrected by how slopes change
TOGETHER = 8  # columns of outer levels that are taken away at once, about
MANY = 100  # columns from which twice as many are: a matrix so large goes through the cache each time


class Counts(NamedTuple):
    """Ratings of eight tables in the names of `DesignArrays`: load (N,), times (cells,), replication (kinds, K)."""

    load: Floats
    times: Floats
    replication: Floats


class LanesFactor(NamedTuple):
    """H at one gamma: shared and own, of Go = shared (0) + diag(own); M = diag(d) - f d' and W of each kind; V; the
    sums F_c of C_i Y C_i' of each kind; tr(H^-1 G_t); and the log determinant (1,). rest is 1 - 1'f; Y is room."""

    shared: Floats
    own: Floats
    d: Floats
    f: Floats
    rest: Floats
    M: Floats
    W: Floats
    V: Floats
    F: Floats
    Y: Floats
    trace: Floats
    log_det: Floats


@inner
def in_shares(patterns, gamma, first, own):
    """What all entries of sum_t gamma_(first + t) D_t share, and into `own` (K,) what its diagonal has beyond: all
    entries of a pattern off its diagonal are one number."""
    shared = every(0.0)
    for s in range(len(own)):
        value, other = every(0.0), (s + 1) % len(own)
        for v in range(len(patterns)):
            here = get(gamma, (first + v,))
            value = fma(here, every(patterns[v, s, s] - patterns[v, s, other]), value)
            if s == 0:
                shared = fma(here, every(patterns[v, 0, other]), shared)
        put(own, (s,), value)
    return shared


@inner
def invert_inner(design, counts, patterns, gamma, at):
    """Fill d, f, M and W, and add the log determinants of 1 / M to that of the factor."""
    K, one = len(at.own), every(1.0)
    own = np.empty((K, LANES))
    shared = in_shares(patterns, gamma, len(patterns), own)
    for c in range(len(at.d)):
        det, least, whole = one, one, one
        for s in range(K):
            count = get(counts.replication, (c, s))
            pivot = fma(count, get(own, (s,)), one)
            det, least = det * pivot, lesser(least, pivot)
            put(at.d, (c, s), one / pivot)
            put(at.f, (c, s), shared * count * get(at.d, (c, s)))
            whole = whole + get(at.f, (c, s))
        add_log(at.log_det, design.levels[c], det * whole, lesser(least, whole))
        less = one / whole
        put(at.rest, (c,), less)
        for s in range(K):
            others = one
            for t in range(K):
                if t != s:
                    others = others + get(at.f, (c, t))
            pushed = shared * less * get(at.d, (c, s))
            for t in range(K):
                share, both = every(0.0) - get(at.f, (c, s)), pushed
                if s == t:
                    share, both = others, both + get(own, (s,))
                put(at.M, (c, s, t), share * less * get(at.d, (c, t)))
                put(at.W, (c, s, t), both * get(at.d, (c, t)))
        for s in range(K):
            put(at.f, (c, s), get(at.f, (c, s)) * less)


@inner
def taken_through(at):
    """Put the lower triangle of V in the place of that of A, and add log det(I + A Go) to that of the factor."""
    K, N, matrix = len(at.own), len(at.V), at.V
    most = K * max(1, (TOGETHER if N < MANY else 2 * TOGETHER) // K)
    U, kept, less = np.zeros((N, most, LANES)), np.empty((N, most, LANES)), np.empty((N, most, LANES))
    inverse = np.zeros((most, most, LANES))
    zero, one, shared = every(0.0), every(1.0), get(at.shared, (0,))
    for w in range(0, N, most):
        size = min(most, N - w)
        for k in range(size):
            for c in range(w + k + 1):
                put(U, (c, k), get(matrix, (w + k, c)))
        for c in range(w + 1, N):
            for k in range(min(size, c - w)):
                put(U, (c, k), get(matrix, (c, w + k)))
        for k in range(size, most):  # the last are fewer
            for c in range(N):
                put(U, (c, k), zero)
            for c in range(size):
                put(inverse, (c, k), zero)
        for r in range(size):
            for first in range(0, size, K):
                value = zero
                for t in range(K):
                    value = value + get(U, (w + r, first + t))
                value = shared * value
                for t in range(K):
                    share = fma(get(at.own, (t,)), get(U, (w + r, first + t)), value)
                    put(inverse, (r, first + t), share + one if r == first + t else share)
        det, least = inverted(inverse, size)
        add_log(at.log_det, 1.0, det, least)
        cleared(kept, N, most)
        add_row_products(U, inverse, 0, most, 1, 0, N, 0, size, kept)
        by_shares(kept, at, -1.0, less)
        add_lower_products(less, U, w, w + size, matrix)
        for k in range(size):
            for c in range(w + k + 1):
                put(matrix, (w + k, c), get(kept, (c, k)))
        for c in range(w + 1, N):
            for k in range(min(size, c - w)):
                put(matrix, (c, w + k), get(kept, (c, k)))


@inner
def factorise(design, counts, patterns, gamma, at):
    """Fill a factor at gamma (q,)."""
    h, K = patterns.shape[:2]
    N, kinds = len(at.V), len(design.levels)
    zero = every(0.0)
    less, total, blocks = np.empty((K, K, LANES)), np.empty((K, K, LANES)), np.empty((K, K, LANES))
    across, back = np.empty((K, LANES)), np.empty((K, LANES))
    shared = in_shares(patterns, gamma, 0, at.own)
    put(at.shared, (0,), shared)
    put(at.log_det, (0,), zero)
    invert_inner(design, counts, patterns, gamma, at)
    cleared(at.V, N, N)
    for r in range(N):
        put(at.V, (r, r), get(counts.load, (r,)))
    met_through(design, counts, at.W, -1.0, at.V)
    taken_through(at)
    cleared(total, K, K)
    cleared(blocks, K, K)
    for first in range(0, N, K):
        for t in range(K):
            for s in range(t):
                put(at.V, (first + s, first + t), get(at.V, (first + t, first + s)))
            for s in range(K):
                add(blocks, (s, t), get(at.V, (first + s, first + t)))
        for block in range(0, first + K, K):  # Go - Go V Go
            value = zero
            for t in range(K):
                each = zero
                for s in range(K):
                    each = each + get(at.V, (first + s, block + t))
                value = value + each
                put(across, (t,), each * get(at.own, (t,)))
            value = shared * value
            for t in range(K):
                put(across, (t,), zero - shared * (get(across, (t,)) + value))
            for s in range(K):
                value, own = zero, zero - get(at.own, (s,))
                for t in range(K):
                    value = value + get(at.V, (first + s, block + t))
                value = shared * value
                for t in range(K):
                    here = get(at.V, (first + s, block + t))
                    put(at.V, (block + t, first + s), here)
                    both = fma(own, fma(here, get(at.own, (t,)), value), get(across, (t,)))
                    if block == first:
                        both = both + shared
                        if s == t:
                            both = both - own
                    put(at.Y, (first + s, block + t), both)
    gathered(design, counts, at.Y, at.F)
    for c in range(kinds):
        hidden_of(at, c, across, back, less)
        for s in range(K):
            for t in range(K):
                value = every(design.levels[c]) * get(counts.replication, (c, t)) * get(at.M, (c, s, t))
                add(total, (s, t), value - get(less, (s, t)))
    for t in range(2 * h):
        value = zero
        for r in range(K):
            for c in range(K):
                if patterns[t % h, r, c] != 0.0:
                    block = get(blocks, (r, c)) if t < h else get(total, (r, c))
                    value = fma(every(patterns[t % h, r, c]), block, value)
        put(at.trace, (t,), value)


@inner
def profiled(design, counts, at, y_outer, y_inner, whole, through, seen, means, precise, log_det):
    """Fill `seen`, Zo'H^-1 of X and y, and `through`, Go seen, both (K + 1, N); the means and their phi; add to
    `log_det` that of X'H^-1X. y'Py."""
    K, N = len(means), len(at.V)
    zero = every(0.0)
    base, back = np.empty((1, N, LANES)), np.empty((1, N, LANES))
    pushed, xy = np.empty((K, LANES)), np.empty((K, LANES))
    left = whole
    for c in range(N):
        put(base, (0, c), get(y_outer, (c,)))
    for i in range(len(y_inner)):
        kind = design.kind[i]
        for s in range(K):
            value = zero
            for t in range(K):
                value = fma(get(at.W, (kind, s, t)), get(y_inner, (i, t)), value)
            put(pushed, (s,), value)
            left = left - value * get(y_inner, (i, s))
        for p in range(design.begin[i], design.begin[i + 1]):
            place, count = (0, design.column[p]), zero - get(counts.times, (p,))
            put(base, place, fma(count, get(pushed, (design.system[p],)), get(base, place)))
    by_shares(base, at, -1.0, back)
    for c in range(N):
        rest = get(base, (0, c))
        for t in range(K):  # X are sums of columns of outer levels
            value = zero
            for r in range(t, N, K):
                each = get(at.V, (c, r))
                value, rest = value + each, fma(each, get(back, (0, r)), rest)
            put(seen, (t, c), value)
        put(seen, (K, c), rest)
    by_shares(seen, at, 1.0, through)
    for c in range(N):
        left = fma(zero - get(base, (0, c)), get(through, (K, c)), left)
    for s in range(K):
        for j in range(K + 1):
            value = zero
            for c in range(s, N, K):
                value = value + get(seen, (j, c))
            if j < K:
                put(precise, (s, j), value)
            else:
                put(xy, (s,), value)
    det, least = inverted(precise, K)
    add_log(log_det, 1.0, det, least)
    for s in range(K):
        value = zero
        for t in range(K):
            value = fma(get(precise, (s, t)), get(xy, (t,)), value)
        put(means, (s,), value)
        left = left - value * get(xy, (s,))
    return left


@inner
def less_means(design, counts, at, y_inner, means, through, seen, seen_inner):
    """Take the means out of y; fill seen_inner (K + 1, inner levels K), Zi'H^-1 of X and of what is left of y."""
    K, N = len(means), seen.shape[1]
    zero = every(0.0)
    pushed = np.empty((K, K + 1, LANES))
    for j in range(K):
        share = zero - get(means, (j,))
        for c in range(N):
            put(seen, (K, c), fma(share, get(seen, (j, c)), get(seen, (K, c))))
            put(through, (K, c), fma(share, get(through, (j, c)), get(through, (K, c))))
    for i in range(len(y_inner)):
        kind = design.kind[i]
        for s in range(K):
            count = get(counts.replication, (kind, s))
            for j in range(K):
                put(pushed, (s, j), count if j == s else zero)
            put(pushed, (s, K), get(y_inner, (i, s)) - count * get(means, (s,)))
        for p in range(design.begin[i], design.begin[i + 1]):
            s, column, count = design.system[p], design.column[p], zero - get(counts.times, (p,))
            for j in range(K + 1):
                put(pushed, (s, j), fma(count, get(through, (j, column)), get(pushed, (s, j))))
        for j in range(K + 1):
            value = zero
            for t in range(K):
                value = fma(get(at.d, (kind, t)), get(pushed, (t, j)), value)
            for s in range(K):
                own = get(at.d, (kind, s)) * get(pushed, (s, j))
                put(seen_inner, (j, i * K + s), fma(zero - get(at.f, (kind, s)), value, own))


class Tables(NamedTuple):
    """Tables b, and what is known of them: no lanes here.

    y_outer (b, N), y_inner (b, inner levels, K), whole (b,) : sums of ratings by column and by inner level and
        system, and of their squares
    n (b,), times (b, cells) : ratings, and those of each cell of the design; (0, cells) if no table lacks any
    gamma (b, q) : where they are evaluated; the others are the fields of a fit there, but for rss, which is y'Py
        whether or not that is a fit
    log_det (b,) : of H and X'H^-1 X, NaN where there is none
    """

    y_outer: Floats
    y_inner: Floats
    whole: Floats
    n: Floats
    times: Floats
    log_det: Floats
    gamma: Floats
    beta: Floats
    phi: Floats
    rss: Floats
    trace: Floats
    quadratic: Floats
    square: Floats
    norm: Floats
    xgx: Floats
    xggx: Floats


@inner
def counted(design, times, chosen, counts):
    """Fill the counts of tables `chosen` (LANES,), or of the whole design if no table lacks a rating; every inner
    level is else a kind of its own, and the entries of one follow its cells."""
    if not len(times):
        for lane in range(LANES):
            counts.load[:, lane], counts.times[:, lane] = design.load, design.times
            counts.replication[:, :, lane] = design.replication
        return
    counts.load[:] = 0.0
    counts.replication[:] = 0.0
    for lane in range(LANES):
        for p in range(len(design.column)):
            counts.times[p, lane] = times[chosen[lane], p]
    for i in range(len(design.kind)):
        for p in range(design.begin[i], design.begin[i + 1]):
            each = get(counts.times, (p,))
            put(counts.load, (design.column[p],), get(counts.load, (design.column[p],)) + each)
            add(counts.replication, (i, design.system[p]), each)


class EvaluationRoom(NamedTuple):
    """Room for `evaluate`: of eight tables, what is found of them at one point, and what that takes."""

    here: Floats
    log_dets: Floats
    lefts: Floats
    outer_sums: Floats
    inner_sums: Floats
    through: Floats
    seen: Floats
    seen_inner: Floats
    means: Floats
    precise: Floats
    outer_part: Floats
    inner_part: Floats
    products: Floats
    squares: Floats
    working: Floats
    pairs: Floats
    B: Floats
    E: Floats
    hidden: Floats


@inner
def evaluation_room(design, patterns):
    """Room for all evaluations of one search: to ask for it each time costs more than some of its uses."""
    h, K = patterns.shape[:2]
    N, n_inner, q = len(design.load), len(design.kind), 2 * h
    many = 0 if levels_are_few(design, h) else N
    return EvaluationRoom(
        np.empty((q, LANES)), np.empty((1, LANES)), np.empty((1, LANES)), np.empty((N, LANES)),
        np.empty((n_inner, K, LANES)), np.empty((K + 1, N, LANES)), np.empty((K + 1, N, LANES)),
        np.empty((K + 1, n_inner * K, LANES)), np.empty((K, LANES)), np.empty((K, K, LANES)),
        np.empty((K + 1, N // K, LANES)), np.empty((K + 1, n_inner, LANES)),
        np.empty((q, K + 1, K + 1, LANES)), np.empty((q, q, LANES)), np.empty((q, q, LANES)),
        np.empty((q * K, q * K, LANES)), np.empty((many, many, LANES)), np.empty((many, many, LANES)),
        np.empty((h, many, many, LANES)),
    )  # fmt: skip


@inner
def evaluate(
    design, patterns, vectors, group, tables, place, is_last, counts, at, room, of_response, of_means
):  # fmt: skip
    """Fill the fields of some tables at their gamma, and if `is_last` norm and xggx; `counts`, `at` and room are
    overwritten, among it that for the effects of the response and of the means."""
    h, K = patterns.shape[:2]
    N, n_inner, q = len(design.load), len(design.kind), 2 * h
    here, log_dets, lefts, outer_sums, inner_sums, through, seen, seen_inner, means, precise = room[:10]
    outer_part, inner_part, products, squares, working, pairs, B, E, hidden = room[10:]
    chosen, pulled = np.empty(LANES, dtype=np.int64), np.empty((K, LANES))
    is_whole = len(tables.times) == 0
    for begin in range(0, len(place), LANES):
        size = min(LANES, len(place) - begin)
        is_new = begin == 0 or is_last or not is_whole  # the first point is the same for all tables
        for lane in range(LANES):
            b = place[begin + min(lane, size - 1)]  # the last table fills lanes that are over
            chosen[lane], lefts[0, lane] = b, tables.whole[b]
            for t in range(q):
                is_new = is_new or here[t, lane] != tables.gamma[b, t]
                here[t, lane] = tables.gamma[b, t]
            for c in range(N):
                outer_sums[c, lane] = tables.y_outer[b, c]
            for i in range(n_inner):
                for s in range(K):
                    inner_sums[i, s, lane] = tables.y_inner[b, i, s]
        if begin == 0 or not is_whole:
            counted(design, tables.times, chosen, counts)
        if is_new:
            factorise(design, counts, patterns, here, at)
        put(log_dets, (0,), get(at.log_det, (0,)))
        rest = profiled(
            design,
            counts,
            at,
            outer_sums,
            inner_sums,
            get(lefts, (0,)),
            through,
            seen,
            means,
            precise,
            log_dets,
        )
        put(lefts, (0,), rest)
        less_means(design, counts, at, inner_sums, means, through, seen, seen_inner)
        products[:] = 0.0
        level_products(vectors, group, seen, 0, outer_part, products)
        level_products(vectors, group, seen_inner, h, inner_part, products)
        through_patterns(design, counts, vectors, group, at, seen[K:], seen_inner[K:], of_response, working)
        for t in range(q):
            mirrored(products[t])
            for j in range(K):
                value = every(0.0)
                for k in range(K):
                    value = fma(get(precise, (j, k)), get(products, (t, K, k)), value)
                put(pulled, (j,), value)
            for s in range(q):
                value = get(working, (s, t))
                for j in range(K):
                    value = value - get(products, (s, K, j)) * get(pulled, (j,))
                put(squares, (s, t), value)
        for lane in range(size):
            b = place[begin + lane]
            tables.rss[b], tables.log_det[b] = lefts[0, lane], log_dets[0, lane]
            for j in range(K):
                tables.beta[b, j] = means[j, lane]
                for k in range(K):
                    tables.phi[b, j, k] = precise[j, k, lane]
            for t in range(q):
                tables.trace[b, t], tables.square[b, t] = at.trace[t, lane], products[t, K, K, lane]
                for j in range(K):
                    for k in range(K):
                        tables.xgx[b, t, j, k] = products[t, j, k, lane]
                for s in range(q):
                    tables.quadratic[b, s, t] = squares[s, t, lane]
        if is_last:
            through_patterns(design, counts, vectors, group, at, seen[:K], seen_inner[:K], of_means, pairs)
            norms(design, counts, patterns, vectors, group, at, B, E, hidden, squares)
            for s in range(q):
                for t in range(q):
                    for lane in range(size):
                        tables.norm[place[begin + lane], s, t] = squares[s, t, lane]
                    for j in range(K):
                        for k in range(K):
                            for lane in range(size):
                                value = pairs[s * K + j, t * K + k, lane]
                                tables.xggx[place[begin + lane], s, t, j, k] = value


@inner
def scoring_direction(information, gamma, slope, direction):
    """Put the way from gamma (q,) to where Fisher's scoring of all variances leads, the residual's among them, in
    the place of a direction; what would come out negative is held at zero, and the others know it.

    information : (q + 1, q + 1), tr(P G_s P G_t) with the residual last, near gamma
    """
    q = len(gamma)
    whole, free = np.zeros(q + 1), np.ones(q + 1, dtype=np.bool_)
    for t in range(q):
        whole[t] = slope[t]
        whole[q] -= gamma[t] * slope[t]
    change, is_within = np.empty(q + 1), False
    while not is_within:
        change, is_within = newton_direction(information, whole, free), True
        for t in range(q):
            if free[t] and gamma[t] + change[t] < 0.0:
                free[t] = is_within = False
                for s in range(q + 1):
                    whole[s] -= information[s, t] * gamma[t]
    if 1.0 + change[q] > 0.0:
        for t in range(q):
            there = (gamma[t] + change[t]) / (1.0 + change[q]) if free[t] else 0.0
            direction[t] = there - gamma[t]


@inner
def learned(hessian, moves, turns, lack):
    """Add to `lack` (q, q) the least that makes `turns` of `moves` by `hessian` and it, in the metric of the first
    (Dennis, Gay and Welsch 1981)."""
    q = len(moves)
    pulled, rest = np.zeros(q), turns.copy()
    size = across = apart = 0.0
    for t in range(q):
        apart += hessian[t, t] * moves[t] ** 2
        for v in range(q):
            pulled[t] += hessian[t, v] * moves[v]
            rest[t] -= (hessian[t, v] + lack[t, v]) * moves[v]
        size += pulled[t] * moves[t]
        across += rest[t] * moves[t]
    if size > FLAT * apart:  # else they teach rounding alone
        for t in range(q):
            for v in range(q):
                each = pulled[t] * rest[v] + rest[t] * pulled[v] - across / size * pulled[t] * pulled[v]
                lack[t, v] += each / size


@kernel
def fit_many(
    design, patterns, vectors, group, outer_level, inner_level, system, y, kept, start, information, tolerance,
    max_steps, status, tables,
):  # fmt: skip
    """Fit tables of one design by REML.

    patterns : (h, K, K), D_t, each the sum of outer products of those `vectors` (r, K) whose `group` (r,) is t
    y : (b, n), ratings whose codes are outer_level, inner_level and system; kept (b, n), those a table has;
        the others are 0; (0, n) if all have all; start (q,), outer variances first
    information : (q + 1, q + 1), tr(P G_s P G_t) at the start if no rating lacks, the residual last, for a first
        step by Fisher's scoring and others that learn; (0, 0) for steps by average information alone

    Fills `tables`. Where the status is not CONVERGED they mean nothing. Round by round, tables that have not
    arrived are evaluated side by side, as many as fill lanes; those whose next point is the last, if the falls that
    are promised go on to shrink as they do, also with what the precision of the means needs.
    """
    h, K = patterns.shape[:2]
    N, kinds, q, n = len(design.load), len(design.levels), 2 * h, len(status)
    blocks = (kinds, K, K, LANES)
    counts = Counts(
        np.empty((N, LANES)), np.empty((len(design.column), LANES)), np.empty((kinds, K, LANES))
    )
    at = LanesFactor(
        np.empty((1, LANES)), np.empty((K, LANES)), np.empty((kinds, K, LANES)), np.empty((kinds, K, LANES)),
        np.empty((kinds, LANES)), np.empty(blocks), np.empty(blocks), np.empty((N, N, LANES)), np.empty(blocks),
        np.empty((N, N, LANES)), np.empty((q, LANES)), np.empty((1, LANES)),
    )  # fmt: skip
    room = evaluation_room(design, patterns)
    of_response, of_means = effects_room(design, patterns, 1), effects_room(design, patterns, K)
    for first in range(n):
        tables.whole[first], tables.y_outer[first], tables.y_inner[first] = 0.0, 0.0, 0.0
        tables.gamma[first] = start
        for row in range(design.n):
            rating = y[first, row]
            tables.y_outer[first, outer_level[row] * K + system[row]] += rating
            tables.y_inner[first, inner_level[row], system[row]] += rating
            tables.whole[first] += rating**2
        tables.n[first] = design.n
        if len(kept):
            tables.n[first], tables.times[first] = 0.0, 0.0
            for row in range(design.n):
                if kept[first, row]:
                    i, column = inner_level[row], outer_level[row] * K + system[row]
                    p = design.begin[i]
                    while design.column[p] != column:
                        p += 1
                    tables.times[first, p] += 1.0
                    tables.n[first] += 1.0
    here, slope, direction = np.zeros((n, q)), np.zeros((n, q)), np.empty((n, q))
    lack, learns = np.zeros((n, q, q)), np.ones(n, dtype=np.bool_)  # of the Hessian, by how slopes change
    value, fall, length, promise = np.full(n, np.inf), np.ones(n), np.ones(n), np.full(n, np.inf)
    awaited = np.full(n, np.inf)  # the next promise
    halvings, step = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    arrived, waits = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    moves, turns, has_learned = np.empty(q), np.empty(q), np.zeros(n, dtype=np.bool_)
    free, hessian = np.empty(q, dtype=np.bool_), np.empty((q, q))
    going, near, far = np.arange(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    while len(going):
        n_near = n_far = 0
        for b in going:
            if arrived[b] or awaited[b] < tolerance:
                near[n_near] = b
                n_near += 1
            else:
                far[n_far] = b
                n_far += 1
        full_near, full_far = n_near // LANES * LANES, n_far // LANES * LANES
        if full_near + full_far == 0:  # else those left over wait for others to fill their lanes
            full_near, full_far = 0 if n_far else n_near, n_far
        waits[:] = False
        for k in range(full_near, n_near):
            waits[near[k]] = True
        for k in range(full_far, n_far):
            waits[far[k]] = True
        for is_last in (False, True):
            chosen = near[:full_near] if is_last else far[:full_far]
            evaluate(
                design, patterns, vectors, group, tables, chosen, is_last, counts, at, room, of_response, of_means
            )  # fmt: skip
        n_going = 0
        for b in going:
            if waits[b]:
                going[n_going] = b
                n_going += 1
                continue
            if arrived[b]:
                continue
            is_whole, df = awaited[b] < tolerance, tables.n[b] - K
            there, left = np.inf, tables.rss[b]
            if left > 1e-14 * tables.whole[b] and np.isfinite(tables.log_det[b]):
                there = df * (1.0 + np.log(2.0 * np.pi * left / df)) + tables.log_det[b]
            if step[b] == 0 and not np.isfinite(there):
                status[b] = NO_RESIDUAL
                continue
            if step[b] > 0 and not (fall[b] > 0.0 and value[b] - there >= 1e-4 * fall[b]):
                if learns[b] and has_learned[b]:  # once more from here, by average information alone
                    learns[b], lack[b] = False, 0.0
                    step[b] -= 1
                    value[b], fall[b], tables.gamma[b] = np.inf, 1.0, here[b]
                    going[n_going] = b
                    n_going += 1
                    continue
                halvings[b] += 1
                if halvings[b] == 40:
                    status[b] = STALLED
                    # rounding hides a fall below about 1e-12 of the criterion
                    if abs(promise[b]) < 1e-7 * max(1.0, 1e-3 * df):
                        status[b], arrived[b], tables.gamma[b] = CONVERGED, True, here[b]
                        going[n_going] = b
                        n_going += 1
                    continue
                length[b] *= 0.5 if length[b] > 1e-3 else 0.1
            else:
                step[b] += 1
                for t in range(q):
                    moves[t], turns[t] = tables.gamma[b, t] - here[b, t], -slope[b, t]
                    here[b, t] = tables.gamma[b, t]
                halvings[b], length[b], value[b] = 0, 1.0, there
                sigma2 = left / df
                for t in range(q):
                    each = tables.trace[b, t] - tables.square[b, t] / sigma2
                    for j in range(K):
                        for k in range(K):
                            each -= tables.phi[b, j, k] * tables.xgx[b, t, j, k]
                    slope[b, t] = each
                    free[t] = here[b, t] > 0.0 or each < 0.0
                    for v in range(q):
                        hessian[t, v] = tables.quadratic[b, t, v] / sigma2
                        hessian[t, v] -= tables.square[b, t] * tables.square[b, v] / (sigma2**2 * df)
                    # of a variance that is one with the residual only rounding is left
                    hessian[t, t] = max(hessian[t, t], FLAT * tables.quadratic[b, t, t] / sigma2)
                for t in range(q):
                    turns[t] += slope[b, t]
                if len(information) and learns[b] and step[b] > 2 and abs(promise[b]) < NEAR:
                    learned(hessian, moves, turns, lack[b])
                    has_learned[b] = True
                for t in range(q):
                    for v in range(q):
                        hessian[t, v] += lack[b, t, v]
                direction[b] = newton_direction(hessian, slope[b], free)
                before, promise[b] = abs(promise[b]), 0.0
                for t in range(q):  # a component pressed against its bound promises no fall
                    if here[b, t] + direction[b, t] < 0.0:
                        promise[b] += slope[b, t] * here[b, t]
                    else:
                        promise[b] -= slope[b, t] * direction[b, t]
                awaited[b] = abs(promise[b])
                if step[b] > 1:
                    awaited[b] *= min(1.0, awaited[b] / before)
                if abs(promise[b]) < tolerance:
                    status[b] = CONVERGED
                    if not is_whole:
                        arrived[b] = True
                        going[n_going] = b
                        n_going += 1
                    continue
                if step[b] > max_steps:
                    status[b] = TOO_MANY_STEPS
                    continue
                if step[b] == 1 and len(information):
                    scoring_direction(information, here[b], slope[b], direction[b])
            going[n_going] = b
            n_going += 1
            fall[b] = 0.0
            for t in range(q):
                bound = min(100.0 * here[b, t] + 10.0, max(LARGEST, here[b, t]))
                moved = max(min(here[b, t] + length[b] * direction[b, t], bound), 0.0)
                tables.gamma[b, t] = moved
                fall[b] += slope[b, t] * (here[b, t] - moved)
        going = going[:n_going]
