"""Strengths of many simulated leaderboards at once, from how often each two systems won and tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.rank.outcome_models import outcome_law

Floats = NDArray[np.float64]
_STEPS, _PRECISION, _ENDLESS = 60, 1e-8, 20.0


@dataclass(frozen=True, slots=True, eq=False)
class BattleFits:
    """Of each leaderboard: how much stronger the second system is than the first, its standard error, and whether
    there is a highest likelihood; NaN where there is none."""

    gap: Floats
    standard_error: Floats
    found: NDArray[np.bool_]


def battle_rows(n_systems: int, *, with_ties: bool) -> Floats:
    """Derivatives of (eta, tie) of each pair, in the order of `triu_indices`, by the strengths of systems 1 to K -
    1 and the ties, (pairs, 2, p)."""
    first, second = np.triu_indices(n_systems, 1)
    each = np.arange(len(first))
    strengths = np.zeros((len(first), n_systems))
    strengths[each, first] = 1.0
    strengths[each, second] = -1.0
    rows = np.zeros((len(first), 2, n_systems - 1 + with_ties))
    rows[:, 0, : n_systems - 1] = strengths[:, 1:]
    if with_ties:
        rows[:, 1, -1] = 1.0
    return rows


def fit_tables(counts: Floats, n_systems: int) -> BattleFits:
    """Fit Davidson's model to counts (leaderboards, pairs, 3) of wins of the first of a pair, ties and losses,
    pairs in the order of `triu_indices`; without any tie in all of them, Bradley and Terry's."""
    with_ties = bool(counts[:, :, 1].any())
    p = n_systems - 1 + with_ties
    rows = battle_rows(n_systems, with_ties=with_ties)
    at = np.zeros((len(counts), p))
    if with_ties:
        share = np.clip(counts[:, :, 1].sum(axis=1) / counts.sum(axis=(1, 2)), 0.01, 0.9)
        at[:, -1] = np.log(2 * share / (1 - share))
    found = np.zeros(len(counts), dtype=np.bool_)
    information = np.broadcast_to(np.eye(p), (len(counts), *[p] * 2))
    n = counts.sum(axis=2)
    for _ in range(_STEPS):
        tie = at[:, -1:] if with_ties else None
        law = outcome_law(np.einsum("np,bp->bn", rows[:, 0], at), tie, "davidson")
        gradient = np.einsum("bno,bnoa,nap->bp", counts, law.slope, rows, optimize=True)
        weight = law.information * n[..., None, None]
        information = np.einsum("nap,bnak,nkq->bpq", rows, weight, rows, optimize=True)
        step = np.linalg.solve(information + 1e-10 * np.eye(p), gradient[..., None])[..., 0]
        step = np.clip(step, -2.0, 2.0)
        at = np.clip(at + step, -2 * _ENDLESS, 2 * _ENDLESS)
        found = np.abs(step).max(axis=1) < _PRECISION
        if found.all():
            break
    strengths = at[:, : n_systems - 1]
    found &= np.abs(strengths).max(axis=1) < _ENDLESS
    variance = np.linalg.inv(information + 1e-10 * np.eye(p))[:, 0, 0]
    found &= variance < _ENDLESS**2  # some systems never met
    gap = np.where(found, at[:, 0], np.nan)
    return BattleFits(gap, np.where(found, np.sqrt(np.maximum(variance, 1e-300)), np.nan), found)
