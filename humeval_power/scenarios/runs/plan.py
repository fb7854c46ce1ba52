"""How a comparison over repeated runs is planned: how many of everything, and what it is to show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from humeval_power.errors import InputError, Problem
from humeval_power.inference.study.formula import EffectPrecision, power_at
from humeval_power.rules import Alternative, DecisionRule
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.runs.cluster_sizes import Sizes, check_clusters, cluster_sizes

MOST_ITEMS = 10_000_000  # each has its cluster in memory


@dataclass(frozen=True, kw_only=True)
class RunsPlan:
    """Items, runs and clusters, and the test, `margin` being a difference of scores in their unit.

    `runs_a` and `runs_b` are generations of each item by A and B; of crossed runs both are the number of prompts
    or seeds. `cluster_size` is the mean number of items in a cluster, `cluster_cv` its coefficient of variation.
    """

    n_items: int
    runs_a: int
    runs_b: int
    cluster_size: float = 1.0
    cluster_cv: float = 0.0
    alternative: Alternative = "two-sided"
    margin: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_clusters(self.cluster_size, self.cluster_cv)
        problems = []
        if not 2 <= self.n_items <= MOST_ITEMS:
            rule = f"at least 2 items are needed, and {MOST_ITEMS:,} at most; got {self.n_items:,}."
            problems.append(Problem(rule, "", "--n"))
        for name, runs in (("A", self.runs_a), ("B", self.runs_b)):
            if runs < 1:
                rule = f"each item has at least 1 run of {name}; got {runs}."
                problems.append(Problem(rule, "", "--runs"))
        if self.margin is not None and not (self.margin > 0 and math.isfinite(self.margin)):
            rule = f"a margin is a difference of scores above 0; got {self.margin:g}."
            problems.append(Problem(rule, "", "--margin"))
        if problems:
            raise InputError(problems)

    @cached_property
    def sizes(self) -> Sizes:
        """Items in each cluster."""
        return cluster_sizes(self.n_items, size=self.cluster_size, cv=self.cluster_cv)

    @property
    def has_clusters(self) -> bool:
        """Whether items come in clusters of more than one."""
        return self.cluster_size > 1 and len(self.sizes) < self.n_items

    def rule(self, unit: float, *, is_latent: bool = False) -> DecisionRule:
        """The rule for scores that are divided by `unit`; `is_latent` of right and wrong by a logit model."""
        return DecisionRule(
            alternative=self.alternative,
            margin=None if self.margin is None else self.margin / unit,
            alpha=self.alpha,
            family="binary" if is_latent else "gaussian",
            link="logit" if is_latent else "probit",
        )


def unit_of(parameters: RunsParameters, plan: RunsPlan) -> float:
    """What scores are divided by so that they and a margin are of the size of shares; 1 where they are."""
    if parameters.family == "binary":
        return 1.0
    deviations = (
        parameters.sd_item,
        parameters.sd_run_a,
        parameters.sd_run_b,
        parameters.sd_prompt_slope,
        parameters.sd_residual,
    )
    return max(1.0, 2 * max(deviations), plan.margin or 0.0)


def computed_power(
    effect: float, precision: EffectPrecision, *, rule: DecisionRule, method: str, exact: bool = False
) -> ComputedPower:
    """Power of a t test whose precision is known; nothing varies where the variance is zero."""
    if precision.variance <= 0:
        sure = float(rule.can_show(effect))
        return ComputedPower(sure, sure, math.nan, math.nan, "nothing varies", exact=True)
    found = power_at(effect, precision, rule=rule)
    return ComputedPower(found.power, found.rejection_rate, found.type_m, found.type_s, method, exact=exact)
