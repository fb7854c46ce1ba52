"""What is said of two systems' accuracies, in facts, records, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from humeval_power.inference.accuracy.answers import Answers
from humeval_power.inference.accuracy.comparison import Comparison
from humeval_power.reporting.chart import Chart
from humeval_power.reporting.clustered_words import cluster_record, few_clusters, paper_error
from humeval_power.reporting.document import Fact
from humeval_power.reporting.independence import Independence, assumed_items, clustered_items
from humeval_power.reporting.interval_chart import interval_chart
from humeval_power.reporting.numbers import decimals, interval_words, p_words
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.signature import NAME, cluster_entry, short

TITLES = {
    "mid-p": "McNemar, mid-p",
    "unconditional": "McNemar, unconditional (Suissa & Shuster)",
    "asymptotic": "McNemar, asymptotic",
    "exact": "McNemar, exact conditional",
    "unpaired": "two proportions, unpaired",
    "clustered-t": "Student's t, clusters (CR2)",
    "cluster-swaps": "whole clusters swapped, every swap",
}
SHORT_TITLES = {
    "clustered-t": "t (CR2)",
    "cluster-swaps": "swaps",
}  # columns of a table; others by their names
AS_IF_INDEPENDENT = "McNemar, mid-p, as if independent"


def title_of(test: str, *, is_clustered: bool) -> str:
    """A test by its name; McNemar's is no more than a foil where the items are in clusters."""
    return AS_IF_INDEPENDENT if is_clustered and test == "mid-p" else TITLES[test]


def cluster_name(answers: Answers | None) -> str | None:
    """The name of the clusters; None where the items count as independent."""
    return None if answers is None or answers.clusters is None else answers.clusters.name


def compared_words(systems: tuple[str, str]) -> str:
    """'Accuracy of new compared with that of old'."""
    a, b = systems
    return f"Accuracy of {b} compared with that of {a}"


def more_items(comparison: Comparison) -> str:
    """'10 more of 161 items' that B is right on than A."""
    counts = comparison.counts
    more = counts.only_b - counts.only_a
    if not more:
        return "as many items"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} of {counts.n_items:,} items"


def facts(comparison: Comparison, confidence: float) -> Iterator[Fact]:
    """Difference, accuracies, items and agreement; the difference is B - A."""
    counts, (a, b) = comparison.counts, comparison.systems
    interval = interval_words(*comparison.interval(confidence), signed=True)
    yield f"{b} - {a}", f"{counts.difference:+.4f}, {100 * confidence:g} % interval {interval}"
    alone = f"{b} alone right on {counts.only_b:,}, {a} alone on {counts.only_a:,}"
    known = counts.accuracies
    if known is None or counts.both is None:
        yield "Items", f"{counts.n_items:,}: {alone}"
    else:
        yield "Accuracy", f"{a} {known[0]:.4f}, {b} {known[1]:.4f}"
        neither = counts.n_items - counts.both - counts.only_a - counts.only_b
        yield (
            "Items",
            f"{counts.n_items:,}: both right on {counts.both:,}, {alone}, both wrong on {neither:,}",
        )
    yield "Agreement", f"{counts.agreement:.4f} (both right or both wrong)"


def described(comparison: Comparison, confidence: float) -> Record:
    """Counts, accuracies, difference, interval and agreement as plain values."""
    counts, known = comparison.counts, comparison.counts.accuracies
    return {
        **asdict(counts),
        "accuracy_a": None if known is None else known[0],
        "accuracy_b": None if known is None else known[1],
        "difference": counts.difference,
        "agreement": counts.agreement,
        "interval": list(comparison.interval(confidence)),
    }


def in_row(comparison: Comparison, confidence: float) -> Record:
    """The same in cells."""
    found, (low, high) = described(comparison, confidence), comparison.interval(confidence)
    return {name: value for name, value in found.items() if name != "interval"} | {"low": low, "high": high}


def clusters_of_pair(comparison: Comparison, answers: Answers | None) -> Record | None:
    """The clustered difference as plain values; None where items count as independent."""
    return cluster_record(comparison.clustered, cluster_name(answers))


def picture(comparisons: Sequence[Comparison], confidence: float) -> Chart:
    """The differences with their intervals, in points of 100."""
    effects = []
    for each in comparisons:
        ends = [each.counts.difference if math.isnan(end) else end for end in each.interval(confidence)]
        low, high = (100 * end for end in ends)  # a point alone where there is no interval
        effects.append(
            (
                each.name or f"{each.systems[1]} - {each.systems[0]}",
                100 * each.counts.difference,
                (low, high),
            )
        )
    return interval_chart(
        "difference",
        effects,
        axis="difference, points of 100",
        title="How large are the differences of accuracy?",
        words=f"The difference of accuracy with its {100 * confidence:g} % interval, about 0.",
    )


def independence(comparisons: Sequence[Comparison], answers: Answers | None) -> tuple[Independence, ...]:
    """What was not independent: of the first pair where there are several, for the items are the same."""
    first, name = comparisons[0], cluster_name(answers)
    if first.clustered is None or name is None:
        return (assumed_items(first.counts.n_items, () if answers is None else answers.suspects),)
    found = clustered_items(first.clustered, name)
    if len(comparisons) == 1:
        return (found,)
    return (Independence(found.of, found.state, f"{found.text} (Errors of {first.name}.)"),)


def paper_words(comparison: Comparison, answers: Answers | None, alpha: float) -> str:
    """A paragraph on one comparison."""
    counts, (a, b), name = comparison.counts, comparison.systems, cluster_name(answers)
    confidence = f"{100 * (1 - alpha):g} %"
    ends = [100 * end for end in comparison.interval(1 - alpha)]
    interval = "" if math.isnan(ends[0]) else f", {confidence} interval {ends[0]:+.1f} to {ends[1]:+.1f}"
    known = counts.accuracies
    rates = "" if known is None else f" ({100 * known[1]:.1f} % against {100 * known[0]:.1f} %)"
    text = (
        f"{b} and {a} answered the same {counts.n_items:,} items{few_clusters(comparison.clustered, name)}. The "
        f"accuracy of {b} less that of {a} was {100 * counts.difference:+.1f} points{rates}{interval}. "
        f"{b} alone was right on {counts.only_b:,} items, {a} alone on "
        f"{counts.only_a:,}."
    )
    found = comparison.clustered
    if found is None:
        return (
            f"{text} McNemar's test (mid-p; Fagerland, Lydersen and Laake 2013) gave "
            f"{p_words(comparison.tests[0].p_value)}; the interval is Bonett and Price's (2012). Items count as "
            "independent."
        )
    swaps = next(each for each in comparison.tests if each.name == "cluster-swaps")
    tested = ""
    if found.standard_error > 0:
        t = decimals(found.estimate / found.standard_error, 2)
        tested = f", t({decimals(found.df, 1)}) = {t}, {p_words(comparison.tests[0].p_value)}"
    return (
        f"{text} {paper_error(found, 'differences').removesuffix('.')}{tested}. Exchanging the answers of whole "
        f"clusters between the systems, every exchange counted, gave {p_words(swaps.p_value)}."
    )


def signature(
    comparisons: Sequence[Comparison], answers: Answers | None, alpha: float | None, correction: str | None
) -> str:
    """A line that says how the accuracies were compared; without `alpha` nothing was tested."""
    first, clusters = comparisons[0], None if answers is None else answers.clusters
    test = [] if alpha is None else [f"test:{first.tests[0].name}", f"alpha:{short(alpha)}", "two"]
    return "|".join(
        [
            NAME,
            f"v:{versions()['humeval-power']}",
            "model:paired",
            "coding:b-a",
            "metric:accuracy",
            *test,
            f"n:{first.counts.n_items}",
            *([] if clusters is None else cluster_entry(clusters.name, clusters.n_clusters)),
            *(
                []
                if correction is None or answers is None
                else [f"k:{len(answers.systems)}", f"corr:{correction}"]
            ),
        ]
    )
