"""Resamples of whole clusters: means of many columns in the errors of each resample's own clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.inference.compare.result import Floats, TestSettings
from humeval_power.inference.ranked_values import CLOSE
from humeval_power.inference.resampled import in_blocks
from humeval_power.kernels.metrics.resampling import drawn_counts

ROUNDING = CLOSE  # of the largest value: an error or a mean below is a sum of rounding
_FLAT = 1e-14  # of the squares: what is left of a spread by rounding


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """Sums of centred columns in each cluster, shape (n_clusters, k), and the sizes, (n_clusters, 1)."""

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, centred: Floats, clusters: Clusters) -> ClusterSums:
        """Of columns (n_items, k)."""
        sums, sizes = clusters.sums(centred), clusters.sizes[:, None].astype(np.float64)
        by_rounding = np.abs(sums) <= ROUNDING * sizes * np.abs(centred).max(axis=0)
        return cls(np.where(by_rounding, 0.0, sums), sizes)

    def errors(self, counts: Floats) -> tuple[Floats, Floats]:
        """Means and their CR1 errors in resamples, both (rows, k).

        counts : (rows, n_clusters), how often each cluster is in each resample.
        """
        n, n_clusters = counts @ self.sizes, len(self.sizes)
        mean = counts @ self.sums / n
        squares = counts @ self.sums**2
        spread = (
            squares - 2 * mean * (counts @ (self.sums * self.sizes)) + mean**2 * (counts @ self.sizes**2)
        )
        spread = np.where(spread <= _FLAT * np.maximum(squares, 1e-300), 0.0, spread)
        return mean, np.sqrt(spread * n_clusters / (n_clusters - 1)) / n

    def ratios(self, counts: Floats) -> Floats:
        """t of resamples, (rows, k); a resample without spread is infinitely far."""
        mean, error = self.errors(counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num(mean / error, nan=0.0, posinf=np.inf, neginf=-np.inf))


def resampled_cluster_means(differences: Floats, clusters: Clusters, settings: TestSettings) -> Floats:
    """Means of resamples of whole clusters, shape (n_resamples,)."""
    both = np.column_stack([clusters.sums(differences), clusters.sizes])
    n = clusters.n_clusters
    totals = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ both, settings.n_resamples, seed=settings.seed
    )
    return np.asarray(totals[:, 0] / totals[:, 1])
