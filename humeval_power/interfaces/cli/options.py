"""Options that several commands share, each spelt once; defaults come from the records that own them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import click

from humeval_power.differences import margin_of, scale_words
from humeval_power.errors import HumevalPowerError
from humeval_power.fields import names
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.numbers import LARGEST_SEED, RealNumber, WholeNumber
from humeval_power.interfaces.cli.output import QUIET, note
from humeval_power.reporting.drawn import Drawn
from humeval_power.rules import WITH_MARGIN, DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:  # the check of tables needs pandas, which --help does without
    from humeval_power.checking.submissions import Rejected


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


_RULE_DEFAULTS = {field.name: field.default for field in fields(DecisionRule)}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the user says to read a table; None and () leave it to the table."""

    worker: str | None
    item: str | None
    system: str | None
    rating: str | None
    criterion_column: str | None
    criterion: str | None
    systems: tuple[str, ...] | None
    scale: str | None
    lower_is_better: bool
    missing: tuple[str, ...]
    rejected_rows: Rejected | None = None
    document: str | None = None
    covariates: tuple[str, ...] = ()
    order_column: str | None = None

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two systems to compare, if any were named; None for more of them."""
        if self.systems is None or len(self.systems) > 2:
            return None
        return self.systems[0], self.systems[1]


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


def checked_scale(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """A click callback: the text of a scale that can be one."""
    try:
        typed_scale(text)
    except HumevalPowerError as error:
        raise click.BadParameter(str(error)) from None
    return text


def typed_scale(text: str | None, lower_is_better: bool = False) -> RatingScale | None:
    """The scale that --scale and its direction say; None where the user said none."""
    return None if text is None else RatingScale.parse(text, higher_is_better=not lower_is_better)


direction_option = field_option("lower_is_better")
rejected_rows_option = field_option("rejected_rows")
_PAIR = names(lambda typed: tuple(name.strip() for name in typed.split(",")), "A,B")
pair_option = field_option(
    "systems", kind=_PAIR, callback=_systems, help="The two systems to compare; the effect is B - A."
)
_TABLE_OPTIONS = (
    *map(field_option, ("worker", "item", "system", "rating", "criterion_column", "criterion")),
    pair_option,
    field_option("scale", help="Scale of the ratings, such as 1:5. [from the data]"),
    direction_option,
    field_option("missing"),
    rejected_rows_option,
)
_STRUCTURE_OPTIONS = tuple(map(field_option, ("document", "covariates", "order_column")))
correlated_option = field_option("correlated", callback=lambda _ctx, _option, factors: factors or ())


def table_options(command: Function) -> Function:
    """Add the options that say how to read a table; the command gets them as `table: TableOptions`."""
    return collected(command, _TABLE_OPTIONS, name="table", collect=_table_of)


def modelled_table_options(command: Function) -> Function:
    """The same for a command that fits a model: with the columns of documents, covariates and order."""
    options = (*_TABLE_OPTIONS, *_STRUCTURE_OPTIONS)
    return collected(command, options, name="table", collect=_table_of)


def _table_of(values: dict[str, Any]) -> TableOptions:
    names = [field.name for field in fields(TableOptions) if field.name in values]
    return TableOptions(**{name: values.pop(name) for name in names})


def rule_options(command: Function) -> Function:
    """Add the options of the test; the command gets them as `rule: DecisionRule`."""
    return _with_rule(command, margin_option)


def gaussian_rule_options(command: Function) -> Function:
    """The same for a command that knows ratings only as numbers."""
    return _with_rule(command, margin_option, families=())


def margin_finding_options(command: Function) -> Function:
    """The same for a command that finds the margin: the rule then has the widest one there is, 1."""

    def sought(command: Function) -> Function:  # known, so that it can be explained
        hidden = [
            click.option(name, type=RealNumber(), hidden=True) for name in ("--margin", "--margin-raw")
        ]
        return decorated(command, hidden)

    return _with_rule(command, sought, finds_margin=True)


def _with_rule(
    command: Function,
    margin: Function,
    *,
    finds_margin: bool = False,
    families: tuple[str, ...] = ("family", "link"),
) -> Function:
    kinds = (_FAMILY_OPTIONS[name] for name in families)
    rule = map(field_option, ("estimator", "df", "alternative", "analysis"))
    options = (*kinds, *rule, margin, alpha_option)
    return collected(
        command, options, name="rule", collect=lambda values: typed_rule(values, finds_margin=finds_margin)
    )


def typed_rule(values: dict[str, Any], *, finds_margin: bool = False) -> DecisionRule:
    """The rule that options say, whose values it removes."""
    points = values.pop("margin_raw")
    if finds_margin and (values["margin"] is not None or points is not None):
        raise click.UsageError(
            "The margin is what this command finds: leave out --margin and --margin-raw."
        )
    if finds_margin and values["alternative"] in WITH_MARGIN:
        values["margin"] = 1.0
    values["margin"] = _margin(values["margin"], points)
    try:
        return DecisionRule(**{name: values.pop(name) for name in _RULE_DEFAULTS if name in values})
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def _margin(typed: float | None, points: float | None) -> float | None:
    """The margin on [0, 1], from one that was typed so or in points of the scale."""
    if typed is not None and points is not None:
        raise click.UsageError("Give --margin on [0, 1] or --margin-raw in points of the scale, not both.")
    if points is None:
        return None if typed is None else margin_of(typed, None, name="--margin")
    scale = _scale_of_command()
    margin = margin_of(points, scale, name="--margin-raw", raw=True)
    if scale is not None:
        note(
            f"Margin: {points:.6g} points of the scale {scale_words(scale)}, that is {margin:.6g} on [0, 1]."
        )
    return margin


def _scale_of_command() -> RatingScale | None:
    """The scale that --scale names, else that of the study's own parameter file; None where neither says it.
    One that is only read off the ratings is no scale to fix a margin on."""
    values = click.get_current_context().params
    typed = typed_scale(values.get("scale"), bool(values.get("lower_is_better")))
    if typed is not None or not values.get("parameters"):
        return typed
    from humeval_power.interfaces.cli.assumptions import Sources, read_assumptions

    names = ("parameters", "preset", "allow_not_identified", "values")
    return read_assumptions(Sources(*(values[name] for name in names)), tell=False).scale


_FAMILY_OPTIONS = {"family": field_option("family"), "link": field_option("link")}
family_option, link_option = _FAMILY_OPTIONS.values()
alpha_option, df_option = field_option("alpha"), field_option("df")


check_families_option = field_option("check_families")


def margin_option(command: Function) -> Function:
    """Add --margin and --margin-raw."""
    options = (field_option("margin"), field_option("margin_raw"))
    return decorated(command, options)


power_target_option = field_option("power", "target")
draw_option = click.option(
    "--draw",
    type=click.Choice(get_args(Drawn)),
    default="power",
    show_default=True,
    help="What the figure shows: power, how far significant estimates exaggerate (type M), or how many have "
    "the wrong sign (type S).",
)
# The default of these is None; the command takes the constant of the module that does the work.
seed_option = click.option(
    "--seed",
    type=WholeNumber(min=0, largest=LARGEST_SEED),
    help="Seed of the random numbers. [fixed, and recorded]",
)
simulations_option = click.option(
    "--simulations", type=WholeNumber(min=1, largest=10**15), help="Simulated studies for each number."
)
jobs_option = click.option(
    "--jobs",
    type=WholeNumber(min=1),
    help="Cores to use; the result does not depend on it. [all]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
date_option = click.option(
    "--date",
    "created",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=lambda _ctx, _option, value: None if value is None else value.date(),
    help="Date of the plan. [today]",
)
force_option = click.option("--force", is_flag=True, default=False, help="Overwrite what is there.")
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print the result and errors only.",
)


def default_jobs() -> int:
    """All cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
