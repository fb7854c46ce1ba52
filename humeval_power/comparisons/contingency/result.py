"""How two classifiers err together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.choices import METRIC_WORDS, ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.comparisons.contingency.scenario import ContingencyTest, foreign_labels
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.kernels.metrics.contingency import OF_A_CLASS, OF_ALL, metric_value
from humeval_power.saying.answer_words import TestedDifference, swap_facts
from humeval_power.saying.chart import Axis, Chart, Series
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    cluster_caveats,
    cluster_record,
    clustered_items,
    in_clusters,
    paper_error,
)
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, interval_words, level_of, p_words, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import PaperResult, signature, table

SHOWN_CLASSES = 12

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ContingencyEstimateResult(Result):
    """Joint tables of two systems, (K, K, K) by true class and both predictions; `positive` is the place of
    the positive class, None without one."""

    schema: ClassVar[str] = "humeval_power/contingency_estimate/1"

    counts: Counts
    classes: tuple[str, ...]
    positive: int | None

    @property
    def remarks(self) -> tuple[str, ...]:
        return foreign_labels(self.counts, self.classes)

    def body(self) -> Document:
        agree = np.trace(self.counts.sum(axis=0)) / self.counts.sum()
        metrics = table(
            self.table_rows(),
            {
                "metric": lambda row: METRIC_WORDS.get(str(row["metric"]), str(row["metric"])),
                "A": lambda row: f"{row['a']:.4f}",
                "B": lambda row: f"{row['b']:.4f}",
                "B - A": lambda row: f"{row['difference']:+z.4f}",
            },
        )
        values = self._values()
        first, (a, b) = next(iter(values.items()))
        drawn = {name: pair for name, pair in values.items() if all(map(math.isfinite, pair))}
        rows = tuple(map(float, range(len(drawn))))
        a_of, b_of = zip(*drawn.values(), strict=True)
        low, high = tuple(map(min, a_of, b_of)), tuple(map(max, a_of, b_of))
        picture = Chart(
            name="metrics",
            title="How good are the systems by each metric?",
            words="Every metric of both systems, joined by a bar for each metric.",
            x=Axis("Value of the metric", min(0.0, *low), max(1.0, *high)),
            y=Axis("", 0, len(drawn), names=tuple(drawn)),
            series=(
                Series("bars", "", y=rows, low=low, high=high, colour=7),
                Series("points", "A", a_of, rows),
                Series("points", "B", b_of, rows, colour=1),
            ),
            numbers=metrics,
        )
        return Document(
            "How two systems err together",
            lead=f"A and B agree on {percent(float(agree))} of {counted(int(self.counts.sum()), 'item')}; "
            f"{METRIC_WORDS.get(first, first)} is {a:.4f} for A and {b:.4f} for B.",
            sections=(
                Section("Metrics", (metrics, picture)),
                Section("Who is right, by true class", tuple(self._classes())),
            ),
        )

    def _classes(self) -> Iterator[Block]:
        header = ("class", "items", "both right", "only A", "only B", "both wrong", "agree")
        rows = []
        for place, name in list(enumerate(self.classes))[:SHOWN_CLASSES]:
            table = self.counts[place]
            items, both = int(table.sum()), int(table[place, place])
            only_a, only_b = int(table[place].sum()) - both, int(table[:, place].sum()) - both
            cells = (items, both, only_a, only_b, items - both - only_a - only_b)
            agree = percent(float(np.trace(table)) / items) if items else ""
            rows.append((name, *(f"{cell:,}" for cell in cells), agree))
        yield Table(header, tuple(rows))
        if (more := len(self.classes) - SHOWN_CLASSES) > 0:
            yield Paragraph(f"{more:,} more classes are in the record.")

    def _values(self) -> dict[str, tuple[float, ...]]:
        """Every metric of A and B; those of a class only where there is a positive one."""
        names = [*(OF_A_CLASS if self.positive is not None else ()), *OF_ALL]
        a, b = (self.counts.sum(axis=axis).astype(np.float64) for axis in (2, 1))
        place = self.positive or 0
        return {
            name: tuple(float(metric_value(name, counts, positive=place)) for counts in (a, b))
            for name in names
        }

    def content(self) -> Record:
        return {
            "classes": list(self.classes),
            "positive": None if self.positive is None else self.classes[self.positive],
            "n_items": int(self.counts.sum()),
            "counts": self.counts.tolist(),
            "metrics": {str(row.pop("metric")): row for row in self.table_rows()},
        }

    def table_rows(self) -> list[Record]:
        return [
            {"metric": name, "a": a, "b": b, "difference": b - a} for name, (a, b) in self._values().items()
        ]


@dataclass(frozen=True, kw_only=True)
class ContingencyTestResult(PaperResult):
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

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*foreign_labels(self.counts, self.classes), *(each.sentence() for each in self.suspects))

    def answer(self) -> Document:
        test = self.found
        values = f"of A {test.value_a:.4f}, of B {test.value_b:.4f}, on {counted(self._n_items, 'item')}"
        facts: list[Fact] = [("Metric", f"{self._metric_of_class} {values}")]
        if self._interval is not None:
            how = "clusters" if self._cluster is not None else "items"
            words = f"{test.difference:+z.4f}, {self._interval_words} (influence of {how})"
            facts.append(("B - A", words))
        facts += swap_facts(self._swaps(), test.p_interval)
        return Document(
            f"{self._metric} of two systems",
            lead=str(
                TestedDifference(
                    ("A", "B"),
                    test.difference,
                    self._interval or (math.nan, math.nan),
                    test.p_value,
                    test.p_value <= self.alpha,
                    1 - self.alpha,
                    ending=f" in {self._metric}",
                )
            ),
            caveats=cluster_caveats(self._clustered, self.alpha),
            sections=(Section("", (Facts(tuple(facts)),)),),
        )

    @property
    def _metric(self) -> str:
        return METRIC_WORDS.get(self.metric, self.metric)

    @property
    def _metric_of_class(self) -> str:
        return self._metric if self.positive is None else f"{self._metric} of class {self.positive}"

    @property
    def _cluster(self) -> str | None:
        return None if self.clusters is None else self.clusters.name

    @property
    def _clustered(self) -> ClusteredMean | None:
        return None if self.clusters is None else self.mean

    @property
    def _n_items(self) -> int:
        return int(self.counts.sum())

    def _swaps(self) -> str:
        how = f"{self.found.n_swaps:,} random swaps" if self.found.n_swaps else "every swap"
        return how if self._cluster is None else f"{how} of whole clusters"

    @property
    def _interval_words(self) -> str:
        ends = self._interval or (math.nan, math.nan)
        return f"{level_of(1 - self.alpha)} interval {interval_words(*ends, signed=True)}"

    @property
    def _interval(self) -> tuple[float, float] | None:
        """Of the difference; None where it has no error."""
        if self.mean is None or not self.mean.standard_error > 0:
            return None
        low, high = self.mean.interval(1 - self.alpha)
        largest = 2.0 if self.metric == "mcc" else 1.0  # that a difference can be
        return max(low, -largest), min(high, largest)

    def independence(self) -> tuple[Independence, ...]:
        if self._cluster is None:
            return (assumed_items(self._n_items, self.suspects),)
        if self.mean is None:
            text = f"Whole clusters ({self._cluster}) are swapped; {self._metric} has no interval here."
            return (Independence("items", "accounted", text),)
        return (clustered_items(self.mean, self._cluster),)

    def paper(self) -> tuple[str, ...]:
        test = self.found
        unit = "items" if self._cluster is None else "whole clusters of items"
        interval, error = "", ""
        if self._interval is not None:
            interval = f" ({self._interval_words})"
            error = f" {paper_error(self._clustered, 'influence values')}"
        return (
            f"On {self._n_items:,} items{in_clusters(self._clustered, self._cluster)}, {self._metric_of_class} was "
            f"{test.value_b:.4f} for B and {test.value_a:.4f} for A, a difference of {test.difference:+z.4f}"
            f"{interval}. A paired randomisation test that exchanged the two systems' predictions of {unit} "
            f"({self._swaps()}) gave {p_words(test.p_value)}.{error}",
        )

    @property
    def signature(self) -> str:
        return signature(
            model="paired",
            coding="b-a",
            metric=self.metric,
            test="swaps",
            alpha=self.alpha,
            two=True,
            n=self._n_items,
            cluster=self.clusters,
            draws=self.found.n_swaps or None,
            seed=self.provenance.seed,
        )

    def numbers(self) -> Record:
        test = self.found
        return {
            **values(self, "metric", "positive", "alpha"),
            "n_items": self._n_items,
            **asdict(test),
            **values(test, "difference", "p_interval"),
            "interval": self._interval,
            "significant": test.p_value <= self.alpha,
            "clusters": cluster_record(self.mean, self._cluster),
        }
