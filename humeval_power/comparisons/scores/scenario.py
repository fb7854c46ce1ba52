"""Metric scores of two systems on the same items: the power of a paired test of their differences.

The differences are normal, or drawn with replacement from differences that were observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import ConditionalTest
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.effect_sizes import (
    EXACT_RANKS_UP_TO,
    Floats,
    pseudomedian,
    signed_rank_effect,
    tail_p,
    untied_share,
)
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean, Direction, clustered_mean
from humeval_power.inference.exact_comparison import exact_difference, mid_ranks
from humeval_power.inference.mcnemar import critical_counts
from humeval_power.inference.student_t import noncentral_t_tail, significant_sizes
from humeval_power.kernels.metrics.corpus import hodges_lehmann_rows
from humeval_power.scenarios.contract import BLOCK, BlockScenario, ComputedPower, Replicates
from humeval_power.scenarios.discordant_counts import enumerated_power

PairedScoreTest = Literal["t", "wilcoxon"]
_CELLS = 4_000_000  # scores in memory at once
_ALIKE = 1  # status: differences without spread, which a t test cannot judge


@dataclass(frozen=True, eq=False)
class NormalScores(BlockScenario):
    """`n` items whose differences B - A are normal with mean `effect` and SD `sd`, in the metric's units."""

    n: int
    effect: float
    sd: float
    test: PairedScoreTest = "t"
    alternative: Direction = "two-sided"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        _check(self.n, self.alpha)
        if not (self.sd > 0 and math.isfinite(self.sd)):
            raise InputError(f"The SD of the differences must be above 0; got {self.sd}.")

    @property
    def block_size(self) -> int:
        return _rows(self.n)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        return _tested(self.effect + self.sd * rng.standard_normal((size, self.n)), self)

    def computed(self) -> ComputedPower:
        """By the noncentral t; for Wilcoxon's test on its effective number of items, 3 / pi of them."""
        if self.test == "t":
            return t_power(self.effect / self.sd, self.n, alternative=self.alternative, alpha=self.alpha)
        power = t_power(
            self.effect / self.sd, self.n * 3 / math.pi, alternative=self.alternative, alpha=self.alpha
        )
        return replace(
            power, method="noncentral t with 3/pi of the items (asymptotic efficiency)", exact=False
        )


@dataclass(frozen=True, eq=False)
class ResampledScores(BlockScenario):
    """`n` items drawn with replacement from `observed` differences, moved to a true effect.

    The effect is the mean for the t test and the pseudomedian for Wilcoxon's. Where it is that of the
    observed differences (None), nothing is moved and ties stay ties.
    """

    n: int
    observed: Floats
    effect: float | None = None
    test: PairedScoreTest = "t"
    alternative: Direction = "two-sided"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        _check(self.n, self.alpha)
        if len(self.observed) < 2:
            raise InputError(f"At least 2 observed differences are needed; got {len(self.observed)}.")

    @property
    def true_effect(self) -> float:
        """Mean or pseudomedian of what is drawn from."""
        return self._observed_effect if self.effect is None else self.effect

    @cached_property
    def _observed_effect(self) -> float:
        if self.test == "t":
            return float(self.observed.mean())
        return pseudomedian(np.sort(self.observed))

    @property
    def block_size(self) -> int:
        return _rows(self.n)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        return _tested(self._pool[rng.integers(len(self._pool), size=(size, self.n))], self)

    def computed(self) -> ComputedPower:
        """For the t test by the noncentral t with the SD of the differences; for Wilcoxon's from the normal
        distribution of its U-statistic (Lehmann 1975, appendix 4), with the variance that they estimate."""
        return self.computed_with(self.n)

    def computed_with(self, n: int) -> ComputedPower:
        """The same with another number of items, without looking at the differences anew."""
        if self.test == "wilcoxon":
            r, sd, share = self._ranks
            shift, sides = r * math.sqrt(share * n), 2 if self.alternative == "two-sided" else 1
            critical, sd = -float(special.ndtri(self.alpha / sides)), max(sd, 1e-9)
            up = float(special.ndtr((shift - critical) / sd)) if self.alternative != "less" else 0.0
            down = float(special.ndtr((-shift - critical) / sd)) if self.alternative != "greater" else 0.0
            right, wrong = (up, down) if r >= 0 else (down, up)
            type_s = wrong / (up + down) if r != 0 and up + down > 0 else math.nan
            method = "normal distribution of the signed ranks, variance of the differences"
            return ComputedPower(right, up + down, math.nan, type_s, method, exact=False)
        ratio = self.true_effect / float(self.observed.std(ddof=1))
        power = t_power(ratio, n, alternative=self.alternative, alpha=self.alpha)
        return replace(power, method="noncentral t with the SD of the differences", exact=False)

    @cached_property
    def _ranks(self) -> tuple[float, float, float]:
        """Wilcoxon's r and the SD of Z around it, and the share of items that are not ties."""
        pool = self._pool
        return (*signed_rank_effect(pool), float((pool != 0).mean()))

    @cached_property
    def _pool(self) -> Floats:
        """The observed differences, moved to the true effect."""
        if self.effect is None or self.effect == self._observed_effect:
            return self.observed
        return exact_difference(self.observed, self._observed_effect - self.effect)


def t_power(
    ratio: float, n: float, *, alternative: Direction = "two-sided", alpha: float = 0.05
) -> ComputedPower:
    """Power, Type M and Type S of the paired t test by the noncentral t.

    ratio : mean difference over the SD of the differences. n : items; may be fractional.
    """
    return mean_power(
        ratio * math.sqrt(n),
        n - 1,
        alternative=alternative,
        alpha=alpha,
        method="noncentral t distribution",
        exact=True,
    )


def mean_power(
    shift: float, df: float, *, alternative: Direction, alpha: float, method: str, exact: bool
) -> ComputedPower:
    """Power, Type M and Type S of a t test of a mean.

    shift : true mean over its standard error. `method` and `exact` are said of the result.
    """
    sides = 2 if alternative == "two-sided" else 1
    critical = -float(special.stdtrit(df, alpha / sides))
    up = noncentral_t_tail(critical, df, shift) if alternative != "less" else 0.0
    down = noncentral_t_tail(critical, df, -shift) if alternative != "greater" else 0.0
    right, wrong = (up, down) if shift >= 0 else (down, up)
    type_m = type_s = math.nan
    if shift != 0 and up + down > 0:
        over, under = significant_sizes(shift, df, critical)
        size = {"two-sided": over + under, "greater": over, "less": under}[alternative]
        type_m, type_s = size / (abs(shift) * (up + down)), wrong / (up + down)
    return ComputedPower(right, up + down, type_m, type_s, method, exact)


def _tested(differences: Floats, scenario: NormalScores | ResampledScores) -> Replicates:
    if scenario.test == "t":
        n = differences.shape[1]
        error = differences.std(axis=1, ddof=1) / math.sqrt(n)
        flat, df = np.ptp(differences, axis=1) == 0, np.full(len(differences), n - 1.0)
        return _of_means(differences.mean(axis=1), error, df, flat, scenario.alternative)
    return _wilcoxon_tests(differences, scenario)


def _of_means(
    mean: Floats, error: Floats, df: Floats, flat: NDArray[np.bool_], alternative: Direction
) -> Replicates:
    """Student's t tests of means, those `flat` of which there is nothing to judge by."""
    t = mean / np.where(flat, np.nan, error)
    tail = special.stdtr(df, -t if alternative == "greater" else t)
    if alternative == "two-sided":
        tail = 2 * special.stdtr(df, -np.abs(t))
    empty = flat & (mean == 0)
    status = np.where(flat & ~empty, _ALIKE, 0).astype(np.int64)
    p_value = np.where(empty, 1.0, tail)
    return Replicates.of_tests(mean, p_value, standard_error=error, df=df, status=status)


def _wilcoxon_tests(differences: Floats, scenario: NormalScores | ResampledScores) -> Replicates:
    """Exact by the table of signed ranks where there are no ties, else the normal approximation."""
    n = differences.shape[1]
    ranks = mid_ranks(np.abs(differences))
    zeros = (differences == 0).sum(axis=1)
    active = (n - zeros).astype(float)
    rank_sum = np.where(differences > 0, ranks - zeros[:, None], 0.0).sum(axis=1)
    # the sum of t^3 - t over ties is that of squared ranks which mid-ranks lose, times 12
    squares = np.where(differences != 0, (ranks - zeros[:, None]) ** 2, 0.0).sum(axis=1)
    z = (rank_sum - active * (active + 1) / 4) / np.sqrt(np.where(active > 0, squares / 4, 1.0))
    tails = {
        "greater": special.ndtr(-z),
        "less": special.ndtr(z),
        "two-sided": 2 * special.ndtr(-np.abs(z)),
    }
    p_value = np.where(active > 0, tails[scenario.alternative], 1.0)
    untied = (zeros == 0) & np.isclose(squares, n * (n + 1) * (2 * n + 1) / 6, rtol=1e-12)
    if n <= EXACT_RANKS_UP_TO and untied.any():
        place = rank_sum[untied].astype(np.int64)
        p_value[untied] = tail_p(untied_share(n), place, scenario.alternative)
    return Replicates.of_tests(hodges_lehmann_rows(np.sort(differences, axis=1)), p_value)


def _rows(n_items: int) -> int:
    """Replicates in a block: a power of two that keeps its scores in memory."""
    return min(BLOCK, 1 << max(3, int(math.log2(max(8, _CELLS // n_items)))))


def _check(n: int, alpha: float, *, of: str = "items") -> None:
    if n < 2:
        raise InputError(f"At least 2 {of} are needed; got {n}.")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")


# On how many items is B better? The power of the sign test, and of McNemar's for 0/1 scores.


@dataclass(frozen=True, slots=True)
class SignScores(BlockScenario):
    """`n` items, of which a share `ties` scores the same under both systems.

    The effect is the share of items on which B is better, ties counted half, minus one half. The test is
    the exact binomial one, or with `mid_p` McNemar's mid-p.
    """

    n: int
    effect: float
    ties: float = 0.0
    alternative: Direction = "two-sided"
    alpha: float = 0.05
    mid_p: bool = False

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"At least 2 items are needed; got {self.n}.")
        if not 0 <= self.ties <= 1 or abs(self.effect) > (1 - self.ties) / 2 + 1e-12:
            raise InputError(
                f"With a share of {self.ties:g} ties, B can be better on at most {(1 - self.ties) / 2:g} more "
                f"or less than one half of the items; got {self.effect:g}."
            )

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        half = (1 - self.ties) / 2
        shares = np.clip([half + self.effect, half - self.effect, self.ties], 0.0, 1.0)
        up, down, _ = rng.multinomial(self.n, shares / shares.sum(), size=size).T
        fewer = {"greater": down, "less": up, "two-sided": np.minimum(up, down)}[self.alternative]
        total = up + down
        tail = special.bdtr(fewer.astype(float), total, 0.5)
        if self.mid_p:
            below = np.where(fewer > 0, special.bdtr(np.maximum(fewer - 1.0, 0.0), total, 0.5), 0.0)
            tail = (tail + below) / 2
        p_value = np.minimum(1.0, 2 * tail if self.alternative == "two-sided" else tail)
        return Replicates.of_tests((up - down) / (2 * self.n), p_value)

    def computed(self) -> ComputedPower:
        """Exact power by enumeration of the items that are better and worse."""
        is_two_sided = self.alternative == "two-sided"
        rightly = (self.effect >= 0) == (self.alternative == "greater")
        level = self.alpha if is_two_sided else 2 * self.alpha  # each side is tested at half of it
        test: ConditionalTest = "mid-p" if self.mid_p else "exact"
        return enumerated_power(
            self.n,
            discordant=1 - self.ties,
            difference=min(max(2 * self.effect, self.ties - 1), 1 - self.ties),
            true_effect=self.effect,
            critical=lambda total: critical_counts(total, test=test, alpha=level),
            weight=lambda total: np.full(len(total), 1 / (2 * self.n)),
            sides="both" if is_two_sided else "right" if rightly else "wrong",
        )


# Metric scores of items in clusters: whole clusters are drawn again, and tested with CR2 errors.


@dataclass(frozen=True, eq=False)
class ResampledClusters(BlockScenario):
    """`n` clusters like those observed, `values` of their items moved to a true mean `effect`.

    The values are differences B - A, or what a test of signs or ranks makes of them; None moves nothing. With
    `normal` the sums of the clusters are drawn from a normal law with the variance between and within the
    observed clusters, their sizes from those observed.
    """

    n: int
    values: Floats
    clusters: Clusters
    effect: float | None = None
    alternative: Direction = "two-sided"
    alpha: float = 0.05
    normal: bool = False

    def __post_init__(self) -> None:
        _check(self.n, self.alpha, of="clusters")

    @property
    def true_effect(self) -> float:
        """Mean of what is drawn from."""
        return self._observed.estimate if self.effect is None else self.effect

    @property
    def varies(self) -> bool:
        """Whether the values have a spread between clusters, without which there is no test."""
        return self._observed.standard_error > 1e-13 * float(np.abs(self.values).max())

    @cached_property
    def _observed(self) -> ClusteredMean:
        return clustered_mean(self.values, self.clusters)

    @cached_property
    def _sums(self) -> Floats:
        shift = 0.0 if self.effect is None else self.effect - self._observed.estimate
        return self.clusters.sums(self.values) + shift * self.clusters.sizes

    @cached_property
    def _spreads(self) -> tuple[float, float]:
        """SD of the means of clusters and of the items within them."""
        icc = self._observed.icc
        share = min(max(icc, 0.0), 1.0) if math.isfinite(icc) else 0.0
        sd = float(self.values.std(ddof=1))
        return sd * math.sqrt(share), sd * math.sqrt(1 - share)

    @property
    def block_size(self) -> int:
        return _rows(self.n)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        drawn = rng.integers(self.clusters.n_clusters, size=(size, self.n))
        sizes = self.clusters.sizes[drawn].astype(np.float64)
        if not self.normal:
            return _tested_of_clusters(self._sums[drawn], sizes, self)
        between, within = self._spreads
        means = self.true_effect + between * rng.standard_normal(sizes.shape)
        return _tested_of_clusters(
            sizes * means + np.sqrt(sizes) * within * rng.standard_normal(sizes.shape), sizes, self
        )

    def computed(self) -> ComputedPower:
        """By the noncentral t with the CR2 error of the observed clusters, for so many like them."""
        return self.computed_with(self.n)

    def computed_with(self, n: int) -> ComputedPower:
        """The same with another number of clusters, without looking at the values anew."""
        observed, n_observed = self._observed, self.clusters.n_clusters
        error = observed.standard_error * math.sqrt(n_observed / n)
        return mean_power(
            self.true_effect / error,
            observed.df * (n - 1) / (n_observed - 1),
            alternative=self.alternative,
            alpha=self.alpha,
            method="noncentral t with the CR2 error of the clusters",
            exact=False,
        )


def _tested_of_clusters(sums: Floats, sizes: Floats, scenario: ResampledClusters) -> Replicates:
    """Student's t with CR2 errors of each row of clusters, df of Bell and McCaffrey."""
    total = sizes.sum(axis=1, keepdims=True)
    mean = sums.sum(axis=1, keepdims=True) / total
    shares = sizes / total
    left = (sums - sizes * mean) / total
    error = np.sqrt((left**2 / (1 - shares)).sum(axis=1))
    beside = shares**2 / (1 - shares)
    squares = beside.sum(axis=1) ** 2 - (beside**2).sum(axis=1)
    df = 1 / ((shares**2).sum(axis=1) + squares)
    flat = error <= 1e-13 * np.abs(sums).max(axis=1)
    return _of_means(mean[:, 0], error, df, flat, scenario.alternative)
