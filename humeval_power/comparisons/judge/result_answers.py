"""What every estimate with a judge's help says: what must hold, what was not independent, and its signature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.comparisons.judge.means import FEW, JudgedMean, JudgedMeans
from humeval_power.comparisons.judge.rated import RatedEstimate, RatedMeans
from humeval_power.comparisons.judge.result import PLAIN_HURTS
from humeval_power.comparisons.judge.table import JudgedPair, JudgedSystems, JudgedTable
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.saying.document import Document, Drawing, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, decimals, p_cell, p_words, significant
from humeval_power.saying.result import (
    NAME,
    UNKNOWN,
    Provenance,
    Record,
    Result,
    cluster_entry,
    named,
    short,
    versions,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = (
    "This holds whatever the judge is worth, if the items that humans rated are a random part of all and "
    "the judge was not tuned on their ratings."
)
_JUDGE = Independence(
    "judges",
    "assumed",
    "The judge is one judge with one prompt: claims hold for what humans say, which the judge's scores only "
    "help to estimate. Another judge gives other weights, not another target.",
)


def judged_answers(table: JudgedTable, found: JudgedMeans | RatedMeans) -> tuple[Independence, ...]:
    """What was not independent in an estimate from a table."""
    if isinstance(found, JudgedMeans):
        return value_answers(found, table.cluster_name, table.suspects)
    return (*rated_answers(found, table.cluster_name, table.suspects), _JUDGE)


def value_answers(
    found: JudgedMeans, cluster: str | None, suspects: Sequence[ClusterSuspect] = ()
) -> tuple[Independence, ...]:
    """Of means of outputs: items, and workers that nobody named."""
    workers = Independence(
        "workers",
        "assumed",
        "Who rated is not in the model: where the same few workers rate all items, their own differences are not "
        "in this interval. A column of workers puts them in.",
    )
    if found.clustered is None:
        items = assumed_items(found.n, suspects)
    else:
        items = clustered_items(found.clustered, cluster or "cluster")
    return items, workers, _JUDGE


def rated_answers(
    found: RatedMeans, cluster: str | None, suspects: Sequence[ClusterSuspect]
) -> tuple[Independence, ...]:
    """Of the rating model: workers are random effects; items are too, and clusters where they are named."""
    workers = Independence(
        "workers",
        "accounted",
        f"The same {found.n_workers:,} workers rated many items. What each of them prefers is a random effect of "
        f"the model, so that the interval holds for other workers too (Kenward and Roger, "
        f"{decimals(found.judged.df, 1)} df).",
    )
    if cluster is None:
        return workers, assumed_items(found.n_items, suspects)
    items = Independence(
        "items",
        "accounted",
        f"Items come in {found.n_clusters:,} clusters ({cluster}): they are a random effect of the model, above "
        "the items, and the judge's mean has a standard error by clusters (CR2).",
    )
    return workers, items


def item_answer(table: JudgedTable, n_items: int, n_clusters: int | None) -> Independence:
    """Of errors by the jackknife: over items, or over their clusters."""
    if n_clusters is None:
        return assumed_items(n_items, table.suspects)
    text = (
        f"The {n_items:,} items come in {n_clusters:,} clusters ({table.cluster_name}): errors are by the "
        "jackknife over whole clusters."
    )
    return Independence("items", "accounted", text)


def judge_signature(
    entries: Sequence[str],
    *,
    cluster: str | None = None,
    n_clusters: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
) -> str:
    """The line for a paper: what was estimated from how many, by which clusters, and the seed of the folds."""
    parts = [
        NAME,
        f"v:{versions()['humeval-power']}",
        *entries,
        *cluster_entry(cluster, n_clusters),
        *named("confidence", None if confidence is None else short(confidence)),
        *named("seed", seed),
    ]
    return "|".join(parts)


def interval_cell(ends: tuple[float, float]) -> str:
    """'0.1 to 0.3'."""
    return f"{ends[0]:.4g} to {ends[1]:.4g}"


# A mean or a difference from the human values of some items and a judge's scores of all.


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
        from humeval_power.comparisons.judge.figures import estimates_figure

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


# Differences of all pairs of systems, or of each to a baseline, with a judge's help.

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


# A mean or a difference from crossed ratings of workers, with a judge as a covariate of items.

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
        from humeval_power.comparisons.judge.figures import estimates_figure

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
