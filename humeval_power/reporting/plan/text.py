"""A plan for people: what is asked, who rates what, what it costs, how it decides, and what it promises."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from humeval_power.costs import Cost, cost_of, money
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.parameters import STANDARD_DEVIATIONS
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.study.analytic import detectable, effect_precision, halfway_power
from humeval_power.planning.study.limits import ceiling_with_items, ceiling_with_workers
from humeval_power.reporting.plan.caveats import is_observed_effect, plan_caveats
from humeval_power.reporting.plan.history import Amendment
from humeval_power.reporting.plan.looks import expectation_sentence, looks_sentence
from humeval_power.reporting.plan.page import Fact, Page, PageSection, page_html, page_markdown
from humeval_power.reporting.plan.words import (
    COST_NAMES,
    DESIGN_WORDS,
    DEVIATIONS,
    EARLY_LOOK,
    NOT_OBSERVED,
    OBSERVED,
    OTHER_LOOK,
    SD_WORDS,
)
from humeval_power.reporting.records import versions
from humeval_power.reporting.rule_words import (
    PARITY,
    claim_words,
    halfway_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.reporting.tables import Table
from humeval_power.reporting.values import plain, share, signed
from humeval_power.rules import claim


def plan_markdown(
    plan: Plan,
    *,
    created: datetime.date | None = None,
    checksum: str | None = None,
    history: Sequence[Amendment] = (),
) -> str:
    """The plan as a page of Markdown.

    created, checksum, history : what its file says of it, where there is one.
    """
    return page_markdown(_page(plan, created, checksum, history))


def plan_html(
    plan: Plan,
    *,
    created: datetime.date | None = None,
    checksum: str | None = None,
    history: Sequence[Amendment] = (),
) -> str:
    """The plan as one HTML file for screen and paper; arguments as in `plan_markdown`."""
    return page_html(_page(plan, created, checksum, history))


def _page(
    plan: Plan, created: datetime.date | None, checksum: str | None, history: Sequence[Amendment]
) -> Page:
    design = plan.design()
    cost = None if plan.costs is None else cost_of(design, plan.costs)
    sections = [
        _effect(plan),
        _who_rates_what(plan, design),
        *([] if cost is None else [_cost(plan, cost)]),
        _test(plan),
        _power(plan, design),
        *([_sensitivity(plan)] if plan.others else []),
        _exclusions(plan),
        _deviations(plan),
        *([_history(history)] if history else []),
    ]
    return Page(
        title=f"Plan: {plan.question}",
        lead=_lead(plan, created, history),
        figures=_figures(plan, design, cost),
        caveats=plan_caveats(plan, design, cost),
        sections=tuple(sections),
        provenance=_provenance(plan, checksum),
    )


def _lead(plan: Plan, created: datetime.date | None, history: Sequence[Amendment]) -> str:
    made = "" if created is None else f" Planned on {created.isoformat()}"
    if made and history:
        times = "" if len(history) == 1 else f" {len(history)} times, last"
        made += f" and amended{times} on {history[-1].date.isoformat()}"
    names = " and ".join(
        name if name == letter else f"{name} ({letter})"
        for name, letter in zip(plan.systems, "AB", strict=True)
    )
    return (
        f"{Difference(plan.effect, plan.scale)}: {_meaning(plan)}. A human evaluation of {names}, decided before "
        "any rating is collected." + made + ("." if made else "")
    )


def _meaning(plan: Plan) -> str:
    return "the smallest effect of interest" if plan.rule.margin is None else "the true difference assumed"


def _figures(plan: Plan, design: Design, cost: Cost | None) -> tuple[Fact, ...]:
    power = plan.predicted.analytic if _is_nan(plan) else plan.predicted.simulated
    figures = [
        ("workers", f"{design.n_workers:,}"),
        ("items", f"{design.n_items:,}"),
        ("ratings", f"{design.n_ratings:,}"),
        (_goal(plan), share(power)),
    ]
    return (*figures, *([] if cost is None else [("total cost", str(cost))]))


def _goal(plan: Plan) -> str:
    if plan.rule.margin is None:
        return f"power to find B - A = {signed(plan.effect)}"
    return f"power to show {claim(plan.rule)} at B - A = {signed(plan.effect)}"


def _margin(plan: Plan) -> PageSection:
    halfway = halfway_power(
        plan.rule, precision=effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    )
    a, b = plan.systems
    said = hypothesis_words(plan.rule, (a, b))
    return PageSection(
        "Margin",
        (
            f"{margin_words(plan.rule, plan.scale)}: the smallest difference that would matter, fixed before "
            f"any rating of the study was seen. The study is to show that {said}.",
            f"The power is computed for a true difference B - A of {signed(plan.effect)}.",
            *([] if halfway is None else [f"P{halfway_words(halfway)[1:]}"]),
            PARITY,
        ),
    )


def _effect(plan: Plan) -> PageSection:
    if plan.rule.margin is not None:
        return _margin(plan)
    raw = ""
    if plan.scale is not None:
        raw = f"; as rated, on {plan.scale}, that is {signed(plan.scale.effect_to_raw(plan.effect))}"
    return PageSection(
        "Smallest effect of interest",
        (
            f"B - A = {signed(plan.effect)} on [0, 1], where 1 is best{raw}. A smaller difference is not "
            "what this study is built to find.",
            OBSERVED if is_observed_effect(plan) else NOT_OBSERVED,
        ),
    )


def _who_rates_what(plan: Plan, design: Design) -> PageSection:
    a, b = plan.systems
    said = DESIGN_WORDS[design.kind].format(k=plan.counts.ratings_per_item, a=a, b=b)
    loads = design.worker_loads
    least, most = int(loads.min()), int(loads.max())
    load = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    cap = plan.max_ratings_per_worker
    rows = [
        ("Workers", f"{design.n_workers:,}"),
        ("Items", f"{design.n_items:,}"),
        ("Ratings of an item under each system", f"{design.ratings_per_item:g}"),
        ("Ratings by each worker", load + ("" if cap is None else f" (at most {cap:,})")),
        ("Ratings in total", f"{design.n_ratings:,}"),
    ]
    drawn = f" Who rates which item is drawn at random from seed {design.seed}."
    chance = drawn if design.kind in ("k-per-item", "split") else ""
    return PageSection(
        "Who rates what",
        (said + chance,),
        table=Table(("Number of", "planned"), tuple(rows)),
    )


def _cost(plan: Plan, cost: Cost) -> PageSection:
    rows = [(COST_NAMES[name], f"{amount:,.2f}") for name, amount in cost.parts.items() if amount]
    sentences = []
    model = plan.costs
    if model is not None and model.hourly_pay is not None:
        sentences.append(
            f"Workers earn {money(model.hourly_pay, model.currency)} an hour, at "
            f"{model.seconds_per_rating:f} seconds a rating."
        )
    return PageSection(
        "Costs",
        tuple(sentences),
        table=Table(("Part", cost.currency), (*rows, ("Total", f"{cost.total:,.2f}"))),
        has_total=True,
    )


def _test(plan: Plan) -> PageSection:
    claimed, not_shown = claim_words(plan.rule, plan.systems)
    when = "There is one test, when all ratings are in." if plan.looks is None else looks_sentence(plan)
    expected = expectation_sentence(plan)
    return PageSection(
        "Test",
        (
            rule_sentence(plan.rule),
            f"{claimed} Otherwise the study has not shown {not_shown}. The difference is reported "
            f"with its interval either way. {when}",
            *([] if expected is None else [expected]),
        ),
    )


def _power(plan: Plan, design: Design) -> PageSection:
    predicted = plan.predicted
    said = f"By formula {share(predicted.analytic)}"
    if not _is_nan(plan):
        low, high = predicted.interval
        said = (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte "
            f"Carlo interval {low:.3f} to {high:.3f}); by formula {share(predicted.analytic)}"
        )
    sentences = (
        f"{said}. The target was {plan.target_power:g}. This is the probability that the study {_finds(plan)} "
        "and the parameters below are right.",
        *_limits(plan, design),
        f"Assumed standard deviations on [0, 1], from {plan.source.name}:",
    )
    coded = plan.parameters.recoded()
    rows = [(SD_WORDS[name], plain(getattr(coded, name))) for name in STANDARD_DEVIATIONS]
    if coded.sd_worker_item:
        rows.append((SD_WORDS["sd_worker_item"], plain(coded.sd_worker_item)))
    return PageSection("Power", sentences, table=Table(("What varies", "SD"), tuple(rows)))


def _sensitivity(plan: Plan) -> PageSection:
    """The power of the same study under the other parameters that were looked at."""
    powers = plan.sensitivity()
    every = [plan.predicted.analytic, *powers.values()]
    rows = [(f"{plan.source.name} (planned for)", share(plan.predicted.analytic))]
    rows += [(name, share(power)) for name, power in powers.items()]
    return PageSection(
        "What the answer hangs on",
        (
            "How much workers, items and ratings vary is assumed. By formula the power of this study is "
            f"{share(min(every))} to {share(max(every))}, by what is assumed:",
        ),
        table=Table(("Assumed", "Power"), tuple(rows)),
    )


def _finds(plan: Plan) -> str:
    if plan.rule.margin is None:
        return f"finds a difference of {signed(plan.effect)}, if it is there"
    return f"shows {claim(plan.rule)}, if the true difference is {signed(plan.effect)}"


def _limits(plan: Plan, design: Design) -> list[str]:
    """What this design finds with the target power, and what more of one thing alone could reach."""
    if plan.rule.analysis != "ratings" or plan.rule.is_simulated:
        return []
    parameters = plan.parameters.with_difference(plan.effect)
    target = plan.target_power
    found = detectable(
        effect_precision(parameters, design), effect=plan.effect, power=target, rule=plan.rule
    )
    noun, verb = ("difference", "finds") if plan.rule.margin is None else ("margin", "shows")
    said = f"With power {target:g} the study {verb} a {noun} of {found:.3g} or more."
    if found > 1:
        said = f"There is no {noun} on [0, 1] that the study {verb} with power {target:g}."
    if design.kind not in ("crossed", "k-per-item"):
        return [said]
    k = None if design.is_crossed else design.ratings_per_item
    items = ceiling_with_items(parameters, n_workers=design.n_workers, target=target, rule=plan.rule)
    workers = ceiling_with_workers(
        parameters, n_items=design.n_items, ratings_per_item=k, target=target, rule=plan.rule
    )
    return [
        f"{said} Its limits: {share(items.power)} with these workers and endless items, "
        f"{share(workers.power)} with these items and endless workers."
    ]


def _exclusions(plan: Plan) -> PageSection:
    if not plan.exclusions:
        return PageSection(
            "Which ratings are left out",
            ("None: every rating that is collected is analysed. No rule for leaving any out was planned.",),
        )
    return PageSection(
        "Which ratings are left out",
        (
            "Only those that these rules name. They are applied without looking at the difference between "
            "the systems; how many ratings each removes is reported, and so is the result without "
            "exclusions.",
        ),
        points=plan.exclusions,
    )


def _deviations(plan: Plan) -> PageSection:
    early = EARLY_LOOK if plan.looks is None else OTHER_LOOK
    return PageSection(
        "What would be a deviation",
        (
            "Report each of these as a departure from the plan. A change that is needed before the ratings "
            "are seen is made in the plan file and sealed there with a reason.",
        ),
        points=(*DEVIATIONS, early),
    )


def _history(history: Sequence[Amendment]) -> PageSection:
    rows = [(entry.date.isoformat(), entry.reason, "; ".join(map(str, entry.changes))) for entry in history]
    return PageSection("Amendments", table=Table(("Date", "reason", "value before -> after"), tuple(rows)))


def _provenance(plan: Plan, checksum: str | None) -> tuple[Fact, ...]:
    source = plan.source
    origin = source.name if source.file is None else f"{source.name}, from {source.file}"
    facts = [("Parameters", origin)]
    if source.ratings is not None:
        facts.append(("Pilot's ratings", source.ratings))
    facts.append(("Seed", str(plan.seed)))
    if checksum is not None:
        facts.append(("Checksum of the plan", checksum))
    return (*facts, ("Versions", ", ".join(f"{name} {number}" for name, number in versions().items())))


def _is_nan(plan: Plan) -> bool:
    return math.isnan(plan.predicted.simulated)
