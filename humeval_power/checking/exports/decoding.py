"""From codes to items and systems: the collected table of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Codes, Location, Mask, cell_problems, read_cells, read_numbers
from humeval_power.checking.collected import COLLECTED, KINDS
from humeval_power.checking.exports.assigned import Assigned, Key, check_key
from humeval_power.checking.exports.filled_slots import slot_notices
from humeval_power.checking.exports.matching import FATES, Fate, Matched, match
from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError, Problem

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
class Decoded:
    """The collected table, and what left it on the way, of each export. `matched` is where each answer of the
    exports belongs, in their order; None where there was no assignment."""

    frame: pd.DataFrame
    flow: tuple[tuple[FlowStep, ...], ...]
    notices: tuple[str, ...]
    matched: Matched | None = None


def decode(
    answers: pd.DataFrame,
    *,
    part: Codes,
    sources: Sequence[str],
    assigned: Assigned | None,
    key: Key | None,
    drop_misfits: bool = False,
) -> Decoded:
    """Say of each answer which item and system it is of, and of which kind.

    Parameters
    ----------
    answers : as `long_table` gives them, with a column of codes.
    part, sources : (n_answers,) which export each answer stands in, and the names of the exports.
    drop_misfits : leave out and count what fits nowhere; otherwise it is refused.

    Raises
    ------
    InputError
        A key that is not that of the assignment; codes and slots that neither has, outputs that a slot was not
        given, and two different answers to one showing: all at once.
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
    flow = tuple(_flow(frame, matched, part, number) for number in range(len(sources)))
    kept = frame[matched.of("fits") | matched.of("own check")]
    return Decoded(kept, flow, tuple(slot_notices(answers, matched, assigned)), matched)


def matched_of(
    answers: pd.DataFrame, *, part: Codes, sources: Sequence[str], assigned: Assigned
) -> Matched:
    """Where each answer belongs in the assignment.

    Raises
    ------
    InputError
        Exports without codes, or of which none stands in the assignment.
    """
    _check_codes(answers, sources)
    matched = match(answers, assigned, part=part)
    if not (matched.of("fits") | matched.of("not given") | matched.of("taken over")).any():
        unknown = "slots" if matched.of("unknown slot").any() else "codes"
        rule = f"none of its {unknown} stands in {assigned.source}: it is the assignment of another study."
        remedy = "Give the assignment that was carried out."
        raise InputError([Problem(rule, remedy, place=", ".join(sources))])
    return matched


def _check_codes(answers: pd.DataFrame, sources: Sequence[str]) -> None:
    if "code" not in answers:
        rule = "nothing says which code an answer is of, so that no assignment or key is needed."
        raise InputError(
            [Problem(rule, "Name the column of codes in a mapping.", place=", ".join(sources))]
        )


def _by_key(answers: pd.DataFrame, key: Key, part: Codes, sources: Sequence[str]) -> Decoded:
    """Items and systems by the key alone; of repeats and checks only the export's own column of kinds tells."""
    codes = read_cells(answers["code"])
    told = key.frame.set_index("code")
    names = [text.strip() for text in codes.texts]
    is_check = _kind(answers) == "check"
    known = np.array([name in told.index for name in names])[codes.code]
    if not (known | is_check).any():
        rule = f"none of its codes stands in {key.source}: it is the key of another study."
        raise InputError([Problem(rule, "Give the key of this study.", place=", ".join(sources))])
    remedy = "If it is of an attention check, give the assignment too: it says which codes are."
    problems = _cells(
        answers, "code", ~(known | is_check), part, sources, "stands in no row of the key.", remedy
    )
    if problems:
        raise InputError(problems)
    frame = answers.assign(
        **{
            name: np.where(
                known, np.array([told[name].get(one, "") for one in names], dtype=object)[codes.code], ""
            )
            for name in ("item", "system")
        }
    )
    cell = [name for name in ("worker", "code", "criterion") if name in frame]
    again = int((frame.duplicated(cell) & (_kind(answers) == "rating")).sum())
    notices = []
    if again:
        notices.append(
            f"WARNING: {again:,} answers are to outputs that their worker has answered before. Whether they are "
            "repeats is told by the assignment; without it all count as ratings."
        )
    return Decoded(_in_order(frame), ((),) * len(sources), tuple(notices))


def _kind(answers: pd.DataFrame) -> np.ndarray:
    if "kind" not in answers:
        return np.full(len(answers), "rating", dtype=object)
    return answers["kind"].astype(str).str.strip().to_numpy(dtype=object)


def _of_assignment(
    answers: pd.DataFrame, matched: Matched, assigned: Assigned, key: Key | None
) -> pd.DataFrame:
    """The answers with what the assignment and the key say of them; blank where they say nothing."""
    rows = assigned.frame
    told = {name: _taken(rows[name], matched.showing) for name in ("kind", "item")}
    told["kind"] = np.where(matched.of("own check"), "check", told["kind"])
    told["slot"] = matched.slot
    for name in ("batch", "order", "place", "document"):
        if name in ("batch", "order") or (rows[name] != "").any():
            told[name] = np.where(matched.slot == "", "", _taken(rows[name], matched.showing))
    if key is not None:
        output = key.frame.set_index("code")
        codes = answers["code"].astype(str).str.strip()
        for name in ("item", "system"):
            told[name] = codes.map(output[name]).fillna("").to_numpy(dtype=object)
    if (rows["right"] != "").any():
        told["passed"] = _passed(answers, _taken(rows["right"], matched.showing))
        if "passed" in answers:  # where the rating does not tell
            told["passed"] = np.where(
                told["passed"] == "", answers["passed"].fillna("").astype(str), told["passed"]
            )
    if "source" in answers:
        told["source"] = answers["source"].to_numpy(dtype=object)
    return _in_order(answers.assign(**told))


def _taken(column: pd.Series, showing: Codes) -> np.ndarray:
    return np.array([*column.astype(str), ""], dtype=object)[showing]


def _passed(answers: pd.DataFrame, right: np.ndarray) -> np.ndarray:
    """'1' where a check was answered as it asks, '0' where not, '' for what has no right answer."""
    wanted = read_numbers(read_cells(pd.Series(right)), missing=("",)).value
    given = read_numbers(read_cells(answers["rating"]), missing=("",)).value
    return np.where(np.isnan(wanted) | np.isnan(given), "", np.where(given == wanted, "1", "0")).astype(
        object
    )


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    first = [name for name in _FIRST if name in frame]
    return frame[[*first, *(name for name in frame if name not in first)]]


def _flow(frame: pd.DataFrame, matched: Matched, part: Codes, number: int) -> tuple[FlowStep, ...]:
    here = part == number
    said_of = _LEAVES | {fate: said for fate, (_, said) in _RULES.items()}
    steps = [(said, matched.of(fate)) for fate, said in said_of.items()]
    flow = [
        FlowStep("dropped", int((here & mask).sum()), said) for said, mask in steps if (here & mask).any()
    ]
    kinds = frame["kind"].to_numpy(dtype=object)[here & matched.of("fits")]
    counts = ", ".join(f"{int((kinds == kind).sum()):,} {kind}s" for kind in KINDS)
    n_own = int((here & matched.of("own check")).sum())
    beside = f"; and beside it {n_own:,} checks of the study's own" if n_own else ""
    return (*flow, FlowStep("analysed", len(kinds) + n_own, f"answers of the assignment: {counts}{beside}"))


def _misfit_problems(
    answers: pd.DataFrame, matched: Matched, part: Codes, sources: Sequence[str]
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
