"""Statistics of items drawn again with replacement: a value with an interval, or the reason for neither."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]
DEFAULT_RESAMPLES = 1000
DEFAULT_CONFIDENCE = 0.95
_TOGETHER = 16  # resamples: a sparse table is walked once for all of them
_MIN_DEFINED = 0.9  # share of resamples that must have a value for their percentiles to mean anything


@dataclass(frozen=True, slots=True)
class Measure:
    """A value with the ends of its interval; NaN where not defined, and then `reason` says why."""

    value: float
    low: float
    high: float
    reason: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether there is a value at all."""
        return math.isfinite(self.value)


def undefined(reason: str) -> Measure:
    """A measure without a value."""
    return Measure(math.nan, math.nan, math.nan, reason)


def check_bootstrap(n_resamples: int, confidence: float) -> None:
    """Refuse impossible numbers of resamples and confidences."""
    if n_resamples < 1:
        raise InputError(f"At least 1 resample is needed; got {n_resamples}.")
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")


def item_resamples(n_items: int, *, n_resamples: int, seed: int) -> Counts:
    """How often each item is drawn, shape (n_resamples, n_items); resample i uses child i of the seed."""
    children = np.random.SeedSequence(seed).spawn(n_resamples)
    counts = np.empty((n_resamples, n_items), dtype=np.int32)
    for row, child in zip(counts, children, strict=True):
        row[:] = np.bincount(
            np.random.default_rng(child).integers(n_items, size=n_items), minlength=n_items
        )
    return counts


def measure(
    statistic: Callable[[Floats], float],
    resamples: Counts,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    reason: str,
) -> Measure:
    """A statistic of item weights at weights of one, with the percentiles of its values in the resamples.

    Parameters
    ----------
    statistic : from how often each item counts, shape (n_items,), to a value, NaN where not defined.
    resamples : (n_resamples, n_items), as `item_resamples` gives them.
    reason : why there is no value, should there be none.
    """
    return measure_together(
        lambda weights: np.array([statistic(column) for column in weights.T.copy()]),
        resamples,
        confidence=confidence,
        reason=reason,
    )


def measure_together(
    statistic: Callable[[Floats], Floats],
    resamples: Counts,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    reason: str,
) -> Measure:
    """`measure` of a statistic that takes weights (n_items, r) to (r,) values, some resamples at a time."""
    value = float(statistic(np.ones((resamples.shape[1], 1)))[0])
    if not math.isfinite(value):
        return undefined(reason)
    blocks = (resamples[first : first + _TOGETHER] for first in range(0, len(resamples), _TOGETHER))
    found = np.concatenate([statistic(block.T.astype(float, order="C")) for block in blocks])
    found = found[np.isfinite(found)]
    if len(found) < _MIN_DEFINED * len(resamples):
        return Measure(value, math.nan, math.nan, "too few items for an interval")
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Measure(value, float(low), float(high))
