"""The metric of both systems, as facts and as values."""

from __future__ import annotations

from humeval_power.estimation.metrics.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.reporting.document import Fact
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record


def metric_facts(counts: SentenceCounts) -> tuple[Fact, Fact]:
    """The metric of both systems, and how it was computed."""
    a, b = counts.values
    size = counted(len(counts), "sentence")
    name = METRIC_NAMES[counts.metric]
    return (
        ("Metric", f"{name} of A {a:.2f}, of B {b:.2f}; B - A = {b - a:+.2f} on {size}"),
        ("", counts.signature),
    )


def metric_record(counts: SentenceCounts) -> Record:
    """The same as plain values."""
    a, b = counts.values
    return {
        "metric": counts.metric,
        "signature": counts.signature,
        "n_sentences": len(counts),
        "system_a": a,
        "system_b": b,
        "difference": b - a,
    }
