"""Comparisons of several systems over many studies: statistics from points of their law, and what was found."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import kernel


@kernel
def rejected_at_points(difference, score, error, table, low, step, critical, row, two_sided, claim, margin):
    """Which comparisons show their claim at each point of their law, (points, pairs).

    difference : (points, pairs) estimated differences; error (pairs,) their standard errors on average.
    score : (points, pairs) standard normal numbers that place each comparison's estimated variance in its own law.
    table : (pairs, knots) sqrt(chi2 / df) at scores low, low + step, ...
    critical : (rows, 1) for a single step, (rows, pairs) for Holm's, the largest first.
    row : (pairs,) the row of each pair in it.
    claim : 0 the difference is above -margin, 1 it lies within the margins; unless two-sided, for a difference.
    """
    n, n_pairs = difference.shape
    n_steps, last = critical.shape[1], table.shape[1] - 2
    rejected = np.zeros((n, n_pairs), dtype=np.bool_)
    need, count = np.empty(n_pairs, dtype=np.int64), np.empty(n_steps + 1, dtype=np.int64)
    for point in range(n):
        count[:] = 0
        for pair in range(n_pairs):
            place = (score[point, pair] - low) / step
            knot = min(max(int(place), 0), last)
            place = min(max(place - knot, 0.0), 1.0)
            spread = (1.0 - place) * table[pair, knot] + place * table[pair, knot + 1]
            value = difference[point, pair]
            if two_sided:
                value = abs(value)
            elif claim == 1:
                value = margin - abs(value)
            else:
                value += margin
            value /= error[pair] * spread
            passed = n_steps  # the first of Holm's steps at which it would pass
            while passed > 0 and value > critical[row[pair], passed - 1]:
                passed -= 1
            need[pair] = passed
            count[passed] += 1
        if n_steps == 1:
            for pair in range(n_pairs):
                rejected[point, pair] = need[pair] == 0
            continue
        steps, met = 0, 0
        for number in range(n_steps):  # Holm goes on while as many would have passed
            met += count[number]
            if met < number + 1:
                break
            steps = number + 1
        for pair in range(n_pairs):
            rejected[point, pair] = need[pair] < steps
    return rejected


@kernel
def count_found(
    means,
    difference,
    rejected,
    sign,
    real,
    sought,
    two_sided,
    column,
    has_groups,
    leader,
    best,
    totals,
    each,
):
    """Add what studies found to `totals` (8,) and `each` (pairs,).

    means (n, K), difference and rejected (n, pairs) : what studies estimated and which claims they showed.
    sign, real, sought : of each pair (pairs,): its true sign, whether its claim is true, whether it is one of those
        that the goal 'pair' is about.
    column : (K, K) the comparison of two systems, where there is one; has_groups says that there is for any two.
    leader : the truly best system, where all of its comparisons are made, else below 0; best (K,) whether a system
        is truly best.

    The totals: share of sought, any, all, best, first, false, wrong sign, size of the top group.
    """
    n, n_pairs = difference.shape
    n_systems = means.shape[1]
    n_real, n_sought = real.sum(), max(sought.sum(), 1)
    for study in range(n):
        n_found, looked, false, wrong = 0, 0, False, False
        for pair in range(n_pairs):
            if not rejected[study, pair]:
                continue
            if not real[pair]:
                false = True
            elif two_sided and (difference[study, pair] > 0) != (sign[pair] > 0):
                wrong = True
                continue
            else:
                n_found += 1
                looked += sought[pair]
            each[pair] += 1
        highest = means[study].argmax()
        totals[0] += looked / n_sought
        totals[1] += n_found > 0
        totals[2] += n_found == n_real
        totals[4] += best[highest]
        totals[5] += false
        totals[6] += wrong
        if leader >= 0:
            is_right = True
            for system in range(n_systems):
                if system != leader:
                    pair = column[leader, system]
                    above = (
                        difference[study, pair] * sign[pair] > 0
                    )  # the true sign says that the leader is above
                    is_right = is_right and rejected[study, pair] and above
            totals[3] += is_right
        if has_groups:
            for system in range(n_systems):
                totals[7] += system == highest or not rejected[study, column[highest, system]]
