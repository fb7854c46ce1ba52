"""The table that comes back from the field, decoded: which of its rows are ratings of the study, and which are
repeats and attention checks, that tell of the workers alone.

One row an answer: worker, item, system, criterion where there is one, rating, and, where known, `COLLECTED`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.checking.cells import Cells, Mask, codes_in, read_cells, value_counts

if TYPE_CHECKING:
    import pandas as pd


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
