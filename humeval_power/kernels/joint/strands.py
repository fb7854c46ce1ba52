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
def inverted(matrix, rows, diagonal):
    """Put the inverse of a symmetric positive definite matrix in its place, by sweeps of two pivots; its log
    determinant, NaN if it is not."""
    n = len(matrix)
    log_det = 0.0
    if diagonal:
        for k in range(n):
            log_det += np.log(matrix[k, k])
            matrix[k, k] = 1.0 / matrix[k, k]
        return log_det
    for k in range(0, n, 2):
        other, share = (k + 1, 1.0) if k + 1 < n else (k, 0.0)  # the last of an odd number is swept alone
        p, b, q = matrix[k, k], share * matrix[k, other], share * matrix[other, other] + (1.0 - share)
        det = p * q - b * b
        if not (p > 0.0 and det > 0.0):
            return np.nan
        log_det += np.log(det)
        first, across, second = q / det, -b / det, p / det
        for c in range(n):
            rows[0, c], rows[1, c] = matrix[k, c], share * matrix[other, c]
        for c in range(n):
            rows[2, c] = first * rows[0, c] + across * rows[1, c]
            rows[3, c] = across * rows[0, c] + second * rows[1, c]
        for r in range(n):
            left, right = rows[2, r], rows[3, r]
            for c in range(n):
                matrix[r, c] -= left * rows[0, c] + right * rows[1, c]
        for c in range(n):
            if share > 0.0:
                matrix[other, c] = matrix[c, other] = rows[3, c]
            matrix[k, c] = matrix[c, k] = rows[2, c]
        if share > 0.0:
            matrix[k, other] = matrix[other, k] = -across
            matrix[other, other] = -second
        matrix[k, k] = -first
    for r in range(n):
        for c in range(n):
            matrix[r, c] = -matrix[r, c]
    return log_det


@inner
def times(matrix, diagonal, vectors, z, columns, out):
    """out[z, j] = matrix vectors[z, j] of columns (first, end, step), for a symmetric matrix."""
    n = len(matrix)
    for j in range(columns[0], columns[1], columns[2]):
        for r in range(n):
            out[z, j, r] = matrix[r, r] * vectors[z, j, r] if diagonal else 0.0
        for c in range(0 if diagonal else n):
            value = vectors[z, j, c]
            for r in range(n):
                out[z, j, r] += matrix[c, r] * value


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
def dot(left, i, right, j, z):
    """left[z, i] right[z, j]."""
    value = 0.0
    for r in range(left.shape[2]):
        value += left[z, i, r] * right[z, j, r]
    return value


@inner
def through(outer, inverse, diagonal, go, far, z, j, by_o, by_n, between):
    """Products of column j with T between them, as outer and inner variances see it; `between` has what the inner
    levels add by themselves."""
    times(inverse, diagonal, far, z, (j, 4, 2), by_n)
    times(outer, diagonal, far, z, (j, 2, 2), by_o)
    between[z, j, 0, 0] = dot(by_n, j, by_o, j, z)
    between[z, j, 0, 1] = between[z, j, 1, 0] = dot(by_n, j, far, 2 + j, z)
    between[z, j, 1, 1] -= go * dot(far, 2 + j, by_n, 2 + j, z)


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
    # columns 0 and 1: the mean and the response, without the mean once that is known; in `far` also, as 2 and 3,
    # what the inner levels push to the outer ones; `e` are effects of outer levels
    own, far, by_n, by_o = (
        np.empty((S, 2, m)),
        np.empty((S, 4, m)),
        np.empty((S, 4, m)),
        np.empty((S, 2, m)),
    )
    e, by_met = np.empty((1, 2, m)), np.empty((1, 2, m))
    w, go, both = np.empty((S, kinds)), np.empty(S), np.empty((S, kinds))
    means, precise = np.empty(S), np.empty(S)
    # outer and inner products of the columns, and with T between them
    across, between = np.empty((S, 2, 2, 2)), np.empty((S, 2, 2, 2))
    here, trial, slope, direction = np.empty(q), np.empty(q), np.empty(q), np.zeros(q)
    free, hessian = np.empty(q, dtype=np.bool_), np.empty((q, q))
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
                    own[z, 0, r], own[z, 1, r] = 0.0, y_base[b, z, r]
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
                        own[z, 0, r] += shrink * reach[c, r]
                        own[z, 1, r] += weight * y_meet[b, z, c, r]
                        first, end = (r, r + 1) if diagonal else (0, m)
                        for k in range(first, end):
                            O[z, r, k] += weight * met[c, r, k]
                for r in range(m):
                    first, end = (r, r + 1) if diagonal else (0, m)
                    for c in range(first, end):
                        N[z, r, c] = go[z] * O[z, r, c]
                    N[z, r, r] += 1.0
                log_det += inverted(N[z], rows, diagonal or go[z] == 0.0)
                times(N[z], diagonal, own, z, (0, 2, 1), far)
                xx -= go[z] * dot(own, 0, far, 0, z)
                xy -= go[z] * dot(own, 0, far, 1, z)
                there -= go[z] * dot(own, 1, far, 1, z)
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
                        far[z, 1, r] -= means[z] * far[z, 0, r]
                        e[0, 0, r], e[0, 1, r] = go[z] * far[z, 0, r], go[z] * far[z, 1, r]
                        far[z, 2, r] = far[z, 3, r] = 0.0
                    inner_trace = 0.0
                    for i in range(2):
                        for j in range(2):
                            across[z, 1, i, j] = between[z, i, 1, 1] = 0.0
                    for c in range(kinds):
                        times(met[c], diagonal, e, 0, (0, 2, 1), by_met)
                        shrink = w[z, c] ** 2
                        take = means[z] * count[c]
                        xx = count[c] ** 2 * levels[c]
                        xy = count[c] * (y_sum[b, z, c] - take * levels[c])
                        yy = y_square[b, z, c] - 2.0 * take * y_sum[b, z, c] + take**2 * levels[c]
                        for r in range(m):
                            x_meets = count[c] * reach[c, r]
                            y_meets = y_meet[b, z, c, r] - take * reach[c, r]
                            x_pull, y_pull = x_meets - by_met[0, 0, r], y_meets - by_met[0, 1, r]
                            far[z, 2, r] += shrink * x_pull
                            far[z, 3, r] += shrink * y_pull
                            xx -= e[0, 0, r] * (x_meets + x_pull)
                            xy -= e[0, 0, r] * y_pull + e[0, 1, r] * x_meets
                            yy -= e[0, 1, r] * (y_meets + y_pull)
                        across[z, 1, 0, 0] += shrink * xx
                        across[z, 1, 0, 1] += shrink * xy
                        across[z, 1, 1, 1] += shrink * yy
                        between[z, 0, 1, 1] += count[c] * w[z, c] * shrink * xx
                        between[z, 1, 1, 1] += count[c] * w[z, c] * shrink * yy
                        both[z, c] = met_by(met[c], N[z], diagonal, rows)
                        inner_trace += levels[c] * count[c] * w[z, c] - go[z] * shrink * both[z, c]
                    outer_trace = met_by(O[z], N[z], diagonal, rows)
                    for j in range(2):
                        for i in range(j + 1):
                            across[z, 0, i, j] = dot(far, i, far, j, z)
                    through(O[z], N[z], diagonal, go[z], far, z, 1, by_o, by_n, between)
                    for t in range(q):
                        of, k = t // h, t % h
                        trace[b, t] += pattern[k, z] * (inner_trace if of else outer_trace)
                        square[b, t] += pattern[k, z] * across[z, of, 1, 1]
                        slope[t] -= pattern[k, z] * precise[z] * across[z, of, 0, 0]
                        for u in range(q):
                            each = between[z, 1, of, u // h]
                            each -= precise[z] * across[z, of, 0, 1] * across[z, u // h, 0, 1]
                            quadratic[b, t, u] += pattern[k, z] * pattern[u % h, z] * each
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
                    entry = 0.0
                    for c in range(kinds):
                        entry += w[z, c] ** 2 * met[c, r, k]
                    for c in range(first, end):
                        rows[0, c] += O[z, r, k] * N[z, k, c]
                        work[r, c] += entry * N[z, k, c]
                for c in range(first, end):
                    oo += rows[0, c] ** 2
            for r in range(m):
                for c in range(r if diagonal else 0, r + 1 if diagonal else m):
                    oi += work[r, c] * N[z, r, c]
                    ii += work[r, c] * work[c, r]
            ii *= go[z] ** 2
            through(O[z], N[z], diagonal, go[z], far, z, 0, by_o, by_n, between)
            for c in range(kinds):
                each = count[c] * w[z, c]
                ii += levels[c] * each**2 - 2.0 * each * go[z] * w[z, c] ** 2 * both[z, c]
            for t in range(q):
                of = t // h
                xgx[b, t, z] = pattern[t % h, z] * across[z, of, 0, 0]
                for u in range(q):
                    each = pattern[t % h, z] * pattern[u % h, z]
                    xggx[b, t, u, z] = each * between[z, 0, of, u // h]
                    norm[b, t, u] += each * (oo if of + u // h == 0 else ii if of and u // h else oi)
