"""Krippendorff's alpha of many sets of weights at once: the sums that it needs, without pairs of ratings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Level = Literal["interval", "ordinal"]

_NO_VARIANCE = 1e-12  # relative to the scores' size: sums of squares below this are rounding


class Shared(NamedTuple):
    """Ratings of outputs that two workers or more have rated, one for each worker and output.

    output, code : (n,), the output's number and the rating's place among `values` (sorted, distinct);
    size, item : (n_outputs,), number of ratings and the item of each output.
    """

    output: Codes
    code: Codes
    values: Floats
    size: Codes
    item: Codes
    n_workers: int
    n_left_out: int


def krippendorff_alpha(shared: Shared, weights: Floats, *, level: Level) -> float:
    """Krippendorff's alpha = 1 - observed / expected disagreement; NaN where nothing varies.

    With squared differences, m ratings of an output with sum of squares SS about their mean disagree by
    2 m SS / (m - 1), and all n ratings by 2 SS / (n - 1). The ordinal metric of two values is the squared
    difference of their mid-ranks among all ratings, so it is the interval alpha of the mid-ranks.
    Source: Krippendorff (2004), Content Analysis, section 11.3; the two sums rearranged.

    Parameters
    ----------
    weights : (n_outputs,), how often each output counts.
    """
    return float(alphas(shared, level)(weights[:, None])[0])


def alphas(shared: Shared, level: Level) -> Callable[[Floats], Floats]:
    """The same as a function of weights (n_outputs, r), to (r,) values; what does not depend on them is computed
    once. Both sums of squares follow from how often each value occurs and from each output's sum of scores."""
    from scipy.sparse import csr_array

    if not len(shared.size):
        return lambda weights: np.full(weights.shape[1], np.nan)
    shape = (len(shared.size), len(shared.values))
    cells = csr_array((np.ones(len(shared.code)), (shared.output, shared.code)), shape=shape)
    of_values = csr_array(cells.T)
    penalised = csr_array(of_values * (shared.size / (shared.size - 1)))
    values = shared.values - shared.values.mean()

    def squared(score: Floats) -> Floats:
        return np.asarray(cells @ score) ** 2 / (shared.size - 1)[:, None]

    fixed = squared(values[:, None]) if level == "interval" else None

    def alpha(weights: Floats) -> Floats:
        count = np.asarray(of_values @ weights)
        if fixed is None:
            score = np.cumsum(count, axis=0) - count / 2
            score -= score[-1] / 2  # about their middle squares keep their digits
            own, largest = squared(score), np.abs(score).max(axis=0)
        else:
            score, own = values[:, None], fixed
            largest = np.abs(shared.values).max()
        n = count.sum(axis=0)
        squares = score**2
        total = (count * squares).sum(axis=0) - (count * score).sum(axis=0) ** 2 / np.maximum(n, 1)
        within = (np.asarray(penalised @ weights) * squares).sum(axis=0) - (weights * own).sum(axis=0)
        varies = total > _NO_VARIANCE * n * largest**2
        expected = np.where(varies, n * total, np.nan)
        return np.asarray(1 - (n - 1) * np.maximum(within, 0) / expected)

    return alpha
