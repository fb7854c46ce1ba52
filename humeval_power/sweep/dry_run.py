"""What blocks will cost, from a few of them: counted, measured for some seconds, and not computed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from humeval_power.blas import one_blas_thread
from humeval_power.kernels.compile_events import listening
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.dispatch import TASK_SECONDS
from humeval_power.sweep.engine import sweep_in_force

_MEASURED = 4.0  # seconds of blocks that are measured, about
_MOST_MEASURED = 12  # blocks


@dataclass(frozen=True, slots=True)
class Cost:
    """What a list of blocks costs.

    `seconds` are those of one core; `n_kept` blocks are finished already and are not in the other counts;
    `measured` of the blocks were computed to see how long they take.
    """

    n_blocks: int
    n_kept: int
    n_replicates: int
    n_tasks: int
    seconds: float
    measured: int


class CostFound(BaseException):
    """Ends a command at its first blocks, with what they cost; nothing of the package catches it on its way."""

    def __init__(self, cost: Cost) -> None:
        super().__init__()
        self.cost = cost


class DryRun:
    """An engine that computes a few blocks to see how long they take, and ends the command."""

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`; raises CostFound, unless there is nothing to do."""
        if blocks:
            sweep = sweep_in_force()
            raise CostFound(cost_of([block for _, block in blocks], n_kept=sweep.n_kept if sweep else 0))
        yield from ()


def cost_of(blocks: Sequence[Block], *, n_kept: int = 0) -> Cost:
    """What blocks cost: their own word for how long they take, corrected by some of them that are measured."""
    ranked = sorted(blocks, key=lambda block: block.seconds)
    said, took, measured = 0.0, 0.0, 0
    if ranked[0].seconds < _MEASURED:
        ranked[0].run()  # what has to be loaded for the first costs once, and is not counted
    with one_blas_thread():
        for place in _spread(len(ranked)):
            block, compiled, before = ranked[place], list[str](), time.process_time()
            with listening(compiled.append):
                block.run()
            if compiled:  # that costs once, too
                before = time.process_time()
                block.run()
            took += time.process_time() - before
            said += block.seconds or 1.0
            measured += 1
            if took > _MEASURED:
                break
    seconds = sum(block.seconds or 1.0 for block in blocks) * took / said
    return Cost(
        n_blocks=len(blocks),
        n_kept=n_kept,
        n_replicates=sum(block.replicates for block in blocks),
        n_tasks=min(len(blocks), max(1, math.ceil(seconds / TASK_SECONDS))),
        seconds=seconds,
        measured=measured,
    )


def _spread(n: int) -> list[int]:
    """Some places of a list in an order that has seen short and long ones soon."""
    shares = [0.5, 0.9, 0.25, 0.75, 0.99, 0.1, 0.6, 0.4, 0.8, 0.95, 0.3, 0.7]
    return list(dict.fromkeys(min(n - 1, int(share * n)) for share in shares))[:_MOST_MEASURED]
