"""From codes to items and systems: the collected table of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Codes, Location, Mask, cell_problems, read_cells, read_numbers
from humeval_power.checking.exports.assigned import AssignmentTable, Key, check_key
from humeval_power.checking.rows import COLLECTED, FlowStep
from humeval_power.errors import InputError, Problem, refusal, refuse

# Answers laid beside the assignment: which showing each one is of, and which are of none.

Fate = Literal[
    "fits", "own check", "copy", "taken over", "unknown code", "unknown slot", "not given", "twice"
]
FATES: tuple[Fate, ...] = get_args(Fate)
_FITS, _OWN_CHECK, _COPY, _TAKEN_OVER, _UNKNOWN_CODE, _UNKNOWN_SLOT, _NOT_GIVEN, _TWICE = range(len(FATES))
_READ = ("worker", "code", "slot", "criterion", "rating", "kind")
_CHECK = "\0check"  # what stands for the code of an attention check that has none
_MOST_PAIRS = 20_000_000  # of answers and slots that are compared to tell slots by their codes


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentMatch:
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


def match(answers: pd.DataFrame, assigned: AssignmentTable, *, part: Codes) -> AssignmentMatch:
    """Find the showing that each answer is of.

    The same answer in two files counts once, as often as it stands in one of them. An answer is of the showing of
    its code that has its order; where orders are not known, or are the platform's own, a worker's answers to a code
    are of its showings in their order: the first is the rating, the next its repeat.

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
        slot = _slots_by_codes(text, order, slot, blank, rows)
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
    showings = _showings(keyed, rows)
    showing[looked_at] = showings["showing"]
    fate[looked_at] = showings["fate"]
    fate[(fate == _FITS) & assigned.taken_over[showing]] = _TAKEN_OVER
    return AssignmentMatch(showing, slot, fate, guessed)


def _with_checks(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the assignment, in which checks without a code of their own have one."""
    code = rows["code"].where((rows["code"] != "") | (rows["kind"] != "check"), _CHECK)
    return rows.assign(code=code)


def _any_slot(code: np.ndarray, rows: pd.DataFrame) -> np.ndarray:
    """Of each code a slot that it is shown to, one of those that see it most often."""
    times = rows[rows["code"] != ""].groupby(["code", "slot"], sort=False).size().reset_index(name="n")
    most = times.sort_values("n", ascending=False, kind="stable").drop_duplicates("code")
    series = pd.Series(code).map(dict(zip(most["code"], most["slot"], strict=True))).fillna("")
    return series.to_numpy(dtype=object)


def _texts(answers: pd.DataFrame, name: str) -> np.ndarray:
    if name not in answers:
        return np.full(len(answers), "", dtype=object)
    return read_cells(answers[name]).stripped


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


def _slots_by_codes(
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
    by_worker: dict[str, list[str]] = {}
    counts = pairs.groupby(["worker", "slot"], sort=False).size()
    n_answered = answered.groupby("worker").size()
    for worker, values in counts.groupby(level=0, sort=False):
        best = values.droplevel(0)
        full = best[best == n_answered[worker]]
        if len(full) == 1:
            by_worker[str(worker)] = [str(full.index[0])]
        elif full.empty:
            by_worker[str(worker)] = _cover(pairs[pairs["worker"] == worker], on)
    return _with_slots_by_codes(text, slot, blank, by_worker, given)


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


def _with_slots_by_codes(
    text: dict[str, np.ndarray],
    slot: np.ndarray,
    blank: Mask,
    by_worker: dict[str, list[str]],
    given: pd.DataFrame,
) -> np.ndarray:
    made = slot.copy()
    codes: dict[str, set[str]] = {}
    for at in np.flatnonzero(blank):
        slots = by_worker.get(text["worker"][at], [])
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


# Which slots were filled by whom: several by one worker, one by several, or none that can be told.


def slot_notices(answers: pd.DataFrame, matched: AssignmentMatch, assigned: AssignmentTable) -> list[str]:
    """Workers in several slots, slots with several workers, and workers whose slot cannot be told."""
    fits = matched.of("fits")
    worker = answers["worker"].astype(str).to_numpy(dtype=object)
    who = pd.DataFrame({"worker": worker[fits], "slot": matched.slot[fits]}).drop_duplicates()
    notices = []
    if matched.guessed:
        notices.append("Slots are told by the codes that a worker answered: the exports do not say them.")
    unknown = int((who["slot"] == "").sum())
    if unknown:
        notices.append(
            f"WARNING: which slot was filled cannot be told of {unknown:,} of {who['worker'].nunique():,} workers: "
            "several slots were given what they answered. Repeats are told by the order of the rows."
        )
    known = who[who["slot"] != ""]
    several = known.groupby("worker", sort=False)["slot"].agg(list)
    several = several[several.map(len) > 1]
    if len(several):
        named = " and ".join(several.iloc[0][:3])
        one = "One worker" if len(several) == 1 else f"{len(several):,} workers"
        notices.append(f"WARNING: {one} filled more than one slot, such as {named}.")
    shared = known["slot"].value_counts()
    shared = shared[shared > 1]
    if len(shared):
        first = next(slot for slot in assigned.slots if slot in shared.index)
        slots = "One slot was" if len(shared) == 1 else f"{len(shared):,} slots were"
        notices.append(f"WARNING: {slots} filled by more than one worker, such as {first}.")
    return notices


_REMEDY = "Is it the assignment of this study? --drop-misfits leaves such answers out, and counts them."
# What is wrong with an answer that fits nowhere, and what the flow says of those that are left out.
_RULES: dict[Fate, tuple[str, str]] = {
    "unknown code": ("stands in no row of the assignment.", "code is of no row of the assignment"),
    "unknown slot": ("is no slot of the assignment.", "slot is none of the assignment"),
    "not given": (
        "is an output that the assignment does not give to this slot.",
        "output is not of the slot",
    ),
    "twice": (
        "was answered before by this worker, with another rating.",
        "another answer to what was answered before",
    ),
}
# What leaves without being refused: the assignment says itself that it does not count.
_LEAVES: dict[Fate, str] = {
    "copy": "the same answer stands in another row",
    "taken over": "a spare has taken over this part of the slot",
}
_FIRST = ("worker", "item", "system", "criterion", "rating", *COLLECTED)


@dataclass(frozen=True, slots=True, eq=False)
class DecodedTable:
    """The collected table, and what left it on the way, of each export. `matched` is where each answer of the
    exports belongs, in their order; None where there was no assignment."""

    frame: pd.DataFrame
    flow: tuple[tuple[FlowStep, ...], ...]
    notices: tuple[str, ...]
    matched: AssignmentMatch | None = None


def decode(
    answers: pd.DataFrame,
    *,
    part: Codes,
    sources: Sequence[str],
    assigned: AssignmentTable | None,
    key: Key | None,
    drop_misfits: bool = False,
) -> DecodedTable:
    """Say of each answer which item and system it is of, and of which kind.

    answers : as `long_table` gives them, with a column of codes.
    part, sources : (n_answers,) which export each answer stands in, and the names of the exports.
    drop_misfits : leave out and count what fits nowhere; otherwise it is refused.
    Raises InputError: a key that is not that of the assignment; codes and slots that neither has, outputs that a
    slot was not given, and two different answers to one showing: all at once.
    """
    if assigned is None:
        assert key is not None
        _check_codes(answers, sources)
        return _by_key(answers, key, part, sources)
    own = key or assigned.key()
    if key is not None:
        check_key(key, assigned)
    matched = matched_of(answers, part=part, sources=sources, assigned=assigned)
    misfits = np.logical_or.reduce([matched.of(fate) for fate in _RULES])
    if misfits.any() and not drop_misfits:
        raise InputError(_misfit_problems(answers, matched, part, sources))
    frame = _of_assignment(answers, matched, assigned, own)
    flow = tuple(_flow(matched, part, number) for number in range(len(sources)))
    kept = frame[matched.of("fits") | matched.of("own check")]
    return DecodedTable(kept, flow, tuple(slot_notices(answers, matched, assigned)), matched)


def matched_of(
    answers: pd.DataFrame, *, part: Codes, sources: Sequence[str], assigned: AssignmentTable
) -> AssignmentMatch:
    """Where each answer belongs in the assignment.
    Raises InputError: exports without codes, or of which none stands in the assignment."""
    _check_codes(answers, sources)
    matched = match(answers, assigned, part=part)
    if not (matched.of("fits") | matched.of("not given") | matched.of("taken over")).any():
        unknown = "slots" if matched.of("unknown slot").any() else "codes"
        rule = f"none of its {unknown} stands in {assigned.source}: it is the assignment of another study."
        remedy = "Give the assignment that was carried out."
        raise refusal(rule, remedy, place=", ".join(sources))
    return matched


def _check_codes(answers: pd.DataFrame, sources: Sequence[str]) -> None:
    if "code" not in answers:
        rule = "nothing says which code an answer is of, so that no assignment or key is needed."
        raise refusal(rule, "Name the column of codes in a mapping.", place=", ".join(sources))


def _by_key(answers: pd.DataFrame, key: Key, part: Codes, sources: Sequence[str]) -> DecodedTable:
    """Items and systems by the key alone; of repeats and checks only the export's own column of kinds tells."""
    codes = read_cells(answers["code"])
    rows = key.frame.set_index("code")
    is_check = _kind(answers) == "check"
    known = codes.each(rows.index.__contains__)
    if not (known | is_check).any():
        rule = f"none of its codes stands in {key.source}: it is the key of another study."
        raise refusal(rule, "Give the key of this study.", place=", ".join(sources))
    remedy = "If it is of an attention check, give the assignment too: it says which codes are."
    problems = _cells(
        answers, "code", ~(known | is_check), part, sources, "stands in no row of the key.", remedy
    )
    refuse(problems)
    said = {name: codes.each(rows[name].to_dict().get, object) for name in ("item", "system")}
    frame = answers.assign(**{name: np.where(known, text, "") for name, text in said.items()})
    cell = [name for name in ("worker", "code", "criterion") if name in frame]
    again = int((frame.duplicated(cell) & (_kind(answers) == "rating")).sum())
    notices = []
    if again:
        notices.append(
            f"WARNING: answers to outputs that their worker has answered before: {again:,}. Whether these are "
            "repeats is told by the assignment; without it all count as ratings."
        )
    return DecodedTable(_in_order(frame), ((),) * len(sources), tuple(notices))


def _kind(answers: pd.DataFrame) -> np.ndarray:
    if "kind" not in answers:
        return np.full(len(answers), "rating", dtype=object)
    return answers["kind"].astype(str).str.strip().to_numpy(dtype=object)


def _of_assignment(
    answers: pd.DataFrame, matched: AssignmentMatch, assigned: AssignmentTable, key: Key | None
) -> pd.DataFrame:
    """The answers with what the assignment and the key say of them; blank where they say nothing."""
    rows = assigned.frame
    fields = {name: _taken(rows[name], matched.showing) for name in ("kind", "item")}
    fields["kind"] = np.where(matched.of("own check"), "check", fields["kind"])
    fields["slot"] = matched.slot
    for name in ("batch", "order", "place", "document"):
        if name in ("batch", "order") or (rows[name] != "").any():
            fields[name] = np.where(matched.slot == "", "", _taken(rows[name], matched.showing))
    if key is not None:
        output = key.frame.set_index("code")
        codes = answers["code"].astype(str).str.strip()
        for name in ("item", "system"):
            fields[name] = codes.map(output[name]).fillna("").to_numpy(dtype=object)
    if (rows["right"] != "").any():
        wanted = read_numbers(
            read_cells(pd.Series(_taken(rows["right"], matched.showing))), missing=("",)
        ).value
        given = read_numbers(read_cells(answers["rating"]), missing=("",)).value
        fields["passed"] = np.where(
            np.isnan(wanted) | np.isnan(given), "", np.where(given == wanted, "1", "0")
        ).astype(object)
        if "passed" in answers:  # where the rating does not tell
            fields["passed"] = np.where(
                fields["passed"] == "", answers["passed"].fillna("").astype(str), fields["passed"]
            )
    if "source" in answers:
        fields["source"] = answers["source"].to_numpy(dtype=object)
    return _in_order(answers.assign(**fields))


def _taken(column: pd.Series, showing: Codes) -> np.ndarray:
    return np.array([*column.astype(str), ""], dtype=object)[showing]


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    first = [name for name in _FIRST if name in frame]
    return frame[[*first, *(name for name in frame if name not in first)]]


def _flow(matched: AssignmentMatch, part: Codes, number: int) -> tuple[FlowStep, ...]:
    here = part == number
    said_of = _LEAVES | {fate: said for fate, (_, said) in _RULES.items()}
    steps = [(said, matched.of(fate)) for fate, said in said_of.items()]
    flow = [
        FlowStep("dropped", int((here & mask).sum()), said) for said, mask in steps if (here & mask).any()
    ]
    of_assignment, own = here & matched.of("fits"), here & matched.of("own check")
    beside = ", and checks of the study's own" if own.any() else ""
    return (
        *flow,
        FlowStep("analysed", int((of_assignment | own).sum()), f"answers of the assignment{beside}"),
    )


def _misfit_problems(
    answers: pd.DataFrame, matched: AssignmentMatch, part: Codes, sources: Sequence[str]
) -> list[Problem]:
    problems = []
    for fate, (rule, _) in _RULES.items():
        column = "slot" if fate == "unknown slot" else "code"
        problems += _cells(answers, column, matched.of(fate), part, sources, rule, _REMEDY)
    return problems


def _cells(
    answers: pd.DataFrame,
    column: str,
    wrong: Mask,
    part: Codes,
    sources: Sequence[str],
    rule: str,
    remedy: str,
) -> list[Problem]:
    problems = []
    rows = answers.index.to_numpy(dtype=np.int64)
    for number, source in enumerate(sources):
        here = part == number
        cells = read_cells(answers[column][here])
        at = Location(source, column, rows[here])
        problems += cell_problems(wrong[here], cells, at=at, rule=rule, remedy=remedy)
    return problems


assert {"fits", "own check", *_LEAVES, *_RULES} == set(FATES)
