"""Two systems under the same prompts or seeds for all items: the rating study with a prompt for each worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from humeval_power.designs import Design, crossed, with_documents
from humeval_power.errors import InputError
from humeval_power.inference.study.formula import EffectPrecision, effect_precision
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.roots import root_between
from humeval_power.rules import DecisionRule
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.runs.cluster_sizes import mean_partners
from humeval_power.scenarios.runs.plan import RunsPlan, computed_power, unit_of
from humeval_power.scenarios.study import RatingStudy


@dataclass(frozen=True)
class CrossedRuns:
    """A plan, what scores vary by, and a true difference B - A in the unit of the scores.

    Prompts and items are both samples; the test is that of the crossed mixed model with Kenward and Roger's
    (1997) degrees of freedom, of answers that are right or wrong by a logit model.
    """

    parameters: RunsParameters
    plan: RunsPlan
    _: KW_ONLY
    effect: float

    def __post_init__(self) -> None:
        if self.parameters.kind != "crossed":
            raise InputError("These parameters are of nested runs: take NestedRuns.")
        if self.plan.runs_a != self.plan.runs_b or self.plan.runs_a < 2:
            raise InputError(
                f"Both systems have the same prompts, at least 2 of them; got {self.plan.runs_a} and "
                f"{self.plan.runs_b}."
            )
        self.plan.rule(self.unit)  # refuses what is no test

    @property
    def true_effect(self) -> float:
        """Difference B - A of the means."""
        return self.effect

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self.plan.alpha

    def with_effect(self, effect: float) -> CrossedRuns:
        """The same study with another difference."""
        return replace(self, effect=effect)

    @property
    def n_prompts(self) -> int:
        """Prompts or seeds."""
        return self.plan.runs_a

    @property
    def is_latent(self) -> bool:
        """Whether answers are right or wrong, and analysed so."""
        return self.parameters.family == "binary"

    @cached_property
    def ratings(self) -> Parameters:
        """The same model with a prompt for each worker, in scores that are divided by their unit.

        Raises
        ------
        ParametersError
            No effect on the log odds makes the difference.
        """
        return _ratings(self.parameters, self.effect, self.unit, clustered=self.plan.has_clusters)

    @cached_property
    def design(self) -> Design:
        """Every prompt with every item; clusters of items are documents."""
        plain = crossed(self.n_prompts, self.plan.n_items)
        if not self.plan.has_clusters:
            return plain
        sizes = self.plan.sizes
        codes = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        return replace(plain, n_documents=len(sizes), document_of_item=codes)

    @cached_property
    def study(self) -> RatingStudy:
        """The rating study that is simulated."""
        return RatingStudy(self.ratings, self.design, rule=self.rule)

    @cached_property
    def precision(self) -> EffectPrecision:
        """Variance and df of the difference, over the unit. Clusters of unequal size: those of the complete study
        with clusters as large as an item's own is on average, and the variance of the sizes there are."""
        sizes = self.plan.sizes
        if not self.plan.has_clusters or sizes[0] == sizes[-1]:
            return effect_precision(self.ratings, self.design)
        size = max(round(mean_partners(sizes)), 2)
        count = max(round(self.plan.n_items / size), 2)
        near = effect_precision(self.ratings, with_documents(crossed(self.n_prompts, count * size), count))
        ratio = self._variance(self.plan.n_items, mean_partners(sizes)) / self._variance(count * size, size)
        return replace(near, variance=near.variance * ratio)

    def computed(self) -> ComputedPower:
        """By the crossed model's variance, its expected df and the noncentral t."""
        method = "crossed model, noncentral t"
        if self.is_latent:
            method = "crossed logit model, noncentral t (too high with few prompts: see the simulation)"
        return computed_power(self.effect / self.unit, self.precision, rule=self.rule, method=method)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test comparisons `first` to `first + n - 1`."""
        drawn = self.study.draw(n, seed=seed, first=first, n_jobs=n_jobs)
        unit = self.unit
        return replace(drawn, estimate=unit * drawn.estimate, standard_error=unit * drawn.standard_error)

    def _variance(self, n_items: float, size: float) -> float:
        """Of the mean difference in a complete table, clusters having `size` items."""
        of = self.ratings
        between = of.sd_item_slope**2 + of.sd_document_slope**2 * size
        noise = 2 * of.sd_residual**2 / self.n_prompts
        return of.sd_worker_slope**2 / self.n_prompts + (between + noise) / n_items

    @property
    def unit(self) -> float:
        """What scores are divided by inside."""
        return unit_of(self.parameters, self.plan)

    @cached_property
    def rule(self) -> DecisionRule:
        """The test, of scores that are divided by the unit."""
        return self.plan.rule(self.unit, is_latent=self.is_latent)


@lru_cache(maxsize=64)
def _ratings(of: RunsParameters, effect: float, unit: float, *, clustered: bool) -> Parameters:
    shared = of.icc if clustered else 0.0
    deviations = {
        "sd_worker_intercept": of.sd_prompt_level / unit,
        "sd_worker_slope": of.sd_prompt_slope / unit,
        "sd_item_intercept": of.sd_item_level / unit,
        "sd_item_slope": of.sd_item * (1 - shared) ** 0.5 / unit,
        "sd_document_slope": of.sd_item * shared**0.5 / unit,
    }
    if of.family == "binary":
        assert of.baseline is not None
        return Parameters.of_latent(_with_share(of.baseline, deviations).with_difference(effect))
    middle = (of.baseline or 0.0) / unit
    residual = of.sd_residual / unit
    return Parameters(baseline=middle, effect=effect / unit, sd_residual=residual, **deviations)


def _with_share(baseline: float, deviations: Mapping[str, float]) -> Latent:
    """Right and wrong answers on log odds: without an effect this share is right."""

    def at(threshold: float) -> Latent:
        return Latent(thresholds=(threshold,), link="logit").with_deviations(**deviations)

    reach = 40.0
    threshold = root_between(lambda value: at(value).mean(0) - baseline, -reach, reach, xtol=1e-12)
    return at(float(threshold))
