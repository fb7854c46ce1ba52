"""Rows of work that was rejected, returned or never finished, as the exports of platforms mark them.

Such rows hold ratings like any other, and whether they count is a decision of the study. They are never
analysed, nor left out, without a word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.checking.cells import Cells, Mask, read_cells, value_counts
from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd


Rejected = Literal["drop", "keep"]
REMEDY = (
    "Say what to do with them: --rejected-rows drop leaves them out, --rejected-rows keep analyses them."
)

# Names and cells are compared without case, blanks and punctuation.
_STATUS = ("assignmentstatus", "status", "submissionstatus", "sessionstatus", "responsestatus")
_REFUSED = (
    *("rejected", "rejection", "reject", "returned", "timedout", "abandoned", "expired", "screenedout"),
    *("awaitingreview", "active", "reserved", "incomplete", "unfinished", "inprogress", "partial"),
    *("draft", "discarded", "cancelled", "canceled", "skipped", "surveypreview", "surveytest", "spam"),
    *("surveypreviewspam", "importedspam", "offlinesurveypreview", "dataexpired", "consentrevoked"),
)
_ONGOING = (
    "awaitingreview",
    "active",
    "reserved",
    "incomplete",
    "unfinished",
    "inprogress",
    "partial",
    "draft",
)
_FINISHED = ("finished", "iscomplete", "completed")
_NO = ("false", "0", "no")
_CANCELLED = ("wascancelled", "iscancelled", "rejected", "isrejected")
_YES = ("true", "1", "yes")
# Qualtrics writes its Status as words, or as numbers: previews, tests and spam.
_QUALTRICS = ("1", "2", "8", "9", "12", "17")


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """Rows that a column of states marks as rejected or unfinished; `mask` is (n,)."""

    column: str
    cells: Cells
    mask: Mask

    @property
    def is_final(self) -> Mask:
        """The rows, (n,), of work that will not go on or be accepted: rejected, returned, cancelled."""
        ongoing = np.array([_bare(text) in (*_ONGOING, *_NO) for text in self.cells.texts])
        return np.asarray(self.mask & ~ongoing[self.cells.code])

    def words(self, rows: Mask) -> str:
        """The column with the states of these rows: "AssignmentStatus is 'Rejected': 3"."""
        return f"{self.column} is {value_counts(self.mask & rows, self.cells)}"


def refused_rows(table: pd.DataFrame, *, but: Collection[str] = ()) -> tuple[Refused, ...]:
    """What each column of states says, none where no row is marked; the columns `but` are read as ids or
    ratings, not as states."""
    import pandas as pd

    known = {bare: name for name in map(str, table.columns) if (bare := _bare(name)) and name not in but}
    found = []
    for bare, name in known.items():
        meant = _meant_by(bare, known)
        if not meant:
            continue
        column = table[name]
        if isinstance(column, pd.DataFrame):  # two columns of this name
            continue
        cells = read_cells(column)
        marked = np.array([_bare(text) in meant for text in cells.texts])
        if bare == "reject":  # a requester's reason, in any words
            marked = np.array([_bare(text) not in ("", "nan", "none") for text in cells.texts])
        mask = marked[cells.code] & (cells.code >= 0)
        if mask.any():
            found.append(Refused(name, cells, mask))
    return tuple(found)


def marked_rows(found: Sequence[Refused], n_rows: int) -> Mask:
    """The rows that any of the columns marks, (n_rows,)."""
    mask = np.zeros(n_rows, dtype=np.bool_)
    for one in found:
        mask |= one.mask
    return mask


def refusal_words(found: Sequence[Refused], rows: Mask) -> str:
    """What the columns say of these rows."""
    return "; ".join(one.words(rows) for one in found if (one.mask & rows).any())


def undecided(found: Sequence[Refused], rows: Mask, *, source: str) -> list[Problem]:
    """The problem of marked rows that nobody has decided on."""
    marked = marked_rows(found, len(rows)) & rows
    if not marked.any():
        return []
    names = listing([one.column for one in found if (one.mask & rows).any()])
    rule = (
        f"{int(marked.sum()):,} of {int(rows.sum()):,} rows hold rejected or unfinished work by their {names}: "
        f"{refusal_words(found, rows)}."
    )
    return [Problem(rule, REMEDY, place=source)]


def kept_notice(found: Sequence[Refused], rows: Mask) -> list[str]:
    """What to say where marked rows are analysed."""
    n_marked = int((marked_rows(found, len(rows)) & rows).sum())
    if not n_marked:
        return []
    verb = "row is" if n_marked == 1 else "rows are"
    return [
        f"WARNING: {n_marked:,} {verb} of rejected or unfinished work ({refusal_words(found, rows)}) and analysed, "
        "as --rejected-rows keep says."
    ]


def decided_rows(
    table: pd.DataFrame, rejected_rows: Rejected | None, *, source: str, but: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows of a table to read, and what to say of those that are marked.

    Raises
    ------
    InputError
        Marked rows, and `rejected_rows` is None.
    """
    found = refused_rows(table, but=but)
    everything = np.ones(len(table), dtype=np.bool_)
    marked = marked_rows(found, len(table))
    if not marked.any():
        return table, ()
    if rejected_rows is None:
        raise InputError(undecided(found, everything, source=source))
    if rejected_rows == "keep":
        return table, tuple(kept_notice(found, everything))
    verb = "row is" if marked.sum() == 1 else "rows are"
    told = f"{int(marked.sum()):,} {verb} left out: {refusal_words(found, everything)}."
    if marked.all():
        raise InputError([Problem(f"no row is left: {told}", "Is this the right file?", place=source)])
    return table[~marked], (told,)


def _meant_by(column: str, known: Collection[str]) -> tuple[str, ...]:
    """The cells of a column, by its bare name, that mark rejected or unfinished work; none for others."""
    if column in _STATUS:
        return (*_REFUSED, *_QUALTRICS) if column == "status" and "finished" in known else _REFUSED
    if column in _FINISHED:
        return _NO
    if column in _CANCELLED:
        return _YES
    return ("",) if column == "reject" and "assignmentstatus" in known else ()


def _bare(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
