"""The columns of an export that hold ratings, what their names say, and what is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import (
    LISTED,
    read_cells,
    read_numbers,
)
from humeval_power.checking.columns import bare, close_to
from humeval_power.checking.exports.mapping import (
    ASKED,
    FIELDS,
    OPTIONAL,
    SLOT,
    VALUE,
    Condition,
    Export,
    Mapping,
    RatingColumns,
    in_natural_order,
)
from humeval_power.errors import Problem

NEEDED = ("worker", "item", "system")
OF_CODE = ("worker", "code")  # what is needed where outputs were shown by codes
OF_COLUMN = (SLOT, ASKED)  # parts that a column of ratings has and no rating
_COMMENTS = {
    "explanation",
    "justification",
    "note",
    "notes",
    "rationale",
    "reason",
    "remark",
    "remarks",
    "why",
}
_FREE = 5  # different answers, of which more than half stand once
LONGER = "Put a mark between the parts that does not stand in them."


@dataclass(frozen=True, slots=True)
class RatingBlock:
    """One column of ratings: what its name says, and the columns that hold the rest."""

    column: str
    parts: dict[str, str]
    columns: dict[str, str]


def rating_blocks(
    frame: pd.DataFrame, mapping: Mapping, values: MappingType[str, str]
) -> Iterator[RatingBlock]:
    names = in_natural_order([str(name) for name in frame.columns])
    named = {one.filled({}) for one in mapping.columns.values() if not one.parts}
    named |= {
        *mapping.keep,
        *mapping.checks,
        *split_columns(mapping),
        *(one.column for one in mapping.where),
    }
    claimed = named - {one.template.filled({}) for one in mapping.ratings if not one.template.parts}
    for ratings in mapping.ratings:
        for name in names:
            parts = ratings.template.match(name)
            if parts is None or name in claimed:
                continue
            fields = {ASKED: values.get(name, ""), **_said_of(parts, ratings, mapping)}
            yield RatingBlock(name, fields, _places(parts, mapping))


def answers_in_words(
    frame: pd.DataFrame, mapping: Mapping, ratings: Sequence[RatingColumns]
) -> tuple[Counter[str], int]:
    """Answers in these columns that are no numbers, by how often they stand there; and how many are numbers."""
    counts: Counter[str] = Counter()
    n_numbers = 0
    for block in rating_blocks(frame, replace(mapping, ratings=tuple(ratings)), {}):
        if VALUE in block.parts:
            n_numbers += len(frame)
            continue
        cells = read_cells(frame[block.column])
        numbers = read_numbers(cells, missing=("", *mapping.missing))
        words = ~numbers.missing & np.isnan(numbers.value)
        counts.update(cells.texts[code].strip() for code in cells.code[words])
        n_numbers += int((~numbers.missing & ~words).sum())
    return counts, n_numbers


def criteria_in_words(frame: pd.DataFrame, mapping: Mapping) -> dict[str, Counter[str]]:
    """The answers of criteria that are all in words, where those of others are numbers; by criterion."""
    kinds = dict(_kinds_of_criteria(frame, mapping))
    if not any(n_numbers for _, n_numbers in kinds.values()):
        return {}
    return {name: words for name, (words, n_numbers) in kinds.items() if words and not n_numbers}


def _kinds_of_criteria(
    frame: pd.DataFrame, mapping: Mapping
) -> Iterator[tuple[str, tuple[Counter[str], int]]]:
    column = _column_of_criteria(mapping)
    if column is None:
        for one in mapping.ratings:
            if one.criterion:
                yield one.criterion, answers_in_words(frame, mapping, [one])
    elif column in frame:
        for name, rows in frame.groupby(column, sort=False):
            yield str(name), answers_in_words(rows, mapping, mapping.ratings)


def _column_of_criteria(mapping: Mapping) -> str | None:
    """The column that says which criterion a row is of; None where there is none."""
    template = mapping.columns.get("criterion")
    return None if template is None or template.parts else template.filled({})


def without_criteria(mapping: Mapping, names: Collection[str]) -> Mapping:
    """The mapping without the ratings of these criteria."""
    column = _column_of_criteria(mapping)
    if column is not None and names:
        return replace(mapping, where=(*mapping.where, Condition(column, tuple(names), drop=True)))
    return replace(mapping, ratings=tuple(one for one in mapping.ratings if one.criterion not in names))


def is_free_text(criterion: str, answers: Counter[str]) -> bool:
    """Whether answers are comments: by what they are called, or because hardly any comes again."""
    word = bare(criterion)
    named = word in _COMMENTS or word.endswith(("comment", "comments", "feedback"))
    return named or (len(answers) >= _FREE and len(answers) > answers.total() / 2)


def _said_of(parts: dict[str, str], ratings: RatingColumns, mapping: Mapping) -> dict[str, str]:
    fields = {**parts, **mapping.slots.get(parts.get(SLOT, ""), {})}
    return fields if ratings.criterion is None else {**fields, "criterion": ratings.criterion}


def _places(parts: dict[str, str], mapping: Mapping) -> dict[str, str]:
    return {
        part: template.filled(parts)
        for part, template in mapping.columns.items()
        if part == SLOT or part not in parts
    }


def column_problems(
    frame: pd.DataFrame, mapping: Mapping, blocks: list[RatingBlock], *, source: str
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
    wanted += split_columns(mapping)
    problems += [
        Problem(
            f"there is no column {name!r}, which the mapping names.", close_to(name, known), place=source
        )
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    return problems + _twice(mapping, blocks, source) + _unread_columns(mapping, blocks, source)


def _twice(mapping: Mapping, blocks: list[RatingBlock], source: str) -> list[Problem]:
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
        Problem(f"{one.text!r} fits this name in more than one way.", LONGER, source, column=name)
        for one in templates
        for name in times
        if one.is_ambiguous(name)
    ]


def _unread_columns(mapping: Mapping, blocks: list[RatingBlock], source: str) -> list[Problem]:
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
        if (missing := [part for part in (*NEEDED, "code") if part in known and part not in parts])
    ]
    return problems[:LISTED]


def of_column(part: str) -> str:
    return f"{part} of the column"


def split_columns(mapping: Mapping) -> list[str]:
    return [name for name in mapping.split if name not in (*FIELDS, *OF_COLUMN)]


# Exports of which only who answered what is taken: their ratings are put out of sight before anything is read.

GIVEN = "1"  # what stands for any rating


def without_ratings(export: Export, mapping: Mapping | None = None) -> Export:
    """The export with the same mark for every rating that was given, also where its column is not there.

    What a mapping calls missing stays missing. Ratings that are sums of errors, or marks in columns of points, are
    left as they are: whether there is one is all that is counted afterwards.
    """
    used = mapping or export.mapping
    if used is None or export.people or used.errors is not None:
        return export
    missing = {"", *(text.strip().casefold() for text in used.missing)}
    frame = export.frame
    marked = {}
    for block in rating_blocks(frame, used, export.questions):
        if VALUE not in block.parts:
            cells = read_cells(frame[block.column])
            given = np.array([text.strip().casefold() not in missing for text in cells.texts])[cells.code]
            marked[block.column] = np.where(given, GIVEN, "")
    whole = [one.template.filled({}) for one in used.ratings if not one.template.parts]
    marked |= {name: np.full(len(frame), GIVEN) for name in whole if name not in frame}
    return replace(export, frame=frame.assign(**marked))
