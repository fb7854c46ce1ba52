"""A comparison by repeated runs for a paper: the paragraph, and the signature."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.inference.runs.comparison import RunsComparison, RunsRule
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.reporting.numbers import decimals, p_words, percent, significant, significant_interval
from humeval_power.reporting.runs.words import number_of
from humeval_power.reporting.signature import DIGITS, NAME, cluster_entry, named, short

_TESTS = {
    ("nested", False): "t",
    ("nested", True): "cr2",
    ("crossed", False): "kr",
    ("crossed", True): "kr",
}


def for_a_paper(pair: RunsComparison, table: RunTable) -> str:
    """The paragraph of a paper."""
    tail = pair.rule.alpha if pair.rule.alternative == "two-sided" else 2 * pair.rule.alpha
    low, high = (number_of(runs) for runs in pair.runs)
    runs = low if low == high else f"{low} ({pair.systems[0]}) and {high} ({pair.systems[1]})"
    numbers = (
        f"the difference is {significant(pair.estimate)} ({100 * (1 - tail):g} % interval "
        f"{significant_interval(*pair.interval)}; t = {decimals(pair.estimate / pair.standard_error, 2)} on "
        f"{decimals(pair.df, 1)} df, {p_words(pair.p_value)})"
    )
    of_clusters = (
        f" in {table.clusters.n_clusters:,} clusters ({table.clusters.name})" if table.clusters else ""
    )
    if pair.rule.kind == "nested":
        error = (
            "cluster-robust errors (CR2) with Bell and McCaffrey's (2002) degrees of freedom"
            if pair.clustered
            else "a paired t test over items"
        )
        return (
            f"We generated {runs} answers to each of {pair.n_items:,} items{of_clusters} with each system, "
            f"averaged the scores of an item, and compared {pair.systems[1]} with {pair.systems[0]} by {error}: "
            f"{numbers}. {percent(pair.removable)} of its variance is noise of single generations."
        )
    model = (
        "a logit mixed model (restricted Laplace)"
        if pair.rule.family == "binary"
        else "a linear mixed model (REML)"
    )
    runs = f"{table.run_column} values"
    return (
        f"We scored both systems on {pair.n_items:,} items{of_clusters} under {pair.n_labels} {runs} and compared "
        f"{pair.systems[1]} with {pair.systems[0]} by {model} with random intercepts and slopes of items and of "
        f"{runs}, with Kenward and Roger's (1997) degrees of freedom: {numbers}."
    )


def signature(table: RunTable, rule: RunsRule, pairs: Sequence[RunsComparison], version: str) -> str:
    """What was tested, in one line of entries."""
    first = pairs[0]
    low, high = (number_of(runs) for runs in first.runs)
    clusters = table.clusters
    return "|".join(
        [
            NAME,
            "runs",
            f"kind:{rule.kind}",
            f"family:{rule.family}",
            f"test:{_TESTS[rule.kind, first.clustered]}",
            f"alt:{rule.alternative}",
            *named("margin", None if rule.margin is None else short(rule.margin)),
            f"alpha:{short(rule.alpha)}",
            f"items:{first.n_items}",
            f"runs:{low if low == high else f'{low}+{high}'}",
            *(["correction:holm"] if len(pairs) > 1 else []),
            *cluster_entry(
                None if clusters is None else clusters.name,
                None if clusters is None else clusters.n_clusters,
            ),
            *named("data", table.sha256[:DIGITS] or None),
            f"version:{version}",
        ]
    )
