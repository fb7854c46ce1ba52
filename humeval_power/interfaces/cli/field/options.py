"""Options that say how exports are read, and name the files of an assignment: who sees what when, the key of its
codes, and who withdrew."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.checking.logs.repeats import Again
from humeval_power.choices import HarnessName, PlatformName
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.options import Function, collected, decorated, fields_of

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import Assigned, Key


@dataclass(frozen=True)
class FieldFiles:
    """The files of an assignment that were named, and what they hold; None, or nobody, for those that were not.

    They are read when they are asked for, within the command, which notes what it reads.
    """

    assignment_paths: tuple[str, ...]
    key_path: str | None
    withdrawn_path: str | None

    @cached_property
    def assignment(self) -> Assigned | None:
        """Who sees what when."""
        from humeval_power.interfaces.formats.assigned import read_assignment

        return read_assignment(*self.assignment_paths) if self.assignment_paths else None

    @cached_property
    def key(self) -> Key | None:
        """What the codes stand for."""
        from humeval_power.interfaces.formats.assigned import read_key

        return None if self.key_path is None else read_key(self.key_path)

    @cached_property
    def withdrawn(self) -> tuple[str, ...]:
        """Who took their consent back."""
        from humeval_power.interfaces.formats.assigned import read_withdrawn

        return () if self.withdrawn_path is None else read_withdrawn(self.withdrawn_path)


_OPTIONS = (
    field_option("assignment"),
    field_option("key", help="What its codes stand for: the key that 'assign' wrote."),
    click.option(
        "--withdrawn",
        metavar="FILE",
        help="Workers who took their consent back, an id a line: all that they gave is left out.",
    ),
)


_MAP = click.option(
    "--map", "mapping", metavar="FILE", help="The mapping that --draft wrote, edited. [none]"
)
_PLATFORMS: tuple[PlatformName, ...] = get_args(PlatformName)
_HARNESSES: tuple[HarnessName, ...] = get_args(HarnessName)
_PLATFORM = click.option(
    "--from",
    "platform",
    type=click.Choice(_PLATFORMS),
    metavar="NAME",
    help=f"Whose export it is: {', '.join(_PLATFORMS)}. [told from its content]",
)
_SOURCE = click.option(
    "--from",
    "platform",
    type=click.Choice([*_PLATFORMS, *_HARNESSES]),
    metavar="NAME",
    help=f"Whose export it is: {', '.join(_PLATFORMS)}; or whose log: "
    f"{', '.join(_HARNESSES)}. [told from its content]",
)
_LOGS = (
    click.option("--task", metavar="NAME", multiple=True, help="The task of logs; repeatable. [all]"),
    click.option("--score", metavar="METRIC", multiple=True, help="The metric of logs; repeatable. [all]"),
    click.option(
        "--again",
        type=click.Choice(get_args(Again)),
        default="refuse",
        show_default=True,
        help="A task that a system was given again: read the last, or each as a run.",
    ),
    click.option(
        "--system",
        metavar="NAME=FILE",
        multiple=True,
        help="What the system of a log, or of a folder of logs, is called; repeatable. [as the log says]",
    ),
    click.option(
        "--leave-out",
        metavar="FILE",
        multiple=True,
        help="A damaged file in a folder of logs to leave out; repeatable. [refused]",
    ),
)


@dataclass(frozen=True, slots=True)
class LogReading:
    """What is read of logs, as the user said it."""

    task: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    again: Again = "refuse"
    system: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()

    @property
    def systems(self) -> dict[str, str]:
        """The names of systems, by their paths."""
        pairs = [text.partition("=") for text in self.system]
        wrong = [
            text for text, (name, _, path) in zip(self.system, pairs, strict=True) if not (name and path)
        ]
        if wrong:
            raise click.UsageError(f"--system {wrong[0]}: write NAME=FILE, such as base=base.csv.")
        return {path: name for name, _, path in pairs}


def log_options(command: Function) -> Function:
    """Add what says whose file it is, and what is read of logs, as `reading: LogReading`."""
    return decorated(
        collected(command, _LOGS, name="reading", collect=fields_of(LogReading)), (_MAP, _SOURCE)
    )


def export_options(command: Function) -> Function:
    """Add the options that say how exports are read."""
    return decorated(command, (_MAP, _PLATFORM))


def field_options(command: Function) -> Function:
    """Add the options; the command gets what their files hold as `field: FieldFiles`."""
    return collected(command, _OPTIONS, name="field", collect=_named)


def _named(values: dict[str, Any]) -> FieldFiles:
    return FieldFiles(*(values.pop(name) for name in ("assignment", "key", "withdrawn")))
