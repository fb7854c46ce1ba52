"""What the search for a plan found: facts and tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from humeval_power.parameters import PRESETS
from humeval_power.planning.plan.assurance import pilot_advice
from humeval_power.planning.plan.bottleneck import in_words
from humeval_power.planning.study.analytic import HalfwayPower, halfway_power
from humeval_power.planning.study.required import counts_precision
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import interval_words, percent
from humeval_power.reporting.plan.looks import look_facts
from humeval_power.reporting.plan.systems_words import GOAL_WORDS, test_words

if TYPE_CHECKING:
    from humeval_power.planning.plan.request import Alone, Option, PlanResult


def choice_facts(result: PlanResult) -> Iterator[Fact]:
    """What a person should know of the choice, beside the design, its price and its power."""
    many = result.request.many
    if many is None:
        yield "Test", str(result.request.rule)
    else:
        planned = many.planned(judged_by(result))
        yield "Goal", GOAL_WORDS[many.goal]
        yield "Tests", test_words(planned, result.request.rule)
    yield from _ranking_facts(result)
    yield "Searched", f"{result.n_candidates:,} designs within the limits"
    yield from look_facts(result)
    yield "Blocking", in_words(result.bottleneck, result.chosen.counts)
    found, target = result.assurance, result.request.target
    if found is not None:
        spread = interval_words(found.quantile(0.1), found.quantile(0.9), digits=2)
        yield (
            "Pilot",
            f"its variances are uncertain: expected power (assurance) {found.expected:.2f}, 80 % interval "
            f"{spread}; the chance that this study really has power {target:g} is "
            f"{percent(found.chance_of(target))}",
        )
    if result.split is not None:
        yield "Fees", str(result.split)


def _ranking_facts(result: PlanResult) -> Iterator[Fact]:
    """What the simulated studies say of the ranking of several systems, on average."""
    from humeval_power.planning.study.systems_power import SystemsPower

    found = result.chosen.simulated
    if not isinstance(found, SystemsPower):
        return
    margin = found.best_margin
    if margin is not None:
        yield (
            "Best",
            f"estimated {margin.estimate:.3f} above the best of the others, interval "
            f"{interval_words(*margin.interval, digits=3)} (Hsu's comparisons with the best, on average); shown "
            f"to be the best in {percent(margin.shown)} of studies",
        )
    if not math.isnan(found.top_group):
        yield "Top group", f"{found.top_group:.1f} systems, on average, that no test tells from the highest"
    if not math.isnan(found.false_claim):
        yield (
            "Errors",
            f"a difference is claimed where there is none in {percent(found.false_claim)} of studies",
        )


def not_met(result: PlanResult) -> tuple[str, ...]:
    """Why the target is not reached and what would do; nothing where it is."""
    if result.reached:
        return ()
    ways = "; or ".join(result.would_do)
    return (f"Not met: {result.reason}" + (f" What would do: {ways}." if ways else ""),)


def assumed_facts(result: PlanResult) -> Iterator[Fact]:
    """Which parameters were looked at, and which of them the plan was made for."""
    request, powers = result.request, result.chosen.powers
    names = list(powers)
    if request.assumed.chosen:
        yield "Assumed", f"{', '.join(names)} ({request.assumed.chosen})"
    planned = f"{names[0]}, the first that was named"
    if request.robust:
        planned = f"{judged_by(result)}, under which this plan has the least power"
    elif request.cautious:
        planned = f"{names[0]}, which asks for most; another can be named"
        if names[0] in PRESETS:
            planned += ". It is a published setting, which varies more than most fits of ratings do"
    yield "Planned", f"for {planned}"


def judged_by(result: PlanResult) -> str:
    """The name of the parameters that the plan is made for: the worst if robust, else the first."""
    powers = result.chosen.powers
    return min(powers, key=lambda one: powers[one]) if result.request.robust else next(iter(powers))


def plan_halfway(result: PlanResult) -> HalfwayPower | None:
    """Power of the chosen design halfway to the margin, at the parameters it is judged by; None for a
    rule without a margin."""
    request = result.request
    if request.rule.margin is None:
        return None
    precision = counts_precision(request.settings[judged_by(result)], result.chosen.counts)
    return halfway_power(request.rule, precision=precision)


def options_table(result: PlanResult) -> Table:
    """The chosen design and those near it; the formula's power is that of the first setting, or the worst."""
    robust = result.request.robust
    rows = [("chosen", *_option_row(result.chosen, robust))]
    rows += [("near", *_option_row(option, robust)) for option in result.neighbours]
    documents = ("documents",) if result.chosen.counts.n_documents else ()
    header = ("", "workers", "items", *documents, "k", "paired", "cost", "formula", "simulated")
    return Table(header, tuple(rows), caption="k: ratings of each item under each system")


def _option_row(option: Option, robust: bool) -> tuple[str, ...]:
    counts, simulated = option.counts, option.simulated
    return (
        f"{counts.n_workers}",
        f"{counts.n_items}",
        *((f"{counts.n_documents}",) if counts.n_documents else ()),
        f"{counts.ratings_per_item}",
        "yes" if counts.paired else "no",
        f"{option.cost.total:,}",
        f"{min(option.powers.values()) if robust else next(iter(option.powers.values())):.3f}",
        "-" if simulated is None else f"{simulated.power:.3f}",
    )


def alone_table(result: PlanResult) -> Table:
    """The power of the plan under each entry, and what it asks for on its own; equal rows are one."""
    names: dict[tuple[str, ...], list[str]] = {}
    for one in result.alone:
        row = _alone_row(one, result.chosen.powers[one.name], nested=result.chosen.counts.n_documents > 0)
        names.setdefault(row, []).append(one.name)
    documents = ("documents",) if result.chosen.counts.n_documents else ()
    return Table(
        ("assumed", "this plan", "workers", "items", *documents, "k", "its own plan"),
        tuple((", ".join(who), *row) for row, who in names.items()),
        caption="Power of this plan, and the plan to make, if only one of these is assumed",
    )


def _alone_row(one: Alone, power: float, *, nested: bool) -> tuple[str, ...]:
    if one.counts is None or one.cost is None:
        return f"{power:.3f}", "", "", *([""] * nested), "", f"not met: {one.best:.3f}"
    counts = one.counts
    documents = (counts.n_documents,) if nested else ()
    sizes = (counts.n_workers, counts.n_items, *documents, counts.ratings_per_item)
    return f"{power:.3f}", *map(str, sizes), f"{one.cost:,.2f}"


def pilot_table() -> Table:
    """How much larger than estimated a safe plan takes the worker mean square, by size of the pilot."""
    return Table(
        ("workers in the pilot", "a safe plan's multiple"),
        tuple((str(line.n_workers), f"{line.multiplier:.2f}") for line in pilot_advice()),
        caption="What a plan that is safe at 80 % takes the worker mean square at, as a multiple of its estimate",
    )
