"""Tests by signs of two systems whose items come in clusters: the signs of whole clusters are flipped.

Signed ranks: Rosner, Glynn and Lee (2006).
"""

from __future__ import annotations

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.inference.compare.cluster_resampling import ROUNDING
from humeval_power.inference.compare.clustered_effects import (
    clustered_hodges_lehmann,
    clustered_median,
    signed_ranks,
)
from humeval_power.inference.compare.clustered_flips import Flips, flips_of
from humeval_power.inference.compare.permutation import (
    LISTED_MEDIANS_UP_TO,
    LISTED_UP_TO,
    flip_result,
    flipped_sums,
    listed_signs,
)
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings, dropped_ties
from humeval_power.inference.resampled import in_blocks
from humeval_power.kernels.metrics.resampling import drawn_signs


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
