"""How many raters and outputs let agreement be known to within a width; no data are drawn, only mean squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons.agreement.strata import floor_of

Floats = NDArray[np.float64]

_STUDIES, _DRAWS = 300, 1_500
_QUICK = (150, 800)  # while numbers are searched
_FEWEST_OUTPUTS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """Shares of the variance of a rating: of outputs (ICC(2,1), alpha of many raters), and of raters' levels."""

    agreement: float
    rater_share: float

    @property
    def error_share(self) -> float:
        """What is left."""
        return max(0.0, 1 - self.agreement - self.rater_share)


def half_widths(
    known: Reliability,
    n_raters: int,
    n_outputs: int,
    *,
    ratings_per_output: int | None = None,
    confidence: float = 0.95,
    seed: int = 1,
    n_studies: int = _STUDIES,
    n_draws: int = _DRAWS,
) -> Floats:
    """Half-widths of the interval of ICC(2,1) in studies of this size, (n_studies,).

    Mean squares are drawn from their chi-squares, and in each study generalised pivotal draws give the interval as
    `correlations` does. With fewer ratings of an output than raters it is approximate, as the interval is.
    """
    k = n_raters if ratings_per_output is None else ratings_per_output
    total = n_outputs * k
    df = n_outputs - 1, n_raters - 1, total - n_outputs - n_raters + 1
    if min(df) < 1:
        return np.full(n_studies, np.nan)
    per_output, per_rater = (total - n_raters) / df[0], (total - n_outputs) / df[1]
    error = known.error_share
    expected = error + per_output * known.agreement, error + per_rater * known.rater_share, error
    rng = np.random.default_rng(seed)
    outputs, raters, left = (
        value * rng.chisquare(d, n_studies)[:, None] / rng.chisquare(d, n_draws)
        for value, d in zip(expected, df, strict=True)
    )
    output = np.maximum(0.0, (outputs - left) / per_output)
    rater = np.maximum(0.0, (raters - left) / per_rater)
    share = np.sort(output / (output + rater + left), axis=1)
    low, high = (share[:, round((n_draws - 1) * p)] for p in ((1 - confidence) / 2, (1 + confidence) / 2))
    return np.asarray((high - low) / 2)


def delta_sd(known: Reliability, n_raters: int, n_outputs: int) -> float:
    """SD of the estimated ICC(2,1) by the delta method, of a complete table with total variance 1."""
    m, n = n_raters, n_outputs
    rho, w, e = known.agreement, known.rater_share, known.error_share
    outputs, raters = e + m * rho, e + n * w
    return math.sqrt(
        (rho / n) ** 2 * 2 * raters**2 / (m - 1)
        + ((1 - rho) / m) ** 2 * 2 * outputs**2 / (n - 1)
        + ((1 - rho) / m + rho * (1 - 1 / n)) ** 2 * 2 * e**2 / ((m - 1) * (n - 1))
    )


@lru_cache
def floor(known: Reliability, n_raters: int, confidence: float = 0.95) -> float:
    """The half-width that is left with outputs without end."""
    return floor_of(
        known.agreement, known.rater_share, known.error_share, n_raters - 1, confidence=confidence
    )


def bonett_outputs(known: Reliability, n_raters: int, half_width: float, confidence: float = 0.95) -> int:
    """Outputs for ICC(3,1), the consistency of these raters, to within `half_width` (Bonett 2002)."""
    z, k = float(special.ndtri((1 + confidence) / 2)), n_raters
    rho = known.agreement / max(known.agreement + known.error_share, np.finfo(float).tiny)
    found = 8 * z**2 * (1 - rho) ** 2 * (1 + (k - 1) * rho) ** 2 / (k * (k - 1) * (2 * half_width) ** 2) + 1
    return math.ceil(found)


def kappa_outputs(kappa: float, prevalence: float, half_width: float, confidence: float = 0.95) -> float:
    """Outputs that two given raters answer with yes or no for Cohen's kappa to within `half_width`.

    prevalence : share of yes, of both raters (Bloch and Kraemer 1989; Donner and Eliasziw 1992).
    """
    z, pq = float(special.ndtri((1 + confidence) / 2)), 2 * prevalence * (1 - prevalence)
    variance = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / pq)
    return z**2 * variance / half_width**2


@dataclass(frozen=True, slots=True)
class AgreementDesign:
    """A number of raters with the fewest outputs that do, and the cost; None where no number does.

    half_width : of the interval, on average or in the share of studies that was asked for. floor : what is left
    with outputs without end. these_raters : outputs that do where no other raters are meant (Bonett 2002).
    """

    n_raters: int
    n_outputs: int | None
    half_width: float
    floor: float
    cost: float | None
    these_raters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementTarget:
    """What is asked of a plan; prices in one currency. assurance : share of studies whose interval is so narrow."""

    half_width: float
    confidence: float = 0.95
    assurance: float | None = None
    ratings_per_output: int | None = None
    most_outputs: int = 5_000
    cost_per_rating: float = 1.0
    cost_per_rater: float = 0.0
    cost_per_output: float = 0.0
    seed: int = 1

    def reached(self, widths: Floats) -> float:
        """The half-width that counts."""
        return float(widths.mean() if self.assurance is None else np.quantile(widths, self.assurance))

    def width(
        self, known: Reliability, n_raters: int, n_outputs: int, size: tuple[int, int] = (_STUDIES, _DRAWS)
    ) -> float:
        """The same of a size."""
        found = half_widths(
            known,
            n_raters,
            n_outputs,
            ratings_per_output=self.ratings_per_output,
            confidence=self.confidence,
            seed=self.seed,
            n_studies=size[0],
            n_draws=size[1],
        )
        return self.reached(found)

    def cost(self, n_raters: int, n_outputs: int) -> float:
        """Of all ratings, raters and outputs."""
        ratings = n_outputs * (self.ratings_per_output or n_raters)
        return (
            ratings * self.cost_per_rating
            + n_raters * self.cost_per_rater
            + n_outputs * self.cost_per_output
        )


def designs(
    known: Reliability, target: AgreementTarget, raters: Sequence[int]
) -> tuple[AgreementDesign, ...]:
    """For each number of raters the fewest outputs that reach the width."""

    def of(m: int) -> AgreementDesign:
        least, these = floor(known, m, target.confidence), bonett_outputs(known, m, target.half_width)
        fewest = max(_FEWEST_OUTPUTS, m)
        top = target.most_outputs
        if least > target.half_width or target.width(known, m, top, _QUICK) > target.half_width:
            return AgreementDesign(m, None, math.nan, least, None, these)
        low, high = fewest - 1, top
        while high - low > max(1, low // 50):
            middle = (low + high) // 2 if low < fewest else round(math.sqrt(low * high))
            if target.width(known, m, max(middle, fewest), _QUICK) <= target.half_width:
                high = max(middle, fewest)
            else:
                low = middle
            if high == fewest:
                break
        width = target.width(known, m, high)
        while width > target.half_width and high < top:
            high = min(top, math.ceil(high * 1.02))
            width = target.width(known, m, high)
        return AgreementDesign(m, high, width, least, target.cost(m, high), these)

    return tuple(of(m) for m in raters)


def cheapest(found: Sequence[AgreementDesign]) -> AgreementDesign | None:
    """The one of least cost; None where none does."""
    possible = [one for one in found if one.cost is not None]
    return min(possible, key=lambda one: (one.cost, one.n_raters)) if possible else None
