"""Options that several commands share, each spelt once; defaults come from the records that own them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import wraps
from typing import Any, TypeVar, cast, get_args

import click

from humeval_power.fields import names
from humeval_power.interfaces.asking.options import (
    AnswerOption,
    FurtherAnswerOption,
    FurtherOption,
    field_option,
)
from humeval_power.interfaces.cli.numbers import LARGEST_SEED, WholeNumber
from humeval_power.interfaces.cli.output import QUIET
from humeval_power.reporting.drawn import Drawn
from humeval_power.study import FIELDS

Function = Callable[..., Any]
Collect = Callable[[dict[str, Any]], object]
Record = TypeVar("Record")


def decorated(command: Function, options: Iterable[Function]) -> Function:
    """The command with all options, listed by --help in the order given."""
    for option in reversed(tuple(options)):
        command = option(command)
    return command


def collected(command: Function, options: Iterable[Function], *, name: str, collect: Collect) -> Function:
    """The command with all options; what `collect` takes out of their values it gets as `name`.

    collect : removes what it reads from the values, which are handed on to the command
    """

    @wraps(command)
    def gathered(*args: Any, **values: Any) -> Any:
        found = collect(values)
        return command(*args, **{**values, name: found})

    return decorated(gathered, options)


def fields_of(record: type[Record]) -> Callable[[dict[str, Any]], Record]:
    """What makes such a record out of the values that bear the names of its fields."""
    names = [field.name for field in fields(cast(Any, record))]
    return lambda values: record(**{name: values.pop(name) for name in names})


def _systems(ctx: click.Context, _option: click.Parameter, names: tuple[str, ...] | None) -> Any:
    if names is None:
        return None
    of_many = any(option.name == "n_systems" for option in ctx.command.params)
    if len(names) < 2 or not all(names) or (len(names) > 2 and not of_many):
        many = ", or several" if of_many else ""
        raise click.BadParameter(f"name two systems, A first: A,B{many}; got {','.join(names)!r}.")
    return names


def _be_quiet(ctx: click.Context, _option: click.Parameter, quiet: bool) -> None:
    ctx.meta[QUIET] = quiet


_PAIR = names(lambda typed: tuple(name.strip() for name in typed.split(",")), "A,B")
# The fields that say how to read a table, in `study_fields`; where a model is fitted, with COLUMNS_OF_MODEL.
TABLE = ("columns", "criterion", "lower_is_better")
COLUMNS_OF_MODEL = ("document", "covariates", "order_column")
_OF_A_PAIR = {
    "systems": replace(
        FIELDS["systems"], kind=_PAIR, help="The two systems to compare; the effect is B - A."
    ),
    "scale": replace(FIELDS["scale"], help="Scale of the ratings, such as 1:5. [from the data]"),
}
# Those of a table of two systems, in declarations: what is typed of them is read with READ_TABLE.
TABLE_FIELDS = {
    name: _OF_A_PAIR.get(name, one)
    for name, one in FIELDS.items()
    if (one.section in TABLE or name in (*TABLE, *_OF_A_PAIR)) and name not in COLUMNS_OF_MODEL
}
READ_TABLE = {"systems": _systems}
TABLE_OPTIONS: dict[str, Any] = {
    name: field_option(name, kind=one.kind, help=one.help, callback=READ_TABLE.get(name))
    for name, one in _OF_A_PAIR.items()
}
draw_option = click.option(
    "--draw",
    cls=FurtherOption,
    type=click.Choice(get_args(Drawn)),
    default="power",
    show_default=True,
    help="What the figure shows: power, how far significant estimates exaggerate (type M), or how many have "
    "the wrong sign (type S).",
)
# The default of these is None; the command takes the constant of the module that does the work.
seed_option = click.option(
    "--seed",
    cls=AnswerOption,
    type=WholeNumber(min=0, largest=LARGEST_SEED),
    help="Seed of the random numbers. [fixed, and recorded]",
)
simulations_option = click.option(
    "--simulations",
    cls=AnswerOption,
    type=WholeNumber(min=1, largest=10**15),
    help="Simulated studies for each number.",
)
jobs_option = click.option(
    "--jobs",
    cls=FurtherAnswerOption,
    type=WholeNumber(min=1),
    help="Cores to use; the result does not depend on it. [all]",
)
json_option = click.option(
    "--json", "as_json", cls=AnswerOption, is_flag=True, help="Print JSON, for programs."
)
date_option = click.option(
    "--date",
    "created",
    cls=FurtherOption,
    type=click.DateTime(["%Y-%m-%d"]),
    callback=lambda _ctx, _option, value: None if value is None else value.date(),
    help="Date of the plan. [today]",
)
force_option = click.option(
    "--force", cls=FurtherAnswerOption, is_flag=True, default=False, help="Overwrite what is there."
)
quiet_option = click.option(
    "-q",
    "--quiet",
    cls=AnswerOption,
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print the result and errors only.",
)


def default_jobs() -> int:
    """All cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
