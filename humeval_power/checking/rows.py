"""The rows of a table: the columns that matter, which rows are analysed, and why others are not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.checking.cells import (
    Cells,
    Ids,
    Location,
    Mask,
    Numbers,
    codes_in,
    read_cells,
    read_ids,
    read_numbers,
    value_counts,
)
from humeval_power.checking.columns import Columns, Role, listing
from humeval_power.errors import InputError, Problem, refusal

if TYPE_CHECKING:
    import pandas as pd


# The table that comes back from the field, decoded: which of its rows are ratings of the study, and which
# are repeats and attention checks, that tell of the workers alone.

Kind = Literal["rating", "repeat", "check"]
KINDS: tuple[Kind, ...] = ("rating", "repeat", "check")
KIND = "kind"
APART = "repeats and attention checks"
# What is known of an answer besides: its kind, the blinding code of what was shown, where it stands in the
# assignment, the seconds it took, and whether a check was passed (1 or 0).
COLLECTED = (KIND, "code", "slot", "batch", "order", "place", "document", "seconds", "passed")


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The column of kinds of a collected table: `apart` (n,) are repeats and attention checks, `blank` (n,) rows
    of which it says nothing."""

    cells: Cells
    apart: Mask
    blank: Mask

    @property
    def left_out(self) -> tuple[str, ...]:
        """The cells whose rows are no ratings of the study."""
        return tuple(kind for kind in KINDS[1:] if kind in {text.strip() for text in self.cells.texts})

    def words(self, rows: Mask) -> str:
        """Why these rows are left out: "repeats and attention checks (kind is 'check': 40, 'repeat': 21)"."""
        return f"{APART} ({KIND} is {value_counts(self.apart & rows, self.cells)})"


def read_kinds(table: pd.DataFrame, *, but: Collection[str] = ()) -> Kinds | None:
    """What the column of kinds says of each row; None where a table has none, or one of other words: it is no
    collected table then. The columns `but` are something else."""
    if KIND in but or list(table.columns).count(KIND) != 1:
        return None
    cells = read_cells(table[KIND])
    texts = [text.strip() for text in cells.texts]
    occurring = {texts[code] for code in codes_in(cells.code)} - {""}
    if not occurring or not occurring <= set(KINDS):
        return None
    apart = np.array([text in KINDS[1:] for text in texts])[cells.code]
    blank = np.array([not text for text in texts])[cells.code]
    return Kinds(cells, apart, blank)


def first_answers(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that are ratings of the study: without repeats and attention checks."""
    kinds = read_kinds(table)
    return table if kinds is None else table[~kinds.apart]


# Rows of work that was rejected, returned or never finished, as the exports of platforms mark them.

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
class RefusedRows:
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


def refused_rows(table: pd.DataFrame, *, but: Collection[str] = ()) -> tuple[RefusedRows, ...]:
    """What each column of states says, none where no row is marked; the columns `but` are read as ids or
    ratings, not as states."""
    import pandas as pd

    known = {bare: name for name in map(str, table.columns) if (bare := _bare(name)) and name not in but}
    refused = []
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
            refused.append(RefusedRows(name, cells, mask))
    return tuple(refused)


def marked_rows(refused: Sequence[RefusedRows], n_rows: int) -> Mask:
    """The rows that any of the columns marks, (n_rows,)."""
    mask = np.zeros(n_rows, dtype=np.bool_)
    for one in refused:
        mask |= one.mask
    return mask


def refusal_words(refused: Sequence[RefusedRows], rows: Mask) -> str:
    """What the columns say of these rows."""
    return "; ".join(one.words(rows) for one in refused if (one.mask & rows).any())


def undecided(refused: Sequence[RefusedRows], rows: Mask, *, source: str) -> list[Problem]:
    """The problem of marked rows that nobody has decided on."""
    marked = marked_rows(refused, len(rows)) & rows
    if not marked.any():
        return []
    names = listing([one.column for one in refused if (one.mask & rows).any()])
    rule = (
        f"{int(marked.sum()):,} of {int(rows.sum()):,} rows hold rejected or unfinished work by their {names}: "
        f"{refusal_words(refused, rows)}."
    )
    return [Problem(rule, REMEDY, place=source)]


def kept_notice(refused: Sequence[RefusedRows], rows: Mask) -> list[str]:
    """What to say where marked rows are analysed."""
    n_marked = int((marked_rows(refused, len(rows)) & rows).sum())
    if not n_marked:
        return []
    verb = "row is" if n_marked == 1 else "rows are"
    return [
        f"WARNING: {n_marked:,} {verb} of rejected or unfinished work ({refusal_words(refused, rows)}) and "
        f"analysed, "
        "as --rejected-rows keep says."
    ]


def decided_rows(
    table: pd.DataFrame, rejected_rows: Rejected | None, *, source: str, but: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows of a table to read, and what to say of those that are marked.
    Raises InputError: marked rows, and `rejected_rows` is None."""
    refused = refused_rows(table, but=but)
    everything = np.ones(len(table), dtype=np.bool_)
    marked = marked_rows(refused, len(table))
    if not marked.any():
        return table, ()
    if rejected_rows is None:
        raise InputError(undecided(refused, everything, source=source))
    if rejected_rows == "keep":
        return table, tuple(kept_notice(refused, everything))
    verb = "row is" if marked.sum() == 1 else "rows are"
    text = f"{int(marked.sum()):,} {verb} left out: {refusal_words(refused, everything)}."
    if marked.all():
        raise refusal(f"no row is left: {text}", "Is this the right file?", place=source)
    return table[~marked], (text,)


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


ROW_INDEX = "row"  # an index of this name holds the row numbers of the file

OF_ANOTHER_CRITERION = "criterion is not "  # rows that were not asked for, and no exclusion


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One line of the flow of rows: read, dropped (and why), analysed."""

    step: Literal["read", "dropped", "analysed"]
    rows: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExportFlow:
    """How ratings came out of a platform's export: which one it was, by what it was known, and the flow, first in
    rows of the export, then in ratings."""

    source: str
    platform: str
    known_by: str
    flow: tuple[FlowStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The columns of a table as codes and numbers, before any row is dropped; arrays of shape (n,).

    `refused` is what the columns of states say of rejected or unfinished work, `kinds` what a collected table says
    of repeats and attention checks.
    """

    ids: dict[Role, Ids]
    cells: Cells
    numbers: Numbers
    at: dict[Role, Location]
    refused: tuple[RefusedRows, ...] = ()
    kinds: Kinds | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Which rows are analysed (`kept`), which belong to the criterion (`of_criterion`), which to it and the
    systems (`chosen`), all of shape (n,), and the flow that says why the others were dropped."""

    kept: Mask
    of_criterion: Mask
    chosen: Mask
    flow: tuple[FlowStep, ...]


def read_rows(table: pd.DataFrame, columns: Columns, *, missing: Collection[str], source: str) -> Rows:
    """The ids and ratings of every row, with the numbers that the rows have in the file."""
    numbering = np.arange(len(table), dtype=np.int64) + 2  # the header is row 1
    if table.index.name == ROW_INDEX:
        numbering = table.index.to_numpy(dtype=np.int64)
    at = {role: Location(source, name, numbering) for role, name in columns.of_role().items()}
    ids: dict[Role, Ids] = {
        role: read_ids(read_cells(table[place.column])) for role, place in at.items() if role != "rating"
    }
    cells = read_cells(table[columns.rating])
    others = columns.of_role().values()
    refused, kinds = refused_rows(table, but=others), read_kinds(table, but=others)
    return Rows(ids, cells, read_numbers(cells, missing=missing), at, refused, kinds)


def select_rows(
    rows: Rows,
    *,
    criterion: str | None,
    systems: tuple[str, str] | None,
    rejected_rows: Rejected | None = None,
) -> Selection:
    """Drop empty rows, repeats and attention checks, other criteria, other systems, rejected work where
    `rejected_rows` says so, and missing ratings, in this order."""
    empty = _empty(rows)
    apart = np.zeros_like(empty) if rows.kinds is None else rows.kinds.apart
    other_criterion = np.zeros_like(empty)
    if criterion is not None and "criterion" in rows.ids:
        other_criterion = ~_one_of(rows.ids["criterion"], (criterion,))
    drops = [("row is empty", empty)]
    if rows.kinds is not None:
        drops.append((rows.kinds.words(~empty), apart))
    drops.append((f"{OF_ANOTHER_CRITERION}{criterion!r}", other_criterion))
    of_criterion = ~(empty | apart | other_criterion)
    if systems is not None:
        ids = rows.ids["system"]
        other_system = ~_one_of(ids, systems) & (ids.code >= 0)
        drops.append((f"system is neither {systems[0]!r} nor {systems[1]!r}", other_system))
    of_study = chosen = ~np.logical_or.reduce([mask for _, mask in drops])
    marked = marked_rows(rows.refused, len(empty))
    if rejected_rows == "drop" and (chosen & marked).any():
        drops.append((f"rejected or unfinished ({refusal_words(rows.refused, chosen)})", marked))
        of_criterion = of_criterion & ~marked
        chosen = chosen & ~marked
    codes = value_counts(chosen & rows.numbers.missing, rows.cells)
    drops.append((f"rating is missing ({codes})", rows.numbers.missing))
    return Selection(chosen & ~rows.numbers.missing, of_criterion, of_study, _flow(drops, len(empty)))


def _flow(drops: list[tuple[str, Mask]], n_rows: int) -> tuple[FlowStep, ...]:
    flow = [FlowStep("read", n_rows)]
    kept = np.ones(n_rows, dtype=np.bool_)
    for reason, mask in drops:
        n_dropped = int((kept & mask).sum())
        if n_dropped:
            flow.append(FlowStep("dropped", n_dropped, reason))
        kept &= ~mask
    return (*flow, FlowStep("analysed", int(kept.sum())))


def _empty(rows: Rows) -> Mask:
    no_rating = rows.cells.blank
    unnamed = [ids.code < 0 for ids in rows.ids.values()]
    if rows.kinds is not None:
        unnamed.append(rows.kinds.blank)
    empty: Mask = np.logical_and.reduce([no_rating, *unnamed])
    return empty


def _one_of(ids: Ids, names: tuple[str, ...]) -> Mask:
    return np.isin(ids.code, [code for code, name in enumerate(ids.names) if name in names])
