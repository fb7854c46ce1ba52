"""The numbers of a plan in sections: who rates what, what it costs, what it promises, what that hangs on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from humeval_power.costs import Cost, money
from humeval_power.designs import Codes, Design
from humeval_power.inference.study.formula import effect_precision
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.study.analytic import detectable
from humeval_power.planning.study.limits import (
    ceiling_with_both,
    ceiling_with_items,
    ceiling_with_workers,
)
from humeval_power.planning.study.without_documents import without_documents
from humeval_power.reporting.document import Block, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.plan.words import COST_NAMES, DESIGN_WORDS, MANY_DESIGN_WORDS, SD_WORDS
from humeval_power.reporting.study.study_content import category_facts
from humeval_power.reporting.values import plain, share, signed
from humeval_power.rules import claim
from humeval_power.study_counts import share_of

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure


def who_rates_what(plan: Plan, design: Design) -> Section:
    """The design in words, and its numbers."""
    if plan.many is not None:
        said = MANY_DESIGN_WORDS[design.kind].format(k=plan.counts.ratings_per_item, all=len(plan.systems))
    else:
        a, b = plan.pair
        said = DESIGN_WORDS[design.kind].format(k=plan.counts.ratings_per_item, a=a, b=b)
    if design.kind in ("k-per-item", "split"):
        said += f" Who rates which item is drawn at random from seed {design.seed}."
    if design.n_documents:
        said += _of_documents(plan, design)
    loads = design.worker_loads
    least, most = int(loads.min()), int(loads.max())
    load = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    cap = plan.max_ratings_per_worker
    documents = (("Documents", f"{design.n_documents:,}"),) if design.n_documents else ()
    rows = (
        ("Workers", f"{design.n_workers:,}"),
        ("Items", f"{design.n_items:,}"),
        *documents,
        ("Ratings of an item under each system", f"{design.ratings_per_item:g}"),
        ("Ratings by each worker", load + ("" if cap is None else f" (at most {cap:,})")),
        *_beside(plan, loads),
        ("Ratings in total", f"{design.n_ratings:,}"),
    )
    blocks = (Paragraph(said), Table(("Number of", "planned"), rows))
    return Section("Who rates what", blocks, is_detail=True)


def _beside(plan: Plan, loads: Codes) -> Iterator[tuple[str, str]]:
    """What workers are shown beside their ratings, as it is paid for."""
    if plan.costs is None:
        return
    shares = (
        ("Attention checks", plan.costs.checks_per_rating),
        ("Outputs once more", plan.costs.repeats_per_rating),
    )
    for what, rate in shares:
        if rate:
            shown = share_of(float(rate), loads)
            least, most = int(shown.min()), int(shown.max())
            yield f"{what} for each worker", f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _of_documents(plan: Plan, design: Design) -> str:
    """Where the items come from, and why the analysis has to know it."""
    said = (
        f" The items come out of {design.n_documents:,} documents, {design.items_per_document:g} of each, and the "
        "analysis has the documents in its model"
    )
    study = plan.study() if plan.many is None else plan.study_of_pair()
    left_out = without_documents(study)
    return f"{said}." if left_out is None else f"{said}: {left_out}."


def cost_section(plan: Plan, cost: Cost) -> Section:
    """What each part costs, and what workers earn."""
    rows = [(COST_NAMES[name], f"{amount:,.2f}") for name, amount in cost.parts.items() if amount]
    table = Table(("Part", cost.currency), (*rows, ("Total", f"{cost.total:,.2f}")), has_total=True)
    model = plan.costs
    if model is None or model.hourly_pay is None:
        return Section("Costs", (table,), is_detail=True)
    pay = (
        f"Workers earn {money(model.hourly_pay, model.currency)} an hour, at "
        f"{model.seconds_per_rating:f} seconds a rating."
    )
    return Section("Costs", (Paragraph(pay), table), is_detail=True)


def is_simulated(plan: Plan) -> bool:
    """Whether the power was simulated for the plan as it is."""
    return not math.isnan(plan.predicted.simulated)


def power_section(plan: Plan, design: Design) -> Section:
    """What the plan promises, what else it could find, and the curve."""
    predicted = plan.predicted
    said = f"By formula {share(predicted.analytic)}"
    if is_simulated(plan):
        said = (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte "
            f"Carlo interval {interval_words(*predicted.interval, digits=3)}); by formula "
            f"{share(predicted.analytic)}"
        )
    promise = (
        f"{said}. The target was {plan.target_power:g}. This is the probability that the study {_finds(plan)} "
        f"and the parameters ({plan.source.name}) are right."
    )

    def draw() -> Figure:
        from humeval_power.reporting.plan.power_figure import power_figure

        return power_figure(plan)

    curve = Picture(
        "power",
        draw,
        words="The power of the planned study by formula, for true differences around the one it is planned for.",
        caption="By formula, for each set of parameters that was looked at; the point is the simulated power.",
    )
    return Section("Power", (Paragraph(promise), *map(Paragraph, _limits(plan, design)), curve))


def _finds(plan: Plan) -> str:
    if plan.rule.margin is None:
        return f"finds a difference of {signed(plan.effect)}, if it is there"
    return f"shows {claim(plan.rule)}, if the true difference is {signed(plan.effect)}"


def _limits(plan: Plan, design: Design) -> Iterator[str]:
    """What this design finds with the target power, and what more of one thing alone could reach."""
    if plan.rule.analysis != "ratings" or plan.rule.is_simulated:
        return
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
        yield said
        return
    k = None if design.is_crossed else design.ratings_per_item
    asked: dict[str, Any] = {"target": target, "rule": plan.rule}
    nested: dict[str, Any] = {"n_documents": design.n_documents}
    items = ceiling_with_items(parameters, n_workers=design.n_workers, **nested, **asked)
    workers = ceiling_with_workers(
        parameters, n_items=design.n_items, ratings_per_item=k, **nested, **asked
    )
    of, whatever = "", "."
    if design.n_documents:
        both = ceiling_with_both(parameters, **nested, **asked)
        of = " of these documents"
        whatever = f", {share(both.power)} with these documents and endless items and workers."
    yield (
        f"{said} Its limits: {share(items.power)} with these workers and endless items{of}, "
        f"{share(workers.power)} with these items and endless workers{whatever}"
    )


def assumed_section(plan: Plan) -> Section:
    """The standard deviations that the power is computed from."""
    coded = plan.parameters.recoded()
    sds = {name: getattr(coded, name) for name in (*STANDARD_DEVIATIONS, *FURTHER_DEVIATIONS)}
    rows = [
        (with_names(SD_WORDS[name], plan.pair), plain(value))
        for name, value in sds.items()
        if value or name in STANDARD_DEVIATIONS
    ]
    said = Paragraph(f"Standard deviations on [0, 1], from {plan.source.name}:")
    facts = tuple(category_facts(plan.parameters.with_difference(plan.effect)))
    table = Table(("What varies", "SD"), tuple(rows))
    blocks = (said, table, Facts(facts)) if facts else (said, table)
    return Section("What is assumed", blocks, is_detail=True)


def hangs_section(powers: Mapping[str, float], *blocks: Block) -> Section:
    """The power of the same study under all parameters that were looked at, and blocks that say more."""
    said = Paragraph(
        "How much workers, items and ratings vary is assumed. Your answer hangs on this: by formula the power "
        f"of this study is {share(min(powers.values()))} to {share(max(powers.values()))}."
    )
    return Section("What the answer hangs on", (said, *blocks))


def sensitivity_section(plan: Plan) -> Section:
    """The same of a plan alone."""
    powers = {f"{plan.source.name} (planned for)": plan.predicted.analytic, **plan.sensitivity()}
    rows = tuple((name, share(power)) for name, power in powers.items())
    return hangs_section(powers, Table(("Assumed", "Power"), rows))
