"""Agreement between workers: Krippendorff's alpha and shares of equal ratings, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from humeval_power.inference.item_bootstrap import (
    DEFAULT_CONFIDENCE,
    DEFAULT_RESAMPLES,
    Counts,
    Measure,
    check_bootstrap,
    item_resamples,
    measure,
    undefined,
)
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Level = Literal["interval", "ordinal"]

NOBODY_SHARES = "no output was rated by two workers"
ALL_THE_SAME = "all ratings are the same, so that agreement by chance is complete too"
NO_POINTS = "the scale has no points to be one apart"
_NO_VARIANCE = 1e-12  # relative to the scores' size: sums of squares below this are rounding


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far workers agree about the outputs (an item under a system) that at least two of them rated.

    `system` is None for all systems together, where differences between systems count as differences
    between outputs and raise alpha. `exact` and `within_one` are shares of the pairs of ratings of one
    output by two workers: equal, or at most one scale point apart. `n_repeats_left_out` counts further
    ratings of an output by the same worker; the first one counts. Intervals are percentiles over items
    drawn again.
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
    confidence: float
    n_resamples: int
    seed: int


class Shared(NamedTuple):
    """Ratings of outputs that two workers or more have rated, one for each worker and output.

    output, code : (n,), the output's number and the rating's place among `values` (sorted, distinct);
    size, item : (n_outputs,), number of ratings and the item of each output.
    """

    output: Codes
    code: Codes
    values: Floats
    size: Codes
    item: Codes
    n_workers: int
    n_left_out: int


def agreement(
    ratings: Ratings,
    *,
    n_resamples: int = DEFAULT_RESAMPLES,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
) -> tuple[Agreement, ...]:
    """Agreement over all systems together, then within each system, in the order of their codes."""
    check_bootstrap(n_resamples, confidence)
    resamples = item_resamples(ratings.n_items, n_resamples=n_resamples, seed=seed)

    def of(system: int | None) -> Agreement:
        shared = shared_ratings(ratings, system=system)
        alpha, share = _alpha_measures(shared, resamples, confidence), _shares(ratings, shared)
        counted = {name: _measured(*share[name], resamples, confidence) for name in share}
        return Agreement(
            system=None if system is None else ratings.system_names[system],
            n_workers=shared.n_workers,
            n_outputs=len(shared.size),
            n_ratings=len(shared.code),
            n_pairs=int((shared.size * (shared.size - 1) // 2).sum()),
            n_repeats_left_out=shared.n_left_out,
            alpha_interval=alpha["interval"],
            alpha_ordinal=alpha["ordinal"],
            exact=counted["exact"],
            within_one=counted["within_one"],
            confidence=confidence,
            n_resamples=n_resamples,
            seed=seed,
        )

    return tuple(of(system) for system in (None, *range(ratings.n_systems)))


def shared_ratings(ratings: Ratings, *, system: int | None = None) -> Shared:
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
    return Shared(
        output=numbers[place[kept]],
        code=code.astype(np.int64),
        values=values,
        size=size[size > 1],
        item=outputs[size > 1] // ratings.n_systems,
        n_workers=len(np.unique(ratings.worker[chosen[first]][kept])),
        n_left_out=len(chosen) - len(cells),
    )


def krippendorff_alpha(shared: Shared, weights: Floats, *, level: Level) -> float:
    """Krippendorff's alpha = 1 - observed / expected disagreement; NaN where nothing varies.

    With squared differences, m ratings of an output with sum of squares SS about their mean disagree by
    2 m SS / (m - 1), and all n ratings by 2 SS / (n - 1). The ordinal metric of two values is the squared
    difference of their mid-ranks among all ratings, so it is the interval alpha of the mid-ranks.
    Source: Krippendorff (2004), Content Analysis, section 11.3; the two sums rearranged.

    Parameters
    ----------
    weights : (n_outputs,), how often each output counts.
    """
    return _alpha_of(shared, level)(weights)


def _alpha_of(shared: Shared, level: Level) -> Callable[[Floats], float]:
    """The same as a function of the weights; what does not depend on them is computed once."""
    if not len(shared.size):
        return lambda _: math.nan
    shape = (len(shared.size), len(shared.values))
    cells = csr_array((np.ones(len(shared.code)), (shared.output, shared.code)), shape=shape)
    of_values = csr_array(cells.T)
    penalty = shared.size / (shared.size - 1)

    def spread(score: Floats) -> tuple[Floats, Floats]:
        mean = np.asarray(cells @ score) / shared.size
        within = np.maximum(np.asarray(cells @ score**2) - shared.size * mean**2, 0.0)
        return mean, within

    fixed = spread(shared.values - shared.values.mean()) if level == "interval" else None

    def alpha(weights: Floats) -> float:
        if fixed is None:
            count = np.asarray(of_values @ weights)
            score = np.cumsum(count) - count / 2
            score -= score[-1] / 2  # about their middle squares keep their digits
            mean, within = spread(score)
        else:
            score, (mean, within) = shared.values, fixed
        n = float(weights @ shared.size)
        if n == 0:
            return math.nan
        center = float(weights @ (shared.size * mean)) / n
        total = float(weights @ (within + shared.size * (mean - center) ** 2))
        if total <= _NO_VARIANCE * n * float(np.abs(score).max()) ** 2:
            return math.nan
        return float(1 - (n - 1) / n * (weights @ (penalty * within)) / total)

    return alpha


def _alpha_measures(shared: Shared, resamples: Counts, confidence: float) -> dict[Level, Measure]:
    def statistic(level: Level) -> Callable[[Floats], float]:
        alpha = _alpha_of(shared, level)
        return lambda weights: alpha(weights[shared.item])

    reason = ALL_THE_SAME if len(shared.size) else NOBODY_SHARES
    levels: tuple[Level, ...] = ("interval", "ordinal")
    return {
        level: measure(statistic(level), resamples, confidence=confidence, reason=reason)
        for level in levels
    }


def _shares(ratings: Ratings, shared: Shared) -> dict[str, tuple[Callable[[Floats], float] | None, str]]:
    """Each share as a function of item weights, or None, with the reason for having no value."""
    pairs = shared.size * (shared.size - 1) / 2

    def share(near: Floats, weights: Floats) -> float:
        all_pairs = float(weights[shared.item] @ pairs)
        return float(weights[shared.item] @ near) / all_pairs if all_pairs else math.nan

    step = scale_step(ratings.scale)
    one_apart = None if step is None else partial(share, near_pairs(shared, reach=step))
    return {
        "exact": (partial(share, near_pairs(shared, reach=0.0)), NOBODY_SHARES),
        "within_one": (one_apart, NO_POINTS if one_apart is None else NOBODY_SHARES),
    }


def _measured(
    statistic: Callable[[Floats], float] | None, reason: str, resamples: Counts, confidence: float
) -> Measure:
    if statistic is None:
        return undefined(reason)
    return measure(statistic, resamples, confidence=confidence, reason=reason)


def scale_step(scale: RatingScale) -> float | None:
    """Distance of neighbouring points on [0, 1]; None on a continuous scale."""
    return None if scale.points is None else 1.0 / (scale.points - 1)


def near_pairs(shared: Shared, *, reach: float) -> Floats:
    """Pairs of ratings of each output that lie at most `reach` apart, shape (n_outputs,)."""
    slack = 1e-9  # a third of a scale is not exactly representable
    low = np.searchsorted(shared.values, shared.values - reach - slack)
    high = np.searchsorted(shared.values, shared.values + reach + slack, side="right")
    base = shared.output * np.int64(len(shared.values))
    keys = np.sort(base + shared.code)
    near = np.searchsorted(keys, base + high[shared.code]) - np.searchsorted(keys, base + low[shared.code])
    # each rating is near itself, and each pair was counted from both ends
    return np.bincount(shared.output, near - 1, len(shared.size)) / 2
