"""What a study with looks does in the long run: power, false positives, size, cost and bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.inference.looks.median_unbiased import median_unbiased
from humeval_power.inference.shares import wilson_interval
from humeval_power.scenarios.looks.ratings import RatingLooks
from humeval_power.scenarios.looks.replicates import Floats, LookReplicates, LookSource, Stopped, stop


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """The long run at one true effect, over simulated studies that were refitted at every look.

    `power` counts significant results of the right sign, `rejection_rate` those of either; `futility_rate`
    stops for futility. `stopping` has the share of studies that end at each look, `success_by_look` the
    share that ends there as significant. `bias` is the mean of the naive estimate at stopping minus the
    effect, `corrected_bias` that of the median-unbiased one; `type_m` the mean |naive estimate| over |effect|
    of significant studies (NaN without an effect). `fixed_power` is that of the same study with one look at
    its end. `expected_cost` is NaN without prices.
    """

    effect: float
    power: float
    power_interval: tuple[float, float]
    rejection_rate: float
    rejection_interval: tuple[float, float]
    futility_rate: float
    stopping: tuple[float, ...]
    success_by_look: tuple[float, ...]
    expected_size: float
    expected_cost: float
    bias: float
    corrected_bias: float
    corrected_above: float
    type_m: float
    fixed_power: float
    n_usable: int
    n_failed: int


def operating_point(
    looks: LookReplicates,
    bounds: Boundaries,
    *,
    effect: float,
    sizes: Sequence[float],
    costs: Sequence[float] | None = None,
) -> OperatingPoint:
    """Summarise simulated studies with this true effect.

    sizes : ratings collected by each look; costs : what has been spent by each look
    """
    stopped = stop(looks, bounds)
    kept = np.flatnonzero(stopped.usable)
    look, significant = stopped.look[kept], stopped.significant[kept]
    estimate = stopped.estimate[kept]
    right = significant & ((estimate > 0) if effect >= 0 else (estimate < 0))
    n = len(kept)
    corrected = _corrected(looks, stopped, bounds)[kept]
    last = looks.p_value[kept, -1] <= bounds.rule.alpha
    last_right = last & ((looks.estimate[kept, -1] > 0) == (effect >= 0))
    by_look = np.arange(bounds.n_looks)
    spent = np.array(costs, dtype=float) if costs is not None else np.full(bounds.n_looks, math.nan)
    exaggeration = _mean(np.abs(estimate[significant])) / abs(effect) if effect else math.nan
    return OperatingPoint(
        effect=effect,
        power=_mean(right),
        power_interval=wilson_interval(int(right.sum()), n),
        rejection_rate=_mean(significant),
        rejection_interval=wilson_interval(int(significant.sum()), n),
        futility_rate=_mean(stopped.futile[kept]),
        stopping=tuple(_mean(look == k) for k in by_look),
        success_by_look=tuple(_mean((look == k) & significant) for k in by_look),
        expected_size=_mean(np.array(sizes, dtype=float)[look]),
        expected_cost=_mean(spent[look]),
        bias=_mean(estimate) - effect,
        corrected_bias=_mean(corrected) - effect,
        corrected_above=_mean(corrected > effect),
        type_m=exaggeration,
        fixed_power=_mean(last_right),
        n_usable=n,
        n_failed=len(stopped.usable) - n,
    )


def operating_characteristics(
    source: LookSource,
    bounds: Boundaries,
    *,
    effects: Sequence[float],
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
    costs: Sequence[float] | None = None,
) -> list[OperatingPoint]:
    """The long run at each of several true effects.

    Gaussian rating studies serve all effects with one set of random numbers: only their estimates move.
    """
    points = []
    base: LookReplicates | None = None
    for effect in effects:
        if isinstance(source, RatingLooks) and source.shifts:
            if base is None:
                none = source.with_effect(0.0)
                base = none.draw_looks(n_simulations, seed=seed, n_jobs=n_jobs)
            looks = base.shifted(effect)
        else:
            at = source.with_effect(effect)
            looks = at.draw_looks(n_simulations, seed=seed, n_jobs=n_jobs)
        points.append(operating_point(looks, bounds, effect=effect, sizes=source.sizes, costs=costs))
    return points


def _corrected(looks: LookReplicates, stopped: Stopped, bounds: Boundaries) -> Floats:
    rows = np.arange(len(looks))
    score = looks.score[rows, stopped.look]
    error = looks.standard_error[rows, stopped.look]
    with np.errstate(divide="ignore", invalid="ignore"):
        implied = np.abs(stopped.estimate / score)
    error = np.where(np.isfinite(error), error, np.where(np.isfinite(implied), implied, 0.0))
    return median_unbiased(stopped.look, score, error, stopped.estimate, bounds=bounds)


def _mean(values: Floats | np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else math.nan
