"""Power by simulation: the share of significant positive effects, and how sure that number is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humeval_power.choices import DEFAULT_SEED as DEFAULT_SEED
from humeval_power.choices import DEFAULT_SIMULATIONS as DEFAULT_SIMULATIONS
from humeval_power.errors import InputError
from humeval_power.inference.shares import wilson_interval
from humeval_power.planning.replicate_blocks import Told, block_size, blocks_of
from humeval_power.planning.tallies import Counted, Tally, count_block
from humeval_power.planning.workload import measured_seconds, seconds_each
from humeval_power.scenarios.contract import Scenario
from humeval_power.sweep.blocks import Block, Done, run_blocks

MAX_SIMULATIONS = 1_000_000


Progress = Callable[[int, int], None]  # is told the work done and expected so far


def part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Progress of one of several parts of equal length, the first of them 0, told as that of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(part * total + done, parts * total)


def told_as(progress: Progress | None, units: int) -> Progress | None:
    """Progress of work of any length, told as so many units."""
    if progress is None:
        return None
    return lambda done, total: progress(units * done // total, units)


def told_of_blocks(progress: Progress | None, sizes: Sequence[int]) -> Done | None:
    """Progress in units of which each block has so many, told as blocks are finished, in any order."""
    if progress is None:
        return None
    so_far = 0

    def finished(place: int) -> None:
        nonlocal so_far
        so_far += sizes[place]
        progress(so_far, sum(sizes))

    return finished


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
        from humeval_power.inference.study.replication import MOST_FAILURES

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
    (found,) = estimate_powers(
        [[scenario]],
        n_simulations=n_simulations,
        seed=seed,
        precision=precision,
        n_jobs=n_jobs,
        progress=progress,
    )
    return found[0]


class _Count:
    """Scenarios that share the replicates of the first, what is counted so far, and how far it will go."""

    def __init__(self, scenarios: Sequence[Scenario], n_simulations: int) -> None:
        self.scenarios = tuple(scenarios)
        self.tallies = [Tally() for _ in scenarios]
        self.boundary_names: tuple[str, ...] = ()
        self.directed = True
        self.target = n_simulations
        self.seconds = self.measured = seconds_each(self.scenarios[0])

    @property
    def n(self) -> int:
        return self.tallies[0].n

    def blocks(self, seed: int) -> list[Block]:
        """Those that are still needed, in the order of their replicates."""
        from humeval_power.scenarios.study import RatingStudy

        if isinstance(lead := self.scenarios[0], RatingStudy):
            lead.prepare()
        return blocks_of(
            count_block,
            self.scenarios,
            self.n,
            self.target,
            seed=seed,
            seconds=self.seconds,
            measured=self.measured,
        )

    def add(self, found: Counted) -> None:
        self.boundary_names, self.directed = found.boundary_names, found.directed
        self.tallies = [old + new for old, new in zip(self.tallies, found.tallies, strict=True)]

    def aim(self, precision: float | None) -> None:
        """After all blocks so far: go as far as the one of them needs that needs most."""
        if precision is not None:
            more = block_size(self.seconds)
            self.target = max(
                next_target(one.n_right, one.n, precision, at_least=more) for one in self.tallies
            )

    def estimates(self) -> list[PowerEstimate]:
        return [
            PowerEstimate(one, scenario.true_effect, scenario.alpha, self.boundary_names, self.directed)
            for one, scenario in zip(self.tallies, self.scenarios, strict=True)
        ]


def estimate_powers(
    groups: Sequence[Sequence[Scenario]],
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    precision: float | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[list[PowerEstimate]]:
    """The same for many scenarios as one list of blocks.

    Scenarios of one group share the replicates of its first, which must be `Shiftable` where there are more.

    Every group stops by itself: with `precision` all are simulated `n_simulations` times, and then, in rounds,
    those that need more as often as the counts so far say. A round has ended when all its blocks have, so that
    the number of replicates depends on the counts alone.

    progress : called with the work done and expected so far, in replicates; with several groups in replicates
        of the one whose take least time.
    """
    check_simulation(n_simulations, precision)
    counts = [_Count(group, n_simulations) for group in groups]
    if progress is not None and len(counts) > 1:
        leads = [one.scenarios[0] for one in counts]
        for one, seconds in zip(counts, measured_seconds(leads, n_simulations=n_simulations), strict=True):
            one.measured = seconds
    told = Told(progress, min((one.measured for one in counts), default=1.0))
    while going := [one for one in counts if one.n < one.target]:
        owners = [(one, block) for one in going for block in one.blocks(seed)]
        blocks = [block for _, block in owners]
        results = run_blocks(blocks, n_jobs=n_jobs, done=told.listen(blocks), part=told.part)
        for (one, _), found in zip(owners, results, strict=True):
            one.add(found)
        for one in going:
            one.aim(precision)
    return [one.estimates() for one in counts]


def next_target(n_right: int, n: int, precision: float, *, at_least: int) -> int:
    """How many replicates the Wilson half-width `precision` needs, judged by the n at hand; if more, then
    `at_least` so many more."""
    low, high = wilson_interval(n_right, n)
    half_width = (high - low) / 2
    if half_width <= precision or n >= MAX_SIMULATIONS:
        return n
    needed = n * (half_width / precision) ** 2
    return min(MAX_SIMULATIONS, max(n + at_least, math.ceil(needed)))


def check_simulation(n_simulations: int, precision: float | None) -> None:
    """Refuse a number of simulations or a precision that makes no sense."""
    if n_simulations < 1:
        raise InputError(f"The number of simulations must be at least 1; got {n_simulations}.")
    if precision is not None and not 0 < precision < 0.5:
        raise InputError(f"The half-width must lie between 0 and 0.5; got {precision}.")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
