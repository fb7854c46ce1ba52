"""Complete balanced designs: the five strata of two systems, and REML in closed form.

Every worker rates every item under both systems r times. With d the difference and s the mean of the
two ratings of a worker and an item, all strata are independent and each has one mean square:

    0 worker          E[MS] = s2 + 2 n r Var(W0)              df m - 1
    1 worker x system E[MS] = s2 + n r Var(W1) / 2            df m - 1      (coding -1/2, +1/2)
    2 item            E[MS] = s2 + 2 m r Var(I0)              df n - 1
    3 item x system   E[MS] = s2 + m r Var(I1) / 2            df n - 1
    4 residual        E[MS] = s2                              df 2 m n r - 2 m - 2 n + 2

All functions are vectorised over replicates (last axis) and use NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WORKER, WORKER_SYSTEM, ITEM, ITEM_SYSTEM, RESIDUAL = range(5)


class Size(NamedTuple):
    """Workers, items, and ratings of each worker for each item and system."""

    workers: int
    items: int
    repeats: int = 1

    @property
    def ratings(self) -> int:
        """Ratings over both systems."""
        return 2 * self.workers * self.items * self.repeats


def degrees_of_freedom(size: Size) -> Floats:
    """df of the five strata, shape (5,)."""
    m, n, r = size
    return np.array([m - 1.0, m - 1.0, n - 1.0, n - 1.0, 2.0 * m * n * r - 2 * m - 2 * n + 2])


def loadings(size: Size) -> Floats:
    """How a variance (W0, W1, I0, I1) enters the expected mean square of its stratum, shape (4,)."""
    m, n, r = size
    return np.array([2.0 * n * r, n * r / 2.0, 2.0 * m * r, m * r / 2.0])


def expected_mean_squares(size: Size, variances: Floats) -> Floats:
    """E[MS] of the five strata for variances (W0, W1, I0, I1, residual), shape (5,)."""
    return np.append(variances[4] + loadings(size) * variances[:4], variances[4])


def mean_squares(ratings: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean squares, difference B - A and mean of complete tables.

    ratings : (replicates, workers, items, systems = 2, repeats)
    Returns arrays of shape (5, replicates), (replicates,), (replicates,).
    """
    _, m, n, _, r = ratings.shape
    size = Size(m, n, r)
    cell = ratings.mean(axis=4)
    within = ((ratings - cell[..., None]) ** 2).sum(axis=(1, 2, 3, 4))
    s, d = cell.mean(axis=3), cell[..., 1] - cell[..., 0]
    worker_sums, item_sums = [], []
    remainder = within
    for part, weight in ((s, 2.0 * r), (d, r / 2.0)):
        grand = part.mean(axis=(1, 2))
        by_worker = part.mean(axis=2) - grand[:, None]
        by_item = part.mean(axis=1) - grand[:, None]
        worker_sums.append(weight * n * (by_worker**2).sum(axis=1))
        item_sums.append(weight * m * (by_item**2).sum(axis=1))
        left = part - grand[:, None, None] - by_worker[:, :, None] - by_item[:, None, :]
        remainder = remainder + weight * (left**2).sum(axis=(1, 2))
    squares = np.stack([*worker_sums, *item_sums, remainder])
    return squares / degrees_of_freedom(size)[:, None], d.mean(axis=(1, 2)), s.mean(axis=(1, 2))


class Strata(NamedTuple):
    """REML estimates of the expected mean squares (5, replicates) and which leaves were pooled
    with the residual (4, replicates): their variance component is exactly zero."""

    expected: Floats
    pooled: NDArray[np.bool_]
    pooled_df: Floats


def pool(squares: Floats, df: Floats) -> Strata:
    """REML: weighted pooling under expected_leaf >= expected_residual (Thompson 1962).

    Starting from the residual, leaves join in increasing order of their mean square for as long as
    it does not exceed the pooled mean. That is the exact solution of the order-restricted problem.
    """
    leaves = squares[:4]
    order = np.argsort(leaves, axis=0)
    total = df[4] * squares[4]
    weight = np.full_like(total, df[4])
    joining = np.ones(total.shape, dtype=bool)
    pooled = np.zeros(leaves.shape, dtype=bool)
    column = np.arange(leaves.shape[1])
    for rank in range(len(leaves)):
        leaf = order[rank]
        value = leaves[leaf, column]
        joining &= value * weight <= total
        pooled[leaf, column] = joining
        total = total + np.where(joining, df[leaf] * value, 0.0)
        weight = weight + np.where(joining, df[leaf], 0.0)
    residual = total / weight
    return Strata(np.concatenate([np.maximum(leaves, residual), residual[None]]), pooled, weight)


def effect_variance(expected: Floats, size: Size) -> Floats:
    """Variance of the estimated difference: 2 (E1 + E3 - E4) / (m n r), shape of a replicate."""
    m, n, r = size
    combined = expected[WORKER_SYSTEM] + expected[ITEM_SYSTEM] - expected[RESIDUAL]
    return np.asarray(2.0 * combined / (m * n * r))


def kenward_roger_df(expected: Floats, df: Floats) -> Floats:
    """Satterthwaite's formula on the three strata of the difference, no stratum ever dropped.

    For complete balanced data this is Kenward and Roger's df, and their adjusted standard error is
    the plain one; inside the parameter space lmerTest's df is the same.
    """
    combined = expected[WORKER_SYSTEM] + expected[ITEM_SYSTEM] - expected[RESIDUAL]
    spread = sum(expected[k] ** 2 / df[k] for k in (WORKER_SYSTEM, ITEM_SYSTEM, RESIDUAL))
    return np.asarray(combined**2 / spread)


def satterthwaite_df(strata: Strata, df: Floats) -> Floats:
    """lmerTest's df: a pooled stratum has given its degrees of freedom to the residual."""
    expected, pooled = strata.expected, strata.pooled
    worker, item = ~pooled[WORKER_SYSTEM], ~pooled[ITEM_SYSTEM]
    combined = expected[WORKER_SYSTEM] + expected[ITEM_SYSTEM] - expected[RESIDUAL]
    residual_weight = 1.0 - worker.astype(float) - item.astype(float)
    spread = (
        worker * expected[WORKER_SYSTEM] ** 2 / df[WORKER_SYSTEM]
        + item * expected[ITEM_SYSTEM] ** 2 / df[ITEM_SYSTEM]
        + residual_weight**2 * expected[RESIDUAL] ** 2 / strata.pooled_df
    )
    return np.asarray(combined**2 / spread)


def draw_mean_squares(
    rng: np.random.Generator, *, size: Size, expected: Floats, n_replicates: int, interaction: float = 0.0
) -> tuple[Floats, Floats]:
    """Mean squares (5, n) and error of the estimated difference (n,) of Gaussian studies, drawn
    from their own distributions: independent scaled chi-squares and a normal.

    interaction : a variance between worker-item pairs. It enters the strata of the pair means (worker,
        item, and their part of the residual), never the difference.
    """
    m, n, r = size
    df = degrees_of_freedom(size)
    squares = np.empty((5, n_replicates))
    for k in range(5):
        mean = expected[k] + (2 * r * interaction if k in (WORKER, ITEM) else 0.0)
        squares[k] = rng.chisquare(df[k], n_replicates) * (mean / df[k])
    if interaction > 0:
        pairs = (m - 1.0) * (n - 1.0)
        total = rng.chisquare(df[RESIDUAL] - pairs, n_replicates) * expected[RESIDUAL]
        total += rng.chisquare(pairs, n_replicates) * (expected[RESIDUAL] + 2 * r * interaction)
        squares[RESIDUAL] = total / df[RESIDUAL]
    noise = rng.standard_normal(n_replicates) * np.sqrt(effect_variance(expected, size))
    return squares, noise


def draw_difference_squares(
    rng: np.random.Generator, *, size: Size, expected: Floats, n_replicates: int
) -> tuple[Floats, Floats]:
    """The same for an analysis of differences: strata 1, 3 and 4 alone, the residual being that of the
    differences. The strata of the means are infinite: they are never pooled and never used."""
    df = difference_df(size)
    squares = np.full((5, n_replicates), np.inf)
    for k in (WORKER_SYSTEM, ITEM_SYSTEM, RESIDUAL):
        squares[k] = rng.chisquare(df[k], n_replicates) * (expected[k] / df[k])
    noise = rng.standard_normal(n_replicates) * np.sqrt(effect_variance(expected, size))
    return squares, noise


def difference_df(size: Size) -> Floats:
    """df of the five strata when only differences are analysed, shape (5,)."""
    m, n, _ = size
    return np.array([m - 1.0, m - 1.0, n - 1.0, n - 1.0, (m - 1.0) * (n - 1.0)])


def difference_squares(ratings: Floats) -> tuple[Floats, Floats]:
    """Mean squares (5, replicates) of the differences of complete tables, and mean difference.

    ratings : (replicates, workers, items, systems = 2, repeats)
    """
    _, m, n, _, r = ratings.shape
    cell = ratings.mean(axis=4)
    d = cell[..., 1] - cell[..., 0]
    grand = d.mean(axis=(1, 2))
    by_worker = d.mean(axis=2) - grand[:, None]
    by_item = d.mean(axis=1) - grand[:, None]
    left = d - grand[:, None, None] - by_worker[:, :, None] - by_item[:, None, :]
    df = difference_df(Size(m, n, r))
    squares = np.full((5, len(ratings)), np.inf)
    squares[WORKER_SYSTEM] = r / 2 * n * (by_worker**2).sum(axis=1) / df[WORKER_SYSTEM]
    squares[ITEM_SYSTEM] = r / 2 * m * (by_item**2).sum(axis=1) / df[ITEM_SYSTEM]
    squares[RESIDUAL] = r / 2 * (left**2).sum(axis=(1, 2)) / df[RESIDUAL]
    return squares, grand
