"""A plan: everything decided before collection, and the power that it promises."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from humeval_power.costs import CostModel
from humeval_power.designs import Design, DesignKind
from humeval_power.parameters import Parameters
from humeval_power.planning.analytic import analytic_power
from humeval_power.planning.building import design_of
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.scenarios.rating_study import RatingStudy
from humeval_power.study_counts import StudyCounts


@dataclass(frozen=True, slots=True)
class ParameterSource:
    """Where the variances come from: a name, the file they were read from, and the pilot's bytes."""

    name: str
    file: str | None = None
    data_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class PredictedPower:
    """What the plan promises at its effect of interest; NaN where it was not simulated."""

    analytic: float
    simulated: float
    interval: tuple[float, float]
    n_simulations: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A study as planned. `effect` is the smallest effect of interest, B - A on [0, 1].

    `exclusions` are the rules, in words, by which ratings will be left out; `looks` the planned shares
    of the ratings at which the data are tested before the end (none: one test at the end).
    """

    question: str
    systems: tuple[str, str]
    effect: float
    parameters: Parameters
    source: ParameterSource
    counts: StudyCounts
    rule: DecisionRule
    target_power: float
    predicted: PredictedPower
    seed: int
    design_kind: DesignKind | None = None
    max_ratings_per_worker: int | None = None
    scale: RatingScale | None = None
    costs: CostModel | None = None
    cost: Decimal | None = None
    exclusions: tuple[str, ...] = ()
    looks: tuple[float, ...] = ()

    def design(self) -> Design:
        """The planned assignment."""
        return design_of(
            self.counts, kind=self.design_kind, max_ratings_per_worker=self.max_ratings_per_worker
        )

    def study(self) -> RatingStudy:
        """The planned study as a scenario, with the effect of interest as its true effect."""
        return RatingStudy(self.parameters.with_difference(self.effect), self.design(), self.rule)

    def recomputed_power(self) -> float:
        """The analytic power of the planned design, computed afresh."""
        study = self.study()
        return analytic_power(study.parameters, study.design, rule=self.rule).power
