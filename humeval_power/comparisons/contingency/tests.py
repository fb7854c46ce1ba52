"""The paired randomisation test of a metric that depends on the whole confusion matrix, such as F1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_SWAPS, ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.item_bootstrap import (
    Signs,
    drawn_p,
    drawn_swaps,
    listed_swaps,
    monte_carlo_interval,
)
from humeval_power.kernels.metrics.contingency import has_slope, metric_slopes, metric_value
from humeval_power.simulation.study import replicate_generator

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_CLOSE = 1e-12
_HELD = 2_000_000  # numbers in memory at a time; part of what a seed means


@dataclass(frozen=True, slots=True)
class ContingencyTest:
    """Two-sided paired randomisation test; `difference` is B - A.

    With two classes the p-value is exact and `n_swaps` is 0; else `n_extreme` of `n_swaps` random swaps gave
    a difference at least as large.
    """

    value_a: float
    value_b: float
    p_value: float
    n_swaps: int = 0
    n_extreme: int = 0

    @property
    def difference(self) -> float:
        """B - A."""
        return self.value_b - self.value_a

    @property
    def p_interval(self) -> tuple[float, float] | None:
        """95 % Monte Carlo interval of a p-value that was drawn; None for an exact one."""
        return monte_carlo_interval(self.n_extreme, self.n_swaps) if self.n_swaps else None


def contingency_test(
    counts: Counts,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
    n_swaps: int = DEFAULT_SWAPS,
    seed: int = 1,
) -> ContingencyTest:
    """Test whether two systems differ in a metric.

    counts : (K, K, K) numbers of items by true class, prediction of A and prediction of B.
    positive : the class of F1, precision and recall.
    """
    if n_swaps < 1:
        raise InputError(f"At least one random swap is needed; got {n_swaps}.")
    value_a, value_b = (
        float(metric_value(metric, counts.sum(axis=axis).astype(np.float64), positive=positive))
        for axis in (2, 1)
    )
    if len(counts) == 2:
        p_value = exact_p_values(counts[None], metric=metric, positive=positive)[0]
        return ContingencyTest(value_a, value_b, float(p_value))
    rng = replicate_generator(seed, 0)
    extreme = int(drawn_extremes(counts[None], rng, metric=metric, positive=positive, n_swaps=n_swaps)[0])
    return ContingencyTest(value_a, value_b, drawn_p(extreme, n_swaps), n_swaps, extreme)


def exact_p_values(counts: Counts, *, metric: ContingencyMetric, positive: int) -> Floats:
    """P-values of tables of two classes, (n, 2, 2, 2), over every swap; shape (n,)."""
    from humeval_power.kernels.metrics.contingency import CODES, exact_p

    return np.asarray(exact_p(counts.astype(np.float64), CODES[metric], positive))


def drawn_extremes(
    counts: Counts, rng: np.random.Generator, *, metric: ContingencyMetric, positive: int, n_swaps: int
) -> Counts:
    """How many of `n_swaps` random swaps are at least as extreme as each table (n, K, K, K); shape (n,).

    With two classes the number is binomial with the exact p-value. Otherwise, of the items of one class to
    which the systems give a certain pair of different labels, a swap gives A a binomial number with each.
    """
    if counts.shape[1] == 2:
        chance = np.minimum(exact_p_values(counts, metric=metric, positive=positive), 1.0)
        return rng.binomial(n_swaps, chance).astype(np.int64)
    return np.array([_extremes(table, rng, metric, positive, n_swaps) for table in counts], dtype=np.int64)


def _extremes(
    table: Counts, rng: np.random.Generator, metric: ContingencyMetric, positive: int, n_swaps: int
) -> int:
    k = len(table)
    alike = np.diagonal(table, axis1=1, axis2=2)  # (true class, label of both)
    true, first, second = (
        np.array(
            [
                (c, i, j)
                for c in range(k)
                for i in range(k)
                for j in range(i + 1, k)
                if table[c, i, j] + table[c, j, i]
            ]
        )
        .reshape(-1, 3)
        .T
    )
    moved = table[true, first, second] + table[true, second, first]
    place = np.zeros((2, len(moved), k * k))
    place[0, np.arange(len(moved)), true * k + first] = 1.0
    place[1, np.arange(len(moved)), true * k + second] = 1.0
    fixed = np.zeros((k, k))
    fixed[:] = alike

    def difference(of_a: Floats) -> Floats:
        of_b = moved - of_a
        a = (of_a @ place[0] + of_b @ place[1]).reshape(-1, k, k) + fixed
        b = (of_b @ place[0] + of_a @ place[1]).reshape(-1, k, k) + fixed
        return metric_value(metric, b, positive=positive) - metric_value(metric, a, positive=positive)

    limit = abs(float(difference(table[true, first, second][None].astype(np.float64))[0])) - _CLOSE
    portion = max(1, _HELD // max(len(moved), k * k))
    extremes = 0
    for begin in range(0, n_swaps, portion):
        size = min(portion, n_swaps - begin)
        of_a = rng.binomial(moved, 0.5, size=(size, len(moved))).astype(np.float64)
        extremes += int((np.abs(difference(of_a)) >= limit).sum())
    return extremes


# A metric of the confusion matrix where items come in clusters: whole clusters swapped, and influence
# values.

Codes = NDArray[np.int64]


def cluster_swap_test(
    codes: Codes,
    n_classes: int,
    clusters: Clusters,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
    n_swaps: int = DEFAULT_SWAPS,
    seed: int = 1,
) -> ContingencyTest:
    """Test whether two systems differ in a metric by exchanging all their answers to whole clusters.

    codes : (n_items, 3) true class, prediction of A, prediction of B, counted from 0.
    n_swaps : exchanges that are drawn; where there are no more of them all are counted, and `n_swaps` of the
        result is 0.
    """
    if clusters.n_items != len(codes):
        raise InputError(f"There are {len(codes):,} items, and clusters of {clusters.n_items:,}.")
    if n_swaps < 1:
        raise InputError(f"At least one random swap is needed; got {n_swaps}.")
    cells = codes[:, :1] * n_classes + codes[:, 1:]
    places, half = _exchanged(cells, clusters)
    of_a, of_b = (np.bincount(column, minlength=n_classes**2).astype(np.float64) for column in cells.T)

    def value(flat: Floats) -> Floats:
        return metric_value(metric, flat.reshape(-1, n_classes, n_classes), positive=positive)

    def differences(signs: Signs) -> Floats:
        away = np.zeros((len(signs), n_classes**2))
        away[:, places] = signs.astype(np.float64) @ half
        middle = (of_a + of_b) / 2
        return np.asarray(value(middle + away) - value(middle - away))

    value_a, value_b = (float(value(each)[0]) for each in (of_a, of_b))
    limit = abs(value_b - value_a) - _CLOSE
    if len(half) == 0:
        return ContingencyTest(value_a, value_b, 1.0)
    if len(half) - 1 <= math.log2(n_swaps):
        p_value = float((np.abs(differences(listed_swaps(len(half)))) >= limit).mean())
        return ContingencyTest(value_a, value_b, p_value)
    rng, extreme = replicate_generator(seed, 0), 0
    portion = max(1, _HELD // max(len(half), n_classes**2))
    for begin in range(0, n_swaps, portion):
        signs = drawn_swaps(len(half), min(portion, n_swaps - begin), rng)
        extreme += int((np.abs(differences(signs)) >= limit).sum())
    return ContingencyTest(value_a, value_b, drawn_p(extreme, n_swaps), n_swaps, extreme)


def influence_mean(
    codes: Codes,
    n_classes: int,
    clusters: Clusters | None,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
) -> ClusteredMean | None:
    """The difference B - A of a metric, with the CR2 error of its influence values.

    An item with true class c, to which the systems give a and b, moves the difference by slope_B[c, b] -
    slope_A[c, a], less the mean of these: the first order of the delta method. Without clusters every item is one
    of its own. For accuracy these are the differences themselves. None where the metric is not smooth, or there
    is a single item.
    """
    n_items = len(codes)
    moved = np.zeros(n_items)
    value = np.zeros(2)
    for side, place in enumerate((1, 2)):
        pairs = codes[:, [0, place]]
        cells = np.bincount(pairs[:, 0] * n_classes + pairs[:, 1], minlength=n_classes**2)
        confusion = cells.reshape(n_classes, n_classes).astype(np.float64) / n_items
        if n_items < 2 or not has_slope(metric, confusion):
            return None
        slopes = metric_slopes(metric, confusion, positive=positive)
        moved += (2 * side - 1) * slopes[codes[:, 0], codes[:, place]]
        value[side] = float(metric_value(metric, confusion, positive=positive))
    return clustered_mean(moved - moved.mean() + (value[1] - value[0]), clusters)


def _exchanged(cells: Codes, clusters: Clusters) -> tuple[Codes, Floats]:
    """The cells of the confusion matrix that an exchange changes, (m,), and half of what B has there more than A in
    each cluster where they differ, (G', m)."""
    differ = cells[:, 0] != cells[:, 1]
    of, moved = clusters.codes[differ], cells[differ]
    places = np.unique(moved)
    half = np.zeros((clusters.n_clusters, len(places)))
    np.add.at(half, (of, np.searchsorted(places, moved[:, 1])), 0.5)
    np.subtract.at(half, (of, np.searchsorted(places, moved[:, 0])), 0.5)
    return places, half[(half != 0).any(axis=1)]
