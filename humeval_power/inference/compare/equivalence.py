"""Are two systems alike within a margin? Two one-sided t tests (Schuirmann 1987).

A large p-value of a test of difference shows nothing of the kind: few items alone will produce one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from humeval_power.errors import InputError
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


def equivalence_test(differences: Floats, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test equivalence of means within +- margin, in the metric's units (scipy.stats.ttest_1samp, twice).

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
    not_below = stats.ttest_1samp(differences, -margin, alternative="greater")
    not_above = stats.ttest_1samp(differences, margin, alternative="less")
    half = float(stats.t.isf(alpha, n - 1)) * float(differences.std(ddof=1)) / math.sqrt(n)
    return Equivalence(
        mean,
        (mean - half, mean + half),
        margin,
        alpha,
        float(not_below.pvalue),
        float(not_above.pvalue),
        n,
    )
