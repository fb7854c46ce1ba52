"""Tests of all ordered pairs of K systems at once: Holm's, or by the law of the largest statistic.

The hypotheses are "i is no better than j", one-sided, for both orders of every pair: each rejection has a
direction, and stepping down does not lose it (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


def one_sided_p(t: Floats, df: Floats) -> Floats:
    """P(T >= t); of the normal distribution where df is infinite."""
    known = np.isinf(df)
    return np.asarray(np.where(known, special.ndtr(-t), special.stdtr(np.where(known, 1.0, df), -t)))


def upper_quantile(df: Floats, tail: float) -> Floats:
    """What T exceeds with probability `tail`."""
    known = np.isinf(df)
    return np.asarray(
        np.where(known, -special.ndtri(tail), -special.stdtrit(np.where(known, 1.0, df), tail))
    )


def holm(p: Floats) -> Floats:
    """Adjusted p-values (P,) of pairs in the direction seen, one-sided `p`, among the 2P ordered hypotheses (Holm
    1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((2 * len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)


def max_t(p: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64], draws: Floats) -> Floats:
    """Adjusted p-values (P,) by Romano and Wolf's step-down (2005).

    Parameters
    ----------
    p : (P,), one-sided, of "rows[q] is no better than columns[q]" in the direction seen.
    draws : (B, K) errors of the estimates, of which every pair is divided by its own standard deviation.

    At place r of the pairs, the largest statistic first, a draw's statistic is the largest of all reversed pairs
    and of the pairs from r on: one pass upwards from the smallest.
    """
    z = -special.ndtri(np.clip(p, 1e-300, 1.0))
    order = np.argsort(-z, kind="stable")
    i, j, z = rows[order], columns[order], z[order]
    covariance = np.atleast_2d(draws.T @ draws) / len(draws)
    own = np.diag(covariance)
    variance = own[i] + own[j] - 2 * covariance[i, j]
    scale = np.zeros(len(i))
    there = variance > 1e-13 * max(float(own.max()), 1e-300)
    scale[there] = 1 / np.sqrt(variance[there])
    reached = np.zeros(len(i))
    x = np.ascontiguousarray(draws.T)
    largest, one = np.full(len(draws), -np.inf), np.empty(len(draws))
    for q in range(len(i)):
        np.subtract(x[j[q]], x[i[q]], out=one)
        np.multiply(one, scale[q], out=one)
        np.maximum(largest, one, out=largest)
    for q in range(len(i) - 1, -1, -1):
        np.subtract(x[i[q]], x[j[q]], out=one)
        np.multiply(one, scale[q], out=one)
        np.maximum(largest, one, out=largest)
        reached[q] = np.count_nonzero(largest >= z[q])
    adjusted = np.empty(len(i))
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + len(draws)))
    return adjusted


def largest_of_all(
    rows: NDArray[np.int64], columns: NDArray[np.int64], draws: Floats, alpha: float
) -> float:
    """What the largest |z| of all pairs exceeds with probability alpha."""
    return float(np.quantile(_largest(rows, columns, draws), 1 - alpha, method="higher"))


def _largest(rows: NDArray[np.int64], columns: NDArray[np.int64], draws: Floats) -> Floats:
    found = np.zeros(len(draws))
    for k in np.unique(rows):
        apart = draws[:, [k]] - draws[:, columns[rows == k]]
        spread = np.sqrt((apart**2).mean(axis=0))
        there = spread > 0
        if there.any():
            np.maximum(found, np.abs(apart[:, there] / spread[there]).max(axis=1), out=found)
    return found
