"""The whole of an assignment, decoded: nothing is missing in it, and spares do what they took over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.columns import listing
from humeval_power.checking.exports.assigned import Assigned, Key, check_key
from humeval_power.errors import InputError, Problem

_HALF = "Has the file been cut? Write it anew with the command that made it."


@dataclass(frozen=True, slots=True, eq=False)
class WholeWork:
    """Who sees what when: the columns of `Assigned` with the system of each output, first the rows of the study,
    then those of spares, in the order of their tables. `first_taken` is, of each slot that a spare took over, the
    first batch that it did not do itself."""

    frame: pd.DataFrame
    source: str
    first_taken: Mapping[str, int]

    @property
    def planned(self) -> pd.DataFrame:
        """The rows of ratings of the study, without repeats, checks and the work of spares."""
        return self.frame[(self.frame["kind"] == "rating") & (self.frame["replaces"] == "")]


def whole_work(assigned: Assigned, key: Key | None = None) -> WholeWork:
    """Decode an assignment, and check that it is whole.

    Raises
    ------
    InputError
        Rows that are missing, a key of another assignment, or none where one is needed, and spares whose work is
        not that of the slot that they took over; all at once.
    """
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
    decoded = frame.assign(system=system.where(frame["kind"] != "check", ""))
    is_spare = decoded["replaces"] != ""
    study, spares = decoded[~is_spare], decoded[is_spare]
    first = spares.groupby("replaces")["batch"].min()
    problems = [*_wrong_spares(study, spares, source)]
    if problems:
        raise InputError(problems)
    whole = pd.concat([study, spares], ignore_index=True)
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
