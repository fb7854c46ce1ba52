"""Tests of paired right-or-wrong answers: only the items that one system alone got right count.

Every function takes arrays of counts, one entry a study. All tests are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import ConditionalTest

if TYPE_CHECKING:
    from scipy import sparse

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
    values = np.empty_like(n_discordant)
    for block in np.unique(blocks):
        inside = blocks == block
        values[inside] = _critical_block(test, alpha, int(block))[n_discordant[inside] - block * _BLOCK]
    return values


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


# Suissa and Shuster's (1991) exact unconditional test of paired right-or-wrong answers.

_PER_SD = 3  # points of the grid of the nuisance parameter in one standard deviation of its estimate
_FINE = 33  # finer points between the two neighbours of the best one
_TOGETHER = 64  # statistics whose tails are tabulated at once
_BISECTIONS = 45
LARGEST = 100_000  # items; with more, p-values are those of this number, at most 2 % larger
_INTERPOLATED_AT = 20_000  # items at which p-values are tabulated for larger numbers
_EXACT_UP_TO = 5_000  # items; with more, p-values of many tables at once are interpolated
_KNOTS = np.linspace(0.0, 8.0, 97)
_GAP = 1e-7  # narrower than the distance between two statistics that tables of usual size can have


def unconditional_p(only_b: ArrayLike, only_a: ArrayLike, n_items: int) -> Floats:
    """Two-sided p-values: the largest probability of |Z| as large as observed, Z = (b - c) / sqrt(b + c),
    over every possible rate of discordant items.

    More than 64 different statistics of more than 5,000 items are interpolated, to about 15 % (the p-value
    is a step function); `critical_z` is not. Beyond 100,000 items the p-value is that of 100,000, which is
    larger by about z / sqrt(100,000) of itself at most and so never too bold.

    Parameters
    ----------
    only_b, only_a : counts of items that one system alone got right, one entry a study.
    n_items : items in each study.
    """
    b, c = np.atleast_1d(np.asarray(only_b, dtype=np.int64), np.asarray(only_a, dtype=np.int64))
    statistic = np.abs(b - c) / np.sqrt(np.maximum(b + c, 1))
    distinct, place = np.unique(statistic, return_inverse=True)
    if n_items > _EXACT_UP_TO and len(distinct) > _TOGETHER:
        p_value = _interpolated(distinct, min(n_items, _INTERPOLATED_AT))
    else:
        p_value = worst_case(distinct, min(n_items, LARGEST))
    return p_value[place].reshape(np.broadcast_shapes(b.shape, c.shape))


def _interpolated(statistic: Floats, n_items: int) -> Floats:
    """About the same, from the ratio to the asymptotic p-value at a hundred statistics."""
    known = np.interp(statistic, _KNOTS, _ratio_at_knots(n_items))
    p_value = np.minimum(known * 2 * special.ndtr(-statistic), 1.0)
    return np.asarray(np.where(statistic == 0, 1.0, p_value))


@lru_cache(maxsize=64)
def _ratio_at_knots(n_items: int) -> Floats:
    return worst_case(_KNOTS, n_items) / (2 * special.ndtr(-_KNOTS))


def worst_case(statistic: Floats, n_items: int) -> Floats:
    """sup of P(|Z| >= statistic) over the rate of discordant items, one for each statistic >= 0."""
    result = np.ones(len(statistic))
    for start in range(0, len(statistic), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        tails = _tails(statistic[part], n_items)
        angles, weights = _grid(n_items)
        best = np.asarray(weights @ tails).argmax(axis=0)
        for point in np.unique(best):
            fine = np.linspace(angles[max(point - 1, 0)], angles[min(point + 1, len(angles) - 1)], _FINE)
            here = np.flatnonzero(best == point)
            result[start + here] = _vertex(np.asarray(_mixture(fine, n_items) @ tails[:, here]))
    result[statistic == 0] = 1.0
    return np.minimum(result, 1.0)


@lru_cache(maxsize=4096)
def critical_z(n_items: int, alpha: float) -> float:
    """The smallest |Z| that is significant; infinite where no table of this size is."""
    n_items = min(n_items, LARGEST)
    low, high = 0.0, math.sqrt(n_items)
    if worst_case(np.array([high]), n_items)[0] > alpha:
        return math.inf
    guess = -float(special.ndtri(alpha / 2))
    for near in (guess + 0.1, guess - 0.1):
        if low < near < high:
            reached = worst_case(np.array([near]), n_items)[0] <= alpha
            low, high = (low, near) if reached else (near, high)
    for _ in range(_BISECTIONS):
        if high - low < 1e-9:
            break
        middle = (low + high) / 2
        reached = worst_case(np.array([middle]), n_items)[0] <= alpha
        low, high = (low, middle) if reached else (middle, high)
    return high + _GAP  # just above a statistic that is not significant


def _vertex(values: Floats) -> Floats:
    """The maximum of each column of equally spaced values: of the parabola through the three highest."""
    top = np.clip(values.argmax(axis=0), 1, len(values) - 2)
    left, middle, right = (np.take_along_axis(values, (top + step)[None], axis=0)[0] for step in (-1, 0, 1))
    curvature = left - 2 * middle + right
    rise = (right - left) ** 2 / (8 * np.where(curvature < 0, -curvature, 1.0))
    inside = (curvature < 0) & (np.abs(right - left) < -2 * curvature)
    return np.asarray(np.maximum(values.max(axis=0), np.where(inside, middle + rise, 0.0)))


def _tails(statistic: Floats, n_items: int) -> Floats:
    """P(|Z| >= statistic | b + c), shape (n_items + 1, statistics)."""
    total = np.arange(n_items + 1, dtype=np.int64)
    return np.column_stack([np.minimum(2 * at_most(beyond(total, z), total), 1.0) for z in statistic])


@lru_cache(maxsize=4)
def _grid(n_items: int) -> tuple[Floats, sparse.csr_array]:
    """Angles whose squared sine is the rate of discordant items, and the distribution of b + c at each.

    In the angle every binomial share has the standard deviation 1 / (2 sqrt(n)).
    """
    points = max(64, math.ceil(_PER_SD * math.pi * math.sqrt(n_items)))
    angles = np.linspace(0.0, math.pi / 2, points)
    return angles, _mixture(angles, n_items)


def _mixture(angles: Floats, n_items: int) -> sparse.csr_array:
    from scipy import sparse

    share = np.sin(angles) ** 2
    reach = 8.5 * np.sqrt(n_items * share * (1 - share)) + 12
    low = np.maximum(np.floor(n_items * share - reach), 0).astype(np.int64)
    high = np.minimum(np.ceil(n_items * share + reach), n_items).astype(np.int64)
    lengths = high - low + 1
    ends = np.concatenate([[0], np.cumsum(lengths)])
    total = np.arange(ends[-1]) - np.repeat(ends[:-1] - low, lengths)
    weight = binomial_pmf(total, n_items, np.repeat(share, lengths))
    return sparse.csr_array((weight, total, ends), shape=(len(angles), n_items + 1))


def binomial_pmf(count: Counts, n: Counts | int, share: Floats | float) -> Floats:
    """P(X = count) of a binomial count, for arrays."""
    ways = special.gammaln(n + 1) - special.gammaln(count + 1) - special.gammaln(n - count + 1)
    return np.asarray(np.exp(ways + special.xlogy(count, share) + special.xlog1py(n - count, -share)))
