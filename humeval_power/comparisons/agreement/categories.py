"""Agreement on categories: kappa, Gwet's AC1, nominal alpha, equal ratings; intervals by two jackknives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.agreement.strata import ALL_AGREE, NO_PAIRS, ONE_CATEGORY
from humeval_power.inference.item_bootstrap import Measure, undefined

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
OnCategories = Literal["kappa", "ac1", "alpha_nominal", "equal"]
MOST_CATEGORIES = 11

TWO_RATERS = "two raters do not show how raters differ"
TOO_FEW = "too few outputs or raters for an interval"


class BothClaims(NamedTuple):
    """A measure with its interval for these raters on other outputs, and for other raters on other outputs."""

    these: Measure
    other: Measure


class _AgreementSums(NamedTuple):
    """What the four values are made of; entries of each row belong to one set of ratings.

    share : sum over outputs of the share of equal pairs. n_shared, n_rated : outputs with two ratings, with any.
    categories : (r, q), sum over outputs of the shares of categories. unequal : disagreement of alpha.
    counts : (r, q), ratings of outputs that two rated.
    marginal, squared : (r, q), sums over raters of their shares of categories, and of the squares. n_raters.
    """

    share: Floats
    n_shared: Floats
    n_rated: Floats
    categories: Floats
    unequal: Floats
    counts: Floats
    marginal: Floats
    squared: Floats
    n_raters: Floats


def on_categories(
    output: Codes, rater: Codes, category: Codes, *, confidence: float = DEFAULT_CONFIDENCE
) -> Mapping[OnCategories, BothClaims]:
    """Kappa (Cohen's of two raters, Conger's of more), AC1, nominal alpha, and the share of equal pairs.

    As Gwet (2014) defines them with ratings missing. For these raters the variance is that of outputs left out
    one at a time; for other raters that of raters left out one at a time is added, with Satterthwaite's df;
    intervals are symmetric on the atanh scale. output, rater, category : (n_ratings,), codes from 0, each rater
    and output once.
    """
    if not len(output):
        none = undefined(NO_PAIRS)
        return dict.fromkeys(get_args(OnCategories), BothClaims(none, none))
    n, m, q = (int(one.max(initial=-1)) + 1 for one in (output, rater, category))
    whole, by_output, by_rater = _leaving_out(output, rater, category, n, m, q)
    values, of_outputs, of_raters = map(_values, (whole, by_output, by_rater))
    claims: dict[OnCategories, BothClaims] = {}
    for name, value in values.items():
        if not math.isfinite(value[0]):
            none = undefined(ONE_CATEGORY)
            claims[name] = BothClaims(none, none)
            continue
        parts = [_spread(of_outputs[name]), _spread(of_raters[name])]
        these = _measure(float(value[0]), parts[:1], (n - 1,), confidence, is_share=name == "equal")
        other = _measure(float(value[0]), parts, (n - 1, m - 1), confidence, is_share=name == "equal")
        if m == 2:
            other = Measure(other.value, math.nan, math.nan, TWO_RATERS)
        claims[name] = BothClaims(these, other)
    return claims


def alpha_of_peaked(
    output: Codes, rater: Codes, score: Floats, *, confidence: float = DEFAULT_CONFIDENCE
) -> Measure:
    """The interval alpha of scores for other raters, by the same two jackknives; mid-ranks stay those of all.

    Where one value is half of the ratings or more its interval holds, and that of draws of mean squares does not.
    """
    n, m = int(output.max(initial=-1)) + 1, int(rater.max(initial=-1)) + 1
    value, of_outputs, of_raters = alpha_leaving_out(output, rater, score, n, m)
    if not math.isfinite(value):
        return undefined(ONE_CATEGORY if n else NO_PAIRS)
    if m == 2:
        return Measure(value, math.nan, math.nan, TWO_RATERS)
    parts = [_spread(of_outputs), _spread(of_raters)]
    return _measure(value, parts, (n - 1, m - 1), confidence, is_share=False)


def alpha_leaving_out(
    output: Codes, rater: Codes, score: Floats, n: int, m: int
) -> tuple[float, Floats, Floats]:
    """The interval alpha, without each output (n,), and without each rater (m,); each output has two ratings."""
    y = score - score.mean() if len(score) else score
    size, total, squares = (np.asarray(np.bincount(output, one, n), float) for one in (y * 0 + 1, y, y**2))

    def unequal(k: Floats, s: Floats, q: Floats) -> Floats:
        return np.asarray(
            np.where(k > 1, k * (q - s**2 / np.maximum(k, 1)) / np.maximum(k - 1, 1), 0.0), dtype=np.float64
        )

    def alpha(within: Floats, k: Floats, s: Floats, q: Floats) -> Floats:
        expected = k * (q - s**2 / np.maximum(k, 1))
        known = expected > 1e-12 * k * float(squares.sum())
        return np.asarray(1 - within * (k - 1) / np.where(known, expected, np.nan))

    own = unequal(size, total, squares)
    every = np.array([len(y)]), np.array([0.0]), squares.sum(keepdims=True)
    k, s, q = size[output] - 1, total[output] - y, squares[output] - y**2
    alone = k == 1  # what is left of an output counts no more
    gone = 1.0 + alone, y + np.where(alone, s, 0.0), y**2 + np.where(alone, q, 0.0)
    of_rater = [np.bincount(rater, one, m) for one in (unequal(k, s, q) - own[output], *gone)]
    whole = alpha(own.sum(keepdims=True), *every)
    by_output = alpha(own.sum() - own, *(a - b for a, b in zip(every, (size, total, squares), strict=True)))
    by_rater = alpha(own.sum() + of_rater[0], *(a - b for a, b in zip(every, of_rater[1:], strict=True)))
    return float(whole[0]), by_output, by_rater


def _leaving_out(
    output: Codes, rater: Codes, category: Codes, n: int, m: int, q: int
) -> tuple[_AgreementSums, _AgreementSums, _AgreementSums]:
    """The sums of all ratings, without each output, and without each rater."""
    table, of_rater, own = np.zeros((n, q)), np.zeros((m, q)), np.zeros((len(output), q))
    np.add.at(table, (output, category), 1.0)
    np.add.at(of_rater, (rater, category), 1.0)
    own[np.arange(len(output)), category] = 1.0
    ratings_of = of_rater.sum(axis=1)
    p = of_rater / np.maximum(ratings_of, 1)[:, None]
    parts = _of_outputs(table)
    by_rater = p, p**2, (ratings_of > 0).astype(float)
    whole = _AgreementSums._make(one.sum(axis=0, keepdims=True) for one in (*parts, *by_rater))
    left = ratings_of[rater] - 1
    p_left = (of_rater[rater] - own) / np.maximum(left, 1)[:, None]
    moved, moved_squares = (_added(output, p_left**k - p[rater] ** k, n) for k in (1, 2))
    of_less = zip(
        whole, _of_outputs(table[output] - own), parts, strict=False
    )  # without one of its ratings
    without_output = (
        *(every - one for every, one in zip(whole, parts, strict=False)),
        whole.marginal + moved,
        whole.squared + moved_squares,
        whole.n_raters - np.bincount(output, left == 0, n),
    )
    without_rater = (
        *(every + _added(rater, fewer - one[output], m) for every, fewer, one in of_less),
        whole.marginal - p,
        whole.squared - p**2,
        whole.n_raters - 1,
    )
    return whole, _AgreementSums._make(without_output), _AgreementSums._make(without_rater)


def _of_outputs(table: Floats) -> tuple[Floats, ...]:
    """What each output, a row of ratings by category, adds to the first six sums."""
    size = table.sum(axis=1)
    shared = size > 1
    pairs, squares = (table * (table - 1)).sum(axis=1), (table**2).sum(axis=1)
    return (
        np.divide(pairs, size * (size - 1), out=np.zeros(len(table)), where=shared),
        shared.astype(float),
        (size > 0).astype(float),
        table / np.maximum(size, 1)[:, None],
        np.divide(size**2 - squares, size - 1, out=np.zeros(len(table)), where=shared),
        np.where(shared[:, None], table, 0.0),
    )


def _added(place: Codes, rows: Floats, n: int) -> Floats:
    """The sums of rows by their place, (n,) or (n, q)."""
    if rows.ndim == 1:
        return np.asarray(np.bincount(place, rows, n), dtype=np.float64)
    return np.stack([np.bincount(place, column, n) for column in rows.T], axis=1)


def _values(sums: _AgreementSums) -> dict[OnCategories, Floats]:
    """The four values of each row, NaN where not defined."""
    q = sums.categories.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        equal = sums.share / sums.n_shared
        shares = sums.categories / sums.n_rated[:, None]
        by_chance = (shares * (1 - shares)).sum(axis=1) / (q - 1) if q > 1 else np.zeros(len(equal))
        m = sums.n_raters
        of_pairs = (sums.marginal**2 - sums.squared).sum(axis=1) / (m * (m - 1))
        n = sums.counts.sum(axis=1)
        expected = (n**2 - (sums.counts**2).sum(axis=1)) / (n - 1)
        kappa = np.where(of_pairs < 1 - 1e-12, (equal - of_pairs) / (1 - of_pairs), np.nan)
        alpha = np.where(expected > 1e-9, 1 - sums.unequal / expected, np.nan)
        return {
            "kappa": kappa,
            "ac1": (equal - by_chance) / (1 - by_chance),
            "alpha_nominal": alpha,
            "equal": equal,
        }


def _spread(without: Floats) -> float:
    """The jackknife's variance from values that leave one out."""
    n = len(without)
    return float((n - 1) / n * ((without - without.mean()) ** 2).sum())


def _measure(
    value: float,
    parts: list[float],
    df: tuple[int, ...],
    confidence: float,
    *,
    is_share: bool,
) -> Measure:
    c = 2 * value - 1 if is_share else value
    parts = [4 * part for part in parts] if is_share else parts
    variance = sum(parts)
    if abs(c) >= 1 - 1e-12:
        return Measure(value, math.nan, math.nan, ALL_AGREE if c > 0 else TOO_FEW)
    if not math.isfinite(variance) or not variance > 0:
        return Measure(value, math.nan, math.nan, TOO_FEW)
    degrees = variance**2 / sum(part**2 / one for part, one in zip(parts, df, strict=True))
    low, high = interval_on_atanh(c, variance, degrees, confidence)
    return Measure(value, (low + 1) / 2, (high + 1) / 2) if is_share else Measure(value, low, high)


def interval_on_atanh(value: float, variance: float, df: float, confidence: float) -> tuple[float, float]:
    """The ends of an interval that is symmetric on that scale."""
    reach = float(special.stdtrit(df, (1 + confidence) / 2)) * math.sqrt(variance) / (1 - value * value)
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
