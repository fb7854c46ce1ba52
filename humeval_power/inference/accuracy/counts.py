"""What two systems' answers to the same items show: accuracies, their difference, agreement, all tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.errors import InputError, Problem
from humeval_power.inference.mcnemar import asymptotic_p, exact_p, mid_p
from humeval_power.inference.unconditional import unconditional_p

Floats = NDArray[np.float64]


def unpaired_p(right_b: ArrayLike, right_a: ArrayLike, *, n_b: int, n_a: int) -> Floats:
    """Two-sided p-values of Pearson's test (pooled variance, no correction) from counts of right answers.

    Items that both systems answered make it lose power, because it does not know that they are the same.
    """
    b, a = np.asarray(right_b, dtype=np.float64), np.asarray(right_a, dtype=np.float64)
    pooled = (a + b) / (n_a + n_b)
    variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b)
    statistic = np.abs(b / n_b - a / n_a) / np.sqrt(np.where(variance > 0, variance, np.inf))
    return np.asarray(2 * special.ndtr(-statistic))


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Items by which system got them right: B alone, A alone, of `n_items`; `both` is None if not known."""

    only_b: int
    only_a: int
    n_items: int
    both: int | None = None

    def __post_init__(self) -> None:
        problems = []
        for name in ("only_b", "only_a", "n_items", "both"):
            value = getattr(self, name)
            if value is not None and value < 0:
                rule = f"{name} counts items and cannot be negative; got {value}."
                problems.append(Problem(rule, ""))
        counted = self.only_b + self.only_a + (self.both or 0)
        if not problems and counted > self.n_items:
            rule = f"{counted:,} items are counted, but there are {self.n_items:,} in all."
            problems.append(Problem(rule, "b and c are the items that one system alone got right."))
        if not problems and self.n_items == 0:
            problems.append(Problem("There are no items.", ""))
        if problems:
            raise InputError(problems)

    @property
    def difference(self) -> float:
        """Accuracy of B minus that of A."""
        return (self.only_b - self.only_a) / self.n_items

    @property
    def agreement(self) -> float:
        """Share of items on which both are right or both wrong."""
        return 1 - (self.only_b + self.only_a) / self.n_items

    @property
    def accuracies(self) -> tuple[float, float] | None:
        """Of A and of B; None where the items that both got right are not known."""
        if self.both is None:
            return None
        return (self.both + self.only_a) / self.n_items, (self.both + self.only_b) / self.n_items

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Interval of the difference: Wald's after adding one item to each discordant count (Bonett &
        Price 2012)."""
        n = self.n_items + 2
        b, c = (self.only_b + 1) / n, (self.only_a + 1) / n
        z = float(special.ndtri((1 + confidence) / 2))
        reach = z * math.sqrt((b + c - (b - c) ** 2) / n)
        return max(b - c - reach, -1.0), min(b - c + reach, 1.0)


@dataclass(frozen=True, slots=True)
class TableTest:
    """The p-value of one test, NaN where it needs what is not known, and what to think of it."""

    name: str
    p_value: float
    remark: str


def all_tests(counts: PairedCounts) -> tuple[TableTest, ...]:
    """Every two-sided test of equal accuracy, the recommended one first (Fagerland, Lydersen & Laake
    2013)."""
    b, c, n = counts.only_b, counts.only_a, counts.n_items
    right = None if counts.both is None else (counts.both + b, counts.both + c)
    unpaired = math.nan if right is None else float(unpaired_p(*right, n_b=n, n_a=n))
    return (
        TableTest("mid-p", float(mid_p(b, c)), "recommended"),
        TableTest("unconditional", float(unconditional_p(b, c, n)[0]), "exact over every rate"),
        TableTest("asymptotic", float(asymptotic_p(b, c)), "slightly bold in small samples"),
        TableTest("exact", float(exact_p(b, c)), "never bold, loses power"),
        TableTest("unpaired", unpaired, "for different items only"),
    )


def paired_counts(right_b: ArrayLike, right_a: ArrayLike) -> PairedCounts:
    """Count a pair of arrays that say for every item whether the system got it right."""
    b, a = np.asarray(right_b, dtype=bool), np.asarray(right_a, dtype=bool)
    return PairedCounts(
        only_b=int((b & ~a).sum()), only_a=int((a & ~b).sum()), n_items=len(b), both=int((a & b).sum())
    )
