"""Tests of all pairs of systems by random signs of the clusters' sums, the null hypothesis imposed.

The wild cluster bootstrap with Rademacher's signs. It is exact, stepping down too, where the clusters' vectors of
differences among systems that are alike have a joint law symmetric about 0 (Canay, Romano and Shaikh 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.pair_tests import step_down

Floats = NDArray[np.float64]
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
    """Test pairs by sums (G, K) of the clusters' scores, which are not centred.

    Raises
    ------
    InputError
        So few clusters that no pair could be found at this level.
    """
    G = len(sums)
    if level < 2.0 ** (1 - G):
        rule = (
            f"signs of {G} clusters have no p-value below {2.0 ** (1 - G):.3g}, and alpha is {level:.3g}."
        )
        raise InputError([Problem(rule, "Test by Holm's method: leave out --test signs.")])
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
