"""What every estimate with a judge's help says: what must hold, what was not independent, and its signature."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.checking.cluster_columns import ClusterSuspect
from humeval_power.inference.judge.means import JudgedMeans
from humeval_power.inference.judge.rated import RatedMeans
from humeval_power.inference.judge.table import JudgedTable
from humeval_power.reporting.independence import Independence, assumed_items, clustered_items
from humeval_power.reporting.numbers import decimals
from humeval_power.reporting.records import versions
from humeval_power.reporting.signature import NAME, cluster_entry, named, short

ASSUMED = (
    "This holds whatever the judge is worth, if the items that humans rated are a random part of all and "
    "the judge was not tuned on their ratings."
)
_JUDGE = Independence(
    "judges",
    "assumed",
    "The judge is one judge with one prompt: claims hold for what humans say, which the judge's scores only "
    "help to estimate. Another judge gives other weights, not another target.",
)


def judged_answers(table: JudgedTable, found: JudgedMeans | RatedMeans) -> tuple[Independence, ...]:
    """What was not independent in an estimate from a table."""
    if isinstance(found, JudgedMeans):
        return value_answers(found, table.cluster_name, table.suspects)
    return (*rated_answers(found, table.cluster_name, table.suspects), _JUDGE)


def value_answers(
    found: JudgedMeans, cluster: str | None, suspects: Sequence[ClusterSuspect] = ()
) -> tuple[Independence, ...]:
    """Of means of outputs: items, and workers that nobody named."""
    workers = Independence(
        "workers",
        "assumed",
        "Who rated is not in the model: where the same few workers rate all items, their own differences are not "
        "in this interval. A column of workers puts them in.",
    )
    if found.clustered is None:
        items = assumed_items(found.n, suspects)
    else:
        items = clustered_items(found.clustered, cluster or "cluster")
    return items, workers, _JUDGE


def rated_answers(
    found: RatedMeans, cluster: str | None, suspects: Sequence[ClusterSuspect]
) -> tuple[Independence, ...]:
    """Of the rating model: workers are random effects; items are too, and clusters where they are named."""
    workers = Independence(
        "workers",
        "accounted",
        f"The same {found.n_workers:,} workers rated many items. What each of them prefers is a random effect of "
        f"the model, so that the interval holds for other workers too (Kenward and Roger, "
        f"{decimals(found.judged.df, 1)} df).",
    )
    if cluster is None:
        return workers, assumed_items(found.n_items, suspects)
    items = Independence(
        "items",
        "accounted",
        f"Items come in {found.n_clusters:,} clusters ({cluster}): they are a random effect of the model, above "
        "the items, and the judge's mean has a standard error by clusters (CR2).",
    )
    return workers, items


def item_answer(table: JudgedTable, n_items: int, n_clusters: int | None) -> Independence:
    """Of errors by the jackknife: over items, or over their clusters."""
    if n_clusters is None:
        return assumed_items(n_items, table.suspects)
    text = (
        f"The {n_items:,} items come in {n_clusters:,} clusters ({table.cluster_name}): errors are by the "
        "jackknife over whole clusters."
    )
    return Independence("items", "accounted", text)


def judge_signature(
    entries: Sequence[str],
    *,
    cluster: str | None = None,
    n_clusters: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
) -> str:
    """The line for a paper: what was estimated from how many, by which clusters, and the seed of the folds."""
    parts = [
        NAME,
        f"v:{versions()['humeval-power']}",
        *entries,
        *cluster_entry(cluster, n_clusters),
        *named("confidence", None if confidence is None else short(confidence)),
        *named("seed", seed),
    ]
    return "|".join(parts)


def interval_cell(ends: tuple[float, float]) -> str:
    """'0.1 to 0.3'."""
    return f"{ends[0]:.4g} to {ends[1]:.4g}"
