"""The sum of two means over items in clusters, some rated and some not: CR2 and Bell-McCaffrey.

The two means are the coefficients of a regression on which of the two an item belongs to. Its hat matrix has
blocks of ones over n and over N, so that the matrices of CR2 have a closed form. A cluster may have items of both
kinds: what it adds to both means is then summed before it is squared. Source: Bell and McCaffrey (2002);
Pustejovsky and Tipton (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

N_FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredParts:
    """Clusters of n rated items and N others: `of_rated` (n,) and `of_extra` (N,) are codes of `n_clusters`;
    `rated` are the clusters of the rated items alone."""

    rated: Clusters
    of_rated: Codes
    of_extra: Codes
    n_clusters: int

    @classmethod
    def of(cls, clusters: Clusters, n: int, extra: int) -> ClusteredParts:
        """From the clusters of all items, rated ones first.

        Raises
        ------
        InputError
            Clusters of another number of items, or rated or further items that are all in one cluster.
        """
        if clusters.n_items != n + extra:
            raise InputError(f"There are {n + extra:,} items, and clusters of {clusters.n_items:,}.")
        for noun, codes in (("have human values", clusters.codes[:n]), ("have none", clusters.codes[n:])):
            if len(np.unique(codes)) < 2:
                raise InputError(
                    f"All items that {noun} are in one cluster of {clusters.name!r}: at least 2 are needed, and 20 "
                    "or more are better."
                )
        rated = clusters.only(np.arange(n))
        return cls(rated, clusters.codes[:n], clusters.codes[n:], clusters.n_clusters)

    def folds(self, *, seed: int) -> Codes:
        """A random assignment of whole clusters of rated items to folds, shape (n,)."""
        n_clusters = self.rated.n_clusters
        number = max(2, min(N_FOLDS, n_clusters // 2))
        of_cluster = np.random.default_rng(seed).permutation(np.arange(n_clusters) % number)
        return np.asarray(of_cluster[self.rated.codes])

    def precision(self, values: Floats, others: Floats) -> tuple[float, float]:
        """Standard error and df of mean(values) + mean(others), of shapes (n,) and (N,).

        The working model of the df has independent items with one variance for each kind.
        """
        sums, diagonal, outside = np.zeros(self.n_clusters), np.zeros(self.n_clusters), []
        for part, codes in ((values, self.of_rated), (others, self.of_extra)):
            n, variance = len(part), float(np.var(part, ddof=1))
            size = np.bincount(codes, minlength=self.n_clusters)
            inflated = 1 / np.sqrt(1 - size / n)
            sums += np.bincount(codes, part - part.mean(), self.n_clusters) * inflated / n
            diagonal += variance * size / n**2
            outside.append(math.sqrt(variance) * size * inflated / n**1.5)
        # (sum of the eigenvalues)^2 over the sum of their squares; beside the diagonal stand -(a_g a_h + b_g b_h)
        a, b = outside
        beside = (a @ a) ** 2 + 2 * (a @ b) ** 2 + (b @ b) ** 2 - float(np.sum((a**2 + b**2) ** 2))
        squares = float(diagonal @ diagonal + beside)
        df = float(diagonal.sum()) ** 2 / squares if squares > 0 else math.nan
        return math.sqrt(float(sums @ sums)), df
