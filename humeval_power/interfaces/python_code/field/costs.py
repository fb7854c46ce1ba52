"""Prices, as a call."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Value, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_OPTIONS = {
    "price_per_rating": "cost_per_rating",
    "pay_per_hour": "pay_per_hour",
    "seconds_per_rating": "seconds_per_rating",
    "cost_per_worker": "cost_per_worker",
    "cost_per_document": "cost_per_document",
    "cost_per_item": "cost_per_item",
    "cost_per_output": "cost_per_output",
    "rejected_share": "rejected",
    "checks_per_rating": "checks",
    "repeats_per_rating": "repeats",
}
_PLAIN = ("units_per_assignment", "split_hits", "currency")


def costs_of(typed: Typed, source: Source) -> Call | None:
    """The prices that were typed; None where nothing says what a rating costs."""
    typed.refuse(["seconds_column"], "is a column of the pilot whose median the command takes")
    prices: dict[str, Value] = {name: typed.given(option) for name, option in _OPTIONS.items()}
    prices["fee"] = _fee(typed, source)
    prices.update({name: typed.given(name) for name in _PLAIN})
    if prices["price_per_rating"] is None and prices["pay_per_hour"] is None:
        return None
    return call("hp.CostModel", **prices)


def _fee(typed: Typed, source: Source) -> Value:
    name, table, share = typed.given("fee"), typed["fees"], typed["fee_share"]
    if name is None and share is None:
        return None
    found = call("hp.plans.read_fee", typed["fee"], *((table,) if table is not None else ()))
    if share is None:
        return found
    source.imports("from dataclasses import replace")
    return call("replace", found, share=amount(share, source), confirmed=True)


def amount(value: Value, source: Source) -> Value:
    """An exact amount or share."""
    if value is None:
        return None
    source.imports("from decimal import Decimal")
    return call("Decimal", value)
