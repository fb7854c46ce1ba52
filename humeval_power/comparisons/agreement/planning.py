"""How many raters and outputs let agreement be known to within a width; no data are drawn, only mean squares.

Half-widths of kappa, AC1 and nominal alpha in studies of a size, from tables drawn by a latent scale.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE, MOST_OUTPUTS, MOST_RATERS
from humeval_power.comparisons.agreement.agreement import OnCategories, interval_on_atanh, on_categories
from humeval_power.comparisons.agreement.strata import half_widths_left, variances
from humeval_power.parameters import Parameters
from humeval_power.roots import root_between

Floats = NDArray[np.float64]

MOST_DRAWN = 1_000  # outputs of a drawn table; more are between these and outputs without end
_FEW_STUDIES, _FEWEST_STUDIES = 100, 12  # tables of a size, at most and at least
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
    n_studies = int(np.clip(ratings // (n * k), _FEWEST_STUDIES, _FEW_STUDIES))
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


_STUDIES, _DRAWS = 300, 1_500
_QUICK = (150, 800)  # while numbers are searched
_IN_TAILS = 40  # draws outside of an interval, on average
_TOGETHER = 2_000_000  # draws of all studies that are held at once
FEWEST_OUTPUTS = 10  # that are tried


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
        self,
        n_raters: int,
        n_outputs: int,
        *,
        ratings_per_output: int | None,
        confidence: float,
        seed: int,
        size: tuple[int, int],
    ) -> Floats:
        """Of the interval for other raters, in `size` studies of as many draws."""
        return half_widths(
            self,
            n_raters,
            n_outputs,
            ratings_per_output=ratings_per_output,
            confidence=confidence,
            seed=seed,
            n_studies=size[0],
            n_draws=size[1],
        )

    def half_widths_left(self, n_raters: int, *, confidence: float, seed: int) -> Floats:  # noqa: ARG002
        """The same with outputs without end."""
        shares = self.agreement, self.rater_share, self.error_share
        return half_widths_left(*shares, n_raters - 1, confidence=confidence)

    def these_raters(self, per_output: int, half_width: float, confidence: float) -> int:
        """Outputs for the same width about these raters alone, by ICC(3,1)."""
        return bonett_outputs(self, per_output, half_width, confidence)


def half_widths(
    known: Reliability,
    n_raters: int,
    n_outputs: int,
    *,
    ratings_per_output: int | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 1,
    n_studies: int = _STUDIES,
    n_draws: int = _DRAWS,
) -> Floats:
    """Half-widths of the interval of ICC(2,1) in studies of this size, (n_studies,).

    Mean squares are drawn from their chi-squares, and in each study generalised pivotal draws give the interval as
    `correlations` does; of more than `n_draws` where fewer than 40 would lie outside. With fewer ratings of an
    output than raters it is approximate, as the interval is. NaN where these are too few to tell raters and outputs
    from error.
    """
    n_draws = max(n_draws, math.ceil(_IN_TAILS / (1 - confidence)))
    k = n_raters if ratings_per_output is None else ratings_per_output
    total = n_outputs * k
    df = n_outputs - 1, n_raters - 1, total - n_outputs - n_raters + 1
    if min(df) < 1:
        return np.full(n_studies, np.nan)
    per_output, per_rater = (total - n_raters) / df[0], (total - n_outputs) / df[1]
    error = known.error_share
    expected = error + per_output * known.agreement, error + per_rater * known.rater_share, error
    rng = np.random.default_rng(seed)
    squares = [
        (value * rng.chisquare(d, n_studies)[:, None], rng.chisquare(d, n_draws))
        for value, d in zip(expected, df, strict=True)
    ]
    ends = [round((n_draws - 1) * p) for p in ((1 - confidence) / 2, (1 + confidence) / 2)]
    step = max(1, _TOGETHER // n_draws)
    values = np.empty(n_studies)
    for first in range(0, n_studies, step):
        some = slice(first, first + step)
        drawn = variances(
            *(of_study[some] / of_draw for of_study, of_draw in squares),
            per_output=per_output,
            per_rater=per_rater,
        )
        share = np.partition(drawn[0] / sum(drawn), ends, axis=1)
        values[some] = (share[:, ends[1]] - share[:, ends[0]]) / 2
    return values


def bonett_outputs(known: Reliability, per_output: int, half_width: float, confidence: float) -> int:
    """Outputs for ICC(3,1), the consistency of these raters, to within `half_width` (Bonett 2002).

    per_output : ratings of each.
    """
    z, k = float(special.ndtri((1 + confidence) / 2)), per_output
    rho = known.agreement / max(known.agreement + known.error_share, np.finfo(float).tiny)
    outputs = (
        8 * z**2 * (1 - rho) ** 2 * (1 + (k - 1) * rho) ** 2 / (k * (k - 1) * (2 * half_width) ** 2) + 1
    )
    return math.ceil(outputs)


Expected = Reliability | ExpectedCategories


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
    confidence: float = DEFAULT_CONFIDENCE
    assurance: float | None = None
    ratings_per_output: int | None = None
    most_outputs: int = MOST_OUTPUTS
    cost_per_rating: float = 1.0
    cost_per_rater: float = 0.0
    cost_per_output: float = 0.0
    seed: int = 1

    def reached(self, widths: Floats) -> float:
        """The half-width that counts."""
        return float(widths.mean() if self.assurance is None else np.quantile(widths, self.assurance))

    def width(
        self, known: Expected, n_raters: int, n_outputs: int, size: tuple[int, int] = (_STUDIES, _DRAWS)
    ) -> float:
        """The same of a size."""
        widths = known.half_widths(
            n_raters,
            n_outputs,
            ratings_per_output=self.ratings_per_output,
            confidence=self.confidence,
            seed=self.seed,
            size=size,
        )
        return self.reached(widths)

    def floor(self, known: Expected, n_raters: int) -> float:
        """The same with outputs without end."""
        return self.reached(known.half_widths_left(n_raters, confidence=self.confidence, seed=self.seed))

    def cost(self, n_raters: int, n_outputs: int) -> float:
        """Of all ratings, raters and outputs."""
        ratings = n_outputs * (self.ratings_per_output or n_raters)
        return (
            ratings * self.cost_per_rating
            + n_raters * self.cost_per_rater
            + n_outputs * self.cost_per_output
        )


def designs(known: Expected, target: AgreementTarget, raters: Sequence[int]) -> tuple[AgreementDesign, ...]:
    """For each number of raters the fewest outputs that reach the width."""

    def of(m: int) -> AgreementDesign:
        least, top = target.floor(known, m), target.most_outputs
        these = known.these_raters(target.ratings_per_output or m, target.half_width, target.confidence)
        none = AgreementDesign(m, None, math.nan, least, None, these)
        if not least <= target.half_width or not target.width(known, m, top, _QUICK) <= target.half_width:
            return none
        low, high = FEWEST_OUTPUTS - 1, top
        while high - low > max(1, low // 50):
            middle = (low + high) // 2 if low < FEWEST_OUTPUTS else round(math.sqrt(low * high))
            if target.width(known, m, middle, _QUICK) <= target.half_width:
                high = middle
            else:
                low = middle
        width = target.width(known, m, high)
        while not width <= target.half_width and high < top:
            high = min(top, math.ceil(high * 1.02))
            width = target.width(known, m, high)
        if not width <= target.half_width:
            return none
        return AgreementDesign(m, high, width, least, target.cost(m, high), these)

    return tuple(of(m) for m in raters)


def least_raters(known: Expected, target: AgreementTarget) -> int | None:
    """The fewest raters whose agreement is known to within the width with outputs without end; None: too many."""
    numbers = range(target.ratings_per_output or 2, MOST_RATERS + 1)
    place = bisect_left(numbers, True, key=lambda m: target.floor(known, m) <= target.half_width)
    return numbers[place] if place < len(numbers) else None


def cheapest(designs: Sequence[AgreementDesign]) -> AgreementDesign | None:
    """The one of least cost; None where none does."""
    possible = [one for one in designs if one.cost is not None]
    return min(possible, key=lambda one: (one.cost, one.n_raters)) if possible else None


# How reliably a study orders systems, and knows their levels, as raters, items, documents and ratings grow.


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetSizes:
    """Raters, items, ratings of an item under each system, and documents; math.inf for facets without end.

    ratings_per_item : by different raters; None: every rater rates every item. n_documents : None without them.
    """

    n_raters: float
    n_items: float
    ratings_per_item: float | None = None
    n_documents: float | None = None

    @property
    def per_item(self) -> float:
        """Ratings of an item under each system."""
        return self.n_raters if self.ratings_per_item is None else self.ratings_per_item


def relative_error(parameters: Parameters, size: FacetSizes) -> float:
    """Variance with which a system's mean errs among systems: half of that of a difference (Brennan 2001).

    Levels of raters and items are the same for all systems and drop out.
    """
    of = parameters
    documents = 0.0 if size.n_documents is None else of.sd_document_slope**2 / size.n_documents
    ratings = size.n_items * size.per_item
    difference = (
        of.sd_worker_slope**2 / size.n_raters
        + of.sd_item_slope**2 / size.n_items
        + documents
        + 2 * of.sd_residual**2 / ratings
    )
    return difference / 2


def absolute_error(parameters: Parameters, size: FacetSizes) -> float:
    """Variance of a system's mean as a level, with other raters, items and documents."""
    of = parameters
    documents = (
        0.0
        if size.n_documents is None
        else (of.sd_document_intercept**2 + of.sd_document_slope**2 / 4) / size.n_documents
    )
    return (
        (of.sd_worker_intercept**2 + of.sd_worker_slope**2 / 4) / size.n_raters
        + (of.sd_item_intercept**2 + of.sd_item_slope**2 / 4) / size.n_items
        + documents
        + (of.sd_worker_item**2 + of.sd_residual**2) / (size.n_items * size.per_item)
    )


@dataclass(frozen=True, slots=True)
class Generalisability:
    """What a study of this size can tell of systems whose true means have the variance `between`.

    ranking : E rho^2, of their order; levels : Phi, of their levels. pair_right : the probability that two systems
    are put in the right order, tau : the expected Kendall correlation with the true order, tau_again : that of two
    independent studies of this size; all three of systems whose true means are normal.
    """

    size: FacetSizes
    between: float
    relative: float
    absolute: float

    @property
    def ranking(self) -> float:
        return _share(self.between, self.relative)

    @property
    def levels(self) -> float:
        return _share(self.between, self.absolute)

    def right_for(self, difference: float) -> float:
        """The probability that two given systems, that differ by this, are put in the right order."""
        return 0.5 + 0.5 * math.erf(difference / math.sqrt(4 * self.relative)) if self.relative > 0 else 1.0

    @property
    def pair_right(self) -> float:
        return 0.5 + math.asin(math.sqrt(self.ranking)) / math.pi

    @property
    def tau(self) -> float:
        return 2 / math.pi * math.asin(math.sqrt(self.ranking))

    @property
    def tau_again(self) -> float:
        return 2 / math.pi * math.asin(self.ranking)


def _share(between: float, error: float) -> float:
    return between / (between + error) if between + error > 0 else math.nan


def generalisability(parameters: Parameters, between: float, size: FacetSizes) -> Generalisability:
    """The coefficients of one size; `between` is the variance of the systems' true means, on [0, 1] squared."""
    return Generalisability(
        size, between, relative_error(parameters, size), absolute_error(parameters, size)
    )


def variance_of_two(difference: float) -> float:
    """The variance between two given systems: half of the square of their difference."""
    return difference**2 / 2


def largest(found: Sequence[Generalisability]) -> Generalisability:
    """That of the size of most items and workers."""
    return max(found, key=lambda one: (one.size.n_items, one.size.n_raters))


def ceilings(parameters: Parameters, between: float, size: FacetSizes) -> Iterator[Generalisability]:
    """With raters without end, then with items (and documents) without end; each item has as many ratings as
    now, or one by every rater."""
    for change in (
        {"n_raters": math.inf},
        {"n_items": math.inf, "n_documents": None if size.n_documents is None else math.inf},
    ):
        yield generalisability(parameters, between, replace(size, **change))
