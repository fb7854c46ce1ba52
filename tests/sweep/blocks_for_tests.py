"""Blocks and engines that the tests of sweeps share: functions at the top of a module, found by name."""

import os
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from humeval_power.errors import InputError
from humeval_power.sweep.blocks import Block


def mean_of_normals(seed: int, first: int, n: int, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """A little work with random numbers of its own."""
    return float(np.random.default_rng([seed, first]).standard_normal(n).mean())


def normal_blocks(count: int, *, seed: int = 1) -> list[Block]:
    """Blocks of different lengths."""
    return [Block(mean_of_normals, (seed, place, 5 + place), 0.001) for place in range(count)]


@dataclass
class AnyOrder:
    """An engine that finishes blocks in a random order."""

    seed: int
    n_run: int = 0

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """Compute them here, shuffled."""
        shuffled = list(blocks)
        random.Random(self.seed).shuffle(shuffled)
        for key, block in shuffled:
            self.n_run += 1
            yield key, block.run()


@dataclass
class Memory:
    """A store that lasts as long as the test."""

    kept: dict[str, Any] = field(default_factory=dict)

    def get(self, key: str) -> Any | None:
        """What is kept."""
        return self.kept.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keep it."""
        self.kept[key] = result


def total(array: np.ndarray[Any, Any], more: int, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """Work on an array that many blocks share."""
    return float(array.sum()) + more


def fails(place: int, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """A block with a fault."""
    raise ValueError(f"there is no {place}")


def refuses(*, n_jobs: int = 1) -> float:  # noqa: ARG001
    """A block whose question is refused."""
    raise InputError("Nobody can answer this.")


def dies(mark: str, times: int, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """Kills its process the first few times; `mark` is a file that grows by a letter for each."""
    with open(mark, "a+", encoding="ascii") as file:
        file.seek(0)
        if len(file.read()) < times:
            file.write("x")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def fails_once(mark: str, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """Fails the first time only."""
    if os.path.exists(mark):
        return 2.0
    with open(mark, "w", encoding="ascii"):
        raise OSError("the first time")
