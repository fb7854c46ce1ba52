"""Exact power of a test that looks at two counts, of items won by B and by A, and at nothing else.

Shared by paired accuracy (items that one system alone got right) and preferences (wins and losses).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.mcnemar import at_most, binomial_pmf
from humeval_power.scenarios.contract import ComputedPower

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Sides = Literal["both", "right", "wrong"]
ENUMERATION = "enumeration of every table"
_REACH = 8.3  # standard deviations: the probability beyond is below 1e-16


def enumerated_power(
    n: int,
    *,
    discordant: float,
    difference: float,
    true_effect: float,
    critical: Callable[[Counts], Counts],
    weight: Callable[[Counts], Floats],
    sides: Sides = "both",
) -> ComputedPower:
    """Power, Type M and Type S over every pair of counts (b, c) with K = b + c binomial(n, discordant)
    and b binomial(K, (discordant + difference) / (2 discordant)).

    critical : the largest min(b, c) that is significant for each K; -1 where none is.
    weight : what the estimate is for each K, divided by b - c.
    sides : what the test can claim: either sign, only that of the difference, or only the other.
    """
    total = binomial_window(n, discordant)
    chance = binomial_pmf(total, n, discordant)
    chance /= chance.sum()
    limit, scale = critical(total), chance * weight(total)
    share = (1 + abs(difference) / discordant) / 2 if discordant > 0 else 0.5
    none = np.zeros(len(total))
    above, size_above = (none, none) if sides == "wrong" else _below(limit, total, 1 - share)
    below, size_below = (none, none) if sides == "right" else _below(limit, total, share)
    right, wrong = float(chance @ above), float(chance @ below)
    size = float(scale @ (size_above + size_below))
    return ComputedPower(
        power=right,
        rejection_rate=right + wrong,
        type_m=_ratio(size, (right + wrong) * abs(true_effect)),
        type_s=_ratio(wrong, right + wrong) if true_effect else math.nan,
        method=ENUMERATION,
        exact=True,
    )


def approximate_power(
    n: int, *, discordant: float, difference: float, true_effect: float, alpha: float, per_item: float = 1.0
) -> ComputedPower:
    """The same by the normal approximation of (b - c) / sqrt(b + c) (Duffy 1984; Connett et al. 1987).

    per_item : the estimate is this times (b - c) / n.
    """
    z = -float(special.ndtri(alpha / 2))
    mean, gap = abs(difference), z * math.sqrt(discordant / n)
    error = math.sqrt(max(discordant - difference**2, 0.0) / n)
    if error == 0:
        surely = float(mean > 0 and mean >= gap)
        return ComputedPower(surely, surely, 1.0 if surely else math.nan, 0.0, _DUFFY, exact=False)
    high, low = (mean - gap) / error, (-mean - gap) / error
    right, wrong = float(special.ndtr(high)), float(special.ndtr(low))
    density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
    size = per_item * (mean * (right - wrong) + error * density)
    return ComputedPower(
        power=right,
        rejection_rate=right + wrong,
        type_m=_ratio(size, (right + wrong) * abs(true_effect)),
        type_s=_ratio(wrong, right + wrong) if true_effect else math.nan,
        method=_DUFFY,
        exact=False,
    )


_DUFFY = "normal approximation (Duffy 1984)"


def binomial_window(n: int, share: float) -> Counts:
    """The counts that a binomial variable takes, but for a probability below 1e-15."""
    reach = _REACH * math.sqrt(n * share * (1 - share)) + 12
    low, high = math.floor(n * share - reach), math.ceil(n * share + reach)
    return np.arange(max(low, 0), min(high, n) + 1, dtype=np.int64)


def _below(limit: Counts, total: Counts, share: float) -> tuple[Floats, Floats]:
    """P(Y <= limit) and E[K - 2 Y; Y <= limit] for Y binomial(K, share).

    E[Y; Y <= L] is K share P(Y' <= L - 1) of Y' with a trial less, and P(Y' <= L - 1) is P(Y <= L) without
    what has L in the first K - 1 trials and fails in the last, (K - L) / K P(Y = L).
    """
    below, last = at_most(limit, total, share), np.maximum(limit, 0)
    at_limit = np.where(limit < 0, 0.0, binomial_pmf(last, total, share))
    return below, total * below * (1 - 2 * share) + 2 * share * (total - last) * at_limit


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


# Fast draws of paired counts: one random number picks one of all likely tables.

MOST_TABLES = 250_000
_REACH_DISCORDANT_DRAWS = 7.0  # standard deviations; what is left out has a probability below 1e-10
_MORE = 8.0  # and this many counts, for skewed distributions
_BUCKETS = 8_192


@dataclass(frozen=True, slots=True, eq=False)
class LikelyTables:
    """All pairs of counts but for a probability of 1e-10, and how to pick one by inversion.

    `cumulative` is the probability of a table and those before it; `first` and `last` bound, for each
    bucket of random numbers, which tables they pick (a guide table: Chen & Asau 1974).
    """

    only_b: Counts
    only_a: Counts
    cumulative: Floats
    first: NDArray[np.intp]
    last: NDArray[np.intp]

    def pick(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Positions of `size` tables drawn independently."""
        number = rng.random(size)
        bucket = (number * _BUCKETS).astype(np.intp)
        place = self.first[bucket]
        unsure = np.flatnonzero(place != self.last[bucket])
        place[unsure] = np.searchsorted(self.cumulative, number[unsure], side="right")
        return place


def likely_tables(n: int, *, discordant: float, share: float) -> LikelyTables | None:
    """The tables of K binomial(n, discordant) and b binomial(K, share); None where they are many."""
    low, high = _window(np.array([n]), discordant)
    total = np.arange(low[0], high[0] + 1)
    low, high = _window(total, share)
    lengths = high - low + 1
    ends = np.cumsum(lengths)
    if ends[-1] > MOST_TABLES:
        return None
    row = np.repeat(np.arange(len(total)), lengths)
    only_b = np.arange(ends[-1]) - (ends - lengths - low)[row]
    only_a = total[row] - only_b
    ways = special.gammaln(np.arange(total[-1] + 1) + 1.0)
    log_row = ways[total] + np.log(np.maximum(binomial_pmf(total, n, discordant), 1e-300))
    log_chance = log_row[row] - ways[only_b] - ways[only_a]
    log_chance += special.xlogy(only_b, share) + special.xlog1py(only_a, -share)
    cumulative = np.cumsum(np.exp(log_chance))
    cumulative /= cumulative[-1]
    place = np.minimum(np.ceil(cumulative * _BUCKETS).astype(np.intp), _BUCKETS)
    edges = np.cumsum(np.bincount(place, minlength=_BUCKETS + 1))
    edges = np.minimum(edges, len(cumulative) - 1)
    return LikelyTables(only_b, only_a, cumulative, edges[:-1], edges[1:])


def _window(n: Counts, share: float) -> tuple[Counts, Counts]:
    """The lowest and highest likely binomial counts."""
    reach = _REACH_DISCORDANT_DRAWS * np.sqrt(n * share * (1 - share)) + _MORE
    low, high = np.floor(n * share - reach), np.ceil(n * share + reach)
    return np.maximum(low, 0).astype(np.int64), np.minimum(high, n).astype(np.int64)
