"""Numbers that are ranked or compared: equal where the decimals that were typed are equal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
DIGITS = 12  # of the largest number: numbers that agree so far are equal, whatever their rounding
CLOSE = 1e-9  # of the largest statistic: sums of numbers rounded to DIGITS that differ by less are equal
_MOST_DECIMALS = 15
_SMALLEST = 1e-280  # below, a power of ten that shifts the digits is no number
_WHOLE_UP_TO = 2.0**53  # whole numbers that a float holds


def exact_difference(first: ArrayLike, second: ArrayLike) -> Floats:
    """first - second: exactly where both are decimals of at most 15 digits, as typed numbers are; else
    rounded to twelve digits of the largest of both."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = np.concatenate([a.ravel(), b.ravel()])
    decimals = common_decimals(both)
    if decimals is None:
        return rounded(a - b, largest=float(np.abs(both).max(initial=0.0)))
    unit = 10.0**decimals
    return np.asarray((np.rint(a * unit) - np.rint(b * unit)) / unit + 0.0)  # + 0.0: no negative zero


def common_decimals(values: Floats) -> int | None:
    """The fewest decimals with which all values can be written, None where 15 digits are too few."""
    largest = float(np.abs(values).max(initial=0.0))
    for decimals in range(_MOST_DECIMALS + 1):
        if 4 * largest * 10.0**decimals > _WHOLE_UP_TO:
            return None
        if np.array_equal(np.round(values, decimals), values):
            return decimals
    return None


def rounded(values: ArrayLike, *, largest: float | None = None) -> Floats:
    """The values to twelve digits of `largest`, by default of the largest among them."""
    given = np.asarray(values, dtype=np.float64)
    if largest is None:
        largest = float(np.abs(given).max(initial=0.0))
    if largest < _SMALLEST:
        return given
    decimals = DIGITS - 1 - math.floor(math.log10(largest))
    return np.asarray(np.round(given, decimals) + 0.0)


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1 along the last axis; equal values share the mean of theirs."""
    if not values.size:
        return np.empty(values.shape)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    is_new = np.ones(values.shape, dtype=bool)
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    sizes = np.diff(np.flatnonzero(is_new), append=values.size)
    lowest = np.broadcast_to(np.arange(1.0, values.shape[-1] + 1), values.shape)[is_new]
    ranks = np.empty(values.shape)
    np.put_along_axis(
        ranks, order, np.repeat(lowest + (sizes - 1) / 2, sizes).reshape(values.shape), axis=-1
    )
    return ranks


def at_least(drawn: Floats, observed: ArrayLike, *, scale: float = 0.0) -> NDArray[np.bool_]:
    """Whether each drawn statistic is at least as large as the observed one, rounding apart.

    scale : the size of the numbers that the statistics were computed from, where they are larger than it.
    """
    seen = np.asarray(observed, dtype=np.float64)
    finite = np.where(np.isfinite(drawn), np.abs(drawn), 0.0)
    slack = CLOSE * np.maximum(np.maximum(finite, np.abs(seen)), scale)
    return np.asarray(drawn >= seen - slack)
