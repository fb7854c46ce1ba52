"""Tables of published comparisons, one a row, with blanks for what is not reported."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from humeval_power.checking.columns import Column, find_columns
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of, texts_of
from humeval_power.interfaces.formats.tables import SourceTable, read_table
from humeval_power.planning.survey import Comparison

_NAME = Column(("name", "paper", "comparison", "id"), required=False)


def _optional(
    *names: str, low: float = -math.inf, high: float = math.inf, whole: bool = False
) -> NumberColumn:
    return NumberColumn(names, low=low, high=high, whole=whole, required=False, may_be_blank=True)


_COLUMNS = (
    _optional("effect", "difference", "diff"),
    _optional("low", "scale low", "scale min"),
    _optional("high", "scale high", "scale max"),
    _optional("items", "n items", "n", low=2, whole=True),
    _optional("workers", "n workers", "annotators", "raters", low=2, whole=True),
    _optional("ratings_per_item", "ratings", low=1, whole=True),
    _optional("p", "p value", low=0, high=1),
)


def read_comparisons(path: str | Path) -> tuple[list[Comparison], tuple[str, ...]]:
    """The comparisons of a table, and what was assumed in reading it.

    Raises
    ------
    InputError
        Every cell that breaks a rule, with its row.
    """
    table = read_table(path)
    found = read_numbers_of(table, _COLUMNS)
    absent = np.full(len(table.frame), math.nan)
    columns = {column.names[0]: found.get(column.names[0], absent) for column in _COLUMNS}
    problems = _scale_problems(table, columns["effect"], columns["low"], columns["high"])
    if problems:
        raise InputError(problems)
    comparisons = [
        _comparison(label, {name: float(values[row]) for name, values in columns.items()})
        for row, label in enumerate(_labels(table))
    ]
    return comparisons, tuple(f"{table.source}: {notice}" for notice in table.notices)


def _scale_problems(table: SourceTable, effect: Floats, low: Floats, high: Floats) -> list[Problem]:
    rows = table.frame.index.to_numpy()
    width = np.where(np.isfinite(low) & np.isfinite(high), high - low, 1.0)
    problems = [
        Problem("high must be above low.", "Correct the scale.", place=table.source, row=int(rows[at]))
        for at in np.flatnonzero(width <= 0)
    ]
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((width > 0) & (np.abs(effect) > width))
    return problems + [
        Problem(
            f"the effect is larger than its scale is wide, {width[at]:g}.",
            "Give the scale in columns low and high, or the effect on [0, 1].",
            place=table.source,
            row=int(rows[at]),
            column="effect",
            value=float(effect[at]),
            has_value=True,
        )
        for at in outside
    ]


def _labels(table: SourceTable) -> list[str]:
    column = find_columns(table.frame.columns, [_NAME], source=table.source).of.get(_NAME.name)
    return texts_of(table, column) or [f"row {row}" for row in table.frame.index]


def _comparison(label: str, values: dict[str, float]) -> Comparison:
    known = {name: value if math.isfinite(value) else None for name, value in values.items()}

    def count(name: str) -> int | None:
        value = known[name]
        return None if value is None else int(value)

    return Comparison(
        label,
        effect=known["effect"],
        low=known["low"],
        high=known["high"],
        items=count("items"),
        workers=count("workers"),
        ratings_per_item=count("ratings_per_item"),
        p_value=known["p"],
    )
