"""Tables of published comparisons, one a row, with blanks for what is not reported."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import Column, find_columns, listing, shortened
from humeval_power.comparisons.survey.survey import PublishedComparison
from humeval_power.errors import InputError, Problem
from humeval_power.files.tables import (
    Floats,
    NumberColumn,
    SourceTable,
    read_numbers_of,
    read_table,
    texts_of,
)

_UNREPORTED = ("unspecified", "not specified", "not reported", "unreported", "unknown", "unclear", "n.a.")
_NOTHING = frozenset(word.casefold() for word in (*MISSING_CODES, *_UNREPORTED))
_YES = frozenset({"yes", "y", "true", "1", "1.0", "x"})
_NO = frozenset({"no", "n", "false", "0", "0.0"})
_NAME = Column(("name", "comparison", "id"), required=False)
_PAPER = Column(("paper", "link", "study"), required=False)
_KIND = Column(("type", "kind", "response"), required=False)
_TESTED = Column(("tested", "has test", "significance test"), required=False)
_BOLD = Column(("bold", "bold text", "starred"), required=False)
_WORDS = (_NAME, _PAPER, _KIND, _TESTED, _BOLD)


def _optional(
    *names: str, low: float = -math.inf, high: float = math.inf, whole: bool = False
) -> NumberColumn:
    return NumberColumn(
        names, low=low, high=high, whole=whole, required=False, may_be_blank=True, blanks=_UNREPORTED
    )


_COLUMNS = (
    _optional("effect", "difference", "diff"),
    _optional("low", "scale low", "scale min"),
    _optional("high", "scale high", "scale max"),
    _optional(
        "items", "n items", "n", "number of items", "examples", "number of examples", low=2, whole=True
    ),
    _optional(
        "workers", "n workers", "number of workers", "annotators", "raters", "tot ann", low=1, whole=True
    ),
    _optional("ratings_per_item", "ratings", "annotations per item", "ann per ex", low=1, whole=True),
    _optional("p", "p value", low=0, high=1),
)


def read_comparisons(path: str | Path) -> tuple[list[PublishedComparison], tuple[str, ...]]:
    """The comparisons of a table, and what was assumed in reading it.

    Raises
    ------
    InputError
        A table without any of the columns, or every cell that breaks a rule, with its row.
    """
    table = read_table(path)
    empty = (table.frame.isna() | (table.frame.astype(str).map(str.strip) == "")).all(axis=1)
    table = table._replace(frame=table.frame[~empty])
    columns = find_columns(table.frame.columns, (*_COLUMNS, *_WORDS), source=table.source).of
    _refuse_strange(table, columns)
    fields = {column.name: texts_of(table, columns.get(column.name)) for column in _WORDS}
    problems: list[Problem] = []
    answers = {}
    for column in (_TESTED, _BOLD):
        answers[column.name], wrong = _answers(table, columns.get(column.name))
        problems += wrong
    numbers = _numbers(table, problems)
    comparisons = [
        _comparison(
            {name: float(values[row]) for name, values in numbers.items()},
            {name: None if texts is None else _word(texts[row]) for name, texts in fields.items()},
            {name: given[row] for name, given in answers.items()},
            label=f"row {label}",
        )
        for row, label in enumerate(table.frame.index)
    ]
    blank = (f"Blank rows are left out: {int(empty.sum()):,}.",) if empty.any() else ()
    return comparisons, tuple(f"{table.source}: {notice}" for notice in (*blank, *_notices(table, columns)))


def _numbers(table: SourceTable, problems: Sequence[Problem]) -> dict[str, Floats]:
    """The columns of numbers, NaN where nothing is told."""
    try:
        result = read_numbers_of(table, _COLUMNS)
    except InputError as error:
        raise InputError([*error.problems, *problems]) from None
    absent = np.full(len(table.frame), math.nan)
    numbers = {column.name: result.get(column.name, absent) for column in _COLUMNS}
    wrong = _scale_problems(table, numbers["effect"], numbers["low"], numbers["high"])
    if wrong or problems:
        raise InputError([*wrong, *problems])
    return numbers


def _refuse_strange(table: SourceTable, columns: Mapping[str, str]) -> None:
    """Refuse a table of something else: without a column that says what a comparison found or how large it was."""
    if set(columns) - {_NAME.name, _PAPER.name}:
        return
    names = ", ".join(column.name for column in (*_COLUMNS, _KIND, _TESTED, _BOLD))
    raise InputError(
        f"{table.source}: no column tells anything of a comparison. Name some {names}; there are: "
        f"{listing([str(name) for name in table.frame.columns])}."
    )


def _notices(table: SourceTable, columns: Mapping[str, str]) -> list[str]:
    """What was noticed in reading, and the columns that say nothing here."""
    unused = [str(name) for name in table.frame.columns if str(name) not in columns.values()]
    said = [f"Not used: {listing(unused, limit=6)}."] if unused else []
    read_as = [
        f"Column {shortened(values)!r} is read as {name}."
        for name, values in columns.items()
        if values != name
    ]
    return [*table.notices, *read_as, *said]


def _word(text: str) -> str | None:
    return None if text.casefold() in _NOTHING else text


def _answers(table: SourceTable, column: str | None) -> tuple[list[bool | None], list[Problem]]:
    """Yes, no, or not told, for each row."""
    texts = texts_of(table, column)
    if texts is None:
        return [None] * len(table.frame), []
    words = [text.casefold() for text in texts]
    problems = [
        table.problem("must be yes or no.", "Correct it, or leave the cell blank.", row, str(column), text)
        for row, text, word in zip(table.frame.index, texts, words, strict=True)
        if word not in _YES | _NO | _NOTHING
    ]
    return [True if word in _YES else False if word in _NO else None for word in words], problems


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
        table.problem(
            f"the effect is larger than its scale is wide, {width[at]:g}.",
            "Give the scale in columns low and high, or the effect on [0, 1].",
            *(rows[at], "effect", float(effect[at])),
        )
        for at in outside
    ]


def _comparison(
    values: dict[str, float],
    words: dict[str, str | None],
    answers: dict[str, bool | None],
    *,
    label: str,
) -> PublishedComparison:
    known = {name: value if math.isfinite(value) else None for name, value in values.items()}

    def count(name: str) -> int | None:
        value = known[name]
        return None if value is None else int(value)

    return PublishedComparison(
        words["name"] or words["paper"] or label,
        effect=known["effect"],
        low=known["low"],
        high=known["high"],
        items=count("items"),
        workers=count("workers"),
        ratings_per_item=count("ratings_per_item"),
        p_value=known["p"],
        paper=words["paper"],
        kind=words["type"],
        tested=answers["tested"],
        bold=answers["bold"],
    )
