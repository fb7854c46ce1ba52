"""Tests of paired right-or-wrong answers: only the items that one system alone got right count.

Every function takes arrays of counts, one entry a study. All tests are two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import ConditionalTest as ConditionalTest

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_BLOCK = 4096  # critical counts that are worked out together and kept
_TIE = 1e-9  # statistics that differ by less are equal


def asymptotic_p(only_b: ArrayLike, only_a: ArrayLike) -> Floats:
    """McNemar's (1947) test: (b - c) / sqrt(b + c) against the normal distribution, uncorrected."""
    b, c = _counts(only_b, only_a)
    return np.asarray(2 * special.ndtr(-np.abs(b - c) / np.sqrt(np.maximum(b + c, 1))))


def exact_p(only_b: ArrayLike, only_a: ArrayLike) -> Floats:
    """Conditional on b + c: the binomial test at one half."""
    b, c = _counts(only_b, only_a)
    return np.asarray(np.minimum(2 * at_most(np.minimum(b, c), b + c), 1.0))


def mid_p(only_b: ArrayLike, only_a: ArrayLike) -> Floats:
    """The exact test with half the probability of tables as likely as the observed one (Fagerland,
    Lydersen & Laake 2013): 2 F(c) - f(c), and 1 - f(c) / 2 where b = c."""
    b, c = _counts(only_b, only_a)
    fewer = np.minimum(b, c)
    below, before = at_most(fewer, b + c), at_most(fewer - 1, b + c)
    equal = np.where(b + c == 0, 1.0, 1 - (below - before) / 2)
    return np.asarray(np.where(b == c, equal, below + before))


P_VALUES: Mapping[ConditionalTest, Callable[[ArrayLike, ArrayLike], Floats]] = {
    "mid-p": mid_p,
    "asymptotic": asymptotic_p,
    "exact": exact_p,
}


def tabulated_p(only_b: Counts, only_a: Counts, *, test: ConditionalTest) -> Floats:
    """The same p-values from one table of binomial tails: quicker for many pairs with similar b + c."""
    if test == "asymptotic":
        return asymptotic_p(only_b, only_a)
    total, fewer = only_b + only_a, np.minimum(only_b, only_a)
    lowest, highest = int(total.min()), int(total.max())
    ways = special.gammaln(np.arange(highest + 1) + 1.0)
    rows, columns = np.arange(lowest, highest + 1)[:, None], np.arange(highest // 2 + 1)
    left = rows - columns
    log_chance = ways[rows] - ways[columns] - ways[np.maximum(left, 0)] - rows * np.log(2.0)
    chance = np.where(left >= 0, np.exp(log_chance), 0.0)
    below = np.cumsum(chance, axis=1)[total - lowest, fewer]
    if test == "exact":
        return np.asarray(np.minimum(2 * below, 1.0))
    mine = chance[total - lowest, fewer]
    equal = np.where(total == 0, 1.0, 1 - mine / 2)
    return np.asarray(np.where(only_b == only_a, equal, 2 * below - mine))


def at_most(count: Counts, n: Counts, share: float = 0.5) -> Floats:
    """P(X <= count) of a binomial count; 0 for a negative count."""
    below = special.bdtr(np.maximum(count, 0).astype(np.float64), n, share)
    return np.asarray(np.where(count < 0, 0.0, below))


def critical_counts(n_discordant: Counts, *, test: ConditionalTest, alpha: float) -> Counts:
    """The largest min(b, c) that is significant, for each b + c; -1 where none is."""
    blocks = n_discordant // _BLOCK
    found = np.empty_like(n_discordant)
    for block in np.unique(blocks):
        inside = blocks == block
        found[inside] = _critical_block(test, alpha, int(block))[n_discordant[inside] - block * _BLOCK]
    return found


def beyond(n_discordant: Counts, critical_z: float) -> Counts:
    """The largest min(b, c) with |b - c| / sqrt(b + c) >= critical_z; -1 where none is."""
    if np.isinf(critical_z):
        return np.full_like(n_discordant, -1)
    root = np.sqrt(n_discordant)
    largest = np.floor((n_discordant - critical_z * root) / 2 + _TIE)
    return np.where(n_discordant == 0, -1, np.maximum(largest, -1)).astype(np.int64)


@lru_cache(maxsize=512)
def _critical_block(test: ConditionalTest, alpha: float, block: int) -> Counts:
    n = np.arange(block * _BLOCK, (block + 1) * _BLOCK, dtype=np.int64)
    z = -float(special.ndtri(alpha / 2))
    count = beyond(n, z)
    if test == "asymptotic":
        return count
    while (rising := (2 * count + 2 <= n) & (at_most(count + 1, n) <= alpha / 2)).any():
        count = count + rising
    while (falling := (count >= 0) & (at_most(count, n) > alpha / 2)).any():
        count = count - falling
    if test == "mid-p":  # at most one more than the exact test: F(c) + F(c - 1) <= alpha
        more = (2 * count + 2 <= n) & (at_most(count + 1, n) + at_most(count, n) <= alpha)
        count = count + more
    return count


def _counts(only_b: ArrayLike, only_a: ArrayLike) -> tuple[Counts, Counts]:
    return np.asarray(only_b, dtype=np.int64), np.asarray(only_a, dtype=np.int64)
