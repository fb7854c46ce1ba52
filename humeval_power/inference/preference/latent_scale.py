"""From the latent strength of B to the shares of judgements that prefer B, A or neither, and back.

In a judgement the strength of B over A is eta = strength + x position_bias + own strength of the worker + of the
item, x = +1/2 where B is shown first and -1/2 where A is. With noise of the link (normal of SD 1, or
logistic) B wins where eta + noise lies above a threshold, A where it lies below minus that, and what lies
between is a tie (Rao and Kupper 1967; Agresti 1992, Applied Statistics 41).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.latent import Link

Floats = NDArray[np.float64]
FIRST = (0.5, -0.5)  # x where B is shown first, and where A is
_NODES = 61  # of Gauss and Hermite's quadrature


def probability(eta: ArrayLike, link: Link) -> Floats:
    """Distribution function of the noise."""
    x = np.asarray(eta, dtype=np.float64)
    return np.asarray(special.ndtr(x) if link == "probit" else special.expit(x))


def density(eta: ArrayLike, link: Link) -> Floats:
    """Its density."""
    x = np.asarray(eta, dtype=np.float64)
    if link == "probit":
        return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))
    below = special.expit(x)
    return np.asarray(below * (1 - below))


@dataclass(frozen=True)
class LatentPreference:
    """How judgements arise: strengths, threshold and standard deviations on the scale of the link."""

    strength: float
    threshold: float = 0.0
    position_bias: float = 0.0
    sd_worker: float = 0.0
    sd_item: float = 0.0
    link: Link = "probit"

    @property
    def variance(self) -> float:
        """Of workers' and items' own strengths together."""
        return self.sd_worker**2 + self.sd_item**2

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """Judgements that prefer B, are ties and prefer A, over workers, items and both positions."""
        eta = self.strength + np.array(FIRST) * self.position_bias
        won = float(self.averaged(eta - self.threshold).mean())
        lost = float(self.averaged(-eta - self.threshold).mean())
        return won, max(1 - won - lost, 0.0), lost

    def preferred(self, strength: ArrayLike) -> Floats:
        """Probability that B is preferred, ties counted half, if its strength were `strength`: averaged over
        workers, items and both positions. It rises with the strength and is 1/2 at 0."""
        eta = np.asarray(strength, dtype=np.float64)[..., None] + np.array(FIRST) * self.position_bias
        both = self.averaged(eta - self.threshold) + self.averaged(eta + self.threshold)
        return np.asarray(both.mean(axis=-1) / 2)

    def first_preferred(self, position_bias: ArrayLike) -> Floats:
        """Probability that what is shown first is preferred, ties counted half, if neither system is stronger
        and the position bias were `position_bias`."""
        half = np.asarray(position_bias, dtype=np.float64) / 2
        return (self.averaged(half - self.threshold) + self.averaged(half + self.threshold)) / 2

    def averaged(self, eta: ArrayLike) -> Floats:
        """Probability of noise below `eta`, averaged over workers and items: closed for the probit, by Gauss
        and Hermite's quadrature for the logit."""
        if self.link == "probit":
            return probability(np.asarray(eta) / math.sqrt(1 + self.variance), "probit")
        nodes, weights = _quadrature()
        spread = math.sqrt(self.variance) * nodes
        return np.asarray(probability(np.asarray(eta)[..., None] + spread, self.link) @ weights)

    def information(self, x: float, *, ties: bool) -> Floats:
        """Expected information of one judgement about (threshold, eta), averaged over workers and items; the
        first row and column are 0 without ties."""
        nodes, weights = _quadrature()
        eta = self.strength + x * self.position_bias + math.sqrt(self.variance) * nodes
        cut = self.threshold
        won, lost = probability(eta - cut, self.link), probability(-eta - cut, self.link)
        by_win, by_loss = density(eta - cut, self.link), density(eta + cut, self.link)
        slopes = [(won, -by_win, by_win), (lost, -by_loss, -by_loss)]
        if ties:
            near = -np.abs(eta)  # the difference of two small tails, not of two numbers near 1
            tied = probability(near + cut, self.link) - probability(near - cut, self.link)
            slopes.append((tied, by_win + by_loss, by_loss - by_win))
        found = np.zeros((2, 2))
        for share, by_threshold, by_eta in slopes:
            gradient = np.array([by_threshold if ties else np.zeros_like(eta), by_eta])
            weight = np.where(share > 0, weights / np.maximum(share, 1e-300), 0.0)
            found += (gradient * weight) @ gradient.T
        return found


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights of the average over a standard normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def latent_preference(
    preference: float,
    *,
    tie_share: float = 0.0,
    position_bias: float = 0.0,
    sd_worker: float = 0.0,
    sd_item: float = 0.0,
    link: Link = "probit",
) -> LatentPreference:
    """The latent model whose shares are these.

    Parameters
    ----------
    preference : share that prefers B, ties counted half, minus 1/2.
    tie_share : of all judgements.
    position_bias : probability that what is shown first is preferred where neither system is stronger,
        ties counted half, minus 1/2.

    Raises
    ------
    InputError
        Shares that no threshold and strength have together.
    """
    won, lost = (1 - tie_share) / 2 + preference, (1 - tie_share) / 2 - preference
    if min(won, lost) <= 0:
        raise InputError(
            f"With {tie_share:.4g} ties a preference of {preference:+.4g} leaves nobody to prefer "
            f"{'A' if lost <= 0 else 'B'}: it must lie within {(1 - tie_share) / 2:.4g}."
        )
    spread = math.sqrt((1.0 if link == "probit" else math.pi**2 / 3) + sd_worker**2 + sd_item**2)
    upper, lower = float(special.ndtri(won)) * spread, float(special.ndtri(lost)) * spread
    start = LatentPreference(
        (upper - lower) / 2,
        -(upper + lower) / 2 if tie_share > 0 else 0.0,
        2 * spread * float(special.ndtri(0.5 + position_bias)),
        sd_worker,
        sd_item,
        link,
    )
    if link == "probit" and position_bias == 0:
        return start
    return _solved(start, won, lost, position_bias, ties=tie_share > 0)


def _solved(
    start: LatentPreference, won: float, lost: float, bias: float, *, ties: bool
) -> LatentPreference:
    """The root by Newton's method from a start with nearly these shares."""
    from scipy import optimize

    def model(x: Floats) -> LatentPreference:
        threshold = float(x[2]) if ties else 0.0
        return replace(start, strength=float(x[0]), position_bias=float(x[1]), threshold=threshold)

    def gap(x: Floats) -> list[float]:
        at = model(x)
        found = [at.shares[0] - won, float(at.first_preferred(at.position_bias)) - 0.5 - bias]
        return [*found, at.shares[2] - lost] if ties else found

    first = [start.strength, start.position_bias, *([start.threshold] if ties else [])]
    found = optimize.root(gap, first, tol=1e-12)
    if np.abs(gap(found.x)).max() > 1e-9 or (ties and found.x[-1] < 0):
        raise InputError(
            f"No judges have {won:.4g} wins, {lost:.4g} losses and a position bias of {bias:+.4g}: there is too "
            "little left to choose. Give a smaller position bias or fewer ties."
        )
    return model(found.x)
