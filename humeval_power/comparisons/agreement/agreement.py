"""Agreement between workers: Krippendorff's alpha and shares of equal ratings, with bootstrap intervals.

Agreement on categories: kappa, Gwet's AC1, nominal alpha, equal ratings; intervals by two jackknives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.agreement.strata import (
    ALL_AGREE,
    N_DRAWS,
    NO_PAIRS,
    ONE_CATEGORY,
    correlations,
    two_way,
)
from humeval_power.inference.item_bootstrap import (
    DEFAULT_RESAMPLES,
    Counts,
    Measure,
    check_bootstrap,
    item_resamples,
    measure,
    measure_together,
    undefined,
)
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

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


# Krippendorff's alpha of many sets of weights at once: the sums that it needs, without pairs of ratings.

Level = Literal["interval", "ordinal"]

_NO_VARIANCE = 1e-12  # relative to the scores' size: sums of squares below this are rounding


class SharedRatings(NamedTuple):
    """Ratings of outputs that two workers or more have rated, one for each worker and output.

    output, worker, code : (n,), the output's number, the worker's (of those who are left, from 0), and the
    rating's place among `values` (sorted, distinct); size, item : (n_outputs,), number of ratings and the item of
    each output. system (n_outputs,), workers (n_workers,) : codes of the table.
    """

    output: Codes
    code: Codes
    values: Floats
    size: Codes
    item: Codes
    n_workers: int
    n_left_out: int
    worker: Codes
    system: Codes
    workers: Codes

    @property
    def n_others(self) -> int:
        """Ratings that are not the most frequent one."""
        return len(self.code) - int(np.bincount(self.code).max(initial=0))

    @property
    def is_peaked(self) -> bool:
        """Whether one value is half of the ratings or more, as of two values one always is."""
        return 2 * self.n_others <= len(self.code)

    def score(self, level: Level) -> Floats:
        """The ratings, or their mid-ranks, whose interval alpha is the alpha of that level; (n,)."""
        if level == "interval":
            return self.values[self.code]
        count = np.bincount(self.code, minlength=len(self.values))
        return np.asarray(np.cumsum(count) - count / 2)[self.code]


def krippendorff_alpha(shared: SharedRatings, weights: Floats, *, level: Level) -> float:
    """Krippendorff's alpha = 1 - observed / expected disagreement; NaN where nothing varies.

    With squared differences, m ratings of an output with sum of squares SS about their mean disagree by 2 m SS
    / (m - 1), and all n ratings by 2 SS / (n - 1). The ordinal metric of two values is the squared difference
    of their mid-ranks among all ratings, so it is the interval alpha of the mid-ranks. Source: Krippendorff
    (2004), Content Analysis, section 11.3; the two sums rearranged. weights : (n_outputs,), how often each
    output counts.
    """
    return float(alphas(shared, level)(weights[:, None])[0])


def alphas(shared: SharedRatings, level: Level) -> Callable[[Floats], Floats]:
    """The same as a function of weights (n_outputs, r), to (r,) values; what does not depend on them is computed
    once. Both sums of squares follow from how often each value occurs and from each output's sum of scores."""
    from scipy.sparse import csr_array

    if not len(shared.size):
        return lambda weights: np.full(weights.shape[1], np.nan)
    shape = (len(shared.size), len(shared.values))
    cells = csr_array((np.ones(len(shared.code)), (shared.output, shared.code)), shape=shape)
    of_values = csr_array(cells.T)
    penalised = csr_array(of_values * (shared.size / (shared.size - 1)))
    values = shared.values - shared.values.mean()

    def squared(score: Floats) -> Floats:
        return np.asarray(cells @ score) ** 2 / (shared.size - 1)[:, None]

    fixed = squared(values[:, None]) if level == "interval" else None

    def alpha(weights: Floats) -> Floats:
        count = np.asarray(of_values @ weights)
        if fixed is None:
            score = np.cumsum(count, axis=0) - count / 2
            score -= score[-1] / 2  # about their middle squares keep their digits
            own, largest = squared(score), np.abs(score).max(axis=0)
        else:
            score, own = values[:, None], fixed
            largest = np.abs(shared.values).max()
        n = count.sum(axis=0)
        squares = score**2
        total = (count * squares).sum(axis=0) - (count * score).sum(axis=0) ** 2 / np.maximum(n, 1)
        within = (np.asarray(penalised @ weights) * squares).sum(axis=0) - (weights * own).sum(axis=0)
        varies = total > _NO_VARIANCE * n * largest**2
        expected = np.where(varies, n * total, np.nan)
        return np.asarray(1 - (n - 1) * np.maximum(within, 0) / expected)

    return alpha


ALL_THE_SAME = f"{ONE_CATEGORY}, so that agreement by chance is complete too"
NO_POINTS = "the scale has no points to be one apart"
POOLED = "systems are taken together, so that their differences count as agreement"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far workers agree about the outputs (an item under a system) that at least two of them rated.

    `system` is None for all systems together, where differences between systems count as differences
    between outputs and raise alpha. `exact` and `within_one` are shares of the pairs of ratings of one
    output by two workers: equal, or at most one scale point apart. `n_repeats_left_out` counts further
    ratings of an output by the same worker; the first one counts. Their intervals are percentiles over items drawn
    again: they are about these workers.

    `many_interval` and `many_ordinal` are about other workers: what alpha is with many of them, ICC(2,1) of the
    ratings or of their mid-ranks with percentiles of generalised pivotal draws; where one value is half of the
    ratings or more it is alpha with the jackknives over outputs and over workers.
    """

    system: str | None
    n_workers: int
    n_outputs: int
    n_ratings: int
    n_pairs: int
    n_repeats_left_out: int
    alpha_interval: Measure
    alpha_ordinal: Measure
    exact: Measure
    within_one: Measure
    many_interval: Measure
    many_ordinal: Measure
    confidence: float
    n_resamples: int
    seed: int


def agreement(
    ratings: Ratings,
    *,
    n_resamples: int = DEFAULT_RESAMPLES,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
    systems: Sequence[int | None] | None = None,
) -> tuple[Agreement, ...]:
    """Agreement over all systems together, then within each system, in the order of their codes.

    systems : codes of those that are wanted, None being all together.
    """
    check_bootstrap(n_resamples, confidence)
    resamples = item_resamples(ratings.n_items, n_resamples=n_resamples, seed=seed)

    def of(system: int | None) -> Agreement:
        shared = shared_ratings(ratings, system=system)
        alpha = _alpha_measures(shared, resamples, confidence)
        share = _shares(ratings, shared, resamples, confidence)
        is_pooled = system is None and ratings.n_systems > 1
        many = {
            level: undefined(POOLED) if is_pooled else alpha_of_many(shared, level, confidence, seed)
            for level in get_args(Level)
        }
        return Agreement(
            system=None if system is None else ratings.system_names[system],
            n_workers=shared.n_workers,
            n_outputs=len(shared.size),
            n_ratings=len(shared.code),
            n_pairs=int((shared.size * (shared.size - 1) // 2).sum()),
            n_repeats_left_out=shared.n_left_out,
            alpha_interval=alpha["interval"],
            alpha_ordinal=alpha["ordinal"],
            exact=share["exact"],
            within_one=share["within_one"],
            many_interval=many["interval"],
            many_ordinal=many["ordinal"],
            confidence=confidence,
            n_resamples=n_resamples,
            seed=seed,
        )

    return tuple(map(of, (None, *range(ratings.n_systems)) if systems is None else systems))


def alpha_of_many(
    shared: SharedRatings, level: Level, confidence: float, seed: int, *, n_draws: int = N_DRAWS
) -> Measure:
    """What alpha would be with many workers, of whom these are a sample, with an interval that says so."""
    score = shared.score(level)
    if shared.is_peaked:
        return alpha_of_peaked(shared.output, shared.worker, score, confidence=confidence)
    table = two_way(shared.output, shared.worker, score)
    return correlations(table, confidence=confidence, seed=seed, n_draws=n_draws).other_raters


def leading_level(shared: SharedRatings) -> Level:
    """Ordinal where ratings take few values, interval of sliders."""
    return "ordinal" if len(shared.values) <= MOST_CATEGORIES else "interval"


def shared_ratings(ratings: Ratings, *, system: int | None = None) -> SharedRatings:
    """The first rating of each worker and output, where two workers or more rated the output."""
    chosen = np.arange(ratings.n_ratings) if system is None else np.flatnonzero(ratings.system == system)
    output = ratings.item[chosen] * np.int64(ratings.n_systems) + ratings.system[chosen]
    cells, first = np.unique(
        output * np.int64(ratings.n_workers) + ratings.worker[chosen], return_index=True
    )
    outputs, place, size = np.unique(cells // ratings.n_workers, return_inverse=True, return_counts=True)
    kept = size[place] > 1
    numbers = np.cumsum(size > 1) - 1
    values, code = np.unique(ratings.rating[chosen[first]][kept], return_inverse=True)
    workers, worker = np.unique(cells[kept] % ratings.n_workers, return_inverse=True)
    return SharedRatings(
        output=numbers[place[kept]],
        code=code.astype(np.int64),
        values=values,
        size=size[size > 1],
        item=outputs[size > 1] // ratings.n_systems,
        n_workers=len(workers),
        n_left_out=len(chosen) - len(cells),
        worker=worker.astype(np.int64),
        system=outputs[size > 1] % ratings.n_systems,
        workers=workers,
    )


def _alpha_measures(shared: SharedRatings, resamples: Counts, confidence: float) -> dict[Level, Measure]:
    def statistic(level: Level) -> Callable[[Floats], Floats]:
        alpha = alphas(shared, level)
        return lambda weights: alpha(weights[shared.item])

    reason = ALL_THE_SAME if len(shared.size) else NO_PAIRS
    levels: tuple[Level, ...] = ("interval", "ordinal")
    return {
        level: measure_together(statistic(level), resamples, confidence=confidence, reason=reason)
        for level in levels
    }


def _shares(
    ratings: Ratings, shared: SharedRatings, resamples: Counts, confidence: float
) -> dict[str, Measure]:
    """The shares of equal pairs and of pairs one point apart at most, or the reason for having none."""

    def of_items(pairs: Floats) -> Floats:
        return np.asarray(np.bincount(shared.item, pairs, ratings.n_items), dtype=np.float64)

    pairs = of_items(shared.size * (shared.size - 1) / 2)

    def measured(reach: float) -> Measure:
        near = of_items(near_pairs(shared, reach=reach))

        def share(weights: Floats) -> Floats:
            both = np.einsum("ki,ir->kr", np.stack([near, pairs]), weights)
            with np.errstate(invalid="ignore"):
                return np.asarray(both[0] / both[1])

        return measure_together(share, resamples, confidence=confidence, reason=NO_PAIRS)

    step = scale_step(ratings.scale)
    return {"exact": measured(0.0), "within_one": undefined(NO_POINTS) if step is None else measured(step)}


def scale_step(scale: RatingScale) -> float | None:
    """Distance of neighbouring points on [0, 1]; None on a continuous scale."""
    return None if scale.points is None else 1.0 / (scale.points - 1)


def near_pairs(shared: SharedRatings, *, reach: float) -> Floats:
    """Pairs of ratings of each output that lie at most `reach` apart, shape (n_outputs,)."""
    slack = 1e-9  # a third of a scale is not exactly representable
    low = np.searchsorted(shared.values, shared.values - reach - slack)
    high = np.searchsorted(shared.values, shared.values + reach + slack, side="right")
    base = shared.output * np.int64(len(shared.values))
    keys = np.sort(base + shared.code)
    near = np.searchsorted(keys, base + high[shared.code]) - np.searchsorted(keys, base + low[shared.code])
    # each rating is near itself, and each pair was counted from both ends
    return np.bincount(shared.output, near - 1, len(shared.size)) / 2


# Agreement of workers with themselves, from outputs that the same worker rated more than once.

NO_REPEATS = "no worker rated an output more than once"
NOTHING_VARIES = "the repeated ratings do not differ between outputs"


@dataclass(frozen=True, slots=True)
class Repeatability:
    """How well workers agree with themselves about an output (an item under a system).

    A cell is a worker, item and system with several ratings. `equal` and `mean_difference` (absolute, on
    [0, 1]; `mean_difference_raw` in raw units) average over the pairs within a cell, then over cells.
    `correlation` is Pearson's of first and second ratings in the order of the table; `icc` the one-way
    intraclass correlation ICC(1,1) of Shrout and Fleiss (1979), cells being the objects. Both take the
    cells of all workers together, so that differences between workers count as differences between
    cells. Intervals are percentiles over items drawn again. `system` is None for all systems.
    """

    system: str | None
    n_workers: int
    n_cells: int
    n_ratings: int
    equal: Measure
    mean_difference: Measure
    mean_difference_raw: Measure
    correlation: Measure
    icc: Measure
    confidence: float
    n_resamples: int
    seed: int


class AgreementCells(NamedTuple):
    """One entry for each cell: its item, number of ratings and their mean and sum of squares about it,
    share of equal pairs, mean absolute difference of pairs, first and second rating."""

    item: Codes
    size: Codes
    mean: Floats
    squares: Floats
    equal: Floats
    difference: Floats
    first: Floats
    second: Floats
    n_workers: int


def repeatability(
    ratings: Ratings,
    *,
    n_resamples: int = DEFAULT_RESAMPLES,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
) -> tuple[Repeatability, ...]:
    """Intra-rater agreement over all systems together, then within each system."""
    check_bootstrap(n_resamples, confidence)
    resamples = item_resamples(ratings.n_items, n_resamples=n_resamples, seed=seed)

    def of(system: int | None) -> Repeatability:
        cells = repeated_cells(ratings, system=system)
        varies = NOTHING_VARIES if len(cells.size) else NO_REPEATS

        def measured(
            statistic: Callable[[AgreementCells, Floats], float], reason: str = NO_REPEATS
        ) -> Measure:
            return measure(
                lambda weights: statistic(cells, weights[cells.item]) if len(cells.size) else math.nan,
                resamples,
                confidence=confidence,
                reason=reason,
            )

        width = ratings.scale.width
        difference = measured(lambda cells, weights: _mean(cells.difference, weights))
        return Repeatability(
            system=None if system is None else ratings.system_names[system],
            n_workers=cells.n_workers,
            n_cells=len(cells.size),
            n_ratings=int(cells.size.sum()),
            equal=measured(lambda cells, weights: _mean(cells.equal, weights)),
            mean_difference=difference,
            mean_difference_raw=Measure(
                width * difference.value, width * difference.low, width * difference.high, difference.reason
            ),
            correlation=measured(first_second_correlation, varies),
            icc=measured(one_way_icc, varies),
            confidence=confidence,
            n_resamples=n_resamples,
            seed=seed,
        )

    return tuple(of(system) for system in (None, *range(ratings.n_systems)))


def repeated_cells(ratings: Ratings, *, system: int | None = None) -> AgreementCells:
    """The cells with two ratings or more, of one system or of all."""
    chosen = np.arange(ratings.n_ratings) if system is None else np.flatnonzero(ratings.system == system)
    output = ratings.item[chosen] * np.int64(ratings.n_systems) + ratings.system[chosen]
    key = output * np.int64(ratings.n_workers) + ratings.worker[chosen]
    cells, cell, size = np.unique(key, return_inverse=True, return_counts=True)
    kept = size[cell] > 1
    number = (np.cumsum(size > 1) - 1)[cell[kept]]
    value, cells, size = ratings.rating[chosen[kept]], cells[size > 1], size[size > 1]
    start = np.cumsum(size) - size
    in_order = value[np.argsort(number, kind="stable")]
    ascending = value[np.lexsort((value, number))]
    mean = np.bincount(number, value, len(size)) / size
    squares: Floats = np.bincount(number, np.square(value - mean[number]), len(size)).astype(np.float64)
    equal, difference = _pairs(ascending, np.sort(number), start, size)
    return AgreementCells(
        item=cells // (ratings.n_workers * ratings.n_systems),
        size=size,
        mean=mean,
        squares=squares,
        equal=equal,
        difference=difference,
        first=in_order[start],
        second=in_order[start + 1],
        n_workers=len(np.unique(cells % ratings.n_workers)),
    )


def _pairs(ascending: Floats, cell: Codes, start: Codes, size: Codes) -> tuple[Floats, Floats]:
    """Share of equal pairs and mean absolute difference of pairs in each cell, from sorted values.

    In ascending order the r-th of m values (from 0) is the larger one in r pairs and the smaller one in
    m - 1 - r, so the differences sum to sum (2 r - m + 1) value.
    """
    pairs = size * (size - 1) / 2
    rank = np.arange(len(cell)) - start[cell]
    difference = np.bincount(cell, (2 * rank - size[cell] + 1) * ascending, len(size)) / pairs
    opens = np.ones(len(cell), dtype=bool)
    opens[1:] = (cell[1:] != cell[:-1]) | (ascending[1:] != ascending[:-1])
    run = np.cumsum(opens) - 1
    length = np.bincount(run)
    same = np.bincount(cell[opens], length * (length - 1) / 2, len(size)) / pairs
    return same, np.maximum(difference, 0.0)


def _mean(values: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(weights @ values) / total if total else math.nan


def first_second_correlation(cells: AgreementCells, weights: Floats) -> float:
    """Pearson correlation of first and second ratings, each cell counting `weights` times."""
    if weights.sum() < 2:
        return math.nan
    a, b = (values - _mean(values, weights) for values in (cells.first, cells.second))
    aa, bb = float(weights @ a**2), float(weights @ b**2)
    if min(aa, bb) <= _NO_VARIANCE:
        return math.nan
    return float(weights @ (a * b)) / math.sqrt(aa * bb)


def one_way_icc(cells: AgreementCells, weights: Floats) -> float:
    """ICC(1,1) = (MSB - MSW) / (MSB + (m0 - 1) MSW), with m0 the mean size of unequal cells.

    Source: Shrout and Fleiss (1979); m0 = (N - sum m^2 / N) / (C - 1), Donner and Koval (1980).
    """
    n_cells, n = float(weights.sum()), float(weights @ cells.size)
    if n_cells < 2:
        return math.nan
    center = float(weights @ (cells.size * cells.mean)) / n
    between = float(weights @ (cells.size * (cells.mean - center) ** 2)) / (n_cells - 1)
    within = float(weights @ cells.squares) / (n - n_cells)
    if between + within <= _NO_VARIANCE:
        return math.nan
    typical = (n - float(weights @ cells.size**2) / n) / (n_cells - 1)
    return (between - within) / (between + (typical - 1) * within)
