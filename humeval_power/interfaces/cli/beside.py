"""Files that an option names and that are written with the result of a command: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

Content = str | bytes
Beside = Mapping[
    str, Callable[[Any], Content]
]  # what a file holds of the result, by the name of its option


@dataclass(frozen=True, slots=True)
class BesideFile:
    """A file that somebody typed a path for, and what it holds of the result."""

    option: str
    path: str
    content: Callable[[Any], Content]


def typed_files(beside: Beside, values: Mapping[str, Any]) -> tuple[BesideFile, ...]:
    """Those of the files that somebody asked for."""
    return tuple(
        BesideFile(f"--{name}", values[name], content)
        for name, content in beside.items()
        if values[name] is not None
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
