"""Agreement between workers: Krippendorff's alpha and shares of equal ratings, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.agreement.alpha import Level, Shared, alphas
from humeval_power.inference.item_bootstrap import (
    DEFAULT_CONFIDENCE,
    DEFAULT_RESAMPLES,
    Counts,
    Measure,
    check_bootstrap,
    item_resamples,
    measure_together,
    undefined,
)
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NOBODY_SHARES = "no output was rated by two workers"
ALL_THE_SAME = "all ratings are the same, so that agreement by chance is complete too"
NO_POINTS = "the scale has no points to be one apart"


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
        alpha = _alpha_measures(shared, resamples, confidence)
        share = _shares(ratings, shared, resamples, confidence)
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


def _alpha_measures(shared: Shared, resamples: Counts, confidence: float) -> dict[Level, Measure]:
    def statistic(level: Level) -> Callable[[Floats], Floats]:
        alpha = alphas(shared, level)
        return lambda weights: alpha(weights[shared.item])

    reason = ALL_THE_SAME if len(shared.size) else NOBODY_SHARES
    levels: tuple[Level, ...] = ("interval", "ordinal")
    return {
        level: measure_together(statistic(level), resamples, confidence=confidence, reason=reason)
        for level in levels
    }


def _shares(ratings: Ratings, shared: Shared, resamples: Counts, confidence: float) -> dict[str, Measure]:
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

        return measure_together(share, resamples, confidence=confidence, reason=NOBODY_SHARES)

    step = scale_step(ratings.scale)
    return {"exact": measured(0.0), "within_one": undefined(NO_POINTS) if step is None else measured(step)}


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
