"""How large a paired difference is: estimates in the metric's units and standardised ones, with intervals.

Where items come in clusters the estimates are those of independent items, and the intervals know the clusters.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.answers import ROUNDING, Floats, all_alike
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean, Direction, clustered_mean
from humeval_power.inference.exact_comparison import mid_ranks
from humeval_power.inference.item_bootstrap import binomial_at_most
from humeval_power.kernels.metrics.corpus import pair_mean
from humeval_power.roots import root_between

# The distribution of Wilcoxon's signed-rank sum over all assignments of signs.

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


CR2 = "CR2"
_LISTED_UP_TO = 3000  # items whose pair means i < j are listed
_PAIRS_LISTED_UP_TO = (
    1000  # items whose pair means are listed sooner than the compiled count of them is loaded
)


@dataclass(frozen=True, slots=True)
class EffectSize:
    """An estimate with the ends of its interval; NaN or infinite where the data give none."""

    name: str
    label: str
    value: float
    low: float
    high: float
    method: str


def cohens_d(
    differences: Floats, clusters: Clusters | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> EffectSize:
    """Mean over SD of the differences (Zhu et al. 2020, eq. 2); exact interval by the noncentral t, in clusters by
    that of the mean over its CR2 error."""
    name, label, value = "cohens_d", "Cohen's d", standardised(differences)
    if clusters is None:
        root = math.sqrt(len(differences))
        low, high = noncentral_limits(value * root, len(differences) - 1, confidence)
        return EffectSize(name, label, value, low / root, high / root, "noncentral t")
    mean = clustered_mean(differences, clusters)
    scale = mean.standard_error / float(differences.std(ddof=1))
    if scale <= ROUNDING:
        return EffectSize(name, label, value, math.nan, math.nan, "no spread between clusters")
    low, high = noncentral_limits(mean.estimate / mean.standard_error, mean.df, confidence)
    return EffectSize(name, label, value, low * scale, high * scale, f"noncentral t, {CR2}")


def hedges_g(
    differences: Floats, *, confidence: float = DEFAULT_CONFIDENCE, as_published: bool = False
) -> EffectSize:
    """Cohen's d without its bias in small samples.

    The factor is exact for n differences, Gamma(df/2) / (sqrt(df/2) Gamma((df-1)/2)) with df = n - 1
    (Hedges 1981). `as_published` takes Zhu et al.'s (2020) eq. 3 instead, 1 - 3/(4n - 9), which is the
    approximation for two independent samples of n together.
    """
    n, d = len(differences), cohens_d(differences, confidence=confidence)
    if n < 3:
        raise InputError(f"Hedges' g needs at least 3 items; got {n}.")
    factor = 1 - 3 / (4 * n - 9) if as_published else unbiasing_factor(n - 1)
    name, method = ("hedges_g", "exact factor, noncentral t")
    if as_published:
        name, method = "hedges_g_as_published", "factor 1 - 3/(4n - 9), noncentral t"
    return EffectSize(name, "Hedges' g", d.value * factor, d.low * factor, d.high * factor, method)


def unbiasing_factor(df: int) -> float:
    """What a standardised mean with `df` degrees of freedom is multiplied by to lose its bias."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def wilcoxon_r(
    differences: Floats, clusters: Clusters | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> EffectSize:
    """Z / sqrt(n) of the signed-rank test, with ties (Zhu et al. 2020, eq. 4); n counts no zeros.

    The interval is that of the U-statistic P(d_i + d_j > 0) which Z estimates, with the variance of its
    projection, by clusters if there are any. 0 with an interval of no width where all differences are zero.
    """
    name, label, kept = "wilcoxon_r", "Wilcoxon r", differences != 0
    active, n = differences[kept], int(kept.sum())
    if clusters is not None:
        if n < 3 or len(np.unique(clusters.codes[kept])) < 2:
            return EffectSize(name, label, 0.0, math.nan, math.nan, "too few for an interval")
        value, projection, spread = projected_r(active)
        of_kept = clusters.only(kept)
        if all_alike(projection):
            return one_sided_r(value, n, spread, confidence, n_independent=of_kept.n_clusters)
        half, method = _half(clustered_mean(projection, of_kept), confidence), f", {CR2}"
    else:
        if n == 0:
            return EffectSize(name, label, 0.0, 0.0, 0.0, "no differences")
        z, spread = signed_rank_z(active)
        value = z / math.sqrt(n)
        if n < 3:
            return EffectSize(name, label, value, math.nan, math.nan, "too few for an interval")
        error = _r_error(active, spread)
        if error == 0:
            return one_sided_r(value, n, spread, confidence)
        half, method = -float(special.stdtrit(n - 1, (1 - confidence) / 2)) * error, ""
    low, high = max(value - half, -1.0), min(value + half, 1.0)
    return EffectSize(name, label, value, low, high, f"variance of the U-statistic{method}")


def _half(mean: ClusteredMean, confidence: float) -> float:
    """Half the length of the interval of a mean."""
    return -float(special.stdtrit(mean.df, (1 - confidence) / 2)) * mean.standard_error


def signed_rank_effect(differences: Floats) -> tuple[float, float]:
    """Wilcoxon's r, which is the mean of Z over the root of the items that are not tied, and the SD of Z.

    0 and 1 where all differences are zero; an SD of 0 where all sums of two differences have one sign.
    """
    active = differences[differences != 0]
    if len(active) < 3:
        return 0.0, 1.0
    z, spread = signed_rank_z(active)
    return z / math.sqrt(len(active)), _r_error(active, spread) * math.sqrt(len(active))


def _r_error(active: Floats, spread: float) -> float:
    """Standard error of r from the projection of the U-statistic; 0 where all sums d_i + d_j have one sign."""
    n, projection = len(active), _projection(active)
    if np.ptp(projection) == 0:
        return 0.0
    return 2 * float(projection.std(ddof=1)) / math.sqrt(n) * _r_scale(n, spread)


def projected_r(active: Floats) -> tuple[float, Floats, float]:
    """Wilcoxon's r, the values whose mean has its standard error, and the SD of the rank sum; without zeros."""
    z, spread = signed_rank_z(active)
    n = len(active)
    return z / math.sqrt(n), 2 * _r_scale(n, spread) * _projection(active), spread


def _r_scale(n: int, spread: float) -> float:
    return (n * (n - 1) / 2) / (spread * math.sqrt(n))


def _projection(active: Floats) -> Floats:
    """Share of the other items whose sum with each is above 0."""
    n, ordered = len(active), np.sort(active)
    above = n - np.searchsorted(ordered, -active, side="right")  # j with d_i + d_j > 0
    level = n - np.searchsorted(ordered, -active, side="left")
    return np.asarray(((above + level) / 2 - (active > 0)) / (n - 1))


def one_sided_r(
    value: float, n: int, spread: float, confidence: float, *, n_independent: int | None = None
) -> EffectSize:
    """Where all sums d_i + d_j have one sign, their variance says nothing: with n differences of one sign the
    probability of that sign is at least tail^(1/n) (Clopper and Pearson 1934), that of a sum its square."""
    at_least = ((1 - confidence) / 2) ** (2 / (n if n_independent is None else n_independent))
    bound = math.copysign((at_least - 0.5) * n * (n + 1) / 2 / (spread * math.sqrt(n)), value)
    low, high = sorted((bound, value))
    return EffectSize("wilcoxon_r", "Wilcoxon r", value, low, high, "all sums of one sign")


def signed_ranks(differences: Floats) -> Floats:
    """Ranks of the sizes with the signs of the differences, 0 for zeros; shape (n_items,)."""
    values, active = np.zeros(len(differences)), differences != 0
    values[active] = np.sign(differences[active]) * mid_ranks(np.abs(differences[active]))
    return values


def hodges_lehmann(
    differences: Floats,
    clusters: Clusters | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    distinct: bool = False,
) -> EffectSize:
    """Median of the pair means (w_i + w_j) / 2 over i <= j: an estimate of the pseudomedian.

    The interval holds the values that Wilcoxon's test would not reject; in clusters it runs between the pair means
    whose ranks are as far from the middle as the rank sum around the pseudomedian varies by clusters. `distinct`
    leaves out i = j, as Zhu et al. (2020, eq. 5) write it, for up to 3,000 items (beyond, the two are one number to
    the digits shown); the interval is the same.
    """
    ordered = np.sort(differences)
    n = len(ordered)
    name, label = "hodges_lehmann", "Hodges-Lehmann"
    if distinct and n <= _LISTED_UP_TO:
        name, label = "hodges_lehmann_as_published", "Hodges-Lehmann, i < j"
        first, second = np.triu_indices(n, k=1)
        value = float(np.median((ordered[first] + ordered[second]) / 2))
    else:
        value = pseudomedian(ordered)
    n_pairs, method = n * (n + 1) // 2, "pair means by signed ranks"
    if clusters is None:
        rank = _lower_rank(n, confidence)
    else:
        method = f"{method}, {CR2}"
        reach = n / 2 * _half(clustered_mean(signed_ranks(differences - value), clusters), confidence)
        rank = 1 + math.floor(n_pairs / 2 - reach) if reach < n_pairs / 2 else 0
    low, high = -math.inf, math.inf
    if rank >= 1:
        low, high = pair_means(ordered, [rank, n_pairs + 1 - rank])
    return EffectSize(name, label, value, low, high, method)


def pseudomedian(ordered: Floats) -> float:
    """The median of the pair means (w_i + w_j) / 2, i <= j, of values in rising order."""
    n_pairs = len(ordered) * (len(ordered) + 1) // 2
    low, high = pair_means(ordered, [(n_pairs + 1) // 2, n_pairs // 2 + 1])
    return (low + high) / 2


def pair_means(ordered: Floats, ranks: list[int]) -> list[float]:
    """The pair means of these ranks, from 1; those of many items are counted and never listed."""
    if len(ordered) > _PAIRS_LISTED_UP_TO:
        return [float(pair_mean(ordered, rank)) for rank in ranks]
    first, second = np.triu_indices(len(ordered))
    places = [rank - 1 for rank in ranks]
    listed: list[float] = np.partition((ordered[first] + ordered[second]) / 2, places)[places].tolist()
    return listed


@lru_cache(maxsize=64)
def _lower_rank(n: int, confidence: float) -> int:
    """Rank of the pair mean at which the interval starts; 0 where n is too small for one."""
    tail = (1 - confidence) / 2
    if n > EXACT_RANKS_UP_TO:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return 1 + math.floor(n * (n + 1) / 4 + float(special.ndtri(tail)) * spread)
    return int((np.cumsum(untied_share(n)) <= tail).sum())


def mean_difference(
    differences: Floats, clusters: Clusters | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> EffectSize:
    """Mean difference with Student's interval, in clusters of its CR2 error."""
    if clusters is not None:
        clustered = clustered_mean(differences, clusters)
        low, high = clustered.interval(confidence)
        method = f"{CR2}, {clustered.df:.4g} df"
        return EffectSize("mean", "Mean difference", clustered.estimate, low, high, method)
    n = len(differences)
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    half = -float(special.stdtrit(n - 1, (1 - confidence) / 2)) * error
    return EffectSize("mean", "Mean difference", mean, mean - half, mean + half, "Student's t")


def median_difference(
    differences: Floats, clusters: Clusters | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> EffectSize:
    """Median difference; the interval runs between two of the ordered differences (binomial), in clusters between
    the quantiles that the CR2 error of the share of items below the median reaches (Woodruff 1952)."""
    n, ordered = len(differences), np.sort(differences)
    median, (low, high), method = float(np.median(ordered)), (-math.inf, math.inf), "order statistics"
    if clusters is None:
        tail = (1 - confidence) / 2
        rank = bisect_right(
            range(n), tail, key=lambda count: binomial_at_most(count, n)
        )  # P(X < rank) <= tail
        if rank >= 1:
            low, high = float(ordered[rank - 1]), float(ordered[n - rank])
    else:
        method = f"quantiles, {CR2}"
        reach = _half(clustered_mean((1 + np.sign(median - differences)) / 2, clusters), confidence)
        if reach < 0.5:
            ends = max(0.0, 0.5 - reach), 0.5 + reach
            low, high = (float(np.quantile(differences, end, method="inverted_cdf")) for end in ends)
    return EffectSize("median", "Median difference", median, low, high, method)


def share_better(
    differences: Floats, clusters: Clusters | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> EffectSize:
    """Share of items on which B is better, ties counted half; interval of Bonett and Price (2012), in clusters of
    its CR2 error.

    Where it does not vary between clusters it is 0, 1/2 or 1 in each, and the interval holds the shares under
    which so many clusters would be alike with at least the probability that it leaves out.
    """
    name, label, n = "share_better", "Share B better", len(differences)
    if clusters is not None:
        clustered = clustered_mean((1 + np.sign(differences)) / 2, clusters)
        low, high = clustered.interval(confidence)
        if not clustered.standard_error > 0:
            reach = 1 - ((1 - confidence) / 2) ** (1 / clusters.n_clusters)
            low, high = clustered.estimate - reach, clustered.estimate + reach
        return EffectSize(name, label, clustered.estimate, max(0.0, low), min(1.0, high), CR2)
    up, down = int((differences > 0).sum()), int((differences < 0).sum())
    more_up, more_down = (up + 1) / (n + 2), (down + 1) / (n + 2)  # one more item of either kind
    center = more_up - more_down
    half = -float(special.ndtri((1 - confidence) / 2)) * math.sqrt(
        (more_up + more_down - center**2) / (n + 2)
    )
    low, high = max(0.0, 0.5 + (center - half) / 2), min(1.0, 0.5 + (center + half) / 2)
    return EffectSize(name, label, 0.5 + (up - down) / (2 * n), low, high, "Bonett and Price (2012)")


def standardised(differences: Floats) -> float:
    """Mean over SD; 0 where all differences are."""
    if all_alike(differences):
        if differences[0] == 0:
            return 0.0
        raise InputError(
            f"All {len(differences):,} differences are {differences[0]:g}: without spread there is no "
            "standardised effect."
        )
    return float(differences.mean() / differences.std(ddof=1))


def noncentral_limits(t: float, df: float, confidence: float) -> tuple[float, float]:
    """The noncentralities under which t is at either end of the middle `confidence`."""
    tail = (1 - confidence) / 2
    reach = 12 * math.sqrt(1 + t * t / (2 * df)) + 3

    def at_most(noncentrality: float) -> float:
        below = float(special.nctdtr(df, noncentrality, t))
        return below if math.isfinite(below) else float(noncentrality < t)  # too far out to be computed

    def limit(share: float) -> float:
        return root_between(lambda nc: at_most(nc) - share, t - reach, t + reach)

    return limit(1 - tail), limit(tail)
