"""Two classifiers by F1, MCC and the like: the test, and how they err together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.choices import DEFAULT_SEED, DEFAULT_SWAPS, ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.comparisons.contingency.result import ContingencyEstimateResult, ContingencyTestResult
from humeval_power.comparisons.contingency.scenario import (
    ContingencyTest,
    cluster_swap_test,
    coded,
    contingency_test,
    counted,
    influence_mean,
    place_of_positive,
)
from humeval_power.kernels.metrics.contingency import OF_A_CLASS
from humeval_power.rules import DEFAULT_RULE
from humeval_power.saying.result import UNKNOWN, Provenance


def test(
    gold: Sequence[str],
    system_a: Sequence[str],
    system_b: Sequence[str],
    *,
    metric: ContingencyMetric = "f1",
    positive: str | None = None,
    clusters: Clusters | None = None,
    suspects: Sequence[ClusterSuspect] = (),
    n_swaps: int = DEFAULT_SWAPS,
    alpha: float = DEFAULT_RULE.alpha,
    seed: int = DEFAULT_SEED,
) -> ContingencyTestResult:
    """Test by paired randomisation whether two classifiers differ in a metric.

    Parameters
    ----------
    gold, system_a, system_b : labels of the same items in the same order; the effect is B - A.
    positive : the class of F1, precision and recall; '1' if None.
    clusters : of the items, in the same order: whole clusters are swapped, and the interval is cluster-robust;
        without them items count as independent.
    suspects : columns that look like clusters, which the report names.
    n_swaps : random swaps, for more than two classes or for clusters; with two classes, and with few clusters,
        every swap is counted.

    Returns
    -------
    ContingencyTestResult
        The metric of both, 0 to 1, the difference with its interval (CR2 of influence values), and the p-value,
        with its Monte Carlo interval if swaps were drawn.

    Raises
    ------
    InputError
        Labels of different numbers, a single class, a positive class that there is not, or clusters of other items.
    """
    labels = coded(gold, system_a, system_b)
    place = place_of_positive(metric, labels.classes, positive)
    codes, n_classes = labels.codes, len(labels.classes)
    mean = influence_mean(codes, n_classes, clusters, metric=metric, positive=place)
    swapped: Callable[..., ContingencyTest] = partial(contingency_test, labels.counts)
    if clusters is not None:
        swapped = partial(cluster_swap_test, codes, n_classes, clusters)
    tests = swapped(metric=metric, positive=place, n_swaps=n_swaps, seed=seed)
    return ContingencyTestResult(
        counts=labels.counts,
        classes=labels.classes,
        metric=metric,
        positive=labels.classes[place] if metric in OF_A_CLASS else None,
        found=tests,
        mean=mean,
        clusters=clusters,
        suspects=tuple(suspects),
        alpha=alpha,
        provenance=Provenance(seed=seed) if tests.n_swaps else UNKNOWN,
    )


def estimate(
    gold: Sequence[str],
    system_a: Sequence[str],
    system_b: Sequence[str],
    *,
    positive: str | None = None,
) -> ContingencyEstimateResult:
    """Find how two classifiers err together.

    Parameters
    ----------
    gold, system_a, system_b, positive : as of `test`; without a positive class its metrics are left out.

    Returns
    -------
    ContingencyEstimateResult
        The joint table of each class and every metric of both; `to_frame` has a row for each metric.

    Raises
    ------
    InputError
        Labels of different numbers, a single class, or a positive class that there is not.
    """
    counts, classes = counted(gold, system_a, system_b)
    has_positive = positive is not None or "1" in classes
    place = place_of_positive("f1", classes, positive) if has_positive else None
    return ContingencyEstimateResult(counts=counts, classes=classes, positive=place)
