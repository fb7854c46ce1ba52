"""Tables of battles: one a row, with the two systems, who won, and perhaps who judged what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from humeval_power.checking.columns import Column, bare, close_to, find_columns, shortened
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.battles import Battles
from humeval_power.interfaces.formats.item_clusters import OPTION
from humeval_power.interfaces.formats.tables import SourceTable, read_table

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
_FIRST = Column(("system_a", "model_a", "a", "first", "left", "option_a", "system_1", "model_1"))
_SECOND = Column(("system_b", "model_b", "b", "second", "right", "option_b", "system_2", "model_2"))
_WINNER = Column(("winner", "preference", "preferred", "choice", "outcome", "result", "vote", "verdict"))
_WORKER = Column(
    ("worker", "user", "judge", "annotator", "rater", "participant", "judge_user"),
    option=OPTION,
    required=False,
    is_id=True,
)
_ITEM = Column(("item", "prompt", "question", "example"), required=False, is_id=True)


def read_battles(path: str | Path, *, systems: Sequence[str] = (), cluster: str | None = None) -> Battles:
    """Read a table with a battle a row: system_a, system_b and winner, and perhaps worker and item.

    Parameters
    ----------
    path : a table; the winner is A, B or tie, or a name of one of the two systems. System A is the one that was
        shown first, or on the left.
    systems : those to rank; all if none is named.
    cluster : the column whose battles go together; the worker's if None and there is one.

    Returns
    -------
    Battles
        As `rank.battles` takes them.

    Raises
    ------
    InputError
        A table without these columns, or every cell that is not understood.
    """
    return battles_of(read_table(path), systems=systems, cluster=cluster)


def battles_of(table: SourceTable, *, systems: Sequence[str] = (), cluster: str | None = None) -> Battles:
    """The same of a table that has been read."""
    found = find_columns(
        [str(name) for name in table.frame.columns],
        [_FIRST, _SECOND, _WINNER, _WORKER],
        source=table.source,
        named={_WORKER.name: cluster},
    )
    of, problems = found.of, list[Problem]()
    names, first, second = _systems(table, of[_FIRST.name], of[_SECOND.name], problems)
    outcome, taken = _outcomes(table, of[_WINNER.name], first, second, names, problems)
    worker = of.get(_WORKER.name)
    groups = None if worker is None else _groups(table, worker, problems)
    unknown = [name for name in systems if name not in names]
    problems += [
        Problem(f"there is no system {shortened(name)!r}.", close_to(name, names), table.source)
        for name in unknown
    ]
    if problems:
        raise InputError(problems)
    clusters, suspects = _clusters(groups, worker, asked=cluster is not None)
    free = [str(name) for name in table.frame.columns if str(name) not in of.values()]
    for role in (_ITEM, _WORKER):
        fitting = [name for name in free if role.fits(name)]
        suspects += _repeated(table, fitting[0]) if len(fitting) == 1 else ()
    battles = Battles(
        names,
        first,
        second,
        outcome,
        clusters,
        table.source,
        table.sha256,
        (*table.notices, *found.notices, *taken),
        suspects,
    )
    return battles.only(tuple(systems)) if systems else battles


def _systems(
    table: SourceTable, first: str, second: str, problems: list[Problem]
) -> tuple[tuple[str, ...], Codes, Codes]:
    """All systems in the order of their names, and their codes in both columns."""
    columns = [read_cells(table.frame[name]) for name in (first, second)]
    ids = [read_ids(cells) for cells in columns]
    for cells, codes, name in zip(columns, ids, (first, second), strict=True):
        at = _at(table, name)
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
    problems += cell_problems(alike, columns[1], at=_at(table, second), rule=rule, remedy=remedy)
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


def _outcomes(
    table: SourceTable,
    column: str,
    first: Codes,
    second: Codes,
    names: Sequence[str],
    problems: list[Problem],
) -> tuple[Codes, tuple[str, ...]]:
    """1 where the first won, 0 for a tie, -1 where the second won; and what was taken for what."""
    cells, at = read_cells(table.frame[column]), _at(table, column)
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


def _groups(table: SourceTable, column: str, problems: list[Problem]) -> list[str]:
    cells = read_cells(table.frame[column])
    ids, at = read_ids(cells), _at(table, column)
    remedy = "Fill it in, or delete the row."
    problems += cell_problems(
        ids.code < 0, cells, at=at, rule=f"the {shortened(column)} is blank.", remedy=remedy
    )
    problems += variant_problems(ids, ids.code >= 0, role=column, at=at)
    names = np.array([*ids.names, ""], dtype=object)
    return [str(name) for name in names[ids.code]]


def _clusters(
    groups: Sequence[str] | None, column: str | None, *, asked: bool
) -> tuple[Clusters | None, tuple[str, ...]]:
    """The clusters of battles, or why a column that was not asked for gives none."""
    if groups is None or column is None:
        return None, ()
    n = len(set(groups))
    if asked or 1 < n < len(groups):
        return Clusters.of(groups, name=column), ()
    if n == 1:
        return None, (
            f"All battles were judged by one: {column} {shortened(groups[0])!r}. What is found holds for it.",
        )
    return None, ()


def _repeated(table: SourceTable, column: str) -> tuple[str, ...]:
    """What is said of items, or workers, that several battles have and that are not the clusters."""
    n, rows = table.frame[column].nunique(), len(table.frame)
    if n == rows or n < 2:
        return ()
    return (
        f"The {rows:,} battles have {n:,} values of {shortened(column)!r}, which count as chosen once and for all: "
        "what is found holds for these. Where they matter more than the clusters, name that column by --cluster.",
    )


def _at(table: SourceTable, column: str) -> Location:
    return Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))
