"""A plan for people: what is asked, who rates what, what it costs, how it decides, and what it promises."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from humeval_power.costs import SESSION, Cost, cost_of
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import of_hundred, spread_words, with_names
from humeval_power.saying.document import Document, Fact, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, interval_words, percent, power_words
from humeval_power.saying.rule_words import (
    PARITY,
    claim_words,
    halfway_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.saying.values import signed
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_judges import judges_section
from humeval_power.studies.plan.result_sections import (
    assumed_section,
    cost_section,
    exclusions_section,
    expectation_sentence,
    is_below_target,
    is_observed_effect,
    look_facts,
    looks_sentence,
    plan_answer,
    plan_caveats,
    power_section,
    sensitivity_section,
    who_rates_what,
)
from humeval_power.studies.plan.result_words import (
    DEVIATIONS,
    EARLY_LOOK,
    NOT_OBSERVED,
    OBSERVED,
    OTHER_LOOK,
    family_sentences,
    named,
    test_words,
    work_words,
)
from humeval_power.studies.power.analytic import HalfwayPower, halfway_power
from humeval_power.studies.power.assurance import pilot_advice
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.outlook import bottleneck_words
from humeval_power.studies.power.required import counts_precision, design_of
from humeval_power.study_counts import share_of
from humeval_power.systems import goal_clause

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.studies.plan.request import Alone, PlanResult
    from humeval_power.study_counts import StudyCounts

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


# What the search for a plan found: facts and tables for people.

HOURS_A_DAY = 1  # that each worker rates
_SPENT = Decimal("0.95")  # of the budget: what is left buys no step of the search that would matter
_CERTAIN = 0.9995  # a power that is shown as 1.000
USUAL_SECONDS = 30  # for a rating, where nobody said


def choice_facts(result: PlanResult) -> Iterator[Fact]:
    """What a person should know of the choice, beside the design, its price and its power."""
    many = result.request.many
    if many is None:
        yield "Test", str(result.request.rule)
    else:
        planned = many[result.judged]
        yield "Goal", goal_clause(planned.goal, result.request.rule)
        yield "Tests", test_words(planned, result.request.rule)
    yield from _ranking_facts(result)
    yield "Searched", f"{result.n_candidates:,} designs within the limits"
    yield from look_facts(result)
    yield "Limited by", bottleneck_words(result.bottleneck, result.chosen.counts)
    assurance, target = result.assurance, result.request.target
    if assurance is not None and result.request.says_assurance:
        spread = interval_words(assurance.quantile(0.1), assurance.quantile(0.9), digits=2)
        safe = result.request.safe
        yield (
            "Pilot" if result.request.assumed.entries[0].is_own else "Source",
            f"over all variances that it leaves open the power is {assurance.expected:.2f} on average (assurance), "
            f"{spread} in 80 of 100 cases, and {target:g} or more with a chance of "
            f"{percent(assurance.chance_of(target))}"
            + (
                ""
                if safe is None
                else f". The powers above are for workers at the {100 * safe:g} % upper limit"
            ),
        )
    if result.split is not None:
        yield "Fees", str(result.split)


def _ranking_facts(result: PlanResult) -> Iterator[Fact]:
    """What the simulated studies say of the ranking of several systems."""
    from humeval_power.studies.power.result_several import facts_of_several
    from humeval_power.studies.power.systems_goals import SystemsPower

    simulated, many = result.chosen.simulated, result.request.many
    if isinstance(simulated, SystemsPower) and many is not None:
        planned = many[result.judged]
        alpha = planned.family.criterion_alpha(result.request.rule.alpha, max(len(planned.criteria), 1))
        yield from facts_of_several(simulated, planned.family, alpha)


def not_met(result: PlanResult) -> tuple[str, ...]:
    """Why the target is not reached and what would do; nothing where it is."""
    if result.reached:
        return ()
    said, simulated = f"Not met: {result.reason}", result.chosen.simulated
    if simulated is not None and not math.isnan(simulated.power):
        missed = simulated.interval[1] < result.request.target
        chance = of_hundred(simulated.power, simulated.interval)
        said = f"Not met{'' if missed else ' by formula'}: {result.reason} Simulated, it is {chance} of 100: the "
        said += "power that the plan states."
    ways = "; or ".join(result.would_do)
    return (said + (f" What would do: {ways}." if ways else ""),)


def assumed_facts(result: PlanResult) -> Iterator[Fact]:
    """Which parameters were looked at, and which of them the plan was made for."""
    request, powers = result.request, result.chosen.powers
    names = list(powers)
    if request.assumed.chosen:
        yield "Assumed", f"{', '.join(names)} ({request.assumed.chosen})"
    planned = f"{names[0]}, the first that was named"
    if request.robust:
        planned = f"{result.judged}, under which this plan has the least power"
    elif request.assumed.chosen:
        planned = f"{names[0]}, which is typical; --preset plans for another"
    yield "Planned", f"for {planned}"
    for entry in request.assumed.entries:
        if entry.whose:
            yield entry.standing.capitalize(), f"{entry.name}: {entry.whose}"


def plan_halfway(result: PlanResult) -> HalfwayPower | None:
    """Power of the chosen design halfway to the margin, at the parameters it is judged by; None for a
    rule without a margin."""
    request = result.request
    if request.rule.margin is None:
        return None
    precision = counts_precision(request.settings[result.judged], result.chosen.counts)
    return halfway_power(request.rule, precision=precision)


def with_stops(plan: Plan, halfway: HalfwayPower | None) -> HalfwayPower | None:
    """The power halfway to the margin of a plan; where its intervals stop the study that of all its looks."""
    if halfway is None or not plan.by_intervals:
        return halfway
    return replace(halfway, analytic=replace(plan, effect=halfway.effect).recomputed_power())


def work_of(counts: StudyCounts, costs: CostModel) -> tuple[float, int]:
    """Hours of work in all, checks and repeats included, and days until the worker with most of it is done."""
    loads = design_of(counts).worker_loads
    shares = (float(costs.checks_per_rating), float(costs.repeats_per_rating))
    shown = loads + sum(share_of(share, loads) for share in shares)
    hours = shown * float(costs.seconds_per_rating or USUAL_SECONDS) / 3600
    return float(hours.sum()), math.ceil(hours.max() / HOURS_A_DAY)


def ways_table(result: PlanResult) -> Table:
    """The cheapest design that reaches the target, a safer one, and what all the budget buys."""
    costs, robust = result.request.costs, result.request.robust
    nested = result.chosen.counts.n_documents > 0
    header = ("", "workers", "items", *(("documents",) if nested else ()), "k", costs.currency)
    rows = []
    for way in result.ways:
        option = way.option
        if option is None:
            rows.append((way.name, "none", *("-" for _ in header[2:]), "-", "-", "-", "-"))
            continue
        counts, simulated = option.counts, option.simulated
        hours, days = work_of(counts, costs)
        power = min(option.powers.values()) if robust else next(iter(option.powers.values()))
        sizes = (counts.n_workers, counts.n_items, *((counts.n_documents,) if nested else ()))
        rows.append(
            (
                f"{way.name} *" if option == result.chosen else way.name,
                *map(str, (*sizes, counts.ratings_per_item)),
                f"{option.cost.total:,.2f}",
                power_words(power),
                "-" if simulated is None else power_words(simulated.power),
                f"{hours:,.1f}",
                f"{days:,}",
            )
        )
    header = (*header, "formula", "simulated", "hours", "days")
    return Table(header, tuple(rows), caption=_ways_caption(result))


def _ways_caption(result: PlanResult) -> str:
    request = result.request
    taken = "" if request.costs.seconds_per_rating else " (assumed; --seconds-per-rating says yours)"
    seconds = float(request.costs.seconds_per_rating or USUAL_SECONDS)
    sure = ", on average over what is known of the variances" if request.uncertainty is not None else ""
    has_fewer = any(way.name == "fewer workers" for way in result.ways)
    fewer = f" fewer workers: each gives {SESSION} ratings or more;" if has_fewer else ""
    spend = " --spend-budget plans all the budget." if request.budget is not None else ""
    return (
        f"*: the plan; k: ratings of each item under each system;{fewer} safer: power {request.safer_power:g}"
        f"{sure}; hours of work in all at {seconds:g} seconds a rating{taken}; days if each worker rates for "
        f"{HOURS_A_DAY} hour a day.{spend}{_unspent(result)}"
    )


def _unspent(result: PlanResult) -> str:
    """Why a part of the budget is not spent; nothing where it all is."""
    request = result.request
    way = next((way.option for way in result.ways if way.name == "all the budget"), None)
    if way is None or request.budget is None or way.cost.total > _SPENT * request.budget:
        return ""
    left = f" {request.budget - way.cost.total:,.2f} {request.costs.currency} are left:"
    if way.powers[result.judged] > _CERTAIN:
        return f"{left} more would add no power."
    counts, space = way.counts, request.space
    sizes = (
        (counts.n_workers, space.workers, "workers"),
        (counts.n_items, space.items, "items"),
        (counts.ratings_per_item, space.ratings_per_item, "ratings of an item"),
    )
    at_most = [f"{most:,} {what}" for most, searched, what in sizes if most == max(searched)]
    return f"{left} the limits are {', '.join(at_most)}." if at_most else ""


def alone_table(result: PlanResult) -> Table:
    """The power of the plan under each entry, and what it asks for on its own; equal rows are one."""
    entries = result.request.assumed.entries
    standings = {one.name: f"{one.standing}: {one.name}" for one in entries if one.standing}
    names: dict[tuple[str, ...], list[str]] = {}
    for one in result.alone:
        row = _alone_row(one, result.chosen.powers[one.name], nested=result.chosen.counts.n_documents > 0)
        names.setdefault(row, []).append(standings.get(one.name, one.name))
    documents = ("documents",) if result.chosen.counts.n_documents else ()
    return Table(
        ("assumed", "this plan", "workers", "items", *documents, "k", "its own plan"),
        tuple((", ".join(who), *row) for row, who in names.items()),
        caption="Power of this plan, and the plan to make, both by formula, if only one of these is assumed",
    )


def _alone_row(one: Alone, power: float, *, nested: bool) -> tuple[str, ...]:
    if one.counts is None or one.cost is None:
        return power_words(power), "", "", *([""] * nested), "", f"not met: {power_words(one.best)}"
    counts = one.counts
    documents = (counts.n_documents,) if nested else ()
    sizes = (counts.n_workers, counts.n_items, *documents, counts.ratings_per_item)
    return power_words(power), *map(str, sizes), f"{one.cost:,.2f}"


def pilot_table() -> Table:
    """How much larger than estimated a safe plan takes the worker mean square, by size of the pilot."""
    return Table(
        ("workers in the pilot", "times the pilot's estimate"),
        tuple((str(line.n_workers), f"{line.multiplier:.2f}") for line in pilot_advice()),
        caption="A pilot of few workers shows less of how workers differ than there may be. A safe plan "
        "(--safe 0.8) takes their mean square to be so many times what the pilot estimates; a larger pilot makes "
        "it cheaper.",
    )


def plan_document(
    plan: Plan,
    *,
    created: datetime.date | None = None,
    checksum: str | None = None,
    history: Sequence[Amendment] = (),
    said: Difference | None = None,
    choice: tuple[Section, ...] = (),
) -> Document:
    """What a plan says.

    created, checksum, history : what its file says of it, where there is one.
    said : the effect as the user said it.
    choice : how the plan was chosen, in place of what it says itself of other parameters.
    """
    design = plan.design()
    cost = None if plan.costs is None else cost_of(design, plan.costs)
    return Document(
        f"Plan{' that misses its target' if is_below_target(plan) else ''}: {plan.question}",
        lead=" ".join(plan_lead(plan, said=said, created=created, history=history)),
        headline=tuple(_headline(plan, design, cost)),
        caveats=plan_caveats(plan, design, cost),
        sections=tuple(_sections(plan, design, cost, history, choice)),
        provenance=tuple(_provenance(plan, checksum)),
    )


def _sections(
    plan: Plan,
    design: Design,
    cost: Cost | None,
    history: Sequence[Amendment],
    choice: tuple[Section, ...],
) -> Iterator[Section]:
    many = plan.many
    yield power_section(plan, design)
    yield from choice
    if (plan.others or (many is not None and many.others)) and not choice:
        yield sensitivity_section(plan)
    if many is None:
        yield _effect(plan) if plan.rule.margin is None else _margin(plan)
    yield who_rates_what(plan, design)
    if plan.judges is not None:
        yield judges_section(plan)
    if cost is not None:
        yield cost_section(plan, cost)
    yield _tests(plan)
    yield assumed_section(plan)
    yield exclusions_section(plan)
    yield _deviations(plan)
    if history:
        yield _history(history)


def plan_lead(
    plan: Plan,
    *,
    said: Difference | None = None,
    created: datetime.date | None = None,
    history: Sequence[Amendment] = (),
) -> Iterator[str]:
    """What is done for which money, how often it succeeds, and when that was decided, a sentence each."""
    design = plan.design()
    cost = None if plan.costs is None else cost_of(design, plan.costs)
    work = work_words(design, named(plan.systems))
    if plan.costs is not None and plan.costs.seconds_per_rating:
        hours = work_of(plan.counts, plan.costs)[0]
        work += f", {hours:,.{1 if hours < 10 else 0}f} hours of work"
    work += "." if cost is None else f", {cost}."
    yield from (plan_answer(plan, said), work) if is_below_target(plan) else (work, plan_answer(plan, said))
    if plan.others or (plan.many is not None and plan.many.others):
        powers = (plan.predicted.analytic, *plan.sensitivity().values())
        yield from spread_words(min(powers), max(powers), "assumed")
    if plan.drops:  # the first is as planned
        expected = plan.drops[0]
        yield (
            f"Looks drop systems that are beaten: {expected.ratings:,.0f} ratings on average, "
            f"{percent(expected.saved)} fewer."
        )
    if created is not None:
        times = "" if len(history) < 2 else f" {len(history)} times, last"
        amended = f" and amended{times} on {history[-1].date.isoformat()}" if history else ""
        yield f"Planned on {created.isoformat()}{amended}, before any rating is collected."


def _headline(plan: Plan, design: Design, cost: Cost | None) -> Iterator[Fact]:
    if len(plan.systems) > 2:
        yield "Systems", f"{len(plan.systems):,}"
    if plan.criteria:
        yield "Criteria", f"{len(plan.criteria):,}"
    yield "Workers", f"{design.n_workers:,}"
    yield "Items", f"{design.n_items:,}"
    if design.n_documents:
        yield "Documents", f"{design.n_documents:,}"
    yield "Ratings per item, system", f"{design.ratings_per_item:g}"
    yield "Ratings" + (" per criterion" if plan.criteria else ""), f"{design.n_ratings:,}"
    power = plan.predicted.power
    yield POWER_LABEL, power_words(power)
    if cost is not None:
        yield "Total cost", str(cost)


def _margin(plan: Plan) -> Section:
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    halfway = with_stops(plan, halfway_power(plan.rule, precision=precision))
    said = hypothesis_words(plan.rule, plan.pair)
    sentences = (
        f"{margin_words(plan.rule, plan.scale)}: the smallest difference that would matter, fixed before "
        f"any rating of the study was seen. The study is to show that {said}.",
        f"The power is computed for a true difference {with_names('B - A', plan.pair)} of {signed(plan.effect)}.",
        *([] if halfway is None else [f"P{halfway_words(halfway)[1:]}"]),
        PARITY,
    )
    return Section("Margin", tuple(map(Paragraph, sentences)))


def _effect(plan: Plan) -> Section:
    raw = ""
    if plan.scale is not None:
        raw = f"; as rated, on {plan.scale}, that is {signed(plan.scale.effect_to_raw(plan.effect))}"
    sentences = (
        f"{with_names('B - A', plan.pair)} = {signed(plan.effect)} on [0, 1], where 1 is best{raw}. A smaller "
        "difference is not what this study is built to find.",
        OBSERVED if is_observed_effect(plan) else NOT_OBSERVED,
    )
    return Section("Smallest effect of interest", tuple(map(Paragraph, sentences)), is_detail=True)


def _tests(plan: Plan) -> Section:
    """How the study decides, and when."""
    expected, many = expectation_sentence(plan), plan.many
    one = "test" if many is None else "look"
    when = f"There is one {one}, when all ratings are in." if plan.looks is None else looks_sentence(plan)
    if many is None:
        claimed, not_shown = claim_words(plan.rule, plan.pair, by_intervals=plan.by_intervals)
        test = rule_sentence(plan.rule, by_intervals=plan.by_intervals)
        sentences: tuple[str, ...] = (
            with_names(test, plan.pair),
            f"{claimed} Otherwise the study has not shown {not_shown}. The difference is reported "
            f"with its interval either way. {when}",
        )
    else:
        sentences = (*family_sentences(many, plan.rule), when)
    said = (*sentences, *([] if expected is None else [expected]))
    return Section("Test" if many is None else "Tests", tuple(map(Paragraph, said)), is_detail=True)


def _deviations(plan: Plan) -> Section:
    said = (
        "Report each of these as a departure from the plan. A change that is needed before the ratings "
        "are seen is made in the plan file and sealed there with a reason."
    )
    points = Points((*DEVIATIONS, EARLY_LOOK if plan.looks is None else OTHER_LOOK))
    return Section("What would be a deviation", (Paragraph(said), points), is_detail=True)


def _history(history: Sequence[Amendment]) -> Section:
    rows = tuple(
        (entry.date.isoformat(), entry.reason, "; ".join(map(str, entry.changes))) for entry in history
    )
    return Section("Amendments", (Table(("Date", "reason", "value before -> after"), rows),))


def _provenance(plan: Plan, checksum: str | None) -> Iterator[Fact]:
    source = plan.source
    yield "Parameters", source.name if source.file is None else f"{source.name}, from {source.file}"
    if source.ratings is not None:
        yield "Pilot's ratings", source.ratings
    if checksum is not None:
        yield "Checksum of the plan", checksum
