"""What stands around a study's power, as a record: the numbers of its pictures."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from humeval_power.planning.study.growth import TARGET, Growth
from humeval_power.reporting.records import Record

if TYPE_CHECKING:
    from humeval_power.planning.plan.bottleneck import Bottleneck
    from humeval_power.planning.study.outlook import Outlook
    from humeval_power.planning.study.spending import Designs, Spending


def outlook_record(outlook: Outlook, bottleneck: Bottleneck | None) -> Record:
    """Only what there is: a design that counts do not describe has its estimates alone."""
    record: Record = {"target_power": TARGET}
    for name in ("workers", "items"):
        growth: Growth | None = getattr(outlook, name)
        if growth is not None:
            ceiling = growth.ceiling
            record[name] = {
                "sizes": list(growth.sizes),
                "power": list(growth.powers),
                "endless": None if ceiling is None else ceiling.power,
                "enough": growth.enough,
            }
    if outlook.effects is not None:
        record["effects"] = _lists(asdict(outlook.effects))
    if outlook.parts is not None:
        record["variance"] = dict(outlook.parts)
    if bottleneck is not None:
        record["more"] = {
            "factor": bottleneck.factor,
            "worker": bottleneck.more_workers,
            "tenth_of_items": bottleneck.more_items,
            "rating_per_item": bottleneck.more_ratings,
            "document": bottleneck.more_documents,
        }
    if outlook.spending is not None:
        record["costs"] = _spending(outlook.spending)
    record["estimates"] = _lists(asdict(outlook.estimates))
    if outlook.curse is not None:
        record["winners_curse"] = _lists(asdict(outlook.curse))
    return record


def _spending(spending: Spending) -> Record:
    priced = spending.priced
    found: Record = {"unit": spending.unit, "cost": spending.cost, "budget": spending.budget}
    if priced is not None:
        found["cost"] = str(priced.total)
        found["cost_parts"] = {name: str(part) for name, part in priced.parts.items()}
    names = ("front", "more_workers", "more_items", "splits")
    return {**found, **{name: _designs(getattr(spending, name)) for name in names}}


def _designs(designs: Designs) -> Record:
    return _lists(asdict(designs))


def _lists(values: dict[str, Any]) -> Record:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
