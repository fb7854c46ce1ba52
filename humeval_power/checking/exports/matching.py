"""Answers laid beside the assignment: which showing each one is of, and which are of none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Codes, Mask, read_cells, read_numbers
from humeval_power.checking.exports.assigned import Assigned

Fate = Literal[
    "fits", "own check", "copy", "taken over", "unknown code", "unknown slot", "not given", "twice"
]
FATES: tuple[Fate, ...] = get_args(Fate)
_FITS, _OWN_CHECK, _COPY, _TAKEN_OVER, _UNKNOWN_CODE, _UNKNOWN_SLOT, _NOT_GIVEN, _TWICE = range(len(FATES))
_READ = ("worker", "code", "slot", "criterion", "rating", "kind")
_CHECK = "\0check"  # what stands for the code of an attention check that has none
_MOST_PAIRS = 20_000_000  # of answers and slots that are compared to tell slots by their codes


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Answers beside the assignment; arrays of shape (n_answers,).

    `showing` is the row of the assignment that an answer is of, -1 where there is none; `slot` the slot that its
    worker filled, '' where that cannot be told: the showing is that of another slot then. `fate` indexes FATES:
    an own check is one that the study asked by a name of its own, beside what the assignment shows. `guessed` says
    that slots were told by the codes that were answered.
    """

    showing: Codes
    slot: np.ndarray
    fate: Codes
    guessed: bool

    def of(self, fate: Fate) -> Mask:
        """The answers of one fate, (n_answers,)."""
        return np.asarray(self.fate == FATES.index(fate))


def match(answers: pd.DataFrame, assigned: Assigned, *, part: Codes) -> Matched:
    """Find the showing that each answer is of.

    The same answer in two files counts once, as often as it stands in one of them. An answer is of the showing of
    its code that has its order; where orders are not known, or are the platform's own, a worker's answers to a code
    are of its showings in their order: the first is the rating, the next its repeat.

    Parameters
    ----------
    answers : as `long_table` gives them, with the columns worker, code and rating.
    part : (n_answers,), which export each answer stands in.
    """
    n = len(answers)
    text = {name: _texts(answers, name) for name in _READ}
    order = _orders(answers)
    fate = np.full(n, _FITS)
    fate[_copies(answers, part)] = _COPY
    rows = _with_checks(assigned.frame)
    text["code"] = np.where((text["code"] == "") & (text["kind"] == "check"), _CHECK, text["code"])
    known = pd.Series(text["code"]).isin(rows["code"]).to_numpy() & (text["code"] != "")
    own = ~known & (text["code"] != "") & (text["kind"] == "check")
    fate[(fate == _FITS) & own] = _OWN_CHECK
    fate[(fate == _FITS) & ~known] = _UNKNOWN_CODE
    slot, guessed = text["slot"], False
    if (blank := (slot == "") & (fate == _FITS)).any():
        slot = _told_by_codes(text, order, slot, blank, rows)
        guessed = bool((slot[blank] != "").any())
    elsewhere = (slot != "") & ~pd.Series(slot).isin(assigned.slots).to_numpy()
    fate[(fate == _FITS) & elsewhere] = _UNKNOWN_SLOT
    looked_at = np.flatnonzero(fate == _FITS)
    showing = np.full(n, -1)
    keyed = pd.DataFrame(
        {
            **{name: text[name][looked_at] for name in ("worker", "code", "criterion", "rating")},
            "slot": np.where(slot == "", _any_slot(text["code"], rows), slot)[looked_at],
            "order": order[looked_at],
            "at": looked_at,
        }
    )
    found = _showings(keyed, rows)
    showing[looked_at] = found["showing"]
    fate[looked_at] = found["fate"]
    fate[(fate == _FITS) & assigned.taken_over[showing]] = _TAKEN_OVER
    return Matched(showing, slot, fate, guessed)


def _with_checks(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the assignment, in which checks without a code of their own have one."""
    code = rows["code"].where((rows["code"] != "") | (rows["kind"] != "check"), _CHECK)
    return rows.assign(code=code)


def _any_slot(code: np.ndarray, rows: pd.DataFrame) -> np.ndarray:
    """Of each code a slot that it is shown to, one of those that see it most often."""
    times = rows[rows["code"] != ""].groupby(["code", "slot"], sort=False).size().reset_index(name="n")
    most = times.sort_values("n", ascending=False, kind="stable").drop_duplicates("code")
    found = pd.Series(code).map(dict(zip(most["code"], most["slot"], strict=True))).fillna("")
    return found.to_numpy(dtype=object)


def _texts(answers: pd.DataFrame, name: str) -> np.ndarray:
    if name not in answers:
        return np.full(len(answers), "", dtype=object)
    cells = read_cells(answers[name])
    return np.array([text.strip() for text in cells.texts], dtype=object)[cells.code]


def _orders(answers: pd.DataFrame) -> np.ndarray:
    if "order" not in answers:
        return np.full(len(answers), np.nan)
    return read_numbers(read_cells(answers["order"]), missing=("",)).value


def _copies(answers: pd.DataFrame, part: Codes) -> Mask:
    """Answers that stand in an earlier export too: rows that are the same in every cell."""
    if len(np.unique(part)) < 2:
        return np.zeros(len(answers), dtype=np.bool_)
    cells = [name for name in answers.columns if name != "source"]
    codes = pd.DataFrame({str(name): read_cells(answers[name]).code for name in cells})
    same = codes.groupby(list(codes.columns), sort=False).ngroup().to_numpy()
    within = pd.DataFrame({"same": same, "part": part}).groupby(["same", "part"]).cumcount()
    return pd.DataFrame({"same": same, "time": within}).duplicated().to_numpy()


def _showings(keyed: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The showing and the fate of answers whose slot is known."""
    shown = pd.DataFrame({"slot": rows["slot"], "code": rows["code"], "order": rows["order"]})
    shown = shown.assign(row=np.arange(len(rows)))[rows["code"] != ""]
    shown = shown.sort_values("order", kind="stable")
    shown["time"] = shown.groupby(["slot", "code"], sort=False).cumcount()
    by_order = keyed[["slot", "code", "order"]].merge(shown, on=["slot", "code", "order"], how="left")[
        "row"
    ]
    one = ["worker", "slot", "code", "criterion"]
    group = keyed.groupby(one, sort=False).ngroup().to_numpy()
    exact = by_order.notna().to_numpy()
    all_exact = np.bincount(group, ~exact, minlength=len(keyed)) == 0
    times = keyed.assign(group=group).sort_values(["group", "order", "at"], kind="stable")
    rank = np.empty(len(keyed), dtype=np.int64)
    rank[times.index.to_numpy()] = times.groupby("group", sort=False).cumcount().to_numpy()
    nth = keyed[["slot", "code"]].assign(time=rank)
    by_time = nth.merge(shown[["slot", "code", "time", "row"]], on=["slot", "code", "time"], how="left")[
        "row"
    ]
    row = np.where(all_exact[group], by_order, by_time)
    given = keyed[["slot", "code"]].merge(
        shown.loc[shown["time"] == 0, ["slot", "code", "row"]], on=["slot", "code"], how="left"
    )["row"]
    fate = np.where(given.isna(), _NOT_GIVEN, np.where(np.isnan(row), _TWICE, _FITS))
    place = np.where(np.isnan(row), -1, row).astype(np.int64)
    answer = pd.DataFrame({"worker": keyed["worker"], "criterion": keyed["criterion"], "place": place})
    fate[(fate == _FITS) & answer.duplicated().to_numpy()] = _TWICE
    if (fate == _TWICE).any():  # the same answer once more is no contradiction
        anywhere = pd.MultiIndex.from_arrays([group, keyed["rating"]])
        here = pd.MultiIndex.from_arrays([group, place, keyed["rating"]])
        first = fate == _FITS
        same = np.where(place < 0, anywhere.isin(anywhere[first]), here.isin(here[first]))
        fate[(fate == _TWICE) & same] = _COPY
    return pd.DataFrame({"showing": np.where(fate == _FITS, place, -1), "fate": fate})


def _told_by_codes(
    text: dict[str, np.ndarray], order: np.ndarray, slot: np.ndarray, blank: Mask, rows: pd.DataFrame
) -> np.ndarray:
    """The slot of workers whose export does not say it: the one that was given all codes that they answered, in
    their order where that is known. Where several were, none is told; where none was, the best ones together."""
    rows = rows[~rows["code"].isin(["", _CHECK])]
    blank = blank & (text["code"] != _CHECK)
    on = ["code", "order"] if np.isfinite(order[blank]).all() else ["code"]
    answered = pd.DataFrame({"worker": text["worker"], "code": text["code"], "order": order})[blank]
    answered = answered[["worker", *on]].drop_duplicates()
    given = rows[["slot", *on]].drop_duplicates()
    sets = {
        slot: frozenset(rows.itertuples(index=False))
        for slot, rows in given.set_index("slot").groupby(level=0)
    }
    if len(set(sets.values())) == 1 and len(sets) > 1:  # every slot sees the same
        return slot
    sizes = answered.merge(given.groupby(on).size().reset_index(name="n"), on=on, how="left")["n"]
    if sizes.sum() > _MOST_PAIRS:
        return slot
    pairs = answered.merge(given, on=on)
    told: dict[str, list[str]] = {}
    counts = pairs.groupby(["worker", "slot"], sort=False).size()
    n_answered = answered.groupby("worker").size()
    for worker, found in counts.groupby(level=0, sort=False):
        best = found.droplevel(0)
        full = best[best == n_answered[worker]]
        if len(full) == 1:
            told[str(worker)] = [str(full.index[0])]
        elif full.empty:
            told[str(worker)] = _cover(pairs[pairs["worker"] == worker], on)
    return _with_told(text, slot, blank, told, given)


def _cover(pairs: pd.DataFrame, on: list[str]) -> list[str]:
    """The slots that together were given what a worker answered, those with the most of it first; none where two
    have as much."""
    slots: list[str] = []
    while len(pairs):
        counts = pairs["slot"].value_counts()
        if len(counts) > 1 and counts.iloc[0] == counts.iloc[1]:
            return []
        slots.append(str(counts.index[0]))
        mine = pairs.loc[pairs["slot"] == counts.index[0], on]
        done = pairs[on].merge(mine.assign(done=True), on=on, how="left")["done"].notna().to_numpy()
        pairs = pairs[~done]
    return slots


def _with_told(
    text: dict[str, np.ndarray],
    slot: np.ndarray,
    blank: Mask,
    told: dict[str, list[str]],
    given: pd.DataFrame,
) -> np.ndarray:
    made = slot.copy()
    codes: dict[str, set[str]] = {}
    for at in np.flatnonzero(blank):
        slots = told.get(text["worker"][at], [])
        if len(slots) == 1:
            made[at] = slots[0]
            continue
        for one in slots:
            if one not in codes:
                codes[one] = set(given.loc[given["slot"] == one, "code"])
            if text["code"][at] in codes[one]:
                made[at] = one
                break
    return made
