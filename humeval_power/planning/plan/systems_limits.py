"""What holds a design of several systems back, and what would do where the target is out of reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from humeval_power.costs import cost_of, money
from humeval_power.planning.plan.bottleneck import Bottleneck, enough_documents, one_document_more
from humeval_power.planning.plan.goal_power import GoalPower, smallest_effect
from humeval_power.planning.plan.planned_systems import PlannedSystems, goal_power
from humeval_power.planning.plan.request import PlanRequest
from humeval_power.planning.plan.systems_search import Row, cheapest
from humeval_power.planning.questions import smallest_true
from humeval_power.planning.study.limits import Ceiling, Growing
from humeval_power.rules import DecisionRule
from humeval_power.study_counts import StudyCounts

ENDLESS = 1_000_000  # items or workers that stand for a number without end
_MOST_WORKERS = 5000


def systems_bottleneck(
    planned: PlannedSystems, counts: StudyCounts, *, target: float, rule: DecisionRule
) -> Bottleneck:
    """Look one step around a design, by formula."""

    def power_of(other: StudyCounts) -> float:
        return goal_power(planned, other, rule)

    power = power_of(counts)
    k = counts.ratings_per_item
    complete = counts.paired and k == counts.n_workers
    worker = replace(counts, n_workers=counts.n_workers + 1, ratings_per_item=k + 1 if complete else k)
    items = replace(counts, n_items=counts.n_items + max(1, counts.n_items // 10))
    fits = k + 1 <= counts.n_workers
    return Bottleneck(
        power=power,
        more_workers=power_of(worker) - power,
        more_items=power_of(items) - power,
        more_ratings=power_of(replace(counts, ratings_per_item=k + 1)) - power if fits else None,
        with_endless_items=_ceiling("items", planned, endless_items(counts), target, rule),
        with_endless_workers=_ceiling("workers", planned, endless_workers(counts), target, rule),
        more_documents=power_of(one_document_more(counts)) - power if counts.n_documents else None,
        with_endless_both=_ceiling("items and workers", planned, endless_both(counts), target, rule)
        if counts.n_documents
        else None,
    )


def endless_items(counts: StudyCounts) -> StudyCounts:
    """The same workers on more items than there are, every one of them on each."""
    return replace(counts, n_items=ENDLESS, ratings_per_item=counts.n_workers, paired=True)


def endless_workers(counts: StudyCounts) -> StudyCounts:
    """The same items with a worker for each rating; with all of more workers than there are, where all rate
    every item."""
    if counts.paired and counts.ratings_per_item == counts.n_workers:
        return replace(counts, n_workers=ENDLESS, ratings_per_item=ENDLESS)
    return replace(counts, n_workers=counts.n_items * counts.ratings_per_item, paired=True)


def endless_both(counts: StudyCounts) -> StudyCounts:
    """All of more workers than there are on more items of the same documents than there are."""
    return replace(counts, n_workers=ENDLESS, n_items=ENDLESS, ratings_per_item=ENDLESS, paired=True)


def _ceiling(
    grows: Growing, planned: PlannedSystems, counts: StudyCounts, target: float, rule: DecisionRule
) -> Ceiling:
    power = goal_power(planned, counts, rule)
    return Ceiling(grows, power, smallest_effect(planned, counts, target, rule), target)


def what_systems_would_do(
    request: PlanRequest, best: StudyCounts, rows: Sequence[Row], power: GoalPower
) -> tuple[str, tuple[str, ...]]:
    """Why the target is not reached, and each change that would reach it alone."""
    target, rule, costs = request.target, request.rule, request.costs
    reached = power.exact(best)
    planned = power.settings[power.judged(best)]
    what, size = ("difference", request.effect) if rule.margin is None else ("margin", rule.margin)
    ways = []
    reaching = None if request.budget is None else cheapest(rows, power, target=target)
    if request.budget is not None and reaching is not None:
        reason = f"{money(request.budget, costs.currency)} buy a power of {reached:.2f}, not {target:g}."
        ways.append(f"a budget of {money(Decimal(reaching.cents) / 100, costs.currency)}")
    else:
        reason = (
            f"No design within these limits has a power of {target:g} for a {what} of {size:g}: the best has "
            f"{reached:.2f}."
        )
    smallest = smallest_effect(planned, best, target, rule)
    if smallest <= 1:
        ways.append(f"a {what} of {smallest:.3f} instead of {size:g}, with this design")
    enough = _enough_workers(best, lambda counts: power.reaches(counts, target))
    if enough is not None and enough.n_workers > best.n_workers:
        ways.append(
            f"{enough.n_workers} workers with {enough.n_items} items and "
            f"{enough.ratings_per_item} ratings per item ({cost_of(enough, costs)})"
        )
    if best.n_documents:
        documents = enough_documents(best, lambda counts: power.reaches(counts, target))
        if documents is not None and documents.n_documents > best.n_documents:
            ways.append(
                f"{documents.n_documents} documents of {best.n_items // best.n_documents} items "
                f"({cost_of(documents, costs)})"
            )
    return reason, tuple(ways)


def _enough_workers(best: StudyCounts, reaches: Callable[[StudyCounts], bool]) -> StudyCounts | None:
    complete = best.paired and best.ratings_per_item == best.n_workers

    def wider(m: int) -> StudyCounts:
        return replace(best, n_workers=m, ratings_per_item=m if complete else best.ratings_per_item)

    most = _MOST_WORKERS
    if not complete:
        most = min(most, best.n_items * best.ratings_per_item * (1 if best.paired else best.n_systems))
    found = smallest_true(lambda m: reaches(wider(m)), best.n_workers, most)
    return None if found is None else wider(found)
