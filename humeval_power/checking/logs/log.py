"""The log of an evaluation: what one system scored on the items of one task, as a harness wrote it down."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from humeval_power.checking.columns import listing, shortened
from humeval_power.errors import InputError, Problem, first_few, refuse


@dataclass(frozen=True, slots=True)
class LogSample:
    """One answer to one item.

    item : its name within the task.
    scores : by the name of the metric; None where the harness gave none.
    run : which generation, epoch or trial it is; '' where there is one only.
    row : the line of the file, or the place in its list, from 1.
    fields : what the data set says of the item; where several items share a value, it may be a cluster.
    asked : what tells that two systems were asked the same; '' where the log does not say.
    label, prediction : the right answer and the system's, where they are texts; None otherwise.
    uuid : of the generation, the same in every log that holds it; '' where the log gives none.
    """

    item: str
    scores: Mapping[str, float | None]
    run: str = ""
    row: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    label: str | None = None
    prediction: str | None = None
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """The samples of one system on one task.

    source, sha256 : what messages call the file, and its digest. harness, why : whose log it is, and what it was
        known by.
    created : when it was written, as a text that sorts; '' where nothing says so.
    identity : the same in two logs of one evaluation, of which the later replaces the earlier; '' if nothing says.
    seeds : by their names, as far as they are stated: logs with other seeds are repetitions.
    unfinished : why it cannot be read by itself; a later log of the same evaluation replaces it.
    notices : what was left out or assumed in reading it.
    reported : the means that the harness reported, by their metrics, as far as it did.
    reported_over : what it takes the mean over: samples, or items after the mean over the runs of each.
    """

    system: str
    task: str
    samples: tuple[LogSample, ...]
    source: str = ""
    harness: str = ""
    why: str = ""
    sha256: str = ""
    created: str = ""
    identity: str = ""
    unfinished: Problem | None = None
    seeds: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    reported: Mapping[str, float] = field(default_factory=dict)
    reported_over: Literal["samples", "items"] = "samples"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that a sample has, in the order in which they come."""
        return tuple(dict.fromkeys(name for sample in self.samples for name in sample.scores))


# What stands twice in logs: a sample that was written again, an evaluation that was taken up again, and a
# task that a system was given again.

Again = Literal["refuse", "last", "run"]
SHOWN = 5
_COMMON_SEED = "fewshot_seed"


def once_each(log: Log) -> Log:
    """The log with each item once in each run: lines that were written again are dropped where they say the same.
    Raises InputError: an item that has other scores when it comes again."""
    kept: dict[tuple[str, str], LogSample] = {}
    problems: list[Problem] = []
    n_again = 0
    for sample in log.samples:
        first = kept.setdefault((sample.item, sample.run), sample)
        if first is sample:
            continue
        if dict(first.scores) == dict(sample.scores):
            n_again += 1
            continue
        rule = f"item {shortened(sample.item)!r} has other scores than in row {first.row:,}: which counts?"
        remedy = "Delete one; or name the generation, where an item has several."
        problems.append(Problem(rule, remedy, log.source, sample.row))
    refuse(first_few(problems, most=SHOWN))
    if not n_again:
        return log
    said = f"{n_again:,} samples stand there again with the same scores, and are read once."
    return replace(log, samples=tuple(kept.values()), notices=(*log.notices, said))


def each_task_once(logs: Sequence[Log], again: Again) -> list[Log]:
    """Logs of which no two are of one system and task.

    Of one evaluation the last log is taken. Others with seeds of their own are runs.

    again : what to do with the rest: refuse them, take the last, or take each as a run.
    Raises InputError: several of them, where they are refused, or where nothing says which is the last; one
    generation with two scores; or an evaluation that no later log ends.
    """
    by_task: dict[tuple[str, str], list[Log]] = defaultdict(list)
    for log in logs:
        by_task[log.system, log.task].append(log)
    kept: list[Log] = []
    problems: list[Problem] = []
    for (system, task), several in by_task.items():
        those = _evaluations(several)
        unfinished = [log.unfinished for log in those if log.unfinished is not None]
        if unfinished:
            problems += unfinished
        elif len(those) == 1:
            kept += those
        elif again == "run" or (again == "refuse" and _have_own_seeds(those)):
            try:
                kept.append(_as_runs(those))
            except InputError as error:
                problems += error.problems
        elif again == "last" and len({log.created for log in those} - {""}) == len(those):
            kept.append(_last(those))
        else:
            problems.append(_several(system, task, those, again))
    refuse(problems)
    return kept


def _evaluations(logs: Sequence[Log]) -> list[Log]:
    """One log of each evaluation: the last of those with one identity, the first of those that say the same."""
    kept: list[Log] = []
    for log in sorted(logs, key=lambda log: log.created):
        place = next((at for at, other in enumerate(kept) if _is_same(other, log)), None)
        if place is None:
            kept.append(log)
            continue
        earlier = kept[place]
        if _said(earlier) == _said(log):
            said = f"It is the same evaluation as {log.source}, with the same scores: read once."
            kept[place] = replace(earlier, notices=(*earlier.notices, said))
            continue
        of_earlier, of_last = (
            {(sample.item, sample.run) for sample in one.samples} for one in (earlier, log)
        )
        said = f"It goes on with the evaluation of {earlier.source}, and replaces that log"
        lost = len(of_earlier - of_last)
        said += f"; {lost:,} samples stand only there, and are not read." if lost else "."
        kept[place] = replace(log, notices=(*log.notices, said))
    return kept


def _is_same(earlier: Log, log: Log) -> bool:
    """Whether two logs are of one evaluation: taken up again, or with the same generations or seeds, and scores."""
    if log.identity and earlier.identity == log.identity:
        return earlier.created < log.created or _said(earlier) == _said(log)
    is_copy = bool(log.sha256) and earlier.sha256 == log.sha256
    has_its_generations = all(sample.uuid for sample in log.samples) and _uuids(earlier) == _uuids(log)
    is_likely = earlier.seeds == log.seeds and (is_copy or has_its_generations or bool(log.seeds))
    return is_likely and _said(earlier) == _said(log)


def _uuids(log: Log) -> set[str]:
    return {sample.uuid for sample in log.samples}


def _said(log: Log) -> dict[tuple[str, str], dict[str, float | None]]:
    return {(sample.item, sample.run): dict(sample.scores) for sample in log.samples}


def _have_own_seeds(logs: Sequence[Log]) -> bool:
    seeds = [tuple(sorted(log.seeds.items())) for log in logs]
    return all(seeds) and len(set(seeds)) == len(seeds)


def _run_names(logs: Sequence[Log]) -> list[str]:
    """By their seeds, which are the same for every system; else by their number."""
    if not _have_own_seeds(logs):
        return [str(number) for number in range(1, len(logs) + 1)]
    short = ["/".join(dict.fromkeys(log.seeds.values())) for log in logs]
    return short if len(set(short)) == len(short) else ["/".join(log.seeds.values()) for log in logs]


def _as_runs(logs: Sequence[Log]) -> Log:
    """The samples of all, each log a run; a generation that stands in two of them once.
    Raises InputError: a generation that has other scores in another log."""
    in_order = sorted(logs, key=lambda log: (log.created, log.source))
    samples: list[LogSample] = []
    first: dict[str, tuple[Log, LogSample]] = {}
    problems: list[Problem] = []
    n_again = 0
    for name, log in zip(_run_names(in_order), in_order, strict=True):
        for sample in log.samples:
            other, same = first.setdefault(sample.uuid, (log, sample)) if sample.uuid else (log, sample)
            if same is sample:
                run = f"{name}.{sample.run}" if sample.run else name
                samples.append(replace(sample, run=run))
            elif dict(same.scores) == dict(sample.scores):
                n_again += 1
            else:
                rule = f"item {shortened(sample.item)!r} is the generation of {other.source} with other scores."
                remedy = "It was scored anew: leave one of the two logs out."
                problems.append(Problem(rule, remedy, log.source, sample.row))
    refuse(first_few(problems, most=SHOWN))
    said = f"{len(logs)} logs of it are its runs: {listing([log.source for log in in_order])}."
    if _have_own_seeds(in_order):
        is_common = len({log.seeds.get(_COMMON_SEED) for log in in_order}) > 1
        how = (
            "other examples in the prompt, the same for all items (--crossed)"
            if is_common
            else "each item anew (--nested)"
        )
        said += f" Their seeds differ: {how}."
    if n_again:
        said += f" {n_again:,} samples are generations of another of them, and are read once."
    digest = "".join(log.sha256 for log in in_order)
    notices = tuple(dict.fromkeys(notice for log in in_order for notice in log.notices))
    return replace(
        in_order[0], samples=tuple(samples), sha256=digest, notices=(*notices, said), reported={}
    )


def _last(logs: Sequence[Log]) -> Log:
    *older, last = sorted(logs, key=lambda log: log.created)
    said = f"It is the last of {len(logs)}; not read: {listing([log.source for log in older])}."
    return replace(last, notices=(*last.notices, said))


def _several(system: str, task: str, logs: Sequence[Log], again: Again) -> Problem:
    of = f" on {shortened(task)!r}" if task else ""
    rule = (
        f"system {shortened(system)!r} has {len(logs)} logs{of}: {listing([log.source for log in logs])}. "
        "A repetition cannot be told from a run that was begun anew."
    )
    if again == "last":
        return Problem(rule, "They do not say which is the last: leave the others out.")
    remedy = "Leave all but one out, or say what they are: humeval-power import with --again run or --again last."
    return Problem(rule, remedy)


# The means that a harness reported, beside those of the samples that it logged, taken over what the
# harness takes them over: they differ where samples are missing or stand there twice.

_OVER = {"samples": "its samples", "items": "its items, of each the mean over its scored runs,"}
_NEAR = 1e-4  # reports are rounded to four digits at times


@dataclass(frozen=True, slots=True)
class ReportedMean:
    """One metric of one log: its mean over what the harness takes it `over`, and what the harness reported."""

    metric: str
    mean: float
    reported: float
    over: str = "samples"

    @property
    def agrees(self) -> bool:
        """Whether they are the same but for rounding."""
        return math.isclose(self.mean, self.reported, rel_tol=_NEAR, abs_tol=_NEAR)


def with_disagreements(log: Log) -> Log:
    """The log with a notice of each mean that is not what the harness reported."""
    notices = tuple(
        f"The mean of {one.metric} over {_OVER[one.over]} is {one.mean:.4g}; the harness reported "
        f"{one.reported:.4g}: samples are missing or twice there, or it takes no mean."
        for one in reported_means(log)
        if not one.agrees
    )
    return replace(log, notices=(*log.notices, *notices))


def reported_means(log: Log) -> Iterator[ReportedMean]:
    """The metrics of a log whose mean was reported."""
    named = _by_metric(log.reported)
    for metric in log.metrics:
        values: dict[object, list[float]] = defaultdict(list)
        for place, one in enumerate(log.samples):
            if (value := one.scores.get(metric)) is not None:
                values[one.item if log.reported_over == "items" else place].append(value)
        if metric in named and values:
            mean = _mean([_mean(those) for those in values.values()])
            yield ReportedMean(metric, mean, named[metric], log.reported_over)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _by_metric(reported: Mapping[str, float]) -> dict[str, float]:
    """The same by the metric alone too, where its name goes on with that of one filter: 'acc,none'."""
    bare: dict[str, list[float]] = {}
    for name, value in reported.items():
        bare.setdefault(name.split(",")[0], []).append(value)
    return {**{name: values[0] for name, values in bare.items() if len(values) == 1}, **reported}
