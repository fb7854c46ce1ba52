"""Metric scores of items in clusters: whole clusters are drawn again, and tested with CR2 errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean, Direction, clustered_mean
from humeval_power.inference.compare.result import Floats
from humeval_power.scenarios.blocks import BLOCK, draw_in_blocks
from humeval_power.scenarios.compare.scores import mean_power
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Replicates

_CELLS = 4_000_000  # clusters in memory at once
_ALIKE = 1  # status: clusters without spread, which a t test cannot judge


@dataclass(frozen=True, eq=False)
class ResampledClusters:
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
        if self.n < 2:
            raise InputError(f"At least 2 clusters are needed; got {self.n}.")
        if not 0 < self.alpha < 0.5:
            raise InputError(f"alpha must lie between 0 and 0.5; got {self.alpha:g}.")

    @property
    def true_effect(self) -> float:
        """Mean of what is drawn from."""
        return self._observed.estimate if self.effect is None else self.effect

    def with_effect(self, effect: float) -> ResampledClusters:
        """The same clusters moved to another mean."""
        return replace(self, effect=effect)

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

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Draw and test comparisons `first` to `first + n - 1`."""
        size = min(BLOCK, 1 << max(3, int(math.log2(max(8, _CELLS // self.n)))))
        return draw_in_blocks(self._block, n, seed=seed, first=first, n_jobs=n_jobs, size=size)

    def _block(self, rng: np.random.Generator, size: int) -> Replicates:
        drawn = rng.integers(self.clusters.n_clusters, size=(size, self.n))
        sizes = self.clusters.sizes[drawn].astype(np.float64)
        if not self.normal:
            return _tested(self._sums[drawn], sizes, self)
        between, within = self._spreads
        means = self.true_effect + between * rng.standard_normal(sizes.shape)
        return _tested(
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


def _tested(sums: Floats, sizes: Floats, scenario: ResampledClusters) -> Replicates:
    """Student's t with CR2 errors of each row of clusters, df of Bell and McCaffrey."""
    total = sizes.sum(axis=1, keepdims=True)
    mean = sums.sum(axis=1, keepdims=True) / total
    shares = sizes / total
    left = (sums - sizes * mean) / total
    error = np.sqrt((left**2 / (1 - shares)).sum(axis=1))
    beside = shares**2 / (1 - shares)
    squares = beside.sum(axis=1) ** 2 - (beside**2).sum(axis=1)
    df = 1 / ((shares**2).sum(axis=1) + squares)
    estimate = mean[:, 0]
    flat = error <= 1e-13 * np.abs(sums).max(axis=1)
    t = estimate / np.where(flat, np.nan, error)
    tail = special.stdtr(df, -t if scenario.alternative == "greater" else t)
    if scenario.alternative == "two-sided":
        tail = 2 * special.stdtr(df, -np.abs(t))
    empty = flat & (estimate == 0)
    return Replicates(
        estimate,
        error,
        df,
        np.where(empty, 1.0, tail),
        np.where(flat & ~empty, _ALIKE, 0).astype(np.int64),
        np.zeros((len(estimate), 0), dtype=np.bool_),
    )
