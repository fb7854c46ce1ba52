"""The section of a plan document for the rules by which the analysis leaves out workers."""

from __future__ import annotations

import math

from pydantic import Field

from humeval_power.exclusions import ExclusionRules
from humeval_power.planning.plan.planned_rules import PlannedRules, RulesCost
from humeval_power.planning.plan.workers_out import WorkersOut
from humeval_power.reporting.plan.sealed.sections import Natural, Share
from humeval_power.reporting.schemas.sections import Section


class LimitsSection(Section):
    """A worker beyond any of these limits is left out with all ratings; null: no such rule."""

    failed_checks: float | None = Field(description="Share of attention checks failed; more is beyond.")
    repeats: float | None = Field(
        description="Mean absolute difference of repeats as a share of the scale; more is beyond."
    )
    seconds: float | None = Field(description="Median seconds for a rating; less is beyond.")
    same_answer: float | None = Field(description="Share of the one most frequent answer; more is beyond.")
    agreement: float | None = Field(
        description="Correlation with the other workers over items; less is beyond."
    )

    def record(self) -> ExclusionRules:
        return ExclusionRules(**self.model_dump())


class RulesCostSection(Section):
    """What the rules cost, by simulation at the effect of interest; null where it was not simulated."""

    careful_out: Share = Field(description="Share of the careful workers that the rules leave out.")
    careless_out: Share | None = Field(description="The same of careless workers; null: none are expected.")
    power: Share | None = Field(description="With the rules.")
    without: Share | None = Field(description="If nobody were left out.")
    all_careful: Share | None = Field(description="If nobody were careless, and nobody left out.")
    n_simulations: Natural

    def record(self) -> RulesCost:
        known = {name: _nan(getattr(self, name)) for name in ("power", "without", "all_careful")}
        out = WorkersOut(self.careful_out, _nan(self.careless_out))
        return RulesCost(out, **known, n_simulations=self.n_simulations)


class RulesSection(Section):
    """Rules by which the analysis leaves out workers, blind to the systems."""

    limits: LimitsSection
    checks: Share = Field(description="Attention checks as a share of a worker's ratings.")
    repeats: Share = Field(description="Outputs shown again as a share of a worker's ratings.")
    careless: float = Field(ge=0, lt=1, description="Assumed share of careless workers.")
    cost: RulesCostSection

    def planned(self) -> PlannedRules:
        return PlannedRules(
            rules=self.limits.record(),
            checks=self.checks,
            repeats=self.repeats,
            careless=self.careless,
            cost=self.cost.record(),
        )


def _nan(value: float | None) -> float:
    return math.nan if value is None else value
