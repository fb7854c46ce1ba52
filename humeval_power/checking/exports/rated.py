"""Answers as numbers: words by the mapping, blank and missing ones left out and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from humeval_power.checking.cells import (
    COMMA_REMEDY,
    COMMA_RULE,
    LISTED,
    Cells,
    Mask,
    read_cells,
    read_numbers,
    value_counts,
)
from humeval_power.checking.columns import shortened
from humeval_power.checking.exports.mapping import Mapping
from humeval_power.checking.rows import FlowStep
from humeval_power.errors import Problem

COLUMN = "column of the rating"  # its place among the columns of ratings


def is_check(table: pd.DataFrame) -> Mask:
    """The rows that the export itself calls attention checks."""
    if "kind" not in table:
        return np.zeros(len(table), dtype=np.bool_)
    cells = read_cells(table["kind"])
    return np.array([text.strip() == "check" for text in cells.texts])[cells.code]


def rated(
    table: pd.DataFrame, mapping: Mapping, *, columns: Sequence[str], source: str
) -> tuple[pd.DataFrame, list[FlowStep], list[Problem]]:
    """Ratings as numbers: words by the mapping, blank and missing answers left out and counted."""
    cells = read_cells(table["rating"])
    words = {text.strip().casefold(): number for text, number in mapping.words.items()}
    meant = Cells(cells.code, tuple(_in_numbers(text, words) for text in cells.texts))
    numbers = read_numbers(meant, missing=("", *mapping.missing))
    blank = np.array([not text.strip() for text in cells.texts])[cells.code]
    scored = is_check(table) & blank  # an attention check whose answer the platform has scored itself
    blank &= ~scored
    missing = numbers.missing & ~blank & ~scored
    unknown = ~numbers.missing & np.isnan(numbers.value)
    problems = _unknown_words(
        table, unknown, cells, commas=numbers.decimal_comma, columns=columns, source=source
    )
    flow = [FlowStep("read", len(table), "cells for a rating")]
    if blank.any():
        flow.append(FlowStep("dropped", int(blank.sum()), "cell is blank"))
    if missing.any():
        flow.append(FlowStep("dropped", int(missing.sum()), f"no rating ({value_counts(missing, cells)})"))
    left = ~numbers.missing | scored
    flow.append(FlowStep("analysed", int(left.sum()), "ratings"))
    texts = np.array(meant.texts, dtype=object)[meant.code]
    return table.assign(rating=texts)[left], flow, problems


def _unknown_words(
    table: pd.DataFrame, unknown: Mask, cells: Cells, *, commas: Mask, columns: Sequence[str], source: str
) -> list[Problem]:
    """Answers that are no numbers and of which the mapping says nothing, each where it comes first."""
    rows = np.flatnonzero(unknown)
    if not len(rows):
        return []
    values, first, counts = np.unique(cells.code[rows], return_index=True, return_counts=True)
    said = ", ".join(f"{cells.texts[value]!r}" for value in values[np.argsort(-counts)])
    problems = []
    for place in np.argsort(first)[:LISTED]:
        row = int(rows[first[place]])
        times = f" It stands in {int(counts[place]):,} cells." if counts[place] > 1 else ""
        rule, remedy = "is no number.", "Say which number it is (words), or that it is no rating (missing)."
        if commas[row]:
            rule, remedy = COMMA_RULE, COMMA_REMEDY
        problems.append(
            Problem(
                f"{rule}{times}",
                remedy,
                place=source,
                row=int(table.index[row]),
                column=columns[int(table[COLUMN].iloc[row])],
                value=cells.texts[values[place]],
                has_value=True,
            )
        )
    if len(values) > LISTED:
        rule = f"{len(values):,} different answers are no numbers: {shortened(said, width=400)}."
        problems.append(
            Problem(rule, "Say for each which number it is, or that it is no rating.", place=source)
        )
    return problems


def _in_numbers(text: str, words: dict[str, float]) -> str:
    number = words.get(text.strip().casefold())
    return text.strip() if number is None else f"{number:.12g}"
