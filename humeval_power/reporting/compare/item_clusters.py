"""What a comparison by scores says of clusters of its items, and whether it took them into account."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.inference.clustered import clustered_mean
from humeval_power.inference.compare.result import score_differences
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.independence import Independence, assumed_items, clustered_items
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.signature import cluster_entry

_RESAMPLING = "Tests that resample or flip take whole clusters."


def cluster_name(table: ScoreTable) -> str | None:
    """'passage:40' for a signature."""
    if table.clusters is None:
        return None
    (entry,) = cluster_entry(table.clusters.name, table.clusters.n_clusters)
    return entry.partition(":")[2]


def items_words(table: ScoreTable) -> str:
    """'500 items', or '500 items in 40 clusters'."""
    items = counted(table.n_items, "item")
    return (
        items if table.clusters is None else f"{items} in {counted(table.clusters.n_clusters, 'cluster')}"
    )


def independence_of_pair(comparison: PairComparison) -> tuple[Independence, ...]:
    """Clusters of the items with what they do to the mean difference, or that there is none known."""
    table = comparison.table
    if table.clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    differences = score_differences(*(table.column(name) for name in table.systems))
    return (clustered_items(clustered_mean(differences, table.clusters), table.clusters.name),)


def independence_of_table(table: ScoreTable) -> tuple[Independence, ...]:
    """The same of several systems."""
    clusters = table.clusters
    if clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    sizes = clusters.sizes
    size = f"of {sizes[0]:,}" if sizes.min() == sizes.max() else f"of {sizes.min():,} to {sizes.max():,}"
    text = (
        f"The {table.n_items:,} items come in {clusters.n_clusters:,} clusters ({clusters.name}), {size}. Errors "
        f"of every pair are robust to whatever items of a cluster share. {_RESAMPLING}"
    )
    return (Independence("items", "accounted", text),)


def independence_of_sets(
    names: Sequence[str], comparisons: Sequence[PairComparison]
) -> tuple[Independence, ...]:
    """One answer for each set, or one for all that count their items as independent."""
    if all(one.table.clusters is None for one in comparisons):
        suspects = {each.column: each for one in comparisons for each in one.table.suspects}
        n = sum(one.table.n_items for one in comparisons)
        return (assumed_items(n, tuple(suspects.values())),)
    found = []
    for name, one in zip(names, comparisons, strict=True):
        for answer in independence_of_pair(one):
            found.append(Independence(answer.of, answer.state, f"{name}: {answer.text}"))
    return tuple(found)
