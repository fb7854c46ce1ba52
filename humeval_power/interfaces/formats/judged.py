"""Tables of human values and a judge's scores: one row for each rating or each output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import Column, find_columns
from humeval_power.checking.submissions import Rejected
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of
from humeval_power.interfaces.formats.tables import SourceTable, read_decided

_HUMAN = NumberColumn(("human", "rating", "human rating", "score"), may_be_blank=True)
_JUDGE = NumberColumn(("judge", "metric", "prediction", "judge score"))
_ITEM = Column(("item", "segment", "example", "id"), is_id=True)
_SYSTEM = Column(("system",), required=False, is_id=True)  # a model may be the judge's


class JudgedValues(NamedTuple):
    """Human values and the judge's scores of the items that have both, the judge's of the others, what is
    estimated, in words, and what was left out."""

    human: Floats
    judge: Floats
    extra: Floats
    what: str
    notices: tuple[str, ...] = ()


def read_judged(
    path: str | Path, *, systems: Sequence[str] | None = None, rejected_rows: Rejected | None = None
) -> JudgedValues:
    """Read a table of human values and a judge's scores, as `judge.estimate` takes them.

    Parameters
    ----------
    path : of a table with a row for each rating or each output: item, judge, human (blank where no human
        rated it) and, for a comparison, system.
    systems : the two to compare; the effect is the second minus the first.
    rejected_rows : what to do with rows of rejected or unfinished work, 'drop' or 'keep'.

    Raises
    ------
    InputError
        What `judged_values` raises, or rejected rows that nobody decided on.
    """
    return judged_values(read_decided(path, rejected_rows), None if systems is None else ",".join(systems))


def judged_values(table: SourceTable, systems: str | None = None) -> JudgedValues:
    """Means of each item, or of its difference between two systems; `systems` names them: 'A,B'.

    Raises
    ------
    InputError
        A column that is missing, cells that are no numbers, or systems of which no two can be chosen.
    """
    of = find_columns(table.frame.columns, [_HUMAN, _JUDGE, _ITEM, _SYSTEM], source=table.source).of
    numbers = read_numbers_of(table, [_HUMAN, _JUDGE])
    human, judge, item = numbers["human"], numbers["judge"], _ids(table, of["item"])
    system = _ids(table, of["system"]) if "system" in of else None
    if system is None or (systems is None and len(np.unique(system)) == 1):
        chosen = np.zeros(len(item), dtype=np.int64)
        return _means(item, chosen, human, judge, 1, "Mean human value")
    names = _pair(table.source, np.unique(system), systems)
    kept = np.isin(system, names)
    code = (system[kept] == names[1]).astype(np.int64)
    what = f"Mean difference {names[1]} - {names[0]}"
    return _means(item[kept], code, human[kept], judge[kept], 2, what)


def _pair(source: str, present: NDArray[np.str_], systems: str | None) -> list[str]:
    names = [str(name) for name in present] if systems is None else [s.strip() for s in systems.split(",")]
    absent = [name for name in names if name not in present]
    if len(names) != 2 or absent:
        rule = f"the systems are {', '.join(map(str, present))}; two of them are needed."
        raise InputError([Problem(rule, "Name them: --systems A,B", place=source)])
    return names


def _ids(table: SourceTable, name: str) -> NDArray[np.str_]:
    ids = table.frame[name].astype(str).str.strip().to_numpy(dtype=str)
    blank = np.flatnonzero(ids == "")
    if len(blank):
        rows = table.frame.index.to_numpy()[blank[:5]]
        raise InputError(
            [Problem("the cell is blank.", "Fill it in.", table.source, int(row), name) for row in rows]
        )
    return ids


def _means(
    item: NDArray[np.str_],
    code: NDArray[np.int64],
    human: Floats,
    judge: Floats,
    n_systems: int,
    what: str,
) -> JudgedValues:
    """Means of each item under each system; items that lack one of the judge's are no use."""
    items, place = np.unique(item, return_inverse=True)
    key, cells = place * n_systems + code, len(items) * n_systems
    rated = np.isfinite(human)

    def averaged(values: Floats, kept: NDArray[np.bool_]) -> Floats:
        count = np.bincount(key[kept], minlength=cells)
        total = np.bincount(key[kept], values[kept], cells)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        table = mean.reshape(len(items), n_systems)
        return np.asarray(table[:, 0] if n_systems == 1 else table[:, 1] - table[:, 0])

    of_human, of_judge = averaged(human, rated), averaged(judge, np.ones(len(judge), dtype=bool))
    usable = np.isfinite(of_judge)
    left_out = int((~usable).sum())
    lacking = f"{left_out:,} items lack the judge's score of one system and are left out."
    both = usable & np.isfinite(of_human)
    return JudgedValues(
        of_human[both], of_judge[both], of_judge[usable & ~both], what, (lacking,) if left_out else ()
    )
