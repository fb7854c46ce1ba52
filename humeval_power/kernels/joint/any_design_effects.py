"""X'H^-1 G_s H^-1 G_t H^-1 X of all variances of tables of any design, of columns X and of the response, in the
notation and the lanes of `any_design`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.joint.any_design_norms import by_shares
from humeval_power.kernels.kernel import inner
from humeval_power.kernels.lane_matrices import add_row_products, cleared, mirrored
from humeval_power.kernels.lanes import LANES, every, fma, get, put

Floats = NDArray[np.float64]

CACHED = 40  # columns of all rows of a product that stay in a cache
BESIDE = 9  # rows of effects whose way through inner levels is taken at once, or those of one variance


@inner
def along(vectors, v, rows, out):
    """What vector v of systems makes of each level: rows (k, levels K), out (k, levels)."""
    K = vectors.shape[1]
    first, last = 0, K
    while vectors[v, first] == 0.0:
        first += 1
    while vectors[v, last - 1] == 0.0:
        last -= 1
    for j in range(len(out)):
        for w in range(out.shape[1]):
            value = every(0.0)
            for s in range(first, last):
                value = fma(every(vectors[v, s]), get(rows, (j, w * K + s)), value)
            put(out, (j, w), value)


@inner
def add_lower_row_products(left, right, out):
    """out += left right' in its lower triangle at least."""
    rows, columns = left.shape[:2]
    for first in range(0, rows, 4):
        add_row_products(left, right, 0, columns, 1, first, rows, first, min(first + 4, rows), out)


@inner
def level_products(vectors, group, rows, first, each, out):
    """Sums over levels of left'D_t right for all pairs of rows (k, levels K), added to out (q, k, k) from `first`,
    to its lower triangles at least; each (k, levels) is room."""
    for v in range(len(vectors)):
        along(vectors, v, rows, each)
        add_lower_row_products(each, each, out[first + group[v]])


class EffectsRoom(NamedTuple):
    """Room for G_t's effects of k columns of X. Those of the first variance, what systems share, are `op` and `ip`
    by level. Those of each other begin at a `system` and are of each `step` further, (h,), in `effect` (k, N) and
    in `e` (K k, inner levels), which has a row for each system and column of X."""

    system: NDArray[np.int64]
    step: NDArray[np.int64]
    op: Floats
    ip: Floats
    effect: Floats
    e: Floats
    counted_e: Floats
    outer_part: Floats
    inner_part: Floats
    between: Floats
    turned: Floats
    sums: Floats
    meet: Floats
    back: Floats
    meet_part: Floats
    across: Floats
    block: Floats
    base: Floats


@inner
def effects_room(design, patterns, k):
    """Room for `through_patterns` of k columns."""
    h, K = patterns.shape[:2]
    N, n_inner, rows = len(design.load), len(design.kind), h * k
    m, beside = N // K, k * max(1, BESIDE // k)
    system, step = np.zeros(h, np.int64), np.ones(h, np.int64)
    for v in range(1, h if h > 2 else 1):  # each system has a variance of its own
        step[v] = K
        while patterns[v, system[v], system[v]] == 0.0:
            system[v] += 1
    return EffectsRoom(
        system, step, np.empty((k, m, LANES)), np.empty((k, n_inner, LANES)), np.empty((k, N, LANES)),
        np.empty((K * k, n_inner, LANES)), np.empty((K * k, n_inner, LANES)), np.empty((k, m, LANES)),
        np.empty((k, n_inner, LANES)), np.empty((m, m, LANES)), np.empty((beside, n_inner, LANES)),
        np.empty((k, n_inner, LANES)), np.empty((rows, N, LANES)), np.empty((rows, N, LANES)),
        np.empty((rows, m, LANES)), np.empty((rows, k, LANES)), np.empty((k, beside, LANES)),
        np.empty((rows, rows, LANES)),
    )  # fmt: skip


@inner
def put_products(left, right, begin, step, block, is_added, out, row, column):
    """left right' over columns begin, begin + step, ... into `out` from a row and a column on; block is room."""
    rows, columns = len(left), len(right)
    cleared(block, rows, columns)
    add_row_products(left, right, begin, left.shape[1], step, 0, rows, 0, columns, block)
    for r in range(rows):
        for c in range(columns):
            place, value = (row + r, column + c), get(block, (r, c))
            put(out, place, get(out, place) + value if is_added else value)


@inner
def through_patterns(design, counts, vectors, group, at, seen, seen_inner, space, result):
    """X'H^-1 G_s H^-1 G_t H^-1 X into result (q k, q k), of k columns X, of which H^-1 X as levels see it is given:
    seen (k, N) and seen_inner (k, inner levels K). The first of `vectors` is what all systems share."""
    k, N, K, h = len(seen), len(at.V), len(at.own), group[-1] + 1
    m, n_inner, rows = N // K, len(design.kind), h * k
    zero = every(0.0)
    system, steps, op, ip, effect, e, counted_e, outer_part, inner_part, between = space[:10]
    turned, sums, meet, back, meet_part, across, block, base = space[10:]
    along(vectors, 0, seen, op)
    along(vectors, 0, seen_inner, ip)
    cleared(effect, k, N)
    cleared(e, K * k, n_inner)
    for v in range(1, len(vectors)):
        along(vectors, v, seen, outer_part)
        along(vectors, v, seen_inner, inner_part)
        for s in range(K):
            if vectors[v, s] != 0.0:
                share = every(vectors[v, s])
                for j in range(k):
                    for w in range(m):
                        place = (j, w * K + s)
                        put(effect, place, fma(share, get(outer_part, (j, w)), get(effect, place)))
                    for i in range(n_inner):
                        place = (s * k + j, i)
                        put(e, place, fma(share, get(inner_part, (j, i)), get(e, place)))
    for i in range(n_inner):
        for s in range(K):
            count = get(counts.replication, (design.kind[i], s))
            for j in range(k):
                put(counted_e, (s * k + j, i), count * get(e, (s * k + j, i)))
    for w in range(m):
        for x in range(w + 1):
            value = zero
            for s in range(K):
                for t in range(K):
                    value = value + get(at.V, (w * K + s, x * K + t))
            put(between, (w, x), value)
            put(between, (x, w), value)
    beside = len(turned) // k
    for begin in range(0, h, beside):
        here = min(beside, h - begin) * k
        for t in range(K):
            for row in range(here):
                g, j = begin + row // k, row % k
                first, last = system[g], K if steps[g] == 1 else system[g] + 1
                for i in range(n_inner):
                    c, value = design.kind[i], zero
                    if g == 0:  # 1'M = (1 - 1'f) d'
                        value = get(at.rest, (c,)) * get(at.d, (c, t)) * get(ip, (j, i))
                        counted = get(counts.replication, (c, t)) * value
                        put(sums, (j, i), get(sums, (j, i)) + counted if t > 0 else counted)
                    else:
                        for s in range(first, last):
                            value = fma(get(at.M, (c, s, t)), get(e, (s * k + j, i)), value)
                    put(turned, (row, i), value)
            for v in range(max(1, begin), h):  # M N is symmetric
                if steps[v] == 1 or system[v] == t:
                    side, more = counted_e[t * k : (t + 1) * k], steps[v] == 1 and t > 0
                    put_products(side, turned[:here], 0, 1, block, more, base, v * k, begin * k)
            for c in range(t, N, K):
                for r in range(0, here, 4):
                    u, v, w = min(r + 1, here - 1), min(r + 2, here - 1), min(r + 3, here - 1)
                    c0, c1, c2, c3 = zero, zero, zero, zero
                    for cell in range(design.column_begin[c], design.column_begin[c + 1]):
                        p = design.by_column[cell]
                        i, count = design.level[p], get(counts.times, (p,))
                        c0, c1 = fma(count, get(turned, (r, i)), c0), fma(count, get(turned, (u, i)), c1)
                        c2, c3 = fma(count, get(turned, (v, i)), c2), fma(count, get(turned, (w, i)), c3)
                    put(meet, (begin * k + w, c), c3)  # what is beyond the last row is written over
                    put(meet, (begin * k + v, c), c2)
                    put(meet, (begin * k + u, c), c1)
                    put(meet, (begin * k + r, c), c0)
    put_products(sums, ip, 0, 1, block, False, base, 0, 0)
    half = back
    cleared(half, rows, N)
    for c in range(0, N, 4):
        for g in range(1, h):
            side = half[g * k : (g + 1) * k]
            add_row_products(effect, at.V, system[g], N, steps[g], 0, k, c, min(c + 4, N), side)
    along(vectors, 0, half, meet_part)
    cleared(meet_part, k, m)
    add_row_products(op, between, 0, m, 1, 0, k, 0, m, meet_part)
    put_products(meet_part, op, 0, 1, across, False, result, 0, 0)
    for g in range(1, h):
        put_products(half[g * k :], effect, system[g], steps[g], across, False, result, g * k, g * k)
    by_shares(meet, at, -1.0, back)
    for first in range(0, N, CACHED):
        add_row_products(back, at.V, first, min(first + CACHED, N), 1, 0, rows, 0, N, meet)  # B of it
    add_lower_row_products(meet, back, base)
    for row in range(rows):
        for other in range(row + 1):
            put(result, (rows + row, rows + other), get(base, (row, other)))
    along(vectors, 0, meet, meet_part)
    put_products(meet_part, op, 0, 1, across, False, result, rows, 0)
    for g in range(1, h):
        put_products(meet, effect, system[g], steps[g], across, False, result, rows, g * k)
    mirrored(result)
