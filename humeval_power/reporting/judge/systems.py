"""Differences of all pairs of systems, or of each to a baseline, with a judge's help."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.judge.means import JudgedMeans
from humeval_power.inference.judge.rated import RatedMeans
from humeval_power.inference.judge.systems import JudgedPair, JudgedSystems
from humeval_power.reporting.document import Document, Paragraph, Section, Table
from humeval_power.reporting.drawing import Drawing
from humeval_power.reporting.estimate_rows import EstimateRow, EstimateRows
from humeval_power.reporting.independence import Independence, independence_record, independence_section
from humeval_power.reporting.judge.answers import ASSUMED, interval_cell, judge_signature
from humeval_power.reporting.numbers import counted, decimals, p_cell
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

_MODEL = {
    "workers": "the rating model with the judge as a covariate of items, Kenward and Roger's df of each pair",
    "values": "PPI++ on the means of outputs, the judge's weight cross-fitted in each pair",
}


@dataclass(frozen=True, kw_only=True)
class JudgeSystems(Result):
    """Each pair with its difference, and p-values corrected by Holm (1979)."""

    schema: ClassVar[str] = "humeval_power/judge_systems/1"

    found: JudgedSystems
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def _alpha(self) -> float:
        return 1 - self.found.confidence

    def body(self) -> Document:
        """How many pairs differ, each pair, and what it rests on."""
        found = self.found
        different = sum(pair.holm_p <= self._alpha for pair in found.pairs)
        return Document(
            f"{len(found.systems)} systems, with a judge's help",
            lead=f"In {different} of {counted(len(found.pairs), 'pair')} a difference is shown (alpha "
            f"{self._alpha:.4g}, corrected by Holm 1979). By {_MODEL[found.basis]}.",
            caveats=self.warnings,
            sections=(
                Section("Each pair", (self._table(), self._picture())),
                Section("What must hold", (Paragraph(ASSUMED),)),
                Section("For a paper", (Paragraph(self._paper(different)),)),
                independence_section(self.answers),
            ),
            signature=self._signature,
        )

    def _table(self) -> Table:
        rows = tuple(
            (
                _name(pair),
                f"{pair.human.estimate:.4g}",
                f"{pair.judged.estimate:.4g}",
                interval_cell(pair.simultaneous),
                decimals(pair.judged.df, 1),
                decimals(pair.found.efficiency, 2),
                p_cell(pair.judged.p_value),
                p_cell(pair.holm_p),
            )
            for pair in self.found.pairs
        )
        header = ("", "humans", "with judge", "interval", "df", "worth", "p", "Holm p")
        caption = (
            f"Intervals hold for all {counted(len(rows), 'pair')} together with {100 * self.found.confidence:g} % "
            "(Bonferroni); worth: variance without the judge over that with it."
        )
        return Table(header, rows, caption=caption)

    def _picture(self) -> Drawing:
        rows = tuple(
            EstimateRow(_name(pair), pair.judged.estimate, *pair.simultaneous, pair.holm_p <= self._alpha)
            for pair in self.found.pairs
        )
        drawn = EstimateRows(
            rows,
            "pairs",
            "Difference with the judge's help",
            marked_label="significant by Holm",
            usual_label="not significant",
            whole=0.0,
            whole_label="no difference",
            is_ordered=False,
        )
        return drawn.drawing(
            "differences",
            title="Differences of the systems",
            words="The difference of each pair with its simultaneous interval.",
            width=5.5,
            has_numbers=False,
        )

    @property
    def _first(self) -> JudgedMeans | RatedMeans:
        return self.found.pairs[0].found

    @property
    def _signature(self) -> str:
        found, first = self.found, self._first
        rated = isinstance(first, RatedMeans)
        sizes = (
            ["model:lmm+judge", "df:kr", f"workers:{first.n_workers}", f"items:{first.n_items}"]
            if isinstance(first, RatedMeans)
            else ["model:ppi++", f"n:{first.n}", f"extra:{first.extra}"]
        )
        return judge_signature(
            [*sizes, f"k:{len(found.systems)}", "corr:holm"],
            cluster=self.cluster,
            n_clusters=first.n_clusters,
            confidence=found.confidence,
            seed=None if rated else found.seed,
        )

    def _paper(self, different: int) -> str:
        found = self.found
        clusters = f", with clusters of items ({self.cluster})" if self.cluster else ""
        return (
            f"Of {len(found.systems)} systems {different} of {counted(len(found.pairs), 'pair')} differed at a "
            f"family-wise {self._alpha:.4g} (Holm 1979), by {_MODEL[found.basis]}{clusters}."
        )

    def content(self) -> Record:
        """Every pair, and what they rest on."""
        found = self.found
        return {
            "systems": list(found.systems),
            "basis": found.basis,
            "baseline": found.baseline,
            "confidence": found.confidence,
            "correction": "holm",
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "human": asdict(pair.human),
                    "judged": asdict(pair.judged),
                    "efficiency": pair.found.efficiency,
                    "holm_p": pair.holm_p,
                    "simultaneous": list(pair.simultaneous),
                    "significant": pair.holm_p <= self._alpha,
                }
                for pair in found.pairs
            ],
            "cluster": self.cluster,
            "assumptions": ASSUMED,
            "warnings": list(self.warnings),
            "independence": independence_record(self.answers),
            "signature": self._signature,
        }

    def table_rows(self) -> list[Record]:
        """A row for each pair."""
        return [
            {
                "first": pair.first,
                "second": pair.second,
                "human": pair.human.estimate,
                "estimate": pair.judged.estimate,
                "standard_error": pair.judged.standard_error,
                "df": pair.judged.df,
                "p_value": pair.judged.p_value,
                "holm_p": pair.holm_p,
                "low": pair.simultaneous[0],
                "high": pair.simultaneous[1],
            }
            for pair in self.found.pairs
        ]


def _name(pair: JudgedPair) -> str:
    return f"{pair.second} - {pair.first}"
