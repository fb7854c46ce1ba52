"""The rating scale taken from the ratings themselves, where the user declares none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.scales import RatingScale, likert_points

Bounds = tuple[float, float]

# Scales in common use. The first that holds every rating is taken.
WHOLE_SCALES: tuple[Bounds, ...] = ((0, 1), (1, 5), (1, 7), (0, 10), (-1, 1), (-2, 2), (-3, 3))
CONTINUOUS_SCALES: tuple[Bounds, ...] = ((0, 1), (1, 5), (1, 7), (0, 10))
PERCENT: Bounds = (0, 100)


def infer_scale(rating: NDArray[np.float64], *, higher_is_better: bool) -> RatingScale:
    """The common scale that holds all ratings, shape (n,), or else their observed range.

    The ratings must not all be equal.
    """
    low, high = float(rating.min()), float(rating.max())
    whole = bool((rating == np.round(rating)).all())
    bottom, top = _common_scale(low, high, whole=whole) or (low, high)
    points = likert_points(bottom, top) if whole else None
    return RatingScale(
        float(bottom), float(top), points=points, higher_is_better=higher_is_better, source="inferred"
    )


def scale_notices(
    scale: RatingScale, rating: NDArray[np.float64], *, lower_is_better_said: bool
) -> list[str]:
    """What a reader must know about the scale and the raw ratings on it, shape (n,)."""
    low, high = float(rating.min()), float(rating.max())
    notices = []
    if scale.source == "inferred":
        direction = "" if lower_is_better_said else ", higher is better"
        run = "" if (low, high) == (scale.low, scale.high) else f", which run from {low:g} to {high:g}"
        notices.append(
            f"The scale is taken from the ratings{run}: {scale}{direction}. "
            "If it is another one, declare it with --scale LOW:HIGH or --lower-is-better."
        )
    elif high - low < scale.width / 2:
        notices.append(
            f"The ratings run from {low:g} to {high:g}, less than half of the declared scale "
            f"{scale.low:g} to {scale.high:g}. Is --scale right?"
        )
    if scale.points is not None:
        step = scale.width / (scale.points - 1)
        position = (rating - scale.low) / step
        n_between = int((np.abs(position - np.round(position)) > 1e-9).sum())
        if n_between:
            notices.append(
                f"{n_between:,} of {len(rating):,} ratings lie between the {scale.points} points "
                f"of the scale {scale.low:g} to {scale.high:g}."
            )
    return notices


def _common_scale(low: float, high: float, *, whole: bool) -> Bounds | None:
    for bounds in WHOLE_SCALES if whole else CONTINUOUS_SCALES:
        if bounds[0] <= low and high <= bounds[1]:
            return bounds
    # A highest rating of, say, 15 speaks for a scale of its own, not for 0 to 100.
    return PERCENT if low >= PERCENT[0] and PERCENT[1] / 2 < high <= PERCENT[1] else None
