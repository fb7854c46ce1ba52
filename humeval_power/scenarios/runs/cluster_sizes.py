"""How many items are in each cluster of a study that is only planned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError, Problem

Sizes = NDArray[np.int64]


def check_clusters(size: float, cv: float) -> None:
    """Refuse sizes of clusters that there cannot be."""
    problems = []
    if not (np.isfinite(size) and size >= 1):
        rule = f"a cluster has at least one item; got {size:g} on average."
        problems.append(Problem(rule, "1 is no clusters.", "--cluster-size"))
    if not (np.isfinite(cv) and 0 <= cv <= 5):
        rule = f"a coefficient of variation of sizes lies between 0 and 5; got {cv:g}."
        problems.append(Problem(rule, "", "--cluster-cv"))
    elif cv > 0 and size == 1:
        rule = "clusters of one item do not vary in size."
        problems.append(Problem(rule, "Give their mean size too: --cluster-size.", "--cluster-cv"))
    if problems:
        raise InputError(problems)


def cluster_sizes(n_items: int, *, size: float, cv: float = 0.0) -> Sizes:
    """Sizes of clusters, the smallest first, that add up to `n_items`: two clusters at least.

    size : mean number of items in a cluster. cv : coefficient of variation of the sizes, which then are 1 and
    quantiles of a gamma distribution, rounded; 0 makes them as equal as whole numbers can be.
    """
    count = min(max(2, round(n_items / size)), n_items)
    if cv == 0 or count == n_items:
        each, rest = divmod(n_items, count)
        return np.repeat([each, each + 1], [count - rest, rest]).astype(np.int64)
    mean = n_items / count
    shape = ((mean - 1) / (cv * mean)) ** 2  # of what a cluster has beyond its first item
    weight = special.gammaincinv(shape, (np.arange(count) + 0.5) / count)
    spare = (n_items - count) * weight / weight.sum()
    whole = np.floor(spare).astype(np.int64)
    by_rest = np.argsort(whole - spare, kind="stable")
    whole[by_rest[: n_items - count - int(whole.sum())]] += 1
    return np.sort(whole + 1)


def mean_partners(sizes: Sizes) -> float:
    """Items in the cluster of an item, itself among them, on average over items: sum of squared sizes over n."""
    of = sizes.astype(np.float64)
    return float(of @ of / of.sum())
