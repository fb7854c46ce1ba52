"""A mean or a difference from the human values of some items and a judge's scores of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.judge.means import FEW, JudgedMean, JudgedMeans
from humeval_power.reporting.document import Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.independence import Independence, independence_record, independence_section
from humeval_power.reporting.judge.answers import ASSUMED, interval_cell, judge_signature, value_answers
from humeval_power.reporting.judge.result import PLAIN_HURTS
from humeval_power.reporting.numbers import p_cell, p_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class JudgeEstimate(Result):
    """A mean or a difference from human values and a judge's scores; `estimated` says which, in words.

    `answers` say what was not independent, `cluster` names the column of the clusters of items.
    """

    schema: ClassVar[str] = "humeval_power/judge_estimate/1"

    found: JudgedMeans
    estimated: str
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def _named(self) -> tuple[tuple[str, JudgedMean], ...]:
        found = self.found
        return (
            ("humans alone", found.human),
            ("judge, weight 1", found.plain),
            ("judge, weight estimated", found.tuned),
        )

    def body(self) -> Document:
        """The estimate, three ways, and what it rests on."""
        found, best = self.found, self.found.tuned
        return Document(
            self.estimated,
            lead=f"With the judge's help the estimate is {best.estimate:.4g} ({100 * found.confidence:g} % "
            f"interval {interval_cell(best.interval)}), from the humans alone {found.human.estimate:.4g} "
            f"({interval_cell(found.human.interval)}).",
            headline=(
                ("Items", f"{found.n:,} with human values, {found.extra:,} more with the judge's scores"),
                ("Correlation", f"{found.correlation:.3f} of judge and humans"),
                (
                    "Worth",
                    f"{found.efficiency:.2f} times the human values (weight cross-fitted, Student's interval on "
                    f"{best.df:.4g} df)",
                ),
            ),
            caveats=(*self.warnings, *self._caveats()),
            sections=(
                Section("With the judge and without", (self._table(), self._picture())),
                Section("What must hold", (Paragraph(ASSUMED),)),
                Section("For a paper", (Paragraph(self._paper()),)),
                independence_section(self._answers),
            ),
            signature=self._signature,
        )

    @property
    def _answers(self) -> tuple[Independence, ...]:
        return self.answers or value_answers(self.found, self.cluster)

    @property
    def _signature(self) -> str:
        found = self.found
        entries = ["model:ppi++", f"n:{found.n}", f"extra:{found.extra}"]
        return judge_signature(
            entries,
            cluster=self.cluster,
            n_clusters=found.n_clusters,
            confidence=found.confidence,
            seed=found.seed,
        )

    def _paper(self) -> str:
        found, best = self.found, self.found.tuned
        errors = "Student's t"
        if found.n_clusters is not None:
            errors = f"CR2 standard errors over {found.n_clusters:,} clusters and Bell-McCaffrey degrees of freedom"
        return (
            f"{self.estimated} was estimated by prediction-powered inference (PPI++; Angelopoulos, Duchi and Zrnic "
            f"2023) from {found.n:,} items with human values and {found.extra:,} with an automatic judge's scores "
            f"alone, the weight of the judge ({best.weight:.3g}) by cross-fitting, with {errors}: "
            f"{best.estimate:.4g}, {100 * found.confidence:g} % interval {interval_cell(best.interval)}, "
            f"{p_words(best.p_value)}; from humans alone {found.human.estimate:.4g}, "
            f"{interval_cell(found.human.interval)}."
        )

    def _caveats(self) -> tuple[str, ...]:
        found = self.found
        said = {
            f"With {found.n} human values (fewer than {FEW}) the judge's weight is itself uncertain; the gain "
            "may be less than the standard errors say.": found.n < FEW,
            "The judge made the estimate less precise here: use the humans alone.": found.efficiency < 1,
            PLAIN_HURTS: found.plain_hurts,
        }
        return tuple(text for text, holds in said.items() if holds)

    def _table(self) -> Table:
        rows = [
            (
                name,
                f"{each.estimate:.4g}",
                f"{each.standard_error:.4g}",
                interval_cell(each.interval),
                f"{each.weight:.3f}",
                p_cell(each.p_value),
            )
            for name, each in self._named
        ]
        header = ("", "estimate", "SE", f"{100 * self.found.confidence:g} % interval", "weight", "p")
        return Table(header, tuple(rows))

    def _picture(self) -> Picture:
        return Picture(
            "estimates",
            self._figure,
            words="The estimate with its interval: from humans alone, with the judge at weight 1, and at the "
            "estimated weight.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.judge.figures import estimates_figure

        return estimates_figure(self._named, what=self.estimated, confidence=self.found.confidence)

    def content(self) -> Record:
        """The three estimates and what they rest on."""
        found = asdict(self.found)
        del found["seed"]  # stands in the envelope
        return {
            "estimated": self.estimated,
            **found,
            "cluster": self.cluster,
            "efficiency": self.found.efficiency,
            "assumptions": ASSUMED,
            "warnings": list(self.warnings),
            "independence": independence_record(self._answers),
            "signature": self._signature,
        }

    def table_rows(self) -> list[Record]:
        """A row for each of the three estimates."""
        rows = []
        for _, each in self._named:
            row = asdict(each)
            row["low"], row["high"] = row.pop("interval")
            rows.append(row)
        return rows
