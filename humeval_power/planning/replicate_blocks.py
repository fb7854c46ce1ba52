"""Replicates in blocks of work: how many each has, what it is, and how far a list of them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from humeval_power.planning.workload import seconds_each
from humeval_power.scenarios.blocks import joined
from humeval_power.scenarios.contract import Replicates, Scenario
from humeval_power.sweep.blocks import Block, Done, run_blocks
from humeval_power.sweep.spans import spans

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
    told = Told(progress, seconds)
    return joined(list(run_blocks(blocks, n_jobs=n_jobs, done=told.listen(blocks), part=told.part)))


class Told:
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
