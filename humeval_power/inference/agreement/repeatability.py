"""Agreement of workers with themselves, from outputs that the same worker rated more than once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.item_bootstrap import (
    DEFAULT_CONFIDENCE,
    DEFAULT_RESAMPLES,
    Measure,
    check_bootstrap,
    item_resamples,
    measure,
)
from humeval_power.ratings import Ratings

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NO_REPEATS = "no worker rated an output more than once"
NOTHING_VARIES = "the repeated ratings do not differ between outputs"
_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding


@dataclass(frozen=True, slots=True)
class Repeatability:
    """How well workers agree with themselves about an output (an item under a system).

    A cell is a worker, item and system with several ratings. `equal` and `mean_difference` (absolute, on
    [0, 1]; `mean_difference_raw` in raw units) average over the pairs within a cell, then over cells.
    `correlation` is Pearson's of first and second ratings in the order of the table; `icc` the one-way
    intraclass correlation ICC(1,1) of Shrout and Fleiss (1979), cells being the objects. Both take the
    cells of all workers together, so that differences between workers count as differences between
    cells. Intervals are percentiles over items drawn again. `system` is None for all systems.
    """

    system: str | None
    n_workers: int
    n_cells: int
    n_ratings: int
    equal: Measure
    mean_difference: Measure
    mean_difference_raw: Measure
    correlation: Measure
    icc: Measure
    confidence: float
    n_resamples: int
    seed: int


class Cells(NamedTuple):
    """One entry for each cell: its item, number of ratings and their mean and sum of squares about it,
    share of equal pairs, mean absolute difference of pairs, first and second rating."""

    item: Codes
    size: Codes
    mean: Floats
    squares: Floats
    equal: Floats
    difference: Floats
    first: Floats
    second: Floats
    n_workers: int


def repeatability(
    ratings: Ratings,
    *,
    n_resamples: int = DEFAULT_RESAMPLES,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
) -> tuple[Repeatability, ...]:
    """Intra-rater agreement over all systems together, then within each system."""
    check_bootstrap(n_resamples, confidence)
    resamples = item_resamples(ratings.n_items, n_resamples=n_resamples, seed=seed)

    def of(system: int | None) -> Repeatability:
        cells = repeated_cells(ratings, system=system)
        varies = NOTHING_VARIES if len(cells.size) else NO_REPEATS

        def measured(statistic: Callable[[Cells, Floats], float], reason: str = NO_REPEATS) -> Measure:
            return measure(
                lambda weights: statistic(cells, weights[cells.item]) if len(cells.size) else math.nan,
                resamples,
                confidence=confidence,
                reason=reason,
            )

        width = ratings.scale.width
        difference = measured(lambda cells, weights: _mean(cells.difference, weights))
        return Repeatability(
            system=None if system is None else ratings.system_names[system],
            n_workers=cells.n_workers,
            n_cells=len(cells.size),
            n_ratings=int(cells.size.sum()),
            equal=measured(lambda cells, weights: _mean(cells.equal, weights)),
            mean_difference=difference,
            mean_difference_raw=Measure(
                width * difference.value, width * difference.low, width * difference.high, difference.reason
            ),
            correlation=measured(first_second_correlation, varies),
            icc=measured(one_way_icc, varies),
            confidence=confidence,
            n_resamples=n_resamples,
            seed=seed,
        )

    return tuple(of(system) for system in (None, *range(ratings.n_systems)))


def repeated_cells(ratings: Ratings, *, system: int | None = None) -> Cells:
    """The cells with two ratings or more, of one system or of all."""
    chosen = np.arange(ratings.n_ratings) if system is None else np.flatnonzero(ratings.system == system)
    output = ratings.item[chosen] * np.int64(ratings.n_systems) + ratings.system[chosen]
    key = output * np.int64(ratings.n_workers) + ratings.worker[chosen]
    cells, cell, size = np.unique(key, return_inverse=True, return_counts=True)
    kept = size[cell] > 1
    number = (np.cumsum(size > 1) - 1)[cell[kept]]
    value, cells, size = ratings.rating[chosen[kept]], cells[size > 1], size[size > 1]
    start = np.cumsum(size) - size
    in_order = value[np.argsort(number, kind="stable")]
    ascending = value[np.lexsort((value, number))]
    mean = np.bincount(number, value, len(size)) / size
    squares: Floats = np.bincount(number, np.square(value - mean[number]), len(size)).astype(np.float64)
    equal, difference = _pairs(ascending, np.sort(number), start, size)
    return Cells(
        item=cells // (ratings.n_workers * ratings.n_systems),
        size=size,
        mean=mean,
        squares=squares,
        equal=equal,
        difference=difference,
        first=in_order[start],
        second=in_order[start + 1],
        n_workers=len(np.unique(cells % ratings.n_workers)),
    )


def _pairs(ascending: Floats, cell: Codes, start: Codes, size: Codes) -> tuple[Floats, Floats]:
    """Share of equal pairs and mean absolute difference of pairs in each cell, from sorted values.

    In ascending order the r-th of m values (from 0) is the larger one in r pairs and the smaller one in
    m - 1 - r, so the differences sum to sum (2 r - m + 1) value.
    """
    pairs = size * (size - 1) / 2
    rank = np.arange(len(cell)) - start[cell]
    difference = np.bincount(cell, (2 * rank - size[cell] + 1) * ascending, len(size)) / pairs
    opens = np.ones(len(cell), dtype=bool)
    opens[1:] = (cell[1:] != cell[:-1]) | (ascending[1:] != ascending[:-1])
    run = np.cumsum(opens) - 1
    length = np.bincount(run)
    same = np.bincount(cell[opens], length * (length - 1) / 2, len(size)) / pairs
    return same, np.maximum(difference, 0.0)


def _mean(values: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(weights @ values) / total if total else math.nan


def first_second_correlation(cells: Cells, weights: Floats) -> float:
    """Pearson correlation of first and second ratings, each cell counting `weights` times."""
    if weights.sum() < 2:
        return math.nan
    a, b = (values - _mean(values, weights) for values in (cells.first, cells.second))
    aa, bb = float(weights @ a**2), float(weights @ b**2)
    if min(aa, bb) <= _NO_VARIANCE:
        return math.nan
    return float(weights @ (a * b)) / math.sqrt(aa * bb)


def one_way_icc(cells: Cells, weights: Floats) -> float:
    """ICC(1,1) = (MSB - MSW) / (MSB + (m0 - 1) MSW), with m0 the mean size of unequal cells.

    Source: Shrout and Fleiss (1979); m0 = (N - sum m^2 / N) / (C - 1), Donner and Koval (1980).
    """
    n_cells, n = float(weights.sum()), float(weights @ cells.size)
    if n_cells < 2:
        return math.nan
    center = float(weights @ (cells.size * cells.mean)) / n
    between = float(weights @ (cells.size * (cells.mean - center) ** 2)) / (n_cells - 1)
    within = float(weights @ cells.squares) / (n - n_cells)
    if between + within <= _NO_VARIANCE:
        return math.nan
    typical = (n - float(weights @ cells.size**2) / n) / (n_cells - 1)
    return (between - within) / (between + (typical - 1) * within)
