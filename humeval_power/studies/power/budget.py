"""The cheapest study that reaches a target: of every number of workers the fewest items, the cheapest of these."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from humeval_power.costs import CostModel, cost_of, least_of_a_worker
from humeval_power.errors import InputError
from humeval_power.studies.power.required import RequiredSize
from humeval_power.studies.power.systems_study import SystemsSize

Found = TypeVar("Found", RequiredSize, SystemsSize, RequiredSize | SystemsSize)
_FIRST = 8  # numbers of workers that are looked at, over all of them
_NEARER = 4  # and then on each side of the best


def cheapest_size(size_of: Callable[[int], Found], costs: CostModel, *, least: int, most: int) -> Found:
    """The cheapest of the studies `size_of(workers)`, each with the fewest items that reach the target.

    Costs fall and then rise with the number of workers, but for steps of an item, so that the cheapest is found to
    within such a step. Of equals it has the fewest workers; where none reaches the target it is that of the most.
    One whose workers give fewer ratings than is practical at these costs counts only where all do.

    Raises
    ------
    InputError
        No number of workers that an item can have.
    """
    if most < least:
        raise InputError(f"An item needs {least} workers: max_workers must be at least that; got {most}.")
    known: dict[int, Found] = {}

    def rank(workers: int) -> tuple[bool, float, int]:
        if workers not in known:
            known[workers] = size_of(workers)
        counts = known[workers].counts
        if counts is None:
            return True, math.inf, workers
        is_thin = counts.ratings_of_a_worker < least_of_a_worker(costs)
        return is_thin, cost_of(counts, costs).cents, workers

    looked_at = sorted(set(np.geomspace(least, most, _FIRST).round().astype(int).tolist()))
    while not known.keys() >= set(looked_at):
        best = min(looked_at, key=rank)
        if known[best].counts is None:
            return known[most]
        place = looked_at.index(best)
        below, above = looked_at[max(place - 1, 0)], looked_at[min(place + 1, len(looked_at) - 1)]
        grid = np.append(np.linspace(below, best, _NEARER), np.linspace(best, above, _NEARER))
        looked_at = sorted(set(grid.round().astype(int).tolist()))
    return known[min(looked_at, key=rank)]
