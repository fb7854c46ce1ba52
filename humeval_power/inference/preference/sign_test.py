"""Tests of preferences: wins of B, wins of A, and ties, one entry a study. All are two-sided.

Ties may be left out ('excluded': the share among those who have a preference), be counted half to each
system with the variance n / 4 of a study without ties ('split': too cautious), or be kept as judgements
of 0 between -1 and +1 ('kept': the score test of a mean of 0, whose variance is that of wins and losses).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import Ties as Ties
from humeval_power.inference.mcnemar import (
    P_VALUES,
    ConditionalTest,
    at_most,
    critical_counts,
)

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_TIE = 1e-9


def preference_p(
    wins: ArrayLike, losses: ArrayLike, n: int | Counts, *, ties: Ties, test: ConditionalTest
) -> Floats:
    """p-values of no preference from counts of wins and losses among `n` judgements.

    Excluded and kept ties leave the same tests: a tie says nothing of the sign. With split ties the
    tests are those of a binomial count of n at one half whose distance from n / 2 is that of
    wins + ties / 2.
    """
    won, lost = np.asarray(wins, dtype=np.int64), np.asarray(losses, dtype=np.int64)
    if ties != "split":
        return P_VALUES[test](won, lost)
    total, gap = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.abs(won - lost))
    if test == "asymptotic":
        return np.asarray(2 * special.ndtr(-gap / np.sqrt(np.maximum(total, 1))))
    fewer = (total - gap) // 2
    attained = (total - gap) % 2 == 0
    outside = 2 * at_most(fewer, total)
    if test == "mid-p":
        outside = outside - np.where(attained, at_most(fewer, total) - at_most(fewer - 1, total), 0.0)
    return np.asarray(np.minimum(outside, 1.0))


def critical_losses(total: Counts, n: int, *, ties: Ties, test: ConditionalTest, alpha: float) -> Counts:
    """The largest min(wins, losses) that is significant for each wins + losses of `n` judgements; -1
    where none is."""
    if ties != "split":
        return critical_counts(total, test=test, alpha=alpha)
    gap = smallest_gap(n, test=test, alpha=alpha)
    return np.maximum((total - gap) // 2, -1)


def smallest_gap(n: int, *, test: ConditionalTest, alpha: float) -> int:
    """The smallest |wins - losses| that is significant among n judgements whose ties are split; n + 1
    where none is."""
    guess = int(np.ceil(-special.ndtri(alpha / 2) * np.sqrt(n)))
    near = np.arange(max(guess - 100, 0), min(guess + 100, n) + 1)
    significant = preference_p(near, np.zeros_like(near), n, ties="split", test=test) <= alpha
    return int(near[significant].min()) if significant.any() else n + 1
