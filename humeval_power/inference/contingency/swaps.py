"""The paired randomisation test of a metric that depends on the whole confusion matrix, such as F1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_SWAPS as DEFAULT_SWAPS
from humeval_power.choices import ContingencyMetric as ContingencyMetric
from humeval_power.errors import InputError
from humeval_power.inference.resampled import drawn_p, monte_carlo_interval
from humeval_power.kernels.metrics.confusion import metric_value
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

    Parameters
    ----------
    counts : (K, K, K) numbers of items by true class, prediction of A and prediction of B.
    positive : the class of F1, precision and recall.

    Raises
    ------
    InputError
        No random swaps.
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
    found = 0
    for begin in range(0, n_swaps, portion):
        size = min(portion, n_swaps - begin)
        of_a = rng.binomial(moved, 0.5, size=(size, len(moved))).astype(np.float64)
        found += int((np.abs(difference(of_a)) >= limit).sum())
    return found
