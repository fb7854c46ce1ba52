"""A family of tests in words, the records of analyses of two and several systems, and units of what is shown.

What was collected, held against what was planned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from humeval_power.checking.rows import APART, OF_ANOTHER_CRITERION
from humeval_power.choices import CORRECTIONS
from humeval_power.designs import Design
from humeval_power.errors import InputError, Problem
from humeval_power.parameters import Parameters
from humeval_power.ratings import Ratings
from humeval_power.rules import DEFAULT_FAMILY, ComparisonFamily, DecisionRule, FamilyOfTests
from humeval_power.saying.numbers import counted, interval_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.row_flow import flow_record
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.fit_result import fit_content
from humeval_power.studies.fit.many_systems import SystemsAnalysis, SystemsComparison
from humeval_power.studies.fit.wald import EffectTest, standardised_effect
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

if TYPE_CHECKING:
    from humeval_power.estimation.fit import Fit
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.studies.fit.many_systems import ModelCheck, VariancesCheck
    from humeval_power.studies.fit.wald import Adjustment, FamilyCheck
    from humeval_power.studies.power.estimate import PowerEstimate


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


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One comparison in short: second - first on [0, 1], and its p-value before and after the correction of its
    family. `significant` is None where there is no test."""

    criterion: str | None
    first: str
    second: str
    estimate: float
    standard_error: float
    low: float
    high: float
    df: float
    p_value: float
    corrected_p_value: float
    significant: bool | None


def comparison_row(
    criterion: str | None,
    pair: tuple[str, str],
    test: EffectTest,
    corrected_p: float,
    *,
    interval: tuple[float, float] | None = None,
) -> ComparisonRow:
    """The row of a comparison; `interval` is a simultaneous one in the place of the test's own."""
    low, high = interval or test.interval
    decided = None if test.reason else corrected_p <= test.rule.alpha
    estimate, error = test.estimate, test.standard_error
    return ComparisonRow(
        criterion, *pair, estimate, error, low, high, test.df, test.p_value, corrected_p, decided
    )


def family_words(tests: FamilyOfTests) -> str:
    """How p-values are corrected, and over what: 'after Holm's correction over 28 comparisons'."""
    looks = f" and {counted(tests.n_looks, 'look')}" if tests.n_looks else ""
    if tests.drop_result is not None:
        after = "corrected for"
    elif tests.family.correction == "none":
        after = "without correction for"
    else:
        after = f"after {CORRECTIONS[tests.family.correction].words} over"
    return f"{after} {_over(tests)}{looks}"


def _over(tests: FamilyOfTests) -> str:
    n_criteria, family = len(tests.criteria), tests.family
    if n_criteria > 1 and family.over == "criterion" and family.correction != "none":
        return "the comparisons of each criterion by themselves"
    if not n_criteria:
        return counted(tests.n_tests, "comparison")
    of_criteria = "1 criterion" if n_criteria == 1 else f"{n_criteria:,} criteria"
    if tests.n_tests == n_criteria:
        return of_criteria
    return f"{counted(tests.n_tests, 'comparison')} under {of_criteria}"


def family_record(tests: FamilyOfTests) -> Record:
    """The family as plain values, with the number of its tests and the criteria that they are of."""
    record = {**asdict(tests.family), "n_tests": tests.n_tests, "criteria": list(tests.criteria)}
    looks = {"n_looks": tests.n_looks} if tests.n_looks else {}
    dropping = {} if tests.drop_result is None else {"drop_result": tests.drop_result}
    return {**record, **looks, **dropping}


def family_of_record(record: Mapping[str, object]) -> FamilyOfTests:
    """The family that `family_record` wrote."""
    known: dict[str, Any] = dict(record)
    of = {name: known.pop(name) for name in ("n_tests", "n_looks", "drop_result") if name in known}
    criteria = tuple(known.pop("criteria"))
    return FamilyOfTests(ComparisonFamily(**known), criteria=criteria, **of)


# What is kept of the analysis of a finished study, as plain values.


def analysis_content(
    ratings: Ratings,
    fit: Fit | LatentFit,
    test: EffectTest,
    *,
    size: PowerEstimate | None = None,
    check: FamilyCheck | None = None,
    interest: PowerAtInterest | None = None,
    deviations: Sequence[Deviation] | None = None,
    agreement: Mapping[str, object] | None = None,
    plan: Mapping[str, object] | None = None,
    sequential: Mapping[str, object] | None = None,
    adjustment: Adjustment | None = None,
    corrected_p: float | None = None,
    tests: FamilyOfTests | None = None,
    plain: EffectTest | None = None,
) -> Record:
    """Everything that is kept of a fit, and what only a finished study has.

    deviations : from the plan, None without one; plan : its file and checksum; sequential : the looks and
        what they make of the result, None for a study with one test; adjustment : what documents and
    covariates change; corrected_p : the p-value after the correction of a family of `tests`, which then
        decides; None where there is one test; plain : the test of the last look alone, where `test` is by the
        interval that holds over all looks.
    """
    record = fit_content(ratings, fit, test, size=size, check=check, adjustment=adjustment)
    effect = cast(Record, record["effect"])
    record["standardised"] = asdict(standardised_effect(fit.parameters)) if fit.converged else None
    record["power_at_interest"] = None if interest is None else asdict(interest)
    record["plan"] = None if plan is None else dict(plan)
    record["deviations"] = None if deviations is None else [asdict(one) for one in deviations]
    record["agreement"] = None if agreement is None else dict(agreement)
    record["sequential"] = None if sequential is None else dict(sequential)
    if sequential is not None and not test.reason:  # the boundary decides, not alpha
        effect["significant"] = sequential["significant"]
        if plain is not None:
            effect |= {"standard_error": None, "df": None}  # of which a p-value over all looks is not
            tested = values(plain, "standard_error", "df", "p_value", "p_values", "interval")
            effect["plain"] = {"about": "without regard to the looks", **tested}
    if corrected_p is not None and tests is not None:
        decided = None if test.reason else corrected_p <= test.rule.alpha
        effect |= {"corrected_p_value": corrected_p, "significant": decided}
        record["family_of_tests"] = family_record(tests)
    return record


def looks_content(looks: LooksTaken, inference: StagewiseResult | RepeatedResult) -> Record:
    """The looks of a study, and the inference that takes them into account."""
    state = looks.state
    return {
        "ledger": Path(looks.ledger).name,
        "rule": looks.of_two.rule_words,
        "by": state.unit,
        "decision": state.looks[-1].decision,
        "significant": shown_by(looks, inference),
        "inference": asdict(inference),
        "looks": [asdict(look) for look in state.looks],
    }


def comparison_content(
    ratings: Ratings,
    results: Sequence[SystemsComparison],
    *,
    means: Mapping[str, float],
    groups: Sequence[Sequence[str]],
    tests: FamilyOfTests,
) -> Record:
    """Comparisons of several systems; the p-value of each, and that after the correction of the whole family."""
    from humeval_power.estimation.joint.fit import JointFit

    adjusted: Record = {}
    if ratings.n_documents or ratings.covariates:  # what else is in each fit
        names = [one.name for one in ratings.covariates]
        adjusted = {"adjusted_for": {"n_documents": ratings.n_documents, "covariates": names}}

    def own_parameters(fit: Fit | LatentFit | JointFit) -> Record | None:
        """Of the pair's own fit; null for a fit of all systems, which stands in the record once."""
        return None if isinstance(fit, JointFit) else dict(fit.parameters.as_dict())

    return {
        "systems": list(ratings.system_names),
        "criterion_name": ratings.criterion,
        "means": dict(means),
        "family_of_tests": family_record(tests),
        "fits": "one for each pair of systems",
        **adjusted,
        "pairs": [
            {
                **_tested(result),
                "reason": result.test.reason or None,
                "interval": list(result.test.interval),
                **values(result.fit, "boundary", "not_identified", "converged"),
                "parameters": own_parameters(result.fit),
                **values(result, "simultaneous_interval"),
            }
            for result in results
        ],
        "groups": [list(group) for group in groups],
        "rule": asdict(results[0].test.rule),
        "data": {"source": ratings.source},
    }


def systems_content(
    ratings: Ratings, analysis: SystemsAnalysis, *, agreement: Mapping[str, object] | None = None
) -> Record:
    """`comparison_content` with the model, the counts and the scale of the ratings, the means, SDs and common df of
    a joint fit (else null), the comparisons with the other kind of variances, and the agreement of workers."""
    record = comparison_content(
        ratings,
        analysis.results,
        means={one.system: one.mean for one in analysis.means},
        groups=analysis.groups,
        tests=analysis.tests,
    )
    joint = analysis.joint
    if joint is not None:
        record["fits"] = "one for all systems"
    record["max_t_df"] = analysis.common_df
    ratings_of = np.bincount(ratings.system, minlength=ratings.n_systems).tolist()
    record["system_means"] = [
        {**asdict(one), "n_ratings": n} for one, n in zip(analysis.means, ratings_of, strict=True)
    ]
    record["joint_fit"] = None if joint is None else _joint(joint)
    record["variances_check"] = None if analysis.check is None else _check(analysis.check)
    other = analysis.other_model
    record["model_check"] = None if other is None else {"model": other.model, **_by_check(other)}
    erring = analysis.family_error
    if erring is not None and erring.n_simulations:
        record["family_error"] = asdict(erring)
    record["agreement"] = None if agreement is None else dict(agreement)
    # an output is an item under a system
    outputs = len(np.unique(ratings.item * np.int64(ratings.n_systems) + ratings.system))
    return {
        **record,
        **values(ratings, "n_ratings", "n_workers", "n_items"),
        "n_outputs": outputs,
        "ratings_per_item": ratings.n_ratings / outputs,
        "scale": asdict(ratings.scale),
        **flow_record(ratings),
        "notices": list(ratings.notices),
    }


def _check(check: VariancesCheck) -> Record:
    return {
        "variances": check.variances,
        "likelihood_ratio": check.statistic,
        "df": check.df,
        "p_value_asymptotic": check.p_value,
        **_by_check(check),
        "joint_fit": None if check.fit is None else _joint(check.fit),
    }


def _by_check(check: VariancesCheck | ModelCheck) -> Record:
    """The comparisons of a check, and which of them come out otherwise."""
    return {
        "reason": check.reason or None,
        "decided_otherwise": [list(pair) for pair in check.parted],
        "pairs": [_tested(one) for one in check.results],
    }


def _tested(one: SystemsComparison) -> Record:
    """A comparison with its test, before and after the correction."""
    return {
        **values(one, "first", "second"),
        **values(one.test, "estimate", "standard_error", "df", "p_value"),
        "corrected_p_value": one.corrected_p,
        "significant": None if one.test.reason else one.significant,
    }


def _joint(joint: JointFit) -> Record:
    return {
        "variances": joint.variances,
        "standard_deviations": dict(joint.standard_deviations),
        **values(joint, "criterion", "boundary", "not_identified", "converged", "n_optima", "closed_form"),
        **values(joint, "n_ratings", "n_workers", "n_items"),
    }


# The units in which several systems are shown: points of the scale where one was declared, else [0, 1].


@dataclass(frozen=True, slots=True)
class Unit:
    """Points of a scale, in which a table, its picture and its record show means and differences."""

    scale: RatingScale

    @property
    def digits(self) -> int:
        """Decimals of a mean or a difference: about a thousandth of the scale."""
        return max(0, 3 - math.ceil(math.log10(self.scale.width)))

    @property
    def words(self) -> str:
        """'in points of the scale 1 to 5'."""
        direction = "" if self.scale.higher_is_better else ", lower is better"
        return f"in points of the scale {self.scale.low:g} to {self.scale.high:g}{direction}"

    def mean(self, value: float) -> float:
        """A mean rating on [0, 1]."""
        return float(self.scale.from_unit(np.float64(value)))  # type: ignore[arg-type]

    def difference(self, value: float) -> float:
        """A difference on [0, 1]; where lower is better, points have the other sign."""
        return self.scale.effect_to_raw(value)

    def mean_interval(self, low: float, high: float) -> tuple[float, float]:
        """The ends of an interval of a mean, the smaller one first."""
        ends = sorted((self.mean(low), self.mean(high)))
        return ends[0], ends[1]

    def difference_interval(self, low: float, high: float) -> tuple[float, float]:
        """The ends of an interval of a difference, the smaller one first."""
        ends = sorted((self.difference(low), self.difference(high)))
        return ends[0], ends[1]

    def shown(self, value: float, *, more: int = 0, signed: bool = False) -> str:
        """A value in these units; `more` decimals than usual."""
        return f"{value:{'+' if signed else ''}z.{self.digits + more}f}"

    def interval(self, low: float, high: float, *, more: int = 0) -> str:
        """'3.61 to 4.07'."""
        return interval_words(low, high, digits=self.digits + more)


# Comparisons of several systems as every table and picture shows them: one order, one sign, one unit.


@dataclass(frozen=True, slots=True)
class ShownPair:
    """The difference `left` - `right` in the units of the findings; `interval` is a simultaneous one where there is
    one. `reason` says why there is no test."""

    left: str
    right: str
    estimate: float
    interval: tuple[float, float]
    df: float
    p_value: float
    corrected_p: float
    significant: bool
    reason: str


def shown_pairs(analysis: SystemsAnalysis, unit: Unit, order: Sequence[str]) -> tuple[ShownPair, ...]:
    """Every comparison, in the order of the systems.

    The system that comes first in the order stands first in a difference. Against a baseline that is taken away
    from each, and one-sided tests keep the direction in which they were made.
    """
    place = {name: number for number, name in enumerate(order)}
    as_tested = (
        analysis.family.baseline is not None or analysis.results[0].test.rule.alternative != "two-sided"
    )
    pairs = []
    for one in analysis.results:
        turned = not as_tested and place[one.first] < place[one.second]
        pairs.append(_shown(one, unit, turned=turned))
    return tuple(sorted(pairs, key=lambda pair: (place[pair.left], place[pair.right])))


def _shown(one: SystemsComparison, unit: Unit, *, turned: bool) -> ShownPair:
    sign = -1.0 if turned else 1.0
    left, right = (one.first, one.second) if turned else (one.second, one.first)
    low, high = one.simultaneous_interval or one.test.interval
    return ShownPair(
        left,
        right,
        unit.difference(sign * one.test.estimate),
        unit.difference_interval(sign * low, sign * high),
        one.test.df,
        one.test.p_value,
        one.corrected_p,
        one.significant,
        one.test.reason,
    )
