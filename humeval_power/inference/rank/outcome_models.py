"""Wins, ties and losses of two systems: Bradley and Terry's model, with ties by Davidson or by Rao and Kupper.

With eta the strength of the first over the second (a logit), their shares are in proportion to
exp(eta / 2) : exp(tie) : exp(-eta / 2) (Davidson 1970), where `tie` is a logarithm; or the first wins with
F(eta - tie), the second with F(-eta - tie), F being the logistic function and `tie` a threshold (Rao and Kupper
1967).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import BattleTies

Floats = NDArray[np.float64]

_LARGEST = 300.0  # of half a logit
OUTCOMES = (1, 0, -1)  # the first wins, a tie, the second wins


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeLaw:
    """Shares of the outcomes (..., 3), and the slopes of their logarithms by (eta, tie), shape (..., 3, 2)."""

    share: Floats
    slope: Floats

    @property
    def information(self) -> Floats:
        """Expected information about (eta, tie) of one battle: of eta, of both, of tie, (..., 3)."""
        found = np.zeros((*self.share.shape[:-1], 3))
        for o in range(len(OUTCOMES)):
            by_eta, by_tie = self.slope[..., o, 0], self.slope[..., o, 1]
            weighted = self.share[..., o] * by_eta
            found[..., 0] += weighted * by_eta
            found[..., 1] += weighted * by_tie
            found[..., 2] += self.share[..., o] * by_tie**2
        return found


def outcome_law(eta: Floats, tie: float | Floats | None, kind: BattleTies) -> OutcomeLaw:
    """The law of the outcomes at strengths `eta` of any shape, which `tie` fits; without `tie` there are none."""
    if tie is None:
        won = special.expit(eta)
        share = np.stack([won, np.zeros_like(won), 1 - won], axis=-1)
        by_eta = np.stack([1 - won, np.zeros_like(won), -won], axis=-1)
        return OutcomeLaw(share, np.stack([by_eta, np.zeros_like(by_eta)], axis=-1))
    if kind == "davidson":
        won = np.exp(np.clip(eta / 2, -_LARGEST, _LARGEST))
        lost, tied = 1 / won, np.exp(tie)
        total = won + lost + tied
        share = np.stack([won / total, tied / total, lost / total], axis=-1)
        mean = (share[..., 0] - share[..., 2]) / 2
        slope = np.empty((*share.shape, 2))
        slope[..., 0] = np.array(OUTCOMES) / 2 - mean[..., None]
        slope[..., 1] = np.array([0.0, 1.0, 0.0]) - share[..., 1:2]
        return OutcomeLaw(share, slope)
    won, lost = special.expit(eta - tie), special.expit(-eta - tie)
    above, below = special.expit(eta + tie), special.expit(tie - eta)  # 1 - lost, 1 - won
    tied = special.expit(tie - eta) * above * -np.expm1(-2 * tie)  # F(eta + tie) - F(eta - tie)
    share = np.stack([won, tied, lost], axis=-1)
    by_eta = np.stack([below, lost - won, -above], axis=-1)
    by_tie = np.stack([-below, 2 / np.expm1(2 * tie) + won + lost, -above], axis=-1)
    return OutcomeLaw(share, np.stack([by_eta, by_tie], axis=-1))
