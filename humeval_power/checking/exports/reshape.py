"""From an export as a platform writes it to a long table: one rating a row, and the flow of what left."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import (
    Location,
    Mask,
    cell_problems,
    read_cells,
    value_counts,
)
from humeval_power.checking.collected import KIND
from humeval_power.checking.exports.errors import RATING, ErrorWeights, summed_errors
from humeval_power.checking.exports.mapping import EXTRAS, Mapping, RatingColumns
from humeval_power.checking.exports.rated import COLUMN, is_check, rated
from humeval_power.checking.exports.rating_blocks import (
    LONGER,
    NEEDED,
    OF_CODE,
    OF_COLUMN,
    Block,
    column_problems,
    of_column,
    rating_blocks,
    split_columns,
)
from humeval_power.checking.exports.templates import (
    FIELDS,
    SLOT,
    TOLD,
    VALUE,
    literal,
)
from humeval_power.checking.rows import ROW_INDEX, FlowStep
from humeval_power.errors import InputError, Problem


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
    blocks = list(rating_blocks(frame, mapping, asked or {}))
    problems = column_problems(frame, mapping, blocks, source=source)
    if problems:
        raise InputError(problems)
    kept, flow = kept_rows(
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
    table, more, problems = rated(table, mapping, columns=columns, source=source)
    problems += _blank_parts(table, source=source)
    n_rated = len(table)
    table, wrong = _with_checks(table, rows, mapping, source=source)
    if problems or wrong:
        raise InputError([*problems, *wrong])
    if not n_rated:
        lost = "; ".join(
            f"{step.rows:,}: {step.reason}" for step in (*flow, *more) if step.step == "dropped"
        )
        remedy = "Look at the filters and the columns of the mapping."
        raise InputError([Problem(f"no rating is left. What left it: {lost}.", remedy, place=source)])
    used = dict.fromkeys(name for block in blocks for name in (block.column, *block.columns.values()))
    return LongTable(_ordered(table), (*flow, *more), tuple(used))


def _of_errors(
    frame: pd.DataFrame, mapping: Mapping, errors: ErrorWeights, *, source: str
) -> tuple[pd.DataFrame, Mapping, tuple[FlowStep, ...]]:
    """Rows that are errors as rows that are outputs, with the mapping of these, and the flow of the former."""
    one_rating = replace(mapping, errors=None, where=(), ratings=(RatingColumns(literal(RATING)),))
    rated = frame.assign(**{RATING: ""})
    blocks = list(rating_blocks(rated, one_rating, {}))
    problems = column_problems(rated, replace(one_rating, where=mapping.where), blocks, source=source)
    if problems:
        raise InputError(problems)
    kept, flow = kept_rows(frame, mapping, what="errors, and outputs without any")
    of = tuple(template.filled({}) for part, template in mapping.columns.items() if part not in EXTRAS)
    outputs = summed_errors(frame.loc[kept], errors, of=of, source=source)
    return outputs, one_rating, flow


def kept_rows(frame: pd.DataFrame, mapping: Mapping, *, what: str) -> tuple[Mask, tuple[FlowStep, ...]]:
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


def _block(rows: pd.DataFrame, mapping: Mapping, block: Block, *, code: int) -> pd.DataFrame:
    made: dict[str, object] = {part: rows[name] for part, name in block.columns.items() if name in rows}
    told = (*FIELDS, *(part for part in TOLD if part != SLOT))
    made |= {part: text for part, text in block.parts.items() if part in told}
    texts = [part for part in OF_COLUMN if part in mapping.split and part in block.parts]
    made |= {of_column(part): block.parts[part] for part in texts}
    cells = rows[block.column]
    if VALUE in block.parts:  # a mark in the column of a rating
        cells = cells.where(cells.fillna("").astype(str).str.strip() == "", block.parts[VALUE])
    made["rating"] = cells
    made |= {name: rows[name] for name in (*mapping.keep, *split_columns(mapping)) if name not in made}
    table = pd.DataFrame({**made, COLUMN: code}, index=rows.index)
    table.index.name = ROW_INDEX
    return table


def _with_checks(
    table: pd.DataFrame, rows: pd.DataFrame, mapping: Mapping, *, source: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """The ratings, and below those of each row of the export the questions with one right answer, as rows of the
    kind 'check'; one that was not answered is none."""
    if not mapping.checks:
        return table, []
    worker = mapping.columns.get("worker")
    if worker is None or worker.parts:
        rule = "questions with one right answer need a column of the worker who gave it."
        return table, [Problem(rule, "Name it in [columns], or leave out [checks].", place=source)]
    asked = []
    for name, right in mapping.checks.items():
        answers = rows[name].fillna("").astype(str).str.strip()
        answered = (answers != "").to_numpy()
        passed = answers.str.casefold() == right.strip().casefold()
        made = {"worker": rows[worker.filled({})], KIND: "check", "code": name}
        said = pd.DataFrame({**made, "passed": passed.astype(int).astype(str)}, index=rows.index)
        asked.append(said[answered])
    rated = table if KIND in table else table.assign(**{KIND: "rating"})
    both = pd.concat([rated.astype(object), *asked]).astype(object).fillna("").astype(str)
    both.index.name = ROW_INDEX
    return both.iloc[np.argsort(both.index.to_numpy(), kind="stable")], []


def _taken_apart(
    table: pd.DataFrame, mapping: Mapping, *, source: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """The parts that stand together in one text."""
    problems: list[Problem] = []
    texts_of = {name: of_column(name) if name in OF_COLUMN else name for name in mapping.split}
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
        problems += cell_problems(unclear, cells, at=at, rule=rule, remedy=LONGER)
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
    return OF_CODE if "code" in table else NEEDED


def _blank_parts(table: pd.DataFrame, *, source: str) -> list[Problem]:
    """Ratings of which the cell of the worker, the item, the system or the code is blank."""
    problems = []
    for part in _needed(table):
        cells = read_cells(table[part])
        blank = np.array([not text.strip() for text in cells.texts])[cells.code]
        if part != "worker":
            blank &= ~is_check(table)
        if blank.any():
            rule = f"{int(blank.sum()):,} ratings have no {part}: its cell is blank."
            remedy = "Leave these rows out (drop_rows), or take another column."
            row = int(table.index[int(np.argmax(blank))])
            problems.append(Problem(rule, remedy, place=source, row=row))
    return problems


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """The columns in one order: what a rating is first, then what was kept."""
    table = table.drop(columns=COLUMN)
    first = [name for name in (*FIELDS, "rating", *EXTRAS) if name in table]
    return table[[*first, *(name for name in table if name not in first)]]
