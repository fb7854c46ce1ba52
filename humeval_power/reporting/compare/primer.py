"""The bootstrap primer's p of counts of items helped and hurt: what is said of it, its picture and the record."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.compare.primer import REMARK
from humeval_power.inference.compare.primer_counts import PrimerCounts
from humeval_power.reporting.answer_words import share_words
from humeval_power.reporting.compare.resamples import primer_chart
from humeval_power.reporting.document import Document, Fact, Facts, Listing, Section, Table
from humeval_power.reporting.numbers import counted, p_cell, p_words, significant_interval
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result


@dataclass(frozen=True, kw_only=True)
class PrimerCountsResult(Result):
    """The primer's p of counts, exactly, beside the tests of the same counts."""

    schema: ClassVar[str] = "humeval_power/primer/1"

    found: PrimerCounts
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The p, how it comes about, and what tests say."""
        found = self.found
        picture = primer_chart(found.resamples, estimate=found.difference)
        return Document(
            "The bootstrap primer's p",
            lead=f"B is not ahead in {share_words(found.p_value)} of the resamples of "
            f"{counted(found.n_items, 'item')}: the primer's {p_words(found.p_value)}, exactly.",
            caveats=(REMARK,),
            sections=(
                Section("", (Facts(self._facts()), picture)),
                Section("What tests say of these counts", (self._tests(), Listing(self._next()))),
            ),
        )

    def _facts(self) -> tuple[Fact, ...]:
        found = self.found
        same = found.n_items - found.n_helped - found.n_hurt
        return (
            (
                "Items",
                f"{found.n_items:,}: B right and A wrong on {found.n_helped:,} (helped), A right and B wrong on "
                f"{found.n_hurt:,} (hurt), no difference on {same:,}",
            ),
            ("B - A", f"{100 * found.difference:+.4g} points of accuracy"),
            ("Resamples, 95 %", f"{significant_interval(*found.interval)}, the middle of their means"),
            (
                "Sums of exactly 0",
                f"{share_words(found.share_of_zero)} of the resamples; the primer counts them as not helped",
            ),
        )

    def _tests(self) -> Table:
        found = self.found
        rows = (
            ("McNemar, mid-p", "two-sided", p_cell(found.mid_p)),
            ("McNemar, exact conditional", "two-sided", p_cell(found.exact_p)),
            ("sign test", "one-sided, B better", p_cell(found.sign_p)),
            ("the primer's p", "one-sided, B better", p_cell(found.p_value)),
        )
        return Table(("test", "alternative", "p"), rows)

    def _next(self) -> str:
        found = self.found
        return f"humeval-power accuracy test --only-b {found.n_helped} --only-a {found.n_hurt} --n {found.n_items}"

    def content(self) -> Record:
        """Counts, p-values, and the histogram of the resampled means."""
        return {**asdict(self.found), "difference": self.found.difference}

    def table_rows(self) -> list[Record]:
        """One row, without the histogram."""
        record = self.content()
        low, high = self.found.interval
        kept = {name: value for name, value in record.items() if name not in ("resamples", "interval")}
        return [{**kept, "low": low, "high": high}]
