"""Leaderboards the plain way: pairs in dictionaries, draws in loops."""

import itertools
import math

import numpy as np


def slow_max_t(p, pairs, draws):
    """Adjusted p-values of pairs (i, j) with one-sided p by Romano and Wolf's step-down, written out."""
    from scipy import stats

    z = {pair: stats.norm.isf(p[pair]) for pair in pairs}
    order = sorted(pairs, key=lambda pair: -z[pair])
    deviation = {(i, j): math.sqrt(np.mean((draws[:, i] - draws[:, j]) ** 2)) for i, j in pairs}
    adjusted, before = {}, 0.0
    for place, pair in enumerate(order):
        reached = 0
        for draw in draws:
            reversed_ = max((draw[j] - draw[i]) / deviation[i, j] for i, j in order)
            left = max((draw[i] - draw[j]) / deviation[i, j] for i, j in order[place:])
            reached += max(reversed_, left) >= z[pair]
        before = max(before, (1 + reached) / (1 + len(draws)))
        adjusted[pair] = before
    return adjusted


def slow_holm(p):
    """Step by step: the smallest of the ordered hypotheses that are left, of which a pair has two."""
    left, adjusted, before = 2 * len(p), {}, 0.0
    for pair in sorted(p, key=lambda pair: p[pair]):
        before = max(before, min(left * p[pair], 1.0))
        adjusted[pair] = before
        left -= 1
    return adjusted


def longest_chains(apart, k):
    """The longest chains of systems, each better than the next, that end above k and that begin below it."""
    K = len(apart)

    def longest(here, follow):
        return max((1 + longest(other, follow) for other in range(K) if follow(here, other)), default=0)

    return longest(k, lambda a, b: apart[b, a]), longest(k, lambda a, b: apart[a, b])


def half_point_law(strengths, sides, theta, order, tie):
    """Chances of 2 wins + ties of a system over single battles, by listing all results."""
    law = {}
    for results in itertools.product((2, 1, 0), repeat=len(strengths)):
        chance = 1.0
        for strength, side, points in zip(strengths, sides, results, strict=True):
            eta = side * (theta - strength) + order
            weight = {
                "first": math.exp(eta / 2),
                "tie": 0.0 if tie is None else math.exp(tie),
                "second": math.exp(-eta / 2),
            }
            who = "tie" if points == 1 else "first" if (points == 2) == (side > 0) else "second"
            chance *= weight[who] / sum(weight.values())
        law[sum(results)] = law.get(sum(results), 0.0) + chance
    return law
