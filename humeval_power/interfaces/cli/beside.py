"""Files that an option names and that are written with the result of a command: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from humeval_power.errors import InputError

Content = str | bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """The content of a file that holds, written anew, all that it held before; `what` is kept."""

    content: Callable[[Any], Content]
    what: str


@dataclass(frozen=True, slots=True)
class Reused:
    """The content of a file that is never written over where `is_there` knows it: the command uses the one that it
    finds."""

    content: Callable[[Any], Content]
    is_there: Callable[[str], bool]


# What a file holds of the result, by the name of its option.
Beside = Mapping[str, Callable[[Any], Content] | Kept | Reused]


@dataclass(frozen=True, slots=True)
class BesideFile:
    """A file that somebody typed a path for, and what it holds of the result; `keeps` what stays in it, `is_there`
    one that stays as it is."""

    option: str
    path: str
    content: Callable[[Any], Content]
    keeps: str = ""
    is_there: bool = False


def typed_files(beside: Beside, values: Mapping[str, Any]) -> tuple[BesideFile, ...]:
    """Those of the files that somebody asked for."""
    return tuple(
        _file(f"--{name.replace('_', '-')}", values[name], made)
        for name, made in beside.items()
        if values[name] is not None
    )


def _file(option: str, path: str, made: Callable[[Any], Content] | Kept | Reused) -> BesideFile:
    match made:
        case Kept():
            return BesideFile(option, path, made.content, keeps=made.what)
        case Reused():
            return BesideFile(option, path, made.content, is_there=made.is_there(path))
    return BesideFile(option, path, made)


def refuse_to_renew(files: tuple[BesideFile, ...], *, force: bool) -> None:
    """Refuse files that are there already, without --force: written anew they keep what they hold, and no more.

    Raises
    ------
    InputError
        A file that is there, or a place that cannot be written.
    """
    kept = [file for file in files if file.keeps]
    if not kept:
        return
    from humeval_power.interfaces.writing.targets import check_targets

    check_targets([file.path for file in kept], force=True)
    for file in kept:
        if Path(file.path).is_file() and not force:
            raise InputError(
                f"{file.path} exists already. Add --force to write it anew: {file.keeps}; or name another file."
            )


def refuse_one_place(files: tuple[BesideFile, ...], output: str | None) -> None:
    """Refuse a file that would come out together with the result: it is for other eyes.

    Raises
    ------
    click.UsageError
        Standard output, the file of the result, or a place in its folder.
    """
    for file in files:
        if file.path == "-":
            raise click.UsageError(f"{file.option} needs a file of its own: '-' is for the result.")
        if output is None or output == "-":
            continue
        place, result = Path(file.path).resolve(), Path(output).resolve()
        if place == result:
            raise click.UsageError(f"--output and {file.option} must be two files.")
        if result in place.parents:
            raise click.UsageError(f"{file.option} must lie outside the folder of --output.")
