"""Tests of two samples of independent ratings, over many pairs of samples at once.

Mann and Whitney's U by the normal approximation, with corrections for ties and continuity (Lehmann 1975), and
the t tests of Student and Welch. Agrees with scipy.stats to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.kernels.metrics.rank_sum import mann_whitney_counts

Floats = NDArray[np.float64]
_ROUNDING = 1e-12  # of the largest rating: what is left of a spread of equal ones


class RankSumTest(NamedTuple):
    """`superiority` is P(B > A), ties counted half; `p_value` is NaN where all ratings are alike."""

    superiority: Floats
    p_value: Floats


class MeanTest(NamedTuple):
    """The difference of the means, B - A, its standard error (NaN where nothing varies), and Student's t of it."""

    difference: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats


def rank_sum_test(a: Floats, b: Floats, *, continuity: bool = True) -> RankSumTest:
    """Two-sided Mann-Whitney tests of samples of shape (replicates, n_a) and (replicates, n_b)."""
    n_a, n_b = a.shape[1], b.shape[1]
    n = n_a + n_b
    u, tie_term = mann_whitney_counts(a, b)
    variance = n_a * n_b / 12 * (n + 1 - tie_term / (n * (n - 1)))
    excess = np.abs(u - n_a * n_b / 2) - (0.5 if continuity else 0.0)
    return RankSumTest(u / (n_a * n_b), np.minimum(2 * special.ndtr(-excess / _root(variance)), 1.0))


def mean_test(a: Floats, b: Floats, *, pooled: bool) -> MeanTest:
    """Two-sided t tests of samples of shape (replicates, n_a) and (replicates, n_b): Student's where the
    variances are pooled, else Welch's."""
    n_a, n_b = a.shape[1], b.shape[1]
    difference = b.mean(axis=1) - a.mean(axis=1)
    squares_a, squares_b = _spread(a), _spread(b)
    if pooled:
        df = np.full(len(a), n_a + n_b - 2.0)
        variance = ((n_a - 1) * squares_a + (n_b - 1) * squares_b) / df
        error = _root(variance * (1 / n_a + 1 / n_b))
    else:
        of_a, of_b = squares_a / n_a, squares_b / n_b
        error = _root(of_a + of_b)
        df = error**4 / (of_a**2 / (n_a - 1) + of_b**2 / (n_b - 1))
    return MeanTest(difference, error, df, 2 * special.stdtr(df, -np.abs(difference) / error))


def _spread(ratings: Floats) -> Floats:
    """Variances of samples, (replicates, n); 0 where nothing but rounding varies."""
    squares = ratings.var(axis=1, ddof=1)
    return np.where(squares <= (_ROUNDING * np.abs(ratings).max(axis=1)) ** 2, 0.0, squares)


def _root(variance: Floats) -> Floats:
    return np.sqrt(np.where(variance > 0, variance, np.nan))
