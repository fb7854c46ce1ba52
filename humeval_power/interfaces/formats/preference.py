"""Tables of preferences: one judgement a row, or one comparison a row with its wins, ties and losses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem
from humeval_power.inference.preference.judgements import Judgements
from humeval_power.interfaces.formats.tables import SourceTable, read_table

_WIN = ("b", "win", "wins", "1", "+1", "1.0", "right")
_LOSS = ("a", "loss", "lose", "loses", "-1", "-1.0", "left")
_TIE = ("tie", "ties", "draw", "0", "0.0", "neither", "equal", "both", "same")
_VALUES = {
    **dict.fromkeys(_WIN, 1),
    **dict.fromkeys(_TIE, 0),
    **dict.fromkeys(_LOSS, -1),
}
_PREFERENCE = ("preference", "preferred", "choice", "outcome", "result", "winner", "vote")
_WORKER = ("worker", "annotator", "rater", "judge", "participant", "worker_id")
_ITEM = ("item", "prompt", "example", "item_id", "id")
SHOWN = 5


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
    known = {str(name).strip().casefold(): str(name) for name in table.frame.columns}
    if "wins" in known and "losses" in known:
        return _counted(table, known)
    column = next((known[name] for name in _PREFERENCE if name in known), None)
    if column is None:
        rule = f"there is neither a column of preferences nor wins and losses: {listing(list(known.values()))}."
        remedy = "Name one 'preference' (B, A or tie), or two 'wins' and 'losses'."
        raise InputError([Problem(rule, remedy, table.source)])
    values, problems = [], []
    for row, cell in table.frame[column].items():
        value = _VALUES.get(str(cell).strip().casefold())
        if value is None:
            rule, remedy = "this is no preference.", "Write B, A or tie; or 1, -1 or 0."
            place = int(str(row))
            problems.append(Problem(rule, remedy, table.source, place, column, cell, has_value=True))
        values.append(value or 0)
    if problems:
        rest = len(problems) - SHOWN
        more = [Problem(f"and {rest:,} more rows like this.", "", table.source)] if rest > 0 else []
        raise InputError([*problems[:SHOWN], *more])
    preference = np.array(values, dtype=np.float64)
    return [
        Judgements(
            wins=int((preference > 0).sum()),
            ties=int((preference == 0).sum()),
            losses=int((preference < 0).sum()),
            preference=preference,
            worker=_codes(table, known, _WORKER),
            item=_codes(table, known, _ITEM),
        )
    ]


def _counted(table: SourceTable, known: dict[str, str]) -> list[Judgements]:
    problems: list[Problem] = []

    def counts(name: str) -> list[int]:
        if name not in known:
            return [0] * len(table.frame)
        found = []
        for row, cell in table.frame[known[name]].items():
            text = str(cell).strip()
            if not text.isdigit():
                rule, place = "this is not a count.", int(str(row))
                remedy = "Write a whole number, 0 or more."
                problems.append(
                    Problem(rule, remedy, table.source, place, known[name], cell, has_value=True)
                )
            found.append(int(text) if text.isdigit() else 0)
        return found

    columns = [counts(name) for name in ("wins", "ties", "losses")]
    if problems:
        raise InputError(problems)
    names: Sequence[str] = [f"row {row}" for row in table.frame.index]
    if "name" in known:
        names = [str(cell) for cell in table.frame[known["name"]]]
    rows = zip(names, *columns, strict=True)
    return [Judgements(name=name, wins=won, ties=tied, losses=lost) for name, won, tied, lost in rows]


def _codes(table: SourceTable, known: dict[str, str], names: Sequence[str]) -> NDArray[np.int64] | None:
    column = next((known[name] for name in names if name in known), None)
    if column is None:
        return None
    return np.unique(table.frame[column].astype(str), return_inverse=True)[1].astype(np.int64)
