"""Two accuracies measured on different items: the test of two proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]


def unpaired_p(right_b: ArrayLike, right_a: ArrayLike, *, n_b: int, n_a: int) -> Floats:
    """Two-sided p-values of Pearson's test (pooled variance, no correction) from counts of right answers.

    Items that both systems answered make it lose power, because it does not know that they are the same.
    """
    b, a = np.asarray(right_b, dtype=np.float64), np.asarray(right_a, dtype=np.float64)
    pooled = (a + b) / (n_a + n_b)
    variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b)
    statistic = np.abs(b / n_b - a / n_a) / np.sqrt(np.where(variance > 0, variance, np.inf))
    return np.asarray(2 * special.ndtr(-statistic))
