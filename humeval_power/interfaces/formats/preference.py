"""Tables of preferences: one judgement a row, or one comparison a row with its wins, ties and losses."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import Location, cell_problems, read_cells, read_ids, variant_problems
from humeval_power.checking.columns import Column, bare, find_columns, listing, shortened
from humeval_power.checking.submissions import Rejected
from humeval_power.errors import InputError, Problem
from humeval_power.inference.preference.judgements import Judgements
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of, texts_of
from humeval_power.interfaces.formats.tables import SourceTable, read_decided

_SIDES = ("left", "right")  # where B is on the right throughout: of no use once the order is recorded
_WIN = ("b", "win", "wins", "1", "+1", "1.0", _SIDES[1])
_LOSS = ("a", "loss", "lose", "loses", "-1", "-1.0", _SIDES[0])
_TIE = ("tie", "ties", "draw", "0", "0.0", "neither", "equal", "both", "same")
_VALUES = {
    **dict.fromkeys(_WIN, 1),
    **dict.fromkeys(_TIE, 0),
    **dict.fromkeys(_LOSS, -1),
}
_FIRST = {  # what was shown first: x of the judgement
    **dict.fromkeys(("b", "bfirst", "ba", "bthena"), 0.5),
    **dict.fromkeys(("a", "afirst", "ab", "athenb"), -0.5),
}
_PREFERENCE = Column(("preference", "preferred", "choice", "outcome", "result", "winner", "vote"))
_WORKER = Column(("worker", "annotator", "rater", "judge", "participant"), required=False, is_id=True)
_ITEM = Column(("item", "prompt", "example", "id"), required=False, is_id=True)
_POSITION = Column(
    ("position", "order", "first", "shown_first", "first_shown", "presentation", "order_of_presentation"),
    required=False,
)
_NAME = Column(("name",), required=False)
_SHOWN = [
    Column((f"system_{side}", f"model_{side}", f"system_{place}", f"model_{place}"))
    for side, place in ("a1", "b2")
]
_COUNTS = [
    NumberColumn(("wins",), low=0, whole=True),
    NumberColumn(("ties",), low=0, whole=True, required=False),
    NumberColumn(("losses",), low=0, whole=True),
]


def read_judgements(path: str | Path, *, rejected_rows: Rejected | None = None) -> list[Judgements]:
    """Read a table with the columns wins, losses and perhaps ties and name; or with a column of
    preferences (B, A, tie; win, loss, tie; 1, -1, 0) and perhaps worker, item and position (which output was
    shown first: A or B).

    rejected_rows : what to do with rows of rejected or unfinished work, 'drop' or 'keep'.

    Raises
    ------
    InputError
        A table with neither, every cell that is not understood, or rejected rows that nobody decided on.
    """
    return judgements_of(read_decided(path, rejected_rows))


def judgements_of(table: SourceTable) -> list[Judgements]:
    """The same from a table that has been read.

    Raises
    ------
    InputError
        What `read_judgements` raises.
    """
    names = [str(name) for name in table.frame.columns]
    if all(any(column.fits(name) for name in names) for column in _COUNTS if column.required):
        return _counted(table)
    if not any(_PREFERENCE.fits(name) for name in names):
        rule = f"there is neither a column of preferences nor wins and losses: {listing(names)}."
        remedy = "Name one 'preference' (B, A or tie), or two 'wins' and 'losses'."
        raise InputError([Problem(rule, remedy, table.source)])
    of = find_columns(names, [_PREFERENCE, _WORKER, _ITEM, _POSITION], source=table.source).of
    problems = _battles(table, names)
    position = _positions(table, of.get("position"), problems)
    preference = _preferences(table, of["preference"], problems, sides=position is None)
    worker, item = (_codes(table, of.get(name), name, problems) for name in ("worker", "item"))
    if problems:
        raise InputError(problems)
    return [
        Judgements(
            wins=int((preference > 0).sum()),
            ties=int((preference == 0).sum()),
            losses=int((preference < 0).sum()),
            preference=preference,
            worker=worker,
            item=item,
            position=position,
        )
    ]


def _battles(table: SourceTable, names: list[str]) -> list[Problem]:
    """What is wrong with columns of systems that name several: A and B are sides then, and sides are no systems."""
    found = [[name for name in names if column.fits(name)] for column in _SHOWN]
    if not all(len(each) == 1 for each in found):
        return []
    shown = [each[0] for each in found]
    if all(table.frame[name].nunique() < 2 for name in shown):
        return []
    rule = f"columns {shortened(shown[0])!r} and {shortened(shown[1])!r} name other systems in other rows: A and B "
    rule += "are sides of battles, and not two systems."
    remedy = "Rank the systems: humeval-power rank battles."
    return [Problem(rule, remedy, table.source)]


def _preferences(table: SourceTable, column: str, problems: list[Problem], *, sides: bool) -> Floats:
    """-1, 0 or +1 for each row; `sides` whether left and right are understood as A and B."""
    cells = read_cells(table.frame[column])
    words = [text.strip().casefold() for text in cells.texts]
    values = np.array([_VALUES.get(word, np.nan) for word in words])[cells.code]
    at = _at(table, column)
    rule, remedy = "this is no preference.", "Write B, A or tie; or 1, -1 or 0."
    problems += cell_problems(np.isnan(values), cells, at=at, rule=rule, remedy=remedy)
    if not sides:
        problems += cell_problems(
            np.array([word in _SIDES for word in words])[cells.code],
            cells,
            at=at,
            rule="a side is no system where the order of presentation differs.",
            remedy="Write B, A or tie.",
        )
    return values


def _positions(table: SourceTable, column: str | None, problems: list[Problem]) -> Floats | None:
    """+1/2 where B was shown first and -1/2 where A was, for each row."""
    if column is None:
        return None
    cells = read_cells(table.frame[column])
    values = np.array([_FIRST.get(bare(text), np.nan) for text in cells.texts])[cells.code]
    problems += cell_problems(
        np.isnan(values),
        cells,
        at=_at(table, column),
        rule="this does not say which output was shown first.",
        remedy="Write A or B; a column that means something else needs another name.",
    )
    return values


def _codes(
    table: SourceTable, column: str | None, role: Literal["worker", "item"], problems: list[Problem]
) -> NDArray[np.int64] | None:
    """Codes of the ids of a column, in the order of their names."""
    if column is None:
        return None
    cells = read_cells(table.frame[column])
    ids, at = read_ids(cells), _at(table, column)
    blank = ids.code < 0
    remedy = f"Fill in the {role}, or delete the row."
    problems += cell_problems(blank, cells, at=at, rule=f"the {role} is blank.", remedy=remedy)
    problems += variant_problems(ids, ~blank, role=role, at=at)
    return ids.code


def _at(table: SourceTable, column: str) -> Location:
    return Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))


def _counted(table: SourceTable) -> list[Judgements]:
    counts = read_numbers_of(table, _COUNTS)
    name = find_columns(table.frame.columns, [_NAME], source=table.source).of.get(_NAME.name)
    names = texts_of(table, name) or [f"row {row}" for row in table.frame.index]
    ties = counts.get("ties", np.zeros(len(names)))
    rows = zip(names, counts["wins"], ties, counts["losses"], strict=True)
    return [
        Judgements(name=name, wins=int(won), ties=int(tied), losses=int(lost))
        for name, won, tied, lost in rows
    ]
