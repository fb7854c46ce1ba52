"""Tables of results that people keep: claims of improvement, leaderboards, counts and answers of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem
from humeval_power.inference.accuracy import PairedCounts, paired_counts
from humeval_power.interfaces.formats.lines import read_predictions, right_answers
from humeval_power.interfaces.formats.tables import SourceTable, read_table
from humeval_power.planning.accuracy.claims import Claim
from humeval_power.planning.accuracy.leaderboard import Submission

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {
    "task": ("task", "dataset", "benchmark"),
    "n": ("n", "size", "n_items", "items", "test_size"),
    "baseline": ("baseline", "baseline_accuracy", "previous_best", "sota"),
    "improvement": ("improvement", "difference", "delta", "effect"),
    "accuracy": ("accuracy", "test", "test_accuracy", "em"),
    "validation": ("validation", "dev", "dev_accuracy", "validation_accuracy"),
    "name": ("name", "system", "model", "paper", "claim", "submission"),
    "date": ("date", "day", "time"),
    "only_b": ("only_b", "b"),
    "only_a": ("only_a", "c"),
    "both": ("both", "both_right"),
}


def read_claims(path: str | Path) -> tuple[list[Claim], bool]:
    """Claims from a table with the columns task, n, baseline and improvement (or accuracy), and whether
    it was in per cent (an accuracy above 1).

    Raises
    ------
    InputError
        Missing columns or cells that are no numbers, all of them.
    """
    table = read_table(path)
    columns = _Columns(table)
    names = columns.text("name", optional=True)
    tasks = columns.text("task", optional=True) or ["all"] * len(table.frame)
    sizes, baselines = columns.numbers("n"), columns.numbers("baseline")
    effects = columns.numbers("improvement", optional=columns.has("accuracy"))
    if not effects:
        scores = columns.numbers("accuracy")
        effects = [score - base for score, base in zip(scores, baselines, strict=False)]
    percent = any(value > 1 for value in baselines)
    unit = 100.0 if percent else 1.0
    columns.check("n", sizes, lambda value: value >= 1 and value == int(value), "a whole number from 1.")
    columns.check("baseline", baselines, lambda value: 0 <= value <= unit, "an accuracy.")
    columns.end()
    return [
        Claim(task, int(size), base / unit, effect / unit, names[row] if names else task)
        for row, (task, size, base, effect) in enumerate(zip(tasks, sizes, baselines, effects, strict=True))
    ], percent


def read_leaderboard(path: str | Path) -> tuple[list[Submission], bool]:
    """Submissions from a table with the columns system, date, accuracy and perhaps validation, and
    whether it was in per cent."""
    table = read_table(path)
    columns = _Columns(table)
    names, dates = columns.text("name"), columns.text("date")
    scores = columns.numbers("accuracy")
    validation = columns.numbers("validation", optional=True) or [math.nan] * len(scores)
    percent = any(value > 1 for value in scores)
    unit = 100.0 if percent else 1.0
    for role, values in (("accuracy", scores), ("validation", validation)):
        columns.check(role, values, lambda value: 0 <= value <= unit, "an accuracy.")
    columns.end()
    rows = zip(names, dates, scores, validation, strict=True)
    return [Submission(name, date, score / unit, dev / unit) for name, date, score, dev in rows], percent


def read_counts(path: str | Path) -> list[tuple[str, PairedCounts]]:
    """Comparisons from a table with the columns b (B alone right), c (A alone right), n, and perhaps both
    and a name."""
    table = read_table(path)
    columns = _Columns(table)
    names = columns.text("name", optional=True) or [f"row {row}" for row in table.frame.index]
    numbers = [columns.numbers(role) for role in ("only_b", "only_a", "n")]
    both = columns.numbers("both", optional=True)
    for role, values in zip(("only_b", "only_a", "n"), numbers, strict=True):
        columns.check(role, values, lambda value: value >= 0 and value == int(value), "a whole number.")
    columns.end()
    found, problems = [], []
    for place, (b, c, n) in enumerate(zip(*numbers, strict=True)):
        try:
            counts = PairedCounts(int(b), int(c), int(n), int(both[place]) if both else None)
            found.append((names[place], counts))
        except InputError as error:
            row = int(table.frame.index[place])
            problems += [Problem(each.rule, each.remedy, table.source, row) for each in error.problems]
    if problems:
        raise InputError(problems)
    return found


def read_answers(
    path_a: str | Path, path_b: str | Path, *, labels: str | Path | None = None, column: str | None = None
) -> tuple[PairedCounts, list[str]]:
    """Two files of predictions beside the right answers, counted, and what is remarkable about them.

    Without `labels` the files themselves say right or wrong.
    """
    a, b = (read_predictions(path, column=column) for path in (path_a, path_b))
    gold = None if labels is None else read_predictions(labels)
    if not a.values:
        raise InputError(f"{a.source} has no predictions.")
    right_a, right_b = right_answers([a, b], gold)
    blank = sum(not text for each in (a, b) for text in each.values)
    remarks = [f"{blank:,} predictions are blank: they count as wrong."] if blank else []
    return paired_counts(right_b, right_a), remarks


class _Columns:
    """Columns found by name; problems are gathered and raised together."""

    def __init__(self, table: SourceTable) -> None:
        self._frame: pd.DataFrame = table.frame
        self._source = table.source
        self._known = {str(name).strip().casefold().replace(" ", "_"): str(name) for name in table.frame}
        self._problems: list[Problem] = []

    def has(self, role: str) -> bool:
        return self._name(role) is not None

    def text(self, role: str, *, optional: bool = False) -> list[str]:
        name = self._name(role)
        if name is None:
            self._missing(role, optional)
            return []
        return [str(cell).strip() for cell in self._frame[name]]

    def numbers(self, role: str, *, optional: bool = False) -> list[float]:
        name = self._name(role)
        if name is None:
            self._missing(role, optional)
            return []
        values = []
        for row, cell in self._frame[name].items():
            text = str(cell).strip()
            if optional and not text:
                values.append(math.nan)
                continue
            try:
                value = float(text.removesuffix("%").removeprefix("+"))
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                self._problem(int(str(row)), name, cell, "this is not a number.")
            values.append(value)
        return values

    def check(self, role: str, values: Sequence[float], rule: Callable[[float], bool], wanted: str) -> None:
        name = self._name(role)
        if name is None or len(values) != len(self._frame):
            return
        for row, value in zip(self._frame.index, values, strict=True):
            if math.isfinite(value) and not rule(value):
                self._problem(int(row), name, value, f"this must be {wanted}")

    def end(self) -> None:
        if self._problems:
            raise InputError(self._problems)

    def _name(self, role: str) -> str | None:
        return next((self._known[name] for name in _NAMES[role] if name in self._known), None)

    def _missing(self, role: str, optional: bool) -> None:
        if not optional:
            rule = (
                f"there is no column {_NAMES[role][0]!r}; there are: {listing(list(self._known.values()))}."
            )
            remedy = f"It may be called {listing(_NAMES[role])}."
            self._problems.append(Problem(rule, remedy, self._source))

    def _problem(self, row: int, column: str, value: object, rule: str) -> None:
        self._problems.append(
            Problem(rule, "Correct the cell.", self._source, row, column, value, has_value=True)
        )
