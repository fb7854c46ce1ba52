"""The distribution of Wilcoxon's signed-rank sum over all assignments of signs."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from humeval_power.inference.clustered import Direction
from humeval_power.inference.compare.result import Floats
from humeval_power.inference.ranked_values import mid_ranks

EXACT_RANKS_UP_TO = 200  # differences other than zero; beyond, the normal approximation is as good


def rank_sum_share(doubled_ranks: np.ndarray) -> Floats:
    """Probability of each doubled rank sum 0, 1, ...: every rank is in it or not, with equal chances."""
    share = np.ones(1)
    for rank in doubled_ranks:
        share = (np.pad(share, (0, rank)) + np.pad(share, (rank, 0))) / 2
    return share


@lru_cache(maxsize=64)
def untied_share(n: int) -> Floats:
    """Probability of each rank sum 0 to n (n + 1) / 2 of the ranks 1 to n."""
    return rank_sum_share(np.arange(1, n + 1))


def exact_rank_sum_p(ranks: Floats, rank_sum: float, alternative: Direction) -> float:
    """P-value of a signed-rank sum given its ranks, mid-ranks for ties."""
    share = rank_sum_share(np.round(2 * ranks).astype(np.int64))  # mid-ranks are halves
    place = round(2 * rank_sum)
    return float(tail_p(share, np.array([place]), alternative)[0])


def signed_rank_z(active: Floats) -> tuple[float, float]:
    """Z of Wilcoxon's test without zeros, and the SD of its rank sum under the null, ties corrected."""
    n = len(active)
    ranks = mid_ranks(np.abs(active))
    sizes = np.unique(ranks, return_counts=True)[1].astype(float)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    spread = math.sqrt(variance)
    return (float(ranks[active > 0].sum()) - n * (n + 1) / 4) / spread, spread


def tail_p(share: Floats, place: np.ndarray, alternative: Direction) -> Floats:
    """P-values of outcomes by their place in a distribution; two-sided is twice the smaller tail."""
    at_most = np.cumsum(share)[place]
    at_least = np.cumsum(share[::-1])[::-1][place]
    if alternative == "two-sided":
        return np.asarray(np.minimum(1.0, 2 * np.minimum(at_most, at_least)))
    return np.asarray(np.minimum(1.0, at_least if alternative == "greater" else at_most))
