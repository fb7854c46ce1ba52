"""A plan: everything decided before collection, and the power that it promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.comparisons import ComparisonFamily
from humeval_power.costs import CostModel
from humeval_power.designs import Codes, Design, DesignKind
from humeval_power.errors import InputError, Problem
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.inference.study.formula import analytic_power
from humeval_power.parameters import Parameters
from humeval_power.planning.study.designs_of import design_of
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.scenarios.study import RatingStudy
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import Goal

if TYPE_CHECKING:
    from humeval_power.inference.looks.boundaries import Boundaries
    from humeval_power.planning.looks.schedule import LookInformation, LookSchedule
    from humeval_power.planning.plan.planned_rules import PlannedRules
    from humeval_power.planning.plan.planned_systems import PlannedSystems
    from humeval_power.planning.study.systems_study import SystemsStudy
    from humeval_power.ratings import Ratings


@dataclass(frozen=True, slots=True)
class ParameterSource:
    """Where the variances come from: a name, the file they were read from, and the table of ratings
    that they were estimated from (None: from none)."""

    name: str
    file: str | None = None
    ratings: str | None = None


@dataclass(frozen=True, slots=True)
class PredictedPower:
    """What the plan promises at its effect of interest; NaN where it was not simulated."""

    analytic: float
    simulated: float
    interval: tuple[float, float]
    n_simulations: int


@dataclass(frozen=True, slots=True)
class LookExpectation:
    """Ratings and cost to expect if the study stops where its boundaries say, by simulation: if the effect of
    interest is true, and if there is none. Costs are NaN without prices."""

    ratings_if_effect: float
    ratings_if_none: float
    cost_if_effect: float
    cost_if_none: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A study as planned. `effect` is the smallest effect of interest, B - A on [0, 1]; under a rule with
    a margin, which then is the smallest difference of interest, the true difference planned for.

    A plan of several systems, or of several criteria, has `many`: `effect` is then the difference that its means
    are made of, `parameters` those of the two systems that its goal is about, and the power that of its goal.

    `exclusions` are rules, in words, by which ratings will be left out, and `rules` those by which the analysis
    leaves out workers; `looks` says when the data are
    tested before the end, and by which boundaries (None: one test at the end); `others` are parameters, by
    name, that were looked at beside those planned for.
    """

    question: str
    systems: tuple[str, ...]
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
    rules: PlannedRules | None = None
    looks: LookSchedule | None = None
    expected: LookExpectation | None = None
    others: tuple[tuple[str, Parameters], ...] = ()
    many: PlannedSystems | None = None

    def __post_init__(self) -> None:
        if self.many is not None and self.many.looks != self.looks:
            object.__setattr__(self, "many", replace(self.many, looks=self.looks))

    @property
    def pair(self) -> tuple[str, str]:
        """A and B of a plan of two systems; every difference is B - A."""
        a, b = self.systems
        return a, b

    @property
    def family(self) -> ComparisonFamily | None:
        """Which tests of several systems are made together; None for one test of two systems."""
        return None if self.many is None else self.many.family

    @property
    def goal(self) -> Goal | None:
        """What counts as power among several systems; None for one test of two systems."""
        return None if self.many is None else self.many.goal

    @property
    def means(self) -> tuple[float, ...] | None:
        """Assumed means of several systems on [0, 1], in the order of `systems`; None for one test of two."""
        return None if self.many is None else self.many.parameters.means

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria planned for; none where there is one without a name."""
        return () if self.many is None else self.many.criteria

    @property
    def exclusion_rules(self) -> ExclusionRules:
        """The rules by which the analysis leaves out workers."""
        return NO_RULES if self.rules is None else self.rules.rules

    @property
    def left_out_words(self) -> tuple[str, ...]:
        """Every rule for leaving out workers or ratings, in words."""
        return (*self.exclusion_rules.sentences, *self.exclusions)

    def design(self) -> Design:
        """The planned assignment."""
        return design_of(
            self.counts, kind=self.design_kind, max_ratings_per_worker=self.max_ratings_per_worker
        )

    def look_of_ratings(self) -> Codes | None:
        """At which look (1, 2, ...) each rating of the design is needed, shape (n_ratings,); None without
        looks."""
        from humeval_power.scenarios.looks.looks import nested_designs

        if self.looks is None:
            return None
        whole = nested_designs(self.design(), self.looks.looks)
        look = np.zeros(whole.final.n_ratings, dtype=np.int64)
        for number, rows in reversed(list(enumerate(whole.rows, start=1))):
            look[rows] = number
        return look

    def study(self) -> RatingStudy:
        """The planned study as a scenario, with the effect of interest as its true effect.

        Raises
        ------
        InputError
            A plan of several systems or criteria, which is more than one test.
        """
        if self.many is not None:
            raise InputError(
                f"This plan is of {len(self.systems)} systems and {self.many.n_tests} tests: it is no study of one "
                "difference."
            )
        return RatingStudy(self.parameters.with_difference(self.effect), self.design(), rule=self.rule)

    def study_of_pair(self) -> RatingStudy:
        """What a plan of several systems would be of the two that its goal is about alone, tested once."""
        design = design_of(replace(self.counts, n_systems=2))
        return RatingStudy(self.parameters, design, rule=self.rule)

    def systems_study(self) -> SystemsStudy:
        """The planned study of several systems, on any one criterion. Only for a plan that has `many`."""
        from humeval_power.planning.plan.planned_systems import within_criterion
        from humeval_power.planning.study.systems_study import SystemsStudy

        assert self.many is not None
        return SystemsStudy(
            self.many.parameters,
            self.design(),
            family=self.many.family,
            rule=within_criterion(self.many, self.rule),
            goal=self.many.goal,
            setting=self.source.name,
        )

    def look_information(self) -> LookInformation:
        """What each planned look knows, of several systems about the two hardest to tell apart. Only for a plan
        with looks."""
        from humeval_power.planning.looks.schedule import look_information

        assert self.looks is not None
        places = None if self.many is None else self.many.hardest
        return look_information(self.parameters, self.design(), self.looks.looks, places=places)

    def look_boundaries(self) -> Boundaries:
        """The boundaries at the planned looks; of several systems those of the two hardest to tell apart while no
        comparison is shown. Only for a plan with looks."""
        from humeval_power.planning.looks.schedule import planned_boundaries

        assert self.looks is not None
        if self.many is not None:
            from humeval_power.planning.plan.planned_systems import first_boundaries

            return first_boundaries(self.many, self.rule, self.look_information())
        return planned_boundaries(self.looks, self.rule, self.look_information(), effect=self.effect)

    def recomputed_power(self) -> float:
        """The power by formula of the planned design, computed afresh: with looks that of all of them, of several
        systems that of the goal."""
        if self.many is not None:
            from humeval_power.planning.plan.planned_systems import goal_power

            return goal_power(self.many, self.counts, self.rule)
        study = self.study()
        fixed = analytic_power(study.parameters, study.design, rule=self.rule).power
        if self.looks is None:
            return fixed
        from humeval_power.planning.looks.schedule import power_with_looks

        return power_with_looks(fixed, self.look_boundaries())

    def check_documents(self, ratings: Ratings) -> None:
        """Refuse ratings without documents where the plan's model has them.

        Raises
        ------
        InputError
            The plan has documents, and no column of the ratings was named as theirs.
        """
        if self.counts.n_documents and ratings.document is None:
            rule = f"the plan has {self.counts.n_documents:,} documents in its model, and these ratings have none."
            remedy = (
                "Name the column of the document that each item is part of (document; --document COLUMN)."
            )
            raise InputError([Problem(rule, remedy, place=ratings.source)])

    def sensitivity(self) -> dict[str, float]:
        """The analytic power of the planned design under each of the other parameters."""
        if self.many is not None:
            from humeval_power.planning.plan.planned_systems import goal_power

            alike = ((name, replace(self.many, parameters=other)) for name, other in self.many.others)
            return {name: goal_power(many, self.counts, self.rule) for name, many in alike}
        return {name: replace(self, parameters=other).recomputed_power() for name, other in self.others}
