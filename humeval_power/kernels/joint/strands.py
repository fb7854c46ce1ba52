"""Tables in which all systems are rated together, by strands that do not meet: many studies, and pairs in each.

Where every worker rates an item under all systems equally often, and systems share their variances, K rotated
layers (of two systems, sums and differences) are independent given the variances. Inner levels are of few kinds c
with a_c ratings each; with C_c the ratings of outer levels by inner level, E_c = C_c C_c', and go, gi the variances
of a strand,

    O = Zo'H_i^-1 Zo = B + sum_c (w_c / a_c) E_c,   w_c = 1 / (1 + a_c gi),   N = (I + go O)^-1

and all of the likelihood follows from matrices of the order of the outer levels: Zo'H^-1 Zo = O N,
Zo'H^-1 Zi = N C_c w_c, Zi'H^-1 Zi = a_c w_c - go w_c w_d C_c'N C_d. Where besides all inner levels, and all outer
ones, have equally many ratings, the eigenvectors of E do not meet (general balance, Nelder 1965): matrices are
diagonal then, and nothing else of them is looked at. The search is that of `reml`.
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.crossed.reml import (
    CONVERGED,
    LARGEST,
    NO_RESIDUAL,
    STALLED,
    TOO_MANY_STEPS,
    newton_direction,
)
from humeval_power.kernels.kernel import inner, kernel


@inner
def inverted(S, rows, diagonal):
    """Minus the inverse of a symmetric positive definite matrix in place of its lower triangle, by sweeps of two
    pivots, and log determinant; NaN if it is not."""
    n = len(S)
    log_det = 0.0
    if diagonal:
        for k in range(n):
            log_det += np.log(S[k, k])
            S[k, k] = -1.0 / S[k, k]
        return log_det
    for k in range(0, n, 2):
        two = k + 1 < n
        p = S[k, k]
        b, q = (S[k + 1, k], S[k + 1, k + 1]) if two else (0.0, 1.0)
        det = p * q - b * b
        if not (p > 0.0 and det > 0.0):
            return np.nan
        log_det += np.log(det)
        first, across, second = q / det, -b / det, p / det
        for c in range(k):
            rows[0, c] = S[k, c]
            rows[1, c] = S[k + 1, c] if two else 0.0
        rows[0, k], rows[1, k] = p, b
        for c in range(k + 1, n):
            rows[0, c] = S[c, k]
            rows[1, c] = S[c, k + 1] if two else 0.0
        for c in range(n):
            rows[2, c] = first * rows[0, c] + across * rows[1, c]
            rows[3, c] = across * rows[0, c] + second * rows[1, c]
        for r in range(n):
            left, right = rows[2, r], rows[3, r]
            for c in range(r + 1):
                S[r, c] -= left * rows[0, c] + right * rows[1, c]
        for c in range(k):
            S[k, c] = rows[2, c]
        for c in range(k, n):
            S[c, k] = rows[2, c]
        if two:
            for c in range(k):
                S[k + 1, c] = rows[3, c]
            for c in range(k + 2, n):
                S[c, k + 1] = rows[3, c]
            S[k + 1, k], S[k + 1, k + 1] = -across, -second
        S[k, k] = -first
    return log_det


@inner
def times(matrix, diagonal, vectors, row, out):
    """out[row] = matrix vectors[row], for a symmetric matrix."""
    n = len(matrix)
    if diagonal:
        for r in range(n):
            out[row, r] = matrix[r, r] * vectors[row, r]
        return
    for r in range(n):
        out[row, r] = 0.0
    for c in range(n):
        value = vectors[row, c]
        if value != 0.0:
            for r in range(n):
                out[row, r] += matrix[c, r] * value


@inner
def met_by(one, other, diagonal, sums):
    """Sum of the products of all entries of two matrices."""
    n = len(one)
    if diagonal:
        value = 0.0
        for r in range(n):
            value += one[r, r] * other[r, r]
        return value
    for c in range(n):
        sums[0, c] = 0.0
    for r in range(n):
        for c in range(n):
            sums[0, c] += one[r, c] * other[r, c]
    value = 0.0
    for c in range(n):
        value += sums[0, c]
    return value


@inner
def dot(first, second, row):
    """first[row] second[row]."""
    value = 0.0
    for r in range(first.shape[1]):
        value += first[row, r] * second[row, r]
    return value


@kernel
def fit_many(
    base, met, diagonal, count, levels, reach, pattern, n, y_base, y_meet, y_sum, y_square, y_left, whole,
    start, tolerance, max_steps, status, beta, gamma, phi, rss, trace, quadratic, square, norm, xgx, xggx,
):  # fmt: skip
    """Fit tables b of strands z by REML.

    base (m, m), met (kinds, m, m): B and E_c, whether `diagonal`; count, levels (kinds,): a_c and how many inner
        levels there are; reach (kinds, m): sums of C_c; pattern (h, S): what each variance adds to that of a
        strand's levels
    y_base (b, S, m): Zo'y without the inner levels' means; y_meet (b, S, kinds, m): C_c times the inner levels'
        sums; y_sum, y_square (b, S, kinds): of these sums; y_left (b, S): y'y without the means; whole (b,): y'y
    n : ratings of all strands; start (b, q), outer variances first

    Fills the fields of a fit, each with axis b first: beta and phi (S,), xgx (q, S) and xggx (q, q, S). Where the
    status is not CONVERGED they mean nothing.
    """
    h, S = pattern.shape
    kinds, m, q, df = len(count), len(base), 2 * h, n - S
    O, N = np.empty((S, m, m)), np.empty((S, m, m))  # noqa: E741
    work, rows = np.empty((m, m)), np.empty((4, m))
    own_x, own_y, seen_x, seen_y = (np.empty((S, m)), np.empty((S, m)), np.empty((S, m)), np.empty((S, m)))
    far_x, far_y, pull_x, pull_y = (np.empty((1, m)), np.empty((1, m)), np.empty((1, m)), np.empty((1, m)))
    e_x, e_y = np.empty((1, m)), np.empty((1, m))
    push_x, push_y, through, twice = (
        np.empty((S, m)),
        np.empty((S, m)),
        np.empty((S, m)),
        np.empty((S, m)),
    )
    seen_far = np.empty((S, m))
    w, go = np.empty((S, kinds)), np.empty(S)
    here, trial, slope, mine = np.empty(q), np.empty(q), np.empty(q), np.empty((2, 2))
    direction = np.zeros(q)
    free, hessian = np.empty(q, dtype=np.bool_), np.empty((q, q))
    means, precise, x_part, x_x = np.empty(S), np.empty(S), np.empty((2, S)), np.empty((2, S))
    x_kind = np.empty((S, kinds))
    for b in range(len(status)):
        value, left, fall = np.inf, 0.0, 1.0
        length, halvings, step = 1.0, 0, 0
        for t in range(q):
            trial[t] = start[b, t]
        status[b] = TOO_MANY_STEPS
        while step <= max_steps:
            log_det, there = 0.0, 0.0
            for z in range(S):
                go[z] = gi = 0.0
                for k in range(h):
                    go[z] += trial[k] * pattern[k, z]
                    gi += trial[h + k] * pattern[k, z]
                for r in range(m):
                    own_x[z, r], own_y[z, r] = 0.0, y_base[b, z, r]
                    first, end = (r, r + 1) if diagonal else (0, m)
                    for c in range(first, end):
                        O[z, r, c] = base[r, c]
                there += y_left[b, z]
                xx = xy = 0.0
                for c in range(kinds):
                    shrink = w[z, c] = 1.0 / (1.0 + count[c] * gi)
                    weight = shrink / count[c]
                    log_det -= levels[c] * np.log(shrink)
                    there += weight * y_square[b, z, c]
                    xx += shrink * count[c] * levels[c]
                    xy += shrink * y_sum[b, z, c]
                    for r in range(m):
                        own_x[z, r] += shrink * reach[c, r]
                        own_y[z, r] += weight * y_meet[b, z, c, r]
                        first, end = (r, r + 1) if diagonal else (0, m)
                        for k in range(first, end):
                            O[z, r, k] += weight * met[c, r, k]
                for r in range(m):
                    for c in range(r if diagonal else 0, r + 1):
                        work[r, c] = go[z] * O[z, r, c]
                    work[r, r] += 1.0
                log_det += inverted(work, rows, diagonal)
                for r in range(m):
                    for c in range(r if diagonal else 0, r + 1):
                        N[z, r, c] = N[z, c, r] = -work[r, c]
                times(N[z], diagonal, own_x, z, seen_x)
                times(N[z], diagonal, own_y, z, seen_y)
                xx -= go[z] * dot(own_x, seen_x, z)
                xy -= go[z] * dot(own_x, seen_y, z)
                there -= go[z] * dot(own_y, seen_y, z)
                precise[z] = 1.0 / xx
                means[z] = xy / xx
                there -= means[z] * xy
                log_det += np.log(xx)
            new_left = there
            if new_left > 1e-14 * whole[b] and np.isfinite(log_det):
                there = df * (1.0 + np.log(2.0 * np.pi * new_left / df)) + log_det
            else:
                there = np.inf
            if step == 0 and not np.isfinite(there):
                status[b] = NO_RESIDUAL
                break
            if step > 0 and not (fall > 0.0 and value - there >= 1e-4 * fall):
                halvings += 1
                if halvings == 40:
                    status[b] = STALLED
                    break
                length *= 0.5 if length > 1e-3 else 0.1
            else:
                step += 1
                halvings, length = 0, 1.0
                value, left = there, new_left
                sigma2 = left / df
                for t in range(q):
                    here[t] = trial[t]
                    trace[b, t] = square[b, t] = slope[t] = 0.0
                    for u in range(q):
                        quadratic[b, t, u] = 0.0
                for z in range(S):
                    beta[b, z], phi[b, z] = means[z], precise[z]
                    for r in range(m):
                        seen_y[z, r] -= means[z] * seen_x[z, r]
                        e_x[0, r], e_y[0, r] = go[z] * seen_x[z, r], go[z] * seen_y[z, r]
                        push_x[z, r] = push_y[z, r] = 0.0
                    inside = of_trace = weighted = 0.0
                    x_x[1, z] = x_part[1, z] = 0.0
                    for c in range(kinds):
                        times(met[c], diagonal, e_x, 0, far_x)
                        times(met[c], diagonal, e_y, 0, far_y)
                        shrink = w[z, c] ** 2
                        take = means[z] * count[c]
                        xx = count[c] ** 2 * levels[c]
                        xy = count[c] * (y_sum[b, z, c] - take * levels[c])
                        yy = y_square[b, z, c] - 2.0 * take * y_sum[b, z, c] + take**2 * levels[c]
                        for r in range(m):
                            x_meets = count[c] * reach[c, r]
                            meets = y_meet[b, z, c, r] - take * reach[c, r]
                            pull_x[0, r], pull_y[0, r] = x_meets - far_x[0, r], meets - far_y[0, r]
                            push_x[z, r] += shrink * pull_x[0, r]
                            push_y[z, r] += shrink * pull_y[0, r]
                            xx -= e_x[0, r] * (x_meets + pull_x[0, r])
                            xy -= e_x[0, r] * pull_y[0, r] + e_y[0, r] * x_meets
                            yy -= e_y[0, r] * (meets + pull_y[0, r])
                        x_kind[z, c] = shrink * xx
                        x_x[1, z] += shrink * xx
                        x_part[1, z] += shrink * xy
                        inside += shrink * yy
                        weighted += count[c] * w[z, c] * shrink * yy
                        of_trace += levels[c] * count[c] * w[z, c]
                        both = met_by(met[c], N[z], diagonal, rows)
                        of_trace -= go[z] * shrink * both
                    outer_trace = met_by(O[z], N[z], diagonal, rows)
                    times(N[z], diagonal, seen_y, z, twice)
                    times(O[z], diagonal, seen_y, z, through)
                    times(N[z], diagonal, push_y, z, seen_far)
                    x_x[0, z], x_part[0, z] = dot(seen_x, seen_x, z), dot(seen_x, seen_y, z)
                    own_square = dot(seen_y, seen_y, z)
                    mine[0, 0] = dot(twice, through, z)
                    mine[0, 1] = mine[1, 0] = dot(twice, push_y, z)
                    mine[1, 1] = weighted - go[z] * dot(push_y, seen_far, z)
                    for t in range(q):
                        of, k = t // h, t % h
                        trace[b, t] += pattern[k, z] * (of_trace if of else outer_trace)
                        square[b, t] += pattern[k, z] * (inside if of else own_square)
                        slope[t] -= pattern[k, z] * precise[z] * x_x[of, z]
                        for u in range(q):
                            value_of = mine[of, u // h] - precise[z] * x_part[of, z] * x_part[u // h, z]
                            quadratic[b, t, u] += pattern[k, z] * pattern[u % h, z] * value_of
                for t in range(q):
                    slope[t] += trace[b, t] - square[b, t] / sigma2
                    free[t] = here[t] > 0.0 or slope[t] < 0.0
                for t in range(q):
                    for u in range(q):
                        hessian[t, u] = quadratic[b, t, u] / sigma2
                        hessian[t, u] -= square[b, t] * square[b, u] / (sigma2**2 * df)
                direction = newton_direction(hessian, slope, free)
                promise = 0.0
                for t in range(q):  # a component pressed against its bound promises no fall
                    if here[t] + direction[t] < 0.0:
                        promise += slope[t] * here[t]
                    else:
                        promise -= slope[t] * direction[t]
                if abs(promise) < tolerance:
                    status[b] = CONVERGED
                    break
            fall = 0.0
            for t in range(q):
                bound = min(100.0 * here[t] + 10.0, max(LARGEST, here[t]))
                trial[t] = max(min(here[t] + length * direction[t], bound), 0.0)
                fall += slope[t] * (here[t] - trial[t])
        if status[b] != CONVERGED:
            continue
        rss[b] = left
        for t in range(q):
            gamma[b, t] = here[t]
            for u in range(q):
                norm[b, t, u] = 0.0
        for z in range(S):
            # squared norms of the blocks of T = O N, N C w and a w - go w C'N C w, by the products O N and N F
            oo = oi = ii = 0.0
            for r in range(m):
                first, end = (r, r + 1) if diagonal else (0, m)
                for c in range(first, end):
                    rows[0, c] = work[r, c] = 0.0
                for k in range(first, end):
                    far = 0.0
                    for c in range(kinds):
                        far += w[z, c] ** 2 * met[c, r, k]
                    for c in range(first, end):
                        rows[0, c] += O[z, r, k] * N[z, k, c]
                        work[r, c] += far * N[z, k, c]
                for c in range(first, end):
                    oo += rows[0, c] ** 2
            for r in range(m):
                for c in range(r if diagonal else 0, r + 1 if diagonal else m):
                    oi += work[r, c] * N[z, r, c]
                    ii += work[r, c] * work[c, r]
            ii *= go[z] ** 2
            for c in range(kinds):
                both = met_by(met[c], N[z], diagonal, rows)
                each = count[c] * w[z, c]
                ii += levels[c] * each**2 - 2.0 * each * go[z] * w[z, c] ** 2 * both
            times(N[z], diagonal, seen_x, z, twice)
            times(O[z], diagonal, seen_x, z, through)
            times(N[z], diagonal, push_x, z, seen_far)
            mine[0, 0] = dot(twice, through, z)
            mine[0, 1] = mine[1, 0] = dot(twice, push_x, z)
            mine[1, 1] = -go[z] * dot(push_x, seen_far, z)
            for c in range(kinds):
                mine[1, 1] += count[c] * w[z, c] * x_kind[z, c]
            for t in range(q):
                of = t // h
                xgx[b, t, z] = pattern[t % h, z] * x_x[of, z]
                for u in range(q):
                    each = pattern[t % h, z] * pattern[u % h, z]
                    xggx[b, t, u, z] = each * mine[of, u // h]
                    norm[b, t, u] += each * (oo if of + u // h == 0 else ii if of and u // h else oi)
