"""Blocks sent somewhere as tasks of some seconds, a bounded number at once, and tried again where a task is lost.

How blocks are put together in tasks follows the clock, and cannot be seen in a result: blocks are pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from humeval_power.errors import HumevalPowerError
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.tasks import Outcome

TRIES = 3  # of a block, before it is given up
TASK_SECONDS = 5.0  # of the blocks that are sent together, where there are many
LONGEST_TASK = 30.0  # seconds: of the same on a thousand cores and more, whose scheduler has much to do
_SERVED = 0.012  # seconds for each core between two of its tasks: twice what scheduler and client need
SHORTEST = 0.2  # seconds: tasks get no shorter towards the end
WAVES = 3  # tasks left for each slot from which on they get shorter, so that all slots end together
QUEUED = 2  # tasks for each slot: one is computed, one waits there
MOST_TOGETHER = 10_000  # blocks in a task
_SHOWN = 5  # failed blocks that an error names


class Lost(NamedTuple):
    """A task that came to nothing: the process that computed it is gone, or could not send what it had."""

    reason: str


def loss(error: BaseException | None) -> Lost:
    """What is lost by an error of a task as a whole.

    Raises
    ------
    HumevalPowerError
        Where no other try would end differently: it is one itself, or the blocks cannot be read there.
    """
    if isinstance(error, HumevalPowerError):
        raise error
    if isinstance(error, ImportError | AttributeError):
        raise HumevalPowerError(
            f"A worker cannot read what it is asked to compute: {error}. What is imported here must be "
            "installed there too, in the same versions."
        )
    return Lost(f"{type(error).__name__}: {error}")


class Place(Protocol):
    """Where tasks are sent to."""

    def slots(self) -> int:
        """How many tasks can be computed at once, at present."""
        ...

    def send(self, blocks: Sequence[Block]) -> object:
        """Send blocks as one task; what comes back names it."""
        ...

    def finished(self) -> tuple[object, list[Outcome] | Lost]:
        """Wait until a task has ended: its name, and the outcomes of its blocks as far as it came."""
        ...

    def close(self) -> None:
        """Give up what is under way."""
        ...


class BlocksFailedError(HumevalPowerError):
    """Blocks that failed each time they were tried; all others are done."""


@dataclass(slots=True)
class Sent:
    """A block on its way, and what went wrong so far."""

    key: str
    block: Block
    failures: list[str] = field(default_factory=list)
    n_lost: int = 0

    @property
    def given_up(self) -> bool:
        """Whether it was tried often enough."""
        return len(self.failures) >= TRIES


class Pace:
    """How long blocks take: as they say themselves, corrected by those that are done."""

    def __init__(self) -> None:
        self._said = 0.0
        self._took = 0.0

    def learn(self, block: Block, seconds: float) -> None:
        """A block took so long."""
        self._said += block.seconds or 1.0
        self._took += seconds

    def seconds(self, block: Block) -> float:
        """About how long a block will take; before any is done, one that does not say is sent alone."""
        if self._took:
            return (block.seconds or 1.0) * self._took / self._said
        return block.seconds or TASK_SECONDS


def dispatched(blocks: Sequence[tuple[str, Block]], place: Place) -> Iterator[tuple[str, Any]]:
    """Key and result of each block as it is finished, computed at `place`.

    A block that fails, or whose process dies, is tried again up to three times, at the end and not together
    with others; one that was lost twice is tried the third time while nothing else is under way, so that it
    costs no other block its turn.

    Raises
    ------
    BlocksFailedError
        After everything else: blocks that failed each time.
    HumevalPowerError
        What a block itself refuses, at once: no other try would end differently.
    """
    fresh = deque(Sent(key, block) for key, block in blocks)
    again: deque[Sent] = deque()
    alone: deque[Sent] = deque()
    under_way: dict[object, list[Sent]] = {}
    failed: list[Sent] = []
    pace = Pace()
    with closing(place):
        while fresh or again or alone or under_way:
            while group := _next_group(fresh, again, alone, len(under_way), place.slots(), pace):
                under_way[place.send([sent.block for sent in group])] = group
            name, answer = place.finished()
            group = under_way.pop(name)
            outcomes = [] if isinstance(answer, Lost) else answer
            for sent, outcome in zip(group, outcomes, strict=False):
                if outcome.refusal is not None:
                    raise outcome.refusal
                if outcome.failure:
                    sent.failures.append(outcome.failure)
                    (failed if sent.given_up else again).append(sent)
                else:
                    pace.learn(sent.block, outcome.seconds)
                    yield sent.key, outcome.result
            for sent in group[len(outcomes) :]:
                sent.failures.append(answer.reason if isinstance(answer, Lost) else "not computed")
                sent.n_lost += 1
                queue = alone if sent.n_lost == TRIES - 1 else again
                (failed if sent.given_up else queue).append(sent)
    if failed:
        raise BlocksFailedError(_told(failed, len(blocks)))


def _next_group(
    fresh: deque[Sent], again: deque[Sent], alone: deque[Sent], n_sent: int, slots: int, pace: Pace
) -> list[Sent]:
    """The blocks of the next task; none where enough is under way."""
    if n_sent >= max(1, QUEUED * slots):
        return []
    if fresh:
        return _together(fresh, slots, pace)
    if again:
        return [again.popleft()]
    return [alone.popleft()] if alone and not n_sent else []


def _together(fresh: deque[Sent], slots: int, pace: Pace) -> list[Sent]:
    """Blocks for one task: some seconds of work, less where little is left for all slots."""
    left = len(fresh) * pace.seconds(fresh[0].block)  # neighbours are alike
    most = min(LONGEST_TASK, max(TASK_SECONDS, slots * _SERVED))
    wanted = min(most, max(SHORTEST, left / (WAVES * max(1, slots))))
    group, seconds = [fresh.popleft()], 0.0
    while fresh and len(group) < MOST_TOGETHER:
        seconds += pace.seconds(group[-1].block)
        if seconds + pace.seconds(fresh[0].block) > wanted:
            break
        group.append(fresh.popleft())
    return group


def _told(failed: Sequence[Sent], n_blocks: int) -> str:
    named = "; ".join(f"{_name(sent.block)}: {sent.failures[-1]}" for sent in failed[:_SHOWN])
    more = f"; and {len(failed) - _SHOWN:,} more" if len(failed) > _SHOWN else ""
    return f"{len(failed):,} of {n_blocks:,} blocks failed {TRIES} times each, the others are done. {named}{more}."


def _name(block: Block) -> str:
    """A block in words: its function, and the numbers and texts among its arguments."""
    plain = [repr(value) for value in block.arguments if isinstance(value, int | float | str)]
    return f"{getattr(block.work, '__qualname__', block.work)}({', '.join(plain)})"
