"""Two systems whose answers are generated anew for each item: power of the test of the items' mean difference.

Sources: Miller (2024) for the parts of the variance; Bell and McCaffrey (2002) for the error of clustered items.
"""

from __future__ import annotations

import math
import sys
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from humeval_power.errors import InputError, Problem
from humeval_power.inference.clustered import bell_mccaffrey_df
from humeval_power.inference.study.formula import EffectPrecision
from humeval_power.inference.study.wald import wald_p
from humeval_power.rules import DecisionRule
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.blocks import BLOCK, draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Floats, Replicates
from humeval_power.scenarios.runs.cluster_sizes import mean_partners
from humeval_power.scenarios.runs.item_shares import ItemShares
from humeval_power.scenarios.runs.plan import RunsPlan, computed_power, unit_of

_CELLS = 2_000_000  # numbers in memory at once
_ALIKE = 1  # status: differences without spread, of which there is no test
_SLACK = 1e-12


@dataclass(frozen=True)
class NestedRuns:
    """A plan, what scores vary by, and a true difference B - A, all in the unit of the scores.

    Of answers that are right or wrong the items' chances are drawn, and answers from them; the test is the same.
    """

    parameters: RunsParameters
    plan: RunsPlan
    _: KW_ONLY
    effect: float

    def __post_init__(self) -> None:
        if self.parameters.kind != "nested":
            raise InputError("These parameters are of crossed runs: take CrossedRuns.")
        self.plan.rule(self.unit)  # refuses what is no test
        low, high = self.means if self.parameters.family == "binary" else (0.5, 0.5)
        if not (min(low, high) >= -_SLACK and max(low, high) <= 1 + _SLACK):
            raise InputError(
                [
                    Problem(
                        f"A difference of {self.effect:g} around a share of {self.parameters.baseline:g} leaves "
                        f"[0, 1]: A would be right in {low:.4g}, B in {high:.4g} of the answers.",
                        "The baseline is halfway between both systems.",
                    )
                ]
            )

    @property
    def true_effect(self) -> float:
        """Difference B - A of the means."""
        return self.effect

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self.plan.alpha

    @property
    def means(self) -> tuple[float, float]:
        """Mean scores of A and B, about 0 where no baseline is known."""
        middle = self.parameters.baseline or 0.0
        return middle - self.effect / 2, middle + self.effect / 2

    @cached_property
    def realised(self) -> RunsParameters:
        """The parameters that studies with this effect have: of right and wrong answers a share and the variances
        within and between items bound each other, and the nearest possible ones are taken."""
        if self.parameters.family != "binary":
            return self.parameters
        shares = self.shares
        noise = [
            math.sqrt(max(mean * (1 - mean) - variance, 0.0))
            for mean, variance in ((shares.mean_a, shares.variance_a), (shares.mean_b, shares.variance_b))
        ]
        return replace(self.parameters, sd_item=shares.sd_item, sd_run_a=noise[0], sd_run_b=noise[1])

    @cached_property
    def shares(self) -> ItemShares:
        """Items' chances of a right answer."""
        of, (mean_a, mean_b) = self.parameters, (min(max(mean, 0.0), 1.0) for mean in self.means)
        return ItemShares(
            mean_a,
            mean_b,
            max(mean_a * (1 - mean_a) - of.sd_run_a**2, 0.0),
            max(mean_b * (1 - mean_b) - of.sd_run_b**2, 0.0),
            of.sd_item,
            of.icc,
        )

    def with_effect(self, effect: float) -> NestedRuns:
        """The same study with another difference."""
        return replace(self, effect=effect)

    @property
    def variance(self) -> float:
        """Of the estimated difference: the sizes of the clusters are those of the plan, not of an endless one."""
        plan = self.plan
        size = mean_partners(plan.sizes)
        return self.realised.error_variance(
            n_items=plan.n_items, runs_a=plan.runs_a, runs_b=plan.runs_b, cluster_size=size
        )

    @cached_property
    def df(self) -> float:
        """Bell and McCaffrey's degrees of freedom; clusters of equal size have one less than there are."""
        sizes = self.plan.sizes
        equal = int(sizes[0]) == int(sizes[-1])
        return float(len(sizes) - 1) if equal else bell_mccaffrey_df(sizes.astype(np.float64))

    @property
    def precision(self) -> EffectPrecision:
        """Variance and df of the difference, over the unit."""
        return EffectPrecision(self.variance / self.unit**2, self.df, len(self.plan.sizes) - 1, sys.maxsize)

    def computed(self) -> ComputedPower:
        """By the noncentral t."""
        equal = self.plan.sizes[0] == self.plan.sizes[-1]
        normal = self.parameters.family == "gaussian"
        return computed_power(
            self.effect / self.unit,
            self.precision,
            rule=self.rule,
            method="noncentral t" if normal and equal else "noncentral t (approximate)",
            exact=bool(normal and equal),
        )

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test comparisons `first` to `first + n - 1`."""
        binary = self.parameters.family == "binary"
        width = self.plan.n_items if binary else len(self.plan.sizes)
        rows = min(BLOCK, 1 << max(2, int(math.log2(max(4, _CELLS // width)))))
        drawn = self._binary_sums if binary else self._gaussian_sums

        def block(rng: np.random.Generator, size: int) -> Replicates:
            return self.decide(drawn(rng, size))

        return draw_in_blocks(block, n, seed=seed, first=first, n_jobs=n_jobs, size=rows)

    def decide(self, sums: Floats) -> Replicates:
        """Test comparisons by the sums of their items' differences in each cluster, shape (size, n_clusters)."""
        sizes, n = self.plan.sizes.astype(np.float64), self.plan.n_items
        estimate = sums.sum(axis=1) / n
        left = sums - sizes * estimate[:, None]
        error = np.sqrt((left**2) @ (1 / (1 - sizes / n))) / n
        flat = ~(error > _SLACK * np.abs(estimate)) | (error == 0)
        df = np.full(len(estimate), self.df)
        unit = self.unit
        p_value = wald_p(
            estimate / unit,
            np.where(flat, np.nan, error / unit),
            df,
            self.rule.alternative,
            margin=self.rule.margin,
        )
        nothing = flat & (estimate == 0) & (self.plan.margin is None)
        return Replicates(
            estimate,
            error,
            df,
            np.where(nothing, 1.0, p_value),
            np.where(flat & ~nothing, _ALIKE, 0).astype(np.int64),
            np.zeros((len(estimate), 0), dtype=np.bool_),
            directed=self.plan.margin is None,
        )

    def _gaussian_sums(self, rng: np.random.Generator, size: int) -> Floats:
        of, plan, sizes = self.parameters, self.plan, self.plan.sizes.astype(np.float64)
        own = of.sd_item**2 * (1 - of.icc) + of.sd_run_a**2 / plan.runs_a + of.sd_run_b**2 / plan.runs_b
        spread = np.sqrt(sizes**2 * of.sd_item**2 * of.icc + sizes * own)
        return np.asarray(sizes * self.effect + spread * rng.standard_normal((size, len(sizes))))

    def _binary_sums(self, rng: np.random.Generator, size: int) -> Floats:
        plan, sizes = self.plan, self.plan.sizes
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chance_a, chance_b = self.shares.draw(rng, size, cluster)
        right_a = rng.binomial(plan.runs_a, np.clip(chance_a, 0, 1)) / plan.runs_a
        right_b = rng.binomial(plan.runs_b, np.clip(chance_b, 0, 1)) / plan.runs_b
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        return np.asarray(np.add.reduceat(right_b - right_a, starts, axis=1))

    @property
    def unit(self) -> float:
        """What scores are divided by inside."""
        return unit_of(self.parameters, self.plan)

    @cached_property
    def rule(self) -> DecisionRule:
        """The test, of scores that are divided by the unit."""
        return self.plan.rule(self.unit)
