"""From an export as a platform writes it to a long table: one rating a row, and the flow of what left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import (
    LISTED,
    Cells,
    Location,
    Mask,
    cell_problems,
    read_cells,
    read_numbers,
    value_counts,
)
from humeval_power.checking.columns import close_to, shortened
from humeval_power.checking.exports.errors import RATING, ErrorWeights, summed_errors
from humeval_power.checking.exports.mapping import EXTRAS, OPTIONAL, Mapping, RatingColumns
from humeval_power.checking.exports.templates import (
    ASKED,
    FIELDS,
    SLOT,
    TOLD,
    VALUE,
    in_natural_order,
    literal,
)
from humeval_power.checking.rows import ROW_INDEX, FlowStep
from humeval_power.errors import InputError, Problem

_NEEDED = ("worker", "item", "system")
_OF_CODE = ("worker", "code")  # what is needed where outputs were shown by codes
_OF_COLUMN = (SLOT, ASKED)  # parts that a column of ratings has and no rating
_LONGER = "Put a mark between the parts that does not stand in them."
_COLUMN = "column of the rating"  # its place among the columns of ratings


@dataclass(frozen=True, slots=True, eq=False)
class LongTable:
    """Ratings one a row with the columns worker, item and system (or code), criterion (where there is one), rating
    and what was kept; the index is the row of the export. `flow` says what left, first in rows of the export, then
    in ratings. `used` are the columns that were read."""

    frame: pd.DataFrame
    flow: tuple[FlowStep, ...]
    used: tuple[str, ...]


def long_table(
    frame: pd.DataFrame, mapping: Mapping, *, source: str, asked: MappingType[str, str] | None = None
) -> LongTable:
    """Bring an export into the shape of one rating a row.

    frame : cells as text, numbered by an index named 'row' as the file counts its rows.
    asked : the question that stands over a column beside its name.

    Raises
    ------
    InputError
        Columns that are missing, answers in words that have no number, texts that do not come apart: every
        problem at once.
    """
    before: tuple[FlowStep, ...] = ()
    if mapping.errors is not None:
        frame, mapping, before = _of_errors(frame, mapping, mapping.errors, source=source)
    blocks = list(_blocks(frame, mapping, asked or {}))
    problems = _column_problems(frame, mapping, blocks, source=source)
    if problems:
        raise InputError(problems)
    kept, flow = _kept_rows(
        frame, mapping, what="outputs by their errors" if before else "rows of the export"
    )
    flow = (*before, *flow)
    rows = frame.loc[kept]  # once: a survey may have thousands of columns
    parts = [_block(rows, mapping, block, code=code) for code, block in enumerate(blocks)]
    table = pd.concat(parts) if len(parts) > 1 else parts[0]
    table = table.iloc[np.argsort(table.index.to_numpy(), kind="stable")]  # by row, then by column
    table, problems = _taken_apart(table, mapping, source=source)
    problems += _absent_parts(table, source=source)
    if problems:
        raise InputError(problems)
    columns = [block.column for block in blocks]
    table, more, problems = _rated(table, mapping, columns=columns, source=source)
    problems += _blank_parts(table, source=source)
    if problems:
        raise InputError(problems)
    if table.empty:
        lost = "; ".join(
            f"{step.rows:,}: {step.reason}" for step in (*flow, *more) if step.step == "dropped"
        )
        remedy = "Look at the filters and the columns of the mapping."
        raise InputError([Problem(f"no rating is left. What left it: {lost}.", remedy, place=source)])
    used = dict.fromkeys(name for block in blocks for name in (block.column, *block.columns.values()))
    return LongTable(_ordered(table), (*flow, *more), tuple(used))


@dataclass(frozen=True, slots=True)
class _Block:
    """One column of ratings: what its name says, and the columns that hold the rest."""

    column: str
    parts: dict[str, str]
    columns: dict[str, str]


def _blocks(frame: pd.DataFrame, mapping: Mapping, asked: MappingType[str, str]) -> Iterator[_Block]:
    names = in_natural_order([str(name) for name in frame.columns])
    for ratings in mapping.ratings:
        for name in names:
            parts = ratings.template.match(name)
            if parts is None:
                continue
            told = {ASKED: asked.get(name, ""), **_told(parts, ratings, mapping)}
            yield _Block(name, told, _places(parts, mapping))


def _told(parts: dict[str, str], ratings: RatingColumns, mapping: Mapping) -> dict[str, str]:
    told = {**parts, **mapping.slots.get(parts.get(SLOT, ""), {})}
    return told if ratings.criterion is None else {**told, "criterion": ratings.criterion}


def _places(parts: dict[str, str], mapping: Mapping) -> dict[str, str]:
    return {
        part: template.filled(parts)
        for part, template in mapping.columns.items()
        if part == SLOT or part not in parts
    }


def _column_problems(
    frame: pd.DataFrame, mapping: Mapping, blocks: list[_Block], *, source: str
) -> list[Problem]:
    """Columns that a mapping names and that are not there, that two templates name, and of which it does not say
    what they show."""
    known = [str(name) for name in frame.columns]
    problems = [
        Problem(
            f"no column is called {ratings.template.text!r}, which should hold ratings.",
            close_to(ratings.template.text, known),
            place=source,
        )
        for ratings in mapping.ratings
        if all(ratings.template.match(name) is None for name in known)
    ]
    wanted = [name for block in blocks for part, name in block.columns.items() if part not in OPTIONAL]
    wanted += [one.column for one in mapping.where] + list(mapping.checks) + list(mapping.keep)
    wanted += _split_columns(mapping)
    problems += [
        Problem(
            f"there is no column {name!r}, which the mapping names.", close_to(name, known), place=source
        )
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    return problems + _twice(mapping, blocks, source) + _untold(mapping, blocks, source)


def _twice(mapping: Mapping, blocks: list[_Block], source: str) -> list[Problem]:
    """Columns whose ratings would be read twice, or whose names come apart in more than one way."""
    times = Counter(block.column for block in blocks)
    templates = [one.template for one in mapping.ratings]
    problems = [
        Problem(
            "two of the templates of ratings fit this column.", "Let one alone fit it.", source, column=name
        )
        for name, number in times.items()
        if number > 1
    ]
    return problems + [
        Problem(f"{one.text!r} fits this name in more than one way.", _LONGER, source, column=name)
        for one in templates
        for name in times
        if one.is_ambiguous(name)
    ]


def _untold(mapping: Mapping, blocks: list[_Block], source: str) -> list[Problem]:
    """Columns of ratings of which something is said that is not said of this one: a slot that is left out."""
    split = {part for template in mapping.split.values() for part in template.parts}
    said = [split | set(block.parts) | set(block.columns) for block in blocks]
    known = set().union(*said)
    problems = [
        Problem(
            f"nothing says what {' and '.join(missing)} it shows, as of the other columns of ratings.",
            "Say it for its slot, or leave the column out of the template.",
            place=source,
            column=block.column,
        )
        for block, parts in zip(blocks, said, strict=True)
        if (missing := [part for part in (*_NEEDED, "code") if part in known and part not in parts])
    ]
    return problems[:LISTED]


def _of_errors(
    frame: pd.DataFrame, mapping: Mapping, errors: ErrorWeights, *, source: str
) -> tuple[pd.DataFrame, Mapping, tuple[FlowStep, ...]]:
    """Rows that are errors as rows that are outputs, with the mapping of these, and the flow of the former."""
    one_rating = replace(mapping, errors=None, where=(), ratings=(RatingColumns(literal(RATING)),))
    rated = frame.assign(**{RATING: ""})
    blocks = list(_blocks(rated, one_rating, {}))
    problems = _column_problems(rated, replace(one_rating, where=mapping.where), blocks, source=source)
    if problems:
        raise InputError(problems)
    kept, flow = _kept_rows(frame, mapping, what="errors, and outputs without any")
    of = tuple(template.filled({}) for part, template in mapping.columns.items() if part not in EXTRAS)
    outputs = summed_errors(frame.loc[kept], errors, of=of, source=source)
    return outputs, one_rating, flow


def _kept_rows(frame: pd.DataFrame, mapping: Mapping, *, what: str) -> tuple[Mask, tuple[FlowStep, ...]]:
    """The rows that the conditions leave, and the flow of rows."""
    kept = np.ones(len(frame), dtype=np.bool_)
    flow = [FlowStep("read", len(frame), what)]
    for one in mapping.where:
        cells = read_cells(frame[one.column])
        meant = {text.casefold() for text in one.values}
        among = np.array([text.strip().casefold() in meant for text in cells.texts])[cells.code]
        gone = kept & (among if one.drop else ~among)
        if gone.any():
            flow.append(
                FlowStep("dropped", int(gone.sum()), f"{one.column} is {value_counts(gone, cells)}")
            )
        kept &= ~gone
    return kept, tuple(flow)


def _block(rows: pd.DataFrame, mapping: Mapping, block: _Block, *, code: int) -> pd.DataFrame:
    made: dict[str, object] = {part: rows[name] for part, name in block.columns.items() if name in rows}
    told = (*FIELDS, *(part for part in TOLD if part != SLOT))
    made |= {part: text for part, text in block.parts.items() if part in told}
    texts = [part for part in _OF_COLUMN if part in mapping.split and part in block.parts]
    made |= {_of_column(part): block.parts[part] for part in texts}
    cells = rows[block.column]
    if VALUE in block.parts:  # a mark in the column of a rating
        cells = cells.where(cells.fillna("").astype(str).str.strip() == "", block.parts[VALUE])
    made["rating"] = cells
    for name, right in mapping.checks.items():
        made[f"check:{name}"] = _passed(rows[name], right)
    made |= {name: rows[name] for name in (*mapping.keep, *_split_columns(mapping)) if name not in made}
    table = pd.DataFrame({**made, _COLUMN: code}, index=rows.index)
    table.index.name = ROW_INDEX
    return table


def _of_column(part: str) -> str:
    return f"{part} of the column"


def _split_columns(mapping: Mapping) -> list[str]:
    return [name for name in mapping.split if name not in (*FIELDS, *_OF_COLUMN)]


def _passed(column: pd.Series, right: str) -> pd.Series:
    return column.fillna("").astype(str).str.strip().str.casefold() == right.strip().casefold()


def _taken_apart(
    table: pd.DataFrame, mapping: Mapping, *, source: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """The parts that stand together in one text."""
    problems: list[Problem] = []
    texts_of = {name: _of_column(name) if name in _OF_COLUMN else name for name in mapping.split}
    for said, template in mapping.split.items():
        name = texts_of[said]
        if name not in table:
            rule = f"{said} is to be taken apart, and nothing says where it stands."
            problems.append(Problem(rule, "Name its column.", place=source))
            continue
        cells = read_cells(table[name])
        found = [template.match(text.strip()) for text in cells.texts]
        blank = np.array([not text.strip() for text in cells.texts])[cells.code]
        failed = np.array([one is None for one in found])[cells.code] & ~blank
        at = Location(source, said, table.index.to_numpy(dtype=np.int64))
        remedy = "Change the template, or leave these rows out."
        problems += cell_problems(
            failed, cells, at=at, rule=f"is not of the shape {template.text!r}.", remedy=remedy
        )
        unclear = np.array([template.is_ambiguous(text.strip()) for text in cells.texts])[cells.code]
        rule = f"comes apart by {template.text!r} in more than one way."
        problems += cell_problems(unclear, cells, at=at, rule=rule, remedy=_LONGER)
        for part in template.parts:
            texts = np.array([None if one is None else one[part] for one in found], dtype=object)
            table = table.assign(**{part: texts[cells.code]})
    done = [name for said, name in texts_of.items() if said not in (*FIELDS, *mapping.keep)]
    return table.drop(columns=[name for name in done if name in table]), problems


def _absent_parts(table: pd.DataFrame, *, source: str) -> list[Problem]:
    absent = [part for part in _needed(table) if part not in table]
    if not absent:
        return []
    rule = f"nothing says what the {' and the '.join(absent)} of a rating is."
    remedy = (
        "Name a column, a part of the names of the columns of ratings in braces, a text to take apart, or "
        "say it for each slot; or name the code that outputs were shown by."
    )
    return [Problem(rule, remedy, place=source)]


def _needed(table: pd.DataFrame) -> tuple[str, ...]:
    return _OF_CODE if "code" in table else _NEEDED


def _blank_parts(table: pd.DataFrame, *, source: str) -> list[Problem]:
    """Ratings of which the cell of the worker, the item, the system or the code is blank."""
    problems = []
    for part in _needed(table):
        cells = read_cells(table[part])
        blank = np.array([not text.strip() for text in cells.texts])[cells.code]
        if part != "worker":
            blank &= ~_is_check(table)
        if blank.any():
            rule = f"{int(blank.sum()):,} ratings have no {part}: its cell is blank."
            remedy = "Leave these rows out (drop_rows), or take another column."
            row = int(table.index[int(np.argmax(blank))])
            problems.append(Problem(rule, remedy, place=source, row=row))
    return problems


def _is_check(table: pd.DataFrame) -> Mask:
    """The rows that the export itself calls attention checks."""
    if "kind" not in table:
        return np.zeros(len(table), dtype=np.bool_)
    cells = read_cells(table["kind"])
    return np.array([text.strip() == "check" for text in cells.texts])[cells.code]


def _rated(
    table: pd.DataFrame, mapping: Mapping, *, columns: Sequence[str], source: str
) -> tuple[pd.DataFrame, list[FlowStep], list[Problem]]:
    """Ratings as numbers: words by the mapping, blank and missing answers left out and counted."""
    cells = read_cells(table["rating"])
    words = {text.strip().casefold(): number for text, number in mapping.words.items()}
    meant = Cells(cells.code, tuple(_in_numbers(text, words) for text in cells.texts))
    numbers = read_numbers(meant, missing=("", *mapping.missing))
    blank = np.array([not text.strip() for text in cells.texts])[cells.code]
    scored = _is_check(table) & blank  # an attention check whose answer the platform has scored itself
    blank &= ~scored
    missing = numbers.missing & ~blank & ~scored
    unknown = ~numbers.missing & np.isnan(numbers.value)
    problems = _unknown_words(table, unknown, cells, columns=columns, source=source)
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
    table: pd.DataFrame, unknown: Mask, cells: Cells, *, columns: Sequence[str], source: str
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
        problems.append(
            Problem(
                f"is no number.{times}",
                "Say which number it is (words), or that it is no rating (missing).",
                place=source,
                row=int(table.index[row]),
                column=columns[int(table[_COLUMN].iloc[row])],
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


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """The columns in one order: what a rating is first, then what was kept."""
    table = table.drop(columns=_COLUMN)
    first = [name for name in (*FIELDS, "rating", *EXTRAS) if name in table]
    return table[[*first, *(name for name in table if name not in first)]]
