"""Where the bars of a picture of ratings begin and end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.scales import RatingScale

MOST_ROWS = 12  # systems that one picture shows
_MOST_VALUES, _BINS = 21, 20
Floats = NDArray[np.float64]


def rating_edges(ratings: Floats, scale: RatingScale | None) -> Floats:
    """Bins around each different value where there are few, else equal ones over all ratings."""
    values = np.unique(np.round(ratings, 9))
    if scale is not None and scale.points is not None and scale.points <= _MOST_VALUES:
        values = np.union1d(values, np.linspace(scale.low, scale.high, scale.points).round(9))
    if len(values) > _MOST_VALUES:
        low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
        return np.linspace(min(low, float(values[0])), max(high, float(values[-1])), _BINS + 1)
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return np.unique(np.concatenate([values - step / 2, values + step / 2]).round(9))
