"""Tables of preferences: one judgement a row, or one comparison a row with its wins, ties and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    Cells,
    Ids,
    cell_problems,
    read_cells,
)
from humeval_power.checking.columns import (
    Column,
    absent_names,
    bare,
    find_columns,
    listing,
    shortened,
)
from humeval_power.checking.exports.imported import ImportedTable, LongTable
from humeval_power.checking.exports.mapping import Export
from humeval_power.checking.rows import FlowStep, Rejected
from humeval_power.comparisons.preference.scenario import Judgements
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.tables import (
    Floats,
    NumberColumn,
    SourceTable,
    read_decided,
    read_numbers_of,
    read_table,
    texts_of,
)
from humeval_power.safe_text import shell_word

# Two systems shown side by side, one pair a row: which stood where, and which won.

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
    ids = [table.ids(name, "system", problems) for name in (first, second)]
    names = tuple(sorted({*ids[0].names, *ids[1].names}))
    problems += _variants_across(table, ids, (first, second))
    place = {name: code for code, name in enumerate(names)}
    codes_of = [
        np.array([*(place[name] for name in each.names), -1], dtype=np.int64)[each.code] for each in ids
    ]
    rule, remedy = "a system meets itself.", "Delete the row, or correct the name."
    alike = (codes_of[0] == codes_of[1]) & (codes_of[0] >= 0)
    cells = read_cells(table.frame[second])
    problems += cell_problems(alike, cells, at=table.at(second), rule=rule, remedy=remedy)
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
    cells, at = read_cells(table.frame[column]), table.at(column)
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
    values = np.where(np.isfinite(by_name), by_name, by_side)
    rule = "this is no winner of the two systems of its row."
    remedy = "Write A, B or tie, or the name of one of the two systems."
    problems += cell_problems(np.isnan(values), cells, at=at, rule=rule, remedy=remedy)
    return np.asarray(np.nan_to_num(values), dtype=np.int64), notices


def _misnamed(both: Flags, by_name: NDArray[np.float64], cells: Cells) -> Flags:
    """The doubtful cells; none where every cell of the column is the name of a system of its row, or a tie."""
    blank = cells.blank
    return np.asarray(both & ~(np.isfinite(by_name) | blank).all())


def _side(word: str) -> float:
    return 1.0 if word in _SIDE_A else -1.0 if word in _SIDE_B else 0.0 if word in _TIE else np.nan


_SIDES = ("left", "right")  # where B is on the right throughout: of no use once the order is recorded
_WIN = ("b", "win", "wins", "1", "+1", "1.0", _SIDES[1])
_LOSS = ("a", "loss", "lose", "loses", "-1", "-1.0", _SIDES[0])
_TIE_PREFERENCE = ("tie", "ties", "draw", "0", "0.0", "neither", "equal", "both", "same")
_VALUES = {
    **dict.fromkeys(_WIN, 1),
    **dict.fromkeys(_TIE_PREFERENCE, 0),
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


def read_judgements(
    path: str | Path, *, systems: tuple[str, str] | None = None, rejected_rows: Rejected | None = None
) -> list[Judgements]:
    """Read a table with the columns wins, losses and perhaps ties and name; or with a column of
    preferences (B, A, tie; win, loss, tie; 1, -1, 0) and perhaps worker, item and position (which output was
    shown first: A or B). With columns such as system_a and system_b, whose systems change places from row to row,
    the preference is that of a side or the name of a system, and system_a is the one that was shown first.

    systems : A and B of such a table; None takes its two systems in the order of their names.
    rejected_rows : what to do with rows of rejected or unfinished work, 'drop' or 'keep'.

    What was assumed of the whole table stands among the notices of the first comparison.

    Raises
    ------
    InputError
        A table with neither, every cell that is not understood, or rejected rows that nobody decided on.
    """
    table = read_decided(path, rejected_rows)
    first, *rest = judgements_of(table, systems=systems)
    notices = (f"{table.source}: {notice}" for notice in table.notices)
    return [replace(first, notices=(*notices, *first.notices)), *rest]


def judgements_of(table: SourceTable, *, systems: tuple[str, str] | None = None) -> list[Judgements]:
    """The same from a table that has been read."""
    names = [str(name) for name in table.frame.columns]
    if all(any(column.fits(name) for name in names) for column in _COUNTS if column.required):
        return _counted(table)
    if not any(_PREFERENCE.fits(name) for name in names):
        rule = f"there is neither a column of preferences nor wins and losses: {listing(names)}."
        remedy = "Name one 'preference' (B, A or tie), or two 'wins' and 'losses'."
        raise refusal(rule, remedy, table.source)
    of = find_columns(names, [_PREFERENCE, _WORKER, _ITEM, _POSITION], source=table.source).of
    shown = _shown(names)
    if shown is not None and not _are_a_and_b(table, shown, of[_PREFERENCE.name], systems):
        return [_by_system(table, of, shown, systems)]
    problems: list[Problem] = []
    position = _positions(table, of.get("position"), problems)
    preference = _preferences(table, of["preference"], problems, sides=position is None)
    worker, item = _worker_and_item(table, of, problems)
    refuse(problems)
    return [_judged(preference, worker=worker, item=item, position=position)]


def pairs_imported(path: str | Path) -> ImportedTable | None:
    """A table of pairs under our own names, whose preference is the name of a system or a tie: two systems or
    more, in either order. None where a file is no such table.
    """
    try:
        table = read_table(path)
        names = [str(name) for name in table.frame.columns]
        of = find_columns(names, [_PREFERENCE, _WORKER, _ITEM], source=table.source).of
    except (InputError, OSError):
        return None
    shown, problems = _shown(names), list[Problem]()
    if shown is None:
        return None
    systems, first, second = shown_systems(table, *shown, problems)
    outcome, notices = outcomes(table, of[_PREFERENCE.name], first, second, systems, problems)
    _worker_and_item(table, of, problems)
    refuse(problems)
    named = {shown[0]: "system_a", shown[1]: "system_b", **{column: role for role, column in of.items()}}
    frame = table.frame.rename(columns=named)
    chosen = np.where(outcome > 0, frame["system_a"], np.where(outcome < 0, frame["system_b"], "tie"))
    frame = frame.assign(preference=chosen)
    why = f"its columns {shown[0]} and {shown[1]} name the two systems of each row"
    export = Export(
        table.frame, platform="table", why=why, source=table.source, notices=(*table.notices, *notices)
    )
    steps = (
        FlowStep("read", len(frame), "rows of the table"),
        FlowStep("analysed", len(frame), "preferences"),
    )
    return ImportedTable(frame, ((export, LongTable(frame, steps, tuple(named))),))


def _shown(names: list[str]) -> tuple[str, str] | None:
    """The columns of the two systems of each row, where there are two."""
    shown = [[name for name in names if column.fits(name)] for column in _SHOWN]
    return (shown[0][0], shown[1][0]) if all(len(each) == 1 for each in shown) else None


def _are_a_and_b(
    table: SourceTable, shown: tuple[str, str], preference: str, systems: tuple[str, str] | None
) -> bool:
    """Whether all rows compare the same systems in the same columns, preferences name neither, and nobody says
    which of them is A."""
    if {str(table.frame[name].iloc[0]).strip() for name in shown if len(table.frame)} == {*(systems or ())}:
        return False
    words = {text.strip().casefold() for text in read_cells(table.frame[preference]).texts}
    return all(table.frame[name].nunique() < 2 for name in shown) and words <= {*_VALUES, ""}


def _by_system(
    table: SourceTable, of: Mapping[str, str], shown: tuple[str, str], systems: tuple[str, str] | None
) -> Judgements:
    """Judgements of two systems that are named in each row, whichever stood first."""
    problems: list[Problem] = []
    names, first, second = shown_systems(table, *shown, problems)
    outcome, taken = outcomes(table, of[_PREFERENCE.name], first, second, names, problems)
    side = _positions(table, of.get(_POSITION.name), problems)
    codes = _worker_and_item(table, of, problems)
    is_fixed = len(np.unique(first)) == 1 and len(names) == 2
    usual = (names[first[0]], names[second[0]]) if is_fixed else names
    pair = usual if systems is None else systems
    problems += absent_names(pair, names, "system", place=table.source)
    if len(pair) > 2:
        rule = (
            f"{len(names)} systems are compared in columns {shown[0]!r} and {shown[1]!r}: {listing(names)}."
        )
        two = shell_word(",".join(names[:2]))
        rank = f"humeval-power rank battles {shell_word(table.source)}"
        remedy = f"Name two: --systems {two}; or rank them all: {rank}"
        problems.append(Problem(rule, remedy, table.source))
    refuse(problems)
    a, b = (names.index(name) for name in pair)
    kept = np.isin(first, (a, b)) & np.isin(second, (a, b))
    is_second = np.where(first == b, -1.0, 1.0)  # +1 where B is the second of the row
    preference: Floats = (-outcome * is_second)[kept].astype(np.float64)
    b_first = (-0.5 * is_second if side is None else side * is_second)[kept]
    worker, item = (
        None if each is None else np.unique(each[kept], return_inverse=True)[1] for each in codes
    )
    notices = [*taken]
    if systems is None:
        turned = shell_word(f"{pair[1]},{pair[0]}")
        notices.append(
            f"Shares and signs are of {pair[1]} against {pair[0]}; --systems {turned} turns it round."
        )
    if side is None and not is_fixed:
        notices.append(f"The system in column {shown[0]!r} is taken as the one that was shown first.")
    if not kept.all():
        notices.append(f"{int((~kept).sum()):,} rows that compare other systems are left out.")
    return _judged(
        preference,
        name=f"{pair[1]} (B) and {pair[0]} (A)",
        systems=(pair[0], pair[1]),
        worker=worker,
        item=item,
        position=b_first if len(np.unique(b_first)) > 1 else None,
        notices=tuple(notices),
    )


def _judged(preference: Floats, **known: Any) -> Judgements:
    """The judgements of one comparison, counted."""
    won, tied, lost = (int((np.sign(preference) == sign).sum()) for sign in (1, 0, -1))
    return Judgements(wins=won, ties=tied, losses=lost, preference=preference, **known)


def _preferences(table: SourceTable, column: str, problems: list[Problem], *, sides: bool) -> Floats:
    """-1, 0 or +1 for each row; `sides` whether left and right are understood as A and B."""
    cells = read_cells(table.frame[column])
    words = [text.strip().casefold() for text in cells.texts]
    values = np.array([_VALUES.get(word, np.nan) for word in words])[cells.code]
    at = table.at(column)
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
        at=table.at(column),
        rule="this does not say which output was shown first.",
        remedy="Write A or B; a column that means something else needs another name.",
    )
    return values


def _worker_and_item(
    table: SourceTable, of: Mapping[str, str], problems: list[Problem]
) -> tuple[Codes | None, Codes | None]:
    """Codes of both, in the order of their names; None where there is no such column."""
    worker, item = (
        table.ids(of[role], role, problems).code if role in of else None for role in ("worker", "item")
    )
    return worker, item


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
