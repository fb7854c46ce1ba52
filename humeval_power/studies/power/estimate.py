"""Power by simulation: the share of significant positive effects, and how sure that number is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.scenarios.contract import Replicates, Scenario, Shiftable, joined
from humeval_power.studies.power.workload import measured_seconds, seconds_each
from humeval_power.sweep.blocks import Block, Done, run_blocks
from humeval_power.sweep.versions import spans

# Replicates in blocks of work: how many each has, what it is, and how far a list of them is.

Tell = Callable[[int, int], None]  # is told the work done and expected so far
_MOST = 2048  # replicates of a block of work: all of a block of those that are drawn together
_LONG_BLOCK = 30.0  # seconds, about: a block that may take longer has fewer replicates


def block_size(seconds: float) -> int:
    """Replicates of a block, of which one takes so many seconds: a power of two."""
    size = _MOST
    while size > 1 and size * seconds > _LONG_BLOCK:
        size //= 2
    return size


def blocks_of(
    work: Callable[..., Any],
    subject: Any,
    first: int,
    end: int,
    *,
    seed: int,
    seconds: float,
    measured: float | None = None,
) -> list[Block]:
    """Replicates first to end - 1 in blocks that are called work(subject, seed, first, n, n_jobs=k).

    seconds : about how long one replicate takes by the question alone; it decides how many a block has.
    measured : how long it takes here, if that is known.
    """
    parts = spans(end, block_size(seconds), first=first)
    each = seconds if measured is None else measured
    return [Block(work, (subject, seed, *part), each * part.n, part.n) for part in parts]


def draw_block(scenario: Scenario, seed: int, first: int, n: int, *, n_jobs: int = 1) -> Replicates:
    """Replicates first to first + n - 1 themselves, for what cannot be said by counts."""
    return scenario.draw(n, seed=seed, first=first, n_jobs=n_jobs)


def drawn_in_blocks(
    scenario: Scenario, n: int, *, seed: int, n_jobs: int = 1, progress: Tell | None = None
) -> Replicates:
    """The first `n` replicates, by the sweep in force; the same as `scenario.draw` gives."""
    seconds = seconds_each(scenario)
    blocks = blocks_of(draw_block, scenario, 0, n, seed=seed, seconds=seconds)
    reporter = ReplicateProgress(progress, seconds)
    return joined(list(run_blocks(blocks, n_jobs=n_jobs, done=reporter.listen(blocks), part=reporter.part)))


class ReplicateProgress:
    """Progress in seconds of work, told in units of so many."""

    def __init__(self, progress: Tell | None, unit: float) -> None:
        self._progress, self._unit = progress, unit
        self._done = self._total = self._under_way = 0.0

    def listen(self, blocks: Sequence[Block]) -> Done | None:
        """What is to be called with the places of these blocks as they are finished."""
        self._total += sum(block.seconds for block in blocks)
        return None if self._progress is None else lambda place: self._add(blocks[place].seconds)

    def part(self, block: Block, share: float) -> None:
        """So much of a block is done; what comes back to its beginning, such as a second pass, is not told."""
        if share * block.seconds > self._under_way:
            self._under_way = share * block.seconds
            self._tell()

    def _add(self, seconds: float) -> None:
        self._done += seconds
        self._under_way = 0.0
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            done = self._done + self._under_way
            self._progress(round(done / self._unit), round(self._total / self._unit))


# What is counted of simulated replicates: counts of separate blocks add up.


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
class BlockCounts:
    """What one block of replicates says of each of the scenarios that share it."""

    tallies: tuple[Tally, ...]
    boundary_names: tuple[str, ...]
    directed: bool


def count_block(
    scenarios: tuple[Scenario, ...], seed: int, first: int, n: int, *, n_jobs: int = 1
) -> BlockCounts:
    """Replicates first to first + n - 1 of the first scenario, counted for each of those that share them."""
    lead = scenarios[0]
    drawn = lead.draw(n, seed=seed, first=first, n_jobs=n_jobs)
    tallies = [tally(drawn, alpha=lead.alpha, true_effect=lead.true_effect)]
    for scenario in scenarios[1:]:
        moved = cast(Shiftable, lead).shifted(drawn, scenario.true_effect - lead.true_effect)
        tallies.append(tally(moved, alpha=scenario.alpha, true_effect=scenario.true_effect))
    return BlockCounts(tuple(tallies), drawn.boundary_names, drawn.directed)


MAX_SIMULATIONS = 1_000_000


Progress = Callable[[int, int], None]  # is told the work done and expected so far


def part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Progress of one of several parts of equal length, the first of them 0, told as that of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(part * total + done, parts * total)


def progress_in_units(progress: Progress | None, units: int) -> Progress | None:
    """Progress of work of any length, told as so many units."""
    if progress is None:
        return None
    return lambda done, total: progress(units * done // total, units)


def progress_of_blocks(progress: Progress | None, sizes: Sequence[int]) -> Done | None:
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
        from humeval_power.studies.power.replication import MOST_FAILURES

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
    (estimate,) = estimate_powers(
        [[scenario]],
        n_simulations=n_simulations,
        seed=seed,
        precision=precision,
        n_jobs=n_jobs,
        progress=progress,
    )
    return estimate[0]


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
        from humeval_power.studies.power.scenario import RatingStudy

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

    def add(self, counts: BlockCounts) -> None:
        self.boundary_names, self.directed = counts.boundary_names, counts.directed
        self.tallies = [old + new for old, new in zip(self.tallies, counts.tallies, strict=True)]

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
    reporter = ReplicateProgress(progress, min((one.measured for one in counts), default=1.0))
    while going := [one for one in counts if one.n < one.target]:
        owners = [(one, block) for one in going for block in one.blocks(seed)]
        blocks = [block for _, block in owners]
        results = run_blocks(blocks, n_jobs=n_jobs, done=reporter.listen(blocks), part=reporter.part)
        for (one, _), values in zip(owners, results, strict=True):
            one.add(values)
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
