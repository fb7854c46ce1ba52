"""Paired tests of two systems whose items come in clusters, such as passages or documents.

A test of means uses CR2 errors (Bell and McCaffrey 2002), or resamples whole clusters; tests by signs flip
whole clusters (for signed ranks: Rosner, Glynn and Lee 2006). With one item in each cluster all of them are
the tests of independent items.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.answers import (
    ROUNDING,
    ClusterSums,
    Floats,
    PairedTest,
    TestSettings,
    dropped_ties,
    resampled_cluster_means,
)
from humeval_power.comparisons.scores.bootstrap import (
    LISTED_MEDIANS_UP_TO,
    LISTED_UP_TO,
    bootstrap_t_result,
    centred_test,
    extreme,
    flip_result,
    flipped_sums,
    listed_signs,
)
from humeval_power.comparisons.scores.clustered_effects import (
    clustered_hodges_lehmann,
    clustered_median,
    clustered_share,
    signed_ranks,
)
from humeval_power.comparisons.scores.effect_sizes import rank_sum_share, tail_p
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction, clustered_mean, normal_p
from humeval_power.inference.item_bootstrap import in_blocks
from humeval_power.kernels.metrics.corpus import drawn_counts, drawn_signs, resample_medians

# The distribution of a sum over clusters whose signs are flipped together.

MOST_STEPS = 10_000_000  # clusters times places of the sum, beyond which the normal law is taken


@dataclass(frozen=True, slots=True)
class Flips:
    """The p-value of a sum when each of `n_active` clusters may have either sign; others sum to 0."""

    p_value: float
    n_active: int
    exact: bool


def flips_of(sums: Floats, alternative: Direction) -> Flips:
    """Test whether sums of clusters, halves of whole numbers, lie around 0.

    All signs are listed up to 20 clusters, counted by place of the sum where there are not too many places, and
    else the sum is compared with a normal law of variance sum of squares (Rosner, Glynn and Lee 2006).
    """
    active = sums[sums != 0]
    n, observed = len(active), float(active.sum())
    if n == 0:
        return Flips(1.0, 0, exact=True)
    if n <= LISTED_UP_TO:
        return Flips(extreme(flipped_sums(active), observed, alternative) / 2**n, n, exact=True)
    steps = np.round(2 * np.abs(active)).astype(np.int64)
    unit = int(np.gcd.reduce(steps))
    steps //= unit
    if n * int(steps.sum()) <= MOST_STEPS:
        place = round((2 * observed / unit + float(steps.sum())) / 2)
        value = float(tail_p(rank_sum_share(np.sort(steps)), np.array([place]), alternative)[0])
        return Flips(value, n, exact=True)
    z = observed / math.sqrt(float(active @ active))
    return Flips(normal_p(z, alternative), n, exact=False)


# Tests by signs of two systems whose items come in clusters: the signs of whole clusters are flipped.


def clustered_flip_mean(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the mean, the differences of a cluster flipped together."""
    sums = clusters.sums(settings.moved(differences))
    active = sums[np.abs(sums) > ROUNDING * clusters.sizes * float(np.abs(differences).max())]
    observed, is_listed = float(active.sum()), len(active) <= LISTED_UP_TO
    if is_listed:
        drawn = flipped_sums(active)
    else:
        drawn = in_blocks(
            lambda rng, size: drawn_signs(rng, len(active), size) @ active,
            settings.n_resamples,
            seed=settings.seed,
        )
    return flip_result(
        "mean",
        differences,
        settings,
        observed=observed,
        drawn=drawn,
        is_drawn=not is_listed,
        flipped=f" of {counted_clusters(clusters)}",
        remarks=too_few(len(active), settings),
    )


def clustered_flip_median(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the median, the differences of a cluster flipped together."""
    moved, n = settings.moved(differences), clusters.n_clusters
    is_listed = n <= LISTED_MEDIANS_UP_TO

    def medians(signs: Floats) -> Floats:
        return np.asarray(np.median(signs[:, clusters.codes] * moved, axis=1))

    if is_listed:
        drawn = medians(listed_signs(n))
    else:
        drawn = in_blocks(
            lambda rng, size: medians(drawn_signs(rng, n, size)), settings.n_resamples, seed=settings.seed
        )
    return flip_result(
        "median",
        differences,
        settings,
        observed=float(np.median(moved)),
        drawn=drawn,
        is_drawn=not is_listed,
        flipped=f" of {counted_clusters(clusters)}",
        remarks=too_few(n, settings),
    )


def clustered_sign(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Sign test: is B as often the better one, where all items of a cluster may turn together?"""
    signs = np.sign(settings.moved(differences))
    n_up, n_down = int((signs > 0).sum()), int((signs < 0).sum())
    flips = flips_of(clusters.sums(signs), settings.alternative)
    center = clustered_median(differences, clusters, confidence=settings.confidence)
    ties = len(signs) - n_up - n_down
    return PairedTest(
        name="sign",
        label="Sign test of whole clusters",
        estimand="median",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="items above : below",
        statistic=float(n_up),
        p_value=flips.p_value,
        lead=float(n_up - n_down),
        n=len(differences),
        method=f"{n_up:,} above and {n_down:,} below, {_flipped(flips, clusters)}",
        exact=flips.exact,
        remarks=(*dropped_ties(ties, len(signs)), *too_few(flips.n_active, settings)),
    )


def clustered_wilcoxon(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Signed-rank test whose ranks change their signs in whole clusters (Rosner, Glynn and Lee 2006);
    zeros are dropped, ties get mid-ranks."""
    moved = settings.moved(differences)
    ranks = signed_ranks(moved)
    flips = flips_of(clusters.sums(ranks), settings.alternative)
    center = clustered_hodges_lehmann(differences, clusters, confidence=settings.confidence)
    return PairedTest(
        name="wilcoxon",
        label="Wilcoxon signed-rank test of whole clusters",
        estimand="pseudomedian",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="W+",
        statistic=float(ranks[ranks > 0].sum()),
        p_value=flips.p_value,
        lead=float(ranks.sum()),
        n=len(differences),
        method=_flipped(flips, clusters),
        exact=flips.exact,
        remarks=(*dropped_ties(int((moved == 0).sum()), len(moved)), *too_few(flips.n_active, settings)),
    )


def too_few(n_active: int, settings: TestSettings) -> tuple[str, ...]:
    """What is said where no assignment of signs to the clusters could be significant."""
    sides = 2 if settings.alternative == "two-sided" else 1
    least = sides * 0.5**n_active
    if least <= settings.alpha:
        return ()
    return (
        f"With {n_active:,} clusters in which the systems differ this test has no p-value below {least:.2g}: it "
        f"cannot be significant at {settings.alpha:g}.",
    )


def _flipped(flips: Flips, clusters: Clusters) -> str:
    if flips.exact:
        return f"all assignments of signs to {counted_clusters(clusters)}"
    return f"normal approximation for signs of {counted_clusters(clusters)}"


def counted_clusters(clusters: Clusters) -> str:
    """'40 clusters'."""
    return f"{clusters.n_clusters:,} clusters"


ClusteredTest = Callable[[Floats, Clusters, TestSettings], PairedTest]


def clustered_t(differences: Floats, clusters: Clusters, settings: TestSettings) -> PairedTest:
    """Student's t test of the mean difference by its CR2 error, df of Bell and McCaffrey (2002)."""
    clustered = clustered_mean(differences, clusters)
    if clustered.standard_error <= ROUNDING * float(np.abs(differences).max()):
        raise InputError(_ALIKE.format(n=f"{clusters.n_clusters:,}", name=clusters.name))
    return PairedTest(
        name="t",
        label="Paired t test with CR2 errors",
        estimand="mean",
        estimate=clustered.estimate,
        interval=clustered.interval(settings.confidence),
        confidence=settings.confidence,
        statistic_name=f"t({clustered.df:.4g})",
        statistic=(clustered.estimate - settings.null) / clustered.standard_error,
        p_value=clustered.p_value(settings.null, settings.alternative),
        lead=clustered.estimate - settings.null,
        n=len(differences),
        method=f"{counted_clusters(clusters)}, degrees of freedom of Bell and McCaffrey",
        remarks=(_ROUGH,) if clustered.is_rough else (),
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
    """Run the version of a test that knows the clusters; its estimate is that of the test."""
    if name in REFUSED:
        raise InputError(REFUSED[name])
    return TESTS_OF_CLUSTERS[name](differences, clusters, settings)


def share_estimate(
    differences: Floats, clusters: Clusters, settings: TestSettings
) -> tuple[float, float, float]:
    """The share of items on which B is better, and the ends of its interval."""
    clustered = clustered_share(settings.moved(differences), clusters, confidence=settings.confidence)
    return clustered.value, clustered.low, clustered.high


_ALIKE = "The differences do not vary between the {n} clusters ({name}): there is no spread to judge by."
_ROUGH = (
    "Below 5 degrees of freedom the interval and the p-value are no more than a hint: the clusters are too few, "
    "or one of them rules."
)
