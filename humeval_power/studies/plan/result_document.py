"""A plan for people: what is asked, who rates what, what it costs, how it decides, and what it promises."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.costs import Cost, cost_of
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import spread_words, with_names
from humeval_power.saying.document import Document, Fact, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, percent, power_words
from humeval_power.saying.rule_words import (
    PARITY,
    claim_words,
    halfway_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.saying.values import signed
from humeval_power.studies.plan.plan import Amendment, Plan
from humeval_power.studies.plan.planned_judges import judges_section
from humeval_power.studies.plan.result_sections import (
    assumed_section,
    cost_section,
    exclusions_section,
    expectation_sentence,
    is_below_target,
    is_observed_effect,
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
    work_words,
)
from humeval_power.studies.power.analytic import HalfwayPower, halfway_power
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import share_of

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.study_counts import StudyCounts

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
    yield _deviations(plan)
    if history:
        rows = ((one.date.isoformat(), one.reason, "; ".join(map(str, one.changes))) for one in history)
        table = Table(("Date", "reason", "value before -> after"), tuple(rows))
        yield Section("Amendments", (table,))


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
