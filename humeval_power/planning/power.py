"""Power by simulation: the share of significant positive effects, and how sure that number is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from humeval_power.errors import InputError
from humeval_power.inference.shares import wilson_interval
from humeval_power.inference.study.replication import MOST_FAILURES
from humeval_power.scenarios.contract import Replicates, Scenario

DEFAULT_SIMULATIONS = 2000
DEFAULT_SEED = 1
MAX_SIMULATIONS = 1_000_000
_PORTION = 2048  # replicates between two reports of progress; a whole block of those drawn together

Progress = Callable[[int, int], None]
S = TypeVar("S", bound=Scenario)


def part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Progress of one of several parts of equal length, the first of them 0, told as that of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(part * total + done, parts * total)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over replicates; tallies of separate portions add up."""

    n: int = 0
    n_failed: int = 0
    n_right: int = 0  # significant, with the sign of the true effect (of 0: positive), or undirected
    n_wrong: int = 0  # significant, with the other sign
    sum_size: float = 0.0  # of |estimate| over the significant ones
    sum_estimate: float = 0.0
    sum_square: float = 0.0
    n_boundary: int = 0  # at least one component estimated as zero
    n_zero: tuple[int, ...] = ()  # by component

    def __add__(self, other: Tally) -> Tally:
        zero = self.n_zero or (0,) * len(other.n_zero)
        return Tally(
            self.n + other.n,
            self.n_failed + other.n_failed,
            self.n_right + other.n_right,
            self.n_wrong + other.n_wrong,
            self.sum_size + other.sum_size,
            self.sum_estimate + other.sum_estimate,
            self.sum_square + other.sum_square,
            self.n_boundary + other.n_boundary,
            tuple(a + b for a, b in zip(zero, other.n_zero, strict=True)),
        )


def tally(replicates: Replicates, *, alpha: float, true_effect: float) -> Tally:
    """Count significant replicates; failed ones are counted as failed, never as significant."""
    usable = replicates.usable
    estimate = replicates.estimate[usable]
    significant = replicates.p_value[usable] <= alpha
    claim = estimate if replicates.claim is None else replicates.claim[usable]
    right = claim > 0 if true_effect >= 0 else claim < 0
    if not replicates.directed:
        right = np.ones_like(significant)
    zero = replicates.boundary[usable]
    return Tally(
        n=len(replicates),
        n_failed=int((~usable).sum()),
        n_right=int((significant & right).sum()),
        n_wrong=int((significant & ~right).sum()),
        sum_size=float(np.abs(estimate[significant]).sum()),
        sum_estimate=float(estimate.sum()),
        sum_square=float((estimate**2).sum()),
        n_boundary=int(zero.any(axis=1).sum()),
        n_zero=tuple(int(count) for count in zero.sum(axis=0)),
    )


@dataclass(frozen=True, slots=True)
class PowerEstimate:
    """Power of a scenario from simulated replicates; everything is derived from the counts.

    A replicate whose fit failed counts as not significant: who gets no answer has shown nothing. Where more
    than 20 % failed there is no power and no rejection rate (NaN): the others are no fair sample. The rates of
    other things are over the replicates that could be fitted. Where a significant
    study claims no direction (`directed` false: equivalence, non-inferiority) the power counts all of
    them, and Type M and S, which are about effects that were found, are NaN.
    """

    counts: Tally
    true_effect: float
    alpha: float
    boundary_names: tuple[str, ...] = ()
    directed: bool = True

    @property
    def n_simulations(self) -> int:
        """Replicates drawn."""
        return self.counts.n

    @property
    def n_failed(self) -> int:
        """Replicates whose fit failed; they count as not significant."""
        return self.counts.n_failed

    @property
    def n_usable(self) -> int:
        """Replicates that count."""
        return self.counts.n - self.counts.n_failed

    @property
    def failure_rate(self) -> float:
        """Share of failed fits."""
        return _share(self.n_failed, self.n_simulations)

    @property
    def power(self) -> float:
        """Share significant with the right sign (Card et al. 2020, Fig. 2)."""
        return self._headline(self.counts.n_right)

    @property
    def rejection_rate(self) -> float:
        """Share significant with either sign: the false-positive rate where the true effect is 0."""
        return self._headline(self.counts.n_right + self.counts.n_wrong)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the power, 95 %: Monte Carlo error only."""
        return self._headline_interval(self.counts.n_right)

    @property
    def rejection_interval(self) -> tuple[float, float]:
        """Wilson interval of the rejection rate, 95 %."""
        return self._headline_interval(self.counts.n_right + self.counts.n_wrong)

    @property
    def too_many_failed(self) -> bool:
        """Whether so many fits failed that no power is given."""
        return self.failure_rate > MOST_FAILURES

    def _headline(self, count: int) -> float:
        return math.nan if self.too_many_failed else _share(count, self.n_simulations)

    def _headline_interval(self, count: int) -> tuple[float, float]:
        if self.too_many_failed or not self.n_simulations:
            return math.nan, math.nan
        return wilson_interval(count, self.n_simulations)

    @property
    def type_m(self) -> float:
        """Mean exaggeration of significant estimates, |estimate| / |true effect|; NaN for no effect."""
        if self.true_effect == 0 or not self.directed:
            return math.nan
        n_significant = self.counts.n_right + self.counts.n_wrong
        return _share(self.counts.sum_size, n_significant) / abs(self.true_effect)

    @property
    def type_s(self) -> float:
        """Share of significant estimates with the wrong sign; NaN for no effect."""
        if self.true_effect == 0 or not self.directed:
            return math.nan
        return _share(self.counts.n_wrong, self.counts.n_right + self.counts.n_wrong)

    @property
    def mean_estimate(self) -> float:
        """Mean estimated effect."""
        return _share(self.counts.sum_estimate, self.n_usable)

    def as_row(self) -> dict[str, float]:
        """What a row of a table says of it."""
        low, high = self.interval
        return {
            "power": self.power,
            "power_low": low,
            "power_high": high,
            "type_m": self.type_m,
            "type_s": self.type_s,
            "n_simulations": self.n_simulations,
            "n_failed": self.n_failed,
        }

    @property
    def boundary_rate(self) -> float:
        """Share of fits with at least one variance component estimated as zero."""
        return _share(self.counts.n_boundary, self.n_usable)

    @property
    def boundary_rates(self) -> dict[str, float]:
        """The same by component."""
        counts = zip(self.boundary_names, self.counts.n_zero, strict=True)
        return {name: _share(count, self.n_usable) for name, count in counts}


def estimate_power(
    scenario: Scenario,
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    precision: float | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> PowerEstimate:
    """Simulate a scenario and count significant effects of the right sign.

    Parameters
    ----------
    precision : if given, simulate until the half-width of the Wilson interval is at most this (and at
        least `n_simulations` times, at most a million).
    progress : called with replicates done and expected.

    Raises
    ------
    InputError
        A number of simulations below 1 or a precision outside (0, 0.5).
    """
    return estimate_powers(
        [scenario],
        n_simulations=n_simulations,
        seed=seed,
        precision=precision,
        n_jobs=n_jobs,
        progress=progress,
    )[0]


def estimate_powers(
    scenarios: Sequence[S],
    *,
    moved: Callable[[Replicates, S], Replicates] | None = None,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    precision: float | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[PowerEstimate]:
    """The same for scenarios that share the replicates of the first.

    moved : the replicates of the first as those of another; without it there is only the first.
    """
    check_simulation(n_simulations, precision)
    counts = [Tally() for _ in scenarios]
    names: tuple[str, ...] = ()
    directed = True
    target = n_simulations
    while (begin := counts[0].n) < target:
        drawn = scenarios[0].draw(min(_PORTION, target - begin), seed=seed, first=begin, n_jobs=n_jobs)
        names, directed = drawn.boundary_names, drawn.directed
        for place, scenario in enumerate(scenarios):
            own = drawn if moved is None else moved(drawn, scenario)
            counts[place] += tally(own, alpha=scenario.alpha, true_effect=scenario.true_effect)
        if precision is not None and counts[0].n >= n_simulations:
            target = max(next_target(count, precision) for count in counts)
        if progress is not None:
            progress(counts[0].n, target)
    return [
        PowerEstimate(count, scenario.true_effect, scenario.alpha, names, directed)
        for count, scenario in zip(counts, scenarios, strict=True)
    ]


def next_target(counts: Tally, precision: float) -> int:
    """How many replicates the Wilson half-width `precision` needs, judged by those at hand."""
    low, high = wilson_interval(counts.n_right, counts.n)
    half_width = (high - low) / 2
    if half_width <= precision or counts.n >= MAX_SIMULATIONS:
        return counts.n
    needed = counts.n * (half_width / precision) ** 2
    return min(MAX_SIMULATIONS, max(counts.n + _PORTION, math.ceil(needed)))


def check_simulation(n_simulations: int, precision: float | None) -> None:
    """Refuse a number of simulations or a precision that makes no sense."""
    if n_simulations < 1:
        raise InputError(f"The number of simulations must be at least 1; got {n_simulations}.")
    if precision is not None and not 0 < precision < 0.5:
        raise InputError(f"A precision (half-width) must lie between 0 and 0.5; got {precision}.")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
