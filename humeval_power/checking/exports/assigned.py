"""The table of who sees what when, and the key of its codes, as they come back from the field's folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from humeval_power.checking.cells import LISTED, Location, Mask, cell_problems, read_cells
from humeval_power.checking.columns import listing
from humeval_power.checking.rows import KINDS, ROW_INDEX
from humeval_power.designs import Codes
from humeval_power.errors import InputError, Problem, refusal, refuse

_NEEDED = ("worker_slot", "batch", "order", "kind", "code")
_KEPT = ("document", "item", "place", "system", "look", "right", "replaces")
_KEY = ("code", "item", "system")
_SECRET = ("secret", "study")
_HEX_OR_NOTHING = re.compile("([0-9a-f]{32})?")


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """What each code stands for: the columns code, item and system, one row a code.

    bits : what the codes are made of; None where the file does not say.
    study : the mark of the study whose codes they are.
    """

    frame: pd.DataFrame
    source: str
    bits: bytes | None = None
    study: str = ""


@dataclass(frozen=True, eq=False)
class AssignmentTable:
    """Who sees what when: a row for each showing, with the columns slot, batch, order (numbers), kind, code, and
    as far as they are known item, system, place, document, look, right (the point that a check asks for) and
    replaces, as text. `table` (n_showings,) counts the tables that they stood in."""

    frame: pd.DataFrame
    source: str
    table: Codes

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The worker slots, in their order."""
        return tuple(dict.fromkeys(self.frame["slot"]))

    def work_of(self, slot: str) -> tuple[str, int]:
        """Whose work a slot does, its own or that of the slot that it replaces, and from which batch on."""
        return self._replaced.get(slot, (slot, 1))

    @cached_property
    def _replaced(self) -> dict[str, tuple[str, int]]:
        """Of each spare the slot that it replaces, and its first batch."""
        spares = self.frame[self.frame["replaces"] != ""].groupby("slot", sort=False)
        return {
            str(spare): (str(mine["replaces"].iloc[0]), int(mine["batch"].min())) for spare, mine in spares
        }

    @cached_property
    def taken_over(self) -> Mask:
        """Which showings a spare has taken over, (n_showings,): of its slot, and of an earlier spare for that slot,
        from its first batch on."""
        rows = self.frame
        original = rows["replaces"].where(rows["replaces"] != "", rows["slot"])
        taken = np.zeros(len(rows), dtype=np.bool_)
        earlier: dict[str, list[str]] = {}
        for spare, (slot, first) in self._replaced.items():
            before = earlier.setdefault(slot, [slot])
            later = (original == slot) & rows["slot"].isin(before) & (rows["batch"] >= first)
            taken |= later.to_numpy()
            before.append(spare)
        return taken

    @property
    def is_blind(self) -> bool:
        """Whether it says of no code which system it is."""
        return not (self.frame["system"] != "").any()

    def key(self) -> Key | None:
        """What it says itself of its codes; None where it is blind."""
        if self.is_blind:
            return None
        shown = self.frame[self.frame["kind"] != "check"]
        return Key(shown[list(_KEY)].drop_duplicates("code").reset_index(drop=True), self.source)


def key_of(table: pd.DataFrame, *, source: str) -> Key:
    """The key in a table.
    Raises InputError: another file, blank cells, or a code that stands for two outputs: all at once."""
    names = [str(name).strip() for name in table.columns]
    if not set(_KEY) <= set(names) or "worker_slot" in names:
        rule = f"is no key: a key has the columns code, item and system. {_is_rather(names)}"
        raise refusal(rule, "Give the file that the assignment wrote as its key.", place=source)
    texts = _texts(table, names, (*_KEY, *_SECRET))
    problems = [problem for name in _KEY for problem in _blank(texts, name, source)]
    again = (texts["code"].duplicated() & (texts["code"] != "")).to_numpy()
    at = Location(source, "code", texts.index.to_numpy(dtype=np.int64))
    rule = "this code stands for another output too."
    problems += cell_problems(
        again, read_cells(texts["code"]), at=at, rule=rule, remedy="A code has one row."
    )
    if texts.empty:
        problems.append(Problem("the key has no rows.", "Is it half-written?", place=source))
    digits = [texts[name].unique() for name in _SECRET]
    if any(len(column) > 1 or not _HEX_OR_NOTHING.fullmatch(column[0]) for column in digits if len(column)):
        rule = f"{' and '.join(_SECRET)} have 32 digits of 0 to 9 and a to f, the same in all rows."
        problems.append(Problem(rule, "Give the file as it was written.", place=source))
    refuse(problems)
    secret, study = (str(column[0]) for column in digits)
    return Key(texts[list(_KEY)].reset_index(drop=True), source, bytes.fromhex(secret) or None, study)


def assigned_of(tables: Sequence[tuple[pd.DataFrame, str]]) -> AssignmentTable:
    """The assignment in one or more tables: that of the study, and those of spares that took over, of later stages,
    and of ratings that were added.
    Raises InputError: another file, cells that are blank or no kind or number, a place of a slot that stands twice:
    all at once."""
    problems: list[Problem] = []
    result = []
    for table, source in tables:
        names = [str(name).strip() for name in table.columns]
        if missing := [name for name in _NEEDED if name not in names]:
            rule = f"is no assignment: it has no column {', '.join(missing)}. {_is_rather(names)}"
            remedy = "Give the table of who rates what when."
            problems.append(Problem(rule, remedy, place=source))
            continue
        texts = _texts(table, names, (*_NEEDED, *_KEPT))
        problems += _wrong_rows(texts, source)
        result.append(texts)
    refuse(problems)
    frame = pd.concat(result, ignore_index=True).rename(columns={"worker_slot": "slot"})
    frame = frame.assign(batch=frame["batch"].astype(np.int64), order=frame["order"].astype(np.int64))
    source = ", ".join(source for _, source in tables)
    again = frame[frame.duplicated(["slot", "order"])]
    if len(again):
        first = again.iloc[0]
        rule = f"places that stand twice: {len(again):,}, such as order {first['order']} of slot {first['slot']}."
        raise refusal(rule, "Give each table of an assignment once.", place=source)
    of_table = np.repeat(np.arange(len(result), dtype=np.int64), [len(texts) for texts in result])
    return AssignmentTable(frame, source, of_table)


def check_key(key: Key, assigned: AssignmentTable) -> None:
    """Whether a key is that of an assignment.
    Raises InputError: codes that it does not have, or that stand for other items or systems."""
    shown = assigned.frame[assigned.frame["kind"] != "check"].drop_duplicates("code")
    merged = shown.merge(key.frame, on="code", how="left", suffixes=("", "_of_key"))
    absent = merged["item_of_key"].isna()
    where = f"{key.source} and {assigned.source}"
    if absent.all():
        n = len(merged)
        rule = f"none of the {n:,} codes of the assignment stands in the key: it is that of another study."
        raise refusal(rule, "Give the key that was written with this assignment.", place=where)
    problems = []
    if absent.any():
        names = listing(merged["code"][absent].tolist(), limit=LISTED)
        rule = f"{int(absent.sum()):,} codes of the assignment do not stand in the key: {names}."
        problems.append(Problem(rule, "Is the key whole, and that of this assignment?", place=where))
    for part in ("item", "system"):
        other = ~absent & (merged[part] != "") & (merged[part] != merged[f"{part}_of_key"])
        if other.any():
            first = merged[other].iloc[0]
            rule = (
                f"{int(other.sum()):,} codes stand for another {part} in the key than in the assignment, such as "
                f"{first['code']}: it is the key of another study."
            )
            remedy = "Give the key that was written with this assignment."
            problems.append(Problem(rule, remedy, place=where))
    refuse(problems)


def _is_rather(names: Sequence[str]) -> str:
    """What a table looks like that is not the one asked for."""
    if {"worker_slot", "order", "kind"} <= set(names):
        return "This looks like an assignment."
    if set(_KEY) <= set(names) <= {*_KEY, *_SECRET}:
        return "This looks like a key."
    if "rating" in names:
        return "This looks like a table of ratings."
    return f"Its columns are {listing(names, limit=8)}."


def _texts(table: pd.DataFrame, names: Sequence[str], wanted: Sequence[str]) -> pd.DataFrame:
    """The wanted columns as text without blanks around it, '' for a column that is not there, and the rows as the
    file counts them; rows that are wholly blank left out."""
    made: dict[str, object] = {}
    for name in wanted:
        made[name] = read_cells(table.iloc[:, names.index(name)]).stripped if name in names else ""
    rows = table.index if table.index.name == ROW_INDEX else np.arange(len(table)) + 2
    texts = pd.DataFrame(made, index=pd.Index(rows, name=ROW_INDEX))
    return texts[(texts != "").any(axis=1)]


def _blank(texts: pd.DataFrame, name: str, source: str, among: Mask | None = None) -> list[Problem]:
    blank = (texts[name] == "").to_numpy() & (
        np.ones(len(texts), dtype=np.bool_) if among is None else among
    )
    if not blank.any():
        return []
    rule = f"cells that must not be blank are: {int(blank.sum()):,}."
    row = int(texts.index[int(np.argmax(blank))])
    return [Problem(rule, "Is the file whole?", place=source, row=row, column=name)]


def _wrong_rows(texts: pd.DataFrame, source: str) -> list[Problem]:
    if texts.empty:
        return [Problem("the assignment has no rows.", "Is it half-written?", place=source)]
    at = {name: Location(source, name, texts.index.to_numpy(dtype=np.int64)) for name in _NEEDED}
    problems = _blank(texts, "worker_slot", source)
    shown = (texts["kind"] != "check").to_numpy()
    problems += _blank(texts, "code", source, shown)
    wrong = ~texts["kind"].isin(KINDS).to_numpy()
    rule, remedy = f"a kind is one of {', '.join(KINDS)}.", "Give the table as it was written; is it whole?"
    problems += cell_problems(wrong, read_cells(texts["kind"]), at=at["kind"], rule=rule, remedy=remedy)
    for name in ("batch", "order"):
        number = texts[name].str.fullmatch(r"[1-9][0-9]{0,8}").to_numpy(dtype=np.bool_)
        rule = f"{name} is a whole number from 1 on."
        problems += cell_problems(~number, read_cells(texts[name]), at=at[name], rule=rule, remedy=remedy)
    return problems


# The whole of an assignment, decoded: nothing is missing in it, and spares do what they took over.

_HALF = "Has the file been cut? Write it anew with the command that made it."


@dataclass(frozen=True, slots=True, eq=False)
class WholeWork:
    """Who sees what when: the columns of `AssignmentTable` with the system of each output and whether it was
    `added`, in a table after that of its look that takes nobody's place. First the rows of the study, then those of
    spares, then those of later tables, in their order. `first_taken` is, of each slot that a spare took over,
    the first batch that it did not do itself."""

    frame: pd.DataFrame
    source: str
    first_taken: Mapping[str, int]

    @property
    def planned(self) -> pd.DataFrame:
        """The rows of ratings of the study, without repeats, checks and the work of spares."""
        return self.frame[(self.frame["kind"] == "rating") & (self.frame["replaces"] == "")]


def whole_work(assigned: AssignmentTable, key: Key | None = None) -> WholeWork:
    """Decode an assignment, and check that it is whole.
    Raises InputError: rows that are missing, a key of another assignment, or none where one is needed, and spares
    whose work is not that of the slot that they took over; all at once."""
    frame, source = assigned.frame, assigned.source
    problems = [*_gaps(frame, source)]
    used = key or assigned.key()
    if used is None:
        rule = "the assignment names outputs by codes alone."
        remedy = "Give the key that was written with it (key; --key FILE)."
        problems.append(Problem(rule, remedy, place=source))
    elif key is not None:
        try:
            check_key(key, assigned)
        except InputError as error:
            problems += error.problems
    if problems or used is None:
        raise InputError(problems)
    system = frame["code"].map(used.frame.set_index("code")["system"]).fillna("")
    is_spare = frame["replaces"] != ""
    table = pd.Series(assigned.table, index=frame.index)
    of_study = table[~is_spare]
    decoded = frame.assign(
        system=system.where(frame["kind"] != "check", ""),
        added=~is_spare & (table > frame["look"].map(of_study.groupby(frame["look"]).min())),
    )
    later = table[~is_spare] > of_study.min()
    study, spares = decoded[~is_spare], decoded[is_spare]
    first = spares.groupby("replaces")["batch"].min()
    problems = [*_wrong_spares(study, spares, source)]
    refuse(problems)
    whole = pd.concat([study[~later], spares, study[later]], ignore_index=True)
    return WholeWork(whole, source, {str(slot): int(batch) for slot, batch in first.items()})


def _gaps(frame: pd.DataFrame, source: str) -> list[Problem]:
    """Slots whose order does not count 1, 2, 3, ...; that of a spare may begin later."""
    by_slot = frame.groupby("slot", sort=False)
    least, most, count = by_slot["order"].min(), by_slot["order"].max(), by_slot.size()
    begins = np.where(by_slot["replaces"].first() == "", 1, least)
    broken = (most - begins + 1 != count).to_numpy()
    names = [f"{slot} ({count[slot]:,} of {most[slot]:,} rows)" for slot in count.index[broken]]
    if not names:
        return []
    rule = f"the order of a slot counts 1, 2, 3, ...; rows are missing of {listing(names, limit=LISTED)}."
    return [Problem(rule, _HALF, place=source)]


def _wrong_spares(study: pd.DataFrame, spares: pd.DataFrame, source: str) -> list[Problem]:
    """Spares that do something else than the slot that they took over, from one of its batches on."""
    if study.empty:
        rule = "these are rows of spares alone, not those of the study."
        return [Problem(rule, "Give the table of the study too.", place=source)]
    compared = ["batch", "order", "kind", "code", "item"]
    problems = []
    takers = spares.groupby("replaces")["slot"].nunique().to_dict()
    for (spare, slot), rows in spares.groupby(["slot", "replaces"], sort=False):
        first = rows["batch"].min()
        theirs = study[(study["slot"] == slot) & (study["batch"] >= first)]
        rows = rows[rows["batch"] <= theirs["batch"].max()]  # what was added since is its own
        if takers[slot] > 1:
            rule = f"{slot} is taken over by more than one spare."
        elif not np.array_equal(theirs[compared].to_numpy(), rows[compared].to_numpy()):
            rule = (
                f"{spare} does something else than {slot} from batch {first} on, whose work it took over."
            )
        else:
            continue
        problems.append(Problem(rule, "Write its table anew, by the same plan and seed.", place=source))
    return problems
