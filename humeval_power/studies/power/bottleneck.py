"""What holds a design back, and what would help: more workers, items, documents or ratings per item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from humeval_power.designs import different_workers
from humeval_power.errors import DesignError
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.analytic import (
    Ceiling,
    ceiling_with_both,
    ceiling_with_items,
    ceiling_with_workers,
)
from humeval_power.studies.power.formula import FEW_WORKERS
from humeval_power.study_counts import StudyCounts


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
    counts: StudyCounts, *, power_of: Callable[[StudyCounts], float], ceilings: Sequence[Ceiling]
) -> Bottleneck:
    """Look one step around a design, by formula. ceilings : with endless items, with endless workers, and where
    there are documents with both."""
    power = power_of(counts)

    def gain(other: StudyCounts) -> float:
        try:
            return power_of(other) - power
        except DesignError:  # a worker more than there is work for
            return 0.0

    k = counts.ratings_per_item
    worker = replace(
        counts, n_workers=counts.n_workers + 1, ratings_per_item=k + 1 if is_complete(counts) else k
    )
    items = replace(counts, n_items=counts.n_items + max(1, counts.n_items // 10))
    fits = (k + 1) * different_workers(counts.paired, counts.n_systems) <= counts.n_workers
    with_items, with_workers, *with_both = ceilings
    return Bottleneck(
        power=power,
        more_workers=gain(worker),
        more_items=gain(items),
        more_ratings=gain(replace(counts, ratings_per_item=k + 1)) if fits else None,
        with_endless_items=with_items,
        with_endless_workers=with_workers,
        more_documents=gain(one_document_more(counts)) if counts.n_documents else None,
        with_endless_both=with_both[0] if with_both else None,
    )


def pair_ceilings(
    parameters: Parameters, counts: StudyCounts, *, target: float, rule: DecisionRule
) -> tuple[Ceiling, ...]:
    """What endless items, endless workers, and where there are documents both, make of a study of two systems."""
    documents = counts.n_documents
    k = None if is_complete(counts) else counts.ratings_per_item
    how: dict[str, Any] = {"n_documents": documents, "target": target, "rule": rule}
    return (
        ceiling_with_items(parameters, n_workers=counts.n_workers, **how),
        ceiling_with_workers(parameters, n_items=counts.n_items, ratings_per_item=k, **how),
        *((ceiling_with_both(parameters, **how),) if documents else ()),
    )


def is_complete(counts: StudyCounts) -> bool:
    """Whether every worker rates every item."""
    return counts.paired and counts.ratings_per_item == counts.n_workers


def one_document_more(counts: StudyCounts) -> StudyCounts:
    """The same with a further document of as many items."""
    each = counts.n_items // counts.n_documents
    return replace(counts, n_items=counts.n_items + each, n_documents=counts.n_documents + 1)


def bottleneck_words(bottleneck: Bottleneck, counts: StudyCounts) -> str:
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
