"""Between the latent scale of fitted studies and differences of expected ratings on [0, 1], many fits at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.latent import LARGEST_EFFECT

Floats = NDArray[np.float64]

_NODES = 31  # of the quadrature with a logit link: 1e-6 of a difference for latent SDs up to 3
_STEPS = 60  # of a bisection
_NEAR_ZERO = 1e-4  # a latent effect below which the expected difference is proportional to it


@dataclass(frozen=True, slots=True, eq=False)
class LatentScale:
    """What fits say of the categories, the replicate being the first axis.

    `thresholds` (n, categories - 1), infinite or alike for a category that a study did not use; `variance` (n,)
    of the latent value over workers and items; `scores` (categories,) on [0, 1].
    """

    thresholds: Floats
    variance: Floats
    scores: Floats
    logit: bool

    def difference(self, effect: Floats) -> Floats:
        """Difference B - A of the expected ratings on [0, 1] at a latent effect, shape (n,)."""
        half = np.asarray(effect)[:, None] / 2
        steps = np.diff(self.scores)
        return np.asarray(
            (self._below(self.thresholds + half) - self._below(self.thresholds - half)) @ steps
        )

    def per_unit(self, effect: Floats) -> Floats:
        """Difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what turns
        a latent standard error into one on [0, 1] with the same t."""
        there = np.where(np.abs(effect) > _NEAR_ZERO, effect, _NEAR_ZERO)
        return self.difference(there) / there

    def effect_of(self, difference: float) -> Floats:
        """The latent effect (n,) at which the expected ratings differ by so much; infinite where none does."""
        n = len(self.variance)
        if difference == 0:
            return np.zeros(n)
        low, high = np.zeros(n), np.full(n, LARGEST_EFFECT)
        out_of_reach = self.difference(high) < abs(difference)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            short = self.difference(middle) < abs(difference)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        size = np.where(out_of_reach, np.inf, (low + high) / 2)
        return np.asarray(np.where(np.isnan(self.variance), np.nan, np.copysign(size, difference)))

    def _below(self, places: Floats) -> Floats:
        """Probability that latent value and noise lie below the places (n, places)."""
        if not self.logit:
            return np.asarray(special.ndtr(places / np.sqrt(1.0 + self.variance)[:, None]))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        spread = np.sqrt(self.variance)[:, None, None] * nodes
        return np.asarray(special.expit(places[:, :, None] - spread) @ (weights / weights.sum()))

    @classmethod
    def joined(cls, parts: list[LatentScale]) -> LatentScale:
        """One record from consecutive parts."""
        return cls(
            np.concatenate([part.thresholds for part in parts]),
            np.concatenate([part.variance for part in parts]),
            parts[0].scores,
            parts[0].logit,
        )
