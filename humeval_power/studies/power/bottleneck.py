"""What holds a design back, and what would help: more workers, items, documents or ratings per item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.costs import CostModel, cost_of, money
from humeval_power.errors import DesignError
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import of_hundred, points_words
from humeval_power.scales import RatingScale
from humeval_power.studies.power.analytic import (
    Ceiling,
    ceiling_with_both,
    ceiling_with_items,
    ceiling_with_workers,
    detectable,
)
from humeval_power.studies.power.formula import FEW_WORKERS
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.required import counts_power, counts_precision
from humeval_power.study_counts import StudyCounts

if TYPE_CHECKING:
    from humeval_power.studies.plan.candidates import Candidates

_MOST_WORKERS = 5000
_MOST_DOCUMENTS = 5000


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What one more of each would add to the power, and the limits with endless items or workers.

    `more_items` is the gain from a tenth more items. A gain is None where it cannot be had: another
    rating per item needs another worker. `more_documents` is the gain from one more document with as many
    items as the others, None without documents, as is the limit with endless items and workers alike.
    """

    power: float
    more_workers: float
    more_items: float
    more_ratings: float | None
    with_endless_items: Ceiling
    with_endless_workers: Ceiling
    more_documents: float | None = None
    with_endless_both: Ceiling | None = None

    @property
    def factor(self) -> str:
        """The factor that blocks: the one whose growth alone could not reach the target, or else the
        one whose next step helps most."""
        if self.with_endless_both is not None and not self.with_endless_both.reachable:
            return "documents"
        if not self.with_endless_items.reachable:
            return "workers"
        if not self.with_endless_workers.reachable:
            return "items"
        gains = {
            "workers": self.more_workers,
            "items": self.more_items,
            "documents": self.more_documents or 0.0,
            "ratings per item": self.more_ratings or 0.0,
        }
        return max(gains, key=lambda name: gains[name])


def find_bottleneck(
    parameters: Parameters,
    counts: StudyCounts,
    *,
    target: float,
    rule: DecisionRule,
    power_of: Callable[[StudyCounts], float] | None = None,
) -> Bottleneck:
    """Look one step around a design, by formula, with the parameters' own effect; or by `power_of`."""
    of = power_of or partial(counts_power, parameters, rule=rule)
    power = of(counts)

    def gain(other: StudyCounts) -> float:
        try:
            return of(other) - power
        except DesignError:  # a worker more than there is work for
            return 0.0

    complete = counts.paired and counts.ratings_per_item == counts.n_workers
    k = counts.ratings_per_item
    worker = replace(counts, n_workers=counts.n_workers + 1, ratings_per_item=k + 1 if complete else k)
    items = replace(counts, n_items=counts.n_items + max(1, counts.n_items // 10))
    fits = (k + 1) * (1 if counts.paired else 2) <= counts.n_workers
    return Bottleneck(
        power=power,
        more_workers=gain(worker),
        more_items=gain(items),
        more_ratings=gain(replace(counts, ratings_per_item=k + 1)) if fits else None,
        with_endless_items=ceiling_with_items(
            parameters,
            n_workers=counts.n_workers,
            n_documents=counts.n_documents,
            target=target,
            rule=rule,
        ),
        with_endless_workers=ceiling_with_workers(
            parameters,
            n_items=counts.n_items,
            ratings_per_item=None if complete else k,
            n_documents=counts.n_documents,
            target=target,
            rule=rule,
        ),
        more_documents=gain(one_document_more(counts)) if counts.n_documents else None,
        with_endless_both=(
            ceiling_with_both(parameters, n_documents=counts.n_documents, target=target, rule=rule)
            if counts.n_documents
            else None
        ),
    )


def one_document_more(counts: StudyCounts) -> StudyCounts:
    """The same with a further document of as many items."""
    each = counts.n_items // counts.n_documents
    return replace(counts, n_items=counts.n_items + each, n_documents=counts.n_documents + 1)


def in_words(bottleneck: Bottleneck, counts: StudyCounts) -> str:
    """The blocking factor in two sentences."""
    items, workers = bottleneck.with_endless_items, bottleneck.with_endless_workers
    tenth = max(1, counts.n_items // 10)
    both = bottleneck.with_endless_both
    of = f" and {counts.n_documents} documents" if counts.n_documents else ""
    if both is not None and not both.reachable:
        first = (
            f"Documents are what is missing: with {counts.n_documents} of them no number of items and workers "
            f"takes the power above {both.power:.2f}."
        )
    elif not items.reachable and items.power < bottleneck.power - 0.05:
        first = (
            f"Workers are what is missing: {counts.n_workers} of them are too few for this effect, and too "
            "few for the formula to say how much items could do."
        )
    elif not items.reachable:
        first = (
            f"Workers are what is missing: with {counts.n_workers} of them{of} no number of items takes the "
            f"power above {items.power:.2f}."
        )
    elif not workers.reachable:
        first = (
            f"Items are what is missing: with {counts.n_items} of them no number of workers takes the "
            f"power above {workers.power:.2f}."
        )
    else:
        first = f"The next step that helps most is more {bottleneck.factor}."
    parts = [
        f"the next worker is worth {bottleneck.more_workers:+z.3f}",
        f"{tenth} more items {bottleneck.more_items:+z.3f}",
    ]
    if bottleneck.more_documents is not None:
        parts.append(f"the next document with its items {bottleneck.more_documents:+z.3f}")
    if bottleneck.more_ratings is not None:
        parts.append(f"another rating per item {bottleneck.more_ratings:+z.3f}")
    rough = " The formula is rough with so few workers." if counts.n_workers < FEW_WORKERS else ""
    return f"{first} By formula {', '.join(parts)}.{rough}"


def what_would_do(
    parameters: Parameters,
    candidates: Candidates,
    best: StudyCounts,
    target: float,
    rule: DecisionRule,
    costs: CostModel,
    budget: Decimal | None,
    scale: RatingScale | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Why the target is not reached, and each change that would reach it alone, in points of the scale."""
    power = counts_power(parameters, best, rule=rule)
    effect = parameters.difference
    finds = (
        f"find a difference of {points_words(effect, scale)}"
        if rule.margin is None
        else f"show {claim(rule)}"
    )
    reaching = np.flatnonzero(candidates.worst_power >= target)
    ways = []
    if budget is not None and len(reaching):
        cheapest = Decimal(int(candidates.cents[reaching].min())) / 100
        reason = (
            f"With {money(budget, costs.currency)} {of_hundred(power)} of 100 such studies {finds}, not "
            f"{of_hundred(target)}."
        )
        ways.append(f"a budget of {money(cheapest, costs.currency)}")
    else:
        reason = (
            f"No design within these limits is enough: with the best {of_hundred(power)} of 100 such studies "
            f"{finds}, by formula, not {of_hundred(target)}."
        )
    smallest = detectable(counts_precision(parameters, best), effect=effect, power=target, rule=rule)
    if smallest <= 1:
        thing, given = ("difference", effect) if rule.margin is None else ("margin", rule.margin)
        size = points_words(smallest, scale, digits=3)
        ways.append(f"a {thing} of {size} instead of {points_words(given, scale)}, with this design")
    enough = _enough_workers(parameters, best, target, rule)
    if enough is not None and enough.n_workers > best.n_workers:
        ways.append(
            f"{enough.n_workers} workers with {enough.n_items} items and "
            f"{enough.ratings_per_item} ratings per item ({cost_of(enough, costs)})"
        )
    documents = None
    if best.n_documents:
        documents = enough_documents(
            best, lambda counts: counts_power(parameters, counts, rule=rule) >= target
        )
    if documents is not None and documents.n_documents > best.n_documents:
        ways.append(
            f"{documents.n_documents} documents of {best.n_items // best.n_documents} items "
            f"({cost_of(documents, costs)})"
        )
    return reason, tuple(ways)


def enough_documents(best: StudyCounts, reaches: Callable[[StudyCounts], bool]) -> StudyCounts | None:
    """The same with as many documents, of as many items each, as reach what is wanted; None where none do."""
    each = best.n_items // best.n_documents

    def wider(number: int) -> StudyCounts:
        return replace(best, n_documents=number, n_items=number * each)

    smallest = smallest_true(lambda number: reaches(wider(number)), best.n_documents, _MOST_DOCUMENTS)
    return None if smallest is None else wider(smallest)


def _enough_workers(
    parameters: Parameters, best: StudyCounts, target: float, rule: DecisionRule
) -> StudyCounts | None:
    complete = best.paired and best.ratings_per_item == best.n_workers

    def wider(m: int) -> StudyCounts:
        return replace(best, n_workers=m, ratings_per_item=m if complete else best.ratings_per_item)

    most = _MOST_WORKERS
    if not complete:
        most = min(most, best.n_items * best.ratings_per_item * (1 if best.paired else 2))
    smallest = smallest_true(
        lambda m: counts_power(parameters, wider(m), rule=rule) >= target, best.n_workers, most
    )
    return None if smallest is None else wider(smallest)
