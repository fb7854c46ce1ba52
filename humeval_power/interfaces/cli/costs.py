"""Options that say what a study costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from humeval_power.checking.columns import named_column
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.options import Function, collected, fields_of
from humeval_power.interfaces.cli.output import note

if TYPE_CHECKING:
    from humeval_power.costs import CostModel, PlatformFee


@dataclass(frozen=True, slots=True)
class CostOptions:
    """Prices as typed; None where nothing was said."""

    cost_per_rating: Decimal | None
    pay_per_hour: Decimal | None
    seconds_per_rating: Decimal | None
    seconds_column: str | None
    cost_per_worker: Decimal
    cost_per_document: Decimal
    cost_per_item: Decimal
    cost_per_output: Decimal
    rejected: Decimal
    checks: Decimal
    repeats: Decimal
    fee: str
    fees: str | None
    fee_share: Decimal | None
    units_per_assignment: int
    split_hits: bool
    currency: str


_UNTYPED = (None, ParameterSource.DEFAULT)


_COST_OPTIONS = tuple(field_option(field.name) for field in fields(CostOptions))


def cost_options(command: Function) -> Function:
    """Add the options of prices; the command gets them as `prices: CostOptions`."""
    return collected(command, _COST_OPTIONS, name="prices", collect=fields_of(CostOptions))


def with_pilot_times(prices: CostOptions, pilot: str | None) -> CostOptions:
    """The same prices, with the median time of the pilot's ratings where --seconds-column names it.

    Raises
    ------
    InputError
        No pilot, no such column, or a column without times.
    """
    name = prices.seconds_column
    if name is None:
        return prices
    if pilot is None or pilot == "-":
        raise InputError("--seconds-column needs a PILOT file that has the column.")
    import pandas as pd

    from humeval_power.checking.collected import first_answers
    from humeval_power.interfaces.formats.rating_tables import read_rating_table

    frame = first_answers(read_rating_table(pilot).frame)
    named_column(name, frame.columns, option="--seconds-column", source=pilot)
    numbers = pd.to_numeric(frame[name], errors="coerce")
    seconds = numbers[numbers > 0]
    if seconds.empty:
        raise InputError(f"{pilot}: column {name!r} holds no times: numbers of seconds above 0 are needed.")
    median = Decimal(f"{float(seconds.median()):.1f}")
    note(f"{len(seconds):,} ratings of the pilot took {median} seconds each (median).")
    return replace(prices, seconds_per_rating=median)


_FIELDS = {
    "price_per_rating": "--cost-per-rating",
    "rejected_share": "--rejected",
    "checks_per_rating": "--checks",
    "repeats_per_rating": "--repeats",
    "share": "--fee-share",
}


@contextmanager
def _named() -> Iterator[None]:
    """Problems with fields of the model, told of the options that they come from."""
    try:
        yield
    except InputError as error:
        raise InputError([_of_option(problem) for problem in error.problems]) from None


def _of_option(problem: Problem) -> Problem:
    if problem.column is None or problem.place is not None:
        return problem
    option = _FIELDS.get(problem.column, f"--{problem.column.replace('_', '-')}")
    value = f"{problem.value:f}" if isinstance(problem.value, Decimal) else repr(problem.value)
    return Problem(f"{option} {value}: {problem.rule}", problem.remedy)


def cost_model(prices: CostOptions) -> CostModel:
    """The cost model that was typed.

    Raises
    ------
    InputError
        Every impossible price at once, or a platform that the table of fees does not have.
    """
    if prices.cost_per_rating is None and prices.pay_per_hour is None:
        rule = "nothing says what a rating costs."
        raise InputError(
            [Problem(rule, "Give --cost-per-rating, or --pay-per-hour with --seconds-per-rating.")]
        )
    from humeval_power.interfaces.formats.fees import read_fee

    fee = read_fee(prices.fee, prices.fees)
    with _named():
        if prices.fee_share is not None:
            fee = replace(fee, share=prices.fee_share, confirmed=True)
        model = _model(prices, fee)
    if fee.caveat:
        note(fee.caveat)
    return model


def cost_model_if_typed(prices: CostOptions) -> CostModel | None:
    """The cost model that was typed; None where the command that runs was given no option of prices.

    Raises
    ------
    InputError
        As for `cost_model`.
    """
    context = click.get_current_context()
    names = [field.name for field in fields(CostOptions)]
    typed = [name for name in names if context.get_parameter_source(name) not in _UNTYPED]
    if typed and prices.cost_per_rating is None and prices.pay_per_hour is None:
        option = f"--{typed[0].replace('_', '-')}"
        raise InputError(
            f"{option} needs the price of a rating: --cost-per-rating, or --pay-per-hour with --seconds-per-rating."
        )
    return cost_model(prices) if typed else None


def _model(prices: CostOptions, fee: PlatformFee) -> CostModel:
    from humeval_power.costs import CostModel

    return CostModel(
        price_per_rating=prices.cost_per_rating,
        pay_per_hour=prices.pay_per_hour,
        seconds_per_rating=prices.seconds_per_rating,
        cost_per_worker=prices.cost_per_worker,
        cost_per_document=prices.cost_per_document,
        cost_per_item=prices.cost_per_item,
        cost_per_output=prices.cost_per_output,
        rejected_share=prices.rejected,
        checks_per_rating=prices.checks,
        repeats_per_rating=prices.repeats,
        fee=fee,
        units_per_assignment=prices.units_per_assignment,
        split_hits=prices.split_hits,
        currency=prices.currency,
    )
