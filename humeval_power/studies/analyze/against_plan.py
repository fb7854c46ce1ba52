"""What was collected, held against what was planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.checking.rows import APART, OF_ANOTHER_CRITERION
from humeval_power.designs import Design
from humeval_power.errors import InputError, Problem
from humeval_power.families import DEFAULT_FAMILY, ComparisonFamily
from humeval_power.parameters import Parameters
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule
from humeval_power.saying.numbers import counted
from humeval_power.studies.looks.repeated import RepeatedResult
from humeval_power.studies.looks.replicates import nested_designs
from humeval_power.studies.looks.stagewise import StagewiseResult
from humeval_power.studies.monitor.dropping import DroppingMonitoring, planned_ratings
from humeval_power.studies.monitor.state import Monitoring
from humeval_power.studies.monitor.step import NO_DEPARTURE
from humeval_power.studies.monitor.systems import SystemsMonitoring
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.power.formula import EffectPrecision, analytic_power, power_at
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import system_names


@dataclass(frozen=True, slots=True)
class Deviation:
    """One difference between plan and data, as a person would say it."""

    what: str
    planned: str
    actual: str


@dataclass(frozen=True, slots=True)
class PowerAtInterest:
    """Power of the collected design at the effect of interest; never at the observed one.

    `planned` uses the parameters that the plan assumed, None without a plan; `fitted` those of these
    ratings. Type M and S say what a significant result of this precision would be worth; NaN under a
    rule with a margin.
    """

    effect: float
    fitted: float
    planned: float | None
    promised: float | None
    type_m: float
    type_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LooksTaken:
    """The looks of a study that has ended, and what differs from the plan about them.

    `ledger` is the file that keeps them, empty where none does; `unchecked` says what could not be compared
    with it.
    """

    state: Monitoring | SystemsMonitoring
    ledger: str = ""
    unchecked: tuple[Deviation, ...] = ()

    def __post_init__(self) -> None:
        if self.state.ended:
            return
        how = "goes on" if self.state.looks else "has no look yet"
        rule = f"the study {how}: the plan allows its result to be read at planned looks alone."
        remedy = (
            "Take the look first (humeval-power monitor); at the end say --final if ratings are missing."
        )
        raise InputError([Problem(rule, remedy, place=self.ledger or None)])

    @property
    def of_two(self) -> Monitoring:
        """The looks at two systems."""
        assert isinstance(self.state, Monitoring)
        return self.state

    @property
    def of_several(self) -> SystemsMonitoring:
        """The looks at several systems."""
        assert isinstance(self.state, SystemsMonitoring)
        return self.state

    @property
    def stopped_at(self) -> int | None:
        """The planned look at which a boundary stopped the study; None for another look, or the end."""
        last = self.state.looks[-1]
        return last.planned if last.decision.startswith("stop") else None

    @property
    def shown(self) -> bool:
        """Whether the last look passed its boundary, which then decides."""
        return self.state.looks[-1].decision in ("stop-success", "end-success")

    @property
    def departures(self) -> tuple[Deviation, ...]:
        """What differs from the planned looks."""
        planned = "looks as the plan says"
        deviations = tuple(
            Deviation(f"look {look.number}", planned, remark + (f" ({look.reason})" if look.reason else ""))
            for look in self.state.looks
            for remark in look.remarks
            if not remark.startswith(NO_DEPARTURE)
        )
        return (*self.unchecked, *deviations)


def shown_by(looks: LooksTaken, inference: StagewiseResult | RepeatedResult) -> bool:
    """Whether the claim of the test is shown, by a repeated interval if that is reported, else at the last look."""
    if isinstance(inference, RepeatedResult):
        return inference.p_value <= looks.of_two.rule.alpha
    return looks.shown


def deviations(
    plan: Plan, ratings: Ratings, rule: DecisionRule, *, looks: LooksTaken | None = None
) -> tuple[Deviation, ...]:
    """Every number, name and rule in which the data or the analysis differ from the plan.

    looks : those of a study that has ended: where a boundary stopped it, it has the numbers that were planned for
        this look, without the ratings of systems that were dropped.
    """
    stopped_at = None if looks is None else looks.stopped_at
    planned_design = plan.design()
    counts: StudyCounts | Design = plan.counts
    if stopped_at is not None and plan.looks is not None:
        nested = nested_designs(plan.design(), plan.looks.looks)
        counts = planned_design = nested.designs[stopped_at - 1]
    outputs = len(np.unique(ratings.item * np.int64(ratings.n_systems) + ratings.system))
    n_ratings, each = planned_design.n_ratings, f"{ratings.n_ratings / outputs:.4g}"
    dropped = looks is not None and isinstance(looks.state, DroppingMonitoring)
    if looks is not None and plan.looks is not None and isinstance(looks.state, DroppingMonitoring):
        nested = nested_designs(plan.design(), plan.looks.looks)
        n_ratings = planned_ratings(looks.state, [one.n_ratings for one in nested.designs])
    pairs = [
        *_systems(plan, ratings),
        ("workers", f"{counts.n_workers:,}", f"{ratings.n_workers:,}"),
        ("items", f"{counts.n_items:,}", f"{ratings.n_items:,}"),
        ("documents", f"{counts.n_documents:,}", f"{ratings.n_documents:,}"),
        ("ratings", f"{n_ratings:,}", f"{ratings.n_ratings:,}"),
        (
            "ratings per item and system",
            f"{planned_design.ratings_per_item:.4g}" if not dropped else each,
            each,
        ),
        ("test", str(plan.rule), str(rule)),
        ("margin", _margin(plan.rule), _margin(rule)),
    ]
    if plan.scale is not None:
        of_plan, here = (f"{one.low:g} to {one.high:g}" for one in (plan.scale, ratings.scale))
        pairs.append(("scale", of_plan, here))
    differing = [Deviation(*pair) for pair in pairs if pair[1] != pair[2]]
    return (*differing, *_left_out(plan, ratings))


def estimand_deviations(plan: Plan, scope: str | None) -> tuple[Deviation, ...]:
    """Whether the result is about something else than was planned; None: about what was rated, without a pool."""
    said = {"pool": "the pool of items", "population": "items like these", "these": "the rated items only"}
    if plan.estimand is None or scope == plan.estimand:
        return ()
    actual = said.get(str(scope), "items like those rated, without the pool that they were drawn from")
    return (Deviation("what the result is about", said[plan.estimand], actual),)


def family_deviations(plan: Plan, family: ComparisonFamily) -> tuple[Deviation, ...]:
    """Everything in which the tests that are made together differ from those that were planned."""
    planned = plan.family or DEFAULT_FAMILY
    if planned.baseline and family.baseline and _is_letters(plan) and family.baseline not in plan.systems:
        planned = replace(planned, baseline=family.baseline)
    both = zip(_family_words(planned), _family_words(family), strict=True)
    pairs = dict(zip(("comparisons", "model", "correction", "corrected over"), both, strict=True))
    if plan.many is None or plan.many.n_criteria == 1:
        del pairs["corrected over"]
    return tuple(Deviation(what, one, other) for what, (one, other) in pairs.items() if one != other)


def criteria_deviations(plan: Plan, criteria: Sequence[str]) -> tuple[Deviation, ...]:
    """Whether other criteria were analysed than were planned."""
    if set(criteria) == set(plan.criteria) or (not plan.criteria and len(criteria) == 1):
        return ()
    return (Deviation("criteria", ", ".join(plan.criteria) or "one", ", ".join(criteria)),)


def _family_words(family: ComparisonFamily) -> tuple[str, str, str, str]:
    """The comparisons, the model, the correction, and over what it goes."""
    return (
        "all pairs" if family.comparisons == "all-pairs" else f"every other system with {family.baseline}",
        "each pair by itself"
        if family.model == "pairwise"
        else f"all systems together, {family.variances} variances",
        family.correction,
        "the tests of all criteria"
        if family.over == "all"
        else "the tests of each criterion by themselves",
    )


def _is_letters(plan: Plan) -> bool:
    """Whether nobody named the systems of the plan: they are A, B and so on."""
    return plan.systems == system_names(len(plan.systems))


def _systems(plan: Plan, ratings: Ratings) -> list[tuple[str, str, str]]:
    """Of two systems their order counts, of several who is among them; letters stand for any names."""
    planned, names = plan.systems, ratings.system_names
    if _is_letters(plan) and len(names) == len(planned) and not set(names) & set(planned):
        return []  # names that the systems got after the plan
    if plan.many is None:
        return [("systems", " and ".join(planned), " and ".join(names))]
    missing = [name for name in planned if name not in names]
    further = [name for name in names if name not in planned]
    rows = [("systems that are missing", ", ".join(missing), "no ratings of them")] if missing else []
    return rows + ([("systems beyond the plan", "none", ", ".join(further))] if further else [])


def _left_out(plan: Plan, ratings: Ratings) -> list[Deviation]:
    """Rows that were dropped: whether by a rule of the plan is for a person to judge."""
    rules = "; ".join(plan.left_out_words) or "no rule for leaving out ratings"
    return [
        Deviation("ratings left out", rules, f"{counted(step.rows, 'row')}: {step.reason}")
        for step in ratings.flow
        if step.step == "dropped"
        and step.rows
        and not (plan.criteria and step.reason.startswith(OF_ANOTHER_CRITERION))
        and not step.reason.startswith(APART)
    ]


def power_at_interest(
    effect: float,
    fitted: Parameters,
    precision: EffectPrecision,
    design: Design,
    *,
    rule: DecisionRule,
    plan: Plan | None = None,
) -> PowerAtInterest:
    """Power, Type M and Type S at the effect of interest for the design that was collected.

    precision : of the fitted effect: its standard error and df.
    """
    by_fit = power_at(effect, precision, rule=rule)
    planned = promised = None
    if plan is not None:
        planned = analytic_power(plan.parameters.with_difference(effect), design, rule=rule).power
        promised = plan.predicted.power
    return PowerAtInterest(
        effect=effect,
        fitted=analytic_power(fitted.with_difference(effect), design, rule=rule).power,
        planned=planned,
        promised=promised,
        type_m=by_fit.type_m,
        type_s=by_fit.type_s,
    )


def _margin(rule: DecisionRule) -> str:
    return "none" if rule.margin is None else f"{rule.margin:g} on [0, 1]"
