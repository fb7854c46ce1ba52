"""Fast draws of paired counts: one random number picks one of all likely tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.unconditional import binomial_pmf

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
MOST_TABLES = 250_000
_REACH = 7.0  # standard deviations; what is left out has a probability below 1e-10
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
        found = self.first[bucket]
        unsure = np.flatnonzero(found != self.last[bucket])
        found[unsure] = np.searchsorted(self.cumulative, number[unsure], side="right")
        return found


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
    reach = _REACH * np.sqrt(n * share * (1 - share)) + _MORE
    low, high = np.floor(n * share - reach), np.ceil(n * share + reach)
    return np.maximum(low, 0).astype(np.int64), np.minimum(high, n).astype(np.int64)
