"""Where the searches of one fit begin, and which of their ends is kept."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.crossed import vanishing_residual
from humeval_power.kernels.crossed import reml

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Starts of a tiny table, whose criterion can have several minima: every pattern of components there or not,
# small or large, and beyond every minimum that has a residual.
_PATTERN_VALUES = ((0.0, 1.0), (0.3, 30.0), (0.0, 1e4))
_ROUNDING = 1e-9  # difference of the criterion that is none; on a ridge all ends are this close
_SAME_OPTIMUM = 1e-6  # difference of the criterion between two ends of one minimum
_PREFERENCE = {
    code: place
    for place, code in enumerate(
        (reml.CONVERGED, reml.STALLED, reml.TOO_MANY_STEPS, reml.RUNAWAY, reml.NO_RESIDUAL)
    )
}


def tiny_starts(n_components: int, *, by_difference: bool = False) -> Floats:
    """Relative variances (starts, n_components) from which the criterion of a tiny table is searched; where
    differences are analysed the intercepts have cancelled, and only those of the slopes matter."""
    size = n_components // 2 if by_difference else n_components
    patterns = [start for values in _PATTERN_VALUES for start in product(values, repeat=size) if any(start)]
    starts = np.unique(np.array(patterns), axis=0)
    if not by_difference:
        return starts
    spread = np.zeros((len(starts), n_components))
    spread[:, 1::2] = starts
    return spread


def lowest_end(criteria: Floats, status: Codes) -> int:
    """The place of the lowest end of several searches; among equals one that converged, then one that has a
    residual, then the first."""
    height = np.nan_to_num(criteria, nan=np.inf)
    height[status == reml.NO_RESIDUAL] = np.inf
    if np.isinf(height).all():
        return 0
    near = np.flatnonzero(height <= height.min() + vanishing_residual.TIE)
    rank = np.array([_PREFERENCE[int(code)] for code in status[near]])
    same = near[rank == rank.min()]
    return int(same[height[same] <= height[same].min() + _ROUNDING][0])


def count_optima(criteria: Floats, status: Codes) -> int:
    """Minima with a residual among the ends of searches, at least 1."""
    heights = np.sort(criteria[status == reml.CONVERGED])
    return 1 + int((np.diff(heights) > _SAME_OPTIMUM).sum())
