"""Tables of battles: one a row, with the two systems, who won, and perhaps who judged what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    Ids,
    cell_problems,
    read_cells,
    read_numbers,
    renumbered,
)
from humeval_power.checking.columns import (
    Column,
    absent_names,
    bare,
    close_to,
    find_columns,
    listing,
    shortened,
)
from humeval_power.clusters import Clusters
from humeval_power.comparisons.preference.files import FIRST, SECOND, outcomes, shown_systems
from humeval_power.comparisons.rank.battles import Battles, Covariates
from humeval_power.comparisons.rank.last_board import LastBoard, Ranks
from humeval_power.comparisons.rank.leaderboard import alpha_of_looks
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.files.file_bytes import read_object
from humeval_power.files.tables import OPTION, SourceTable, read_table

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]

_WINNER = Column(("winner", "preference", "preferred", "choice", "outcome", "result", "vote", "verdict"))
_WORKER = Column(
    ("worker", "user", "judge", "annotator", "rater", "participant", "judge_user"),
    option=OPTION,
    required=False,
    is_id=True,
)
_ITEM = Column(("item", "prompt", "question", "example"), required=False, is_id=True)


def are_battles(names: Sequence[str]) -> bool:
    """Whether columns of these names are of battles: two systems, and which of them won."""
    return all(any(column.fits(name) for name in names) for column in (FIRST, SECOND, _WINNER))


def read_battles(
    path: str | Path,
    *,
    systems: Sequence[str] = (),
    cluster: str | None = None,
    covariates: Sequence[str] = (),
    append: Sequence[str | Path] = (),
) -> Battles:
    """Read a table with a battle a row: system_a, system_b and winner, and perhaps worker and item.

    Parameters
    ----------
    path : a table; the winner is A, B or tie, or a name of one of the two systems. System A is the one that was
        shown first, or on the left.
    systems : those to rank; all if none is named.
    cluster : the column whose battles go together; the worker's if None and there is one.
    covariates : what outputs differ in besides their systems, such as length: columns of differences, first less
        second, or names of which the table has both columns NAME_a and NAME_b.

    Returns
    -------
    Battles
        As `rank.battles` takes them.

    Raises
    ------
    InputError
        A table without these columns, or every cell that is not understood.
    """
    tables = [read_table(one, arrays=True) for one in (path, *append)]
    whole = battles_of(
        tables[0] if len(tables) == 1 else _joined(tables), cluster=cluster, covariates=covariates
    )
    refuse(absent_names(systems, whole.systems, "system", place=whole.source))
    return whole.only(tuple(systems)) if systems else whole


def _joined(tables: Sequence[SourceTable]) -> SourceTable:
    """Tables below each other; those of battles have the same columns."""
    names = [set(map(str, table.frame.columns)) for table in tables]
    for table, own in zip(tables, names, strict=True):
        if missing := sorted(names[0] - own):
            rule = f"it lacks columns of the first table: {listing(missing, limit=6)}."
            raise refusal(rule, "Later battles need the same columns.", table.source)
    frame = pd.concat([table.frame for table in tables])
    frame.index.name = tables[0].frame.index.name
    notices = tuple(dict.fromkeys(notice for table in tables for notice in table.notices))
    files = tuple((table.source, len(table.frame)) for table in tables)
    return SourceTable(frame, ", ".join(name for name, _ in files), "", notices, files=files)


def battles_of(
    table: SourceTable, *, cluster: str | None = None, covariates: Sequence[str] = ()
) -> Battles:
    """All battles of a table that has been read."""
    columns = find_columns(
        [str(name) for name in table.frame.columns],
        [FIRST, SECOND, _WINNER, _WORKER],
        source=table.source,
        named={_WORKER.name: cluster},
    )
    of, problems = columns.of, list[Problem]()
    names, first, second = shown_systems(table, of[FIRST.name], of[SECOND.name], problems)
    outcome, taken = outcomes(table, of[_WINNER.name], first, second, names, problems)
    worker = of.get(_WORKER.name)
    groups = None if worker is None else table.ids(worker, shortened(worker), problems)
    style = _covariates(table, covariates, problems)
    refuse(problems)
    clusters, suspects = _clusters(groups, worker, is_wanted=cluster is not None)
    free = [str(name) for name in table.frame.columns if str(name) not in (*of.values(), *covariates)]
    for role in (_ITEM, _WORKER):
        fitting = [name for name in free if role.fits(name)]
        suspects += _repeated(table, fitting[0]) if len(fitting) == 1 else ()
    return Battles(
        names,
        first,
        second,
        outcome,
        clusters,
        table.source,
        table.sha256,
        (*table.notices, *columns.notices, *taken),
        suspects,
        style,
    )


def _covariates(table: SourceTable, names: Sequence[str], problems: list[Problem]) -> Covariates | None:
    """Differences of what outputs have, first less second."""
    columns = {bare(str(name)): str(name) for name in table.frame.columns}
    values = []
    for name in dict.fromkeys(names):
        sides = [columns.get(bare(name + side)) for side in ("_a", "_b")]
        if bare(name) in columns:
            difference = _numbers(table, columns[bare(name)], problems)
        elif sides[0] is not None and sides[1] is not None:
            difference = _numbers(table, sides[0], problems) - _numbers(table, sides[1], problems)
        else:
            rule = f"there is no column {shortened(name)!r}, nor both {name + '_a'!r} and {name + '_b'!r}."
            problems.append(Problem(rule, close_to(name, list(columns.values())), table.source))
            continue
        if np.isfinite(difference).all() and np.ptp(difference) == 0:
            rule = f"the covariate {shortened(name)!r} is the same in every battle."
            problems.append(Problem(rule, "Leave it out of --covariate.", table.source))
        values.append(difference)
    if not values or problems:
        return None
    return Covariates(tuple(dict.fromkeys(names)), np.column_stack(values))


def _numbers(table: SourceTable, column: str, problems: list[Problem]) -> NDArray[np.float64]:
    cells = read_cells(table.frame[column])
    numbers = read_numbers(cells, missing=()).value
    problems += cell_problems(
        ~np.isfinite(numbers),
        cells,
        at=table.at(column),
        rule="this is no number.",
        remedy="Correct it, or delete the row.",
    )
    return np.asarray(numbers)


def _clusters(
    groups: Ids | None, column: str | None, *, is_wanted: bool
) -> tuple[Clusters | None, tuple[str, ...]]:
    """The clusters of battles, or why a column that was not asked for gives none."""
    if groups is None or column is None:
        return None, ()
    occurring, codes = renumbered(groups.code)
    if is_wanted or 1 < len(occurring) < len(codes):
        return Clusters(codes, tuple(groups.names[code] for code in occurring), column), ()
    if len(occurring) == 1:
        name = shortened(groups.names[occurring[0]])
        return None, (f"All battles were judged by one: {column} {name!r}. What is found holds for it.",)
    return None, ()


def _repeated(table: SourceTable, column: str) -> tuple[str, ...]:
    """What is said of items, or workers, that several battles have and that are not the clusters."""
    n, rows = table.frame[column].nunique(), len(table.frame)
    if n == rows or n < 2:
        return ()
    return (
        f"The {rows:,} battles have {n:,} values of {shortened(column)!r}, which count as chosen once and for all: "
        "what is found holds for these. Where they matter more than the clusters, name that column with --cluster.",
    )


# The record of a board, as `-o` and `--json` write it, read back as the last board.

_HINT = "Give the record of the last board: its folder, its record.json, or what --json wrote."


def read_last_board(path: str | Path, *, schema: str) -> LastBoard:
    """The ranks of the last board, from its record or from the folder that `-o` wrote. InputError: another
    document, or a board of another kind."""
    place = Path(path) / "record.json" if Path(path).is_dir() else Path(path)
    record = read_object(place, hint=_HINT)
    if record.get("schema") != schema:
        rule = f"has the schema {str(record.get('schema'))[:60]!r}; {schema!r} is needed."
        raise refusal(rule, _HINT, str(place))
    look, alpha, only = record.get("look"), record.get("alpha"), record.get("only_system")
    systems = record.get("systems")
    rows = systems if isinstance(systems, list) else []
    ranks = dict(pair for pair in map(_ranks, rows) if pair is not None)
    if not (
        len(ranks) == len(rows) >= 2
        and isinstance(alpha, float)
        and 0 < alpha < 0.5
        and (look is None or (type(look) is int and 0 < look < 10**6))
        and (only is None or only in ranks)
    ):
        rule = "has a board that does not agree with itself: alpha, look, or the ranks of its systems."
        raise refusal(rule, "Write it again, or undo the change.", str(place))
    return LastBoard(ranks, alpha_of_looks(alpha, look), look, only, str(path))


def _ranks(row: Any) -> tuple[str, Ranks] | None:
    """The name and the ranks of a row, where it has them."""
    if not isinstance(row, Mapping):
        return None
    name, low, high = row.get("system"), row.get("rank_low"), row.get("rank_high")
    if type(name) is not str or type(low) is not int or type(high) is not int or not 1 <= low <= high:
        return None
    return name, (low, high)
