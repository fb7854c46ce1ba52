"""Systems that won, or lost, next to nothing: exact one-sided tails of their results against the others.

Given the others' strengths, and what order and ties do, T = 2 wins + ties of a system is sufficient for its
own; the law of T is a convolution over its battles, of which the few half-points of the small side are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BattleTies
from humeval_power.inference.rank.battles import Battles
from humeval_power.inference.rank.bradley_terry import BattleFit
from humeval_power.inference.rank.outcome_models import outcome_law
from humeval_power.roots import root_between

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_FEW = 5  # wins or losses, ties half
FEWEST_VOTERS = 5
_LARGEST = 60.0  # a logit


@dataclass(frozen=True, slots=True, eq=False)
class Newcomer:
    """The battles of a system against others of these `strengths`, less what style adds, one entry for each kind of
    battle:
    `shown_first` is +1 where the system was shown first, -1 where second; `n` are its battles; `points` its wins
    twice, and its ties.

    `tie` and `order` are those of the fit.
    """

    strengths: Floats
    shown_first: Codes
    n: Codes
    points: int
    order: float = 0.0
    tie: float | None = None
    ties: BattleTies = "davidson"

    @property
    def missed(self) -> int:
        """The opponents' half-points."""
        return 2 * int(self.n.sum()) - self.points

    def p_no_better(self, theta: Floats) -> Floats:
        """P(T >= points) where the system has strength `theta`, of any length."""
        if self.missed <= self.points:
            return self._small_tail(theta, self.missed, of_losses=True)
        return 1 - self._small_tail(theta, self.points - 1, of_losses=False)

    def p_no_worse(self, theta: Floats) -> Floats:
        """P(T <= points)."""
        if self.points <= self.missed:
            return self._small_tail(theta, self.points, of_losses=False)
        return 1 - self._small_tail(theta, self.missed - 1, of_losses=True)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Exact limits of the strength: two-sided, or one-sided at alpha where it never lost or never won."""
        tail = alpha if 0 in (self.points, self.missed) else alpha / 2
        low = high = math.inf
        if self.points:
            low = -self._solve(lambda theta: self.p_no_better(np.array([-theta]))[0] - tail)
        if self.missed:
            high = self._solve(lambda theta: self.p_no_worse(np.array([theta]))[0] - tail)
        return (low if self.points else -math.inf), high

    def _solve(self, falling: object) -> float:
        return float(root_between(falling, -_LARGEST, _LARGEST))  # type: ignore[arg-type]

    def _small_tail(self, theta: Floats, most: int, *, of_losses: bool) -> Floats:
        """P(half-points <= most) of the losses, or of the wins."""
        if most < 0:
            return np.zeros(len(theta))
        law = np.zeros((len(theta), most + 1))
        law[:, 0] = 1.0
        for strength, side, n in zip(self.strengths, self.shown_first, self.n, strict=True):
            eta = side * (theta - strength) + self.order
            share = outcome_law(eta, self.tie, self.ties).share
            win, tied, loss = (share if side > 0 else share[:, ::-1]).T
            none, two = (win, loss) if of_losses else (loss, win)
            for _ in range(int(n)):
                new = law * none[:, None]
                new[:, 1:] += law[:, :-1] * tied[:, None]
                new[:, 2:] += law[:, :-2] * two[:, None]
                law = new
        return np.asarray(law.sum(axis=1))


def newcomers(battles: Battles, fit: BattleFit) -> dict[int, Newcomer | None]:
    """Systems with fewer than 5 wins or fewer than 5 losses, ties half; None where fewer than 5 voters saw it.

    With clusters each counts once: by its first battle with the system.
    """
    K, count = fit.n_systems, fit.count
    points = 2 * (count[..., 0].sum(axis=1) + count[..., 2].sum(axis=0)) + count[..., 1].sum(axis=0)
    points += count[..., 1].sum(axis=1)
    fought = count.sum(axis=(1, 2)) + count.sum(axis=(0, 2))
    few = np.minimum(points, 2 * fought - points) < 2 * _FEW
    return {int(k): _newcomer(int(k), battles, fit) for k in np.flatnonzero(few) if K > 1}


def _newcomer(k: int, battles: Battles, fit: BattleFit) -> Newcomer | None:
    own = np.flatnonzero((battles.first == k) | (battles.second == k))
    style = fit.style(battles)
    if battles.clusters is not None:
        voters, first_of_each = np.unique(battles.clusters.codes[own], return_index=True)
        if len(voters) < FEWEST_VOTERS:
            return None
        own = own[first_of_each]
    side = np.where(battles.first[own] == k, 1, -1)
    against = np.where(side > 0, battles.second[own], battles.first[own])
    kinds, n = np.unique(np.stack([against, side, side * style[own]]), axis=1, return_counts=True)
    met, side_of_kind = kinds[0].astype(np.int64), kinds[1].astype(np.int64)
    points = int((1 + side * battles.outcome[own]).sum())
    order, ties = fit.order or 0.0, fit.ties or "davidson"
    return Newcomer(fit.strengths[met] - kinds[2], side_of_kind, n, points, order, fit.tie, ties)


def exact_tails(found: dict[int, Newcomer | None], fit: BattleFit) -> Floats | None:
    """One-sided p-values (K, K) of "the row's system is no better than the column's" where one is a newcomer, else
    NaN; 1 where nothing can be said."""
    if not found:
        return None
    K = fit.n_systems
    p = np.full((K, K), np.nan)
    for k, one in found.items():
        better = np.ones(K) if one is None else one.p_no_better(fit.strengths)
        worse = np.ones(K) if one is None else one.p_no_worse(fit.strengths)
        p[k] = np.where(np.isnan(p[k]), better, np.fmax(p[k], better))
        p[:, k] = np.where(np.isnan(p[:, k]), worse, np.fmax(p[:, k], worse))
    return p
