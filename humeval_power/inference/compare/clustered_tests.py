"""Paired tests of two systems whose items come in clusters, such as passages or documents.

A test of means uses CR2 errors (Bell and McCaffrey 2002), or resamples whole clusters; tests by signs flip
whole clusters (for signed ranks: Rosner, Glynn and Lee 2006). With one item in each cluster all of them are
the tests of independent items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean
from humeval_power.inference.compare.bootstrap import bootstrap_t_result, centred_test
from humeval_power.inference.compare.cluster_resampling import (
    ROUNDING,
    ClusterSums,
    resampled_cluster_means,
)
from humeval_power.inference.compare.clustered_effects import (
    clustered_share,
)
from humeval_power.inference.compare.clustered_signs import (
    clustered_flip_mean,
    clustered_flip_median,
    clustered_sign,
    clustered_wilcoxon,
    counted_clusters,
)
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings
from humeval_power.inference.resampled import in_blocks
from humeval_power.kernels.metrics.resampling import drawn_counts, resample_medians

ClusteredTest = Callable[[Floats, Clusters, TestSettings], PairedTest]


def clustered_t(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Student's t test of the mean difference by its CR2 error, df of Bell and McCaffrey (2002)."""
    found = clustered_mean(differences, clusters)
    if found.standard_error <= ROUNDING * float(np.abs(differences).max()):
        raise InputError(_ALIKE.format(n=f"{clusters.n_clusters:,}", name=clusters.name))
    return PairedTest(
        name="t",
        label="Paired t test with CR2 errors",
        estimand="mean",
        estimate=found.estimate,
        interval=found.interval(settings.confidence),
        confidence=settings.confidence,
        statistic_name=f"t({found.df:.4g})",
        statistic=(found.estimate - settings.null) / found.standard_error,
        p_value=found.p_value(settings.null, settings.alternative),
        lead=found.estimate - settings.null,
        n=len(differences),
        method=f"{counted_clusters(clusters)}, degrees of freedom of Bell and McCaffrey",
        remarks=(_ROUGH,) if found.is_rough else (),
    )


def clustered_bootstrap_t(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Bootstrap-t test of the mean: whole clusters are drawn again, each resample is judged in the errors
    of its own clusters (CR1)."""
    mean = float(differences.mean())
    sums, n = ClusterSums.of((differences - mean)[:, None], clusters), clusters.n_clusters
    error = float(sums.errors(np.ones((1, n)))[1][0, 0])
    if not error > 0:
        raise InputError(_ALIKE.format(n=f"{clusters.n_clusters:,}", name=clusters.name))
    drawn = in_blocks(
        lambda rng, size: sums.ratios(drawn_counts(rng, n, size))[:, 0],
        settings.n_resamples,
        seed=settings.seed,
    )
    return bootstrap_t_result(
        mean,
        error,
        drawn,
        settings,
        n=len(differences),
        label="Bootstrap-t test of whole clusters",
        resampled=counted_clusters(clusters),
    )


def clustered_bootstrap_mean(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Bootstrap test of the mean, whole clusters drawn again, centred at the null."""
    drawn = resampled_cluster_means(differences, clusters, settings)
    return centred_test("mean", differences, drawn, settings, drawn_of=counted_clusters(clusters))


def clustered_bootstrap_median(
    differences: Floats, clusters: Clusters, settings: TestSettings
) -> PairedTest:
    """Bootstrap test of the median, whole clusters drawn again, centred at the null."""
    order = np.argsort(differences, kind="stable")
    ordered, codes, n = differences[order], clusters.codes[order], clusters.n_clusters
    medians = in_blocks(
        lambda rng, size: resample_medians(
            np.ascontiguousarray(drawn_counts(rng, n, size)[:, codes]), ordered
        ),
        settings.n_resamples,
        seed=settings.seed,
    )
    return centred_test("median", differences, medians, settings, drawn_of=counted_clusters(clusters))


TESTS_OF_CLUSTERS: Mapping[str, ClusteredTest] = {
    "t": clustered_t,
    "bootstrap-t": clustered_bootstrap_t,
    "permutation": clustered_flip_mean,
    "bootstrap": clustered_bootstrap_mean,
    "wilcoxon": clustered_wilcoxon,
    "sign": clustered_sign,
    "bootstrap-median": clustered_bootstrap_median,
    "permutation-median": clustered_flip_median,
}
REFUSED: Mapping[str, str] = {
    "mcnemar": "McNemar's test counts items as independent. For 0/1 scores in clusters take the test 't' (CR2 "
    "errors of the difference of shares) or 'permutation' (whole clusters).",
    "primer": "The primer's p is defined for independent items. Whole clusters are resampled by the tests "
    "'bootstrap-t' and 'bootstrap'.",
}


def run_clustered_test(
    name: str, differences: Floats, clusters: Clusters, settings: TestSettings
) -> PairedTest:
    """Run the version of a test that knows the clusters; its estimate is that of the test.

    Raises
    ------
    InputError
        A test that has no such version, with those to take instead; or data that it cannot judge.
    """
    if name in REFUSED:
        raise InputError(REFUSED[name])
    return TESTS_OF_CLUSTERS[name](differences, clusters, settings)


def share_estimate(
    differences: Floats, clusters: Clusters, settings: TestSettings
) -> tuple[float, float, float]:
    """The share of items on which B is better, and the ends of its interval."""
    found = clustered_share(settings.moved(differences), clusters, confidence=settings.confidence)
    return found.value, found.low, found.high


_ALIKE = "The differences do not vary between the {n} clusters ({name}): there is no spread to judge by."
_ROUGH = (
    "Below 5 degrees of freedom the interval and the p-value are no more than a hint: the clusters are too few, "
    "or one of them rules."
)
