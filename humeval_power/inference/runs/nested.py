"""Two systems whose answers are generated anew for each item: items are the sample, generations noise about them.

Sources: Miller (2024, sections 2 and 3) for the split of the variance; Bell and McCaffrey (2002) for clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import clustered_mean
from humeval_power.inference.runs.comparison import (
    ErrorPart,
    RunsComparison,
    RunsRule,
    cell_means,
    scale_of,
    told,
)
from humeval_power.inference.runs.run_table import Floats, RunTable
from humeval_power.inference.study.wald import finished_test
from humeval_power.runs_parameters import RunsParameters


@dataclass(frozen=True, slots=True)
class NestedVariances:
    """Variances of nested runs: of items' true differences, between clusters of them (part of it), and of single
    generations of A and B; `noise` is what the generations add to an item's observed difference, by system.
    `unknown` marks systems with a single generation of each item."""

    items: float
    between: float
    runs: tuple[float, float]
    noise: tuple[float, float]
    unknown: tuple[bool, bool]
    at_zero: bool


def compare_nested(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare two systems by the mean of the items' differences, their runs being averaged first.

    table : of two systems, every item with one run of each at least.

    Averaging is right here: the runs of an item have nothing in common with those of another, so that the items'
    differences are independent but for their clusters. The error is CR2's with Bell and McCaffrey's df; without
    clusters that is the paired t test.
    """
    scale, means = scale_of(table), cell_means(table)
    items = clustered_mean(means[:, 1] - means[:, 0], table.clusters)
    in_unit = items.estimate / scale.width, items.standard_error / scale.width
    tested = finished_test(*in_unit, items.df, rule.on(scale))
    found = nested_variances(table)
    counts = table.counts
    fields: dict[str, Any] = told(tested, scale)
    return RunsComparison(
        systems=(table.system_names[0], table.system_names[1]),
        rule=rule,
        means=(float(means[:, 0].mean()), float(means[:, 1].mean())),
        **fields,
        n_items=table.n_items,
        n_scores=len(table.score),
        runs=(float(counts[:, 0].mean()), float(counts[:, 1].mean())),
        n_labels=table.n_labels,
        items=items,
        clustered=table.clusters is not None,
        parts=_parts(found, table),
        parameters=_parameters(found, rule, means),
        at_zero=("sd_item",) if found.at_zero else (),
        remarks=tuple(
            f"{name!r} has one run of each item: what its runs vary by cannot be told from the items."
            for name, unknown in zip(table.system_names, found.unknown, strict=True)
            if unknown
        ),
    )


def nested_variances(table: RunTable) -> NestedVariances:
    """Variances by the method of moments: analysis of variance within cells, and of the items' differences."""
    counts, means = table.counts.astype(np.float64), cell_means(table)
    centered = table.score - means[table.item, table.system]
    squares = table.cell_sums(centered**2).sum(axis=0)
    df = (counts - 1).sum(axis=0)
    within = np.divide(squares, df, out=np.zeros(2), where=df > 0)
    noise = within * (1 / counts).mean(axis=0)
    total, between = _spread(means[:, 1] - means[:, 0], table.clusters)
    floor = 1e-12 * max(total, 1e-300)
    alone = (
        total - between - float(noise.sum())
    )  # of an item's own, beside its cluster: may come out below zero
    items = between + max(alone, 0.0)
    return NestedVariances(
        items=items if items > floor else 0.0,
        between=between,
        runs=(float(within[0]), float(within[1])),
        noise=(float(noise[0]), float(noise[1])),
        unknown=(not df[0] > 0, not df[1] > 0),
        at_zero=items <= floor,
    )


def _spread(differences: Floats, clusters: Clusters | None) -> tuple[float, float]:
    """Variance of an item's difference, and how much of it lies between clusters (at least 0)."""
    total = float(differences.var(ddof=1))
    if clusters is None or clusters.one_each:
        return total, 0.0
    n, g, sizes = clusters.n_items, clusters.n_clusters, clusters.sizes.astype(np.float64)
    means = clusters.sums(differences) / sizes
    among = float(sizes @ (means - differences.mean()) ** 2) / (g - 1)
    within = float(np.sum((differences - means[clusters.codes]) ** 2)) / (n - g)
    between = (among - within) * (g - 1) / (n - float(sizes @ sizes) / n)
    return (within + between, between) if between > 0 else (total, 0.0)


def _parts(found: NestedVariances, table: RunTable) -> tuple[ErrorPart, ...]:
    n, clusters = table.n_items, table.clusters
    size = 1.0 if clusters is None else float(np.sum(clusters.sizes.astype(np.float64) ** 2)) / n
    parts = [ErrorPart("items", (found.items - found.between) / n, falls=False)]
    if clusters is not None:
        parts.append(ErrorPart(f"clusters ({clusters.name})", found.between * size / n, falls=False))
    parts += [
        ErrorPart(f"runs of {name}", noise / n, falls=True)
        for name, noise in zip(table.system_names, found.noise, strict=True)
    ]
    return tuple(parts)


def _parameters(found: NestedVariances, rule: RunsRule, means: Floats) -> RunsParameters | None:
    baseline = float(means.mean())
    if rule.family == "binary" and not 0 < baseline < 1:
        return None
    return RunsParameters(
        kind="nested",
        family=rule.family,
        sd_item=found.items**0.5,
        icc=found.between / found.items if found.items > 0 else 0.0,
        sd_run_a=found.runs[0] ** 0.5,
        sd_run_b=found.runs[1] ** 0.5,
        baseline=baseline,
        effect=float((means[:, 1] - means[:, 0]).mean()),
    )
