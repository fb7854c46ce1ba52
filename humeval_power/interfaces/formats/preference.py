"""Tables of preferences: one judgement a row, or one comparison a row with its wins, ties and losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import Location, cell_problems, read_cells
from humeval_power.checking.columns import Column, find_columns, listing
from humeval_power.errors import InputError, Problem
from humeval_power.inference.preference.judgements import Judgements
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of, texts_of
from humeval_power.interfaces.formats.tables import SourceTable, read_table

_WIN = ("b", "win", "wins", "1", "+1", "1.0", "right")
_LOSS = ("a", "loss", "lose", "loses", "-1", "-1.0", "left")
_TIE = ("tie", "ties", "draw", "0", "0.0", "neither", "equal", "both", "same")
_VALUES = {
    **dict.fromkeys(_WIN, 1),
    **dict.fromkeys(_TIE, 0),
    **dict.fromkeys(_LOSS, -1),
}
_PREFERENCE = Column(("preference", "preferred", "choice", "outcome", "result", "winner", "vote"))
_WORKER = Column(("worker", "annotator", "rater", "judge", "participant"), required=False, is_id=True)
_ITEM = Column(("item", "prompt", "example", "id"), required=False, is_id=True)
_NAME = Column(("name",), required=False)
_COUNTS = [
    NumberColumn(("wins",), low=0, whole=True),
    NumberColumn(("ties",), low=0, whole=True, required=False),
    NumberColumn(("losses",), low=0, whole=True),
]


def read_judgements(path: str | Path) -> list[Judgements]:
    """Read a table with the columns wins, losses and perhaps ties and name; or with a column of
    preferences (B, A, tie; win, loss, tie; 1, -1, 0) and perhaps worker and item.

    Raises
    ------
    InputError
        A table with neither, or cells that are not understood.
    """
    return judgements_of(read_table(path))


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
    of = find_columns(names, [_PREFERENCE, _WORKER, _ITEM], source=table.source).of
    preference = _preferences(table, of["preference"])
    return [
        Judgements(
            wins=int((preference > 0).sum()),
            ties=int((preference == 0).sum()),
            losses=int((preference < 0).sum()),
            preference=preference,
            worker=_codes(table, of.get("worker")),
            item=_codes(table, of.get("item")),
        )
    ]


def _preferences(table: SourceTable, column: str) -> Floats:
    """-1, 0 or +1 for each row."""
    cells = read_cells(table.frame[column])
    values = np.array([_VALUES.get(text.strip().casefold(), np.nan) for text in cells.texts])[cells.code]
    at = Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))
    problems = cell_problems(
        np.isnan(values),
        cells,
        at=at,
        rule="this is no preference.",
        remedy="Write B, A or tie; or 1, -1 or 0.",
    )
    if problems:
        raise InputError(problems)
    return values


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


def _codes(table: SourceTable, column: str | None) -> NDArray[np.int64] | None:
    if column is None:
        return None
    return np.unique(table.frame[column].astype(str), return_inverse=True)[1].astype(np.int64)
