"""Bootstrap-t of many pairs of systems at once, by shared resamples of items or of whole clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.compare.bootstrap import outer_quantiles, studentised
from humeval_power.inference.compare.cluster_resampling import ClusterSums
from humeval_power.inference.compare.result import Floats, TestSettings, score_differences
from humeval_power.inference.compare.score_table import Pairs
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import in_blocks
from humeval_power.kernels.metrics.resampling import drawn_counts


@dataclass(frozen=True, slots=True, eq=False)
class JointBootstrap:
    """Bootstrap-t of the mean differences B - A of many pairs (last axis) by shared resamples.

    `t` is observed, shape (n_pairs,), `drawn` the same in the resamples around the observed means, shape
    (n_resamples, n_pairs). A pair that agrees on every item has t = 0 everywhere.
    """

    mean: Floats
    standard_error: Floats
    t: Floats
    drawn: Floats
    alternative: Direction

    def p_values(self) -> Floats:
        """Of each pair by itself; two-sided is twice the smaller tail, as in `bootstrap_t`."""
        n = len(self.drawn)
        above = (1 + at_least(self.drawn, self.t).sum(axis=0)) / (1 + n)
        below = (1 + at_least(-self.drawn, -self.t).sum(axis=0)) / (1 + n)
        both = np.minimum(1.0, 2 * np.minimum(above, below))
        return np.asarray({"greater": above, "less": below, "two-sided": both}[self.alternative])

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the bootstrap-t interval of each mean difference, not corrected for their number."""
        low, high = outer_quantiles(self.drawn, (1 - confidence) / 2)
        return self.mean - high * self.standard_error, self.mean - low * self.standard_error

    def max_t(self) -> Floats:
        """P-values corrected in a single step by the largest t of all pairs (Westfall and Young 1993)."""
        observed, drawn = self._sizes()
        largest = drawn.max(axis=1)
        count = np.array([at_least(largest, each).sum() for each in observed])
        return np.asarray((1 + count) / (1 + len(largest)))

    def romano_wolf(self) -> Floats:
        """P-values corrected step by step (Romano and Wolf 2005): each pair against the largest t of those
        that are not yet rejected; never larger than max-t's."""
        observed, drawn = self._sizes()
        order = np.argsort(-observed, kind="stable")
        remaining = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        count = at_least(remaining, observed[order]).sum(axis=0)
        p_value = np.empty(len(observed))
        p_value[order] = np.maximum.accumulate((1 + count) / (1 + len(drawn)))
        return p_value

    def _sizes(self) -> tuple[Floats, Floats]:
        """What counts as large in the direction of the test, observed and drawn."""
        if self.alternative == "two-sided":
            return np.abs(self.t), np.abs(self.drawn)
        sign = 1.0 if self.alternative == "greater" else -1.0
        return sign * self.t, sign * self.drawn


def joint_bootstrap(
    scores: Floats,
    pairs: Pairs,
    settings: TestSettings,
    *,
    clusters: Clusters | None = None,
    n_jobs: int = 1,
) -> JointBootstrap:
    """Bootstrap-t of every pair.

    Parameters
    ----------
    scores : (n_items, n_systems).
    pairs : (n_pairs, 2), positions of A and B.
    clusters : of the items: whole clusters are drawn, and the errors are those of clusters (CR1).

    Raises
    ------
    InputError
        A pair whose differences are all the same number other than the null difference.
    """
    differences = np.column_stack([score_differences(scores[:, a], scores[:, b]) for a, b in pairs])
    mean = differences.mean(axis=0)
    if clusters is None:
        error, drawn = _of_items(differences, mean, settings, n_jobs)
    else:
        error, drawn = _of_clusters(differences - mean, clusters, settings, n_jobs)
    flat = error == 0
    center = np.where(np.ptp(differences, axis=0) == 0, differences[0], mean)
    if (flat & (settings.moved(center) != 0)).any():
        raise InputError(
            "A pair of systems differs by the same number on every item: no spread to judge by."
            if clusters is None
            else "A pair of systems differs by the same number in every cluster: no spread to judge by."
        )
    t = np.where(flat, 0.0, (mean - settings.null) / np.where(flat, 1.0, error))
    return JointBootstrap(mean, error, t, drawn, settings.alternative)


def _of_items(
    differences: Floats, mean: Floats, settings: TestSettings, n_jobs: int
) -> tuple[Floats, Floats]:
    n, flat = len(differences), np.ptp(differences, axis=0) == 0
    error = np.where(flat, 0.0, differences.std(axis=0, ddof=1) / np.sqrt(n))
    centred = np.where(flat, 0.0, differences - mean)
    both = np.hstack([centred, centred**2])
    sums = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ both,
        settings.n_resamples,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    return error, studentised(sums[:, : len(mean)], sums[:, len(mean) :], n)


def _of_clusters(
    centred: Floats, clusters: Clusters, settings: TestSettings, n_jobs: int
) -> tuple[Floats, Floats]:
    of, n = ClusterSums.of(centred, clusters), clusters.n_clusters
    drawn = in_blocks(
        lambda rng, size: of.ratios(drawn_counts(rng, n, size)),
        settings.n_resamples,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    return of.errors(np.ones((1, n)))[1][0], drawn
