"""Participants who withdrew: what goes, what stays, and what the ledger of looks was told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.withdrawn import TableSize
from humeval_power.reporting.document import Document, Fact, Facts, Section
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import WITHDRAWAL_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class WithdrawalResult(Result):
    """A table without the participants who withdrew.

    table : all rows of the others, as they were.
    gone, left : what goes with them, and what is left.
    n_planned : the workers that the plan asks for; None without a plan.
    ledger : the ledger of looks that was told; None where no look had seen anything of theirs.
    n_seen : of the ratings that go, those that looks saw.
    """

    schema: ClassVar[str] = WITHDRAWAL_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    table: pd.DataFrame
    gone: TableSize
    left: TableSize
    n_planned: int | None = None
    ledger: str | None = None
    n_seen: int = 0
    provenance: Provenance = UNKNOWN

    def seen(self, ledger: str, n_seen: int) -> WithdrawalResult:
        """The same with what the ledger of looks was told."""
        return replace(self, ledger=ledger if n_seen else None, n_seen=n_seen)

    def body(self) -> Document:
        """What goes and what is left, beside what was planned."""
        planned = "" if self.n_planned is None else f", where {self.n_planned:,} were planned"
        return Document(
            f"{counted(self.gone.n_workers, 'participant')} withdrew",
            lead=f"{counted(self.gone.n_rows, 'row')} of theirs {'is' if self.gone.n_rows == 1 else 'are'} gone; "
            f"{counted(self.left.n_rows, 'row')} of {counted(self.left.n_workers, 'worker')} "
            f"{'is' if self.left.n_rows == 1 else 'are'} left{planned}.",
            sections=(Section("", (Facts(tuple(self._facts())),)),),
        )

    def _facts(self) -> Iterator[Fact]:
        if self.ledger is None:
            yield "Looks", "none has seen ratings of theirs"
        else:
            yield (
                "Looks",
                f"had seen {counted(self.n_seen, 'rating')} of theirs; {self.ledger} says that they are gone",
            )

    def content(self) -> Record:
        """Counts; nothing of a participant."""
        return {
            "n_withdrawn": self.gone.n_workers,
            "n_rows_gone": self.gone.n_rows,
            "n_rows": self.left.n_rows,
            "n_workers": self.left.n_workers,
            "n_planned": self.n_planned,
            "ledger": self.ledger,
            "n_seen": self.n_seen,
        }

    def to_frame(self) -> pd.DataFrame:
        """The table without them."""
        return self.table.reset_index(drop=True)

    def artefact(self, ending: str) -> str:
        """The table without them as CSV."""
        assert ending in self.endings
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The table without them."""
        return {"ratings.csv": self.artefact(".csv")}
