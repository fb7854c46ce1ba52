"""Logs of any other kind, read as a mapping says: JSON lines, a JSON document, or a table such as CSV."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import close_to, shortened
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem, first_few, refusal, refuse
from humeval_power.files.file_bytes import read_toml
from humeval_power.files.logs.reading import NO_NAMES, with_systems
from humeval_power.files.logs.score_rows import RawLog, number_of, text_of
from humeval_power.saying.schemas import RecordSection, problems_of

# The mapping of a log that no harness here wrote: a TOML file that says where in a record each thing
# stands.

_HINT = 'It holds schema = "humeval_power/log_mapping/1", item, system and a table [scores].'
Numbers = dict[str, Annotated[float, Field(strict=False)]]


class LogMapping(RecordSection):
    """Where things stand: a name of a column or field, or names with dots between them for objects in objects.

    records : the list of the samples, where it is inside of a document; '' for the document itself.
    scores : by the name of each metric. words : numbers for scores in words.
    fields : what is kept beside, such as clusters, by the names of their columns.
    system_name : of all samples, where no field says it; the file's name otherwise.
    """

    schema_: Literal["humeval_power/log_mapping/1"] = Field(alias="schema")
    item: str
    scores: Annotated[dict[str, str], Field(min_length=1)]
    system: str = ""
    system_name: str = ""
    records: str = ""
    run: str = ""
    task: str = ""
    label: str = ""
    prediction: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    words: Numbers = Field(default_factory=dict)


def is_log_mapping(path: str | Path) -> bool:
    """Whether a TOML file says that it maps a log, and not an export of ratings.
    Raises InputError: a file that is no TOML."""
    return str(read_toml(path, hint=_HINT).get("schema", "")).startswith("humeval_power/log_mapping")


def read_log_mapping(path: str | Path) -> LogMapping:
    """The mapping in a TOML file.
    Raises InputError: a file that is no such mapping: every problem at once."""
    try:
        return LogMapping.model_validate(read_toml(path, hint=_HINT))
    except ValidationError as error:
        raise InputError(problems_of(error, str(path), kind=LogMapping)) from None


_MISSING = {code.casefold() for code in MISSING_CODES} | {""}
SHOWN = 5


def mapped_logs(
    paths: Sequence[str | Path], mapping: LogMapping, *, systems: Mapping[str, str] = NO_NAMES
) -> list[Log]:
    """The logs in these files, one for each system and task; `systems` are names of systems by their files.
    Raises InputError: records that lack what the mapping names, or scores that are neither numbers nor mapped
    words; all at once."""
    logs: list[tuple[Path, Log]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            logs += [(Path(path), log) for log in _logs(RawLog(Path(path), Path(path).name), mapping)]
        except InputError as error:
            problems += error.problems
    refuse(problems)
    return with_systems(logs, systems)


def _logs(raw: RawLog, mapping: LogMapping) -> list[Log]:
    rows = _records(raw, mapping.records)
    problems: list[Problem] = []
    sample: dict[tuple[str, str], list[LogSample]] = defaultdict(list)
    for row, record in rows:
        said = list(_problems(raw, row, record, mapping))
        problems += said
        if not said:
            system = _text(record, mapping.system) or mapping.system_name or raw.path.stem
            sample[system, _text(record, mapping.task) or ""].append(_sample(row, record, mapping))
    refuse(first_few(problems, most=SHOWN))
    about = (raw.source, "no known harness", "a mapping says what is where", raw.sha256)
    return [Log(system, task, tuple(samples), *about) for (system, task), samples in sample.items()]


def _records(raw: RawLog, path: str) -> list[tuple[int, dict[str, Any]]]:
    if path:
        records = _at(raw.json, path)
        if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
            rule = f"there is no list of objects at {path!r}."
            raise refusal(rule, "Correct 'records' in the mapping.", raw.source)
        return list(enumerate(records, start=1))
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
    fields = {name: _text(record, path) for name, path in mapping.fields.items()}
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
    if word in mapping.words:
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
