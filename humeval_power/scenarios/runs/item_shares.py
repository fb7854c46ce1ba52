"""Items' own chances of a right answer under two systems, with given variances and clusters.

Each system's chances are beta distributed over items, tied by a normal copula: within an item so that the true
differences have their standard deviation, within a cluster so that they have their intra-cluster correlation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
_CELLS = 256  # equally likely values that stand for a distribution of chances
_WITHIN = 8  # quantiles averaged in each
_STEPS = 30  # of a bisection
_NEVER_MIXED = 0.02  # a + b of a beta distribution below which items are right always or never


@dataclass(frozen=True)
class ItemShares:
    """Chances of items: means and variances over items of A and B, the SD of true differences that is wanted,
    and their intra-cluster correlation. `sd_item` is the SD that they can have nearest to it."""

    mean_a: float
    mean_b: float
    variance_a: float
    variance_b: float
    sd_wanted: float
    icc: float = 0.0

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """The equally likely chances under A and B, ascending."""
        return _chances(self.mean_a, self.variance_a), _chances(self.mean_b, self.variance_b)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The smallest and the largest SD of true differences."""
        return self._sd(1.0), self._sd(-1.0)

    @property
    def sd_item(self) -> float:
        """SD of the items' true differences."""
        low, high = self.reach
        return min(max(self.sd_wanted, low), high)

    @cached_property
    def correlation(self) -> float:
        """Of the normal scores of an item under A and B."""
        low, high = self.reach
        if not low < self.sd_item < high:
            return 1.0 if self.sd_item <= low else -1.0
        return -_root(lambda minus: self._sd(-minus) - self.sd_item, -1.0, 1.0)

    @cached_property
    def within_cluster(self) -> float:
        """Correlation of the normal scores of two items of a cluster."""
        if self.icc == 0 or self.sd_item == 0:
            return 0.0
        wanted = self.icc * self._sd(self.correlation) ** 2
        return 1.0 if self.icc >= 1 else _root(lambda r: self._shared(r) - wanted, 0.0, 1.0)

    def draw(
        self, rng: np.random.Generator, size: int, cluster: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Chances under A and B of items in these clusters, each of shape (size, n_items)."""
        first, other = (self._scores(rng, size, cluster) for _ in range(2))
        tied = self.correlation
        second = tied * first + np.sqrt(max(1 - tied**2, 0.0)) * other
        at_a, at_b = self.values
        return at_a[_places(first)], at_b[_places(second)]

    def _scores(self, rng: np.random.Generator, size: int, cluster: NDArray[np.int64]) -> Floats:
        own = rng.standard_normal((size, len(cluster)))
        shared = self.within_cluster
        if shared == 0:
            return own
        of_cluster = rng.standard_normal((size, int(cluster.max()) + 1))[:, cluster]
        return np.asarray(np.sqrt(shared) * of_cluster + np.sqrt(1 - shared) * own)

    def _sd(self, correlation: float) -> float:
        a, b = self.values
        product = _mean_product(a, b, correlation) - float(a.mean() * b.mean())
        return float(np.sqrt(max(a.var() + b.var() - 2 * product, 0.0)))

    def _shared(self, within: float) -> float:
        """Covariance of the true differences of two items of a cluster."""
        a, b = self.values
        products = _mean_product(a, a, within) + _mean_product(b, b, within)
        return (
            products - 2 * _mean_product(a, b, within * self.correlation) - float(b.mean() - a.mean()) ** 2
        )


def _chances(mean: float, variance: float) -> Floats:
    """Equally likely values of a beta distribution, their mean exact."""
    most = mean * (1 - mean)
    if variance <= 1e-12 * max(most, 1e-300) or most <= 0:
        return np.full(_CELLS, mean)
    total = most / variance - 1
    places = (np.arange(_CELLS * _WITHIN) + 0.5) / (_CELLS * _WITHIN)
    if total < _NEVER_MIXED:
        fine = (places > 1 - mean).astype(np.float64)
    else:
        fine = special.betaincinv(mean * total, (1 - mean) * total, places)
    values = fine.reshape(_CELLS, _WITHIN).mean(axis=1)
    found = float(values.mean())
    if found > mean:
        return np.asarray(values * (mean / found))
    return np.asarray(1 - (1 - values) * ((1 - mean) / (1 - found)))


def _places(scores: Floats) -> NDArray[np.int64]:
    return np.minimum((special.ndtr(scores) * _CELLS).astype(np.int64), _CELLS - 1)


_MIDDLES = special.ndtri((np.arange(_CELLS) + 0.5) / _CELLS)


def _mean_product(first: Floats, second: Floats, correlation: float) -> float:
    """E[first second] where the normal scores that choose the values have this correlation."""
    scores = correlation * _MIDDLES[:, None] + np.sqrt(max(1 - correlation**2, 0.0)) * _MIDDLES
    return float(first @ second[_places(scores)].mean(axis=1) / _CELLS)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that grows passes zero."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2
