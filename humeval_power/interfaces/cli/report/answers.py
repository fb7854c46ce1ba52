"""The authors' own answers: read from the file of a study, and from what is remembered of earlier ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.output import remark

_FORGET = "Correct the file of what is remembered; or add --no-memory, or 'report remember --forget all'."
if TYPE_CHECKING:
    from humeval_power.reporting.report.config import ReportConfig

_REMEDY = "Give a file of answers, with a table [report] and the answers below it."


def memory_path() -> Path:
    """The file of answers that are the same in every study, in the folder of the user's settings."""
    return Path(click.get_app_dir("humeval-power")) / "answers.toml"


def read_memory(*, wanted: bool = True) -> ReportConfig:
    """What is remembered; nothing where nothing is, or where it is not wanted."""
    from humeval_power.reporting.report.config import NO_CONFIG

    place = memory_path()
    if not wanted or not place.is_file():
        return NO_CONFIG
    try:
        return read_config(str(place)).to_remember()
    except InputError as error:
        told = [replace(one, remedy=f"{one.remedy} {_FORGET}".strip()) for one in error.problems]
        raise InputError(told) from None


def own_answers(path: str | None, *, memory: ReportConfig) -> ReportConfig | None:
    """The answers of the study, completed by those that are remembered; None where there are none.

    What comes from memory is said.
    """
    from humeval_power.reporting.report.config import NO_CONFIG

    own = None if path is None else read_config(path)
    both = (own or NO_CONFIG).with_memory(memory)
    if both.remembered:
        remark(
            f"Remembered from earlier studies: {', '.join(both.remembered)} ({memory_path()}). Do they hold for "
            "this one? --no-memory leaves them out."
        )
        return both
    return own


def read_config(path: str) -> ReportConfig:
    """The authors' own answers.

    Raises
    ------
    InputError
        A file that is no TOML or has no table [report], and every answer that cannot be, each with its line.
    """
    from humeval_power.interfaces.formats.file_bytes import read_text
    from humeval_power.interfaces.formats.toml_text import toml_values
    from humeval_power.reporting.report.config import ReportConfig

    text = read_text(path)
    table: Any = toml_values(text, place=path, hint=_REMEDY).get("report")
    if not isinstance(table, dict):
        raise InputError([Problem("has no table [report].", _REMEDY, place=path)])
    with telling_file(path, text):
        return ReportConfig.from_mapping(table)


@contextmanager
def telling_file(path: str | None, text: str | None = None) -> Iterator[None]:
    """Problems with answers are told with the name of their file, and with the line of their key."""
    from humeval_power.interfaces.formats.file_bytes import read_text
    from humeval_power.interfaces.formats.toml_text import toml_lines

    try:
        yield
    except InputError as error:
        if path is None or not all((one.place or "").startswith("[report") for one in error.problems):
            raise
        lines = toml_lines(read_text(path) if text is None else text)
        placed = sorted(((_line(one, lines), one) for one in error.problems), key=lambda pair: pair[0])
        raise InputError(
            [replace(one, place=f"{path}, {f'line {at}' if at else one.place}") for at, one in placed]
        ) from None


def _line(problem: Problem, lines: Mapping[tuple[str, ...], int]) -> int:
    """The line of the problem's key, or of the nearest table around it; 0 where neither is known."""
    from humeval_power.interfaces.formats.toml_text import toml_path

    names = ("report", *toml_path(problem.column or ""))
    return next((lines[names[:depth]] for depth in range(len(names), 1, -1) if names[:depth] in lines), 0)


def kept_answers(path: str) -> ReportConfig | None:
    """The answers of a file that is to be written anew, None where there is no file yet.

    Raises
    ------
    InputError
        As for `read_config`; or more than answers in it, which would be lost.
    """
    if not Path(path).is_file():
        return None
    from humeval_power.interfaces.formats.file_bytes import read_text
    from humeval_power.interfaces.formats.toml_text import toml_values

    others = [name for name in toml_values(read_text(path), place=path, hint=_REMEDY) if name != "report"]
    if others:
        rule = f"holds {', '.join(map(repr, others))} beside [report], which would be lost."
        raise InputError([Problem(rule, "Name another file.", place=path)])
    return read_config(path)


def same_file(one: str, other: str) -> bool:
    """Whether two names lead to one file that is there."""
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)
