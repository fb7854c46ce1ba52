"""An assignment as it comes back from its file, with what its codes stand for: checked, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.collected import KINDS
from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem

Codes = NDArray[np.int64]
COLUMNS = ("worker_slot", "batch", "order", "item", "place", "code", "kind")
FURTHER = ("document", "look", "replaces", "right")  # columns that only some have; right is that of a check
_KEY = ("code", "item", "system")
_NUMBERS = ("batch", "order")
_MOST = 5  # problems of a kind that are named
_WRITTEN = "Name the table that 'humeval-power assign -o' wrote."
_HALF = "The file may have been cut short, or sorted and cut: write it anew with the same command."


class Source(NamedTuple):
    """A table as text, and what messages call it. Rows are counted by an index that is named, else from 2."""

    frame: pd.DataFrame
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """What is shown to whom. `frame` has COLUMNS, `system`, and those of FURTHER that there are, as text but for
    `batch` and `order`, which are numbers; item, system and place are blank for an attention check.

    `frame` holds the whole assignment first, then the work of spares that were called in, whose first
    batches are in `taken_over` under the slots that they took over.
    """

    frame: pd.DataFrame
    sources: tuple[str, ...]
    taken_over: dict[str, int]

    @property
    def planned(self) -> pd.DataFrame:
        """The rows of ratings of the whole assignment, without repeats, checks and the work of spares."""
        rows = self.frame["kind"] == "rating"
        if "replaces" in self.frame:
            rows &= self.frame["replaces"] == ""
        return self.frame[rows]


def read_assigned(assignment: Sequence[Source], key: Source | None = None) -> Assigned:
    """Check an assignment, and put in the systems of its codes.

    Parameters
    ----------
    assignment : the whole table, and the tables of spares that were called in; in any order.
    key : what the codes stand for; not needed where the table names the systems itself.

    Raises
    ------
    InputError
        No assignment, one that is cut short, a key of another one, or none where one is needed; all at once.
    """
    problems = [problem for table in assignment for problem in _missing_columns(table)]
    if key is not None and not set(_KEY) <= set(key.frame.columns):
        problems.append(_no_key(key))
    if problems:
        raise InputError(problems)
    parts = [_read_one(table, problems) for table in assignment]
    if not problems:
        parts = [
            _with_systems(part, table.name, key, problems)
            for part, table in zip(parts, assignment, strict=True)
        ]
    if problems:
        raise InputError(problems)
    frame, taken = _whole(parts, [table.name for table in assignment])
    return Assigned(frame, tuple(table.name for table in assignment), taken)


def _missing_columns(table: Source) -> Iterator[Problem]:
    absent = [name for name in COLUMNS if name not in table.frame.columns]
    if not absent:
        return
    if set(map(str, table.frame.columns)) == set(_KEY):
        yield Problem("this is the key of an assignment, not the assignment.", _WRITTEN, place=table.name)
    else:
        yield Problem(f"an assignment has the columns {listing(absent)} too.", _WRITTEN, place=table.name)


def _no_key(key: Source) -> Problem:
    rule = f"a key has the columns {', '.join(_KEY)}."
    if {"worker_slot", "batch", "order"} <= set(map(str, key.frame.columns)):
        rule = "this is an assignment, not its key."
    return Problem(rule, "Name the file that 'humeval-power assign --key' wrote.", place=key.name)


def _read_one(table: Source, problems: list[Problem]) -> pd.DataFrame:
    """The columns that are known, numbers as numbers."""
    known = [name for name in (*COLUMNS, "system", *FURTHER) if name in table.frame.columns]
    frame = pd.DataFrame({name: table.frame[name].astype(str).str.strip() for name in known})
    frame.index = table.frame.index
    if frame.index.name is None:
        frame.index = pd.RangeIndex(2, len(frame) + 2)
    found: list[Problem] = []
    for name in ("worker_slot", "kind"):
        wrong = frame[name] == "" if name == "worker_slot" else ~frame[name].isin(KINDS)
        rule = "must name a slot." if name == "worker_slot" else f"must be one of {', '.join(KINDS)}."
        found += _cells(frame, wrong, name, rule, table.name)
    is_check = frame["kind"] == "check"
    found += _cells(frame, ~is_check & (frame["item"] == ""), "item", "must name an item.", table.name)
    found += _cells(frame, ~is_check & (frame["code"] == ""), "code", "must be a code.", table.name)
    for name in _NUMBERS:
        wrong = ~frame[name].str.fullmatch(r"[1-9][0-9]{0,8}")
        found += _cells(frame, wrong, name, "must be a whole number of at least 1.", table.name)
        frame[name] = frame[name].where(~wrong, "1").astype(np.int64)
    problems += found
    if not found:
        problems += _broken_orders(frame, table.name)
    return frame


def _cells(frame: pd.DataFrame, wrong: pd.Series, column: str, rule: str, place: str) -> list[Problem]:
    rows = np.flatnonzero(wrong.to_numpy())
    return [
        Problem(
            rule,
            f"{len(rows):,} rows are like this one. {_HALF}" if len(rows) > 1 else _HALF,
            place=place,
            row=int(frame.index[row]),
            column=column,
            value=str(frame[column].iloc[row]),
            has_value=True,
        )
        for row in rows[:1]
    ]


def _broken_orders(frame: pd.DataFrame, place: str) -> list[Problem]:
    """Slots of which something is missing, or there twice."""
    by_slot = frame.groupby("worker_slot", sort=False)["order"]
    counts, least, most, different = by_slot.size(), by_slot.min(), by_slot.max(), by_slot.nunique()
    broken = (most - least + 1 != counts) | (different != counts)
    if "replaces" not in frame:
        broken |= least != 1
    names = [f"{name} ({counts[name]:,} of {most[name]:,} rows)" for name in counts.index[broken]]
    if not names:
        return []
    rule = f"the order of a slot must count 1, 2, 3, ...; not so for {listing(names, limit=_MOST)}."
    return [Problem(rule, _HALF, place=place)]


def _with_systems(
    frame: pd.DataFrame, place: str, key: Source | None, problems: list[Problem]
) -> pd.DataFrame:
    """The frame with the system of each row."""
    shown = frame["kind"] != "check"
    if key is None:
        if "system" not in frame:
            rule = "the table names outputs by codes alone, without their systems."
            remedy = "Give the key that was written with it (key; --key FILE)."
            problems.append(Problem(rule, remedy, place=place))
        else:
            wrong = shown & (frame["system"] == "")
            problems += _cells(frame, wrong, "system", "must name a system.", place)
        return frame
    known = key.frame[list(_KEY)].astype(str).apply(lambda column: column.str.strip())
    known = known[known["code"] != ""].drop_duplicates()
    again = known["code"][known["code"].duplicated()]
    if len(again):
        rule = f"a code stands for one output; {listing(again.unique().tolist(), limit=_MOST)} for several."
        problems.append(Problem(rule, "Is it the key of one assignment?", place=key.name))
        return frame
    of_code = known.set_index("code")
    item, system = (frame["code"].map(of_code[name]) for name in ("item", "system"))
    unknown = frame["code"][shown & system.isna()].unique().tolist()
    other = shown & system.notna() & (item != frame["item"])
    if "system" in frame:
        other |= shown & system.notna() & (system != frame["system"])
    remedy = (
        "Take the key that was written with this assignment: every run with another seed makes other codes."
    )
    if unknown:
        rule = (
            f"it does not have {len(unknown):,} of the codes of {place}: {listing(unknown, limit=_MOST)}."
        )
        problems.append(Problem(rule, remedy, place=key.name))
    if other.any():
        codes = frame["code"][other].unique().tolist()
        rule = f"codes stand for other outputs in {place}: {listing(codes, limit=_MOST)}."
        problems.append(Problem(rule, remedy, place=key.name))
    return frame.assign(system=system.fillna("").where(shown, ""))


def _whole(parts: Sequence[pd.DataFrame], sources: Sequence[str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """One table of the whole assignment and the spares behind it, and which slots these took over when."""
    whole = [part for part in parts if "replaces" not in part]
    if len(whole) != 1:
        said = "none of the tables is" if not whole else "more than one table is"
        raise InputError(
            f"{listing(list(sources))}: {said} a whole assignment. Give it once, and beside it the tables of the "
            "spares that were called in."
        )
    frame, problems, taken = whole[0], [], dict[str, int]()
    spares = [(part, name) for part, name in zip(parts, sources, strict=True) if "replaces" in part]
    for part, name in spares:
        for (spare, slot), rows in part.groupby(["worker_slot", "replaces"], sort=False):
            first = int(rows["batch"].min())
            compared = [name for name in frame if name not in ("worker_slot", "place")]
            theirs = frame[(frame["worker_slot"] == slot) & (frame["batch"] >= first)]
            if (
                spare in set(frame["worker_slot"])
                or slot in taken
                or not np.array_equal(theirs[compared].to_numpy(), rows[compared].to_numpy())
            ):
                rule = f"{spare} is not what takes over {slot} of this assignment from batch {first} on."
                remedy = "Write it anew: the same 'assign' command with --replace, the same plan and seed."
                problems.append(Problem(rule, remedy, place=name))
            taken[str(slot)] = first
    if problems:
        raise InputError(problems)
    if spares:
        frame = pd.concat([frame.assign(replaces=""), *(part for part, _ in spares)], ignore_index=True)
    return frame.reset_index(drop=True), taken
