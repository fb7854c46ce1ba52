"""Options of the terminal from declared fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import click

from humeval_power.fields import LARGEST_COUNT, Field, Kind
from humeval_power.interfaces.cli.numbers import Money, RealNumber, WholeNumber
from humeval_power.study import FIELDS

Function = Callable[..., Any]
UNSET = getattr(click.core, "UNSET", None)  # what the parser gives for an argument that is not there
_FILE = re.compile(r"FILE|PATH|RATINGS|TABLE|EXPORT|PILOT|ANSWERS|COMPARISONS")
_FILE_NAME = re.compile(r"[/\\]|^\.|\.(?:csv|tsv|txt|jsonl?|parquet|xlsx|gz)$|~[0-9a-f]{16}$")


class DeclaredOption(click.Option):
    """An option of a declared field."""

    about: Field


class DeclaredArgument(click.Argument):
    """An argument of a declared field."""

    about: Field


class FieldArgument(DeclaredArgument):
    """An argument that names files of the study."""

    field: str


class FieldOption(DeclaredOption):
    """An option that sets a field of the study."""

    field: str


class WordOrFile(click.Choice[str]):
    """A word, or the path of a file that says more than the words do."""

    def __init__(self, words: Sequence[str], ending: str) -> None:
        super().__init__(words)
        self.ending = ending

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, or the path."""
        if str(value).lower().endswith(self.ending):
            return value
        return super().convert(value, param, ctx)


class ReadType(click.ParamType[Any]):
    """What a kind reads, with its rule where it is broken."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.name = kind, (kind.metavar or "text").lower()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that a command gets."""
        if not isinstance(value, str):
            return value
        try:
            return self.kind.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def click_type(kind: Kind) -> click.ParamType[Any]:
    """The type of an option of this kind."""
    if kind.choices:
        return WordOrFile(kind.choices, kind.or_file) if kind.or_file else click.Choice(kind.choices)
    limits = kind.limits
    if kind.is_number and limits is None:
        return Money()
    if limits is not None and kind.json["type"] == "integer":
        low, high = (None if end is None else int(end) for end in (limits.low, limits.high))
        return WholeNumber(low, high, largest=LARGEST_COUNT if high else int(kind.json["maximum"]))
    if limits is not None:
        return RealNumber(limits.low, limits.high, min_open=limits.low_open, max_open=limits.high_open)
    plain = kind.json.get("type") == "string" and kind.metavar != "LOW:HIGH" and "format" not in kind.json
    if kind.many or plain:
        return click.STRING
    return ReadType(kind)


def decorated(command: Function, options: Iterable[Function]) -> Function:
    """The command with all options, listed by --help in the order given."""
    for option in reversed(tuple(options)):
        command = option(command)
    return command


def collected(
    command: Function,
    options: Iterable[Function],
    *,
    name: str,
    collect: Callable[[dict[str, Any]], object],
) -> Function:
    """The command with all options; what `collect` takes out of their values it gets as `name`.

    collect : removes what it reads from the values, which are handed on to the command
    """

    @wraps(command)
    def gathered(*args: Any, **values: Any) -> Any:
        found = collect(values)
        return command(*args, **{**values, name: found})

    return decorated(gathered, options)


def link_of(name: str, one: Field) -> str:
    """The name of a field in links, which its option has behind two dashes."""
    return (one.option or name).replace("_", "-")


def option_of(
    name: str,
    one: Field,
    *,
    of_study: bool = False,
    callback: Function | None = None,
    exposed: bool = True,
    eager: bool = False,
) -> Function:
    """A decorator that adds the option of a field; with `of_study` it sets the study's field of its name; without
    `exposed` its callback alone gets the value, if `eager` before all others."""
    field = name if name in FIELDS and (of_study or FIELDS[name] is one) else ""
    kind, typed, parameter = one.kind, f"--{link_of(name, one)}", one.sets or name
    extra: dict[str, Any] = {
        "metavar": kind.metavar,
        "required": one.needed,
        "expose_value": exposed,
        "hidden": one.hidden,
        "is_eager": eager,
    }
    if callback is not None:
        extra["callback"] = callback
    if kind.flag is not None:
        on, off = kind.flag
        typed = f"--{on}/--{off}" if on and off else typed
        extra |= {"is_flag": True, "default": one.usual}
        if one.sets:
            extra["flag_value"] = typed.removeprefix("--")
        elif off and not on:
            extra["flag_value"] = False
    else:
        extra |= {"type": click_type(kind), "multiple": kind.many}
        if one.usual is not None:
            extra |= {
                "default": one.usual,
                "show_default": (not field or one.usual not in ("", 0)) and not kind.many,
            }
    extra["cls"] = FieldOption if field else DeclaredOption
    also = one.also if one.also.startswith("-") else f"--{one.also}"
    names = (typed, also) if one.also else (typed,)

    def add(function: Function) -> Function:
        made = click.option(*names, parameter, help=one.help, **extra)(function)
        _last(made).about = one
        if field:
            _last(made).field = field
        return made

    return add


def made_of(option: Function) -> click.Parameter:
    """The parameter that such a decorator adds."""
    made: click.Parameter = _last(option(lambda: None))
    return made


def made_argument(one: Field, parameter: str, *, field: str = "") -> Function:
    """The argument of a field: all that follow where it can be repeated; `field` is its name where it is one of the
    study's."""

    def add(function: Function) -> Function:
        extra: dict[str, Any] = {
            "metavar": one.kind.metavar,
            "required": one.needed,
            "nargs": -1 if one.kind.many else 1,
            "cls": FieldArgument if field else DeclaredArgument,
        }
        made = click.argument(parameter, **extra)(function)
        _last(made).about = one
        if field:
            _last(made).field = field
        return made

    return add


def is_further(one: click.Parameter) -> bool:
    """Whether --help-all alone shows an option of a command's own."""
    return isinstance(one, DeclaredOption) and one.about.further


def takes_files(one: click.Parameter) -> bool:
    """Whether the value of an option or argument names a file."""
    if isinstance(one.type, click.Path):
        return True
    if not isinstance(one.type, click.types.StringParamType):
        return False
    if isinstance(one, click.Argument):
        return one.metavar != "NAME"
    return isinstance(one, click.Option) and bool(_FILE.fullmatch(one.metavar or ""))


def takes_column_or_file(one: click.Parameter) -> bool:
    """Whether an option names a column, or a file where what is read has no columns: what looks like a path is a
    file, so that no column opens one outside the folder of the page."""
    return isinstance(one, DeclaredOption) and one.about.kind.or_lines


def names_file(one: click.Parameter, value: str) -> bool:
    """Whether this value of an option or argument names a file."""
    if isinstance(one.type, WordOrFile):
        return value.lower().endswith(one.type.ending)
    return bool(_FILE_NAME.search(value)) if takes_column_or_file(one) else takes_files(one)


def _last(function: Any) -> Any:
    """The parameter that was added last to a function that becomes a command."""
    return function.__click_params__[-1]
