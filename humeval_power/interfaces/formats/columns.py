"""Tables whose columns are numbers: found by name, checked, all problems at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import Location, cell_problems, read_cells, read_numbers
from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import MISSING_CODES

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column to look for.

    names : what it may be called, without regard to case, blanks and punctuation; the first is the one
        to tell people.
    low, high : limits that values must keep, included.
    whole : whether values are counts.
    required : whether the column must be there; `may_be_blank` whether cells of it may be empty.
    """

    names: tuple[str, ...]
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    required: bool = True
    may_be_blank: bool = False


def read_numbers_of(found: SourceTable, wanted: Sequence[NumberColumn]) -> dict[str, Floats]:
    """The columns by their first name, each (n_rows,) with NaN for a blank cell; an optional column that
    is absent is left out.

    Raises
    ------
    InputError
        Every missing or doubled column and every cell that breaks a rule, with its row.
    """
    problems: list[Problem] = []
    values: dict[str, Floats] = {}
    columns = [str(name) for name in found.frame.columns]
    for column in wanted:
        matching = [place for place, name in enumerate(columns) if _bare(name) in map(_bare, column.names)]
        if len(matching) > 1:
            names = listing([columns[place] for place in matching])
            rule = f"several columns could be {column.names[0]!r}: {names}."
            problems.append(Problem(rule, "Rename all but one.", place=found.source))
        elif matching:
            numbers, wrong = _checked(found, matching[0], columns[matching[0]], column)
            values[column.names[0]] = numbers
            problems += wrong
        elif column.required:
            rule = f"there is no column {column.names[0]!r}. The columns are: {listing(columns)}."
            also = f" (or {', '.join(column.names[1:])})" if column.names[1:] else ""
            problems.append(Problem(rule, f"Name one {column.names[0]}{also}.", place=found.source))
    if problems:
        raise InputError(problems)
    return values


def _checked(
    found: SourceTable, place: int, name: str, column: NumberColumn
) -> tuple[Floats, list[Problem]]:
    cells = read_cells(found.frame.iloc[:, place])
    numbers = read_numbers(cells, missing=MISSING_CODES)
    value, blank = numbers.value, numbers.missing
    at = Location(found.source, name, found.frame.index.to_numpy(dtype=np.int64))
    no_number = ~blank & np.isnan(value)
    with np.errstate(invalid="ignore"):
        outside = (value < column.low) | (value > column.high)
        broken = np.isfinite(value) & (value != np.round(value)) & column.whole & ~outside
    rules = [
        (no_number, "is not a number.", "Write a decimal number such as 0.25, or leave the cell blank."),
        (outside, _range(column), "Correct the value."),
        (broken, "must be a whole number.", "Correct the value."),
    ]
    if not column.may_be_blank:
        rules.append((blank, "the cell is blank.", "Fill it in, or delete the row."))
    problems = [
        problem
        for bad, rule, remedy in rules
        for problem in cell_problems(bad, cells, at=at, rule=rule, remedy=remedy)
    ]
    return np.asarray(value), problems


def _range(column: NumberColumn) -> str:
    if math.isinf(column.high):
        return f"must be at least {column.low:g}."
    if math.isinf(column.low):
        return f"must be at most {column.high:g}."
    return f"must lie from {column.low:g} to {column.high:g}."


def _bare(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
