"""Two systems shown side by side, one pair a row: which stood where, and which won."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    Cells,
    Ids,
    Location,
    cell_problems,
    read_cells,
    read_ids,
    variant_problems,
)
from humeval_power.checking.columns import Column, bare, shortened
from humeval_power.errors import Problem
from humeval_power.interfaces.formats.tables import SourceTable

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SIDE_A = {"a", "modela", "systema", "left", "first", "optiona", "responsea"}
_SIDE_B = {"b", "modelb", "systemb", "right", "second", "optionb", "responseb"}
_TIE = {
    "tie",
    "ties",
    "tied",
    "draw",
    "tiebothbad",
    "bothbad",
    "tiebothgood",
    "both",
    "neither",
    "equal",
    "same",
}
FIRST = Column(("system_a", "model_a", "a", "first", "left", "option_a", "system_1", "model_1"))
SECOND = Column(("system_b", "model_b", "b", "second", "right", "option_b", "system_2", "model_2"))


def shown_systems(
    table: SourceTable, first: str, second: str, problems: list[Problem]
) -> tuple[tuple[str, ...], Codes, Codes]:
    """All systems in the order of their names, and their codes in both columns."""
    columns = [read_cells(table.frame[name]) for name in (first, second)]
    ids = [read_ids(cells) for cells in columns]
    for cells, codes, name in zip(columns, ids, (first, second), strict=True):
        at = location(table, name)
        rule, remedy = "the system is blank.", "Fill it in, or delete the row."
        problems += cell_problems(codes.code < 0, cells, at=at, rule=rule, remedy=remedy)
        problems += variant_problems(codes, codes.code >= 0, role="system", at=at)
    names = tuple(sorted({*ids[0].names, *ids[1].names}))
    problems += _variants_across(table, ids, (first, second))
    place = {name: code for code, name in enumerate(names)}
    codes_of = [
        np.array([*(place[name] for name in each.names), -1], dtype=np.int64)[each.code] for each in ids
    ]
    rule, remedy = "a system meets itself.", "Delete the row, or correct the name."
    alike = (codes_of[0] == codes_of[1]) & (codes_of[0] >= 0)
    problems += cell_problems(alike, columns[1], at=location(table, second), rule=rule, remedy=remedy)
    return names, codes_of[0], codes_of[1]


def _variants_across(table: SourceTable, ids: Sequence[Ids], columns: tuple[str, str]) -> list[Problem]:
    """Systems of the second column that one of the first is only spelt otherwise than, by case or blanks."""
    spelt = {" ".join(name.casefold().split()): name for name in ids[0].names}
    new = [name for name in ids[1].names if name not in ids[0].names]
    pairs = [(name, spelt.get(" ".join(name.casefold().split()))) for name in new]
    return [
        Problem(
            f"{shortened(name)!r} and {shortened(other)!r} in {shortened(columns[0])!r} differ only by case or "
            "blanks and look like one system.",
            "Spell them alike; if they are different systems, rename one.",
            table.source,
            column=columns[1],
        )
        for name, other in pairs
        if other is not None and other not in ids[1].names
    ]


def outcomes(
    table: SourceTable,
    column: str,
    first: Codes,
    second: Codes,
    names: Sequence[str],
    problems: list[Problem],
) -> tuple[Codes, tuple[str, ...]]:
    """1 where the first won, 0 for a tie, -1 where the second won; and what was taken for what."""
    cells, at = read_cells(table.frame[column]), location(table, column)
    words = [bare(text) for text in cells.texts]
    by_side = np.array([_side(word) for word in words])[cells.code]
    place = {name: code for code, name in enumerate(names)}
    named = np.array([place.get(text.strip(), -2) for text in cells.texts], dtype=np.int64)[cells.code]
    by_name = np.where(
        named == first, 1.0, np.where(named == second, -1.0, np.where(by_side == 0, 0.0, np.nan))
    )
    both = np.isfinite(by_side) & np.isfinite(by_name) & (by_side != by_name)
    notices: tuple[str, ...] = ()
    if both.any():
        notices = (
            "Winners are read as the names of systems. Read as sides, "
            f"{both.sum():,} of {len(both):,} battles would have another winner.",
        )
        rule = "this is the name of a system and a side, and they are not the same."
        remedy = "Write the systems' names for all winners, and rename systems that are called like a side."
        problems += cell_problems(_misnamed(both, by_name, cells), cells, at=at, rule=rule, remedy=remedy)
    found = np.where(np.isfinite(by_name), by_name, by_side)
    rule = "this is no winner of the two systems of its row."
    remedy = "Write A, B or tie, or the name of one of the two systems."
    problems += cell_problems(np.isnan(found), cells, at=at, rule=rule, remedy=remedy)
    return np.asarray(np.nan_to_num(found), dtype=np.int64), notices


def _misnamed(both: Flags, by_name: NDArray[np.float64], cells: Cells) -> Flags:
    """The doubtful cells; none where every cell of the column is the name of a system of its row, or a tie."""
    blank = np.array([not text.strip() for text in cells.texts])[cells.code]
    return np.asarray(both & ~(np.isfinite(by_name) | blank).all())


def _side(word: str) -> float:
    return 1.0 if word in _SIDE_A else -1.0 if word in _SIDE_B else 0.0 if word in _TIE else np.nan


def location(table: SourceTable, column: str) -> Location:
    """Where the cells of a column stand."""
    return Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))
