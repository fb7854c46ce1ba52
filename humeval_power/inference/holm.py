"""Holm's (1979) step-down p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def holm_p(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Adjusted p-values in the order given; a missing one (NaN) stays missing, and counts as one of the tests."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")  # NaN last
    steps = p[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found
