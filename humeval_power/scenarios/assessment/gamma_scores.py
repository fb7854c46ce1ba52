"""Ratings whose errors follow a Gamma law: most are good, and the worse the rarer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import Below as Below
from humeval_power.errors import InputError
from humeval_power.quadrature import gauss_legendre

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = gauss_legendre(200)


@dataclass(frozen=True, slots=True)
class GammaScores:
    """Ratings high - E with E ~ Gamma(shape mu^2 / sd^2, scale sd^2 / mu), where mu = high - mean.

    Wei, Kocmi and Federmann (2022, section 6.1), with mu the mean of the error: their formula read
    literally, mu the mean rating, would turn a mean of 75 into one of 25. Nothing keeps such a rating above
    `low`. `below` says what becomes of those: they are left, clipped to `low`, or drawn again
    ('truncate'). In every case `mean` and `sd` are those of the ratings as they come out.
    """

    mean: float
    sd: float
    low: float = 0.0
    high: float = 100.0
    below: Below = "leave"

    def __post_init__(self) -> None:
        if not self.low < self.mean < self.high:
            raise InputError(
                f"A mean rating must lie inside the scale, {self.low:g} to {self.high:g}; got {self.mean:g}."
            )
        if not (self.sd > 0 and math.isfinite(self.sd)):
            raise InputError(f"The standard deviation of ratings must be above 0; got {self.sd:g}.")
        _ = self.law  # refuses what no Gamma law can give

    @property
    def law(self) -> tuple[float, float]:
        """Shape and scale of the Gamma law of the error, before `below` is applied."""
        return _law(self.high - self.mean, self.sd, self.high - self.low, self.below)

    @property
    def share_below(self) -> float:
        """Probability that the Gamma law puts a rating below `low`, before anything is done about it."""
        shape, scale = self.law
        return float(special.gammaincc(shape, (self.high - self.low) / scale))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Independent ratings of the given shape."""
        width = self.high - self.low
        error = rng.gamma(*self.law, shape)
        if self.below == "clip":
            np.minimum(error, width, out=error)
        elif self.below == "truncate":
            outside = np.flatnonzero(error.ravel() > width)
            flat = error.reshape(-1)
            while len(outside):
                flat[outside] = rng.gamma(*self.law, len(outside))
                outside = outside[flat[outside] > width]
        return np.asarray(self.high - error)

    def better(self, error: Floats) -> Floats:
        """P(E > error) + P(E = error) / 2: the chance that a rating with `error` beats one of these."""
        shape, scale = self.law
        width = self.high - self.low
        beyond = special.gammaincc(shape, error / scale)
        if self.below == "truncate":
            cut = self.share_below
            return np.asarray((beyond - cut) / (1 - cut))
        if self.below == "clip":
            return np.asarray(np.where(error >= width, beyond / 2, beyond))
        return np.asarray(beyond)

    def nodes(self) -> tuple[Floats, Floats]:
        """Errors and weights, both (k,), such that weights @ f(errors) is the mean of f(E)."""
        shape, scale = self.law
        kept = 1.0 if self.below == "leave" else 1 - self.share_below
        # The quantiles are steep at both ends; 3 t^2 - 2 t^3 puts the nodes there.
        t = (_NODES + 1) / 2
        share, weight = t * t * (3 - 2 * t), 3 * _WEIGHTS * t * (1 - t)
        error = scale * special.gammaincinv(shape, kept * share)
        if self.below == "clip":
            return np.append(error, self.high - self.low), np.append(kept * weight, 1 - kept)
        return np.asarray(error), np.asarray(weight)


@lru_cache(maxsize=1024)
def _law(mean: float, sd: float, width: float, below: Below) -> tuple[float, float]:
    """Shape and scale of the Gamma law whose errors, bounded by `width`, have this mean and sd."""
    shape, scale = (mean / sd) ** 2, sd**2 / mean
    if below == "leave":
        return shape, scale
    from scipy import optimize

    def gap(logs: Floats) -> Floats:
        found = _bounded_moments(math.exp(logs[0]), math.exp(logs[1]), width, below)
        return np.array([found[0] / mean - 1, found[1] / sd - 1])

    with np.errstate(all="ignore"):
        try:
            found = optimize.root(gap, np.log([shape, scale]), method="hybr", tol=1e-13)
            close = bool(np.max(np.abs(gap(found.x))) < 1e-8)
        except (OverflowError, ValueError, ZeroDivisionError):
            close = False
    if not close:
        how = {"clip": "clipped at", "truncate": "cut off at"}[below]
        raise InputError(
            f"No Gamma law {how} the lower end of the scale has errors of mean {mean:g} and standard "
            f"deviation {sd:g} on a scale {width:g} wide. Give a smaller standard deviation, or leave "
            "ratings below the scale."
        )
    return math.exp(found.x[0]), math.exp(found.x[1])


def _bounded_moments(shape: float, scale: float, width: float, below: Below) -> tuple[float, float]:
    """Mean and sd of Gamma errors that are clipped at, or drawn again beyond, `width`.

    From E[X^j; X <= c] = scale^j Gamma(k + j) / Gamma(k) P(k + j, c / scale).
    """
    inside, first, second = (special.gammainc(shape + j, width / scale) for j in range(3))
    one, two = scale * shape * first, scale**2 * shape * (shape + 1) * second
    if below == "truncate":
        one, two = one / inside, two / inside
    else:
        one, two = one + width * (1 - inside), two + width**2 * (1 - inside)
    return float(one), math.sqrt(max(float(two - one**2), 0.0))
