"""The rows of a table: the columns that matter, which rows are analysed, and why others are not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.checking.cells import (
    Cells,
    Ids,
    Location,
    Mask,
    Numbers,
    read_cells,
    read_ids,
    read_numbers,
    value_counts,
)
from humeval_power.checking.collected import Kinds, read_kinds
from humeval_power.checking.roles import Columns, Role
from humeval_power.checking.submissions import (
    Refused,
    Rejected,
    marked_rows,
    refusal_words,
    refused_rows,
)

if TYPE_CHECKING:
    import pandas as pd


ROW_INDEX = "row"  # an index of this name holds the row numbers of the file

OF_ANOTHER_CRITERION = "criterion is not "  # rows that were not asked for, and no exclusion


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One line of the flow of rows: read, dropped (and why), analysed."""

    step: Literal["read", "dropped", "analysed"]
    rows: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExportFlow:
    """How ratings came out of a platform's export: which one it was, by what it was known, and the flow, first in
    rows of the export, then in ratings."""

    source: str
    platform: str
    known_by: str
    flow: tuple[FlowStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The columns of a table as codes and numbers, before any row is dropped; arrays of shape (n,).

    `refused` is what the columns of states say of rejected or unfinished work, `kinds` what a collected table says
    of repeats and attention checks.
    """

    ids: dict[Role, Ids]
    cells: Cells
    numbers: Numbers
    at: dict[Role, Location]
    refused: tuple[Refused, ...] = ()
    kinds: Kinds | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Which rows are analysed (`kept`), which belong to the criterion (`of_criterion`), which to it and the
    systems (`chosen`), all of shape (n,), and the flow that says why the others were dropped."""

    kept: Mask
    of_criterion: Mask
    chosen: Mask
    flow: tuple[FlowStep, ...]


def read_rows(table: pd.DataFrame, columns: Columns, *, missing: Collection[str], source: str) -> Rows:
    """The ids and ratings of every row, with the numbers that the rows have in the file."""
    numbering = np.arange(len(table), dtype=np.int64) + 2  # the header is row 1
    if table.index.name == ROW_INDEX:
        numbering = table.index.to_numpy(dtype=np.int64)
    at = {role: Location(source, name, numbering) for role, name in columns.of_role().items()}
    ids: dict[Role, Ids] = {
        role: read_ids(read_cells(table[place.column])) for role, place in at.items() if role != "rating"
    }
    cells = read_cells(table[columns.rating])
    others = columns.of_role().values()
    refused, kinds = refused_rows(table, but=others), read_kinds(table, but=others)
    return Rows(ids, cells, read_numbers(cells, missing=missing), at, refused, kinds)


def select_rows(
    rows: Rows,
    *,
    criterion: str | None,
    systems: tuple[str, str] | None,
    rejected_rows: Rejected | None = None,
) -> Selection:
    """Drop empty rows, repeats and attention checks, other criteria, other systems, rejected work where
    `rejected_rows` says so, and missing ratings, in this order."""
    empty = _empty(rows)
    apart = np.zeros_like(empty) if rows.kinds is None else rows.kinds.apart
    other_criterion = np.zeros_like(empty)
    if criterion is not None and "criterion" in rows.ids:
        other_criterion = ~_one_of(rows.ids["criterion"], (criterion,))
    drops = [("row is empty", empty)]
    if rows.kinds is not None:
        drops.append((rows.kinds.words(~empty), apart))
    drops.append((f"{OF_ANOTHER_CRITERION}{criterion!r}", other_criterion))
    of_criterion = ~(empty | apart | other_criterion)
    if systems is not None:
        ids = rows.ids["system"]
        other_system = ~_one_of(ids, systems) & (ids.code >= 0)
        drops.append((f"system is neither {systems[0]!r} nor {systems[1]!r}", other_system))
    of_study = chosen = ~np.logical_or.reduce([mask for _, mask in drops])
    marked = marked_rows(rows.refused, len(empty))
    if rejected_rows == "drop" and (chosen & marked).any():
        drops.append((f"rejected or unfinished ({refusal_words(rows.refused, chosen)})", marked))
        of_criterion = of_criterion & ~marked
        chosen = chosen & ~marked
    codes = value_counts(chosen & rows.numbers.missing, rows.cells)
    drops.append((f"rating is missing ({codes})", rows.numbers.missing))
    return Selection(chosen & ~rows.numbers.missing, of_criterion, of_study, _flow(drops, len(empty)))


def _flow(drops: list[tuple[str, Mask]], n_rows: int) -> tuple[FlowStep, ...]:
    flow = [FlowStep("read", n_rows)]
    kept = np.ones(n_rows, dtype=np.bool_)
    for reason, mask in drops:
        n_dropped = int((kept & mask).sum())
        if n_dropped:
            flow.append(FlowStep("dropped", n_dropped, reason))
        kept &= ~mask
    return (*flow, FlowStep("analysed", int(kept.sum())))


def _empty(rows: Rows) -> Mask:
    no_rating = np.array([not text.strip() for text in rows.cells.texts])[rows.cells.code]
    unnamed = [ids.code < 0 for ids in rows.ids.values()]
    if rows.kinds is not None:
        unnamed.append(rows.kinds.blank)
    empty: Mask = np.logical_and.reduce([no_rating, *unnamed])
    return empty


def _one_of(ids: Ids, names: tuple[str, ...]) -> Mask:
    return np.isin(ids.code, [code for code, name in enumerate(ids.names) if name in names])
