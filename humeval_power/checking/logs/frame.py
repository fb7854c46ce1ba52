"""The samples of logs as a table, a row for each answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import pandas as pd

from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.checking.rows import ROW_INDEX

OWN = (
    "item",
    "system",
    "run",
    "task",
    "label",
    "prediction",
)  # columns that no field of a data set may take
_LONGEST_ANSWER = 200
_LONGEST_NAME = 60  # characters of a value that stands in the table itself


def frame_of(logs: Sequence[Log], metrics: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """All columns, those of the data set's fields with them; `metrics` are those of each task."""
    several = len({log.task for log in logs}) > 1
    rows = [(log, sample) for log in logs for sample in log.samples]
    columns: dict[str, list[object]] = {
        "system": [log.system for log, _ in rows],
        "item": [_item(log, sample, several) for log, sample in rows],
    }
    if len({sample.run for _, sample in rows}) > 1:
        columns["run"] = [sample.run or "1" for _, sample in rows]
    if several:
        columns["task"] = [log.task for log, _ in rows]
    names = dict.fromkeys(name for known in metrics.values() for name in known)
    for name in names:
        columns[name] = [
            _plain(sample.scores.get(name) if name in metrics[log.task] else None) for log, sample in rows
        ]
    for name in dict.fromkeys(name for _, sample in rows for name in sample.fields):
        column = name if name not in (*OWN, *names) else f"doc.{name}"
        columns.setdefault(column, [sample.fields.get(name) for _, sample in rows])
    for name, answers in _answers([sample for _, sample in rows]).items():
        columns[name] = answers
    index = pd.RangeIndex(2, len(rows) + 2, name=ROW_INDEX)
    return pd.DataFrame(columns, index=index, dtype=object)


def cluster_names(values: pd.Series, tasks: pd.Series | None) -> pd.Series:
    """Names of clusters: a short one is a name within its task, and whole passages are numbered as they come."""
    column = str(values.name)
    are_names = [len(text) <= _LONGEST_NAME and "\n" not in text for text in map(str, values)]
    if not all(are_names):
        number = {value: place for place, value in enumerate(dict.fromkeys(values), start=1)}
        shown = [f"{column} {number[value]}" for value in values]
    else:
        shown = list(values)
    if tasks is not None:
        named = zip(shown, are_names, tasks, strict=True)
        shown = [f"{task}/{name}" if is_name else name for name, is_name, task in named]
    return pd.Series(shown, index=values.index, name=column, dtype=object)


def _item(log: Log, sample: LogSample, several: bool) -> str:
    return f"{log.task}/{sample.item}" if several else sample.item


def _answers(samples: Sequence[LogSample]) -> Mapping[str, list[object]]:
    """The right answers and the systems', as far as they are known and short."""
    found = {"label": [one.label for one in samples], "prediction": [one.prediction for one in samples]}
    return {name: list(texts) for name, texts in found.items() if _are_short(texts)}


def _are_short(texts: Iterable[str | None]) -> bool:
    known = [text for text in texts if text is not None]
    return bool(known) and all(len(text) <= _LONGEST_ANSWER and "\n" not in text for text in known)


def _plain(score: float | None) -> float | int | None:
    return int(score) if score is not None and score.is_integer() else score
