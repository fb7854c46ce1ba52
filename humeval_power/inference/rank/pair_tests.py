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


def max_t(
    p: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64], draws: Floats
) -> tuple[Floats, Floats]:
    """Adjusted p-values (P,) by Romano and Wolf's step-down (2005), and the largest |z| of all pairs in each draw
    (B,).

    Parameters
    ----------
    p : (P,), one-sided, of "rows[q] is no better than columns[q]" in the direction seen.
    draws : (B, K) errors of the estimates, of which every pair is divided by its own standard deviation.
    """
    covariance = np.atleast_2d(draws.T @ draws) / len(draws)
    own = np.diag(covariance)
    variance = own[rows] + own[columns] - 2 * covariance[rows, columns]
    scale = np.zeros(len(rows))
    there = variance > 1e-13 * max(float(own.max()), 1e-300)
    scale[there] = 1 / np.sqrt(variance[there])
    z = -special.ndtri(np.clip(p, 1e-300, 1.0))
    reached, largest = step_down(z, rows, columns, draws, scale)
    order = np.argsort(-z, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + reached[order]) / (1 + len(draws)))
    return adjusted, largest


def step_down(
    statistic: Floats,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    draws: Floats,
    scale: Floats,
) -> tuple[NDArray[np.int64], Floats]:
    """In how many draws the largest statistic of what is left reaches that of each pair (P,); the largest of all
    (B,).

    At place r of the pairs, the largest statistic first, a draw's statistic is the largest of all reversed pairs
    and of the pairs from r on: one pass upwards from the smallest.
    """
    x = np.ascontiguousarray(draws.T)
    largest, one = np.full(len(draws), -np.inf), np.empty(len(draws))
    for i, j, by in zip(rows.tolist(), columns.tolist(), scale.tolist(), strict=True):
        np.subtract(x[j], x[i], out=one)
        np.multiply(one, by, out=one)
        np.maximum(largest, one, out=largest)
    reached = np.zeros(len(rows), dtype=np.int64)
    for q in np.argsort(-statistic, kind="stable")[::-1].tolist():
        np.subtract(x[rows[q]], x[columns[q]], out=one)
        np.multiply(one, scale[q], out=one)
        np.maximum(largest, one, out=largest)
        reached[q] = np.count_nonzero(largest >= statistic[q])
    return reached, largest
