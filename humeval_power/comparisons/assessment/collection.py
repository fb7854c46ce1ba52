"""The observed minimum detectable effect of a collection of comparisons (Wei et al. 2022, section 5.2).

Sort comparisons by the size of their observed difference; the threshold is a difference such that a
share of 95 % of the comparisons with this difference or a larger one are significant. It is a summary
of what was significant, not a property of the procedure: difference and p-value come from the same
ratings, so comparisons that were lucky enough to be significant also look larger than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import FEWEST_ABOVE, SHARE
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A difference, how many comparisons have it or more, and how many of those are significant."""

    difference: float
    n_above: int
    n_significant: int

    @property
    def rate(self) -> float:
        """Share of significant comparisons at or above the difference."""
        return self.n_significant / self.n_above

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the rate, 95 %; the choice of the threshold is not in it."""
        return wilson_interval(self.n_significant, self.n_above)


@dataclass(frozen=True, slots=True)
class ObservedMDE:
    """Thresholds of a collection; None where no difference with enough comparisons above it will do.

    `first` is the smallest difference that reaches the share, `stable` the smallest from which on every
    larger one with enough comparisons reaches it too. `curve` holds every different difference;
    `difference` (sizes) and `p_value` are those of the comparisons.
    """

    n: int
    n_significant: int
    median_difference: float
    first: Threshold | None
    stable: Threshold | None
    share: float
    fewest_above: int
    curve: tuple[Threshold, ...]
    difference: tuple[float, ...]
    p_value: tuple[float, ...]


def observed_mde(
    difference: ArrayLike,
    p_value: ArrayLike,
    *,
    alpha: float = 0.05,
    share: float = SHARE,
    fewest_above: int = FEWEST_ABOVE,
) -> ObservedMDE:
    """Thresholds above which a share of comparisons is significant at `alpha` (p < alpha).

    difference : (n,), observed differences; the sign does not matter. Comparisons with the same
        difference are on the same side of every threshold.
    fewest_above : comparisons that must lie at or above a threshold for it to count.
    """
    size, p = np.abs(np.asarray(difference, dtype=float)), np.asarray(p_value, dtype=float)
    if size.ndim != 1 or size.shape != p.shape or len(size) == 0:
        raise InputError("An observed MDE needs one difference and one p-value for each comparison.")
    if not (np.isfinite(size).all() and ((p >= 0) & (p <= 1)).all()):
        raise InputError("Differences must be finite numbers, and p-values lie between 0 and 1.")
    if not 0 < share < 1 or not 0 < alpha < 1 or fewest_above < 1:
        raise InputError("share and alpha lie between 0 and 1, and fewest_above is at least 1.")
    significant = p < alpha
    values, place = np.unique(size, return_inverse=True)
    n_at = np.bincount(place, minlength=len(values))
    significant_at = np.bincount(place, significant, len(values))
    above = np.cumsum(n_at[::-1])[::-1]
    significant_above = np.cumsum(significant_at[::-1])[::-1]
    curve = tuple(
        Threshold(float(value), int(n), int(hits))
        for value, n, hits in zip(values, above, significant_above, strict=True)
    )
    counted = [threshold for threshold in curve if threshold.n_above >= fewest_above]
    will_do = [threshold.rate >= share for threshold in counted]
    first = next((t for t, reached in zip(counted, will_do, strict=True) if reached), None)
    last_failing = max((place for place, reached in enumerate(will_do) if not reached), default=-1)
    stable = counted[last_failing + 1] if last_failing + 1 < len(counted) else None
    return ObservedMDE(
        n=len(size),
        n_significant=int((p < alpha).sum()),
        median_difference=float(np.median(size)),
        first=first,
        stable=stable,
        share=share,
        fewest_above=fewest_above,
        curve=curve,
        difference=tuple(size.tolist()),
        p_value=tuple(p.tolist()),
    )
