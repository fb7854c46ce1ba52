"""What a command cannot do without: everything that is missing is named at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from humeval_power.interfaces.asking.config import with_config
from humeval_power.interfaces.asking.options import AnswerOption, FieldArgument, FurtherOption
from humeval_power.interfaces.cli.output import say
from humeval_power.study import FIELDS, SECTIONS

_NEEDS = "__humeval_power_needs__"
_FULL = "humeval_power.help_all"
_OPTIONS, _ANSWER = "Options", "The answer"  # sections of help
_DEFAULTS = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that several options can say: any of `options` will do, `said` is what to ask for.

    `unless` names values of options with which nothing has to be said; `met` looks at all that was.
    """

    said: str
    options: tuple[str, ...]
    unless: Mapping[str, Sequence[object]] = field(default_factory=dict)
    met: Callable[[Mapping[str, object]], bool] | None = None

    def is_met(self, given: Mapping[str, object]) -> bool:
        """Whether one of the options was given, or none has to be."""
        if any(option in given for option in self.options):
            return True
        if self.met is not None and self.met(given):
            return True
        return any(given.get(option) in values for option, values in self.unless.items())


def needs(
    said: str,
    options: Iterable[str],
    *,
    unless: Mapping[str, Sequence[object]] | None = None,
    met: Callable[[Mapping[str, object]], bool] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the command needs any of these options (by the names of their values)."""

    def marked(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(
            function,
            _NEEDS,
            (Need(said, tuple(options), unless or {}, met), *getattr(function, _NEEDS, ())),
        )
        return function

    return marked


def was_typed(ctx: click.Context, name: str) -> bool:
    """Whether somebody gave this option, or a study file did."""
    return ctx.get_parameter_source(name) not in (None, *_DEFAULTS)


class Command(click.Command):
    """A command that names all missing options together, those that `needs` asks for too; help is short, or all.

    program : writes the program that gives the same, from what was typed.
    no_program : or why there is none.
    """

    program: Callable[[Any, Any], None] | None = None

    def __init__(
        self,
        *args: Any,
        program: Callable[[Any, Any], None] | None = None,
        no_program: str = "",
        **named: Any,
    ) -> None:
        super().__init__(*args, **named)
        self.program, self.no_program = program or self.program, no_program

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of the command, then --help-all, then --help."""
        *own, last = super().get_params(ctx)
        return [*own, _HELP_ALL, last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, with what the file of --config says; where something is missing, look for everything
        else that is."""
        args = with_config(ctx, args)
        typed = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            missing = self._missing(ctx, typed)
            if len(missing) < 2:
                raise _of_file(error, ctx) from None
            raise _told(missing, ctx) from error
        if not ctx.resilient_parsing:
            missing = self._missing(ctx, typed)
            if missing:
                raise _told(missing, ctx)
        return rest

    def _missing(self, ctx: click.Context, typed: list[str]) -> list[str]:
        values, _, _ = self.make_parser(ctx).parse_args(args=list(typed))
        missing: list[str] = []
        said: dict[str, object] = {}
        for parameter in self.get_params(ctx):
            value, source = parameter.consume_value(ctx, values)
            absent = parameter.value_is_missing(value) or value is None
            if parameter.required and absent:
                missing.append(_name(parameter, ctx))
            if not absent and source not in _DEFAULTS:
                said[str(parameter.name)] = value
        asked: tuple[Need, ...] = getattr(self.callback, _NEEDS, ())
        return missing + [need.said for need in asked if not need.is_met(said)]

    def place_of(self, one: click.Parameter, ctx: click.Context) -> tuple[str, bool]:
        """The section of the help in which an option stands, and whether it is one of the main ones."""
        is_last = isinstance(one, AnswerOption) or one is self.get_help_option(ctx)
        return _ANSWER if is_last else _OPTIONS, not isinstance(one, FurtherOption)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section: the main ones, or all."""
        rows: dict[str, list[tuple[str, str]]] = {
            title: [] for title in (_OPTIONS, *(group.title for group in SECTIONS.values()), _ANSWER)
        }
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None or not record[1]:  # an argument, of which the help tells
                continue
            title, is_main = self.place_of(one, ctx)
            if is_main or ctx.meta.get(_FULL):
                rows[title].append(record)
        for title, found in rows.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)


def _help_all(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_FULL] = True
        say(ctx.get_help())
        ctx.exit()


_HELP_ALL = AnswerOption(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show all options.",
)


class MissingFileError(click.MissingParameter):
    """A file that is an argument, or that a study file names, and is neither."""

    def format_message(self) -> str:
        """What to do, in the words of the terminal."""
        return self.message


def _of_file(error: click.MissingParameter, ctx: click.Context) -> click.MissingParameter:
    if not isinstance(error.param, FieldArgument):
        return error
    return MissingFileError(f"Give {_name(error.param, ctx)}.", ctx, error.param)


def _name(parameter: click.Parameter, ctx: click.Context) -> str:
    if isinstance(parameter, FieldArgument):
        section = FIELDS[parameter.field].section
        return f"{parameter.make_metavar(ctx)}, or say {parameter.field} in [{section}] of a study file"
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(ctx)
    return max(parameter.opts, key=len)


def _told(missing: list[str], ctx: click.Context) -> click.UsageError:
    if len(missing) == 1:
        return click.UsageError(f"Give {missing[0]}.", ctx)
    listed = "; ".join(missing)
    return click.UsageError(f"These are missing: {listed}.", ctx)
