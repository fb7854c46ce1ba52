"""Options of the terminal from declared fields.

The numbers that options take: finite, of a sensible size, and refused with the rule they break.

Every numeric option has one of these types. What a single option allows besides is its own min and max;
what a computation can bear is for `workload` to say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from humeval_power import fields
from humeval_power.asking.output import note
from humeval_power.fields import (
    LARGEST,
    LARGEST_COUNT,
    SMALLEST,
    Field,
    Kind,
    of_answer,
    real_number,
    shortened,
    text,
    whole_number,
)
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from distributed import Client

    from humeval_power.sweep.blocks import Block
    from humeval_power.sweep.dask_engine import DaskEngine


__all__ = ["LARGEST", "LARGEST_COUNT", "LARGEST_SEED", "SMALLEST", "real_number", "shortened"]
LARGEST_SEED = 2**63 - 1


class WholeNumber(click.IntRange):
    """A count: a whole number of at most a billion, or of at most `max`."""

    def __init__(
        self, min: int | None = None, max: int | None = None, *, largest: int = LARGEST_COUNT
    ) -> None:
        super().__init__(min, max)
        self.name = "integer" if min is None and max is None else "integer range"
        self.largest = largest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number within the limits."""
        try:
            number = whole_number(value, largest=self.largest)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return int(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class RealNumber(click.FloatRange):
    """A finite number: 0, or of a size between a billionth and a billion."""

    def __init__(
        self,
        min: float | None = None,
        max: float | None = None,
        *,
        min_open: bool = False,
        max_open: bool = False,
    ) -> None:
        super().__init__(min, max, min_open=min_open, max_open=max_open)
        self.name = "float" if min is None and max is None else "float range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number within the limits."""
        try:
            number = real_number(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return float(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class Money(click.ParamType[Decimal]):
    """An amount or share, kept exactly as typed."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """Read a decimal number."""
        try:
            return fields.amount(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def number_list(
    kind: type[int] | type[float], *, least: int | None = None, most: int | None = None
) -> Callable[..., tuple[Any, ...] | None]:
    """A click callback for lists such as 3,10 and ranges such as 50:500:50 (end included); `least` and
    `most` are what a value may be."""
    parse = fields.number_list(kind, least=least, most=most)

    def read(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[Any, ...] | None:
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read


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
        made = click.option(*names, parameter, help=one.full_help, **extra)(function)
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


# `--on`: where the simulations of a command are computed.

_MOST_LOCAL = 1024  # processes of one machine
FORMS = (
    "local:8 (processes here), tcp://host:8786 (a dask scheduler that runs) or slurm.toml (jobs of SLURM)"
)
_LOCAL = re.compile(r"local(?::(.*))?")
_ADDRESS = re.compile(r"(tcp|tls|ucx)://(\[[0-9A-Fa-f:]+\]|[^\s:/\[\]]+):(\d{1,5})")


class Elsewhere:
    """An engine that is made when the first blocks come, so that what is refused before costs no jobs.

    slots : how many tasks it computes at once; None where only the cluster knows.
    """

    def __init__(
        self, opened: Callable[[], AbstractContextManager[Client]], typed: str, slots: int | None
    ) -> None:
        self.typed = typed
        self._opened = opened
        self._slots = slots
        self._around = ExitStack()
        self._engine: DaskEngine | None = None
        self._has_computed = False

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`."""
        self._has_computed = True
        return self._made().run(blocks)

    @property
    def has_computed(self) -> bool:
        """Whether any block was sent there."""
        return self._has_computed

    def slots(self) -> int:
        """How many cores compute; a scheduler that runs is asked."""
        return self._slots if self._slots is not None else max(1, self._made().slots())

    def _made(self) -> DaskEngine:
        from humeval_power.sweep.dask_engine import DaskEngine

        if self._engine is None:
            client = self._around.enter_context(self._opened())
            self._engine = DaskEngine(client, tell=note)
        return self._engine

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *error: object) -> None:
        self._around.close()


def place_of(_ctx: click.Context, _option: click.Parameter, typed: str | None) -> Elsewhere | None:
    """What --on says; the cluster itself is not looked at yet."""
    if typed is None:
        return None
    local = _LOCAL.fullmatch(typed)
    if local:
        return _local(typed, local[1])
    if "://" in typed:
        return _address(typed)
    if typed.lower().endswith(".toml") or os.path.isfile(typed):
        return _jobs(typed)
    raise click.BadParameter(f"say where: {FORMS}; got {typed!r}.")


def _local(typed: str, count: str | None) -> Elsewhere:
    from humeval_power.asking.dask_clusters import local_cluster

    n = default_jobs() if count is None else int(count) if count.isascii() and count.isdigit() else 0
    if not 1 <= n <= _MOST_LOCAL:
        raise click.BadParameter(f"local:N takes 1 to {_MOST_LOCAL:,} processes; got {typed!r}.")
    return Elsewhere(lambda: local_cluster(n), typed, n)


def _address(typed: str) -> Elsewhere:
    match = _ADDRESS.fullmatch(typed)
    if not match or not 1 <= int(match[3]) <= 65535:
        raise click.BadParameter(
            f"an address has a host and a port, such as tcp://host:8786; got {typed!r}."
        )
    from humeval_power.asking.dask_clusters import connected

    return Elsewhere(lambda: connected(typed, note), typed, None)


def _jobs(typed: str) -> Elsewhere:
    from humeval_power.asking.dask_clusters import read_cluster, slurm_cluster

    jobs = read_cluster(typed)
    return Elsewhere(lambda: slurm_cluster(jobs, note), typed, jobs.slots)


def default_jobs() -> int:
    """All cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


ON = of_answer(
    text("WHERE"),
    "Compute on a cluster instead: local:8 (processes), tcp://HOST:PORT (dask), slurm.toml (jobs).",
    further=True,
)
