"""A block of work, and the one call that runs a list of them by the sweep in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from humeval_power.sweep.engine import alone, sweep_in_force
from humeval_power.sweep.parts import hearing

Done = Callable[[int], None]  # is told the place, in the list, of each block that is finished


class Block(NamedTuple):
    """A pure function and its arguments; its result does not depend on where it is computed.

    Attributes
    ----------
    work : a function at the top of its module, called as work(*arguments, n_jobs=k); `n_jobs` threads may be
        used and must not be seen in what it returns, which is small and can be pickled.
    arguments : frozen records, numbers, texts, arrays, functions at the top of a module, and tuples of these.
    seconds : about how long it takes on one core; the time left is judged by it, and short blocks are sent
        together. It is no part of what is computed.
    replicates : how many it simulates, for who asks what a command costs; no part of what is computed either.
    """

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float = 0.0
    replicates: int = 0

    def run(self, n_jobs: int = 1) -> Any:
        """Compute it here."""
        with alone():
            return self.work(*self.arguments, n_jobs=n_jobs)


Part = Callable[
    [Block, float], None
]  # is told the share of a block that is done, while it is computed here


def run_blocks(
    blocks: Sequence[Block], *, n_jobs: int = 1, done: Done | None = None, part: Part | None = None
) -> Iterator[Any]:
    """The results of blocks, in their order.

    The sweep in force says where they are computed and where finished ones are kept; without one they are
    computed here, one after the other, each when its result is asked for, with `n_jobs` threads.

    done : called with the place of each block as it is finished, in any order.
    part : called with a block that is computed here, and the share of it that is done.
    """
    sweep = sweep_in_force()
    if sweep is not None:
        yield from sweep.results(blocks, n_jobs=n_jobs, done=done, part=part)
        return
    for place, block in enumerate(blocks):
        with hearing(partial(part, block) if part else None):
            result = block.run(n_jobs)
        if done is not None:
            done(place)
        yield result
