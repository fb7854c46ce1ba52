"""A mean or a difference from crossed ratings of workers, with a judge as a covariate of items."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.judge.rated import RatedEstimate, RatedMeans
from humeval_power.reporting.document import Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.independence import Independence, independence_record, independence_section
from humeval_power.reporting.judge.answers import ASSUMED, interval_cell, judge_signature
from humeval_power.reporting.numbers import counted, decimals, p_cell, p_words, significant
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

FEW_WORKERS = 5


@dataclass(frozen=True, kw_only=True)
class JudgeWorkers(Result):
    """The rating model's estimate from workers alone and with the judge; `estimated` says of what."""

    schema: ClassVar[str] = "humeval_power/judge_workers/1"

    found: RatedMeans
    estimated: str
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def _named(self) -> tuple[tuple[str, RatedEstimate], ...]:
        return ("workers alone", self.found.human), ("with the judge", self.found.judged)

    def body(self) -> Document:
        """The estimate with the judge and without, what varies, and what it rests on."""
        found, best = self.found, self.found.judged
        others = found.n_judged - found.n_items
        return Document(
            self.estimated,
            lead=f"With the judge's help the estimate is {best.estimate:.4g} ({100 * found.confidence:g} % "
            "interval "
            f"{interval_cell(best.interval)}, {p_words(best.p_value)}), from the workers alone "
            f"{found.human.estimate:.4g} ({interval_cell(found.human.interval)}).",
            headline=(
                (
                    "Ratings",
                    f"{found.n_ratings:,} of {counted(found.n_items, 'item')} by "
                    f"{counted(found.n_workers, 'worker')}; the judge scored {others:,} items more",
                ),
                (
                    "Worth",
                    f"{found.efficiency:.2f} times the data; {decimals(best.df, 1)} df (Kenward and Roger)",
                ),
                (
                    "The judge",
                    f"correlation {decimals(found.correlation, 2)} with what items truly differ in, as the model "
                    "has it",
                ),
            ),
            caveats=(*self.warnings, *self._caveats()),
            sections=(
                Section("With the judge and without", (self._table(), self._picture())),
                Section("What varies", (self._spread(),)),
                Section("What must hold", (Paragraph(ASSUMED),)),
                Section("For a paper", (Paragraph(self._paper()),)),
                independence_section(self.answers),
            ),
            signature=self._signature,
        )

    def _caveats(self) -> tuple[str, ...]:
        found = self.found
        said = {
            f"{found.n_workers} workers are few: the interval rests on {decimals(found.judged.df, 1)} degrees of "
            "freedom, and a judge cannot mend that.": found.n_workers < FEW_WORKERS,
            "The judge made the estimate less precise here: use the workers alone.": found.efficiency < 1,
        }
        return tuple(text for text, holds in said.items() if holds)

    def _table(self) -> Table:
        rows = tuple(
            (
                name,
                f"{each.estimate:.4g}",
                f"{each.standard_error:.4g}",
                decimals(each.df, 1),
                interval_cell(each.interval),
                f"{each.weight:.4g}",
                p_cell(each.p_value),
            )
            for name, each in self._named
        )
        header = ("", "estimate", "SE", "df", f"{100 * self.found.confidence:g} % interval", "weight", "p")
        return Table(header, rows)

    def _spread(self) -> Table:
        with_clusters = not math.isnan(self.found.judged.sd_cluster)
        rows = tuple(
            (
                name,
                significant(each.sd_worker),
                significant(each.sd_item),
                *([significant(each.sd_cluster)] if with_clusters else []),
                significant(each.sd_residual),
            )
            for name, each in self._named
        )
        clusters = ["clusters"] if with_clusters else []
        return Table(
            ("SD of", "workers", "items", *clusters, "a rating"),
            rows,
            caption="SDs of what workers and items differ in. A judge takes only from the items'.",
        )

    def _picture(self) -> Picture:
        return Picture(
            "estimates",
            self._figure,
            words="The estimate with its interval: from workers alone, and with the judge.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.judge.figures import estimates_figure

        return estimates_figure(self._named, what=self.estimated, confidence=self.found.confidence)

    @property
    def _signature(self) -> str:
        found = self.found
        entries = [
            "model:lmm+judge",
            "df:kr",
            f"workers:{found.n_workers}",
            f"items:{found.n_items}",
            f"extra:{found.n_judged - found.n_items}",
        ]
        return judge_signature(
            entries, cluster=self.cluster, n_clusters=found.n_clusters, confidence=found.confidence
        )

    def _paper(self) -> str:
        found, best = self.found, self.found.judged
        clusters = f", clusters of items ({self.cluster})" if self.cluster else ""
        return (
            f"{self.estimated} was estimated from {found.n_ratings:,} ratings of {found.n_items:,} items by "
            f"{found.n_workers:,} workers in a mixed model with crossed random effects of workers and "
            f"items{clusters} (REML, Kenward-Roger), with an automatic judge's scores, centred at their mean over "
            f"{found.n_judged:,} items, as covariate: {best.estimate:.4g}, {100 * found.confidence:g} % interval "
            f"{interval_cell(best.interval)}, {decimals(best.df, 1)} df, {p_words(best.p_value)}; without the "
            f"judge {found.human.estimate:.4g}, {interval_cell(found.human.interval)}."
        )

    def content(self) -> Record:
        """Both estimates and what they rest on."""
        return {
            "estimated": self.estimated,
            **asdict(self.found),
            "cluster": self.cluster,
            "efficiency": self.found.efficiency,
            "assumptions": ASSUMED,
            "warnings": list(self.warnings),
            "independence": independence_record(self.answers),
            "signature": self._signature,
        }

    def table_rows(self) -> list[Record]:
        """A row for each of the two estimates."""
        rows = []
        for name, each in (("human", self.found.human), ("judged", self.found.judged)):
            row = asdict(each)
            row["low"], row["high"] = row.pop("interval")
            rows.append({"by": name, **row})
        return rows
