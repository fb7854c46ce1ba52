"""All pairs of several systems, or every system against a baseline: what is said of them, and the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.inference.compare.result import TestSettings
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.reporting.compare.item_clusters import (
    cluster_name,
    independence_of_table,
    items_words,
)
from humeval_power.reporting.compare.pair import (
    draws,
    notices_of,
    origin,
    pair_row,
    settings_record,
)
from humeval_power.reporting.compare.paper import many_paragraph
from humeval_power.reporting.compare.signature import CompareSignature
from humeval_power.reporting.document import Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.numbers import counted, p_cell, significant, significant_interval
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

MOST_PAIRS = 60  # that a terminal lists without being asked

_CORRECTIONS = {
    "none": "The p-values are not corrected for the number of pairs: some pairs will be significant by chance.",
    "holm": "The p-values are corrected by Holm (1979): the chance of any false one is at most alpha.",
    "bonferroni": "The p-values are corrected by Bonferroni: the chance of any false one is at most alpha.",
    "bh": "The p-values are corrected by Benjamini and Hochberg (1995): on average at most a share alpha of the "
    "significant pairs is false; some of them may be.",
    "max-t": "The p-values are corrected by the largest t of all pairs in joint resamples of the items.",
    "romano-wolf": "The p-values are corrected step by step by joint resamples of the items (Romano and Wolf "
    "2005).",
}


@dataclass(frozen=True, kw_only=True)
class ManyResult(Result):
    """Systems by their mean, the tests of their pairs with corrected p-values, and clusters."""

    schema: ClassVar[str] = "humeval_power/compare_many/2"

    found: PairwiseScores
    table: ScoreTable
    settings: TestSettings
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the scores."""
        return notices_of(self.table)

    def body(self) -> Document:
        """Systems and clusters, the heat map, each pair."""
        found = self.found
        n_significant = sum(pair.significant for pair in found.pairs)
        return Document(
            f"{len(found.means)} systems compared: {self.table.metric}",
            lead=f"{next(iter(found.means))} has the highest mean; in {n_significant} of "
            f"{counted(len(found.pairs), 'pair')} a difference is shown (alpha {self.settings.alpha:g}). "
            f"{found.pairs[0].test.label}, {items_words(self.table)}.",
            caveats=_caveats(found, self.table),
            sections=(
                Section("Systems", (_means(found), *_groups(found), self._picture())),
                Section(
                    "Each pair",
                    (_pairs(found, self.settings.alpha, counts=self.table.is_binary),),
                    is_detail=len(found.pairs) > MOST_PAIRS,
                ),
                Section(
                    "For the paper",
                    (Paragraph(many_paragraph(found, self.table, alpha=self.settings.alpha)),),
                ),
                independence_section(independence_of_table(self.table)),
            ),
            provenance=origin(self.table),
            signature=str(many_signature(found, self.table, self.settings)),
        )

    def _picture(self) -> Picture:
        words = (
            "Corrected p-values of all pairs as a map: blue where the row's system is better, orange worse."
        )
        return Picture("heat_map", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.reporting.compare.heat_map import heat_map_figure

        return heat_map_figure(self.found, alpha=self.settings.alpha)

    def content(self) -> Record:
        """Means, pairs and clusters."""
        found = self.found
        return {
            "systems": list(found.means),
            "metric": self.table.metric,
            "means": dict(found.means),
            "question": found.question,
            "correction": found.correction,
            "settings": settings_record(self.settings),
            "n_items": found.n_items,
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    **asdict(pair.test),
                    "n_helped": pair.n_helped,
                    "n_hurt": pair.n_hurt,
                    "corrected_p_value": pair.corrected_p,
                    "significant": pair.significant,
                }
                for pair in found.pairs
            ],
            "clusters": [list(cluster) for cluster in found.clusters],
            "signature": str(many_signature(found, self.table, self.settings)),
            "notices": list(self.table.notices),
            "independence": independence_record(independence_of_table(self.table)),
        }

    def table_rows(self) -> list[Record]:
        """A row for each pair."""
        return [
            {
                **pair_row((pair.first, pair.second), pair.test),
                "n_helped": pair.n_helped,
                "n_hurt": pair.n_hurt,
                "corrected_p_value": pair.corrected_p,
                "significant": pair.significant,
            }
            for pair in self.found.pairs
        ]


def are_drawn(found: PairwiseScores) -> bool:
    """Whether anything was resampled."""
    return any(draws(pair.test) for pair in found.pairs)


def many_signature(result: PairwiseScores, table: ScoreTable, settings: TestSettings) -> CompareSignature:
    """The signature of all pairs."""
    test = result.pairs[0].test
    drawn = are_drawn(result)
    return CompareSignature(
        question=result.question,
        test=test.name,
        alpha=settings.alpha,
        alternative=settings.alternative,
        n_items=result.n_items,
        null=settings.null,
        version=versions()["humeval-power"],
        correction=result.correction,
        n_systems=len(result.means),
        n_resamples=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data_sha256=table.sha256 or None,
        cluster=cluster_name(table),
    )


def _caveats(result: PairwiseScores, table: ScoreTable) -> tuple[str, ...]:
    """What must be read before the pairs."""
    resampled = "the items" if table.clusters is None else "whole clusters of items"
    return (
        _CORRECTIONS[result.correction].replace("the items", resampled),
        "A pair that is not significant is not shown to be alike; intervals are of each pair by itself.",
    )


def _means(result: PairwiseScores) -> Table:
    """Systems by mean, best first, with their group where there are any."""
    if not result.clusters:
        return Table(
            ("system", "mean"), tuple((name, significant(mean)) for name, mean in result.means.items())
        )
    cluster = {name: place for place, names in enumerate(result.clusters, start=1) for name in names}
    rows = tuple((name, significant(mean), str(cluster[name])) for name, mean in result.means.items())
    return Table(("system", "mean", "group"), rows)


def _groups(result: PairwiseScores) -> Iterator[Paragraph]:
    """What a group is, for systems of one group may well differ."""
    if result.clusters:
        yield Paragraph(
            "A group ends where every system above differs significantly from every one below. Systems of one "
            "group may differ from each other: see the pairs."
        )


def _pairs(result: PairwiseScores, alpha: float, *, counts: bool) -> Table:
    """One row for each pair; of scores 0 and 1 with the items on which either system alone is right."""
    rows = tuple(
        (
            f"{pair.second} - {pair.first}",
            *((f"{pair.n_helped:,} : {pair.n_hurt:,}",) if counts else ()),
            significant(pair.test.estimate),
            significant_interval(*pair.test.interval),
            p_cell(pair.test.p_value),
            p_cell(pair.corrected_p) + (" *" if pair.significant else "  "),
        )
        for pair in result.pairs
    )
    estimand = result.pairs[0].test.estimand
    changed = ("helped : hurt",) if counts else ()
    said = (
        " helped : hurt: items on which the first of the pair alone is right, and the second."
        if counts
        else ""
    )
    return Table(
        ("pair", *changed, estimand.split()[0], "interval", "p", "corrected"),
        rows,
        f"The {estimand}; * significant at alpha {alpha:g} after the correction.{said}",
    )
