"""Half-widths of kappa, AC1 and nominal alpha in studies of a size, from tables drawn by a latent scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons.agreement.categories import OnCategories, interval_on_atanh, on_categories
from humeval_power.roots import root_between

Floats = NDArray[np.float64]

MOST_DRAWN = 1_000  # outputs of a drawn table; more are between these and outputs without end
_STUDIES, _FEWEST_STUDIES = 100, 12  # tables of a size, at most and at least
_RATINGS = 80  # of all tables of a size, for each study that a plan of mean squares would draw
_STUDIES_LEFT = 300  # with outputs without end
_NODES = 60
_FAR = 1e-9


@dataclass(frozen=True, slots=True)
class ExpectedCategories:
    """What is expected of ratings in categories: a coefficient, its value, the shares of the categories.

    A rating is what cuts make of a normal sum of output, rater's level and error, with cuts that give the shares.
    `rater_share` is that of levels in the variance of the sum; that of outputs follows from the coefficient, which
    two raters have who are drawn at random.
    """

    measure: OnCategories
    agreement: float
    rater_share: float
    shares: tuple[float, ...]

    @property
    def output_share(self) -> float:
        """Of the variance of the sum; NaN where no share gives so much agreement."""
        most = 1 - self.rater_share

        def beyond(share: float) -> float:
            return coefficient(self.measure, equal_ratings(share, self.cuts), self.shares) - self.agreement

        if not beyond(most - _FAR) >= 0 >= beyond(_FAR):
            return math.nan
        return root_between(beyond, _FAR, most - _FAR, xtol=1e-10)

    @property
    def error_share(self) -> float:
        """What is left of the variance of the sum."""
        return max(0.0, 1 - self.output_share - self.rater_share)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the most agreement that raters with these levels can have."""
        shares = _FAR, 1 - self.rater_share - _FAR
        low, high = (
            coefficient(self.measure, equal_ratings(one, self.cuts), self.shares) for one in shares
        )
        return low, high

    @property
    def cuts(self) -> Floats:
        """Of the sum, whose variance is 1."""
        return np.asarray(special.ndtri(np.cumsum(self.shares[:-1])))

    def half_widths(
        self,
        n_raters: int,
        n_outputs: int,
        *,
        ratings_per_output: int | None,
        confidence: float,
        seed: int,
        size: tuple[int, int],
    ) -> Floats:
        """Of the interval for other raters, in drawn studies.

        Their mean is put right by that of their raters with outputs without end, which is known from many more;
        beyond 1,000 outputs what their squares have above it goes with 1 / n. A study without an interval counts as
        a half-width of 1. NaN of two raters, who do not show how raters differ.
        """
        if n_raters < 3:
            return np.full(1, math.nan)
        drawn = min(n_outputs, MOST_DRAWN)
        n_ratings = _RATINGS * size[0]
        widths = _drawn_widths(self, n_raters, drawn, ratings_per_output, confidence, seed, n_ratings)[1]
        every = self.half_widths_left(n_raters, confidence=confidence, seed=seed)
        left = every[: len(widths)]
        if n_outputs > drawn:
            more = max(float((widths**2 - left**2).mean()), 0.0) * drawn / n_outputs
            return np.asarray(np.sqrt(every**2 + more))
        return np.asarray(np.maximum(widths + every.mean() - left.mean(), 0.0))

    def half_widths_left(self, n_raters: int, *, confidence: float, seed: int) -> Floats:
        """The same with outputs without end: raters' levels are drawn, all else is integrated."""
        return _widths_left(self, n_raters, confidence, seed)

    def these_raters(self, per_output: int, half_width: float, confidence: float) -> int:
        """Outputs for the same width about these raters alone, whose interval narrows with the root of outputs."""
        drawn = MOST_DRAWN // 4
        widths = _drawn_widths(self, per_output, drawn, None, confidence, 1, 100 * drawn)[0]
        return math.ceil(drawn * (float(widths.mean()) / half_width) ** 2)


def equal_ratings(output_share: float, cuts: Floats) -> float:
    """The chance that two raters drawn at random give an output the same category."""
    node, weight = _nodes()
    return float(
        weight
        @ (_chances(node[:, None], 0.0, output_share, 1 - output_share, cuts) ** 2).sum(axis=-1)[:, 0]
    )


def coefficient(measure: OnCategories, equal: float, shares: Floats | tuple[float, ...]) -> float:
    """Kappa, nominal alpha or AC1 of many raters, from their share of equal ratings."""
    chance = _by_chance(measure, np.asarray(shares))
    return float((equal - chance) / (1 - chance))


def _by_chance(measure: OnCategories, shares: Floats) -> Floats:
    if measure == "ac1":
        return np.asarray((shares * (1 - shares)).sum(axis=-1) / (shares.shape[-1] - 1))
    return np.asarray((shares**2).sum(axis=-1))


def outputs_of_two_raters(kappa: float, share: float, half_width: float, confidence: float) -> float:
    """Outputs that two given raters need for kappa of yes and no (Bloch and Kraemer 1989).

    Optimistic where fewer than 20 of the outputs are of the rarer kind.
    """
    z = float(special.ndtri((1 + confidence) / 2))
    rest = 1 - kappa
    variance = rest * (rest * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * share * (1 - share)))
    return z**2 * variance / half_width**2


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    return node, weight / weight.sum()


def _chances(
    output: Floats, level: Floats | float, output_share: float, error: float, cuts: Floats
) -> Floats:
    """Of each category (..., q), given outputs and raters' levels."""
    place = output * math.sqrt(output_share) + level
    below = special.ndtr((cuts - place[..., None]) / math.sqrt(max(error, _FAR)))
    return np.diff(below, prepend=0.0, append=1.0, axis=-1)


@lru_cache(maxsize=512)
def _drawn_widths(
    known: ExpectedCategories,
    m: int,
    n: int,
    per_output: int | None,
    confidence: float,
    seed: int,
    ratings: int,
) -> tuple[Floats, Floats]:
    """Half-widths for these and for other raters, (n_studies,) each."""
    k = min(per_output or m, m)
    n_studies = int(np.clip(ratings // (n * k), _FEWEST_STUDIES, _STUDIES))
    share, error, cuts = known.output_share, known.error_share, known.cuts
    output, widths = np.repeat(np.arange(n), k), np.empty((2, n_studies))
    for study in range(n_studies):
        rng = np.random.default_rng([seed, study])
        level = rng.normal(size=m) * math.sqrt(known.rater_share)  # first, as with outputs without end
        rater = np.tile(np.arange(m), n)
        if k < m:
            rater = np.argsort(rng.random((n, m)), axis=1)[:, :k].ravel()
        value = (rng.normal(size=n) * math.sqrt(share))[output] + level[rater]
        category = np.digitize(value + rng.normal(size=n * k) * math.sqrt(error), cuts)
        raters = np.unique(rater, return_inverse=True)[1]
        both = on_categories(output, raters, category, confidence=confidence)[known.measure]
        widths[:, study] = [(one.high - one.low) / 2 for one in both]
    widths = np.where(np.isnan(widths), 1.0, widths)
    return widths[0], widths[1]


@lru_cache(maxsize=256)
def _widths_left(known: ExpectedCategories, m: int, confidence: float, seed: int) -> Floats:
    if m < 3:
        return np.full(_STUDIES_LEFT, math.nan)
    node, weight = _nodes()
    share, error, cuts = known.output_share, known.error_share, known.cuts
    widths = np.empty(_STUDIES_LEFT)
    for study in range(_STUDIES_LEFT):
        level = np.random.default_rng([seed, study]).normal(size=m) * math.sqrt(known.rater_share)
        chance = _chances(node[:, None], level, share, error, cuts)  # (nodes, m, q)
        own = np.einsum("x,xmq->mq", weight, chance)
        # of all raters, and without each of them
        n = np.concatenate([[m], np.full(m, m - 1)])
        totals, squares, marginal, marginals = (
            np.concatenate(
                [one.sum(axis=-2, keepdims=True), one.sum(axis=-2, keepdims=True) - one], axis=-2
            )
            for one in (chance, chance**2, own, own**2)
        )
        pairs = n * (n - 1)
        equal = weight @ (totals**2 - squares).sum(axis=-1) / pairs
        by_chance = _by_chance(known.measure, marginal / n[:, None])
        if known.measure == "kappa":  # of pairs of raters
            by_chance = (marginal**2 - marginals).sum(axis=-1) / pairs
        value = (equal - by_chance) / (1 - by_chance)
        variance = (m - 1) ** 2 / m * float(value[1:].var())
        low, high = interval_on_atanh(float(value[0]), variance, m - 1, confidence)
        widths[study] = (high - low) / 2
    return widths
