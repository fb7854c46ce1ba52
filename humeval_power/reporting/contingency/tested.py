"""Whether two classifiers differ in a metric: the answer, its interval, and what to write of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cluster_columns import ClusterSuspect
from humeval_power.choices import ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.contingency.swaps import ContingencyTest
from humeval_power.reporting.clustered_words import (
    PAPER,
    cluster_caveats,
    cluster_record,
    few_clusters,
    paper_error,
)
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.document import Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.independence import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.reporting.numbers import counted, interval_words, p_words
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.signature import NAME, cluster_entry, short
from humeval_power.reporting.swap_tests import swap_facts
from humeval_power.scenarios.contingency.labels import foreign_labels

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ContingencyTestResult(Result):
    """The paired randomisation test of a metric; `counts` are (K, K, K) by true class and both predictions.

    `mean` holds the difference with its cluster-robust error, None where the metric has none; `clusters` are
    those of the items, None where these count as independent.
    """

    schema: ClassVar[str] = "humeval_power/contingency_test/1"

    counts: Counts
    classes: tuple[str, ...]
    metric: ContingencyMetric
    positive: str | None
    found: ContingencyTest
    mean: ClusteredMean | None
    clusters: Clusters | None
    alpha: float
    suspects: tuple[ClusterSuspect, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """Labels that are predicted and true of no item, and columns that look like clusters."""
        return (*foreign_labels(self.counts, self.classes), *(each.sentence() for each in self.suspects))

    def body(self) -> Document:
        """The metric of both systems, the verdict, what was not independent, and a paragraph."""
        found, mean = self.found, self.mean
        of_class = f" of class {self.positive}" if self.positive is not None else ""
        size = counted(self._n_items, "item")
        values = f"{self.metric}{of_class} of A {found.value_a:.4f}, of B {found.value_b:.4f}, on {size}"
        facts: list[Fact] = [("Metric", values)]
        if (ends := self._interval()) is not None:
            how = "clusters" if self._cluster is not None else "items"
            words = f"{found.difference:+.4f}, {100 * (1 - self.alpha):g} % interval"
            facts.append(("B - A", f"{words} {interval_words(*ends, signed=True)} (influence of {how})"))
        facts += swap_facts(self._swaps(), found.p_interval)
        clustered = None if self._cluster is None else mean
        return Document(
            f"{self.metric} of two systems",
            lead=str(
                Compared(
                    ("A", "B"),
                    found.difference,
                    self._interval() or (math.nan, math.nan),
                    found.p_value,
                    found.p_value <= self.alpha,
                    1 - self.alpha,
                    ending=f" in {self.metric}",
                )
            ),
            caveats=cluster_caveats(clustered, self.alpha),
            sections=(
                Section("", (Facts(tuple(facts)),)),
                independence_section(self._independence()),
                Section(PAPER, (Paragraph(self._paper()),)),
            ),
            signature=self._signature(),
        )

    @property
    def _cluster(self) -> str | None:
        return None if self.clusters is None else self.clusters.name

    @property
    def _n_items(self) -> int:
        return int(self.counts.sum())

    def _swaps(self) -> str:
        how = f"{self.found.n_swaps:,} random swaps" if self.found.n_swaps else "every swap"
        return how if self._cluster is None else f"{how} of whole clusters"

    def _interval(self) -> tuple[float, float] | None:
        """Of the difference; None where it has no error."""
        if self.mean is None or not self.mean.standard_error > 0:
            return None
        low, high = self.mean.interval(1 - self.alpha)
        largest = 2.0 if self.metric == "mcc" else 1.0  # that a difference can be
        return max(low, -largest), min(high, largest)

    def _independence(self) -> tuple[Independence, ...]:
        if self._cluster is None:
            return (assumed_items(self._n_items, self.suspects),)
        if self.mean is None:
            text = f"Whole clusters ({self._cluster}) are swapped; {self.metric} has no interval here."
            return (Independence("items", "accounted", text),)
        return (clustered_items(self.mean, self._cluster),)

    def _paper(self) -> str:
        found, metric = self.found, self.metric
        of_class = f" of class {self.positive}" if self.positive is not None else ""
        ends = self._interval()
        interval = "" if ends is None else f" ({100 * (1 - self.alpha):g} % interval {_signed(ends)})"
        clusters = None if self._cluster is None or self.mean is None else self.mean
        unit = "items" if self._cluster is None else "whole clusters of items"
        text = (
            f"On {self._n_items:,} items{few_clusters(clusters, self._cluster)}, {metric}{of_class} was "
            f"{found.value_b:.4f} for B and {found.value_a:.4f} for A, a difference of {found.difference:+.4f}"
            f"{interval}. A paired randomisation test that exchanged the two systems' predictions of {unit} "
            f"({self._swaps()}) gave {p_words(found.p_value)}."
        )
        return text if ends is None else f"{text} {paper_error(clusters, 'influence values')}"

    def _signature(self) -> str:
        found = self.found
        return "|".join(
            [
                NAME,
                f"v:{versions()['humeval-power']}",
                "model:paired",
                "coding:b-a",
                f"metric:{self.metric}",
                "test:swaps",
                f"alpha:{short(self.alpha)}",
                "two",
                f"n:{self._n_items}",
                *(
                    ()
                    if self.clusters is None
                    else cluster_entry(self.clusters.name, self.clusters.n_clusters)
                ),
                *([f"draws:{found.n_swaps}"] if found.n_swaps else []),
                *([f"seed:{self.provenance.seed}"] if self.provenance.seed is not None else []),
            ]
        )

    def content(self) -> Record:
        """The metric, the test, the clusters."""
        found, ends = self.found, self._interval()
        return {
            "metric": self.metric,
            "positive": self.positive,
            "n_items": self._n_items,
            **asdict(found),
            "difference": found.difference,
            "interval": None if ends is None else list(ends),
            "p_interval": found.p_interval,
            "alpha": self.alpha,
            "significant": found.p_value <= self.alpha,
            "clusters": cluster_record(self.mean, self._cluster),
            "independence": independence_record(self._independence()),
            "signature": self._signature(),
        }


def _signed(ends: tuple[float, float]) -> str:
    return interval_words(*ends, signed=True)
