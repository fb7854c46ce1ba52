"""Logs of several systems and tasks as one table of scores, with what may be clusters of its items."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from humeval_power.checking.columns import absent_names, listing, shortened
from humeval_power.checking.logs.log import (
    SHOWN,
    Again,
    Log,
    LogSample,
    each_task_once,
    once_each,
    with_disagreements,
)
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.checking.suspects import ClusterSuspect, cluster_suspects
from humeval_power.errors import Problem, first_few, refusal, refuse

# The samples of logs as a table, a row for each answer.

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
        "item": [f"{log.task}/{sample.item}" if several else sample.item for log, sample in rows],
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


def _answers(samples: Sequence[LogSample]) -> Mapping[str, list[object]]:
    """The right answers and the systems', as far as they are known and short."""
    columns = {"label": [one.label for one in samples], "prediction": [one.prediction for one in samples]}
    return {name: list(texts) for name, texts in columns.items() if _are_short(texts)}


def _are_short(texts: Iterable[str | None]) -> bool:
    known = [text for text in texts if text is not None]
    return bool(known) and all(len(text) <= _LONGEST_ANSWER and "\n" not in text for text in known)


def _plain(score: float | None) -> float | int | None:
    return int(score) if score is not None and score.is_integer() else score


_LONGEST = 60  # characters of the name of a file


@dataclass(frozen=True, eq=False)
class LogTable:
    """Scores out of logs, one row for each answer.

    frame : columns `system` and `item`, `run` and `task` where there are several, the metrics, the columns that may
        be clusters, and `label` and `prediction` where they are known and short.
    scores : the metrics. clusters : what looks like clusters of items. logs : what was read.
    """

    frame: pd.DataFrame
    scores: tuple[str, ...]
    clusters: tuple[ClusterSuspect, ...]
    logs: tuple[Log, ...]
    notices: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """The digest of the file; of several, that of their digests in their order."""
        digests = list(dict.fromkeys(log.sha256 for log in self.logs))
        return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()

    @property
    def said(self) -> tuple[str, ...]:
        """What was read as what, what was left out, and what may be clusters."""
        notices = []
        for harness, why in dict.fromkeys((log.harness, log.why) for log in self.logs):
            those = _sources(log for log in self.logs if (log.harness, log.why) == (harness, why))
            verb = "is read as a log" if len(those) == 1 else "are read as logs"
            notices.append(f"{_named(those)} {verb} of {harness}: {why}.")
        for notice in dict.fromkeys(notice for log in self.logs for notice in log.notices):
            notices.append(
                f"{_named(_sources(log for log in self.logs if notice in log.notices))}: {notice}"
            )
        return (*notices, *self.notices)


def _sources(logs: Iterable[Log]) -> list[str]:
    """The files of logs, each once."""
    return list(dict.fromkeys(log.source for log in logs))


def _named(sources: Sequence[str]) -> str:
    return shortened(sources[0], width=_LONGEST) if len(sources) == 1 else f"{len(sources):,} files"


def combine_logs(
    logs: Sequence[Log],
    *,
    tasks: Sequence[str] = (),
    scores: Sequence[str] = (),
    again: Again = "refuse",
    notices: Sequence[str] = (),
) -> LogTable:
    """One table of all logs, in their order.

    Parameters
    ----------
    tasks : those to read; all if none is named, and items of several are named task/item.
    scores : the metrics to keep; all that every log of a task has, if none is named. A task without any of them is
        left out, and a score that only another task has is missing.
    again : what to do where a system has several logs of a task.
    notices : what is to be said of files that hold none of the logs.

    Raises
    ------
    InputError
        A task or a metric that is not there, logs of a task without a metric in common, samples that stand twice
        with other scores, systems that were asked different things under one name or share no item; all of one
        kind at once.
    """
    read = _each(
        [with_disagreements(once_each(log)) for log in each_task_once(_of_tasks(logs, tasks), again)]
    )
    of_task, remarks = _metrics(read, scores)
    read = [log for log in read if log.task in of_task]
    metrics = tuple(scores) or tuple(dict.fromkeys(name for known in of_task.values() for name in known))
    _refuse_other_questions(read)
    frame = frame_of(read, of_task)
    frame, clusters = _with_clusters(
        frame, [name for name in frame.columns if name not in (*OWN, *metrics)]
    )
    return LogTable(frame, metrics, clusters, tuple(read), (*notices, *remarks, *_lacking(read)))


def _with_clusters(
    frame: pd.DataFrame, fields: Sequence[str]
) -> tuple[pd.DataFrame, tuple[ClusterSuspect, ...]]:
    """The table with those fields of the data sets alone that may be clusters, and these."""
    others = [name for name in frame.columns if name not in (*fields, "item", "task")]
    known = {one.column for one in cluster_suspects(frame, item="item", taken=others)}
    for name in fields:
        if name in known:
            frame[name] = cluster_names(frame[name], frame.get("task"))
    suspects = cluster_suspects(
        frame.drop(columns=[name for name in fields if name not in known]), item="item", taken=others
    )
    kept = {one.column for one in suspects}
    return frame.drop(columns=[name for name in fields if name not in kept]), suspects


def _of_tasks(logs: Sequence[Log], tasks: Sequence[str]) -> Sequence[Log]:
    names = list(dict.fromkeys(log.task for log in logs))
    refuse(absent_names(tasks, names, "task"))
    return [log for log in logs if not tasks or log.task in tasks]


def _each(logs: Sequence[Log]) -> list[Log]:
    """The logs, none without samples."""
    empty = [Problem("holds no samples.", "Leave it out.", log.source) for log in logs if not log.samples]
    refuse(first_few(empty, most=SHOWN))
    return list(logs)


def _metrics(logs: Sequence[Log], wanted: Sequence[str]) -> tuple[Mapping[str, Collection[str]], list[str]]:
    """The metrics of each task that is read, those that every one of its logs has, of those that are asked for; and
    what is to be said of others.
    Raises InputError: a metric that no log or not every log of a task has, or a task whose logs have none in
    common."""
    known = list(dict.fromkeys(name for log in logs for name in log.metrics))
    refuse(absent_names(wanted, known, "metric"))
    if not known:
        rule = "no sample has a score that is a number."
        raise refusal(rule, "Was the evaluation scored?", logs[0].source)
    metrics: dict[str, list[str]] = {}
    partial: dict[str, None] = {}
    for task in dict.fromkeys(log.task for log in logs):
        those = [log for log in logs if log.task == task]
        of_logs = [set(log.metrics) for log in those]
        shared = set.intersection(*of_logs)
        of_task = [name for name in known if any(name in own for own in of_logs)]
        common = [name for name in of_task if name in shared]
        lacking = [name for name in of_task if name not in shared]
        refused = [name for name in wanted if name in lacking]
        if refused or (of_task and not common):
            what = (
                f"not every log has the metric {refused[0]!r}" if refused else "no metric is in every log"
            )
            have = "; ".join(
                f"{log.source} has {listing(log.metrics, limit=6)}" for log in _different(those)
            )
            remedy = "Read one task, or the logs with one metric: name their files."
            raise refusal(f"{what}: {have}.", remedy)
        metrics[task] = [name for name in common if not wanted or name in wanted]
        partial.update(dict.fromkeys(lacking))
    notices = []
    without = [task for task, names in metrics.items() if not names]
    if without:
        what = listing(list(wanted)) if wanted else "scores"
        notices.append(f"Tasks without {what} are left out: {listing(without, limit=6)}.")
    if partial and not wanted:
        notices.append(f"Metrics that only some logs have are left out: {listing(list(partial))}.")
    return {task: names for task, names in metrics.items() if names}, notices


def _different(logs: Sequence[Log]) -> list[Log]:
    """The first log of each set of metrics."""
    return list({log.metrics: log for log in reversed(logs)}.values())[::-1][:4]


def _refuse_other_questions(logs: Sequence[Log]) -> None:
    """Items are paired by their names: what bears one name must be one question."""
    first: dict[tuple[str, str], tuple[str, Log]] = {}
    problems: list[Problem] = []
    for log in logs:
        for sample in log.samples:
            if not sample.question:
                continue
            question, other = first.setdefault((log.task, sample.item), (sample.question, log))
            if question != sample.question:
                rule = (
                    f"item {shortened(sample.item)!r} was asked or scored otherwise than in {other.source}."
                )
                remedy = "Were the data, their order, or the settings of the metric different? Evaluate both alike."
                problems.append(Problem(rule, remedy, log.source, sample.row or None))
    refuse(first_few(problems, most=SHOWN))


def _lacking(logs: Sequence[Log]) -> list[str]:
    """Which systems lack items that others have. Raises InputError: systems without an item in common."""
    items: dict[str, set[tuple[str, str]]] = {}
    for log in logs:
        items.setdefault(log.system, set()).update((log.task, sample.item) for sample in log.samples)
    every = set().union(*items.values())
    if len(items) > 1 and not set.intersection(*items.values()):
        rule = f"the systems {listing(list(items), limit=6)} share no item."
        raise refusal(rule, "Name logs of the same task, and of the same version of it.")
    return [
        f"{system} has {len(own):,} of the {len(every):,} items."
        for system, own in items.items()
        if own != every
    ]
