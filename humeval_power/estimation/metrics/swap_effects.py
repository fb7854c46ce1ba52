"""What swapping sentences between two systems does to the difference of a corpus metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.estimation.metrics.sentence_counts import SentenceCounts

Floats = NDArray[np.float64]
_PORTION = 256  # subsets swapped at a time


def swap_effects(counts: SentenceCounts) -> Floats:
    """Change of B - A when one sentence is swapped and all others are left, shape (n_sentences,).

    Card et al. (2020, section 4) call it delta_i; it is exactly 0 where both outputs count alike.
    """
    moved = counts.b - counts.a
    a, b = counts.a.sum(axis=0), counts.b.sum(axis=0)
    return np.asarray(counts.value(b - moved) - counts.value(a + moved) - counts.difference)


def swapped_differences(counts: SentenceCounts, swapped: NDArray[np.bool_]) -> Floats:
    """B - A after the sentences of each subset are swapped, shape (n_subsets,).

    swapped : shape (n_subsets, n_sentences).
    """
    moved = counts.b - counts.a
    a, b = counts.a.sum(axis=0), counts.b.sum(axis=0)
    found = []
    for begin in range(0, len(swapped), _PORTION):
        change = swapped[begin : begin + _PORTION].astype(np.float64) @ moved
        found.append(counts.value(b - change) - counts.value(a + change))
    return np.concatenate(found)


def random_subsets(rng: np.random.Generator, n_sentences: int, n_subsets: int) -> NDArray[np.bool_]:
    """Subsets that hold each sentence with probability 1/2, shape (n_subsets, n_sentences)."""
    bits = rng.integers(256, size=(n_subsets, -(-n_sentences // 8)), dtype=np.uint8)
    return np.unpackbits(bits, axis=1, count=n_sentences).view(np.bool_)


@dataclass(frozen=True, eq=False)
class Additivity:
    """Sums of single effects against the true effect of swapping the same subsets (Card et al., Fig. 15).

    Both of shape (n_subsets,). Additive effects have correlation 1, slope 1 and no error.
    """

    summed: Floats
    true: Floats

    @cached_property
    def correlation(self) -> float:
        """Pearson's; NaN where no swap changes anything."""
        if np.ptp(self.summed) == 0 or np.ptp(self.true) == 0:
            return float("nan")
        return float(np.corrcoef(self.summed, self.true)[0, 1])

    @cached_property
    def slope(self) -> float:
        """Of the true effect on the sum, by least squares; NaN where no swap changes anything."""
        centred = self.summed - self.summed.mean()
        spread = float(centred @ centred)
        return float(centred @ self.true) / spread if spread > 0 else float("nan")

    @cached_property
    def error(self) -> float:
        """Root mean square of true effect minus sum, in the metric's points."""
        return float(np.sqrt(np.mean((self.true - self.summed) ** 2)))


def additivity(
    counts: SentenceCounts, effects: Floats, *, rng: np.random.Generator, n_subsets: int = 1000
) -> Additivity:
    """Swap random halves of the sentences and compare with the sums of their single effects.

    Raises
    ------
    InputError
        Fewer than 2 subsets.
    """
    if n_subsets < 2:
        raise InputError(f"At least 2 subsets are needed to see whether effects add up; got {n_subsets}.")
    swapped = random_subsets(rng, len(counts), n_subsets)
    true = swapped_differences(counts, swapped) - counts.difference
    return Additivity(swapped @ effects, true)
