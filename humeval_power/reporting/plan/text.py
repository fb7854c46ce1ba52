"""A plan for people: what is asked, who rates what, what it costs, how it decides, and what it promises."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from humeval_power.costs import Cost, cost_of
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.inference.study.formula import effect_precision
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.study.analytic import halfway_power
from humeval_power.reporting.document import Document, Fact, Paragraph, Points, Section, Table
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.plan.caveats import (
    is_below_target,
    is_observed_effect,
    plan_answer,
    plan_caveats,
)
from humeval_power.reporting.plan.history import Amendment
from humeval_power.reporting.plan.looks import expectation_sentence, looks_sentence
from humeval_power.reporting.plan.rules import exclusions_section
from humeval_power.reporting.plan.search_words import work_of
from humeval_power.reporting.plan.sections import (
    assumed_section,
    cost_section,
    is_simulated,
    power_section,
    sensitivity_section,
    who_rates_what,
)
from humeval_power.reporting.plan.systems_sections import (
    family_section,
    systems_assumed_section,
    systems_headline,
    systems_power_section,
)
from humeval_power.reporting.plan.systems_words import named
from humeval_power.reporting.plan.words import (
    DEVIATIONS,
    EARLY_LOOK,
    NOT_OBSERVED,
    OBSERVED,
    OTHER_LOOK,
    work_words,
)
from humeval_power.reporting.rule_words import (
    PARITY,
    claim_words,
    halfway_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.reporting.values import share, signed


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
        lead=" ".join(_lead(plan, design, cost, said, created, history)),
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
    yield power_section(plan, design) if many is None else systems_power_section(plan, many)
    yield from choice
    if (plan.others or (many is not None and many.others)) and not choice:
        yield sensitivity_section(plan)
    if many is None:
        yield _effect(plan) if plan.rule.margin is None else _margin(plan)
    yield who_rates_what(plan, design)
    if cost is not None:
        yield cost_section(plan, cost)
    yield _test(plan) if many is None else family_section(many, plan)
    yield assumed_section(plan) if many is None else systems_assumed_section(plan, many)
    yield exclusions_section(plan)
    yield _deviations(plan)
    if history:
        yield _history(history)


def _lead(
    plan: Plan,
    design: Design,
    cost: Cost | None,
    said: Difference | None,
    created: datetime.date | None,
    history: Sequence[Amendment],
) -> Iterator[str]:
    """What is done for which money, how often it succeeds, and when that was decided."""
    work = work_words(design, named(plan.systems))
    if plan.costs is not None and plan.costs.seconds_per_rating:
        hours = work_of(plan.counts, plan.costs)[0]
        work += f", {hours:,.{1 if hours < 10 else 0}f} hours of work"
    work += "." if cost is None else f", {cost}."
    yield from (plan_answer(plan, said), work) if is_below_target(plan) else (work, plan_answer(plan, said))
    if created is not None:
        times = "" if len(history) < 2 else f" {len(history)} times, last"
        amended = f" and amended{times} on {history[-1].date.isoformat()}" if history else ""
        yield f"Planned on {created.isoformat()}{amended}, before any rating is collected."


def _headline(plan: Plan, design: Design, cost: Cost | None) -> Iterator[Fact]:
    if plan.many is not None:
        yield from systems_headline(plan, plan.many, design, cost)
        return
    yield "Workers", f"{design.n_workers:,}"
    yield "Items", f"{design.n_items:,}"
    if design.n_documents:
        yield "Documents", f"{design.n_documents:,}"
    yield "Ratings per item, system", f"{design.ratings_per_item:g}"
    yield "Ratings", f"{design.n_ratings:,}"
    power = plan.predicted.simulated if is_simulated(plan) else plan.predicted.analytic
    yield f"Power at {with_names('B - A', plan.pair)} = {signed(plan.effect)}", share(power)
    if cost is not None:
        yield "Total cost", str(cost)


def _margin(plan: Plan) -> Section:
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    halfway = halfway_power(plan.rule, precision=precision)
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


def _test(plan: Plan) -> Section:
    claimed, not_shown = claim_words(plan.rule, plan.pair)
    when = "There is one test, when all ratings are in." if plan.looks is None else looks_sentence(plan)
    expected = expectation_sentence(plan)
    sentences = (
        with_names(rule_sentence(plan.rule), plan.pair),
        f"{claimed} Otherwise the study has not shown {not_shown}. The difference is reported "
        f"with its interval either way. {when}",
        *([] if expected is None else [expected]),
    )
    return Section("Test", tuple(map(Paragraph, sentences)), is_detail=True)


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
