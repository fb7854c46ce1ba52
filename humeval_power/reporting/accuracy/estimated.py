"""Accuracies, difference and agreement of two systems, and what they say about the next test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from humeval_power.inference.accuracy.answers import Answers
from humeval_power.inference.accuracy.comparison import Comparison
from humeval_power.reporting.accuracy.words import (
    cluster_name,
    clusters_of_pair,
    described,
    facts,
    in_row,
    independence,
    more_items,
    picture,
    signature,
)
from humeval_power.reporting.clustered_words import cluster_caveats
from humeval_power.reporting.document import Document, Listing, Paragraph, Section
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.numbers import percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

CONFIDENCE = 0.95  # of the interval of an estimate


@dataclass(frozen=True, kw_only=True)
class AccuracyEstimateResult(Result):
    """Accuracies, difference and agreement of two systems on the same items; `answers` are None where counts
    alone are known."""

    schema: ClassVar[str] = "humeval_power/accuracy_estimate/1"

    comparison: Comparison
    answers: Answers | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The estimates, and how to ask for the power of a test set that is like these items."""
        found, counts = self.comparison, self.comparison.counts
        a, b = found.systems
        answers = independence([found], self.answers)
        return Document(
            f"Accuracy and agreement of {a} and {b}",
            lead=f"{b} is right on {more_items(found)} {'than' if counts.difference else 'as'} {a}; both are right "
            f"or both are wrong on {percent(counts.agreement)} of them.",
            headline=tuple(facts(found, CONFIDENCE)),
            caveats=cluster_caveats(found.clustered),
            sections=(
                Section("", (picture([found], CONFIDENCE),)),
                Section(
                    "Power of a test set",
                    (
                        Paragraph(self._advice()),
                        Listing(
                            f"humeval-power accuracy power --n {self._effective} --effect "
                            f"{abs(counts.difference):.4g} --agreement {counts.agreement:.4g}"
                        ),
                    ),
                ),
                independence_section(answers),
            ),
            signature=signature([found], self.answers, None, None),
        )

    @property
    def _effective(self) -> int:
        """Independent items that tell as much as these."""
        n, mean = self.comparison.counts.n_items, self.comparison.clustered
        if mean is None or not mean.effective_n > 0:
            return n
        return max(2, min(n, round(mean.effective_n)))

    def _advice(self) -> str:
        if self._effective == self.comparison.counts.n_items:
            return "If these are validation items, and the test set is as large:"
        return (
            "If these are validation items, and the test set is as large and in as many clusters, it tells as much "
            f"as {self._effective:,} independent items:"
        )

    def content(self) -> Record:
        """Counts, shares and clusters."""
        answers = independence([self.comparison], self.answers)
        return {
            "systems": list(self.comparison.systems),
            **described(self.comparison, CONFIDENCE),
            "cluster": cluster_name(self.answers),
            "clusters": clusters_of_pair(self.comparison, self.answers),
            "independence": independence_record(answers),
            "signature": signature([self.comparison], self.answers, None, None),
        }

    def table_rows(self) -> list[Record]:
        """One row."""
        return [in_row(self.comparison, CONFIDENCE)]
