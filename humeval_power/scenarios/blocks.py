"""Vectorised drawing that keeps the promise of a scenario: replicate i belongs to the seed alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol, Self, TypeVar

import numpy as np

from humeval_power.scenarios.contract import Replicates
from humeval_power.simulation.study import replicate_generator


class Partable(Protocol):
    """A record of replicates of which some can be taken."""

    def part(self, rows: slice) -> Self:
        """Some of the replicates."""
        ...


Drawn = TypeVar("Drawn", bound=Partable)
BLOCK = 2048  # replicates drawn together from one child of the seed; part of what a seed means


def draw_in_blocks(
    draw_block: Callable[[np.random.Generator, int], Replicates],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> Replicates:
    """Replicates `first` to `first + n - 1`, as `parts_in_blocks` draws them."""
    return joined(parts_in_blocks(draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size))


def parts_in_blocks(
    draw_block: Callable[[np.random.Generator, int], Drawn],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> list[Drawn]:
    """Replicates `first` to `first + n - 1` in consecutive parts, cut out of whole blocks of `size`.

    Block b is `draw_block(child b of the seed, size)`, so neither the portions in which replicates are
    asked for nor `n_jobs` change any of them. Choose a smaller `size` where a replicate needs much memory
    or time; it is part of what a seed means.
    """
    blocks = range(first // size, -(-(first + n) // size))

    def part(block: int) -> Drawn:
        drawn = draw_block(replicate_generator(seed, block), size)
        return drawn.part(slice(max(first - block * size, 0), min(first + n - block * size, size)))

    if n_jobs == 1 or len(blocks) == 1:
        return [part(block) for block in blocks]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(part, blocks))


def joined(parts: list[Replicates]) -> Replicates:
    """One record from consecutive parts."""
    if len(parts) == 1:
        return parts[0]
    given = [part.claim for part in parts if part.claim is not None]
    claims = given if len(given) == len(parts) else None
    return replace(
        parts[0],
        estimate=np.concatenate([part.estimate for part in parts]),
        standard_error=np.concatenate([part.standard_error for part in parts]),
        df=np.concatenate([part.df for part in parts]),
        p_value=np.concatenate([part.p_value for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        boundary=np.concatenate([part.boundary for part in parts]),
        claim=None if claims is None else np.concatenate(claims),
    )
