"""Tables of results that people keep: claims of improvement, leaderboards, counts of a comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from humeval_power.checking.columns import Column, find_columns
from humeval_power.comparisons.accuracy.agreement import OverlapRegression, ValidationPairs
from humeval_power.comparisons.accuracy.claims import Claim, Submission, SystemPair, moment
from humeval_power.comparisons.accuracy.counts import PairedCounts
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.json_text import read_object
from humeval_power.files.tables import (
    Floats,
    NumberColumn,
    SourceTable,
    read_numbers_of,
    read_table,
    texts_of,
)

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
    wanted = [*([_SIZE] if sizes is None else []), BASELINE, _gain(table)]
    optional = [replace(_TASK, required=sizes is not None), replace(_NAME, required=False)]
    columns = find_columns(table.frame.columns, [*optional, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE)
    baseline = values["baseline"]
    effects = values["improvement"] if "improvement" in values else values["accuracy"] - baseline
    check_accuracies(table, baseline / unit, effects / unit, column=columns["baseline"])
    tasks = texts_of(table, columns.get("task")) or ["all"] * len(table.frame)
    labels = texts_of(table, columns.get("name")) or tasks
    n_items = values["n"] if sizes is None else _sizes_of(table, columns["task"], tasks, read_table(sizes))
    rows = zip(tasks, n_items, baseline / unit, effects / unit, labels, strict=True)
    read = [
        Claim(task, int(size), float(base), float(effect), label)
        for task, size, base, effect, label in rows
    ]
    return read, unit != 1, len(whole.frame) - len(read)


def _gain(table: SourceTable) -> NumberColumn:
    """What says how much better a system is: the improvement, or its accuracy where the table has that alone."""
    names = [str(name) for name in table.frame.columns]
    return (
        ACCURACY
        if any(map(ACCURACY.fits, names)) and not any(map(IMPROVEMENT.fits, names))
        else IMPROVEMENT
    )


def _claimed(table: SourceTable) -> SourceTable:
    """The rows that claim an improvement on the best so far: all, where no column says which."""
    columns = find_columns(table.frame.columns, _FLAGS, source=table.source).of
    kept, problems = np.ones(len(table.frame), dtype=bool), []
    for column in columns.values():
        for place, (row, cell) in enumerate(
            zip(table.frame.index, texts_of(table, column) or [], strict=True)
        ):
            kept[place] &= cell.lower() in _YES
            if cell.lower() not in (*_YES, *_NO):
                rule, remedy = "is neither yes nor no.", "Write Y or N, or rename the column."
                problems.append(table.problem(rule, remedy, row, column, cell))
    refuse(problems)
    if columns and not kept.any():
        rule = f"no row has yes under {' and '.join(columns.values())}: there is no claim to judge."
        raise refusal(rule, "Correct the column, or leave it out.", place=table.source)
    return table._replace(frame=table.frame[kept])


def _sizes_of(claims: SourceTable, column: str, tasks: Sequence[str], table: SourceTable) -> list[int]:
    """The items of each claim's task, by the table of sizes."""
    columns = find_columns(
        table.frame.columns, [replace(_TASK, required=True), _SIZE], source=table.source
    ).of
    known: dict[str, int] = {}
    problems = []
    sized = zip(
        table.frame.index,
        texts_of(table, columns["task"]) or [],
        read_numbers_of(table, [_SIZE])["n"],
        strict=True,
    )
    for row, task, size in sized:
        if known.setdefault(task, int(size)) != int(size):
            rule, remedy = f"has {known[task]:,} items in another row.", "Keep one of both."
            problems.append(table.problem(rule, remedy, row, columns["task"], task))
    for row, task in zip(claims.frame.index, tasks, strict=True):
        if task not in known:
            rule, remedy = f"is not in {table.source}.", "Add the task and its items there."
            problems.append(claims.problem(rule, remedy, row, column, task))
    refuse(problems)
    return [known[task] for task in tasks]


def read_leaderboard(path: str | Path) -> tuple[list[Submission], bool]:
    """Submissions from a table with the columns system, date, accuracy and perhaps validation and key (what a
    table of pairs calls them), and whether it was in per cent."""
    table = read_table(path)
    wanted = [ACCURACY, _VALIDATION]
    columns = find_columns(table.frame.columns, [_SUBMISSION, _DATE, _KEY, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, ACCURACY, _VALIDATION)
    scores = values["accuracy"] / unit
    validation = values.get("validation", np.full(len(scores), math.nan)) / unit
    names, dates = texts_of(table, columns["name"]) or [], texts_of(table, columns["date"]) or []
    column = columns["date"]
    problems = []
    for row, date in zip(table.frame.index, dates, strict=True):
        try:
            moment(date)
        except InputError as error:
            problems += [
                replace(each, place=table.source, row=int(row), column=column) for each in error.problems
            ]
    refuse(problems)
    keys = texts_of(table, columns.get("key")) or [""] * len(names)
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
    columns = find_columns(table.frame.columns, [name, *COUNTS], source=table.source).of
    values = read_numbers_of(table, COUNTS)
    names = texts_of(table, columns.get("name")) or [f"row {row}" for row in table.frame.index]
    both = values.get("both", np.full(len(names), math.nan))
    counted, problems = [], []
    rows = zip(table.frame.index, names, values["only_b"], values["only_a"], values["n"], both, strict=True)
    for row, label, b, c, n, agreed in rows:
        try:
            counts = PairedCounts(int(b), int(c), int(n), None if math.isnan(agreed) else int(agreed))
            counted.append((label, counts))
        except InputError as error:
            problems += [Problem(each.rule, each.remedy, table.source, int(row)) for each in error.problems]
    refuse(problems)
    return counted


def check_accuracies(table: SourceTable, baseline: Floats, gain: Floats, *, column: str) -> None:
    """Raise InputError, naming the rows, where a baseline and an improvement make no accuracy: they may stand in
    two units."""
    problems = [
        table.problem(
            f"and an improvement of {by:+.4g} make an accuracy of {before + by:.4g}.",
            "Correct the row, or write all columns in one unit: shares from 0 to 1, or per cent.",
            *(row, column, float(before)),
        )
        for row, before, by in zip(table.frame.index, baseline, gain, strict=True)
        if not -ROUNDED <= before + by <= 1 + ROUNDED
    ]
    refuse(problems)


def unit_of(table: SourceTable, values: Mapping[str, Floats], *columns: NumberColumn) -> float:
    """100 for a table in per cent, which has an accuracy above 1 in the first of the columns; else 1."""
    first = values[columns[0].name]
    unit = 100.0 if (first > 1).any() else 1.0
    shares = (first > 0) & (first <= 1)
    if unit != 1 and shares.any():
        column = find_columns(table.frame.columns, [columns[0]], source=table.source).of[columns[0].name]
        rule = "is a share, and other rows are in per cent."
        remedy = "Write all accuracies in one unit: shares from 0 to 1, or per cent."
        cells = zip(table.frame.index[shares], first[shares], strict=True)
        raise InputError([table.problem(rule, remedy, row, column, float(value)) for row, value in cells])
    read_numbers_of(table, [replace(each, high=unit) for each in columns])
    return unit


# Tables of pairs of systems, and the record of a regression that was fitted to them.

_AGREEMENT = NumberColumn(
    ("agreement", "overlap", "agree", "observed_agreement"), low=0, may_be_percent=True
)
_HINT = "Write it by: humeval-power compare accuracy overlap TABLE -o overlap.json."


def read_system_pairs(path: str | Path) -> tuple[list[SystemPair], bool]:
    """Pairs from a table with the columns baseline, improvement (or accuracy) and agreement, and whether it was in
    per cent (a number above 1).

    Raises
    ------
    InputError
        Missing or ambiguous columns, cells that are no numbers, pairs that cannot be; all of them.
    """
    table = read_table(path)
    wanted = [BASELINE, _gain(table), _AGREEMENT]
    columns = find_columns(table.frame.columns, wanted, source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE, _AGREEMENT)
    baseline, agreement = values["baseline"] / unit, values["agreement"] / unit
    gain = values["improvement"] / unit if "improvement" in values else values["accuracy"] / unit - baseline
    check_accuracies(table, baseline, gain, column=columns["baseline"])
    pairs, problems = [], []
    for row, before, by, alike in zip(table.frame.index, baseline, gain, agreement, strict=True):
        pairs.append(SystemPair(float(min(before, before + by)), float(abs(by)), float(alike)))
        least, most = abs(2 * before + by - 1) - 2 * ROUNDED, 1 - abs(by) + 1e-9
        if not least <= alike <= most:
            rule = f"the accuracies are {abs(by):.4g} apart, so that at most {1 - abs(by):.4g} can agree."
            if alike < least:
                rule = f"with accuracies of {before:.4g} and {before + by:.4g} at least {least:.4g} agree."
            problems.append(table.problem(rule, "Correct the row.", row, columns["agreement"], alike))
    refuse(problems)
    return pairs, unit != 1


def read_overlap(path: str | Path) -> OverlapRegression:
    """The regression in a record that `compare accuracy overlap` wrote.

    Raises
    ------
    InputError
        A file that is no such record, or whose numbers are none.
    """
    place, record = str(path), read_object(path, hint=_HINT)
    kept = record.get("overlap")
    if not str(record.get("schema", "")).startswith("humeval_power/accuracy_overlap/") or not isinstance(
        kept, dict
    ):
        raise refusal("is no record of a regression of agreement.", _HINT, place=place)
    seen = kept.get("seen")
    ends = seen if isinstance(seen, list) and len(seen) == 2 else [None, None]
    fields = ("constant", "per_accuracy", "per_difference")
    named: dict[str, Any] = {
        **{name: kept.get(name) for name in fields},
        "seen from": ends[0],
        "seen to": ends[1],
    }
    problems = [
        Problem(
            "must be a finite number.",
            _HINT,
            place,
            None,
            f"overlap.{name}",
            value,
            has_value=True,
            noun="field",
        )
        for name, value in named.items()
        if not (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))
    ]
    refuse(problems)
    constant, per_accuracy, per_difference, low, high = (float(value) for value in named.values())
    return OverlapRegression(Path(path).stem, constant, per_accuracy, per_difference, (low, high))


# A table of pairs of submissions: on how many items of the validation set exactly one of them is right.

_FIRST = Column(("first", "system_a", "a", "i"))
_SECOND = Column(("second", "system_b", "b", "j"))
_DIFFERING = NumberColumn(
    ("differing", "disagree", "disagreements", "disagreement", "dev_disagree", "validation_disagree"),
    low=0,
    whole=True,
)
_ROUNDED = 0.001  # an accuracy may be rounded to a tenth of a point, at both systems


def read_pairs(
    path: str | Path, submissions: Sequence[Submission], *, n_validation: int
) -> ValidationPairs:
    """The pairs of a leaderboard's submissions from a table with the columns first, second and differing.

    Parameters
    ----------
    path : a table; a row for each pair. The submissions are called by their key, or by their name.
    submissions : as `read_leaderboard` reads them.
    n_validation : items in the validation set.

    Raises
    ------
    InputError
        All problems of the table: columns, cells that are no counts, submissions that are not in the leaderboard,
        pairs that contradict each other or the accuracies on the validation set.
    """
    table = read_table(path)
    columns = find_columns(table.frame.columns, [_FIRST, _SECOND, _DIFFERING], source=table.source).of
    counts = read_numbers_of(table, [_DIFFERING])["differing"]
    first, second = (texts_of(table, columns[name]) or [] for name in ("first", "second"))
    known = {each.called: each for each in submissions}
    problems = [
        Problem(
            f"{times} submissions of the leaderboard are called {name}, so that its pairs are not clear.",
            "Give the leaderboard a column 'key' that differs between them, and name the pairs by it.",
            place=table.source,
        )
        for name, times in Counter(each.called for each in submissions).items()
        if times > 1
    ]
    differing: dict[frozenset[str], int] = {}
    for row, a, b, value in zip(table.frame.index, first, second, counts, strict=True):
        count, pair = int(value), frozenset((a, b))
        column, shown, rule, remedy = columns["differing"], f"{count}", "", ""
        if a not in known or b not in known:
            shown, role = (b, "second") if a in known else (a, "first")
            column, rule, remedy = (
                columns[role],
                "is no submission of the leaderboard.",
                "Correct the name.",
            )
        elif a == b:
            column, shown, rule, remedy = columns["second"], b, "is paired with itself.", "Delete the row."
        elif count > n_validation:
            rule = f"more items than the {n_validation:,} of the validation set."
            remedy = "Correct the count, or --n-validation."
        elif differing.setdefault(pair, count) != count:
            rule, remedy = f"the pair has {differing[pair]:,} in another row.", "Keep one of both."
        else:  # an accuracy that is not known says nothing
            gap = abs(known[a].validation - known[b].validation) * n_validation
            if gap > count + 1 + _ROUNDED * n_validation:
                rule = f"fewer items than the accuracies on the validation set are apart, {gap:,.0f}."
                remedy = "Correct the count, the accuracies, or --n-validation."
        if rule:
            problems.append(table.problem(rule, remedy, row, column, shown))
    refuse(problems)
    return ValidationPairs(n_validation, differing, table.source)
