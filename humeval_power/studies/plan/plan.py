"""A plan: everything decided before collection, and the power that it promises."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import DesignKind, Estimand
from humeval_power.costs import CostModel
from humeval_power.designs import Codes, Design
from humeval_power.errors import InputError, Problem
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.parameters import Parameters
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_power
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.required import design_of
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import NOTHING, Workload, study_workload
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import Goal

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.studies.looks.boundaries import Boundaries
    from humeval_power.studies.looks.dropping import DropExpectation, DroppingPlan
    from humeval_power.studies.looks.how_many import LooksChoice
    from humeval_power.studies.looks.judgement_plan import OperatingPoint
    from humeval_power.studies.looks.rating_looks import LookInformation, LookPlan, LookSchedule
    from humeval_power.studies.looks.repeated import RepeatedPoint, StopExpectation
    from humeval_power.studies.looks.replicates import RatingLooks
    from humeval_power.studies.looks.systems_looks import (
        SystemsLookPlan,
        SystemsLooks,
        SystemsOperatingPoint,
    )
    from humeval_power.studies.plan.planned_systems import PlannedJudges, PlannedRules, PlannedSystems
    from humeval_power.studies.power.systems_goals import SystemsPower
    from humeval_power.studies.power.systems_study import SystemsStudy


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

    @property
    def power(self) -> float:
        """The one that the plan states: simulated, where it was."""
        return self.analytic if math.isnan(self.simulated) else self.simulated


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
    leaves out workers; `estimand` is what the result is about where items are drawn from a pool; `looks` says when
    the data are tested before the end, and by which boundaries (None: one test at the end), `stops` what is to be
    expected where intervals stop the study, `drops` where looks drop systems; `others` are parameters that were
    looked at beside those planned for, by name. `judges` score all outputs beside the people; the power is that of
    people alone.
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
    estimand: Estimand | None = None
    rules: PlannedRules | None = None
    looks: LookSchedule | None = None
    expected: LookExpectation | None = None
    stops: tuple[StopExpectation, ...] = ()
    drops: tuple[DropExpectation, ...] = ()
    others: tuple[tuple[str, Parameters], ...] = ()
    many: PlannedSystems | None = None
    judges: PlannedJudges | None = None

    def __post_init__(self) -> None:
        if self.many is not None and self.many.looks != self.looks:
            object.__setattr__(self, "many", replace(self.many, looks=self.looks))

    @property
    def pair(self) -> tuple[str, str]:
        """A and B of a plan of two systems; every difference is B - A."""
        a, b = self.systems
        return a, b

    @property
    def by_intervals(self) -> bool:
        """Whether repeated intervals decide in the place of a test."""
        return self.looks is not None and self.looks.stop_when is not None and not self.drops_systems

    @property
    def drops_systems(self) -> bool:
        """Whether looks drop systems that are beaten."""
        return self.looks is not None and self.looks.drop_systems

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
        from humeval_power.studies.looks.replicates import nested_designs

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
        """The planned study; of several systems that of the two that its goal is about alone, tested once."""
        if self.many is None:
            return self.study()
        design = design_of(replace(self.counts, n_systems=2))
        return RatingStudy(self.parameters, design, rule=self.rule)

    def systems_study(self) -> SystemsStudy:
        """The planned study of several systems, on any one criterion. Only for a plan that has `many`."""
        from humeval_power.studies.plan.planned_systems import within_criterion
        from humeval_power.studies.power.systems_study import SystemsStudy

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
        from humeval_power.studies.looks.rating_looks import look_information

        assert self.looks is not None
        places = None if self.many is None else self.many.hardest
        return look_information(self.parameters, self.design(), self.looks.looks, places=places)

    def look_boundaries(self) -> Boundaries:
        """The boundaries at the planned looks; of several systems those of the two hardest to tell apart while no
        comparison is shown. Only for a plan with looks."""
        from humeval_power.studies.looks.rating_looks import planned_boundaries

        assert self.looks is not None
        if self.many is not None:
            from humeval_power.studies.plan.planned_systems import first_boundaries

            return first_boundaries(self.many, self.rule, self.look_information())
        return planned_boundaries(self.looks, self.rule, self.look_information(), effect=self.effect)

    def recomputed_power(self) -> float:
        """The power by formula of the planned design, computed afresh: with looks that of all of them, of several
        systems that of the goal."""
        if self.many is not None:
            from humeval_power.studies.plan.planned_systems import goal_power

            return goal_power(self.many, self.counts, self.rule)
        study = self.study()
        if self.looks is not None and self.looks.stop_when is not None:
            return formula_power(study.parameters, self.counts, self.looks, self.rule, study.design)
        fixed = analytic_power(study.parameters, study.design, rule=self.rule).power
        if self.looks is None:
            return fixed
        from humeval_power.studies.looks.rating_looks import power_with_looks

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
            from humeval_power.studies.plan.planned_systems import goal_power

            alike = ((name, replace(self.many, parameters=other)) for name, other in self.many.others)
            return {name: goal_power(many, self.counts, self.rule) for name, many in alike}
        return {name: replace(self, parameters=other).recomputed_power() for name, other in self.others}


# Designs with looks: their power by formula and by simulation, and what they are expected to take.

_MINUTE, _FEWEST_STOPS = 60.0, 400  # seconds of one core, and studies that a calibration needs


@dataclass(frozen=True, eq=False)
class SequentialOption:
    """A design with its looks: simulated power of the whole procedure, and what it is expected to take."""

    plan: LookPlan | SystemsLookPlan | DroppingPlan
    simulated: PowerEstimate | SystemsPower | RepeatedPoint | DropExpectation
    expected: LookExpectation
    choices: tuple[LooksChoice, ...] = ()
    stops: tuple[StopExpectation, ...] = ()
    drops: tuple[DropExpectation, ...] = ()

    def calibrated(self, wish: LookSchedule) -> LookSchedule:
        """The looks as a plan holds them, with the factor that calibration found."""
        from humeval_power.studies.looks.dropping import DroppingPlan

        calibration = self.plan.calibration
        if isinstance(self.plan, DroppingPlan):
            wish = replace(wish, interval_factor=self.plan.interval_calibration.used)
        return wish if calibration is None else replace(wish, factor=calibration.used)


def prove_systems(
    planned: PlannedSystems,
    design: Design,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> SequentialOption:
    """The same for several systems, every comparison refitted at every look."""
    from humeval_power.studies.looks.systems_looks import SystemsLooks, hardest_place, plan_systems_looks

    study = SystemsLooks(planned.parameters, design, wish.looks, planned.family, rule)
    if wish.drop_systems:
        n = None if study.by_sums else max(n_simulations, _FEWEST_STOPS)
        return _prove_dropping(study, wish, rule, costs=costs, n_simulations=n, seed=seed, n_jobs=n_jobs)
    calibrated = plan_systems_looks(
        study, wish.rule(rule), place=hardest_place(study), cost=costs, seed=seed, n_jobs=n_jobs
    )
    effect = planned.parameters.stated_effect
    with_effect, without = calibrated.at(
        [effect, 0.0], goal=planned.goal, n_simulations=n_simulations, n_jobs=n_jobs
    )
    return SequentialOption(calibrated, with_effect.found, _expected(with_effect, without))


def _prove_dropping(
    study: SystemsLooks,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int | None,
    seed: int,
    n_jobs: int,
) -> SequentialOption:
    """The same where looks drop systems; what is expected is in ratings."""
    from humeval_power.studies.looks.dropping import ALL_EQUAL, plan_dropping

    found = plan_dropping(
        study,
        wish.rule(rule),
        stop_when=wish.stop_when,
        cost=costs,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
    )
    equal = next(one for one in found.points if one.name == ALL_EQUAL)
    expected = LookExpectation(found.planned.ratings, equal.ratings, math.nan, math.nan)
    return SequentialOption(found, found.planned, expected, drops=found.points)


def _expected(
    with_effect: OperatingPoint | SystemsOperatingPoint | RepeatedPoint,
    without: OperatingPoint | SystemsOperatingPoint | RepeatedPoint,
) -> LookExpectation:
    return LookExpectation(
        ratings_if_effect=with_effect.expected_size,
        ratings_if_none=without.expected_size,
        cost_if_effect=with_effect.expected_cost,
        cost_if_none=without.expected_cost,
    )


def rating_looks(
    parameters: Parameters, design: Design, wish: LookSchedule, rule: DecisionRule
) -> RatingLooks:
    """The study of this design as it grows."""
    from humeval_power.studies.looks.repeated import at_looks
    from humeval_power.studies.looks.replicates import RatingLooks

    if wish.stop_when is None:
        return RatingLooks(parameters, design, wish.looks, rule)
    return RatingLooks(parameters, design, wish.looks, at_looks(rule)).as_numbers()


def formula_power(
    parameters: Parameters,
    counts: StudyCounts,
    wish: LookSchedule,
    rule: DecisionRule,
    design: Design | None = None,
) -> float:
    """Power with looks by formula: what few workers cost from the t test, what looks cost from z's."""
    from humeval_power.studies.looks.rating_looks import stopped_power

    study = rating_looks(parameters, design or design_of(counts), wish, rule)
    return stopped_power(study, wish, rule, effect=study.true_effect)


def prove(
    parameters: Parameters,
    counts: StudyCounts,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> SequentialOption:
    """Simulate the whole procedure, refitted at every look, with the effect and without; `progress` is that of the
    former."""
    from humeval_power.studies.looks.how_many import compare_numbers_of_looks
    from humeval_power.studies.looks.rating_looks import plan_looks
    from humeval_power.studies.looks.replicates import SequentialStudy

    study = rating_looks(parameters, design_of(counts), wish, rule)
    calibrated = plan_looks(study, wish.rule(rule), cost=costs, seed=seed, n_jobs=n_jobs)
    simulated = estimate_power(
        SequentialStudy(study, calibrated.bounds),
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    with_effect, without = calibrated.at([study.true_effect, 0.0], n_jobs=n_jobs)
    choices = tuple(compare_numbers_of_looks(study, wish.rule(rule)))
    return SequentialOption(calibrated, simulated, _expected(with_effect, without), choices)


def check_stops(
    parameters: Parameters,
    counts: StudyCounts,
    wish: LookSchedule,
    rule: DecisionRule,
    scale: RatingScale | None,
) -> None:
    """Refuse a design that intervals cannot stop at these levels: too few workers, or sizes that no look can
    meet. Raises InputError: all that is wrong, with the reason."""
    from humeval_power.studies.looks.rating_looks import check_stopping, look_rows, scheduled_boundaries

    assert wish.stop_when is not None
    study = rating_looks(parameters, design_of(counts), wish, rule)
    bounds = scheduled_boundaries(look_rows(study), wish, rule, effect=study.true_effect)
    check_stopping(study, bounds.scaled(wish.factor), wish.stop_when, rule, scale=scale)


def guessed_factor(
    parameters: Parameters, counts: StudyCounts, wish: LookSchedule, rule: DecisionRule, seed: int
) -> float:
    """The factor that calibrates the looks of a complete table: a design is chosen by it before its own."""
    from humeval_power.studies.looks.calibration import calibrate
    from humeval_power.studies.looks.rating_looks import (
        CALIBRATION_SEED,
        DEFAULT_LOOK_SIMULATIONS,
        look_rows,
        scheduled_boundaries,
    )

    study = rating_looks(parameters, design_of(counts), wish, rule)
    bounds = scheduled_boundaries(look_rows(study), wish, rule, effect=study.true_effect)
    return calibrate(
        study, bounds, n_simulations=DEFAULT_LOOK_SIMULATIONS, seed=seed + CALIBRATION_SEED
    ).used


def stops_simulations(study: RatingLooks, typed: int | None) -> int:
    """Studies to calibrate and prove a study by that its intervals stop: the usual number where mean squares are
    drawn; where each has to be fitted as many as were asked for, else as take a minute, within limits."""
    from humeval_power.studies.looks.rating_looks import DEFAULT_LOOK_SIMULATIONS, SLOW_LOOK_SIMULATIONS

    if study.by_mean_squares:
        return DEFAULT_LOOK_SIMULATIONS
    within = int(_MINUTE / stops_workload(study, n_simulations=1).seconds)
    return typed or min(max(within, _FEWEST_STOPS), SLOW_LOOK_SIMULATIONS)


def stops_workload(study: RatingLooks, *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of `prove_stops`: a calibration at several worker SDs, false positives, and the long run."""
    from humeval_power.studies.looks.calibration import MULTIPLES

    n = n_simulations * (len(MULTIPLES) + 2)
    how: dict[str, Any] = {"n_simulations": n, "n_jobs": n_jobs, "closed_form": study.by_mean_squares}
    return sum((study_workload(design, **how) for design in study.nested.designs), start=NOTHING)


def prove_stops(
    parameters: Parameters,
    counts: StudyCounts,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> SequentialOption:
    """The same of a study that its intervals stop: what it takes at several true effects, and what it loses."""
    from humeval_power.studies.looks.rating_looks import plan_looks
    from humeval_power.studies.looks.repeated import StopExpectation, repeated_points

    assert wish.stop_when is not None
    study = rating_looks(parameters, design_of(counts), wish, rule)
    calibrated = plan_looks(
        study,
        wish.rule(rule),
        cost=costs,
        calibration="always",
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
    )
    effect = study.true_effect
    points = repeated_points(
        study,
        calibrated.bounds,
        wish.stop_when,
        rule,
        effects=tuple(dict.fromkeys((0.0, effect / 2, effect, 1.5 * effect))),
        n_simulations=calibrated.n_simulations,
        seed=seed,
        costs=calibrated.costs,
        n_jobs=n_jobs,
    )
    without, with_effect = points[0], next(point for point in points if point.effect == effect)
    names = [field.name for field in fields(StopExpectation)]
    stops = tuple(StopExpectation(**{name: getattr(point, name) for name in names}) for point in points)
    return SequentialOption(calibrated, with_effect, _expected(with_effect, without), stops=stops)


# What happened to a plan after it was sealed: amendments, each with the values before and after.

_LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a plan document, as it was and as it became; `path` joins names by full stops."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = _shown(self.old, 6), _shown(self.new, 6)
        if old == new:
            old, new = _shown(self.old, 17), _shown(self.new, 17)
        return f"{self.path}: {old} -> {new}"


@dataclass(frozen=True, slots=True)
class Amendment:
    """Changes made on one day for one reason; `checksum_before` is that of the plan they replaced."""

    date: datetime.date
    reason: str
    checksum_before: str
    changes: tuple[Change, ...]


def _shown(value: object, digits: int) -> str:
    text = f"{value:.{digits}g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
