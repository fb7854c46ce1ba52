"""How two classifiers err together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.metrics.confusion import OF_A_CLASS, OF_ALL, metric_value
from humeval_power.reporting.document import Block, Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.scenarios.contingency.labels import foreign_labels

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

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
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """Labels that are predicted and true of no item."""
        return foreign_labels(self.counts, self.classes)

    def body(self) -> Document:
        """Every metric, the picture of them, and who errs in which class."""
        agree = np.trace(self.counts.sum(axis=0)) / self.counts.sum()
        metrics = tuple(
            (name, f"{a:.4f}", f"{b:.4f}", f"{b - a:+.4f}") for name, (a, b) in self._values().items()
        )
        first = metrics[0]
        picture = Picture(
            "metrics", self._figure, words="Every metric of both systems, joined by a line for each metric."
        )
        return Document(
            "How two systems err together",
            lead=f"A and B agree on {percent(float(agree))} of {counted(int(self.counts.sum()), 'item')}; "
            f"{first[0]} is {first[1]} for A and {first[2]} for B.",
            sections=(
                Section("Metrics", (Table(("metric", "A", "B", "B - A"), metrics), picture)),
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

    def _values(self) -> dict[str, tuple[float, float]]:
        """Every metric of A and B; those of a class only where there is a positive one."""
        names = [*(OF_A_CLASS if self.positive is not None else ()), *OF_ALL]
        a, b = (self.counts.sum(axis=axis).astype(np.float64) for axis in (2, 1))
        place = self.positive or 0
        return {
            name: (
                float(metric_value(name, a, positive=place)),
                float(metric_value(name, b, positive=place)),
            )
            for name in names
        }

    def _figure(self) -> Figure:
        from humeval_power.reporting.contingency.figure import metrics_figure

        return metrics_figure(self._values())

    def content(self) -> Record:
        """The tables and every metric."""
        return {
            "classes": list(self.classes),
            "positive": None if self.positive is None else self.classes[self.positive],
            "n_items": int(self.counts.sum()),
            "counts": self.counts.tolist(),
            "metrics": {
                name: {"a": a, "b": b, "difference": b - a} for name, (a, b) in self._values().items()
            },
        }

    def table_rows(self) -> list[Record]:
        """A row for each metric: of A, of B, and B - A."""
        return [
            {"metric": name, "a": a, "b": b, "difference": b - a} for name, (a, b) in self._values().items()
        ]
