"""Read how a cluster is asked for jobs from a TOML file."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.dask_clusters import SlurmJobs
from humeval_power.interfaces.formats.toml_text import read_toml

CLUSTER_SCHEMA = "humeval_power/cluster/1"
_REMEDY = "docs/sweeps.md has a file that works."
_LISTS = ("directives", "prologue")
_WHOLE = {"jobs": 100_000, "cores": 1024}
_PATTERNS = {
    "memory": (r"\d+(\.\d+)? ?([KMGT]i?B)", 'a size such as "64 GB"'),
    "walltime": (r"(\d+-)?\d{1,3}(:\d{2}){1,2}", 'a time such as "04:00:00" or "1-12:00:00"'),
}


def read_cluster(path: str | Path) -> SlurmJobs:
    """The jobs that a file describes.

    Raises
    ------
    InputError
        A file that cannot be read, or every problem of its keys at once.
    """
    values = read_toml(path, hint=_REMEDY)
    place = str(path)
    problems = []
    if values.pop("schema", None) != CLUSTER_SCHEMA:
        problems.append(Problem(f"needs the line schema = {CLUSTER_SCHEMA!r}.", _REMEDY, place=place))
    known = {field.name: field for field in fields(SlurmJobs)}
    for name in [name for name in values if name not in known]:
        close = get_close_matches(name, known, n=1)
        remedy = f"Do you mean {close[0]!r}?" if close else f"The keys are {', '.join(known)}."
        problems.append(Problem("there is no such key.", remedy, place=place, column=name, noun="field"))
    for name, field in known.items():
        if name in values:
            rule = _broken_rule(name, values[name])
            if rule:
                problems.append(
                    Problem(rule, "", place, column=name, value=values[name], has_value=True, noun="field")
                )
        elif field.default is MISSING:
            problems.append(Problem("is missing.", _REMEDY, place=place, column=name, noun="field"))
    if problems:
        raise InputError(problems)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return SlurmJobs(**given)


def _broken_rule(name: str, value: Any) -> str:
    """What the value of a key must be and is not; empty where it is right."""
    if name in _WHOLE:
        most = _WHOLE[name]
        right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
        return "" if right else f"must be a whole number from 1 to {most:,}."
    if name == "tls":
        return "" if isinstance(value, bool) else "must be true or false."
    if name in _LISTS:
        right = isinstance(value, list) and all(isinstance(line, str) and _one_line(line) for line in value)
        return "" if right else "must be a list of lines of text."
    if not isinstance(value, str) or not _one_line(value):
        return "must be a text of one line."
    pattern, shape = _PATTERNS.get(name, (r".*", ""))
    return "" if re.fullmatch(pattern, value) else f"must be {shape}."


def _one_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()
