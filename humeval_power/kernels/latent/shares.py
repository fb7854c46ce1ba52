"""From shares of categories and covariances of scores back to a latent variable.

With a probit link only the sum u = (eta + e) / sqrt(1 + V) of a rating counts, V being the variance of eta: its
thresholds follow from the shares, and each covariance of two scores is a rising function of the correlation of
their u (`score_covariance`, Plackett 1954), so that every step is a root in one dimension. With a logit link V
is a further unknown: that at which the correlations of eta add up to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from scipy import optimize, special

from humeval_power.kernels.latent.moments import (
    Floats,
    Scores,
    category_shares,
    score_covariance,
    score_moments,
    step_moments,
)

Part = Literal["intercept", "slope"]
_MOST = 1.0 - 1e-9  # correlation of two ratings that share everything
_LARGEST_DIFFERENCE = 30.0  # of the systems, in standard deviations of u
_LEAST_VARIANCE, _LARGEST_VARIANCE = 1e-10, 2500.0  # of eta with a logit link


class Observed(NamedTuple):
    """Variances on [0, 1] of one factor: of its intercepts and of its differences B - A."""

    intercept: float
    slope: float


class NoSolutionError(Exception):
    """There is no latent variable of these shares and variances.

    `factor` and `part` name a variance that is too small beside the others, and `least` its smallest value;
    without a factor the variances together are too large.
    """

    def __init__(self, factor: str = "", part: Part = "slope", least: float = 0.0) -> None:
        super().__init__(factor, part, least)
        self.factor, self.part, self.least = factor, part, least


class SolvedShares(NamedTuple):
    """Thresholds, effect and variances (intercept, slope) by factor on the latent scale."""

    thresholds: Floats
    effect: float
    variances: Mapping[str, tuple[float, float]]


class _Systems(NamedTuple):
    """The scores of both systems, and the thresholds and the difference they come from."""

    a: Scores
    b: Scores
    thresholds: Floats
    effect: float


def latent_of_shares(
    shares: Floats,
    scores: Floats,
    difference: float,
    observed: Mapping[str, Observed],
    *,
    logit: bool,
) -> SolvedShares:
    """The latent variable whose shares, averaged over both systems, and variances on [0, 1] are these.

    observed : by factor; a factor 'document' lies above 'item', and every item belongs to one.

    Raises
    ------
    NoSolutionError
        There is none.
    """
    below = np.cumsum(shares)[:-1]
    if not logit:
        systems = _systems(below, scores, difference, 0.0, logit=False)
        correlations = _correlations(systems, observed)
        total = _total(correlations)
        if total >= _MOST:
            raise NoSolutionError
        variance = total / (1.0 - total)
        scale = np.sqrt(1.0 + variance)
        return SolvedShares(
            systems.thresholds * scale, systems.effect * float(scale), _parts(correlations, 1.0 + variance)
        )

    def excess(log_variance: float) -> float:
        systems = _systems(below, scores, difference, float(np.exp(log_variance)), logit=True)
        return _total(_correlations(systems, observed, beyond=True)) - 1.0

    low, high = np.log(_LEAST_VARIANCE), np.log(_LARGEST_VARIANCE)
    if not any(each.intercept or each.slope for each in observed.values()):
        systems = _systems(below, scores, difference, 0.0, logit=True)
        return SolvedShares(systems.thresholds, systems.effect, dict.fromkeys(observed, (0.0, 0.0)))
    if excess(high) >= 0:
        raise NoSolutionError
    variance = float(np.exp(optimize.brentq(excess, low, high, xtol=1e-13)))
    systems = _systems(below, scores, difference, variance, logit=True)
    return SolvedShares(
        systems.thresholds, systems.effect, _parts(_correlations(systems, observed, beyond=True), variance)
    )


def _systems(below: Floats, scores: Floats, difference: float, variance: float, *, logit: bool) -> _Systems:
    """The thresholds and the latent difference at which both systems together have these cumulative shares
    and differ by `difference`, for a given variance of eta (probit, variance 0: of u)."""

    def thresholds(effect: float) -> Floats:
        return _thresholds(below, effect, variance, logit=logit)

    def gap(effect: float) -> float:
        places = thresholds(effect)
        first, second = (
            category_shares(side * effect, variance, places, logit=logit) @ scores for side in (-0.5, 0.5)
        )
        return float(second - first) - difference

    effect = 0.0
    if difference:
        reach = float(np.copysign(_LARGEST_DIFFERENCE * np.sqrt(1.0 + variance), difference))
        if gap(reach) * difference <= 0:
            raise NoSolutionError("effect", least=gap(reach) + difference)
        low, high = sorted((0.0, reach))
        effect = float(optimize.brentq(gap, low, high, xtol=1e-14))
    places = thresholds(effect)
    if logit:
        sides = [score_moments(side * effect, variance, places, scores, logit=True) for side in (-0.5, 0.5)]
    else:
        sides = [step_moments(places - side * effect, scores) for side in (-0.5, 0.5)]
    return _Systems(sides[0], sides[1], places, effect)


def _thresholds(below: Floats, effect: float, variance: float, *, logit: bool) -> Floats:
    """Where the mean of both systems' cumulative shares is `below`: bisection of all of them at once."""

    def cumulative(places: Floats) -> Floats:
        sides = [
            np.cumsum(category_shares(side * effect, variance, places, logit=logit))[:-1]
            for side in (-0.5, 0.5)
        ]
        return np.asarray((sides[0] + sides[1]) / 2)

    spread = np.sqrt(variance + (np.pi**2 / 3 if logit else 1.0))
    centre = (special.logit if logit else special.ndtri)(below) * spread
    if effect == 0 and (not logit or variance == 0):
        return np.asarray(special.logit(below) if logit else special.ndtri(below) * spread)
    reach = abs(effect) + 2.0 * spread
    low, high = centre - reach, centre + reach
    for _ in range(60):
        middle = (low + high) / 2
        under = cumulative(middle) < below
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.asarray((low + high) / 2)


def _correlations(
    systems: _Systems, observed: Mapping[str, Observed], *, beyond: bool = False
) -> dict[str, tuple[float, float]]:
    """Correlations by factor of two ratings that share it, under the same system and under different ones.

    beyond : let a correlation exceed 1, for a search, rather than refuse
    """
    correlations: dict[str, tuple[float, float]] = {}
    for factor, own in observed.items():
        if factor == "item":
            continue
        correlations[factor] = _of_factor(systems, factor, own, beyond=beyond)
    # an item is met with its document: what both make is known, and the document's share of it
    document = observed.get("document", Observed(0.0, 0.0))
    item = observed["item"]
    if item.intercept or item.slope:
        both = Observed(item.intercept + document.intercept, item.slope + document.slope)
        same, across = _of_factor(systems, "item", both, beyond=beyond)
        base = correlations.get("document", (0.0, 0.0))
        correlations["item"] = same - base[0], across - base[1]
    else:
        correlations["item"] = 0.0, 0.0
    return correlations


def _of_factor(systems: _Systems, factor: str, own: Observed, *, beyond: bool) -> tuple[float, float]:
    a, b = systems.a, systems.b

    def same(r: float) -> float:
        return (score_covariance(a, a, r) + score_covariance(b, b, r)) / 2

    def across(r: float) -> float:
        return score_covariance(a, b, r)

    def root(function: Callable[[float], float], target: float, least: float) -> float:
        if function(_MOST) <= target:
            if beyond:
                return 1.0 + (target - function(_MOST)) / max(function(_MOST), 1e-300)
            raise NoSolutionError
        return float(optimize.brentq(lambda r: function(r) - target, least, _MOST, xtol=1e-15))

    if not own.intercept and not own.slope:
        return 0.0, 0.0
    if not own.slope:
        r = root(lambda r: (same(r) + across(r)) / 2, own.intercept, 0.0)
        return r, r
    if not own.intercept:
        r = root(lambda r: 2 * (same(r) - across(-r)), own.slope, 0.0)
        return r, -r
    alike = root(same, own.intercept + own.slope / 4, 0.0)
    target = own.intercept - own.slope / 4
    reach = min(alike, _MOST)
    if alike < 1 and target >= across(reach):
        raise NoSolutionError(factor, "slope", 2 * (same(reach) - across(reach)))
    if alike < 1 and target <= across(-reach):
        raise NoSolutionError(factor, "intercept", (same(reach) + across(-reach)) / 2)
    if not across(-reach) < target < across(reach):  # in a search beyond 1
        return alike, float(np.copysign(alike, target))
    return alike, float(optimize.brentq(lambda r: across(r) - target, -reach, reach, xtol=1e-15))


def _total(values: Mapping[str, tuple[float, float]]) -> float:
    return sum(same for same, _ in values.values())


def _parts(values: Mapping[str, tuple[float, float]], variance: float) -> dict[str, tuple[float, float]]:
    """Variances of intercept and slope from covariances: same = w0 + w1 / 4, across = w0 - w1 / 4."""
    return {
        factor: (
            max(0.0, (same + across) / 2 * variance),
            max(0.0, 2 * (same - across) * variance),
        )
        for factor, (same, across) in values.items()
    }
