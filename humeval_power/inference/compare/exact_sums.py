"""The sum of as many draws with replacement as there are differences, exactly, where these lie on a lattice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.compare.result import Floats

MOST_CELLS = 20_000  # of the lattice on which the sum of all draws is found by convolution
_FINEST = 4  # decimals of a lattice that is looked for
_DUST = 1e-15  # a probability below is rounding of the transform


@dataclass(frozen=True, slots=True, eq=False)
class ExactSums:
    """Probabilities of the sums `low`, `low + 1`, ... in steps of `unit`, of `n` draws."""

    low: int
    probabilities: Floats
    unit: float
    n: int

    @property
    def means(self) -> Floats:
        """The means that belong to the sums."""
        return np.asarray((self.low + np.arange(len(self.probabilities))) * self.unit / self.n)

    def possible(self) -> tuple[Floats, Floats, float]:
        """The means that can be, their probabilities, and the least step between them (0 for a single one)."""
        kept = self.probabilities > 0
        means = self.means[kept]
        return means, self.probabilities[kept], float(np.diff(means).min()) if len(means) > 1 else 0.0

    def at_most_zero(self) -> float:
        """P(sum <= 0)."""
        return float(min(1.0, self.probabilities[: max(1 - self.low, 0)].sum()))

    def zero(self) -> float:
        """P(sum = 0)."""
        inside = 0 <= -self.low < len(self.probabilities)
        return float(self.probabilities[-self.low]) if inside else 0.0


def lattice_of(differences: Floats) -> tuple[NDArray[np.int64], float] | None:
    """The differences in whole steps of their common unit, and the unit; None without one of a few decimals."""
    for decimals in range(_FINEST + 1):
        scaled = differences * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() <= 1e-9 * max(1.0, float(np.abs(scaled).max())):
            steps = whole.astype(np.int64)
            unit = int(np.gcd.reduce(steps))
            return (np.asarray(steps // unit), unit / 10.0**decimals) if unit else (steps, 1.0)
    return None


def exact_sums(differences: Floats) -> ExactSums | None:
    """The distribution of the sum; None where no coarse lattice holds the differences."""
    found = lattice_of(differences)
    if found is None:
        return None
    (steps, unit), n = found, len(differences)
    low, high = int(steps.min()), int(steps.max())
    if low >= -1 and high <= 1:
        return sums_of_counts(n, int((steps == 1).sum()), int((steps == -1).sum()), unit=unit)
    if n * (high - low) > MOST_CELLS:
        return None
    one = np.bincount(steps - low, minlength=high - low + 1) / n
    total = np.ones(1)
    for bit in bin(n)[2:]:  # the n-fold convolution by squaring
        total = np.convolve(total, total)
        total = np.convolve(total, one) if bit == "1" else total
    return ExactSums(n * low, total, unit, n)


def sums_of_counts(n_items: int, n_helped: int, n_hurt: int, *, unit: float = 1.0) -> ExactSums:
    """The same for differences of which `n_helped` are one step up and `n_hurt` one down, of any number of items.

    The characteristic function to the power n, transformed back: probabilities are good to about 1e-13, and below
    1e-15 they are 0.
    """
    size = 2 * n_items + 1
    turn = np.exp(-2j * np.pi * np.arange(n_items + 1) / size)
    same = n_items - n_helped - n_hurt
    one = (same + n_helped * turn + n_hurt * turn.conj()) / n_items
    found = np.fft.irfft(one**n_items, size)
    found = np.where(found < _DUST, 0.0, found)
    probabilities = np.roll(found, n_items) / found.sum()
    return ExactSums(-n_items, probabilities, unit, n_items)
