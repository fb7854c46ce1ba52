"""Plans: the design that finds an effect, proved and sealed; and who rates what when.

What a study that is under way should collect next: the calls behind `assign --next`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from humeval_power.assumptions import Assumed, Assumptions, assumptions_of
from humeval_power.choices import DEFAULT_SEED, MOST_WORKERS, Estimand, Exclusion
from humeval_power.costs import CostModel
from humeval_power.designs import Assignment, Design
from humeval_power.differences import Difference
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.parameters import Parameters
from humeval_power.rules import (
    DEFAULT_FAMILY,
    DEFAULT_RULE,
    ComparisonFamily,
    DecisionRule,
    SystemVariances,
)
from humeval_power.saying.numbers import counted
from humeval_power.saying.progress import in_steps, progress
from humeval_power.simulation.study import NO_LOSSES
from humeval_power.studies.plan.assignment import AssignmentPlan, assign, open_bits
from humeval_power.studies.plan.under_way import StudyUnderWay, fewest_first
from humeval_power.sweep.executors import on_executor
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import AssignmentTable, Key
    from humeval_power.checking.exports.mapping import Export
    from humeval_power.checking.exports.mapping import Mapping as ExportMapping
    from humeval_power.choices import PresentationOrder
    from humeval_power.estimation.fit import Fit
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.ratings import Ratings
    from humeval_power.simulation.quality_control import QualityControl
    from humeval_power.simulation.study import Losses
    from humeval_power.studies.looks.rating_looks import LookSchedule
    from humeval_power.studies.monitor.dropping import DroppingMonitoring
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.planned_systems import PlannedJudges, PlannedSystems, SystemsPilot
    from humeval_power.studies.plan.request import PlanResult
    from humeval_power.studies.plan.result import PlanSearchResult
    from humeval_power.studies.plan.result_assignment import (
        AssignmentResult,
        LookStage,
        NextRatings,
        Takeover,
    )
    from humeval_power.studies.plan.under_way import NextWay
    from humeval_power.study_counts import StudyCounts
    from humeval_power.sweep.executors import AnyExecutor


Pairing = Literal["paired", "unpaired", "both"]
PAIRINGS: Mapping[Pairing, tuple[bool, ...]] = {
    "paired": (True,),
    "unpaired": (False,),
    "both": (True, False),
}


def pilot(
    ratings: Ratings, *, rule: DecisionRule = DEFAULT_RULE, allow_not_identified: bool = False
) -> Assumed:
    """What a table of ratings of one's own tells a plan: its variances, how sure they are, scale and systems.

    rule : its family says whether ratings are fitted as numbers or as categories.

    Raises
    ------
    InputError
        A table that cannot tell its variances apart, unless that is allowed.
    """
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.estimation.fitting import fit
    from humeval_power.estimation.latent.fit import fit_latent
    from humeval_power.studies.fit.wald import effect_test

    interval = None
    with few_fits():
        if rule.is_latent:
            fitted: Fit | LatentFit = fit_latent(ratings, family=rule.family, link=rule.link)
        else:
            fitted = fit(ratings)
            tested = effect_test(fitted)
            interval = None if tested.reason else tested.interval
    if fitted.not_identified and not allow_not_identified:
        only = "; ".join(fitted.identified_combinations)
        raise InputError(
            f"{ratings.source} does not identify {', '.join(fitted.not_identified)}"
            f"{f': only {only}' if only else ''}. Plan with the same ratings per item and system "
            "and add --allow-not-identified, or collect a pilot in which some items have two ratings or "
            "more under a system."
        )
    a, b = ratings.system_names
    return Assumed(
        "pilot",
        fitted.parameters,
        scale=ratings.scale,
        systems=(a, b),
        uncertainty=fitted.uncertainty,
        origin="pilot",
        file=ratings.source,
        ratings=ratings.source,
        observed_interval=interval,
    )


@on_executor
def make_plan(
    assumed: Assumptions | Mapping[str, Parameters | SystemsParameters],
    *,
    effect: float | Difference | None = None,
    items: Sequence[int],
    costs: CostModel,
    family: ComparisonFamily = DEFAULT_FAMILY,
    goal: Goal = "pair",
    criteria: Sequence[str] = (),
    sources: Assumptions | None = None,
    workers: Sequence[int] | None = None,
    max_workers: int = MOST_WORKERS,
    ratings_per_item: Sequence[int] | None = None,
    max_ratings_per_worker: int | None = None,
    documents: Sequence[int] | None = None,
    max_documents: int | None = None,
    pairing: Pairing = "paired",
    target: float = 0.8,
    budget: Decimal | None = None,
    spend_budget: bool = False,
    rule: DecisionRule = DEFAULT_RULE,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion = "none",
    looks: LookSchedule | None = None,
    robust: bool = False,
    assurance: float | None = None,
    safe: float | None = None,
    question: str = "",
    exclusions: Sequence[str] = (),
    exclude_if: ExclusionRules = NO_RULES,
    estimand: Estimand | None = None,
    created: datetime.date | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    ahead: Callable[..., None] | None = None,
    judges: PlannedJudges | None = None,
    beside: Sequence[int] | None = None,
    remarks: Sequence[str] = (),
) -> PlanSearchResult:
    """Find the cheapest design that finds the effect, within a budget where there is one; prove and seal it.

    Designs are ranked by formula and the winner is proved by simulation; beside it stand a safer one and the most
    powerful one that the budget buys. Of several systems, or several criteria, power is the chance of the goal.

    assumed : how ratings vary, by name; the first is planned for. `pilot` makes one of ratings. Of several systems,
        or several criteria, `SystemsParameters` with the means assumed, all of the same systems.
    effect : smallest difference B - A of interest, on [0, 1]; with a margin the true difference assumed. Of several
        systems that of their means, as it was said. [that of the means]
    items, workers, ratings_per_item : numbers to choose from; without the latter two all up to
        `max_workers`.
    family, goal, criteria : of several systems: the tests that are made together, their model and correction; what
        counts as power; names of the criteria that everything is tested on.
    sources : of several systems: where the settings come from, by the same names, with the scale. [typed]
    documents : how many documents the items may come out of, in equal shares; `max_documents` is short for
        all from 2 to that. Without either, items stand alone.
    budget : what may be spent, in the currency of `costs`; `spend_budget` plans the most powerful design that it
        buys.
    costs : prices. Their shares of checks and repeats count among what a worker may
        be shown, and are what an assignment of the plan has.
    target : power to reach.
    robust : reach it under everything assumed, not the first alone.
    assurance : reach it with this probability, given how little the pilot knows.
    safe : plan at this upper confidence limit of how workers differ.
    losses : what is expected to be lost; with `exclude_if` the share of careless workers whom the rules are for.
    looks : tests before the end; power is then that of the whole procedure. Each comparison has its own boundaries.
    exclude_if : rules by which the analysis will leave out workers, sealed with the plan. The power is then that of
        what they leave; of several systems what they cost in power is not simulated. Rules about checks and repeats
        need those of `costs`.
    estimand : what the result will be about where items are drawn from a pool, sealed with the plan: 'pool', or
        'population' for items like these.
    question, exclusions, created : for the plan, exclusions in words; without a date it is of today.
    n_simulations : of a proof. [2,000; of several systems 100 to 400 where each study has to be fitted]
    ahead : is told of the simulations of two systems before the first, and may refuse them; where intervals stop
        the study also of `n_simulations`.
    judges : that score all outputs beside the people; what they add is shown by formula, and they are sealed.
    beside : workers, items, ratings of each item and perhaps documents of a design to show beside those found.
    remarks : what was noticed in reading.
    Returns PlanSearchResult: `plan` and its text as `sealed`; `found` is how it was chosen; `to_frame` has
    the best design for each cost. `plan.many` is what it decides of several systems.
    Raises InputError: no design within the limits or the budget, a wish that contradicts another, a goal that
    the means do not have, or a test of several systems whose power no formula gives.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.plan.candidates import SearchSpace
    from humeval_power.studies.plan.request import PlanRequest
    from humeval_power.studies.plan.result import PlanSearchResult
    from humeval_power.studies.plan.sealed_content import plan_to_json
    from humeval_power.studies.plan.search_and_prove import make_plan as search_and_prove

    known, many = _assumed(assumed, family, goal, criteria, looks, sources)
    known, notices = (known, ()) if safe is None else _safe(known, safe)
    if many is not None:
        first = next(iter(many.values())).parameters
        notices = first.notes
        if not isinstance(effect, Difference):
            effect = Difference(first.stated_effect, known.scale)
    elif effect is None:
        raise InputError("Give the smallest effect of interest.")
    elif not isinstance(effect, Difference):
        effect = Difference(effect, known.scale, systems=known.systems)
    most = max(workers) if workers else max_workers
    space = SearchSpace(
        workers=workers or range(2, max_workers + 1),
        items=items,
        ratings_per_item=ratings_per_item or range(1, most + 1),
        pairings=PAIRINGS[pairing],
        max_ratings_per_worker=max_ratings_per_worker,
        documents=documents_to_search(documents, max_documents),
        checks=float(costs.checks_per_rating),
        repeats=float(costs.repeats_per_rating),
    )
    control = control_of(exclude_if, costs)
    if control is not None and exclusion != "none":
        raise InputError(
            f"Leave out workers by rules, or as if they were known ({exclusion}), not by both."
        )
    request = PlanRequest(
        assumed=known,
        effect=effect.value if many is None else first.stated_effect,
        space=space,
        costs=costs,
        target=target,
        budget=budget,
        spend_budget=spend_budget,
        rule=rule,
        robust=robust,
        confidence=assurance,
        safe=safe,
        losses=losses,
        exclusion=control or exclusion,
        looks=looks,
        many=many,
        beside=None
        if beside is None
        else _design_beside(beside, PAIRINGS[pairing][0], 2 if many is None else first.n_systems),
    )
    with progress("Trying designs", total=100) as advance:
        result = search_and_prove(
            request,
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            ahead=ahead,
            progress=in_steps(advance),
        )
    plan = plan_of(result, question=question, exclusions=exclusions, seed=seed)
    plan = replace(plan, estimand=estimand, judges=judges)
    made = created or datetime.date.today()
    return PlanSearchResult(
        plan=plan,
        sealed=plan_to_json(plan, created=made),
        created=made,
        found=result,
        said=effect,
        remarks=(*remarks, *notices),
        provenance=Provenance(seed=seed),
    )


def _design_beside(sizes: Sequence[int], paired: bool, n_systems: int) -> StudyCounts:
    """The design of these workers, items, ratings of each item and perhaps documents. Raises InputError:
    other numbers than these, or a design that cannot be built."""
    from humeval_power.studies.power.required import design_of
    from humeval_power.study_counts import StudyCounts

    if not 3 <= len(sizes) <= 4:
        raise InputError(
            "--beside: give workers, items and ratings of each item, such as 20,100,3, and the documents where "
            f"items come out of some; got {','.join(map(str, sizes))}."
        )
    workers, items, each, *documents = sizes
    counts = StudyCounts(workers, items, each, paired, n_documents=sum(documents), n_systems=n_systems)
    design_of(counts)
    return counts


def _assumed(
    assumed: Assumptions | Mapping[str, Parameters | SystemsParameters],
    family: ComparisonFamily,
    goal: Goal,
    criteria: Sequence[str],
    looks: LookSchedule | None,
    sources: Assumptions | None,
) -> tuple[Assumptions, Mapping[str, PlannedSystems] | None]:
    """What is assumed of two systems, of several of those hardest to tell apart; and what is asked of several."""
    from humeval_power.studies.plan.planned_systems import PlannedSystems

    if isinstance(assumed, Assumptions):
        return assumed, None
    several = {name: one for name, one in assumed.items() if isinstance(one, SystemsParameters)}
    if not several:
        return assumptions_of(
            {name: one for name, one in assumed.items() if isinstance(one, Parameters)}
        ), None
    many = {
        name: PlannedSystems(
            parameters,
            family,
            goal,
            tuple(criteria),
            others=tuple((other, values) for other, values in several.items() if other != name),
            looks=looks,
        )
        for name, parameters in several.items()
    }
    pairs = {name: one.pair for name, one in many.items()}
    if sources is None:
        return Assumptions(tuple(Assumed(name, pair) for name, pair in pairs.items())), many
    by_name = {entry.name: entry for entry in sources.entries}
    entries = (replace(by_name[name], parameters=pair, uncertainty=None) for name, pair in pairs.items())
    return replace(sources, entries=tuple(entries)), many


def assign_work(
    study: Plan | Design,
    *,
    systems: Sequence[str] | None = None,
    item_names: Sequence[str] | None = None,
    documents_together: bool = False,
    batch_size: int | None = None,
    order: PresentationOrder = "random",
    check_rate: float | None = None,
    repeat_rate: float | None = None,
    replacements: int = 0,
    takeovers: Sequence[Takeover] = (),
    max_ratings_per_worker: int | None = None,
    blind: bool = False,
    key: Key | None = None,
    bits: bytes | None = None,
    seed: int | None = None,
    after: DroppingMonitoring | None = None,
) -> AssignmentResult:
    """Say who rates what when.

    study : a plan, which brings systems, looks, limit and seed; or a design.
    systems, item_names : what they are called. [A, B, ...; i01, i02, ...]
    documents_together : give a document to a worker as a whole, its items one after the other.
    batch_size : most ratings in a batch.
    order : 'random' shows the two outputs of an item half a batch apart (K outputs a K-th of it), 'blocked'
        one after the other.
    check_rate, repeat_rate : attention checks, and outputs shown once more, as shares of a worker's ratings.
        [as the plan paid for, else none]
    replacements : spare slots for workers who drop out.
    takeovers : show only what these spares do: (spare, slot, first batch).
    blind : name outputs by their codes alone; `key` of the result says what they stand for. The codes are made of
        128 random bits, which stand in the key and nowhere else, so that each run makes others.
    key : of an earlier run for the same study, as `read_key` reads it: its codes are used again.
    bits : what the codes are made of, 16 bytes. [those of the key, else drawn from the system]
    seed : of the order alone. [the plan's, else 1]
    after : the looks so far at a plan that drops systems, as `monitor` gives their `state`: only the ratings until
        the next look are shown, and only those of systems that are left. [before the first]
    Returns AssignmentResult: `to_frame` has a row for each thing that a worker is shown.
    Raises DesignError: options that are out of range or contradict each other, or a worker above the limit;
    InputError: a key that is not that of this study.
    """
    from humeval_power.saying.result import UNKNOWN, Provenance
    from humeval_power.studies.plan import assignment as blinding
    from humeval_power.studies.plan.assignment import assign
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import AssignmentResult
    from humeval_power.studies.plan.result_sections import is_below_target, plan_answer

    planned = study if isinstance(study, Plan) else None
    used = seed if seed is not None else DEFAULT_SEED if planned is None else planned.seed
    limit = max_ratings_per_worker or (None if planned is None else planned.max_ratings_per_worker)
    design = study.design() if isinstance(study, Plan) else study
    if documents_together:
        design = _kept_together(design, planned, limit)
    if key is not None:
        bits = key.bits
    elif blind and bits is None:
        bits = blinding.new_bits()
    plan = assign(
        design,
        seed=used,
        batch_size=batch_size,
        order=order,
        check_rate=paid_share(check_rate, planned, "checks_per_rating"),
        repeat_rate=paid_share(repeat_rate, planned, "repeats_per_rating"),
        replacement_slots=replacements,
        max_ratings_per_worker=limit,
        system_names=systems or (None if planned is None else planned.systems),
        item_names=item_names,
        looks=None if planned is None else planned.look_of_ratings(),
        bits=bits,
        is_planned=planned is not None,
    )
    if key is not None:
        blinding.check_key_is_of_plan(key, plan)
    return AssignmentResult(
        assignment=plan,
        takeovers=tuple(takeovers),
        stage=None if planned is None or not planned.drops_systems else _stage(planned, after),
        caveats=(plan_answer(planned),) if planned is not None and is_below_target(planned) else (),
        remarks=(_order_remark(used, seed, planned),) if plan.bits is not None else (),
        provenance=UNKNOWN if plan.bits is not None else Provenance(seed=used),
    )


def _stage(plan: Plan, after: DroppingMonitoring | None) -> LookStage:
    """What is rated until the next look. Raises InputError: a study that has ended."""
    from humeval_power.studies.plan.result_assignment import LookStage

    if after is None:
        return LookStage(1, plan.systems)
    if after.ended or after.next_planned is None:
        raise InputError("The study has ended: nothing is left to be rated.")
    return LookStage(after.next_planned, after.left)


def _order_remark(used: int, typed: int | None, planned: Plan | None) -> str:
    """What the seed of a blind table betrays to those who know it."""
    danger = "Who knows it can work out which system stands at which place"
    if typed is not None:
        return f"Seed {used} makes the order. {danger}: keep it with the key."
    owner = "" if planned is None else " of the plan"
    return (
        f"Seed {used}{owner} makes the order. {danger}: give a --seed of your own where raters may know it."
    )


def paid_share(typed: float | None, planned: Plan | None, name: str) -> float:
    """The share that was asked for, or that the plan paid for."""
    if typed is not None:
        return typed
    return 0.0 if planned is None or planned.costs is None else float(getattr(planned.costs, name))


def _kept_together(design: Design, planned: Plan | None, limit: int | None) -> Design:
    """The same design with whole documents for its workers."""
    from humeval_power.designs import check_load

    if not design.n_documents:
        raise InputError(
            "Documents can stay together only where items come out of documents: say how many."
        )
    if planned is not None and planned.looks is not None:
        raise InputError("The looks of this plan deal items one by one: documents cannot stay together.")
    return check_load(replace(design, together=True), limit)


def control_of(rules: ExclusionRules, costs: CostModel) -> QualityControl | None:
    """Rules with the checks, repeats and seconds that are paid for; None without rules. Raises InputError:
    rules about checks or repeats without any."""
    from humeval_power.simulation.quality_control import USUAL_BEHAVIOUR, QualityControl

    if not rules:
        return None
    seconds = costs.seconds_per_rating
    return QualityControl(
        rules=rules,
        checks=float(costs.checks_per_rating),
        repeats=float(costs.repeats_per_rating),
        behaviour=USUAL_BEHAVIOUR if seconds is None else replace(USUAL_BEHAVIOUR, seconds=float(seconds)),
    )


def documents_to_search(documents: Sequence[int] | None, most: int | None) -> Sequence[int]:
    """The numbers of documents to choose from; those above the most there are count for nothing."""
    if documents is None:
        return () if most is None else range(2, most + 1)
    numbers = [number for number in documents if most is None or number <= most]
    if not numbers:
        raise InputError(
            f"There are at most {most} documents, fewer than any number asked for: {min(documents)} at least."
        )
    return numbers


def _safe(assumed: Assumptions, confidence: float) -> tuple[Assumptions, tuple[str, ...]]:
    """The same with the worker's difference at its upper confidence limit, and a remark that says so."""
    from humeval_power.studies.power.assurance import safe_parameters

    first, *others = assumed.entries
    if first.uncertainty is None:
        raise InputError("--safe needs a pilot, or a parameter file that 'fit -o' wrote.")
    cautious = safe_parameters(first.parameters, first.uncertainty, confidence=confidence)
    remark = (
        f"Planning with a worker's difference of SD {cautious.sd_worker_slope:.4f} (the {100 * confidence:g} % "
        f"upper limit) instead of {first.parameters.recoded().sd_worker_slope:.4f}."
    )
    return replace(assumed, entries=(replace(first, parameters=cautious), *others)), (remark,)


def plan_of(found: PlanResult, *, question: str, exclusions: Sequence[str], seed: int) -> Plan:
    """The plan of the chosen design; its power is that of the setting planned for, or of the worst one. The
    others are kept beside it."""
    from humeval_power.saying.rule_words import default_question
    from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
    from humeval_power.studies.plan.planned_systems import other_shares
    from humeval_power.studies.plan.result_words import systems_question
    from humeval_power.studies.power.systems_goals import SystemsPower

    request, chosen = found.request, found.chosen
    simulated = chosen.simulated
    assert simulated is not None
    name = found.judged
    planned_for = next(entry for entry in request.assumed.entries if entry.name == name)
    sequential = chosen.sequential
    many = None if request.many is None else request.many[name]
    if many is not None and isinstance(simulated, SystemsPower):  # looks that drop systems reach one goal
        many = replace(many, shares=other_shares(many, simulated))
    if many is None:
        systems: tuple[str, ...] = request.assumed.systems
        usual = default_question(request.rule, request.assumed.systems)
    else:
        systems, usual = many.parameters.names, systems_question(many, request.rule)
    plan = Plan(
        question=question or usual,
        systems=systems,
        effect=request.effect,
        parameters=planned_for.parameters,
        source=ParameterSource(name, planned_for.file, planned_for.ratings if planned_for.is_own else None),
        counts=chosen.counts,
        rule=request.rule,
        target_power=request.target,
        predicted=PredictedPower(
            chosen.powers[name], simulated.power, simulated.interval, simulated.n_simulations
        ),
        seed=seed,
        max_ratings_per_worker=request.space.max_ratings_per_worker,
        scale=request.assumed.scale,
        costs=request.costs,
        cost=chosen.cost.total,
        exclusions=tuple(exclusions),
        rules=found.rules,
        looks=None if sequential is None or request.looks is None else sequential.calibrated(request.looks),
        expected=None if sequential is None else sequential.expected,
        stops=() if sequential is None else sequential.stops,
        drops=() if sequential is None else sequential.drops,
        others=()
        if many is not None
        else tuple((one, values) for one, values in request.settings.items() if one != name),
        many=many,
    )
    # the plan promises what its own assignment gives, to the last digit
    return replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))


# What a pilot of several systems tells a plan.


def systems_pilot(
    ratings: Ratings, *, variances: SystemVariances = DEFAULT_FAMILY.variances
) -> SystemsPilot:
    """What a table of ratings of several systems tells a plan: one fit of all of them; where items come out of
    documents, which that has not, the fits of their pairs taken together.

    Raises
    ------
    InputError
        A table that cannot tell its variances apart.
    FitError
        Ratings that determine nothing.
    """
    from humeval_power.estimation.joint.fit import fit_joint
    from humeval_power.studies.plan.planned_systems import SystemsPilot, systems_of_deviations

    if ratings.document is not None:
        return _pilot_of_pairs(ratings, variances)
    fitted = fit_joint(ratings, variances=variances, names=ratings.system_names)
    _check_pilot(ratings, fitted, "The fit of all systems")
    parameters = systems_of_deviations(
        ratings.system_names, fitted.means.tolist(), fitted.standard_deviations
    )
    return SystemsPilot(parameters, ratings.scale, tuple(fitted.boundary), ratings.source)


def _pilot_of_pairs(ratings: Ratings, variances: SystemVariances) -> SystemsPilot:
    from itertools import combinations

    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.estimation.fitting import fit
    from humeval_power.studies.plan.planned_systems import SystemsPilot, systems_of_pairs

    names = ratings.system_names
    pairs = list(combinations(range(len(names)), 2))
    with few_fits(len(pairs)):
        fits = [fit(ratings.pair(names[first], names[second])) for first, second in pairs]
    for (first, second), fitted in zip(pairs, fits, strict=True):
        _check_pilot(ratings, fitted, f"The fit of {names[first]} and {names[second]}")
    means = np.bincount(ratings.system, ratings.rating) / np.bincount(ratings.system)
    known = dict(zip(pairs, (fitted.parameters for fitted in fits), strict=True))
    parameters, boundary = systems_of_pairs(names, means.tolist(), known, variances=variances)
    return SystemsPilot(parameters, ratings.scale, boundary, ratings.source)


def _check_pilot(ratings: Ratings, fitted: JointFit | Fit, which: str) -> None:
    if fitted.not_identified or not fitted.converged:
        why = "has not converged" if not fitted.converged else "does not tell its variances apart"
        raise InputError(
            f"{which} of {ratings.source} {why}. Plan from a pilot in which some items have two ratings or more "
            "under a system, or give --preset."
        )


_STREAM = 11  # of random numbers, beside those of the assignment


def next_ratings(
    study: Plan | Design,
    n_next: int,
    *,
    assignment: AssignmentTable,
    exports: Sequence[Export],
    mapping: ExportMapping | None = None,
    withdrawn: Collection[str] = (),
    dropouts: Collection[str] = (),
    excluded: Collection[str] = (),
    new_workers: int = 0,
    budget: Decimal | None = None,
    **how: Any,
) -> NextRatings:
    """Say which ratings of a study that is under way come next, by counts alone: no rating is read.

    study : as `assign_work` took it.
    n_next : so many ratings at most; all of an item by the same worker where the design has it so.
    assignment : who was to see what when, as `read_assignment` reads it, the tables of spares and of earlier next
        ratings among it.
    exports : all that the platforms have given back so far, as `read_export` reads it.
    mapping : where answers and codes stand; None takes what each format says by itself.
    withdrawn : ids of workers, as in the exports, who took their consent back.
    dropouts : slots whose workers do not come back: what they did counts, what they did not do is given to others.
    excluded : slots whose workers the rules of the plan leave out: nothing of theirs counts.
    new_workers : how many new workers take part.
    budget : what the whole study may cost at most.
    how : what `assign_work` took besides: systems, item_names, batch_size, order, rates, blind, key, seed; `after`
        the looks so far, of a plan whose looks drop systems: what the next look lacks is given out, and no more.
    Returns NextRatings: `to_frame` are the rows to show, in new batches of the slots; its `ways` say what they buy.
    Raises InputError: an assignment or a key of another study, slots that it does not have, more than a
    budget, or fewer workers than the ratings need; DesignError: what `assign_work` raises.
    """
    from humeval_power.studies.field.calls import collected_work
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import NextRatings
    from humeval_power.studies.plan.under_way import check_budget, errors_by_gain, ways_to_go_on

    planned = study if isinstance(study, Plan) else None
    if n_next < 1:
        raise InputError([Problem(f"The ratings that come next must be at least 1; got {n_next}.", "")])
    base = assign_work(study, **how)
    plan = base.assignment
    work = collected_work(exports, assignment, mapping=mapping, withdrawn=withdrawn)
    limit = how.get("max_ratings_per_worker") or (
        None if planned is None else planned.max_ratings_per_worker
    )
    rates = [
        paid_share(how.get(name), planned, of)
        for name, of in (("check_rate", "checks_per_rating"), ("repeat_rate", "repeats_per_rating"))
    ]
    state = StudyUnderWay.of(plan, assignment, work, dropouts=dropouts, excluded=excluded, stage=base.stage)
    if base.stage is not None:
        _check_lacking(state, base.stage, n_next)
    result = state.collecting(new_workers, limit=limit, rates=rates, most=n_next)
    slots = (*state.slot_of, *state.new_slots(new_workers))
    rng = np.random.default_rng(_seed(plan.seed, len(assignment.frame)))
    chosen = fewest_first(result, n_next, rng)
    _check_enough(chosen, n_next, state, new_workers, limit)
    batch = _batch(plan, state, slots, chosen, {**how, "rates": rates}, n_rows=len(assignment.frame))
    ways: tuple[NextWay, ...] = ()
    by_gain = None
    if planned is not None:
        ways = ways_to_go_on(planned, state, chosen, limit=limit, rates=rates, rng=rng)
        by_gain = errors_by_gain(planned, result, chosen)
        if budget is not None:
            check_budget(planned, state, chosen, budget, rates=rates)
    elif budget is not None:
        raise InputError([Problem("--budget needs prices, which a plan has.", "Add --plan PATH.")])
    return NextRatings(
        assignment=batch,
        n_asked=n_next,
        new_slots=tuple(slot for slot in slots[len(state.slot_of) :] if slot in batch.slots),
        before=state.rows,
        counts=state.counts,
        per_output=state.per_output(chosen),
        ways=ways,
        by_gain=by_gain,
        scale=None if planned is None else planned.scale,
        currency=None if planned is None or planned.costs is None else planned.costs.currency,
        look=None if plan.look is None else _look_of(state),
        n_misfits=work.n_misfits,
        n_unknown=len(set(withdrawn)) - work.n_withdrawn,
        remarks=base.remarks,
        provenance=base.provenance,
    )


def _seed(seed: int, n_rows: int) -> int:
    """Of this batch, whatever the batches before drew."""
    return int(np.random.SeedSequence(seed, spawn_key=(_STREAM, n_rows)).generate_state(1)[0])


def _look_of(state: StudyUnderWay) -> int:
    """The look that added ratings are for: the next, where looks drop systems, else the last."""
    assert state.plan.look is not None
    return int(state.plan.look.max()) if state.stage is None else state.stage.look


def _check_lacking(state: StudyUnderWay, stage: LookStage, n_next: int) -> None:
    """Refuse ratings beyond those that the plan has until the next look: what dropped systems save is
    pocketed. Raises InputError: more than are lacking."""
    lacking = int(state.lacking.sum()) * len(stage.systems)
    if n_next <= lacking:
        return
    lack = f"{lacking:,} are" if lacking != 1 else "1 is"
    rule = (
        f"{counted(n_next, 'rating')} asked for; {lack if lacking else 'none is'} lacking until look {stage.look}. "
        "More would be paid by systems that their ratings dropped, and bring looks forward: levels hold for the "
        "looks of the plan."
    )
    remedy = (
        f"Ask for {lacking:,}." if lacking else "Name who is gone (dropouts, excluded), or take the look."
    )
    raise refusal(rule, remedy)


def _check_enough(
    chosen: Assignment, n_next: int, state: StudyUnderWay, new_workers: int, limit: int | None
) -> None:
    """Refuse to give fewer ratings than can be asked for, but for what is kept together."""
    n, each = len(chosen.item), len(state.systems) if state.is_whole else 1
    design = state.plan.design
    if state.is_whole and design.together and design.document_of_item is not None:
        each *= int(np.bincount(design.document_of_item).max())
    if n and n_next - n < each:
        return
    if n_next < each:
        of = "a document" if design.together else "an item"
        rule = f"{counted(n_next, 'rating')} asked for; what one worker rates together, all of {of}, is {each}."
        raise InputError([Problem(rule, f"Ask for {each} or more.")])
    met = "every item" if state.stage is None else "the items that lack a rating, or rate for another look"
    why = f"have met {met}" + ("" if limit is None else f", or may not be shown more than {limit} texts")
    usual = state.usual_load
    more = new_workers + -(-(n_next - n) // usual)
    rule = f"{counted(n_next, 'rating')} asked for; the workers can give {n}, since the others {why}, or are gone."
    remedy = f"Let new workers in (--new-workers {more})" + (f", or ask for {n}." if n else ".")
    raise InputError([Problem(rule, f"{remedy} A spare may also take over a whole slot.")])


def _batch(
    plan: AssignmentPlan,
    state: StudyUnderWay,
    slot_of: Sequence[str],
    chosen: Assignment,
    how: Mapping[str, Any],
    *,
    n_rows: int,
) -> AssignmentPlan:
    """The chosen ratings laid out as sessions, which go on after the last batch and order of their slots."""
    workers, worker = np.unique(chosen.worker, return_inverse=True)
    slots = [slot_of[who] for who in workers]
    base = plan.design
    rows = Assignment(worker.astype(np.int64), chosen.item, chosen.system)
    design = replace(
        base,
        kind="table",
        n_workers=len(slots),
        ratings_per_item=1.0,
        n_repeats=1,
        notes=(),
        explicit=rows,
    )
    made = assign(
        design,
        seed=_seed(plan.seed, n_rows),
        batch_size=how.get("batch_size"),
        order=how.get("order") or "random",
        check_rate=how["rates"][0],
        repeat_rate=how["rates"][1],
        system_names=plan.systems,
        item_names=how.get("item_names"),
        bits=open_bits(plan.seed) if plan.bits is None else plan.bits,
    )
    last = state.table.frame.groupby("slot")[["batch", "order"]].max()
    after = last.reindex(slots).fillna(0).to_numpy(dtype=np.int64)
    look = None
    if plan.look is not None:
        look = np.full(len(made.worker), _look_of(state))
    return replace(
        made,
        slots=tuple(slots),
        batch=made.batch + after[made.worker, 0],
        order=made.order + after[made.worker, 1],
        bits=plan.bits,
        look=look,
    )
