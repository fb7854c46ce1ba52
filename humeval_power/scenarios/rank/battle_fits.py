"""Strengths of many simulated leaderboards at once, from each system's points and the ties.

In Davidson's model the points of each system (a win 1, a tie 1/2) and the number of ties are sufficient, so that
nothing is larger than leaderboards x pairs, or leaderboards x K x K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS, _PRECISION, _ENDLESS = 60, 1e-8, 20.0
_RIDGE = 1e-10
_TOGETHER = 2_000_000  # numbers of leaderboards x pairs


@dataclass(frozen=True, slots=True, eq=False)
class BattleFits:
    """Of each leaderboard: how much stronger the second system is than the first, its standard error, and whether
    there is a highest likelihood; NaN where there is none."""

    gap: Floats
    standard_error: Floats
    found: NDArray[np.bool_]


def fit_tables(points: Floats, ties: Floats, battles: Floats) -> BattleFits:
    """Fit Davidson's model; without any tie in all of them, Bradley and Terry's.

    Parameters
    ----------
    points : (leaderboards, K), wins and half the ties of each system. ties : (leaderboards,).
    battles : (pairs,) of each two systems, in the order of `triu_indices`.
    """
    with_ties = bool(ties.any())
    size = max(1, _TOGETHER // len(battles))
    parts = [
        _fit(points[start : start + size], ties[start : start + size], battles, with_ties=with_ties)
        for start in range(0, len(points), size)
    ]
    return BattleFits(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in parts[0].__slots__)
    )


def _fit(points: Floats, ties: Floats, battles: Floats, *, with_ties: bool) -> BattleFits:
    """Newton's steps in the strengths of systems 1 to K - 1 over that of system 0, and ln(tie)."""
    n, K = points.shape
    at = np.zeros((n, K - 1 + with_ties))
    if with_ties:
        share = np.clip(ties / battles.sum(), 0.01, 0.9)
        at[:, -1] = np.log(2 * share / (1 - share))
    wanted = np.column_stack([points[:, 1:], ties]) if with_ties else points[:, 1:]
    found = np.zeros(n, dtype=np.bool_)
    for _ in range(_STEPS):
        expected, information = moments(at, K, battles, with_ties=with_ties)
        information += _RIDGE * np.eye(at.shape[1])
        step = np.linalg.solve(information, (wanted - expected)[..., None])[..., 0]
        step = np.clip(step, -2.0, 2.0)
        at = np.clip(at + step, -2 * _ENDLESS, 2 * _ENDLESS)
        found = np.abs(step).max(axis=1) < _PRECISION
        if found.all():
            break
    found &= np.abs(at[:, : K - 1]).max(axis=1) < _ENDLESS
    neighbour = np.zeros((at.shape[1], 1))
    neighbour[0] = 1.0
    variance = np.linalg.solve(information, np.broadcast_to(neighbour, (n, *neighbour.shape)))[:, 0, 0]
    found &= variance < _ENDLESS**2  # some systems never met
    gap = np.where(found, at[:, 0], np.nan)
    return BattleFits(gap, np.where(found, np.sqrt(np.maximum(variance, 1e-300)), np.nan), found)


def moments(at: Floats, n_systems: int, battles: Floats, *, with_ties: bool) -> tuple[Floats, Floats]:
    """Means of the points of systems 1 to K - 1 and of the ties at parameters (leaderboards, p), and their
    covariances, which are the expected information, (leaderboards, p, p)."""
    n, K = len(at), n_systems
    first, second = np.triu_indices(K, 1)
    strengths = np.column_stack([np.zeros(n), at[:, : K - 1]])
    odds = np.exp((strengths[:, first] - strengths[:, second]) / 2)
    tie = np.exp(at[:, -1:]) if with_ties else 0.0
    total = odds + 1 / odds + tie
    won, tied = odds / total, tie / total
    ahead = won + tied / 2  # the points of the first; its eta has the derivative ahead - 1/2
    cells = np.zeros((n, K, K))
    cells[:, first, second] = battles * ahead
    cells[:, second, first] = battles * (1 - ahead)
    means = cells.sum(axis=2)
    cells[:, first, second] = battles * (won + tied / 4 - ahead**2)
    cells[:, second, first] = cells[:, first, second]
    every = np.arange(K)
    own = cells.sum(axis=2)
    np.negative(cells, out=cells)
    cells[:, every, every] = own
    if not with_ties:
        return means[:, 1:], cells[:, 1:, 1:]
    both = battles * tied * (0.5 - ahead)
    across = np.zeros((n, K, K))
    across[:, first, second] = both
    across[:, second, first] = -both
    p = K
    information = np.empty((n, p, p))
    information[:, :-1, :-1] = cells[:, 1:, 1:]
    information[:, -1, :-1] = information[:, :-1, -1] = across.sum(axis=2)[:, 1:]
    information[:, -1, -1] = (battles * tied * (1 - tied)).sum(axis=1)
    return np.column_stack([means[:, 1:], (battles * tied).sum(axis=1)]), information
