"""Assignments and their keys, in the files that `assign` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humeval_power.checking.assigned import Assigned, Source, read_assigned
from humeval_power.interfaces.formats.tables import read_table


def read_assignment(paths: Sequence[str | Path], key: str | Path | None = None) -> Assigned:
    """Read an assignment, with its key where it does not name the systems.

    Parameters
    ----------
    paths : of the whole assignment, and of what spares do who were called in.
    key : of what the codes stand for.

    Raises
    ------
    InputError
        Files that are no assignment or not its key, or that were cut short; all problems at once.
    """
    tables = [_source(path) for path in paths]
    return read_assigned(tables, None if key is None else _source(key))


def _source(path: str | Path) -> Source:
    found = read_table(path)
    return Source(found.frame, found.source)
