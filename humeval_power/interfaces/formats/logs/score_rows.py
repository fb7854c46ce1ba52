"""Tables with a row for each answer and no name of item or system: an item is what was asked."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.checking.roles import ROLES
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.item_names import canonical, digest_of, item_names, run_numbers
from humeval_power.interfaces.formats.logs.raw import RawLog, number_of, text_of

_REPEATED = "What was asked again is a run of its item: it was answered anew (--nested)."
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MISSING = {"", "nan", "none", "null"}


def first_row(raw: RawLog) -> Mapping[str, Any]:
    """The first row of a table of answers: of JSON lines, of an array, or of text with commas; {} of a table with
    workers or systems, which is no harness's."""
    found: Mapping[str, Any] = raw.first
    if not raw.head.startswith((b"{", b"[")):
        table = csv.reader(io.StringIO(raw.head.decode("utf-8", "ignore"), newline=""))
        try:
            header, row = next(table), next(table)
        except (csv.Error, StopIteration):
            return {}
        found = dict.fromkeys(header) | dict(
            zip(header, row, strict=False)
        )  # a long row may be cut off here
    taken = any(ROLES[role].fits(str(name)) for name in found for role in ("worker", "system"))
    return {} if taken else found


def log_of_rows(
    raw: RawLog,
    why: str,
    *,
    harness: str,
    request: str,
    question: tuple[str, ...],
    answer: str,
    label: str,
    metric: Callable[[str], str | None],
    fields: Callable[[Mapping[str, Any]], Mapping[str, str]],
) -> Log:
    """The log in such a table.

    request : the column that names the item. question : those that tell it from others.
    answer, label : those of the system's answer and of the right one.
    metric : the name of the metric in a column; None for a column that holds none.
    fields : of a row what the data set says of the item, metrics perhaps among it.

    Raises
    ------
    InputError
        A row in which nothing was asked, or a table without scores.
    """
    rows = raw.rows
    problems = [
        Problem(f"has nothing at {request!r}, which names its item.", "Fill it in.", raw.source, row)
        for row, record in rows
        if not canonical(record.get(request) or "").strip()
    ]
    if problems:
        raise InputError(problems[:5])
    names = [str(name) for name in dict.fromkeys(name for _, record in rows for name in record)]
    metrics, words = {}, []
    for name in names:
        known = metric(name)
        if known is None:
            continue
        if all(is_score(record.get(name)) for _, record in rows):
            metrics[name] = known
        else:
            words.append(known)
    if not metrics:
        rule = "has no column of scores, with a number in every row or nothing."
        raise InputError([Problem(rule, f"Its columns are {listing(names)}.", raw.source)])
    questions = [canonical([record.get(name) for name in question]) for _, record in rows]
    shown = item_names([("", canonical(record[request])) for _, record in rows])
    items = item_names(list(zip(shown, questions, strict=True)))
    runs = run_numbers(items)
    samples = [
        LogSample(
            item,
            {known: score_of(record.get(name)) for name, known in metrics.items()},
            run,
            row,
            {name: text for name, text in fields(record).items() if name not in metrics},
            digest_of(words_of),
            text_of(record.get(label)),
            text_of(record.get(answer)),
        )
        for (row, record), item, run, words_of in zip(rows, items, runs, questions, strict=True)
    ]
    notices = [_REPEATED] if any(runs) else []
    if words:
        notices.append(f"No scores, as they are no numbers: {listing(words)}.")
    return Log(raw.source, harness, why, "", "", tuple(samples), raw.sha256, notices=tuple(notices))


def is_score(value: object) -> bool:
    """Whether a cell is a number, yes or no, or nothing."""
    if isinstance(value, str):
        return value.strip().casefold() in _MISSING or score_of(value) is not None
    return value is None or isinstance(value, bool | int | float)


def score_of(value: object) -> float | None:
    """A cell as a number: true and yes are 1; None for nothing."""
    if not isinstance(value, str):
        return number_of(value)
    word = value.strip().casefold()
    if word in _WORDS:
        return _WORDS[word]
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
