"""Two systems' accuracies compared, items independent or in clusters, and every pair of several systems."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.inference.accuracy.answers import Answers
from humeval_power.inference.accuracy.counts import Floats, PairedCounts, TableTest, all_tests
from humeval_power.inference.cluster_swaps import swapped_sum_p
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.corrections import correct
from humeval_power.inference.mcnemar import mid_p


@dataclass(frozen=True, slots=True)
class Comparison:
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


def compared(name: str, counts: PairedCounts) -> Comparison:
    """A comparison of counts alone, whose items count as independent."""
    return Comparison(name, counts, all_tests(counts))


def all_comparisons(answers: Answers) -> tuple[Comparison, ...]:
    """Every pair of systems, the later one minus the earlier one; Holm's correction where there are several."""
    found = [
        _of_pair(answers, first, second) for first, second in combinations(range(len(answers.systems)), 2)
    ]
    if len(found) == 1:
        return tuple(found)
    adjusted = correct([each.tests[0].p_value for each in found], "holm")
    return tuple(replace(each, p_adjusted=float(p)) for each, p in zip(found, adjusted, strict=True))


def accuracy_interval(answers: Answers, system: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of one system's accuracy: Student's with CR2 in clusters, Wilson's (1927) without."""
    right = answers.right[:, system].astype(np.float64)
    if answers.clusters is not None:
        low, high = clustered_mean(right, answers.clusters).interval(confidence)
        return max(low, 0.0), min(high, 1.0)
    from scipy.stats import binomtest

    found = binomtest(int(right.sum()), len(right)).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def _of_pair(answers: Answers, first: int, second: int) -> Comparison:
    counts, systems = answers.pair(first, second), (answers.systems[first], answers.systems[second])
    name = "" if answers.systems == ("A", "B") else f"{systems[1]} - {systems[0]}"
    if answers.clusters is None:
        return replace(compared(name, counts), systems=systems)
    gains = answers.gains(first, second)
    mean = clustered_mean(gains, answers.clusters)
    return Comparison(name, counts, clustered_tests(counts, gains, answers.clusters, mean), systems, mean)


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
