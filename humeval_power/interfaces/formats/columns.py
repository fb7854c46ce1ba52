"""Tables whose columns are numbers: found by name, checked, all problems at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import Cells, Location, cell_problems, read_cells, read_numbers
from humeval_power.checking.columns import Column, find_columns
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.magnitudes import MOST_COUNTED
from humeval_power.ratings import MISSING_CODES

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NumberColumn(Column):
    """A column of numbers to look for.

    low, high : limits that values must keep, included.
    whole : whether values are counts.
    may_be_blank : whether cells of it may be empty.
    may_be_percent : whether a number may be followed by a per cent sign.
    blanks : words that say as much as an empty cell, beside the usual ones.
    """

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    may_be_blank: bool = False
    may_be_percent: bool = False
    blanks: tuple[str, ...] = ()


def read_numbers_of(found: SourceTable, wanted: Sequence[NumberColumn]) -> dict[str, Floats]:
    """The columns by their first name, each (n_rows,) with NaN for a blank cell; an optional column that
    is absent is left out.

    Raises
    ------
    InputError
        Every missing or ambiguous column, or every cell that breaks a rule, with its row.
    """
    columns = find_columns(found.frame.columns, wanted, source=found.source).of
    problems: list[Problem] = []
    values: dict[str, Floats] = {}
    for column in wanted:
        if column.name in columns:
            values[column.name], wrong = _checked(found, columns[column.name], column)
            problems += wrong
    if problems:
        raise InputError(problems)
    return values


def texts_of(found: SourceTable, column: str | None) -> list[str] | None:
    """The cells of a column as text without blanks around them; None where there is no column."""
    return None if column is None else [str(cell).strip() for cell in found.frame[column]]


def _checked(found: SourceTable, name: str, column: NumberColumn) -> tuple[Floats, list[Problem]]:
    cells = read_cells(found.frame[name])
    texts = tuple(text.strip().removesuffix("%") for text in cells.texts)
    numbers = read_numbers(
        Cells(cells.code, texts) if column.may_be_percent else cells,
        missing=(*MISSING_CODES, *column.blanks),
    )
    value, blank = numbers.value, numbers.missing
    at = Location(found.source, name, found.frame.index.to_numpy(dtype=np.int64))
    no_number = ~blank & np.isnan(value)
    with np.errstate(invalid="ignore"):
        outside = (value < column.low) | (value > column.high)
        uncountable = ~outside & column.whole & (value > MOST_COUNTED)
        broken = np.isfinite(value) & (value != np.round(value)) & column.whole & ~outside
    rules = [
        (no_number, "is not a number.", _remedy(column)),
        (outside, _range(column), "Correct the value."),
        (uncountable, f"is too large: at most {MOST_COUNTED:,} can be counted.", "Correct the value."),
        (broken, "must be a whole number.", "Correct the value."),
    ]
    if not column.may_be_blank:
        rules.append(
            (blank, "the cell is blank, or stands for a missing value.", "Fill it in, or delete the row.")
        )
    problems = [
        problem
        for bad, rule, remedy in rules
        for problem in cell_problems(bad, cells, at=at, rule=rule, remedy=remedy)
    ]
    return np.asarray(value), problems


def _remedy(column: NumberColumn) -> str:
    written = "a whole number such as 12" if column.whole else "a decimal number such as 0.25"
    return f"Write {written}{', or leave the cell blank' if column.may_be_blank else ''}."


def _range(column: NumberColumn) -> str:
    if math.isinf(column.high):
        return f"must be at least {column.low:g}."
    if math.isinf(column.low):
        return f"must be at most {column.high:g}."
    return f"must lie from {column.low:g} to {column.high:g}."
