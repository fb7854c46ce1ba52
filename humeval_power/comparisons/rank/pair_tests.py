"""Tests of all ordered pairs of K systems at once: Holm's, or by the law of the largest statistic.

The hypotheses are "i is no better than j", one-sided, for both orders of every pair: each rejection has a
direction, and stepping down does not lose it (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import refusal

Floats = NDArray[np.float64]


def one_sided_p(t: Floats, df: Floats) -> Floats:
    """P(T >= t); of the normal distribution where df is infinite."""
    known = np.isinf(df)
    return np.asarray(np.where(known, special.ndtr(-t), special.stdtr(np.where(known, 1.0, df), -t)))


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
    """Adjusted p-values (P,) by Romano and Wolf's step-down (2005), and the largest |z| of all pairs in each
    draw (B,). p : (P,), one-sided, of "rows[q] is no better than columns[q]" in the direction seen. draws : (B,
    K) errors of the estimates, of which every pair is divided by its own standard deviation."""
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


# Tests of all pairs of systems by random signs of the clusters' sums, the null hypothesis imposed.

Codes = NDArray[np.int64]
_ALL = 14  # clusters of which every vector of signs is tried
_DRAWS = 10_000
_CLOSE = 1e-9  # statistics that differ by rounding alone are equal


@dataclass(frozen=True, slots=True, eq=False)
class SignTests:
    """One-sided p-values (P,) of the pairs in the direction seen, each `alone` and `adjusted` for all ordered
    pairs; `best` (K,) that of "no other is better", over the rivals of each."""

    alone: Floats
    adjusted: Floats
    best: Floats


def sign_tests(sums: Floats, rows: Codes, columns: Codes, *, level: float, seed: int) -> SignTests:
    """Test pairs by sums (G, K) of the clusters' scores, which are not centred. InputError: so few clusters
    that no pair could be found at this level."""
    G = len(sums)
    if level < 2.0 ** (1 - G):
        rule = (
            f"signs of {G} clusters have no p-value below {2.0 ** (1 - G):.3g}, and alpha is {level:.3g}."
        )
        raise refusal(rule, "Test by Holm's method: leave out --correction signs.")
    if G <= _ALL:
        signs = 1 - 2 * ((np.arange(2**G)[:, None] >> np.arange(G)) & 1)
    else:
        signs = np.random.default_rng([seed, 2]).choice(np.array([-1, 1]), (_DRAWS, G))
    drawn = signs.astype(np.float64) @ sums
    squares = sums.T @ sums
    own = np.diag(squares)
    size = own[:, None] + own[None, :] - 2 * squares
    there = size > 1e-13 * max(float(own.max()), 1e-300)
    scale = np.zeros_like(size)
    scale[there] = 1 / np.sqrt(size[there])
    total = sums.sum(axis=0)
    statistic = (total[:, None] - total) * scale - _CLOSE
    reached, _ = step_down(statistic[rows, columns], rows, columns, drawn, scale[rows, columns])
    x = np.ascontiguousarray(drawn.T)
    alone = np.array(
        [
            np.count_nonzero((x[i] - x[j]) * scale[i, j] >= statistic[i, j])
            for i, j in zip(rows, columns, strict=True)
        ]
    )
    best = np.full(len(total), len(drawn))
    for j in np.unique(columns):
        rivals = np.delete(np.arange(len(total)), j)
        largest = ((x[rivals] - x[j]) * scale[rivals, j, None]).max(axis=0)
        best[j] = np.count_nonzero(largest >= statistic[rivals, j].max())
    identity = 0 if G <= _ALL else 1  # among all vectors it is one; beside those drawn it is one more
    share = [(identity + count) / (identity + len(drawn)) for count in (alone, reached, best)]
    order = np.argsort(-statistic[rows, columns], kind="stable")
    share[1][order] = np.maximum.accumulate(share[1][order])
    return SignTests(*share)
