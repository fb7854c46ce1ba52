"""What the systems of logs are called: as a person says, as the log does, or as its folder or file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log
from humeval_power.errors import InputError, Problem

NO_NAMES: Mapping[str, str] = MappingProxyType({})


def with_systems(read: Sequence[tuple[Path, Log]], systems: Mapping[str, str]) -> list[Log]:
    """The logs, each with a name of its system.

    read : logs with their paths. systems : names by paths of files or of folders.

    Raises
    ------
    InputError
        A path without a log, or one name for several systems.
    """
    names = {Path(path).resolve(): name for path, name in systems.items()}
    problems = []
    for path, name in names.items():
        those = [log for at, log in read if path in (at.resolve(), *at.resolve().parents)]
        known = list(dict.fromkeys(log.system for log in those))
        if not those:
            problems.append(Problem("holds no log of those that are read.", "Name its file.", str(path)))
        elif len(known) > 1:
            rule = f"holds several systems, {listing(known, limit=6)}, and is to be called {name!r}."
            problems.append(Problem(rule, "Name the file of each.", str(path)))
    if problems:
        raise InputError(problems)
    stems = [_stem(at) for at, log in read if not log.system]
    are_alike = len(set(stems)) < len(stems)
    return [_named(at, log, names, are_alike=are_alike) for at, log in read]


def _named(path: Path, log: Log, names: Mapping[Path, str], *, are_alike: bool) -> Log:
    here = path.resolve()
    name = next((names[at] for at in (here, *here.parents) if at in names), None)
    if name is not None:
        return replace(log, system=name)
    if log.system:
        return log
    of_folder = are_alike or bool(os.path.dirname(log.source))
    name = here.parent.name if of_folder else _stem(path)
    notice = (
        f"The system is called as its {'folder' if of_folder else 'file'}, {name!r}, as nothing in the log names "
        "it: import --system-name NAME=FILE does."
    )
    return replace(log, system=name, notices=(*log.notices, notice))


def _stem(path: Path) -> str:
    """The name of a file without what says its format."""
    return Path(path.name.removesuffix(".gz")).stem
