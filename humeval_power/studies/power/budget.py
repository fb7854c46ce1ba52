"""The cheapest study that reaches a target: of every number of workers the fewest items, the cheapest of these."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import InputError
from humeval_power.studies.power.required import RequiredSize

_FIRST = 8  # numbers of workers that are looked at, over all of them
_NEARER = 4  # and then on each side of the best


def cheapest_size(
    size_of: Callable[[int], RequiredSize], costs: CostModel, *, least: int, most: int
) -> RequiredSize:
    """The cheapest of the studies `size_of(workers)`, each with the fewest items that reach the target.

    Costs fall and then rise with the number of workers, but for steps of an item, so that the cheapest is found to
    within such a step. Of equals it has the fewest workers; where none reaches the target it is that of the most.

    Raises
    ------
    InputError
        No number of workers that an item can have.
    """
    if most < least:
        raise InputError(f"An item needs {least} workers: max_workers must be at least that; got {most}.")
    known: dict[int, RequiredSize] = {}

    def rank(workers: int) -> tuple[float, int]:
        if workers not in known:
            known[workers] = size_of(workers)
        counts = known[workers].counts
        return (math.inf if counts is None else cost_of(counts, costs).cents, workers)

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
