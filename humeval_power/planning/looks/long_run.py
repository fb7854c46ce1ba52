"""What a study with looks does in the long run: power, false positives, size, cost and bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.inference.looks.median_unbiased import median_unbiased
from humeval_power.inference.shares import wilson_interval
from humeval_power.planning.looks.blocks import blocks_of
from humeval_power.scenarios.looks.ratings import RatingLooks
from humeval_power.scenarios.looks.replicates import (
    Flags,
    Floats,
    LookReplicates,
    LookSource,
    Stopped,
    stop,
)
from humeval_power.sweep.blocks import Block, run_blocks


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


@dataclass(frozen=True, slots=True, eq=False)
class Endings:
    """How simulated studies ended, shape (n,): at which look (from 0), with which result and estimate, the naive
    one and the median-unbiased; `last_significant` and `last_positive` are those of one look at the end, at alpha.
    """

    look: NDArray[np.int8]
    usable: Flags
    significant: Flags
    futile: Flags
    last_significant: Flags
    last_positive: Flags
    estimate: Floats
    corrected: Floats

    @classmethod
    def of(cls, looks: LookReplicates, bounds: Boundaries) -> Endings:
        """Where boundaries stop studies."""
        stopped = stop(looks, bounds)
        return cls(
            look=stopped.look.astype(np.int8),
            usable=stopped.usable,
            significant=stopped.significant,
            futile=stopped.futile,
            last_significant=looks.p_value[:, -1] <= bounds.rule.alpha,
            last_positive=looks.estimate[:, -1] > 0,
            estimate=stopped.estimate,
            corrected=_corrected(looks, stopped, bounds),
        )

    @classmethod
    def joined(cls, parts: Sequence[Endings]) -> Endings:
        """One record from consecutive parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))

    def kept(self) -> Endings:
        """Those of usable studies."""
        return Endings(*(getattr(self, name)[self.usable] for name in self.__slots__))


def operating_point(
    endings: Endings,
    bounds: Boundaries,
    *,
    effect: float,
    sizes: Sequence[float],
    costs: Sequence[float] | None = None,
) -> OperatingPoint:
    """Summarise simulated studies with this true effect.

    sizes : ratings collected by each look; costs : what has been spent by each look
    """
    kept = endings.kept()
    n, look, significant, estimate = len(kept.look), kept.look, kept.significant, kept.estimate
    right = significant & ((estimate > 0) if effect >= 0 else (estimate < 0))
    last_right = kept.last_significant & (kept.last_positive == (effect >= 0))
    by_look = np.arange(bounds.n_looks)
    spent = np.array(costs, dtype=float) if costs is not None else np.full(bounds.n_looks, math.nan)
    exaggeration = _mean(np.abs(estimate[significant])) / abs(effect) if effect else math.nan
    return OperatingPoint(
        effect=effect,
        power=_mean(right),
        power_interval=wilson_interval(int(right.sum()), n),
        rejection_rate=_mean(significant),
        rejection_interval=wilson_interval(int(significant.sum()), n),
        futility_rate=_mean(kept.futile),
        stopping=tuple(_mean(look == k) for k in by_look),
        success_by_look=tuple(_mean((look == k) & significant) for k in by_look),
        expected_size=_mean(np.array(sizes, dtype=float)[look]),
        expected_cost=_mean(spent[look]),
        bias=_mean(estimate) - effect,
        corrected_bias=_mean(kept.corrected) - effect,
        corrected_above=_mean(kept.corrected > effect),
        type_m=exaggeration,
        fixed_power=_mean(last_right),
        n_usable=n,
        n_failed=len(endings.usable) - n,
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
    lists = _lists_of_blocks(source, bounds, effects, n_simulations=n_simulations, seed=seed)
    found = run_blocks([block for blocks in lists for block in blocks], n_jobs=n_jobs)
    endings: list[Endings] = []
    for blocks in lists:
        parts = [next(found) for _ in blocks]
        endings += [Endings.joined(of_effect) for of_effect in zip(*parts, strict=True)]
    return [
        operating_point(ended, bounds, effect=effect, sizes=source.sizes, costs=costs)
        for effect, ended in zip(effects, endings, strict=True)
    ]


def _lists_of_blocks(
    source: LookSource, bounds: Boundaries, effects: Sequence[float], *, n_simulations: int, seed: int
) -> list[list[Block]]:
    """Those of all effects together, or of each."""
    if isinstance(source, RatingLooks) and source.shifts:
        sources: list[tuple[LookSource, tuple[float, ...]]] = [(source.with_effect(0.0), tuple(effects))]
    else:
        sources = [(source.with_effect(effect), ()) for effect in effects]
    return [
        blocks_of(ending_block, at, bounds, shifts, n_simulations=n_simulations, seed=seed)
        for at, shifts in sources
    ]


def ending_block(
    source: LookSource,
    bounds: Boundaries,
    shifts: tuple[float, ...],
    seed: int,
    first: int,
    n: int,
    *,
    n_jobs: int = 1,
) -> tuple[Endings, ...]:
    """The work of a block: how studies `first` to `first + n - 1` end as they are, or with each of several larger
    effects."""
    looks = source.draw_looks(n, seed=seed, first=first, n_jobs=n_jobs)
    if not shifts:
        return (Endings.of(looks, bounds),)
    return tuple(Endings.of(looks.shifted(by), bounds) for by in shifts)


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
