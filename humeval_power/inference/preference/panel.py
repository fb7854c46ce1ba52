"""Who judges which item: workers in turn, a fixed number for each item, the order of presentation balanced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Panel:
    """Judgements of `n_items` items by `n_workers` workers, no pair of them twice.

    Items have equally many judgements, or differ by one; so have workers. What is shown first takes turns
    over a worker's judgements.
    """

    n_judgements: int
    n_workers: int
    n_items: int

    def __post_init__(self) -> None:
        problems = []
        n, m, items = self.n_judgements, self.n_workers, self.n_items
        if min(n, m, items) < 2:
            problems.append(
                Problem(
                    f"There must be at least two judgements, workers and items; got {n}, {m}, {items}.", ""
                )
            )
        elif max(m, items) > n:
            problems.append(
                Problem(
                    f"{n:,} judgements cannot occupy {m:,} workers and {items:,} items.", "Ask for more."
                )
            )
        elif n > m * items:
            problems.append(
                Problem(
                    f"{m:,} workers and {items:,} items have {m * items:,} pairs; {n:,} judgements would need "
                    "the same pair twice.",
                    "Take more workers or items, or fewer judgements.",
                )
            )
        if problems:
            raise InputError(problems)

    @property
    def workers_repeat(self) -> bool:
        """Whether workers judge several items, so that their variation shows."""
        return self.n_workers < self.n_judgements

    @property
    def items_repeat(self) -> bool:
        """Whether items are judged several times."""
        return self.n_items < self.n_judgements

    @property
    def assignment(self) -> tuple[Codes, Codes, Floats]:
        """Worker, item and position (+1/2: B is shown first) of each judgement."""
        worker, position = self._turns(np.arange(self.n_judgements))
        return worker, np.repeat(np.arange(self.n_items), self._sizes), position

    @property
    def kinds(self) -> Iterator[tuple[Codes, Floats, int]]:
        """Workers and positions of each kind of item that there is, and how many items are of that kind; where
        no worker has two judgements, items of a size and first position are of one kind."""
        sizes = self._sizes
        period = 2 * self.n_workers if self.workers_repeat else 2  # the turns repeat after two rounds
        start = (np.cumsum(sizes) - sizes) % period
        kinds, count = np.unique(np.stack([start, sizes]), axis=1, return_counts=True)
        for first, size, several in zip(*kinds, count, strict=True):
            yield *self._turns(first + np.arange(size)), int(several)

    @property
    def _sizes(self) -> Codes:
        """Judgements of each item."""
        each, more = divmod(self.n_judgements, self.n_items)
        return each + (np.arange(self.n_items) < more).astype(np.int64)

    def _turns(self, place: Codes) -> tuple[Codes, Floats]:
        """Worker and position of the judgements at these places."""
        odd = place + place // self.n_workers if self.n_workers % 2 == 0 else place
        return place % self.n_workers, np.where(odd % 2 == 0, 0.5, -0.5)
