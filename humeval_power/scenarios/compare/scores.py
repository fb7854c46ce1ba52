"""Metric scores of two systems on the same items: the power of a paired test of their differences.

The differences are normal, or drawn with replacement from differences that were observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.compare.effect_sizes import pseudomedian, signed_rank_effect
from humeval_power.inference.compare.result import Floats
from humeval_power.inference.compare.signed_ranks import EXACT_RANKS_UP_TO, tail_p, untied_share
from humeval_power.inference.noncentral_t import noncentral_t_tail, significant_sizes
from humeval_power.inference.ranked_values import exact_difference, mid_ranks
from humeval_power.kernels.metrics.resampling import hodges_lehmann_rows
from humeval_power.scenarios.blocks import BLOCK, draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Replicates

PairedScoreTest = Literal["t", "wilcoxon"]
_CELLS = 4_000_000  # scores in memory at once
_ALIKE = 1  # status: differences without spread, which a t test cannot judge


@dataclass(frozen=True, eq=False)
class NormalScores:
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
    def true_effect(self) -> float:
        """Mean difference, which is also the median and the pseudomedian."""
        return self.effect

    def with_effect(self, effect: float) -> NormalScores:
        """The same items with another mean difference."""
        return replace(self, effect=effect)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test comparisons `first` to `first + n - 1`."""

        def block(rng: np.random.Generator, size: int) -> Replicates:
            return _tested(self.effect + self.sd * rng.standard_normal((size, self.n)), self)

        return draw_in_blocks(block, n, seed=seed, first=first, n_jobs=n_jobs, size=_rows(self.n))

    def computed(self) -> ComputedPower:
        """By the noncentral t; for Wilcoxon's test on its effective number of items, 3 / pi of them."""
        if self.test == "t":
            return t_power(self.effect / self.sd, self.n, alternative=self.alternative, alpha=self.alpha)
        found = t_power(
            self.effect / self.sd, self.n * 3 / math.pi, alternative=self.alternative, alpha=self.alpha
        )
        return replace(
            found, method="noncentral t with 3/pi of the items (asymptotic efficiency)", exact=False
        )


@dataclass(frozen=True, eq=False)
class ResampledScores:
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

    def with_effect(self, effect: float) -> ResampledScores:
        """The same differences moved to another effect."""
        return replace(self, effect=effect)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Resample and test comparisons `first` to `first + n - 1`."""
        pool = self._pool

        def block(rng: np.random.Generator, size: int) -> Replicates:
            return _tested(pool[rng.integers(len(pool), size=(size, self.n))], self)

        return draw_in_blocks(block, n, seed=seed, first=first, n_jobs=n_jobs, size=_rows(self.n))

    def computed(self) -> ComputedPower:
        """For the t test by the noncentral t with the SD of the differences; for Wilcoxon's from the normal
        distribution of its U-statistic (Lehmann 1975, appendix 4), with the variance that they estimate."""
        return self.computed_with(self.n)

    def computed_with(self, n: int) -> ComputedPower:
        """The same with another number of items, without looking at the differences anew."""
        if self.test == "wilcoxon":
            return self._ranks_power(n)
        ratio = self.true_effect / float(self.observed.std(ddof=1))
        found = t_power(ratio, n, alternative=self.alternative, alpha=self.alpha)
        return replace(found, method="noncentral t with the SD of the differences", exact=False)

    def _ranks_power(self, n: int) -> ComputedPower:
        r, sd, share = self._ranks
        shift, sides = r * math.sqrt(share * n), 2 if self.alternative == "two-sided" else 1
        critical, sd = -float(special.ndtri(self.alpha / sides)), max(sd, 1e-9)
        up = float(special.ndtr((shift - critical) / sd)) if self.alternative != "less" else 0.0
        down = float(special.ndtr((-shift - critical) / sd)) if self.alternative != "greater" else 0.0
        right, wrong = (up, down) if r >= 0 else (down, up)
        type_s = wrong / (up + down) if r != 0 and up + down > 0 else math.nan
        method = "normal distribution of the signed ranks, variance of the differences"
        return ComputedPower(right, up + down, math.nan, type_s, method, exact=False)

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
        return _t_tests(differences, scenario)
    return _wilcoxon_tests(differences, scenario)


def _t_tests(differences: Floats, scenario: NormalScores | ResampledScores) -> Replicates:
    n = differences.shape[1]
    mean, sd = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    flat = np.ptp(differences, axis=1) == 0
    error = sd / math.sqrt(n)
    t = mean / np.where(flat, np.nan, error)
    tail = special.stdtr(n - 1.0, -t if scenario.alternative == "greater" else t)
    if scenario.alternative == "two-sided":
        tail = 2 * special.stdtr(n - 1.0, -np.abs(t))
    empty = flat & (mean == 0)
    return Replicates(
        mean,
        error,
        np.full(len(mean), n - 1.0),
        np.where(empty, 1.0, tail),
        np.where(flat & ~empty, _ALIKE, 0).astype(np.int64),
        np.zeros((len(mean), 0), dtype=np.bool_),
    )


def _wilcoxon_tests(differences: Floats, scenario: NormalScores | ResampledScores) -> Replicates:
    """Exact by the table of signed ranks where there are no ties, else the normal approximation."""
    size, n = differences.shape
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
    unknown = np.full(size, np.nan)
    return Replicates(
        hodges_lehmann_rows(np.sort(differences, axis=1)),
        unknown,
        unknown,
        p_value,
        np.zeros(size, dtype=np.int64),
        np.zeros((size, 0), dtype=np.bool_),
    )


def _rows(n_items: int) -> int:
    """Replicates in a block: a power of two that keeps its scores in memory."""
    return min(BLOCK, 1 << max(3, int(math.log2(max(8, _CELLS // n_items)))))


def _check(n: int, alpha: float) -> None:
    if n < 2:
        raise InputError(f"At least 2 items are needed; got {n}.")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")
