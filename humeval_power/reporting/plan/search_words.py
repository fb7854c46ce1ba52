"""What the search for a plan found: facts and tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from humeval_power.planning.plan.assurance import pilot_advice
from humeval_power.planning.plan.bottleneck import in_words
from humeval_power.planning.study.analytic import HalfwayPower, halfway_power
from humeval_power.planning.study.designs_of import design_of
from humeval_power.planning.study.required import counts_precision
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import interval_words, percent
from humeval_power.reporting.plan.looks import look_facts
from humeval_power.reporting.plan.systems_words import goal_clause, test_words
from humeval_power.study_counts import share_of

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.planning.plan.request import Alone, PlanResult
    from humeval_power.study_counts import StudyCounts

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
        planned = many.planned(judged_by(result))
        yield "Goal", goal_clause(many.goal, result.request.rule)
        yield "Tests", test_words(planned, result.request.rule)
    yield from _ranking_facts(result)
    yield "Searched", f"{result.n_candidates:,} designs within the limits"
    yield from look_facts(result)
    yield "Blocking", in_words(result.bottleneck, result.chosen.counts)
    found, target = result.assurance, result.request.target
    if found is not None:
        spread = interval_words(found.quantile(0.1), found.quantile(0.9), digits=2)
        yield (
            "Pilot" if result.request.assumed.entries[0].is_own else "Source",
            f"its variances are uncertain: expected power (assurance) {found.expected:.2f}, 80 % interval "
            f"{spread}; the chance that this study really has power {target:g} is "
            f"{percent(found.chance_of(target))}",
        )
    if result.split is not None:
        yield "Fees", str(result.split)


def _ranking_facts(result: PlanResult) -> Iterator[Fact]:
    """What the simulated studies say of the ranking of several systems, on average."""
    from humeval_power.planning.study.systems_goals import SystemsPower

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
    elif request.assumed.chosen:
        planned = f"{names[0]}, which is typical; --preset plans for another"
    yield "Planned", f"for {planned}"
    for entry in request.assumed.entries:
        if entry.whose:
            yield entry.standing.capitalize(), f"{entry.name}: {entry.whose}"


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
                f"{power:.3f}",
                "-" if simulated is None else f"{simulated.power:.3f}",
                f"{hours:,.1f}",
                f"{days:,}",
            )
        )
    header = (*header, "formula", "simulated", "hours", "days")
    return Table(header, tuple(rows), caption=_ways_caption(result))


def _ways_caption(result: PlanResult) -> str:
    request = result.request
    taken = "" if request.costs.seconds_per_rating else " (taken; --seconds-per-rating says yours)"
    seconds = float(request.costs.seconds_per_rating or USUAL_SECONDS)
    sure = ", on average over what is known of the variances" if request.uncertainty is not None else ""
    spend = " --spend-budget plans all the budget." if request.budget is not None else ""
    return (
        f"*: the plan; k: ratings of each item under each system; safer: power {request.safer_power:g}{sure}; "
        f"hours of work in all at {seconds:g} seconds a rating{taken}; days if each worker rates for "
        f"{HOURS_A_DAY} hour a day.{spend}{_unspent(result)}"
    )


def _unspent(result: PlanResult) -> str:
    """Why a part of the budget is not spent; nothing where it all is."""
    request = result.request
    way = next((way.option for way in result.ways if way.name == "all the budget"), None)
    if way is None or request.budget is None or way.cost.total > _SPENT * request.budget:
        return ""
    left = f" {request.budget - way.cost.total:,.2f} {request.costs.currency} are left:"
    if way.powers[judged_by(result)] > _CERTAIN:
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
