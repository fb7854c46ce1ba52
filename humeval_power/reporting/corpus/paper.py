"""What a paper says of the test of a corpus metric: a paragraph, and a line that can be kept beside it."""

from __future__ import annotations

from humeval_power.clusters import Clusters
from humeval_power.estimation.metrics.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.corpus import RandomisationTest
from humeval_power.reporting.numbers import counted, p_words
from humeval_power.reporting.records import versions
from humeval_power.reporting.signature import NAME, cluster_entry, named, short


def swap_words(found: RandomisationTest, clusters: Clusters | None) -> str:
    """'10,000 random swaps', or 'all 256 swaps of 8 clusters'."""
    how = f"all {found.n_swaps:,} swaps" if found.exact else f"{found.n_swaps:,} random swaps"
    return how if clusters is None else f"{how} of {clusters.n_clusters:,} clusters ({clusters.name})"


def too_few_swaps(found: RandomisationTest, alpha: float) -> tuple[str, ...]:
    """What is said where so few sentences or clusters are swapped that nothing could be significant."""
    least = 2 / found.n_swaps  # the observed swap, and the one of all
    if not found.exact or least <= alpha:
        return ()
    return (
        f"There are only {found.n_swaps:,} swaps, and no p-value is below {least:.2g}: nothing can be significant "
        f"at {alpha:g}.",
    )


def test_paragraph(
    counts: SentenceCounts,
    found: RandomisationTest,
    mean: ClusteredMean,
    clusters: Clusters | None,
    *,
    alpha: float,
) -> str:
    """Both values, the difference with its interval, and the test."""
    a, b = counts.values
    where = "" if clusters is None else f" in {clusters.n_clusters:,} clusters ({clusters.name})"
    swapped = "sentences" if clusters is None else "whole clusters"
    interval = ""
    if mean.standard_error > 0:
        low, high = mean.interval(1 - alpha)
        interval = f" ({100 * (1 - alpha):g} % interval {low:+.2f} to {high:+.2f})"
    how = f"all {found.n_swaps:,}" if found.exact else f"{found.n_swaps:,} random"
    return (
        f"On {counted(len(counts), 'sentence')}{where}, A has {a:.2f} and B {b:.2f} {METRIC_NAMES[counts.metric]} "
        f"({counts.signature}); the difference B - A is {found.difference:+.2f}{interval}. A paired randomisation "
        f"test with {how} swaps of {swapped} gives {p_words(found.p_value)} (two-sided, alpha {alpha:g})."
    )


def corpus_signature(
    counts: SentenceCounts,
    found: RandomisationTest,
    clusters: Clusters | None,
    *,
    alpha: float,
    seed: int | None,
) -> str:
    """Metric, test, level, sentences and clusters, swaps and seed."""
    known = (None, None) if clusters is None else (clusters.name, clusters.n_clusters)
    return "|".join(
        [
            NAME,
            *named("v", versions()["humeval-power"]),
            "model:corpus",
            "coding:b-a",
            f"metric:{counts.metric}",
            "test:randomisation",
            f"alpha:{short(alpha)}",
            "two",
            f"n:{len(counts)}",
            *cluster_entry(*known),
            *named("draws", None if found.exact else found.n_swaps),
            *named("seed", None if found.exact else seed),
        ]
    )
