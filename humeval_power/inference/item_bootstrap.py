"""Statistics of items drawn again with replacement: a value with an interval, or the reason for neither."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.simulation.study import replicate_generator

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]
DEFAULT_RESAMPLES = 1000
_TOGETHER = 16  # resamples: a sparse table is walked once for all of them
_MIN_DEFINED = 0.9  # share of resamples that must have a value for their percentiles to mean anything


@dataclass(frozen=True, slots=True)
class Measure:
    """A value with the ends of its interval; NaN where not defined, and then `reason` says why."""

    value: float
    low: float
    high: float
    reason: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether there is a value at all."""
        return math.isfinite(self.value)


def undefined(reason: str) -> Measure:
    """A measure without a value."""
    return Measure(math.nan, math.nan, math.nan, reason)


def check_bootstrap(n_resamples: int, confidence: float) -> None:
    """Refuse impossible numbers of resamples and confidences."""
    if n_resamples < 1:
        raise InputError(f"At least 1 resample is needed; got {n_resamples}.")
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")


def item_resamples(n_items: int, *, n_resamples: int, seed: int) -> Counts:
    """How often each item is drawn, shape (n_resamples, n_items); resample i uses child i of the seed."""
    children = np.random.SeedSequence(seed).spawn(n_resamples)
    counts = np.empty((n_resamples, n_items), dtype=np.int32)
    for row, child in zip(counts, children, strict=True):
        row[:] = np.bincount(
            np.random.default_rng(child).integers(n_items, size=n_items), minlength=n_items
        )
    return counts


def measure(
    statistic: Callable[[Floats], float],
    resamples: Counts,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    reason: str,
) -> Measure:
    """A statistic of item weights at weights of one, with the percentiles of its values in the resamples.

    Parameters
    ----------
    statistic : from how often each item counts, shape (n_items,), to a value, NaN where not defined.
    resamples : (n_resamples, n_items), as `item_resamples` gives them.
    reason : why there is no value, should there be none.
    """
    return measure_together(
        lambda weights: np.array([statistic(column) for column in weights.T.copy()]),
        resamples,
        confidence=confidence,
        reason=reason,
    )


def measure_together(
    statistic: Callable[[Floats], Floats],
    resamples: Counts,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    reason: str,
) -> Measure:
    """`measure` of a statistic that takes weights (n_items, r) to (r,) values, some resamples at a time.

    Without an interval of one item, and where all resamples are 1, as of items on which all agree.
    """
    value = float(statistic(np.ones((resamples.shape[1], 1)))[0])
    if not math.isfinite(value):
        return undefined(reason)
    blocks = (resamples[first : first + _TOGETHER] for first in range(0, len(resamples), _TOGETHER))
    result = np.concatenate([statistic(block.T.astype(float, order="C")) for block in blocks])
    result = result[np.isfinite(result)]
    if len(result) < _MIN_DEFINED * len(resamples):
        return Measure(value, math.nan, math.nan, "too few items for an interval")
    if resamples.shape[1] < 2 or np.abs(result - 1).max() <= _ROUNDING:
        why = "one item does" if resamples.shape[1] < 2 else "items on which all agree do"
        return Measure(value, math.nan, math.nan, f"{why} not show how items differ")
    low, high = np.quantile(result, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Measure(value, float(low), float(high))


# Randomisation of whole clusters: where two systems are alike, any cluster's answers may be exchanged
# between them, and nothing less than a cluster may.

Signs = NDArray[np.int8]
_ROUNDING = 1e-12  # what adding up leaves of a probability


def swapped_sum_p(gains: Floats, clusters: Clusters) -> float:
    """Two-sided p-value of the sum of whole numbers over every exchange of whole clusters, 2^G of them.

    The sum of +-s_g has the characteristic function prod cos(s_g t); its probabilities are a discrete Fourier
    transform of that, so that nothing is drawn and nothing listed. With a cluster for each item and gains of 1, 0
    and -1 it is McNemar's exact test.

    gains : (n_items,), whole numbers, such as right of B minus right of A.
    """
    from scipy import fft

    sums = np.round(np.abs(clusters.sums(gains))).astype(np.int64)
    observed, largest = abs(int(np.round(gains.sum()))), int(sums.sum())
    if observed == 0:
        return 1.0
    length = int(fft.next_fast_len(2 * largest + 2, real=True))
    angle = 2 * np.pi * np.arange(length // 2 + 1) / length
    wave = np.ones(len(angle))
    for size, count in zip(*np.unique(sums[sums > 0], return_counts=True), strict=True):
        wave *= np.cos(size * angle) ** int(count)
    chance = np.maximum(fft.irfft(wave, n=length)[: largest + 1], 0.0)
    return float(min(1.0, max(2 * chance[observed:].sum(), _ROUNDING)))


def listed_swaps(n_clusters: int) -> Signs:
    """Every exchange of clusters as +1 and -1, shape (2^(G - 1), G); the first stays, for exchanging all of them
    turns a difference round and no more."""
    codes = np.arange(2 ** (n_clusters - 1))[:, None]
    rest = 1 - 2 * ((codes >> np.arange(n_clusters - 1)) & 1)
    return np.concatenate([np.ones_like(codes), rest], axis=1).astype(np.int8)


def drawn_swaps(n_clusters: int, n_swaps: int, rng: np.random.Generator) -> Signs:
    """Random exchanges, shape (n_swaps, G)."""
    return (1 - 2 * rng.integers(0, 2, size=(n_swaps, n_clusters), dtype=np.int8)).astype(np.int8)


# Draws that belong to a seed, and what is known of a p-value that was drawn.


def in_blocks(
    draw: Callable[[np.random.Generator, int], Floats], n_resamples: int, *, seed: int, n_jobs: int = 1
) -> Floats:
    """The first `n_resamples` rows of an endless sequence: block b is drawn from child b of the seed, so a
    longer run extends a shorter one and `n_jobs` changes nothing."""
    blocks = range(-(-n_resamples // RESAMPLE_BLOCK))

    def part(block: int) -> Floats:
        return draw(replicate_generator(seed, block), RESAMPLE_BLOCK)

    if n_jobs == 1:
        return np.concatenate([part(block) for block in blocks])[:n_resamples]
    with ThreadPoolExecutor(n_jobs) as pool:
        return np.concatenate(list(pool.map(part, blocks)))[:n_resamples]


def drawn_p(count: int, total: int) -> float:
    """(1 + count) / (1 + total): the observed data are one of the draws, so p is never 0
    (Phipson and Smyth 2010)."""
    return (1 + count) / (1 + total)


def monte_carlo_interval(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's (1934) interval for the p-value that endless draws would give."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, tail))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1 - tail))
    return low, high


RESAMPLE_BLOCK = 256  # resamples drawn from one child of the seed; part of what a seed means


# Shares of simulated studies, or of judgements: Wilson's interval, and the quantiles of a binomial count.

CONFIDENCE = 0.95


def wilson_interval(count: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's (1927) interval for a share; (NaN, NaN) without observations."""
    if n == 0:
        return math.nan, math.nan
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share = count / n
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # it holds the share; at 0 and 1 rounding would leave it a digit outside
    return min(share, max(0.0, center - reach)), max(share, min(1.0, center + reach))


def binomial_interval(confidence: float, n: int, share: float) -> tuple[int, int]:
    """Quantiles of a binomial count that leave out (1 - confidence) / 2 on either side, as scipy.stats does."""
    tail = (1 - confidence) / 2
    return binomial_quantile(tail, n, share), binomial_quantile(1 - tail, n, share)


def binomial_quantile(probability: float, n: int, share: float) -> int:
    """The smallest k with P(X <= k) >= `probability`, of a binomial count X."""
    return bisect_left(range(n), probability, key=lambda count: binomial_at_most(count, n, share))


def binomial_at_most(count: int, n: int, share: float = 0.5) -> float:
    """P(X <= count) of a binomial count X."""
    if not 0 <= count < n:
        return float(count >= n)
    from scipy.special import betainc

    return float(betainc(n - count, count + 1, 1 - share))
