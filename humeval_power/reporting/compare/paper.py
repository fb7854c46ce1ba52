"""One paragraph that reports a comparison of systems by their scores."""

from __future__ import annotations

import math

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.compare.item_clusters import items_words
from humeval_power.reporting.numbers import counted, p_words, significant, significant_interval
from humeval_power.reporting.pair_names import with_names

_WHAT = {
    "mean": "mean difference",
    "median": "median difference",
    "pseudomedian": "pseudomedian of the differences",
}


def paper_paragraph(comparison: PairComparison) -> str:
    """Items and clusters, the test, the estimate with its interval, and the p-value."""
    test, settings, table = comparison.test, comparison.request.settings, comparison.table
    a, b = comparison.names
    clusters = table.clusters
    where = "" if clusters is None else f" in {clusters.n_clusters:,} clusters ({clusters.name})"
    named = test.label.startswith(("Wilcoxon", "McNemar"))
    label = test.label if named else f"{test.label[0].lower()}{test.label[1:]}"
    what = f"{_WHAT[test.estimand]} B - A" if test.estimand in _WHAT else test.estimand
    what = with_names(what, comparison.names)
    interval = ""
    if not math.isnan(test.interval[0]):
        interval = f", {100 * test.confidence:g} % interval {significant_interval(*test.interval)}"
    statistic = ""
    if test.name == "t":
        statistic = f" {test.statistic_name} = {significant(test.statistic)},"
    side = "two-sided" if settings.alternative == "two-sided" else "one-sided"
    return (
        f"We compared {b} with {a} by {table.metric} on the same {test.n:,} items{where}. The {what} was "
        f"{significant(test.estimate)}{interval} ({label}, {side},{statistic} {p_words(test.p_value)}, alpha "
        f"{settings.alpha:g}).{_changed(comparison)}"
    )


def _changed(comparison: PairComparison) -> str:
    """On how many items each was right alone, of scores 0 and 1."""
    data = comparison.data
    if not data.is_binary:
        return ""
    a, b = comparison.names
    return f" {b} alone was right on {counted(data.n_helped, 'item')}, {a} alone on {data.n_hurt:,}."


def many_paragraph(found: PairwiseScores, table: ScoreTable, *, alpha: float) -> str:
    """Systems, items and clusters, the test and its correction, and how many pairs differ."""
    label, n_pairs = found.pairs[0].test.label, len(found.pairs)
    n_significant = sum(pair.significant for pair in found.pairs)
    return (
        f"We compared {len(found.means)} systems by {table.metric} on the same {items_words(table)}: "
        f"{label} of {counted(n_pairs, 'pair')}, {_CORRECTED[found.correction]}. {n_significant} of "
        f"{counted(n_pairs, 'pair')} differ significantly at alpha {alpha:g}."
    )


_CORRECTED = {
    "none": "p-values not corrected for the number of pairs",
    "holm": "p-values corrected by Holm (1979)",
    "bonferroni": "p-values corrected by Bonferroni",
    "bh": "p-values corrected by Benjamini and Hochberg (1995)",
    "max-t": "p-values corrected by the largest t in joint resamples (Westfall and Young 1993)",
    "romano-wolf": "p-values corrected step by step in joint resamples (Romano and Wolf 2005)",
}
