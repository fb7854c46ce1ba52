"""What two systems' answers to the same items show: accuracies, their difference, agreement, all tests.

Two systems answer different items of the same kind, right or wrong: unpaired accuracy.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.corrections import correct
from humeval_power.inference.item_bootstrap import swapped_sum_p
from humeval_power.inference.mcnemar import asymptotic_p, binomial_pmf, exact_p, mid_p, unconditional_p
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates
from humeval_power.scenarios.discordant_counts import ENUMERATION, binomial_window

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
        refuse(problems)

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


# Two systems' accuracies compared, items independent or in clusters, and every pair of several systems.

# Which items each of several systems got right, and what is known of the items.

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Right and wrong answers of systems to the same items: `right` is (n_items, n_systems).

    `clusters` are those of the items, None where they count as independent; `suspects` are columns that look like
    clusters; `notices` what was noticed in reading.

    Raises
    ------
    InputError
        No items, fewer than two systems, names that do not belong to them, or clusters of other items.

    Examples
    --------
    >>> Answers(np.array([[True, True], [False, True]]), systems=("old", "new")).pair(0, 1).difference
    0.5
    """

    right: Flags
    systems: tuple[str, ...] = ("A", "B")
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "right", np.asarray(self.right, dtype=np.bool_))
        if self.right.ndim != 2 or self.right.shape[1] < 2:
            raise InputError(
                "Right answers are a table with a row for each item and a column for each system."
            )
        n_items, n_systems = self.right.shape
        if not n_items:
            raise InputError("There are no items.")
        if len(set(self.systems)) != n_systems:
            raise InputError(f"{n_systems} systems need different names; got {', '.join(self.systems)}.")
        if self.clusters is not None and self.clusters.n_items != n_items:
            raise InputError(f"There are {n_items:,} items, and clusters of {self.clusters.n_items:,}.")

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.right)

    def pair(self, first: int, second: int) -> PairedCounts:
        """Items by which of two systems got them right; the first is A, the second is B."""
        return paired_counts(self.right[:, second], self.right[:, first])

    def gains(self, first: int, second: int) -> NDArray[np.float64]:
        """1 where only the second system is right, -1 where only the first is, shape (n_items,)."""
        return self.right[:, second].astype(np.float64) - self.right[:, first]


@dataclass(frozen=True, slots=True)
class CountsComparison:
    """B against A: counts, tests with the recommended one first, and the clustered mean of the differences where
    the items are in clusters. `p_adjusted` is Holm's (1979), None for a comparison that stands alone."""

    name: str
    counts: PairedCounts
    tests: tuple[TableTest, ...]
    systems: tuple[str, str] = ("A", "B")
    clustered: ClusteredMean | None = None
    p_adjusted: float | None = None

    @property
    def p_value(self) -> float:
        """Of the recommended test, as the decision takes it: adjusted where there are several comparisons."""
        return self.tests[0].p_value if self.p_adjusted is None else self.p_adjusted

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Of the difference B - A: Bonett and Price's, or Student's with CR2 where there are clusters."""
        if self.clustered is None:
            return self.counts.interval(confidence)
        if (
            not self.clustered.standard_error > 0
        ):  # nothing varies between the clusters: nothing to judge by
            return math.nan, math.nan
        low, high = self.clustered.interval(confidence)
        return max(low, -1.0), min(high, 1.0)


def compared(name: str, counts: PairedCounts) -> CountsComparison:
    """A comparison of counts alone, whose items count as independent."""
    return CountsComparison(name, counts, all_tests(counts))


def all_comparisons(answers: Answers) -> tuple[CountsComparison, ...]:
    """Every pair of systems, the later one minus the earlier one; Holm's correction where there are several."""
    pairs = [
        _of_pair(answers, first, second) for first, second in combinations(range(len(answers.systems)), 2)
    ]
    if len(pairs) == 1:
        return tuple(pairs)
    adjusted = correct([each.tests[0].p_value for each in pairs], "holm")
    return tuple(replace(each, p_adjusted=float(p)) for each, p in zip(pairs, adjusted, strict=True))


def accuracy_interval(answers: Answers, system: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of one system's accuracy: Student's with CR2 in clusters, Wilson's (1927) without."""
    right = answers.right[:, system].astype(np.float64)
    if answers.clusters is not None:
        low, high = clustered_mean(right, answers.clusters).interval(confidence)
        return max(low, 0.0), min(high, 1.0)
    from scipy.stats import binomtest

    interval = binomtest(int(right.sum()), len(right)).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def _of_pair(answers: Answers, first: int, second: int) -> CountsComparison:
    counts, systems = answers.pair(first, second), (answers.systems[first], answers.systems[second])
    name = "" if answers.systems == ("A", "B") else f"{systems[1]} - {systems[0]}"
    if answers.clusters is None:
        return replace(compared(name, counts), systems=systems)
    gains = answers.gains(first, second)
    mean = clustered_mean(gains, answers.clusters)
    return CountsComparison(
        name, counts, clustered_tests(counts, gains, answers.clusters, mean), systems, mean
    )


def clustered_tests(
    counts: PairedCounts, gains: Floats, clusters: Clusters, mean: ClusteredMean
) -> tuple[TableTest, ...]:
    """Two-sided tests of equal accuracy where items come in clusters, the recommended one first, and McNemar's
    last, to show what it is to ignore them.

    Student's test is NaN where the difference does not vary between clusters and is not 0.
    """
    p_value = 1.0 if math.isclose(mean.estimate, 0.0, abs_tol=1e-15) else mean.p_value()
    return (
        TableTest("clustered-t", p_value, "recommended"),
        TableTest("cluster-swaps", swapped_sum_p(gains, clusters), "exact where systems are exchangeable"),
        TableTest("mid-p", float(mid_p(counts.only_b, counts.only_a)), "as if the items were independent"),
    )


Counts = NDArray[np.int64]
MOST_ENUMERATED = 100_000


@dataclass(frozen=True)
class UnpairedAccuracy(BlockScenario):
    """Two test sets of `n_items` each, the accuracy of A and a true difference of accuracy B - A."""

    effect_field: ClassVar[str] = "difference"

    n_items: int
    difference: float
    _: KW_ONLY
    baseline: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_items < 1:
            problems.append(Problem(f"A test set has at least one item; got {self.n_items}.", ""))
        if not 0 < self.alpha < 1:
            problems.append(Problem(f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if not 0 <= self.baseline <= 1:
            rule = f"An accuracy is a share between 0 and 1; got {self.baseline:g}."
            problems.append(Problem(rule, "Divide by 100."))
        elif not -1e-12 <= self.baseline + self.difference <= 1 + 1e-12:
            rule = f"An accuracy of {self.baseline:.4g} cannot change by {self.difference:+.4g}."
            problems.append(Problem(rule, f"At most {1 - self.baseline:.4g} is left above it."))
        refuse(problems)

    @property
    def other(self) -> float:
        """Accuracy of B."""
        return min(max(self.baseline + self.difference, 0.0), 1.0)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        n = self.n_items
        a = rng.binomial(n, self.baseline, size=size)
        b = rng.binomial(n, self.other, size=size)
        variance = (a * (n - a) + b * (n - b)) / n**3
        p_value = unpaired_p(b, a, n_b=n, n_a=n)
        return Replicates.of_tests((b - a) / n, p_value, standard_error=np.sqrt(variance))

    def computed(self) -> ComputedPower:
        """Exact power by enumeration; the normal approximation for very large test sets."""
        if self.n_items > MOST_ENUMERATED:
            return self.approximated()
        n = self.n_items
        a, b = binomial_window(n, self.baseline), binomial_window(n, self.other)
        chance_a, chance_b = binomial_pmf(a, n, self.baseline), binomial_pmf(b, n, self.other)
        above = _least_above(a, n, self.alpha)
        below = n - _least_above(n - a, n, self.alpha)  # the mirror image: wrong answers counted
        up, gap_up = _tail(chance_b, b, np.searchsorted(b, above), a, chance_a)
        down, gap_down = _tail(chance_b[::-1], -b[::-1], np.searchsorted(-b[::-1], -below), -a, chance_a)
        right, wrong = (up, down) if self.difference >= 0 else (down, up)
        return self._answer(right, wrong, (gap_up + gap_down) / n, ENUMERATION, exact=True)

    def approximated(self) -> ComputedPower:
        """The normal approximation: pooled variance under no difference, separate ones under the true one.

        Its power is that of R's power.prop.test, which ignores the wrong sign too.
        """
        n, a, b = self.n_items, self.baseline, self.other
        mean, center = abs(b - a), (a + b) / 2
        gap = -float(special.ndtri(self.alpha / 2)) * math.sqrt(2 * center * (1 - center) / n)
        error = math.sqrt((a * (1 - a) + b * (1 - b)) / n)
        method = "normal approximation of two proportions"
        if error == 0:
            surely = float(mean > 0)
            return self._answer(surely, 0.0, surely * mean, method, exact=False)
        high, low = (mean - gap) / error, (-mean - gap) / error
        right, wrong = float(special.ndtr(high)), float(special.ndtr(low))
        density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
        return self._answer(right, wrong, mean * (right - wrong) + error * density, method, exact=False)

    def _answer(
        self, right: float, wrong: float, size: float, method: str, *, exact: bool
    ) -> ComputedPower:
        both, effect = right + wrong, abs(self.difference)
        known = effect > 0 and both > 0
        return ComputedPower(
            power=right,
            rejection_rate=both,
            type_m=size / (both * effect) if known else math.nan,
            type_s=wrong / both if known else math.nan,
            method=method,
            exact=exact,
        )


def _least_above(a: Counts, n: int, alpha: float) -> Counts:
    """The least count of B above each count of A that is significant, n + 1 where none is.

    Above that of A the statistic grows with the count of B, so that halving finds it.
    """
    low, high = a, np.full_like(a, n + 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        significant = (middle > low) & (unpaired_p(middle, a, n_b=n, n_a=n) <= alpha)
        low, high = np.where(significant, low, middle), np.where(significant, middle, high)
    return high


def _tail(chance_b: Floats, b: Counts, first: Counts, a: Counts, chance_a: Floats) -> tuple[float, float]:
    """Chance that B's count is at least b[first] for each of A, and the mean of b - a over that."""
    above = np.append(np.cumsum(chance_b[::-1])[::-1], 0.0)[first]
    gap = np.append(np.cumsum((chance_b * b)[::-1])[::-1], 0.0)[first] - a * above
    return float(chance_a @ above), float(chance_a @ gap)
