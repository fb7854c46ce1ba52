"""Many complete balanced tables of K systems fitted by REML at once, compiled.

The likelihood, the steps and the bounds are those of kernels.joint_complete and kernels.joint_reml, one table
after the other; with I + times (g_0 J + diag(g_1, ..., g_K)) inverted by its rank-one part. With common variances
the five mean squares are pooled in the order of their tree (Thompson 1962), as in estimation.joint.closed_form.
"""

from __future__ import annotations

import math

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

_HALVINGS = 40
_PARENT = np.array([1, 4, 3, 4, -1])  # each stratum's expected mean square is at least that of this one


@inner
def _factor(gamma, times, levels, U):
    """(I + times (gamma_0 J + diag(gamma_1, ...)))^-1 into U (K, K), and levels - 1 times its log determinant."""
    K = len(U)
    log_det, total = 0.0, 0.0
    for k in range(K):
        U[k, k] = 1.0 / (1.0 + times * gamma[1 + k])
        log_det -= math.log(U[k, k])
        total += U[k, k]
    inside = 1.0 + times * gamma[0] * total
    shared = times * gamma[0] / inside
    own = np.empty(K)
    for k in range(K):
        own[k] = U[k, k]
    for k in range(K):
        for j in range(K):
            U[k, j] = (own[k] if k == j else 0.0) - shared * own[k] * own[j]
    return (levels - 1) * (log_det + math.log(inside))


@inner
def _squared(U, W, times, levels, out):
    """levels x times^2 x tr(U D_s W D_t) for D = all ones and each e e', into out (1 + K, 1 + K)."""
    K = len(U)
    total_u, total_w = 0.0, 0.0
    for k in range(K):
        row_u, row_w = 0.0, 0.0
        for j in range(K):
            row_u += U[k, j]
            row_w += W[k, j]
            out[1 + k, 1 + j] = levels * times**2 * U[k, j] * W[k, j]
        out[0, 1 + k] = out[1 + k, 0] = levels * times**2 * row_u * row_w
        total_u += row_u
        total_w += row_w
    out[0, 0] = levels * times**2 * total_u * total_w


@inner
def _traced(U, times, levels, out):
    """levels x times x tr(D_t U), into out (1 + K,)."""
    K = len(U)
    out[0] = levels * times * U.sum()
    for k in range(K):
        out[1 + k] = levels * times * U[k, k]


@inner
def _criterion(gamma, workers, items, residual, size, Uw, Ui):
    """-2 log restricted likelihood less a constant, and y'Py; fills the two inverses."""
    m, n, K, r = size
    log_det = _factor(gamma[: K + 1], n * r, m, Uw) + _factor(gamma[K + 1 :], m * r, n, Ui)
    rss = residual + (Uw * workers).sum() + (Ui * items).sum()
    df = m * n * K * r - K
    if not rss > 0:
        return np.inf, rss
    return df * math.log(rss) + log_det, rss


@inner
def _search(gamma, workers, items, residual, size, tolerance, max_steps, smallest):
    """REML from gamma (2 + 2 K,), which it moves: status and y'Py."""
    m, n, K, r = size
    q, half = 2 * K + 2, K + 1
    df = m * n * K * r - K
    Uw, Ui = np.empty((K, K)), np.empty((K, K))
    other_w, other_i = np.empty((K, K)), np.empty((K, K))
    quadratic, hessian = np.zeros((q, q)), np.empty((q, q))
    trace, fitted = np.empty(q), np.empty(q)
    criterion, rss = _criterion(gamma, workers, items, residual, size, Uw, Ui)
    for _ in range(max_steps):
        if not rss > smallest:
            return NO_RESIDUAL, rss
        seen_w, seen_i = Uw @ workers @ Uw, Ui @ items @ Ui
        _squared(Uw, seen_w, n * r, 1.0, quadratic[:half, :half])
        _squared(Ui, seen_i, m * r, 1.0, quadratic[half:, half:])
        _traced(seen_w, n * r, 1.0, fitted[:half])
        _traced(seen_i, m * r, 1.0, fitted[half:])
        _traced(Uw, n * r, m - 1.0, trace[:half])
        _traced(Ui, m * r, n - 1.0, trace[half:])
        sigma2 = rss / df
        slope = trace - fitted / sigma2
        for t in range(q):
            for v in range(q):
                hessian[t, v] = quadratic[t, v] / sigma2 - fitted[t] * fitted[v] / (sigma2**2 * df)
        direction = newton_direction(hessian, slope, (gamma > 0) | (slope < 0))
        promise = 0.0
        for t in range(q):  # a component pressed against its bound promises no fall
            step = direction[t] if gamma[t] + direction[t] >= 0 else -gamma[t]
            promise -= slope[t] * step
        if abs(promise) < tolerance:
            return CONVERGED, rss
        length, moved = 1.0, False
        for _halving in range(_HALVINGS):
            trial = np.minimum(
                np.maximum(gamma + length * direction, 0.0), np.minimum(100.0 * gamma + 10.0, LARGEST)
            )
            expected = (slope * (gamma - trial)).sum()
            result, left = _criterion(trial, workers, items, residual, size, other_w, other_i)
            if expected > 0 and criterion - result >= 1e-4 * expected:
                moved = True
                break
            length *= 0.5 if length > 1e-3 else 0.1
        if not moved:  # rounding hides a fall below about 1e-12 of the criterion
            return (CONVERGED if abs(promise) < 1e-7 * max(1.0, 1e-3 * df) else STALLED), rss
        for t in range(len(gamma)):
            gamma[t] = trial[t]
        criterion, rss = result, left
        Uw, other_w = other_w, Uw
        Ui, other_i = other_i, Ui
    return TOO_MANY_STEPS, rss


@kernel
def fit_own(workers, items, residual, size, start, tolerance, max_steps, smallest):
    """Each system's own variances for tables one by one.

    workers, items : cross products (tables, K, K) of workers' and of items' means around those of the systems, n r
        and m r times.
    residual : (tables,) residual sums of squares; size : workers, items, systems, repeats.
    smallest : (tables,) what counts as no residual at all.

    Returns gamma (tables, 2 + 2 K), relative variances worker, worker x system, item, item x system; the residual
    variance (tables,); and the status of kernels.reml (tables,).
    """
    n_tables, q = len(residual), len(start)
    m, n, K, r = size
    gamma, sigma2, status = np.empty((n_tables, q)), np.empty(n_tables), np.empty(n_tables, dtype=np.int64)
    for table in range(n_tables):
        gamma[table] = start
        status[table], rss = _search(
            gamma[table],
            workers[table],
            items[table],
            residual[table],
            size,
            tolerance,
            max_steps,
            smallest[table],
        )
        sigma2[table] = rss / (m * n * K * r - K)
    return gamma, sigma2, status


@kernel
def own_precision(gamma, sigma2, size, first, second):
    """Variance and Kenward-Roger's df of differences second - first, each (tables, pairs), after `fit_own`."""
    m, n, K, r = size
    q, half = 2 * K + 2, K + 1
    n_pairs = len(first)
    variance, df = np.empty((len(gamma), n_pairs)), np.empty((len(gamma), n_pairs))
    Uw, Ui = np.empty((K, K)), np.empty((K, K))
    expected, scaled, scale = np.zeros((q + 1, q + 1)), np.empty((q + 1, q + 1)), np.empty(q + 1)
    column = np.empty(half)
    for table in range(len(gamma)):
        g = gamma[table]
        _factor(g[:half], n * r, m, Uw)
        _factor(g[half:], m * r, n, Ui)
        _squared(Uw, Uw, n * r, m - 1.0, expected[:half, :half])
        _squared(Ui, Ui, m * r, n - 1.0, expected[half:q, half:q])
        square_w, square_i = Uw @ Uw, Ui @ Ui
        _traced(square_w, n * r, m - 1.0, column)
        for a in range(half):
            expected[a, q] = expected[q, a] = column[a]
        _traced(square_i, m * r, n - 1.0, column)
        for a in range(half):
            expected[half + a, q] = expected[q, half + a] = column[a]
        expected[q, q] = K * m * n * r - K * m - K * n + K
        expected[q, q] += (m - 1) * np.trace(square_w) + (n - 1) * np.trace(square_i)
        for a in range(q + 1):
            scale[a] = np.sqrt(expected[a, a])
        for a in range(q + 1):
            for b in range(q + 1):
                scaled[a, b] = expected[a, b] / (scale[a] * scale[b])
        known = np.linalg.inv(scaled)
        for a in range(q + 1):
            for b in range(q + 1):
                known[a, b] = 2.0 * known[a, b] / (scale[a] * scale[b])
        slope = np.array([1.0 / m, 1.0 / m, 1.0 / n, 1.0 / n, 2.0 / (m * n * r)])
        place = np.empty(5, dtype=np.int64)
        place[4] = q
        for pair in range(n_pairs):
            place[0], place[1] = 1 + first[pair], 1 + second[pair]
            place[2], place[3] = half + 1 + first[pair], half + 1 + second[pair]
            relative, spread = slope[4], 0.0
            for a in range(5):
                if a < 4:
                    relative += slope[a] * g[place[a]]
                for b in range(5):
                    spread += slope[a] * slope[b] * known[place[a], place[b]]
            variance[table, pair] = sigma2[table] * relative
            df[table, pair] = 2.0 * relative**2 / spread
    return variance, df


@kernel
def fit_common(squares, df):
    """Pool the mean squares (tables, 5) of strata in the order of kernels' tree, df (5,).

    Returns the expected mean squares (tables, 5), and the df (tables, 5) of the strata that share each, which are
    marked by the first of them (tables, 5).
    """
    n_tables = len(squares)
    expected, pooled = np.empty((n_tables, 5)), np.empty((n_tables, 5))
    block = np.empty((n_tables, 5), dtype=np.int64)
    for table in range(n_tables):
        home, total, count = np.arange(5), squares[table] * df, df.copy()
        while True:
            smallest, lowest, above = np.inf, -1, -1
            for k in range(5):
                if _PARENT[k] < 0 or home[_PARENT[k]] == home[k]:
                    continue
                value = total[home[k]] / count[home[k]]
                over = home[_PARENT[k]]
                if value <= total[over] / count[over] and value < smallest:
                    smallest, lowest, above = value, home[k], over
            if lowest < 0:
                break
            total[above] += total[lowest]
            count[above] += count[lowest]
            for k in range(5):
                if home[k] == lowest:
                    home[k] = above
        for k in range(5):
            expected[table, k] = total[home[k]] / count[home[k]]
            pooled[table, k] = count[home[k]]
            block[table, k] = home[k]
    return expected, pooled, block
