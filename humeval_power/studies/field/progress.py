"""How far a study has come: who has done what of the assignment, and what is missing. It never reads a system."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Mask, read_cells, read_numbers
from humeval_power.checking.exports.assigned import AssignmentTable
from humeval_power.checking.exports.decoding import FATES, AssignmentMatch, Fate
from humeval_power.checking.rows import KINDS, refused_rows

State = Literal["complete", "begun", "not begun", "withdrawn", "refused", "taken over"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far the slots of an assignment have come.

    slots : a row for each slot, in the order of the assignment: slot, state, expected and done (showings),
        n_batches, batches_done, next_batch (the first that is not done; 0: none), worker (the first), workers (how
        many), extra (answers that do not fit). What a spare took over is expected of the spare.
    showings : the rows of the assignment that are expected, with `done`.
    answers : those that fit and checks of the study's own, as `worker_quality` takes them: worker, item, system,
        code, kind, rating as a number, and, where they are known, criterion, seconds and passed. In the place of
        the system stands the code.
    fates : how many answers have which fate; `n_without_slot` those that fit and whose slot cannot be told.
    n_workers, n_withdrawn : who gave answers, and how many of them took their consent back.
    """

    slots: pd.DataFrame
    showings: pd.DataFrame
    answers: pd.DataFrame
    fates: dict[Fate, int]
    n_without_slot: int
    n_workers: int
    n_withdrawn: int

    @property
    def n_expected(self) -> int:
        """Showings that are expected of all slots."""
        return len(self.showings)

    @property
    def n_done(self) -> int:
        """Those that are done: answered by every criterion."""
        return int(self.showings["done"].sum())

    @property
    def n_misfits(self) -> int:
        """Answers that the assignment does not have."""
        return sum(self.fates[fate] for fate in ("unknown code", "unknown slot", "not given"))

    def of_kind(self) -> dict[str, tuple[int, int]]:
        """Showings done and expected of each kind."""
        done, kind = self.showings["done"], self.showings["kind"]
        return {one: (int(done[kind == one].sum()), int((kind == one).sum())) for one in KINDS}

    def looks(self) -> list[tuple[str, int, int]]:
        """Each look with its showings done and expected; nothing without looks."""
        look, done = self.showings["look"].to_numpy(dtype=object), self.showings["done"].to_numpy()
        names = sorted({str(name) for name in look} - {""}, key=lambda name: (len(name), name))
        return [(name, int(done[look == name].sum()), int((look == name).sum())) for name in names]

    def items(self) -> pd.DataFrame:
        """A row for each item: item, expected and done (ratings, whatever the systems)."""
        rated = self.showings[(self.showings["kind"] == "rating") & (self.showings["item"] != "")]
        result = rated.groupby("item", sort=False)["done"].agg(expected="size", done="sum").reset_index()
        return result.astype({"done": np.int64})


def progress(
    answers: pd.DataFrame,
    matched: AssignmentMatch,
    assigned: AssignmentTable,
    *,
    withdrawn: Collection[str] = (),
) -> Progress:
    """Count what is done of an assignment.

    A showing is done when it has an answer by every criterion that occurs. Answers of those who withdrew count
    for nothing, and so do those in rows that a column of states marks as rejected or returned; what is still being
    worked on, or waits for review, counts.

    Parameters
    ----------
    answers : as `long_table` gives them, with a column of codes.
    """
    workers = answers["worker"].astype(str).str.strip().to_numpy(dtype=object)
    gone = pd.Series(workers).isin(list(withdrawn)).to_numpy()
    refused = np.zeros(len(answers), dtype=np.bool_)
    for one in refused_rows(answers):
        refused |= one.is_final
    fits = matched.of("fits") & ~gone & ~refused
    counts = fits & (matched.slot != "")
    own = matched.of("own check") & ~gone & ~refused
    rows = assigned.frame.assign(done=_done(answers, matched, counts, len(assigned.frame)))
    showings = rows[~assigned.taken_over]
    slots = _slots(showings, assigned)
    who = pd.DataFrame({"slot": matched.slot, "worker": workers, "gone": gone, "refused": refused})
    slots = _with_workers(slots, who[matched.slot != ""], misfit=_misfits(matched)[matched.slot != ""])
    return Progress(
        slots=slots,
        showings=showings.drop(columns="system"),
        answers=_quality_table(answers, matched, assigned, fits | own),
        fates={fate: int((matched.of(fate) & ~gone).sum()) for fate in FATES},
        n_without_slot=int((fits & (matched.slot == "")).sum()),
        n_workers=len(set(workers)),
        n_withdrawn=len(set(workers[gone])),
    )


def _done(answers: pd.DataFrame, matched: AssignmentMatch, counts: Mask, n_showings: int) -> Mask:
    criterion = (
        read_cells(answers["criterion"]).code
        if "criterion" in answers
        else np.zeros(len(answers), np.int64)
    )
    criteria = np.unique(criterion[counts])
    given = pd.DataFrame(
        {"showing": matched.showing[counts], "criterion": criterion[counts]}
    ).drop_duplicates()
    n = np.bincount(given["showing"], minlength=n_showings)
    return np.asarray((n > 0) & (n >= len(criteria)))


def _misfits(matched: AssignmentMatch) -> Mask:
    fates: tuple[Fate, ...] = ("unknown code", "not given", "twice")
    return np.asarray(np.logical_or.reduce([matched.of(fate) for fate in fates]))


def _slots(showings: pd.DataFrame, assigned: AssignmentTable) -> pd.DataFrame:
    """What is expected and done of each slot."""
    order = pd.Index(assigned.slots, name="slot")
    slots = showings.groupby("slot")["done"].agg(expected="size", done="sum").reindex(order, fill_value=0)
    batches = showings.groupby(["slot", "batch"])["done"].all().reset_index()
    slots["n_batches"] = batches.groupby("slot").size().reindex(order, fill_value=0)
    slots["batches_done"] = batches.groupby("slot")["done"].sum().reindex(order, fill_value=0)
    still = batches[~batches["done"]].groupby("slot")["batch"].min()
    slots["next_batch"] = still.reindex(order, fill_value=0)
    return slots.astype(np.int64).reset_index()


def _with_workers(slots: pd.DataFrame, who: pd.DataFrame, *, misfit: Mask) -> pd.DataFrame:
    """The slots with who filled them, what does not fit, and their states."""
    extra = who[misfit].groupby("slot").size()
    each = who.groupby(["slot", "worker"], sort=False)[["gone", "refused"]].all().reset_index()
    staying = each[~(each["gone"] | each["refused"])]
    first = staying.drop_duplicates("slot").set_index("slot")["worker"]
    anyone = each.drop_duplicates("slot").set_index("slot")
    made = slots.assign(
        worker=slots["slot"].map(first).fillna(slots["slot"].map(anyone["worker"])).fillna(""),
        workers=slots["slot"].map(staying.groupby("slot").size()).fillna(0).astype(np.int64),
        extra=slots["slot"].map(extra).fillna(0).astype(np.int64),
    )
    gone = made["slot"].map(anyone["gone"]).fillna(value=False).astype(bool) & (made["workers"] == 0)
    refused = made["slot"].map(anyone["refused"]).fillna(value=False).astype(bool) & (made["workers"] == 0)
    states = np.select(
        [made["expected"] == 0, gone, refused, made["done"] == made["expected"], made["done"] > 0],
        ["taken over", "withdrawn", "refused", "complete", "begun"],
        "not begun",
    )
    made.insert(1, "state", states)
    return made


def _quality_table(
    answers: pd.DataFrame, matched: AssignmentMatch, assigned: AssignmentTable, used: Mask
) -> pd.DataFrame:
    """Some of the answers, with the code in the place of the system: nothing can be computed by system. A check of
    the study's own is of no showing."""
    rows, showing = assigned.frame, matched.showing[used]
    kept = answers[used]
    code = kept["code"].astype(str).str.strip().to_numpy(dtype=object)
    rating = read_numbers(read_cells(kept["rating"]), missing=("",)).value
    made: dict[str, object] = {
        "worker": kept["worker"].astype(str).str.strip().to_numpy(dtype=object),
        "item": np.append(rows["item"].to_numpy(dtype=object), "")[showing],
        "system": code,
        "code": code,
        "kind": np.append(rows["kind"].to_numpy(dtype=object), "check")[showing],
        "rating": rating,
    }
    if "criterion" in kept:
        made["criterion"] = kept["criterion"].astype(str).to_numpy(dtype=object)
    if "seconds" in kept:
        made["seconds"] = read_numbers(read_cells(kept["seconds"]), missing=("",)).value
    if (rows["right"] != "").any():
        right = np.append(read_numbers(read_cells(rows["right"]), missing=("",)).value, np.nan)[showing]
        made["passed"] = np.where(np.isnan(right + rating), np.nan, (rating == right).astype(np.float64))
    if "passed" in kept:
        scored = read_numbers(read_cells(kept["passed"]), missing=("",)).value
        passed = np.asarray(made.get("passed", np.full(len(kept), np.nan)), dtype=np.float64)
        made["passed"] = np.where(np.isnan(passed), scored, passed)
    return pd.DataFrame(made)
