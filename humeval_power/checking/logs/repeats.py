"""What stands twice in logs: a sample that was written again, and a task that a system was given again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem

Again = Literal["refuse", "last", "run"]
SHOWN = 5


def once_each(log: Log) -> Log:
    """The log with each item once in each run: lines that were written again are dropped where they say the same.

    Raises
    ------
    InputError
        An item that has other scores when it comes again.
    """
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
    if problems:
        raise InputError(counted_problems(problems, log.source))
    if not n_again:
        return log
    said = f"{n_again:,} samples stand there again with the same scores, and are read once."
    return replace(log, samples=tuple(kept.values()), notices=(*log.notices, said))


def each_task_once(logs: Sequence[Log], again: Again) -> list[Log]:
    """Logs of which no two are of one system and task.

    again : what to do with such: refuse them, take the last, or take each as a run.

    Raises
    ------
    InputError
        Several of them, where they are refused, or where nothing says which is the last.
    """
    found: dict[tuple[str, str], list[Log]] = defaultdict(list)
    for log in logs:
        found[log.system, log.task].append(log)
    kept: list[Log] = []
    problems: list[Problem] = []
    for (system, task), those in found.items():
        if len(those) == 1:
            kept += those
        elif again == "run":
            kept.append(_as_runs(those))
        elif again == "last" and len({log.created for log in those} - {""}) == len(those):
            kept.append(_last(those))
        else:
            problems.append(_several(system, task, those, again))
    if problems:
        raise InputError(problems)
    return kept


def counted_problems(problems: list[Problem], source: str) -> list[Problem]:
    """The first of them, and how many more there are."""
    rest = len(problems) - SHOWN
    return (
        problems if rest <= 0 else [*problems[:SHOWN], Problem(f"and {rest:,} more like this.", "", source)]
    )


def _as_runs(logs: Sequence[Log]) -> Log:
    in_order = sorted(logs, key=lambda log: (log.created, log.source))
    samples = [
        replace(sample, run=f"{number}.{sample.run}" if sample.run else str(number))
        for number, log in enumerate(in_order, start=1)
        for sample in log.samples
    ]
    said = f"{len(logs)} logs of it are its runs: {listing([log.source for log in in_order])}."
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
