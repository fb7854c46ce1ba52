"""What the paired randomisation test of a corpus metric says, and its record."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.clusters import Clusters
from humeval_power.estimation.metrics.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.corpus import RandomisationTest
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.corpus.metric_words import metric_facts, metric_record
from humeval_power.reporting.corpus.paper import (
    corpus_signature,
    swap_words,
    test_paragraph,
    too_few_swaps,
)
from humeval_power.reporting.document import Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.independence import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.swap_tests import swap_facts


@dataclass(frozen=True, kw_only=True)
class CorpusTestResult(Result):
    """The paired randomisation test of a corpus metric."""

    schema: ClassVar[str] = "humeval_power/corpus_test/1"

    counts: SentenceCounts
    found: RandomisationTest
    mean: ClusteredMean
    alpha: float
    clusters: Clusters | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The metric of both systems, and the verdict."""
        found = self.found
        name = METRIC_NAMES[self.counts.metric]
        facts = (
            *metric_facts(self.counts),
            *self._interval_facts(),
            *swap_facts(swap_words(found, self.clusters), found.p_interval),
        )
        return Document(
            f"{name} of two systems",
            lead=str(
                Compared(
                    ("A", "B"),
                    found.difference,
                    self.mean.interval(1 - self.alpha)
                    if self.mean.standard_error > 0
                    else (math.nan, math.nan),
                    found.p_value,
                    found.p_value <= self.alpha,
                    1 - self.alpha,
                    unit=f" {name}",
                )
            ),
            caveats=too_few_swaps(found, self.alpha),
            sections=(
                Section("", (Facts(facts),)),
                Section("For the paper", (Paragraph(self._paper()),)),
                independence_section(self._independence()),
            ),
            signature=self.signature,
        )

    def _interval_facts(self) -> tuple[Fact, ...]:
        mean = self.mean
        if not mean.standard_error > 0:
            return ()
        low, high = mean.interval(1 - self.alpha)
        each = "sentences" if self.clusters is None else "clusters"
        return (
            (
                "Interval",
                f"{low:+.2f} to {high:+.2f} ({100 * (1 - self.alpha):g} %, error {mean.standard_error:.3f} "
                f"from the influence of {each}, {mean.df:.4g} df)",
            ),
        )

    @property
    def signature(self) -> str:
        """The line that says in a paper what was tested."""
        return corpus_signature(
            self.counts, self.found, self.clusters, alpha=self.alpha, seed=self.provenance.seed
        )

    def _paper(self) -> str:
        return test_paragraph(self.counts, self.found, self.mean, self.clusters, alpha=self.alpha)

    def _independence(self) -> tuple[Independence, ...]:
        if self.clusters is None:
            return (assumed_items(len(self.counts)),)
        return (clustered_items(self.mean, self.clusters.name),)

    def content(self) -> Record:
        """The metric and the test."""
        interval = self.mean.interval(1 - self.alpha) if self.mean.standard_error > 0 else None
        found = self.found
        return {
            **metric_record(self.counts),
            **asdict(found),
            "p_value": found.p_value,
            "p_interval": found.p_interval,
            "alpha": self.alpha,
            "significant": found.p_value <= self.alpha,
            "standard_error": self.mean.standard_error,
            "df": self.mean.df,
            "interval": interval,
            "n_clusters": None if self.clusters is None else self.clusters.n_clusters,
            "independence": independence_record(self._independence()),
            "test_signature": self.signature,
        }
