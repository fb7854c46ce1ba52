"""What is drawn again for the power of a comparison whose items come in clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humeval_power.choices import Question
from humeval_power.clusters import Clusters
from humeval_power.inference.compare.effect_sizes import hodges_lehmann
from humeval_power.inference.compare.result import Floats, TestSettings
from humeval_power.inference.ranked_values import exact_difference
from humeval_power.scenarios.compare.clusters import ResampledClusters

Make = Callable[[int], ResampledClusters]


def of_clusters(
    moved: Floats,
    clusters: Clusters,
    *,
    simulated: str,
    question: Question,
    settings: TestSettings,
    effect: float | None,
    is_normal: bool,
) -> tuple[Make, float, str]:
    """How to make studies of so many clusters, their true effect, and what that is.

    Tests of means draw differences, tests of signs the signs, and that of signed ranks the values of which its
    statistic is a sum in large samples (its projection); each with the t test of CR2 errors.
    """
    if simulated == "t":
        values, words = moved, "mean of B - A"
        known = float(moved.mean()) if effect is None else effect
    elif simulated == "wilcoxon":
        observed = hodges_lehmann(moved).value
        known = observed if effect is None else effect
        values = rank_values(exact_difference(moved, observed - known) if effect is not None else moved)
        effect, words = None, "pseudomedian of B - A"
    else:
        if effect is not None and question != "better":
            moved, effect = exact_difference(moved, np.median(moved) - effect), None
        values, words = np.sign(moved) / 2, "share of items on which B is better, less one half"
        known = float(values.mean()) if effect is None else effect

    def make(n: int) -> ResampledClusters:
        return ResampledClusters(
            n, values, clusters, effect, settings.alternative, settings.alpha, normal=is_normal
        )

    return make, known, words


def rank_values(differences: Floats) -> Floats:
    """Values whose mean over its standard error is Wilcoxon's Z in large samples, shape (n_items,).

    Of each difference d the share of others with a positive sum less that with a negative one, less half of its
    mean: the rank sum is half of the U-statistic of all sums, and varies as its projection does.
    """
    ordered, n = np.sort(differences), len(differences)
    below = np.searchsorted(ordered, -differences, side="left")
    above = n - np.searchsorted(ordered, -differences, side="right")
    shares = (above - below) / n
    return np.asarray(shares - shares.mean() / 2)
