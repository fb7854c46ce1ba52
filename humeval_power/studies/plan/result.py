"""A plan and the search that led to it: what it says, its record, and the sealed plan.

A plan for people: what is asked, who rates what, what it costs, how it decides, and what it promises.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.costs import SESSION, Cost, cost_of
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import axis_unit, of_hundred, points_words, spread_words, with_names
from humeval_power.saying.chart import Axis, Chart, Mark, Series, SeriesKind, Spot, Upright
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, interval_words, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import PLAN_FILE, Record, Result
from humeval_power.saying.rule_words import (
    PARITY,
    claim_words,
    halfway_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.saying.stated import table
from humeval_power.saying.values import signed
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.rating_looks import power_with_looks
from humeval_power.studies.plan.plan import Amendment, Plan
from humeval_power.studies.plan.planned_systems import (
    PlannedSystems,
    goal_shares,
    judges_record,
    judges_section,
    scaled,
)
from humeval_power.studies.plan.request import PlanResult
from humeval_power.studies.plan.result_sections import (
    assumed_section,
    cost_section,
    exclusions_section,
    expectation_sentence,
    hangs_section,
    is_below_target,
    is_observed_effect,
    look_choice_record,
    look_facts,
    looks_sentence,
    plan_answer,
    plan_caveats,
    power_section,
    sensitivity_section,
    stops_sections,
    who_rates_what,
)
from humeval_power.studies.plan.result_words import (
    DEVIATIONS,
    EARLY_LOOK,
    NOT_OBSERVED,
    OBSERVED,
    OTHER_LOOK,
    family_sentences,
    labels_of_settings,
    named,
    test_words,
    work_words,
)
from humeval_power.studies.plan.sealed_content import without_names
from humeval_power.studies.power.analytic import HalfwayPower, halfway_power
from humeval_power.studies.power.assurance import QUANTILES, PilotAdvice, pilot_advice
from humeval_power.studies.power.charts import CLAIM, POWER, money_facts, target_line
from humeval_power.studies.power.formula import EffectPrecision, effect_precision, power_at
from humeval_power.studies.power.outlook import bottleneck_words
from humeval_power.studies.power.required import counts_precision, design_of
from humeval_power.studies.power.result_several import facts_of_several
from humeval_power.studies.power.study_content import beyond_pilot
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.study_counts import StudyCounts, share_of
from humeval_power.systems import GOAL_WORDS, GOALS, goal_clause

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from humeval_power.costs import CostModel
    from humeval_power.studies.plan.request import Option, Way


HOURS_A_DAY = 1  # that each worker rates
USUAL_SECONDS = 30  # for a rating, where nobody said


def plan_document(
    plan: Plan,
    *,
    created: datetime.date | None = None,
    checksum: str | None = None,
    history: Sequence[Amendment] = (),
    said: Difference | None = None,
    choice: tuple[Section, ...] = (),
    searched: str = "",
) -> Document:
    """What a plan says.

    created, checksum, history : what its file says of it, where there is one.
    said : the effect as the user said it.
    choice : how the plan was chosen, in place of what it says itself of other parameters.
    searched : the same in a sentence.
    """
    design = plan.design()
    cost = None if plan.costs is None else cost_of(design, plan.costs)
    return Document(
        f"Plan{' that misses its target' if is_below_target(plan) else ''}: {plan.question}",
        lead=" ".join(plan_lead(plan, said=said, created=created, history=history, searched=searched)),
        headline=tuple(_headline(plan, design, cost)),
        caveats=tuple(plan_caveats(plan, design, cost)),
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
    departures = (
        "Report each of these as a departure from the plan. A change that is needed before the ratings are seen is "
        "made in the plan file and sealed there with a reason."
    )
    points = Points((*DEVIATIONS, EARLY_LOOK if plan.looks is None else OTHER_LOOK))
    yield Section("What would be a deviation", (Paragraph(departures), points), is_detail=True)
    if history:
        columns: dict[str, Callable[[Amendment], str]] = {
            "Date": lambda one: one.date.isoformat(),
            "reason": lambda one: one.reason,
            "value before -> after": lambda one: "; ".join(map(str, one.changes)),
        }
        yield Section("Amendments", (table(history, columns),))


def plan_lead(
    plan: Plan,
    *,
    said: Difference | None = None,
    created: datetime.date | None = None,
    history: Sequence[Amendment] = (),
    searched: str = "",
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
    if searched:
        yield searched
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
    yield "Ratings per output", f"{design.ratings_per_item:g}"
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


def _provenance(plan: Plan, checksum: str | None) -> Iterator[Fact]:
    source = plan.source
    yield "Parameters", source.name if source.file is None else f"{source.name}, from {source.file}"
    if source.ratings is not None:
        yield "Pilot's ratings", source.ratings
    if checksum is not None:
        yield "Checksum of the plan", checksum


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


@dataclass(frozen=True, kw_only=True)
class PlanSearchResult(Result):
    """The plan that a search ended in, `sealed` as plan.json holds it; `said` is the effect as it was said."""

    schema: ClassVar[str] = "humeval_power/plan_search/2"
    endings: ClassVar[tuple[str, ...]] = (".json",)

    plan: Plan
    sealed: str
    created: datetime.date
    found: PlanResult
    said: Difference
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        document = plan_document(
            self.plan,
            created=self.created,
            checksum=json.loads(self.sealed)["checksum"],
            said=self.said,
            choice=tuple(self._choice()),
            searched=self._searched(),
        )
        doubts = (*_not_met(self.found), *beyond_pilot(self.found.request.assumed, self.said))
        return replace(
            document,
            headline=(*document.headline, *self._budget()),
            caveats=(*doubts, *document.caveats),
        )

    def _budget(self) -> Iterator[Fact]:
        """What the plan leaves of the money that may be spent, and how all of it is planned."""
        request = self.found.request
        if not self.found.reached or request.spend_budget:
            return
        for name, said in money_facts(self.found.chosen.cost, request.budget):
            if name == "Budget":
                yield name, f"{said}; --spend-budget plans all of it"

    def _searched(self) -> str:
        """That the plan is the cheapest of those that reach the target, where it is."""
        result, best = self.found, self.found.ways[0] if self.found.ways else None
        if not result.reached or best is None or best.name != "cheapest" or best.option != result.chosen:
            return ""
        return f"Of {result.n_candidates:,} designs within the limits it is the cheapest that reaches the target."

    def _choice(self) -> Iterator[Section]:
        result = self.found
        yield Section("Ways to spend the money", (_ways_table(result),))
        if result.alone:
            labels = labels_of_settings(self.plan)
            facts = Facts(tuple(_assumed_facts(result, labels)))
            yield hangs_section(result.chosen.powers, facts, _alone_table(result, labels))
        front = front_chart(result, self.plan.scale)
        yield Section("Why this design", (Facts(tuple(_choice_facts(result))), front))
        yield from stops_sections(result)
        if result.assurance is not None and result.request.says_assurance:
            columns: dict[str, Callable[[PilotAdvice], str]] = {
                "workers in the pilot": lambda line: str(line.n_workers),
                "times the pilot's estimate": lambda line: f"{line.multiplier:.2f}",
            }
            caption = (
                "A pilot of few workers shows less of how workers differ than there may be. A safe plan "
                "(--safe 0.8) takes their mean square to be so many times what the pilot estimates; a larger pilot "
                "makes it cheaper."
            )
            yield Section("How a larger pilot would help", (table(pilot_advice(), columns, caption),))

    def artefact(self, ending: str) -> str:
        assert ending in self.endings
        return self.sealed

    def files(self) -> Mapping[str, str | bytes]:
        """The sealed plan, which other commands follow."""
        return {PLAN_FILE: self.sealed}

    @property
    def missed(self) -> str:
        """That no design within the limits will do."""
        return "No design within the limits reaches the target." if not self.found.reached else ""

    def to_frame(self) -> pd.DataFrame:
        """The best design for each cost by formula: a row for each, costs as numbers."""
        import pandas as pd

        return pd.DataFrame(
            {
                "workers": point.counts.n_workers,
                "items": point.counts.n_items,
                **({"documents": point.counts.n_documents} if point.counts.n_documents else {}),
                "ratings_per_item": point.counts.ratings_per_item,
                "paired": point.counts.paired,
                "cost": float(point.cost),
                "power": point.power,
            }
            for point in self.found.front
        )

    def content(self) -> Record:
        """What was asked, the chosen design, those near it, the front, what blocks and how sure it is."""
        result, request, sure = self.found, self.found.request, self.found.assurance
        halfway: Record = {}
        if request.rule.margin is not None:
            precision = counts_precision(request.settings[result.judged], result.chosen.counts)
            there = with_stops(self.plan, halfway_power(request.rule, precision=precision))
            halfway = {"halfway_to_margin": None if there is None else asdict(there)}
        return {
            "understood": str(self.said),
            "effect": request.effect,
            "target_power": request.target,
            "budget": None if request.budget is None else str(request.budget),
            "robust": request.robust,
            **values(result, "reached", "reason", "would_do"),
            "chosen": _option_record(result.chosen),
            "ways": [_way_record(way, result) for way in result.ways],
            "recommended": result.recommended,
            "front": [
                {**asdict(point.counts), "cost": str(point.cost), "power": point.power}
                for point in result.front
            ],
            "bottleneck": _bottleneck_record(result),
            "assurance": None
            if sure is None
            else {
                "expected_power": sure.expected,
                "chance_of_target": sure.chance_of(request.target),
                "quantiles": {f"{share:g}": sure.quantile(share) for share in QUANTILES},
            },
            **halfway,
            "looks": look_choice_record(result),
            "n_candidates": result.n_candidates,
            "assumed": _assumed_record(result),
            "settings": {name: parameters.as_dict() for name, parameters in request.settings.items()},
            "costs": request.costs.as_dict(),
            "rule": asdict(request.rule),
            **_many_record(self.plan),
            **judges_record(self.plan),
        }


def _many_record(plan: Plan) -> Record:
    """What several systems add; nothing for one test of two."""
    many = plan.many
    if many is None:
        return {}
    return {
        "many": {
            "systems": list(plan.systems),
            "assumed": {"effect": None, **without_names(many.parameters)},
            "family": asdict(many.family),
            "goal": many.goal,
            "criteria": list(many.criteria),
            "n_tests": many.n_tests,
            "shares": [asdict(share) for share in many.shares],
            "others": [
                {"name": name, "systems": {"effect": None, **without_names(other)}}
                for name, other in many.others
            ],
            "powers": list(plan.sensitivity().values()),
        }
    }


def _option_record(option: Option) -> Record:
    simulated = option.simulated
    return {
        **asdict(option.counts),
        "n_ratings": option.counts.n_systems * option.counts.n_items * option.counts.ratings_per_item,
        "cost": str(option.cost.total),
        "cost_parts": {name: str(amount) for name, amount in option.cost.parts.items()},
        "currency": option.cost.currency,
        "analytic_power": dict(option.powers),
        "power": None if simulated is None else simulated.power,
        "power_interval": None if simulated is None else list(simulated.interval),
        "n_simulations": 0 if simulated is None else simulated.n_simulations,
    }


def _way_record(way: Way, result: PlanResult) -> Record:
    if way.option is None:
        return {"name": way.name, "is_planned": False, "design": None}
    hours, days = work_of(way.option.counts, result.request.costs)
    risk = {
        "power_spread": None if way.spread is None else asdict(way.spread),
        "chance_of_target": way.chance,
    }
    design = {**_option_record(way.option), "hours": hours, "days": days, **risk}
    return {"name": way.name, "is_planned": way.option == result.chosen, "design": design}


def _bottleneck_record(result: PlanResult) -> Record:
    held = result.bottleneck
    documents = () if held.more_documents is None else ("more_documents",)
    ceilings = ["with_endless_items", "with_endless_workers"]
    ceilings += [] if held.with_endless_both is None else ["with_endless_both"]
    return {
        **values(held, "factor", "more_workers", "more_items", "more_ratings", *documents),
        **{name: values(getattr(held, name), "power", "detectable_effect") for name in ceilings},
    }


def _assumed_record(result: PlanResult) -> Record:
    powers, entries = result.chosen.powers, result.request.assumed.entries
    return {
        "chosen_because": result.request.assumed.chosen,
        "planned_for": result.judged,
        "power": dict(powers),
        "power_range": [min(powers.values()), max(powers.values())],
        "alone": [
            {
                "name": one.name,
                "design": None if one.counts is None else asdict(one.counts),
                "cost": None if one.cost is None else str(one.cost),
                "best_power": one.best,
            }
            for one in result.alone
        ],
        "origins": {entry.name: entry.origin for entry in entries},
        "standings": {entry.name: entry.standing for entry in entries if entry.standing},
        "whose": {entry.name: entry.whose for entry in entries if entry.whose},
    }


# What the search for a plan found: facts and tables for people.


def _choice_facts(result: PlanResult) -> Iterator[Fact]:
    """What a person should know of the choice, beside the design, its price and its power."""
    many, rule, simulated = result.request.many, result.request.rule, result.chosen.simulated
    if many is None:
        yield "Test", str(rule)
    else:
        planned = many[result.judged]
        yield "Goal", goal_clause(planned.goal, rule)
        yield "Tests", test_words(planned, rule)
        if isinstance(simulated, SystemsPower):
            alpha = planned.family.criterion_alpha(rule.alpha, max(len(planned.criteria), 1))
            yield from facts_of_several(simulated, planned.family, alpha)
    yield "Searched", f"{result.n_candidates:,} designs within the limits"
    yield from look_facts(result)
    yield "Limited by", bottleneck_words(result.bottleneck, result.chosen.counts)
    assurance, target = result.assurance, result.request.target
    if assurance is not None and result.request.says_assurance:
        spread = interval_words(assurance.quantile(0.1), assurance.quantile(0.9), digits=2)
        safe = result.request.safe
        limit = (
            ""
            if safe is None
            else f". The powers above are for workers at the {100 * safe:g} % upper limit"
        )
        yield (
            "Pilot" if result.request.assumed.entries[0].is_own else "Source",
            f"over all variances that it leaves open the power is {assurance.expected:.2f} on average (assurance), "
            f"{spread} in 80 of 100 cases, and {target:g} or more with a chance of "
            f"{percent(assurance.chance_of(target))}{limit}",
        )
    if result.split is not None:
        yield "Fees", str(result.split)


def _not_met(result: PlanResult) -> tuple[str, ...]:
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


def _assumed_facts(result: PlanResult, labels: Mapping[str, str]) -> Iterator[Fact]:
    """Which parameters were looked at, and which of them the plan was made for."""
    request = result.request
    first, *others = (labels[name] for name in result.chosen.powers)
    if request.assumed.chosen:
        yield "Assumed", f"{', '.join([first, *others])} ({request.assumed.chosen})"
    planned = f"{first}, the first that was named"
    if request.robust:
        planned = f"{labels[result.judged]}, under which this plan has the least power"
    elif request.assumed.chosen:
        planned = f"{first}; --preset plans for another"
    yield "Planned", f"for {planned}"
    for entry in request.assumed.entries:
        if entry.whose:
            yield entry.standing.capitalize(), f"{entry.name}: {entry.whose}"


def _ways_table(result: PlanResult) -> Table:
    """The cheapest design that reaches the target, a safer one, and what all the budget buys."""
    costs = result.request.costs
    documents = ("documents",) if result.chosen.counts.n_documents else ()
    header = (
        "",
        "workers",
        "items",
        *documents,
        "k",
        costs.currency,
        "formula",
        "simulated",
        "hours",
        "days",
    )
    rows = []
    for way in result.ways:
        option = way.option
        if option is None:
            rows.append((way.name, "none", *("-" for _ in header[2:])))
            continue
        hours, days = work_of(option.counts, costs)
        rows.append(
            (
                f"{way.name} *" if option == result.chosen else way.name,
                *_sizes(option.counts, result),
                f"{option.cost.total:,.2f}",
                power_words(result.by_formula(option)),
                "-" if option.simulated is None else power_words(option.simulated.power),
                f"{hours:,.1f}",
                f"{days:,}",
            )
        )
    return Table(header, tuple(rows), caption=_ways_caption(result))


def _sizes(counts: StudyCounts, result: PlanResult) -> tuple[str, ...]:
    """Workers, items, documents where the plan has some, and ratings of each item."""
    documents = (counts.n_documents,) if result.chosen.counts.n_documents else ()
    return tuple(map(str, (counts.n_workers, counts.n_items, *documents, counts.ratings_per_item)))


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
    if way is None or request.budget is None or way.cost.total > Decimal("0.95") * request.budget:
        return ""
    left = f" {request.budget - way.cost.total:,.2f} {request.costs.currency} are left:"
    if way.powers[result.judged] > 0.9995:  # shown as 1.000
        return f"{left} more would add no power."
    counts, space = way.counts, request.space
    sizes = (
        (counts.n_workers, space.workers, "workers"),
        (counts.n_items, space.items, "items"),
        (counts.ratings_per_item, space.ratings_per_item, "ratings of an item"),
    )
    at_most = [f"{most:,} {what}" for most, searched, what in sizes if most == max(searched)]
    return f"{left} the limits are {', '.join(at_most)}." if at_most else ""


def _alone_table(result: PlanResult, labels: Mapping[str, str]) -> Table:
    """The power of the plan under each entry, and what it asks for on its own; equal rows are one."""
    standings = {
        entry.name: f" ({entry.standing})"
        for entry in result.request.assumed.entries
        if entry.standing and labels.get(entry.name) == entry.name  # a setting that no other name places
    }
    documents = ("documents",) if result.chosen.counts.n_documents else ()
    names: dict[tuple[str, ...], list[str]] = {}
    for one in result.alone:
        if one.counts is None or one.cost is None:
            own = ("", "", *("" for _ in documents), "", f"not met: {power_words(one.best)}")
        else:
            own = (*_sizes(one.counts, result), f"{one.cost:,.2f}")
        row = (power_words(result.chosen.powers[one.name]), *own)
        names.setdefault(row, []).append(labels[one.name] + standings.get(one.name, ""))
    return Table(
        ("assumed", "this plan", "workers", "items", *documents, "k", "its own plan"),
        tuple((", ".join(who), *row) for row, who in names.items()),
        caption="Power of this plan, and the plan to make, both by formula, if only one of these is assumed",
    )


# What a plan costs and finds, as pictures.


def front_chart(result: PlanResult, scale: RatingScale | None = None) -> Chart:
    """The most that each amount of money finds, by formula; the chosen design with its simulated interval.

    The axis of costs reaches a little beyond the chosen design and the budget.
    """
    chosen, budget = result.chosen, result.request.budget
    assert chosen.simulated is not None
    last = 1.6 * max(float(chosen.cost.total), float(budget or 0))  # what is dearer decides nothing
    shown = [point for point in result.front if float(point.cost) <= last] or [result.front[0]]
    costs, powers = tuple(float(one.cost) for one in shown), tuple(one.power for one in shown)
    interval, middle = chosen.simulated.interval, chosen.simulated.power
    found = of_hundred(middle, interval)
    at = Spot(f"the plan, simulated: {found}", float(chosen.cost.total), middle, *interval)
    marks: list[Mark] = [target_line(result.request.target), at]
    if budget is not None:
        marks.append(Upright(f"budget {budget:,.2f} {chosen.cost.currency}", float(budget), 6))
    kind: SeriesKind = "line" if len(costs) > 1 else "points"
    finds = "show the claim"
    if result.request.rule.margin is None:
        finds = f"find a difference of {points_words(result.request.effect, scale)}"
    return Chart(
        "front",
        "What does the money buy?",
        f"With the plan {found} of 100 such studies {finds}, for {chosen.cost}.",
        Axis("Cost", 0.0, max(last, costs[-1]), chosen.cost.currency),
        POWER if result.request.rule.margin is None else CLAIM,
        (Series(kind, "the best for its cost, by formula", costs, powers),),
        tuple(marks),
        "No other design beats those on the line in both cost and power.",
    )


def front_figure(result: PlanResult, scale: RatingScale | None = None) -> Figure:
    """The same by Matplotlib."""
    return front_chart(result, scale).figure


def power_chart(plan: Plan) -> Chart:
    """Power by formula on y, a line for each set of parameters, or for each goal of several systems; the simulated
    power at the effect planned for. The differences are those around the decision: up to twice the effect, or a
    little beyond the margin.
    """
    factor, unit = axis_unit(plan.scale)
    lines = tuple(_of_settings(plan, factor) if plan.many is None else _of_goals(plan, plan.many, factor))
    place = 0 if plan.many is None else GOALS.index(plan.many.goal)
    at, middle = factor * plan.effect, plan.predicted.simulated
    marks: list[Mark] = [target_line(plan.target_power), Upright(f"planned for: {at:.3g}", at)]
    if not math.isnan(middle):
        interval = plan.predicted.interval
        marks.append(
            Spot(f"simulated: {of_hundred(middle, interval)}", at, middle, *interval, colour=place)
        )
    low, difference = 0.0, "True difference"
    if plan.many is None:
        low, difference = lines[0].x[0], with_names("True difference B - A", plan.pair)
    found = plan.predicted.analytic if math.isnan(middle) else middle
    return Chart(
        "power",
        "What does the planned study find?",
        f"Of 100 such studies {of_hundred(found)} "
        + ("find" if plan.rule.margin is None else "show the claim at")
        + f" a true difference of {points_words(plan.effect, plan.scale)}.",
        Axis(f"{difference}, {unit}", low, lines[0].x[-1]),
        POWER if plan.rule.margin is None else CLAIM,
        lines,
        tuple(marks),
        f"By formula, for each {'set of parameters that was looked at' if plan.many is None else 'goal'}.",
    )


def _of_goals(plan: Plan, planned: PlannedSystems, factor: float) -> Iterator[Series]:
    """A line for each goal that these means have; they are drawn apart in proportion."""
    effects = np.linspace(0.0, min(2 * plan.effect, 1.0), 13)[1:]
    result = [
        goal_shares(scaled(planned, float(effect / plan.effect)), plan.counts, plan.rule)
        for effect in effects
    ]
    for place, goal in enumerate(GOALS):
        chances = [shares[goal] for shares in result]
        if not any(map(math.isnan, chances)):
            at = tuple((factor * effects).tolist())
            yield Series("line", GOAL_WORDS[goal].name, at, tuple(chances), colour=place)


def _of_settings(plan: Plan, factor: float) -> Iterator[Series]:
    """A line for each set of parameters that was looked at."""
    margin = plan.rule.margin
    if margin is None:
        low, high = 0.0, min(max(2 * plan.effect, -1.0), 1.0)
    else:
        low = -1.25 * margin
        high = max(margin, 1.5 * plan.effect) if plan.rule.alternative == "non-inferior" else -low
    effects = np.linspace(min(low, high), max(low, high), 61)
    settings = [(plan.source.name, plan.parameters), *plan.others][:8]  # lines that can be told apart
    labels = labels_of_settings(plan)
    bounds = None if plan.looks is None else plan.look_boundaries()

    def power(effect: float, precision: EffectPrecision) -> float:
        fixed = power_at(effect, precision, rule=plan.rule).power
        return fixed if bounds is None else power_with_looks(fixed, bounds)

    at = tuple((factor * effects).tolist())
    for place, (name, parameters) in enumerate(settings):
        precision = effect_precision(parameters.with_difference(plan.effect), plan.design())
        powers = tuple(power(float(effect), precision) for effect in effects)
        yield Series("line", labels[name], at, powers, colour=place)
