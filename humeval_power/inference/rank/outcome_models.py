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
        by_eta, by_tie = self.slope[..., 0], self.slope[..., 1]
        return np.stack(
            [(self.share * one * other).sum(axis=-1) for one, other in _pairs_of(by_eta, by_tie)], axis=-1
        )


def _pairs_of(by_eta: Floats, by_tie: Floats) -> tuple[tuple[Floats, Floats], ...]:
    return (by_eta, by_eta), (by_eta, by_tie), (by_tie, by_tie)


def outcome_law(eta: Floats, tie: float | Floats | None, kind: BattleTies) -> OutcomeLaw:
    """The law of the outcomes at strengths `eta` of any shape, which `tie` fits; without `tie` there are none."""
    if tie is None:
        won = special.expit(eta)
        share = np.stack([won, np.zeros_like(won), 1 - won], axis=-1)
        by_eta = np.stack([1 - won, np.zeros_like(won), -won], axis=-1)
        return OutcomeLaw(share, np.stack([by_eta, np.zeros_like(by_eta)], axis=-1))
    if kind == "davidson":
        half = np.clip(eta / 2, -_LARGEST, _LARGEST)
        share = np.stack([np.exp(half), np.full_like(half, np.exp(tie)), np.exp(-half)], axis=-1)
        share /= share.sum(axis=-1, keepdims=True)
        away = np.array(OUTCOMES) / 2 - ((share[..., 0] - share[..., 2]) / 2)[..., None]
        by_tie = np.array([0.0, 1.0, 0.0]) - share[..., 1:2]
        return OutcomeLaw(share, np.stack([away, by_tie], axis=-1))
    won, lost = special.expit(eta - tie), special.expit(-eta - tie)
    above, below = special.expit(eta + tie), special.expit(tie - eta)  # 1 - lost, 1 - won
    tied = special.expit(tie - eta) * above * -np.expm1(-2 * tie)  # F(eta + tie) - F(eta - tie)
    share = np.stack([won, tied, lost], axis=-1)
    by_eta = np.stack([below, lost - won, -above], axis=-1)
    by_tie = np.stack([-below, 2 / np.expm1(2 * tie) + won + lost, -above], axis=-1)
    return OutcomeLaw(share, np.stack([by_eta, by_tie], axis=-1))
