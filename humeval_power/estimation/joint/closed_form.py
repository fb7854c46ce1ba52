"""REML of several systems in complete balanced tables, without iteration.

Every worker rates every item under all K systems r times. Then there are five independent strata,

    0 worker          E[MS] = s2 + n r WS + K n r W     df m - 1
    1 worker x system E[MS] = s2 + n r WS               df (m - 1)(K - 1)
    2 item            E[MS] = s2 + m r IS + K m r I     df n - 1
    3 item x system   E[MS] = s2 + m r IS               df (n - 1)(K - 1)
    4 residual        E[MS] = s2                        df K m n r - K m - K n + K

with W, WS, I, IS, s2 the variances, and the covariance of the means is
[(E0 + E2 - E4) J / K + (E1 + E3 - E4) (I - J / K)] / (m n r).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.crossed.problem import RatingTable

Floats = NDArray[np.float64]
PARENT = (1, 4, 3, 4, -1)  # each stratum's expected mean square is at least that of this one


class StrataFit(NamedTuple):
    """A fit in closed form; `derivatives` and the two uncertainties are by the five expected mean squares,
    `variances` in the order worker, worker x system, item, item x system, residual."""

    means: Floats
    covariance: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats
    variances: Floats
    criterion: float
    residual_is_positive: bool


def complete_array(ratings: RatingTable) -> Floats | None:
    """Ratings as (workers, items, systems, repeats) if every cell holds the same number of them, in the
    order of the table within a cell; None otherwise."""
    m, n, K = (int(codes.max()) + 1 for codes in (ratings.worker, ratings.item, ratings.system))
    if len(ratings.rating) % (m * n * K) != 0:
        return None
    cell = (ratings.worker * n + ratings.item) * K + ratings.system
    counts = np.bincount(cell, minlength=m * n * K)
    if counts.min() != counts.max():
        return None
    ordered: Floats = ratings.rating[np.argsort(cell, kind="stable")]
    return np.asarray(ordered.reshape(m, n, K, int(counts[0])))


def degrees_of_freedom(m: int, n: int, K: int, r: int) -> Floats:
    """df of the five strata, shape (5,)."""
    residual = K * m * n * r - K * m - K * n + K
    return np.array([m - 1.0, (m - 1.0) * (K - 1), n - 1.0, (n - 1.0) * (K - 1), residual])


def mean_squares(table: Floats) -> Floats:
    """Mean squares of the five strata, shape (5,); table of shape (workers, items, systems, repeats)."""
    m, n, K, r = table.shape
    centred = table - table.mean(axis=(0, 1, 3), keepdims=True)
    total = (centred**2).sum()
    by_worker, by_item = centred.mean(axis=(1, 3)), centred.mean(axis=(0, 3))
    worker, item = (
        K * n * r * (by_worker.mean(axis=1) ** 2).sum(),
        K * m * r * (by_item.mean(axis=1) ** 2).sum(),
    )
    worker_system = n * r * (by_worker**2).sum() - worker
    item_system = m * r * (by_item**2).sum() - item
    residual = total - n * r * (by_worker**2).sum() - m * r * (by_item**2).sum()
    sums = np.array([worker, worker_system, item, item_system, residual])
    return np.asarray(np.maximum(sums, 0.0) / degrees_of_freedom(m, n, K, r))


def pool(squares: Floats, df: Floats) -> tuple[Floats, list[list[int]]]:
    """REML estimates of the expected mean squares (5,), and the blocks of strata that share one.

    The smallest stratum below its parent's value is pooled with it until none is left, which solves the
    problem restricted to the order of a tree (Thompson 1962).
    """
    blocks = [[k] for k in range(len(squares))]

    def value(block: list[int]) -> float:
        return float(df[block] @ squares[block] / df[block].sum())

    while True:
        home = {k: number for number, block in enumerate(blocks) for k in block}
        violations = []
        for number, block in enumerate(blocks):
            above = next(
                (home[PARENT[k]] for k in block if PARENT[k] >= 0 and home[PARENT[k]] != number), None
            )
            if above is not None and value(block) <= value(blocks[above]):
                violations.append((value(block), number, above))
        if not violations:
            break
        _, number, above = min(violations)
        blocks[above] = blocks[above] + blocks[number]
        del blocks[number]
    expected = np.empty(len(squares))
    for block in blocks:
        expected[block] = value(block)
    return expected, blocks


def fit_complete(ratings: RatingTable) -> StrataFit | None:
    """REML fit of a complete balanced table, or None if it is not one."""
    table = complete_array(ratings)
    if table is None:
        return None
    m, n, K, r = table.shape
    df = degrees_of_freedom(m, n, K, r)
    squares = mean_squares(table)
    expected, blocks = pool(squares, df)
    share, contrast = np.full((K, K), 1.0 / K), np.eye(K) - 1.0 / K
    derivatives = np.array([share, contrast, share, contrast, -np.eye(K)]) / (m * n * r)
    observed = np.zeros((5, 5))
    for block in blocks:
        observed[np.ix_(block, block)] = 2.0 * expected[block[0]] ** 2 / df[block].sum()
    step = expected[[0, 1, 2, 3]] - expected[[1, 4, 3, 4]]
    positive = bool(expected[4] > 1e-14 * (table**2).mean())  # rounding leaves about 1e-16
    with np.errstate(divide="ignore", invalid="ignore"):
        criterion = (df * (np.log(expected) + squares / expected)).sum()
    return StrataFit(
        means=table.mean(axis=(0, 1, 3)),
        covariance=np.tensordot(expected, derivatives, 1),
        derivatives=derivatives,
        uncertainty=np.diag(2.0 * expected**2 / df),
        uncertainty_observed=observed,
        variances=np.append(step / np.array([K * n * r, n * r, K * m * r, m * r]), expected[4]),
        criterion=float(criterion + (table.size - K) * math.log(2 * math.pi) + K * math.log(m * n * r)),
        residual_is_positive=positive,
    )
