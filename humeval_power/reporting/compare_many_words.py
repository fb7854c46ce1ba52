"""Sentences and tables of comparisons of several systems."""

from __future__ import annotations

from humeval_power.inference.pairwise_scores import PairwiseScores
from humeval_power.reporting.checklist_items import ReportTable
from humeval_power.reporting.compare_words import interval_words, shown
from humeval_power.reporting.document_values import p_cell

CORRECTION_WORDS = {
    "none": "The p-values are not corrected for the number of pairs: some pairs will be significant by chance.",
    "holm": "The p-values are corrected by Holm (1979): the chance of any false one is at most alpha.",
    "bonferroni": "The p-values are corrected by Bonferroni: the chance of any false one is at most alpha.",
    "bh": "The p-values are corrected by Benjamini and Hochberg (1995): on average at most a share alpha of the "
    "significant pairs is false; some of them may be.",
    "max-t": "The p-values are corrected by the largest t of all pairs in joint resamples of the items.",
    "romano-wolf": "The p-values are corrected step by step by joint resamples of the items (Romano and Wolf "
    "2005).",
}


def many_caveats(result: PairwiseScores) -> tuple[str, ...]:
    """What must be read before the pairs."""
    return (
        CORRECTION_WORDS[result.correction],
        "A pair that is not significant is not shown to be alike; intervals are of each pair by itself.",
    )


def means_table(result: PairwiseScores) -> ReportTable:
    """Systems by mean, best first, with their cluster where there are any."""
    if not result.clusters:
        return ReportTable(
            ("system", "mean"), tuple((name, shown(mean)) for name, mean in result.means.items())
        )
    cluster = {name: place for place, names in enumerate(result.clusters, start=1) for name in names}
    rows = tuple((name, shown(mean), str(cluster[name])) for name, mean in result.means.items())
    return ReportTable(("system", "mean", "cluster"), rows)


def pairs_report_table(result: PairwiseScores) -> ReportTable:
    """One row for each pair."""
    rows = tuple(
        (
            f"{pair.second} - {pair.first}",
            shown(pair.test.estimate),
            interval_words(*pair.test.interval),
            p_cell(pair.test.p_value),
            p_cell(pair.corrected_p),
            "yes" if pair.significant else "no",
        )
        for pair in result.pairs
    )
    header = ("pair", result.pairs[0].test.estimand, "interval", "p", "corrected p", "significant")
    return ReportTable(header, rows)
