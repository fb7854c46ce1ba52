"""What a plan of several systems, or of several criteria, decides beside what every plan decides.

The judges of a plan: which they are, what their scores cost, and what they add to the study by formula.

Rules for leaving workers out, as a plan seals them, and what they cost in power.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import Exclusion
from humeval_power.comparisons.judge.budget import BudgetOption, BudgetRequest, JudgePanel, option_of
from humeval_power.comparisons.judge.plan import LEAST_EXTRA, LEAST_ITEMS
from humeval_power.costs import money
from humeval_power.errors import InputError, Problem
from humeval_power.exclusions import ExclusionRules
from humeval_power.parameters import Parameters
from humeval_power.rules import MAX_T_OVER_CRITERIA, ComparisonFamily, DecisionRule, SystemVariances
from humeval_power.saying.document import Paragraph, Section
from humeval_power.saying.numbers import decimals
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import CAREFUL, Losses
from humeval_power.studies.power.estimate import PowerEstimate, estimate_power
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import study_workload
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.versions import spans
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.studies.looks.boundaries import Boundaries
    from humeval_power.studies.looks.rating_looks import LookInformation, LookSchedule
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.power.systems_goals import SystemsPower
    from humeval_power.studies.power.systems_precision import AnyStudy


_LEAST_GROWTH = 1e-3  # of the information, by which looks that count differ


@dataclass(frozen=True, slots=True)
class GoalShare:
    """How often simulated studies reached a goal, with its 95 % Monte Carlo interval."""

    goal: Goal
    share: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PlannedSystems:
    """The systems with what is assumed of them, what is to be found, and by which tests.

    parameters : names, assumed means and standard deviations on [0, 1].
    family : the tests made together, their model and correction.
    goal : what counts as power.
    criteria : names of those that all comparisons are made on; none where there is one without a name.
    shares : of the goals that the plan is not made for, in the simulations of its power.
    others : parameters, by name, that were looked at beside those planned for.
    looks : those of the plan.
    """

    parameters: SystemsParameters
    family: ComparisonFamily
    goal: Goal
    criteria: tuple[str, ...] = ()
    shares: tuple[GoalShare, ...] = ()
    others: tuple[tuple[str, SystemsParameters], ...] = ()
    looks: LookSchedule | None = None

    def __post_init__(self) -> None:
        self.family.pairs(self.parameters.names)  # refuses a baseline that is none of them
        problems = [
            f"The criteria must be different names; {name!r} is there twice."
            for name in dict.fromkeys(self.criteria)
            if self.criteria.count(name) > 1
        ]
        problems += ["A criterion needs a name." for name in self.criteria if not name.strip()]
        if self.family.correction == "max-t" and self.family.over == "all" and self.n_criteria > 1:
            problems.append(MAX_T_OVER_CRITERIA)
        if problems:
            raise InputError(" ".join(problems))

    @property
    def pair(self) -> Parameters:
        """What is known of the two systems whose difference is hardest to find: the closest of those that differ,
        and of equally close ones those that workers and items differ most about."""
        return self.parameters.pair(*self.hardest)

    @property
    def hardest(self) -> tuple[int, int]:
        """Places of these two systems, the lower mean first."""
        return _hardest_pair(self.parameters)

    def check(self, rule: DecisionRule) -> None:
        """Refuse a test that several systems are not compared by.

        Raises
        ------
        InputError
            A test or a correction whose power no formula gives, or that has no boundaries over looks.
        """
        from humeval_power.studies.power.systems_power import has_formula

        if self.looks is not None:
            self._check_looks(self.looks, rule)
        if self.family.correction == "max-t":
            from humeval_power.studies.power.systems_power import check_max_t

            check_max_t(rule)
        if rule.is_latent:
            raise InputError(
                f"A plan of several systems is searched by formula, and none is of the family '{rule.family}': "
                "plan with ratings as numbers (family 'gaussian'); 'power' simulates a size with a Likert response."
            )
        if not has_formula(self.family, rule):
            raise InputError(
                f"A plan of several systems needs a test that a formula describes, not {rule}, correction "
                f"{self.family.correction}."
            )

    def _check_looks(self, looks: LookSchedule, rule: DecisionRule) -> None:
        from humeval_power.studies.looks.systems_looks import check_stepwise

        if rule.margin is not None:
            raise InputError(
                "Looks at several systems are planned for tests of a difference, not for a margin: leave out one."
            )
        if looks.drop_systems:
            from humeval_power.studies.looks.dropping import check_dropping

            check_dropping(
                looks.looks,
                looks.efficacy,
                looks.futility,
                looks.stop_when,
                rule,
                self.family,
                n_systems=self.parameters.n_systems,
                n_criteria=self.n_criteria,
                goal=self.goal,
            )
        check_stepwise(looks.rule(rule), self.family.correction)
        if self.n_criteria > 1:
            raise InputError(
                "Looks are taken on one criterion: several would stop at looks of their own, and the study "
                "has one end."
            )
        if self.goal == "first":
            raise InputError(
                "The goal 'first' needs no test, so no boundary says when it is reached: take 'best', or leave out "
                "the looks."
            )

    @property
    def n_criteria(self) -> int:
        """On how many criteria each comparison is tested."""
        return max(1, len(self.criteria))

    @property
    def n_tests(self) -> int:
        """How many tests are corrected together."""
        comparisons = len(self.family.pairs(self.parameters.names))
        return comparisons * (self.n_criteria if self.family.over == "all" else 1)


def goal_power(planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> float:
    """Chance by formula that a study of this size reaches the goal, with its looks."""
    return with_looks(goals_by_formula(planned, counts, rule).power, planned, counts, rule)


def goal_shares(planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> dict[Goal, float]:
    """The chances of all goals by formula, with the looks; NaN of those that these means do not have."""
    fixed = goals_by_formula(planned, counts, rule).shares
    return {
        goal: share if goal == "first" or math.isnan(share) else with_looks(share, planned, counts, rule)
        for goal, share in fixed.items()
    }


def with_looks(fixed: float, planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> float:
    """What looks leave of the chance of a goal: as of a z test at the share of alpha of one comparison, with the
    information of the hardest pair in a regular design. Near what simulation finds; it serves to search."""
    if planned.looks is None:
        return fixed
    from humeval_power.studies.looks.rating_looks import power_with_looks

    known = regular_information(planned, counts)
    *earlier, last = known.fractions
    growing = [last]
    for fraction in reversed(earlier):  # in the limit of endless workers or items a look adds nothing
        if growing[0] - fraction > _LEAST_GROWTH:
            growing.insert(0, fraction)
    if len(growing) == 1:
        return fixed
    return power_with_looks(
        fixed, first_boundaries(planned, rule, known._replace(fractions=tuple(growing)))
    )


def regular_information(planned: PlannedSystems, counts: AnyStudy) -> LookInformation:
    """Information about the hardest pair at the looks, of regular designs of their sizes."""
    import numpy as np

    from humeval_power.designs import Design
    from humeval_power.studies.looks.rating_looks import LookInformation
    from humeval_power.studies.power.required import regular_precision

    assert planned.looks is not None
    looks, shares = planned.looks.looks, np.array(planned.looks.looks.shares)
    m, n, k, d = (
        np.full(len(shares), float(size))
        for size in (counts.n_workers, counts.n_items, counts.ratings_per_item, counts.n_documents)
    )
    if looks.kind == "items":
        n, d = shares * n, shares * d
    else:  # fewer ratings of each item, and of some items none
        rated = (
            1.0
            if looks.kind == "ratings" or counts.ratings_per_item == counts.n_workers
            else 1.0 - (1.0 - shares) ** k
        )
        rated = np.minimum(rated, shares * k)
        m, n, k = shares * m if looks.kind == "workers" else m, rated * n, shares * k / rated
    paired = counts.kind != "split" if isinstance(counts, Design) else counts.paired
    precision = regular_precision(
        planned.pair, workers=m, items=n, ratings_per_item=k, paired=paired, documents=d
    )
    known = 1.0 / precision.variance
    return LookInformation(tuple((known / known[-1]).tolist()), float(known[-1]))


def first_boundaries(
    planned: PlannedSystems, rule: DecisionRule, information: LookInformation
) -> Boundaries:
    """Boundaries of the hardest pair while no comparison is shown."""
    from humeval_power.studies.looks.rating_looks import planned_boundaries
    from humeval_power.studies.looks.systems_looks import step_level

    assert planned.looks is not None
    n = planned.n_tests
    one = replace(rule, alpha=step_level(rule.alpha, n, n, planned.family.correction))
    effect = planned.parameters.stated_effect
    return planned_boundaries(planned.looks, one, information, effect=effect)


def goals_by_formula(planned: PlannedSystems, study: AnyStudy, rule: DecisionRule) -> SystemsPower:
    """The chances of all goals by formula; for a design by its own assignment."""
    from humeval_power.studies.power.systems_power import systems_formula

    tested = within_criterion(planned, rule)
    return systems_formula(planned.parameters, study, planned.family, tested, planned.goal)


def other_shares(planned: PlannedSystems, simulated: SystemsPower) -> tuple[GoalShare, ...]:
    """The goals that the plan is not made for, as far as its means have them."""
    return tuple(
        GoalShare(goal, share, simulated.interval_of(share))
        for goal, share in simulated.shares.items()
        if goal != planned.goal and not math.isnan(share)
    )


def within_criterion(planned: PlannedSystems, rule: DecisionRule) -> DecisionRule:
    """The rule at the level that a criterion has by itself."""
    return replace(rule, alpha=planned.family.criterion_alpha(rule.alpha, planned.n_criteria))


def scaled(planned: PlannedSystems, factor: float) -> PlannedSystems:
    """The same with the means drawn apart by a factor, around their average."""
    parameters = planned.parameters
    centre = math.fsum(parameters.means) / parameters.n_systems
    means = tuple(centre + factor * (mean - centre) for mean in parameters.means)
    effect = None if parameters.effect is None else factor * parameters.effect
    return replace(planned, parameters=replace(parameters, means=means, effect=effect))


def _hardest_pair(parameters: SystemsParameters) -> tuple[int, int]:
    means = parameters.means

    owns = parameters.sd_worker_system, parameters.sd_item_system, parameters.sd_document_system

    def variance(j: int, k: int) -> float:
        return sum(own[j] ** 2 + own[k] ** 2 for own in owns)

    apart = [
        (abs(means[k] - means[j]), -variance(j, k), (j, k) if means[j] < means[k] else (k, j))
        for j, k in combinations(range(parameters.n_systems), 2)
        if means[j] != means[k]
    ]
    return min(apart, default=(0.0, 0.0, (0, 1)))[2]


# What a fit of several systems together tells a plan.


@dataclass(frozen=True, slots=True)
class SystemsPilot:
    """Systems as they were fitted, on [0, 1], the scale that they were rated on and the name of that table;
    `boundary` names the standard deviations that were estimated as zero."""

    parameters: SystemsParameters
    scale: RatingScale | None = None
    boundary: tuple[str, ...] = ()
    ratings: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before planning from it."""
        if not self.boundary:
            return ()
        shown = ", ".join(self.boundary[:3]) + (" and others" if len(self.boundary) > 3 else "")
        return (
            f"Estimated as zero: {shown}. That is no proof that workers or items do not differ; power planned "
            "from it is too high if they do.",
        )


def systems_of_deviations(
    names: Sequence[str], means: Sequence[float], deviations: Mapping[str, float]
) -> SystemsParameters:
    """Parameters from standard deviations as a joint fit names them: `sd_worker_system` for all systems, or
    'sd_worker_system of NAME' for each."""

    def own(name: str) -> tuple[float, ...]:
        return tuple(
            float(deviations[name] if name in deviations else deviations[f"{name} of {system}"])
            for system in names
        )

    return SystemsParameters(
        names=tuple(names),
        means=tuple(map(float, means)),
        sd_worker=float(deviations["sd_worker"]),
        sd_worker_system=own("sd_worker_system"),
        sd_item=float(deviations["sd_item"]),
        sd_item_system=own("sd_item_system"),
        sd_residual=float(deviations["sd_residual"]),
        sd_document=float(deviations.get("sd_document", 0.0)),
        sd_document_system=own("sd_document_system") if "sd_document" in deviations else (),
    )


def systems_of_pairs(
    names: Sequence[str],
    means: Sequence[float],
    pairs: Mapping[tuple[int, int], Parameters],
    *,
    variances: SystemVariances,
) -> tuple[SystemsParameters, tuple[str, ...]]:
    """Parameters of all systems from those of every two, and the names of the standard deviations that are zero.

    The variance of a level's own difference between two systems is the sum of what the level has about each: least
    squares over the pairs, none below 0. What systems share and the residual are averages over the pairs.
    """
    from scipy.optimize import nnls

    K, places = len(names), np.array(list(pairs))
    which = np.zeros((len(places), K))
    which[np.arange(len(places)), places[:, 0]] = which[np.arange(len(places)), places[:, 1]] = 1.0
    deviations: dict[str, float] = {}
    for factor in ("worker", "item", "document"):
        slope, level = (
            np.array([getattr(pair, f"sd_{factor}_{part}") ** 2 for pair in pairs.values()])
            for part in ("slope", "intercept")
        )
        own = np.full(K, slope.mean() / 2)
        if variances == "own" and K > 2:
            own = nnls(which, slope)[0]
        shared = max(0.0, float((level - which @ own / 4).mean()))
        deviations[f"sd_{factor}"] = math.sqrt(shared)
        deviations |= {
            f"sd_{factor}_system of {name}": math.sqrt(float(v)) for name, v in zip(names, own, strict=True)
        }
    deviations["sd_residual"] = math.sqrt(np.mean([pair.sd_residual**2 for pair in pairs.values()]))
    boundary = tuple(name for name, deviation in deviations.items() if deviation == 0)
    return systems_of_deviations(names, means, deviations), boundary


def for_systems(parameters: SystemsParameters, names: Sequence[str]) -> SystemsParameters:
    """The same for systems of these names: those that were fitted keep what is theirs, and where others are among
    them all get the average variances and means; a note says so."""
    known = {name: place for place, name in enumerate(parameters.names)}
    if set(names) <= set(known):
        places = [known[name] for name in names]
        return replace(
            parameters,
            names=tuple(names),
            means=tuple(parameters.means[place] for place in places),
            sd_worker_system=tuple(parameters.sd_worker_system[place] for place in places),
            sd_item_system=tuple(parameters.sd_item_system[place] for place in places),
            sd_document_system=tuple(parameters.sd_document_system[place] for place in places),
            effect=None,
        )
    note = (
        f"The systems are not the {parameters.n_systems} that were fitted: each is taken to vary as these do on "
        "average."
    )
    count = len(names)
    return replace(
        parameters,
        names=tuple(names),
        means=count * (math.fsum(parameters.means) / parameters.n_systems,),
        sd_worker_system=count * (_root_mean_square(parameters.sd_worker_system),),
        sd_item_system=count * (_root_mean_square(parameters.sd_item_system),),
        sd_document_system=count * (_root_mean_square(parameters.sd_document_system),),
        effect=None,
        notes=(*parameters.notes, note),
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))


_SEALED = (
    "By formula, if the judges' correlations are as said. The power that the plan promises, and its test, are of "
    "people alone; 'judge estimate --plan' uses these judges, and no others."
)


@dataclass(frozen=True, slots=True)
class PlannedJudges:
    """Judges by name, what is known of them, the `runs` of each on an output, and the `extra` items that they score
    beside those that people rate."""

    names: tuple[str, ...]
    panel: JudgePanel
    runs: tuple[int, ...]
    extra: int

    def __post_init__(self) -> None:
        n, problems = len(self.names), []
        if n != self.panel.n_judges or len(set(self.names)) < n:
            rule = f"must name each of {self.panel.n_judges} judges once."
            problems.append(Problem(rule, "", place="judges"))
        if len(self.runs) != self.panel.n_judges:
            problems.append(Problem("must be one number, or one of each judge.", "", place="judge_runs"))
        if self.extra < LEAST_EXTRA:
            rule = f"must be {LEAST_EXTRA} or more: judges add nothing without further items."
            problems.append(Problem(rule, "", place="judged_extra"))
        if problems:
            raise InputError(problems)

    def said(self) -> Mapping[str, Any]:
        """By the fields of a study."""
        return {
            "judges": self.names,
            "judge_correlation": self.panel.correlations,
            "judge_reliability": self.panel.reliabilities,
            "judges_between": self.panel.between,
            "judge_runs": self.runs,
            "judged_extra": self.extra,
            "cost_per_score": self.panel.prices,
        }


def planned_judges(
    names: tuple[str, ...],
    correlation: tuple[float, ...],
    *,
    extra: int,
    reliability: tuple[float, ...] | None,
    between: float | None,
    runs: tuple[int, ...] | None,
    prices: tuple[Decimal, ...] | None,
) -> PlannedJudges:
    """From the fields of a study, of which one number stands for all judges. Raises InputError: what does not
    go together."""
    n = len(names)

    def of_each(values: tuple[Any, ...] | None, usual: Any) -> tuple[Any, ...]:
        given = (usual,) if values is None else values
        return given * n if len(given) == 1 else given

    try:
        panel = JudgePanel(
            of_each(correlation, 0.0), of_each(reliability, 1.0), of_each(prices, Decimal(0)), between
        )
    except InputError as error:
        raise InputError([_of_study(one) for one in error.problems]) from None
    return PlannedJudges(names, panel, of_each(runs, 1), extra)


_FIELDS = {
    "--correlation": "--judge-correlation",
    "--reliability": "--judge-reliability",
    "--between": "--judges-between",
}


def _of_study(problem: Problem) -> Problem:
    """A problem of a panel by the fields of the study."""
    place, column = (_FIELDS.get(name or "", name) for name in (problem.place, problem.column))
    return replace(problem, place=place, column=column)


def check_judges(plan: Plan) -> None:
    """Refuse judges in a plan whose power with them has no formula. Raises InputError: several systems or
    criteria, categories, looks, documents or workers who see one system each."""
    has = {
        "several systems or criteria": plan.many is not None,
        "ratings as categories": plan.parameters.latent is not None,
        "looks": plan.looks is not None,
        "documents": bool(plan.counts.n_documents),
        "workers who see one system each": not plan.counts.paired,
    }
    if wrong := [name for name, holds in has.items() if holds]:
        raise InputError(
            "Judges are planned beside two systems, rated as numbers by workers who see both; not with "
            f"{' or '.join(wrong)}. Leave them out of this plan."
        )


def beside_judges(plan: Plan) -> Iterator[tuple[str, BudgetOption]]:
    """The planned study without the judges and with them, and with as few items as keep its power."""
    judges, costs = plan.judges, plan.costs
    if judges is None or costs is None:
        return
    request = BudgetRequest(
        parameters=plan.parameters.with_difference(plan.effect),
        panel=judges.panel,
        budget=Decimal(0),
        costs=costs,
        extra=judges.extra,
        rule=plan.rule,
    )
    counts, none = plan.counts, (0,) * len(judges.names)
    alone = option_of(request, counts, 0, none)
    total = counts.n_items + judges.extra

    def judged(items: int) -> BudgetOption:
        return option_of(request, replace(counts, n_items=items), total, judges.runs)

    yield "people alone", alone
    yield "with judges", judged(counts.n_items)
    least = max(LEAST_ITEMS, -(-counts.n_workers // counts.ratings_per_item))
    if least <= counts.n_items:
        fewer = smallest_true(
            lambda items: judged(items).power.power >= alone.power.power, least, counts.n_items
        )
        if fewer is not None and fewer < counts.n_items:
            yield "with judges, fewer items", judged(fewer)


def judges_section(plan: Plan) -> Section:
    """The same study with the judges and without."""
    judges = plan.judges
    assert judges is not None
    currency = "" if plan.costs is None else plan.costs.currency
    rows = table(
        beside_judges(plan),
        {
            "": lambda row: row[0],
            "people": lambda row: f"{row[1].counts.n_workers:,}",
            "items": lambda row: f"{row[1].counts.n_items:,}",
            "ratings": lambda row: f"{2 * row[1].counts.n_items * row[1].counts.ratings_per_item:,}",
            "judged": lambda row: f"{row[1].judged:,}",
            "cost": lambda row: money(row[1].total, currency),
            "power": lambda row: decimals(row[1].power.power, 3),
            "interval": lambda row: f"+-{row[1].power.precision.half_width(plan.rule.alpha):.3g}",
        },
    )
    named = ", ".join(
        f"{name} ({'1 run' if runs == 1 else f'{runs} runs'})"
        for name, runs in zip(judges.names, judges.runs, strict=True)
    )
    said = f"Judges: {named}, of {judges.extra:,} items beside those that people rate."
    return Section("With judges and without", (Paragraph(said), rows, Paragraph(_SEALED)))


def judges_record(plan: Plan) -> dict[str, Any]:
    """The same for the record; nothing without judges."""
    if plan.judges is None:
        return {}
    rows = [
        {
            "study": name,
            "workers": one.counts.n_workers,
            "items": one.counts.n_items,
            "ratings": 2 * one.counts.n_items * one.counts.ratings_per_item,
            "judged": one.judged,
            "cost": str(one.total),
            "power": one.power.power,
            "half_width": one.power.precision.half_width(plan.rule.alpha),
        }
        for name, one in beside_judges(plan)
    ]
    return {"judges": {"names": list(plan.judges.names), "runs": list(plan.judges.runs), "rows": rows}}


@dataclass(frozen=True, slots=True)
class WorkersOut:
    """Shares of workers whom rules leave out, of the careful and of the careless ones; NaN where there are none."""

    careful: float
    careless: float

    def of_all(self, careless: float) -> float:
        """Of all workers, of whom the share `careless` does not care."""
        out = 0.0 if careless == 0 else careless * self.careless
        return out + (1 - careless) * self.careful


NOBODY_OUT = WorkersOut(0.0, 0.0)


def expected_out(exclusion: Exclusion) -> WorkersOut:
    """Shares without knowing more: careless workers are found wherever somebody is left out."""
    return NOBODY_OUT if exclusion == "none" else WorkersOut(0.0, 1.0)


_COUNTED = 400  # studies in which workers are counted; their ratings need no fit
_COUNTED_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class RulesCost:
    """What rules cost, by simulation at the effect of interest.

    `out` are the workers left out. `power` is that of the study with the rules, `without` the same if nobody
    were left out, and `all_careful` if moreover nobody were careless; NaN where it was not simulated.
    """

    out: WorkersOut
    power: float = math.nan
    without: float = math.nan
    all_careful: float = math.nan
    n_simulations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRules:
    """Rules as they are sealed, with what was assumed to say what they cost: attention `checks` and outputs shown
    again (`repeats`) as shares of a worker's ratings, and the share of `careless` workers."""

    rules: ExclusionRules
    checks: float = 0.0
    repeats: float = 0.0
    careless: float = 0.0
    cost: RulesCost


@dataclass(frozen=True, slots=True)
class _ExclusionCounts:
    """Workers of simulated studies, and how many of them are left out."""

    careful: int = 0
    careful_out: int = 0
    careless: int = 0
    careless_out: int = 0

    def __add__(self, other: _ExclusionCounts) -> _ExclusionCounts:
        return _ExclusionCounts(
            self.careful + other.careful,
            self.careful_out + other.careful_out,
            self.careless + other.careless,
            self.careless_out + other.careless_out,
        )


def workers_out(study: RatingStudy, *, seed: int, n: int = _COUNTED, n_jobs: int = 1) -> WorkersOut:
    """Shares of workers whom the rules of a study leave out, over simulated studies."""
    each = study_workload(study.design, n_simulations=1).seconds
    blocks = [
        Block(count_workers_out, (study.replication, seed, *part), each * part.n, part.n)
        for part in spans(n, _COUNTED_TOGETHER)
    ]
    counts = sum(run_blocks(blocks, n_jobs=n_jobs), start=_ExclusionCounts())
    return WorkersOut(
        counts.careful_out / counts.careful if counts.careful else math.nan,
        counts.careless_out / counts.careless if counts.careless else math.nan,
    )


def count_workers_out(
    replication: Replication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> _ExclusionCounts:
    """The work of a block: who is left out of studies `first` to `first + n - 1`."""
    with ThreadPoolExecutor(n_jobs) as pool:
        back = list(pool.map(partial(replication.collected, seed), range(first, first + n)))
    out = np.concatenate([one.excluded for one in back])
    careful = np.concatenate([one.kind for one in back]) == CAREFUL
    return _ExclusionCounts(
        int(careful.sum()), int(out[careful].sum()), int((~careful).sum()), int(out[~careful].sum())
    )


def planned_rules(
    study: RatingStudy, estimate: PowerEstimate | None, *, seed: int, n_jobs: int = 1
) -> PlannedRules | None:
    """The rules of a study with what they cost; None without rules.

    found : simulated power with the rules; None where only the workers are counted whom they leave out.
    """
    control, losses = study.exclusion, study.losses
    if not isinstance(control, QualityControl):
        return None
    cost = RulesCost(workers_out(study, seed=seed, n_jobs=n_jobs))
    if estimate is not None:
        cost = _with_power(cost, study, estimate, seed=seed, n_jobs=n_jobs)
    return PlannedRules(
        rules=control.rules,
        checks=control.checks,
        repeats=control.repeats,
        careless=losses.careless,
        cost=cost,
    )


def _with_power(
    cost: RulesCost, study: RatingStudy, estimate: PowerEstimate, *, seed: int, n_jobs: int
) -> RulesCost:
    def power(losses: Losses) -> float:
        return estimate_power(
            replace(study, losses=losses, exclusion="none"),
            n_simulations=estimate.n_simulations,
            seed=seed,
            n_jobs=n_jobs,
        ).power

    careful = replace(study.losses, at_random=0.0, straight_lining=0.0)
    all_careful = power(careful)
    without = all_careful if careful == study.losses else power(study.losses)
    return replace(
        cost,
        power=estimate.power,
        without=without,
        all_careful=all_careful,
        n_simulations=estimate.n_simulations,
    )
