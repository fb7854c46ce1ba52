"""Logs of any other kind, read as a mapping says: JSON lines, a JSON document, or a table such as CSV."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from humeval_power.checking.columns import close_to, shortened
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.mapping_file import LogMapping
from humeval_power.interfaces.formats.logs.raw import RawLog, number_of, text_of
from humeval_power.interfaces.formats.logs.systems import NO_NAMES, with_systems
from humeval_power.ratings import MISSING_CODES

_MISSING = {code.casefold() for code in MISSING_CODES} | {""}
SHOWN = 5


def mapped_logs(
    paths: Sequence[str | Path], mapping: LogMapping, *, systems: Mapping[str, str] = NO_NAMES
) -> list[Log]:
    """The logs in these files, one for each system and task; `systems` are names of systems by their files.

    Raises
    ------
    InputError
        Records that lack what the mapping names, or scores that are neither numbers nor mapped words; all at once.
    """
    logs: list[tuple[Path, Log]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            logs += [(Path(path), log) for log in _logs(RawLog(Path(path), Path(path).name), mapping)]
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return with_systems(logs, systems)


def _logs(raw: RawLog, mapping: LogMapping) -> list[Log]:
    rows = _records(raw, mapping.records)
    problems: list[Problem] = []
    found: dict[tuple[str, str], list[LogSample]] = defaultdict(list)
    for row, record in rows:
        said = list(_problems(raw, row, record, mapping))
        problems += said
        if not said:
            system = _text(record, mapping.system) or mapping.system_name or raw.path.stem
            found[system, _text(record, mapping.task) or ""].append(_sample(row, record, mapping))
    if problems:
        rest = len(problems) - SHOWN
        more = [Problem(f"and {rest:,} more like this.", "", raw.source)] if rest > 0 else []
        raise InputError([*problems[:SHOWN], *more])
    return [
        Log(
            raw.source,
            "no known harness",
            "a mapping says what is where",
            system,
            task,
            tuple(samples),
            raw.sha256,
        )
        for (system, task), samples in found.items()
    ]


def _records(raw: RawLog, path: str) -> list[tuple[int, dict[str, Any]]]:
    if path:
        found = _at(raw.json, path)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            rule = f"there is no list of objects at {path!r}."
            raise InputError([Problem(rule, "Correct 'records' in the mapping.", raw.source)])
        return list(enumerate(found, start=1))
    return raw.rows


def _problems(raw: RawLog, row: int, record: dict[str, Any], mapping: LogMapping) -> Iterator[Problem]:
    """What a record lacks, and the scores in it that are no numbers."""
    wanted = {"item": mapping.item, "system": mapping.system, "run": mapping.run, "task": mapping.task}
    for part, path in wanted.items():
        if path and not _text(record, path):
            rule = f"has nothing at {path!r}, which the mapping names as the {part}."
            yield Problem(rule, close_to(path, list(record)) if record else "", raw.source, row)
    for name, path in mapping.scores.items():
        value = _at(record, path)
        if _score(value, mapping) is None and not _is_missing(value):
            rule = f"the score {name!r} is {shortened(str(value))!r}, which is no number."
            yield Problem(rule, "Give the word a number in the mapping, under [words].", raw.source, row)


def _sample(row: int, record: dict[str, Any], mapping: LogMapping) -> LogSample:
    fields = {name: _text(record, path) for name, path in (mapping.fields or {}).items()}
    return LogSample(
        item=str(_text(record, mapping.item)),
        scores={name: _score(_at(record, path), mapping) for name, path in mapping.scores.items()},
        run=_text(record, mapping.run) or "",
        row=row,
        fields={name: text for name, text in fields.items() if text},
        label=_text(record, mapping.label),
        prediction=_text(record, mapping.prediction),
    )


def _at(value: Any, path: str) -> Any:
    """What stands at a path: a name, or names and places in lists with dots between; None for nothing."""
    if isinstance(value, dict) and path in value:
        return value[path]
    first, _, rest = path.partition(".")
    if isinstance(value, dict):
        inner = value.get(first)
    elif isinstance(value, list) and first.isdigit() and int(first) < len(value):
        inner = value[int(first)]
    else:
        return None
    return _at(inner, rest) if rest else inner


def _text(record: Any, path: str) -> str | None:
    return text_of(_at(record, path)) if path else None


def _score(value: object, mapping: LogMapping) -> float | None:
    word = text_of(value)
    if mapping.words and word in mapping.words:
        return mapping.words[word]
    if not isinstance(value, str):
        return number_of(value)
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_missing(value: object) -> bool:
    return (
        value is None
        or (isinstance(value, str) and value.strip().casefold() in _MISSING)
        or (isinstance(value, float) and not math.isfinite(value))
    )
