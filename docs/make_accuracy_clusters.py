"""Print the tables of clusters of which docs/accuracy.md and docs/contingency.md speak:

    python docs/make_accuracy_clusters.py [--quick]

Test sets whose items come in clusters, answered by two systems that are equally good (size), or of which B is
better (coverage of the interval), by accuracy and by F1. The numbers depend on the seed alone. `--quick` uses a
twentieth of the test sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from make_cluster_calibration import sizes_of
from numpy.typing import NDArray
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.comparisons.accuracy.counts import Answers, all_comparisons
from humeval_power.comparisons.contingency.scenario import (
    Labels,
    cluster_swap_test,
    contingency_test,
    influence_mean,
)
from humeval_power.inference.clustered import bell_mccaffrey_df

DOCS = Path(__file__).parent
SEED, SETS, SWAPS, ALPHA = 31, 4_000, 399, 0.05
CLUSTERS = (5, 10, 20, 50, 100)
LAYOUTS = ("equal", "unequal")
SHARED, OWN = 0.3, 0.3  # variances of clusters: of both systems together, and of each system's own
BASE, BETTER = 0.6, 0.25  # thresholds of being right: of A, and what B has more
POSITIVE = 0.3  # share of the positive class
COVERAGE = ("coverage: CR2, t", "coverage: CR1, z", "coverage: items independent")
ACCURACY = ("size: CR2, t", "size: clusters swapped", "size: McNemar, mid-p", *COVERAGE)
F1 = ("size: clusters swapped", "size: CR2, t", "size: items swapped", *COVERAGE)


class TestSet(NamedTuple):
    """True classes and which items A and B got right, (n_items,) and (n_items, 2), and the clusters."""

    gold: NDArray[np.int64]
    right: NDArray[np.bool_]
    clusters: Clusters


def drawn(sizes: NDArray[np.int64], better: float, rng: np.random.Generator) -> TestSet:
    """A test set in which items of a cluster are alike: an item is right where a threshold and three parts that are
    normal (of the cluster, of cluster and system, of the item) are positive together."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(0, SHARED**0.5, (len(sizes), 1)) + rng.normal(0, OWN**0.5, (len(sizes), 2))
    level = BASE + np.array([0.0, better]) + shared[codes]
    right = level + rng.normal(size=level.shape) > 0
    gold = (rng.random(len(codes)) < POSITIVE).astype(np.int64)
    return TestSet(gold, right, Clusters.of(list(codes), name="passage"))


def true_rates(better: float) -> tuple[float, float]:
    """Accuracies of A and B over all clusters."""
    spread = (1 + SHARED + OWN) ** 0.5
    return float(special.ndtr(BASE / spread)), float(special.ndtr((BASE + better) / spread))


def true_f1(rate: float) -> float:
    """F1 where both classes are right at one rate."""
    return 2 * POSITIVE * rate / (2 * POSITIVE * rate + 1 - rate)


def codes_of(found: TestSet) -> NDArray[np.int64]:
    """True class, prediction of A, prediction of B."""
    guesses = np.where(found.right, found.gold[:, None], 1 - found.gold[:, None])
    return np.column_stack([found.gold, guesses])


def accuracy_row(sizes: NDArray[np.int64], n_sets: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Shares of false positives of three tests, then of true differences that three intervals hold."""
    low, high = true_rates(BETTER)
    count = np.zeros(6)
    for _ in range(n_sets):
        null = drawn(sizes, 0.0, rng)
        tests = all_comparisons(Answers(null.right, clusters=null.clusters))[0].tests
        count[:3] += [each.p_value <= ALPHA for each in tests]
        found = drawn(sizes, BETTER, rng)
        compared = all_comparisons(Answers(found.right, clusters=found.clusters))[0]
        mean = compared.clustered
        assert mean is not None
        reach = special.ndtri(1 - ALPHA / 2) * mean.cr1_error
        ends = (
            compared.interval(1 - ALPHA),
            (mean.estimate - reach, mean.estimate + reach),
            compared.counts.interval(1 - ALPHA),
        )
        count[3:] += [lower <= high - low <= upper for lower, upper in ends]
    return count / n_sets


def f1_row(sizes: NDArray[np.int64], n_sets: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The same of F1: clusters swapped, CR2, items swapped; then three intervals."""
    truth = true_f1(true_rates(BETTER)[1]) - true_f1(true_rates(0.0)[0])
    count = np.zeros(6)
    for place in range(n_sets):
        null = drawn(sizes, 0.0, rng)
        codes = codes_of(null)
        swapped = cluster_swap_test(codes, 2, null.clusters, metric="f1", n_swaps=SWAPS, seed=place)
        mean = influence_mean(codes, 2, null.clusters, metric="f1")
        assert mean is not None
        apart = contingency_test(Labels(codes, ("0", "1")).counts, metric="f1")
        p_value = mean.p_value() if mean.standard_error > 0 else 1.0
        count[:3] += [p <= ALPHA for p in (swapped.p_value, p_value, apart.p_value)]
        found = drawn(sizes, BETTER, rng)
        codes = codes_of(found)
        mean = influence_mean(codes, 2, found.clusters, metric="f1")
        alone = influence_mean(codes, 2, None, metric="f1")
        assert mean is not None
        assert alone is not None
        reach = special.ndtri(1 - ALPHA / 2) * mean.cr1_error
        ends = (
            mean.interval(1 - ALPHA),
            (mean.estimate - reach, mean.estimate + reach),
            alone.interval(1 - ALPHA),
        )
        count[3:] += [lower <= truth <= upper for lower, upper in ends]
    return count / n_sets


def rates(metric: str, layout: str, n_clusters: int, n_sets: int) -> NDArray[np.float64]:
    """A row of the table of 'accuracy' or 'f1'."""
    place = (("accuracy", "f1").index(metric), LAYOUTS.index(layout), n_clusters)
    rng = np.random.default_rng([SEED, *place])
    row = accuracy_row if metric == "accuracy" else f1_row
    return row(sizes_of(layout, n_clusters), n_sets, rng)


def table(metric: str, n_sets: int) -> str:
    """False positives and coverage by layout and number of clusters, as Markdown."""
    names = ACCURACY if metric == "accuracy" else F1
    lines = [f"| clusters | df | {' | '.join(names)} |", "|---|" + "--:|" * (1 + len(names))]
    for layout in LAYOUTS:
        for n_clusters in CLUSTERS:
            df = bell_mccaffrey_df(sizes_of(layout, n_clusters).astype(float))
            cells = " | ".join(
                f"{rate:.1%}".replace("%", " %") for rate in rates(metric, layout, n_clusters, n_sets)
            )
            lines.append(f"| {n_clusters}, {layout} | {df:.1f} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the test sets; print only")
    quick = parser.parse_args().quick
    n_sets = SETS // 20 if quick else SETS
    for metric in ("accuracy", "f1"):
        print(table(metric, n_sets), end="\n\n")


if __name__ == "__main__":
    main()
