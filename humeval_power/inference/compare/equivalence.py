"""Are two systems alike within a margin? Two one-sided t tests (Schuirmann 1987).

A large p-value of a test of difference shows nothing of the kind: few items alone will produce one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean, student_p
from humeval_power.inference.compare.cluster_resampling import ROUNDING
from humeval_power.inference.compare.result import Floats, all_alike


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests of |mean B - A| < margin, and of B no worse than A by the margin.

    `interval` has confidence 1 - 2 alpha: the systems are equivalent at `alpha` just where it lies within
    the margins, and B is not inferior where its lower end lies above -margin.
    """

    mean: float
    interval: tuple[float, float]
    margin: float
    alpha: float
    p_not_below: float
    p_not_above: float
    n: int

    @property
    def p_value(self) -> float:
        """P-value of equivalence: the larger of both."""
        return max(self.p_not_below, self.p_not_above)

    @property
    def is_equivalent(self) -> bool:
        """Whether both tests reject."""
        return self.p_value <= self.alpha

    @property
    def is_not_inferior(self) -> bool:
        """Whether B is shown to be worse by less than the margin."""
        return self.p_not_below <= self.alpha


def equivalence_test(
    differences: Floats, *, margin: float, alpha: float = 0.05, clusters: Clusters | None = None
) -> Equivalence:
    """Test equivalence of means within +- margin, in the metric's units: Student's t test, twice.

    clusters : of the items, in their order: the tests then take the CR2 error, df of Bell and McCaffrey.

    Raises
    ------
    InputError
        A margin that is not positive, alpha outside (0, 0.5), or differences without spread.
    """
    if not (margin > 0 and math.isfinite(margin)):
        raise InputError(f"The margin must be a positive number in the metric's units; got {margin}.")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")
    n, mean = len(differences), float(differences.mean())
    if all_alike(differences):
        inside = abs(mean) < margin
        if not inside:
            raise InputError(f"All {n:,} differences are {mean:g}, which is outside the margin {margin:g}.")
        return Equivalence(mean, (mean, mean), margin, alpha, 0.0, 0.0, n)
    if clusters is not None:
        return _clustered(differences, clusters, margin=margin, alpha=alpha)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    half = -float(special.stdtrit(n - 1, alpha)) * error
    return Equivalence(
        mean,
        (mean - half, mean + half),
        margin,
        alpha,
        student_p((mean + margin) / error, n - 1, "greater"),
        student_p((mean - margin) / error, n - 1, "less"),
        n,
    )


def _clustered(differences: Floats, clusters: Clusters, *, margin: float, alpha: float) -> Equivalence:
    found = clustered_mean(differences, clusters)
    if found.standard_error <= ROUNDING * float(np.abs(differences).max()):
        raise InputError(
            f"The differences do not vary between the {clusters.n_clusters:,} clusters ({clusters.name}): there is "
            "no spread to judge equivalence by."
        )
    return Equivalence(
        found.estimate,
        found.interval(1 - 2 * alpha),
        margin,
        alpha,
        found.p_value(-margin, "greater"),
        found.p_value(margin, "less"),
        found.n,
    )
