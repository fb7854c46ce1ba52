"""Tables of results that people keep: claims of improvement, leaderboards, counts of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from humeval_power.checking.columns import Column, find_columns
from humeval_power.errors import InputError, Problem
from humeval_power.inference.accuracy.counts import PairedCounts
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of, texts_of
from humeval_power.interfaces.formats.tables import SourceTable, read_table
from humeval_power.planning.accuracy.claims import Claim
from humeval_power.planning.accuracy.leaderboard import Submission, moment

_SIZE = NumberColumn(("n", "size", "n_items", "items", "test_size"), low=1, whole=True)
BASELINE = NumberColumn(
    ("baseline", "baseline_accuracy", "previous_best", "sota"), low=0, may_be_percent=True
)
IMPROVEMENT = NumberColumn(("improvement", "difference", "delta", "effect"), may_be_percent=True)
ACCURACY = NumberColumn(
    ("accuracy", "test", "test_accuracy", "model_accuracy", "em", "test_em"), low=0, may_be_percent=True
)
_VALIDATION = NumberColumn(
    ("validation", "dev", "dev_accuracy", "validation_accuracy", "dev_em"),
    required=False,
    low=0,
    may_be_blank=True,
    may_be_percent=True,
)
_NAME = Column(("name", "system", "model", "paper", "claim", "submission"))
_SUBMISSION = replace(_NAME, names=(*_NAME.names, "description"))
_KEY = Column(("key", "index", "id", "number"), required=False)
_TASK = Column(("task", "dataset", "benchmark"), required=False)
_FLAGS = (  # a row where one of them says no is no claim
    Column(("claimed", "claimed_improvement", "Claimed Improvement (Bolded or in text)"), required=False),
    Column(("sota_comparison", "compares_with_sota"), required=False),
)
_YES, _NO = ("y", "yes", "true", "1"), ("n", "no", "false", "0")
_DATE = Column(("date", "day", "time"))
ROUNDED = 0.0005  # of an accuracy: half of the last digit that tables in per cent have
COUNTS = (
    NumberColumn(("only_b", "b"), low=0, whole=True),
    NumberColumn(("only_a", "c"), low=0, whole=True),
    NumberColumn(("n", "size", "n_items", "items", "test_size"), low=0, whole=True),
    NumberColumn(("both", "both_right"), low=0, whole=True, required=False, may_be_blank=True),
)


def read_claims(path: str | Path, *, sizes: str | Path | None = None) -> tuple[list[Claim], bool, int]:
    """Claims from a table.

    Parameters
    ----------
    path : a table with the columns task, n, baseline and improvement (or accuracy), and perhaps name; where a
        column claimed or sota_comparison says no, the row is no claim of an improvement on the best so far.
    sizes : a table with the columns task and n; then `path` needs no n.

    Returns
    -------
    tuple
        The claims; whether the table was in per cent (an accuracy above 1); how many rows are no claims.

    Raises
    ------
    InputError
        Missing or ambiguous columns; cells that are no numbers, or neither yes nor no; tasks without a size; no
        claim that is left.
    """
    whole = read_table(path)
    table = _claimed(whole)
    names = list(table.frame.columns)
    tells_score = any(ACCURACY.fits(str(name)) for name in names)
    tells_gain = any(IMPROVEMENT.fits(str(name)) for name in names)
    gain = [BASELINE, *([IMPROVEMENT] if tells_gain or not tells_score else [ACCURACY])]
    wanted = gain if sizes is not None else [_SIZE, *gain]
    optional = [replace(_TASK, required=sizes is not None), replace(_NAME, required=False)]
    found = find_columns(names, [*optional, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE)
    baseline = values["baseline"]
    effects = values["improvement"] if "improvement" in values else values["accuracy"] - baseline
    check_accuracies(table, baseline / unit, effects / unit, column=found["baseline"])
    tasks = texts_of(table, found.get("task")) or ["all"] * len(table.frame)
    labels = texts_of(table, found.get("name")) or tasks
    n_items = values["n"] if sizes is None else _sizes_of(table, found["task"], tasks, read_table(sizes))
    rows = zip(tasks, n_items, baseline / unit, effects / unit, labels, strict=True)
    read = [
        Claim(task, int(size), float(base), float(effect), label)
        for task, size, base, effect, label in rows
    ]
    return read, unit != 1, len(whole.frame) - len(read)


def _claimed(table: SourceTable) -> SourceTable:
    """The rows that claim an improvement on the best so far: all, where no column says which."""
    found = find_columns(table.frame.columns, _FLAGS, source=table.source).of
    kept, problems = np.ones(len(table.frame), dtype=bool), []
    for column in found.values():
        for place, (row, cell) in enumerate(
            zip(table.frame.index, texts_of(table, column) or [], strict=True)
        ):
            kept[place] &= cell.lower() in _YES
            if cell.lower() not in (*_YES, *_NO):
                rule, remedy = "is neither yes nor no.", "Write Y or N, or rename the column."
                problems.append(Problem(rule, remedy, table.source, int(row), column, cell, has_value=True))
    if problems:
        raise InputError(problems)
    if found and not kept.any():
        rule = f"no row has yes under {' and '.join(found.values())}: there is no claim to judge."
        raise InputError([Problem(rule, "Correct the column, or leave it out.", place=table.source)])
    return table._replace(frame=table.frame[kept])


def _sizes_of(claims: SourceTable, column: str, tasks: Sequence[str], table: SourceTable) -> list[int]:
    """The items of each claim's task, by the table of sizes."""
    found = find_columns(
        table.frame.columns, [replace(_TASK, required=True), _SIZE], source=table.source
    ).of
    known: dict[str, int] = {}
    problems = []
    sized = zip(
        table.frame.index,
        texts_of(table, found["task"]) or [],
        read_numbers_of(table, [_SIZE])["n"],
        strict=True,
    )
    for row, task, size in sized:
        if known.setdefault(task, int(size)) != int(size):
            rule, remedy = f"has {known[task]:,} items in another row.", "Keep one of both."
            problems.append(
                Problem(rule, remedy, table.source, int(row), found["task"], task, has_value=True)
            )
    for row, task in zip(claims.frame.index, tasks, strict=True):
        if task not in known:
            rule, remedy = f"is not in {table.source}.", "Add the task and its items there."
            problems.append(Problem(rule, remedy, claims.source, int(row), column, task, has_value=True))
    if problems:
        raise InputError(problems)
    return [known[task] for task in tasks]


def read_leaderboard(path: str | Path) -> tuple[list[Submission], bool]:
    """Submissions from a table with the columns system, date, accuracy and perhaps validation and key (what a
    table of pairs calls them), and whether it was in per cent."""
    table = read_table(path)
    wanted = [ACCURACY, _VALIDATION]
    found = find_columns(table.frame.columns, [_SUBMISSION, _DATE, _KEY, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, ACCURACY, _VALIDATION)
    scores = values["accuracy"] / unit
    validation = values.get("validation", np.full(len(scores), math.nan)) / unit
    names, dates = texts_of(table, found["name"]) or [], texts_of(table, found["date"]) or []
    _check_dates(table, dates, found["date"])
    keys = texts_of(table, found.get("key")) or [""] * len(names)
    rows = zip(names, dates, scores, validation, keys, strict=True)
    return [
        Submission(name, day, float(score), float(dev), key) for name, day, score, dev, key in rows
    ], unit != 1


def read_counts(path: str | Path) -> list[tuple[str, PairedCounts]]:
    """Comparisons from a table with the columns b (B alone right), c (A alone right), n, and perhaps both
    and a name."""
    return counts_of(read_table(path))


def has_counts(table: SourceTable) -> bool:
    """Whether a table has the columns b, c and n, so that its rows are comparisons and not items."""
    return all(any(column.fits(str(name)) for name in table.frame.columns) for column in COUNTS[:3])


def counts_of(table: SourceTable) -> list[tuple[str, PairedCounts]]:
    """The same from a table that has been read."""
    name = replace(_NAME, required=False)
    found = find_columns(table.frame.columns, [name, *COUNTS], source=table.source).of
    values = read_numbers_of(table, COUNTS)
    names = texts_of(table, found.get("name")) or [f"row {row}" for row in table.frame.index]
    both = values.get("both", np.full(len(names), math.nan))
    counted, problems = [], []
    rows = zip(table.frame.index, names, values["only_b"], values["only_a"], values["n"], both, strict=True)
    for row, label, b, c, n, agreed in rows:
        try:
            counts = PairedCounts(int(b), int(c), int(n), None if math.isnan(agreed) else int(agreed))
            counted.append((label, counts))
        except InputError as error:
            problems += [Problem(each.rule, each.remedy, table.source, int(row)) for each in error.problems]
    if problems:
        raise InputError(problems)
    return counted


def check_accuracies(table: SourceTable, baseline: Floats, gain: Floats, *, column: str) -> None:
    """Raise InputError, naming the rows, where a baseline and an improvement make no accuracy: they may stand in
    two units."""
    problems = [
        Problem(
            f"and an improvement of {by:+.4g} make an accuracy of {before + by:.4g}.",
            "Correct the row, or write all columns in one unit: shares from 0 to 1, or per cent.",
            table.source,
            int(row),
            column,
            float(before),
            has_value=True,
        )
        for row, before, by in zip(table.frame.index, baseline, gain, strict=True)
        if not -ROUNDED <= before + by <= 1 + ROUNDED
    ]
    if problems:
        raise InputError(problems)


def _check_dates(table: SourceTable, dates: Sequence[str], column: str) -> None:
    """Raise InputError, naming the rows, where submissions cannot be put in order."""
    problems = []
    for row, date in zip(table.frame.index, dates, strict=True):
        try:
            moment(date)
        except InputError as error:
            problems += [
                replace(each, place=table.source, row=int(row), column=column) for each in error.problems
            ]
    if problems:
        raise InputError(problems)


def unit_of(table: SourceTable, values: Mapping[str, Floats], *columns: NumberColumn) -> float:
    """100 for a table in per cent, which has an accuracy above 1 in the first of the columns; else 1."""
    first = values[columns[0].name]
    unit = 100.0 if (first > 1).any() else 1.0
    shares = (first > 0) & (first <= 1)
    if unit != 1 and shares.any():
        raise InputError(
            [
                Problem(
                    "is a share, and other rows are in per cent.",
                    "Write all accuracies in one unit: shares from 0 to 1, or per cent.",
                    table.source,
                    int(row),
                    find_columns(table.frame.columns, [columns[0]], source=table.source).of[
                        columns[0].name
                    ],
                    float(value),
                    has_value=True,
                )
                for row, value in zip(table.frame.index[shares], first[shares], strict=True)
            ]
        )
    read_numbers_of(table, [replace(column, high=unit) for column in columns])
    return unit
