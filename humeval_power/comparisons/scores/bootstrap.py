"""Bootstrap tests and intervals of a paired difference: items are drawn again with replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.effect_sizes import (
    ROUNDING,
    ClusterSums,
    EffectSize,
    Floats,
    PairedTest,
    TestSettings,
    all_alike,
    lattice_of,
    resamples_of,
    score_differences,
)
from humeval_power.comparisons.scores.score_table import Pairs
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.exact_comparison import at_least
from humeval_power.inference.item_bootstrap import drawn_p, in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.corpus import drawn_counts, drawn_signs, resample_medians

# Each test knows clusters of the items, if there are any: their signs are flipped together, or they are drawn
# again as wholes. With one item in each cluster all of them are the tests of independent items.

# The sign-flip (paired permutation) test of the mean or the median of differences.

LISTED_UP_TO = 20  # differences other than zero: 2^20 sums are listed in a moment
LISTED_MEDIANS_UP_TO = 14


def sign_flip_mean(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Sign-flip test of the mean: exact where at most 20 differences, or sums of clusters, are not zero, else
    drawn."""
    moved = settings.moved(differences)
    active = moved[moved != 0]
    if clusters is not None:
        sums = clusters.sums(moved)
        active = sums[np.abs(sums) > ROUNDING * clusters.sizes * float(np.abs(differences).max())]
    if is_listed := len(active) <= LISTED_UP_TO:
        flipped = flipped_sums(active)
    else:
        flipped = in_blocks(
            lambda rng, size: drawn_signs(rng, len(active), size) @ active,
            settings.n_resamples,
            seed=settings.seed,
        )
    return _flip_result(
        "mean",
        differences,
        settings,
        clusters,
        observed=float(active.sum()),
        flipped=flipped,
        is_listed=is_listed,
        n_active=len(active),
    )


def sign_flip_median(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Sign-flip test of the median: exact for at most 14 items, or clusters, else drawn."""
    moved, n = settings.moved(differences), len(differences) if clusters is None else clusters.n_clusters

    def medians(signs: Floats) -> Floats:
        of_items = signs if clusters is None else signs[:, clusters.codes]
        return np.asarray(np.median(of_items * moved, axis=1))

    if is_listed := n <= LISTED_MEDIANS_UP_TO:
        flipped = medians(listed_signs(n))
    else:
        flipped = in_blocks(
            lambda rng, size: medians(drawn_signs(rng, n, size)), settings.n_resamples, seed=settings.seed
        )
    return _flip_result(
        "median",
        differences,
        settings,
        clusters,
        observed=float(np.median(moved)),
        flipped=flipped,
        is_listed=is_listed,
        n_active=n,
    )


def listed_signs(n: int) -> Floats:
    """All assignments of signs, shape (2^n, n)."""
    return np.asarray(1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1))


def flipped_sums(values: Floats) -> Floats:
    """The sums under all assignments of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def extreme(drawn: Floats, observed: float, alternative: Direction, *, scale: float = 0.0) -> int:
    """How many are at least as extreme as what was observed; `scale` as in `at_least`."""
    scale = float(np.abs(drawn).max(initial=scale))
    if alternative == "two-sided":
        return int(at_least(np.abs(drawn), abs(observed), scale=scale).sum())
    sign = 1.0 if alternative == "greater" else -1.0
    return int(at_least(sign * drawn, sign * observed, scale=scale).sum())


_STATISTICS: dict[str, Callable[[Floats], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
}


def _flip_result(
    of: str,
    differences: Floats,
    settings: TestSettings,
    clusters: Clusters | None,
    *,
    observed: float,
    flipped: Floats,
    is_listed: bool,
    n_active: int,
) -> PairedTest:
    """The test from the values under assignments of signs to `n_active` items or clusters."""
    count, total = extreme(flipped, observed, settings.alternative), len(flipped)
    estimate = _STATISTICS[of](differences)
    whose = "" if clusters is None else f" of {counted_clusters(clusters)}"
    return PairedTest(
        name="permutation" if of == "mean" else "permutation-median",
        label=f"Sign-flip permutation test of the {of}",
        estimand=of,
        estimate=estimate,
        interval=(float("nan"), float("nan")),
        confidence=settings.confidence,
        statistic_name=of,
        statistic=estimate - settings.null,
        p_value=count / total if is_listed else drawn_p(count, total),
        lead=observed,
        n=len(differences),
        method=f"{'all' if is_listed else f'{total:,} random'} assignments of signs{whose}",
        exact=is_listed,
        p_interval=None if is_listed else monte_carlo_interval(count, total),
        remarks=() if clusters is None else too_few_clusters(n_active, settings),
    )


def counted_clusters(clusters: Clusters) -> str:
    """'40 clusters'."""
    return f"{clusters.n_clusters:,} clusters"


def too_few_clusters(n_active: int, settings: TestSettings) -> tuple[str, ...]:
    """What is said where no assignment of signs to the clusters could be significant."""
    sides = 2 if settings.alternative == "two-sided" else 1
    least = sides * 0.5**n_active
    if least <= settings.alpha:
        return ()
    return (
        f"With {n_active:,} clusters in which the systems differ this test has no p-value below {least:.2g}: it "
        f"cannot be significant at {settings.alpha:g}.",
    )


def all_clusters_alike(clusters: Clusters) -> InputError:
    """What is raised where the differences do not vary between clusters."""
    return InputError(
        f"The differences do not vary between the {clusters.n_clusters:,} clusters ({clusters.name}): there is no "
        "spread to judge by."
    )


def resampled_means(
    differences: Floats, clusters: Clusters | None = None, *, n_resamples: int, seed: int
) -> Floats:
    """Means of the resamples, of items or of whole clusters, shape (n_resamples,)."""
    if clusters is None:
        n = len(differences)
        return in_blocks(
            lambda rng, size: drawn_counts(rng, n, size) @ differences / n, n_resamples, seed=seed
        )
    both, n = np.column_stack([clusters.sums(differences), clusters.sizes]), clusters.n_clusters
    totals = in_blocks(lambda rng, size: drawn_counts(rng, n, size) @ both, n_resamples, seed=seed)
    return np.asarray(totals[:, 0] / totals[:, 1])


def bootstrap_t(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Bootstrap-t test of the mean (Efron and Tibshirani 1993, ch. 12.5).

    Each resample is judged in its own standard errors around the observed mean, CR1 errors where whole clusters
    are drawn; the two-sided p-value is twice the smaller tail, so that it agrees with the interval.
    """
    if clusters is None and all_alike(differences):
        raise InputError(
            f"All {len(differences):,} differences are {differences[0]:g}: a bootstrap-t test has no spread to "
            "judge by."
        )
    errors, ratios = _t_of_resamples(differences[:, None], clusters, settings)
    mean, error, drawn = float(differences.mean()), float(errors[0]), ratios[:, 0]
    if clusters is not None and not error > 0:
        raise all_clusters_alike(clusters)
    observed = (mean - settings.null) / error
    above, below = int(at_least(drawn, observed).sum()), int(at_least(-drawn, -observed).sum())
    count = {"greater": above, "less": below, "two-sided": min(above, below)}[settings.alternative]
    sides, total = 2 if settings.alternative == "two-sided" else 1, settings.n_resamples
    low, high = outer_quantiles(drawn, (1 - settings.confidence) / 2)
    least, most = monte_carlo_interval(count, total)
    return PairedTest(
        name="bootstrap-t",
        label="Bootstrap-t test" if clusters is None else "Bootstrap-t test of whole clusters",
        estimand="mean",
        estimate=mean,
        interval=(float(mean - high * error), float(mean - low * error)),
        confidence=settings.confidence,
        statistic_name="t",
        statistic=observed,
        p_value=min(1.0, sides * drawn_p(count, total)),
        lead=observed,
        n=len(differences),
        method=f"{total:,} resamples of {'items' if clusters is None else counted_clusters(clusters)}",
        p_interval=(min(1.0, sides * least), min(1.0, sides * most)),
        resamples=resamples_of("t", drawn, at=float(observed)),
    )


def studentised(total: Floats, squares: Floats, n: int) -> Floats:
    """t of resamples from their sums and sums of squares; a resample without spread is infinitely far."""
    mean = total / n
    variance = np.maximum(squares / n - mean**2, 0.0) / (n - 1)
    flat = variance <= 1e-14 * np.maximum(squares / n, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean / np.sqrt(np.where(flat, 0.0, variance))
    return np.asarray(np.nan_to_num(ratio, nan=0.0, posinf=np.inf, neginf=-np.inf))


def outer_quantiles(drawn: Floats, tail: float) -> tuple[Floats, Floats]:
    """The drawn values (first axis) that cut off `tail` at either end, the outer ones: some are infinite."""
    low = np.quantile(drawn, tail, axis=0, method="lower")
    return np.asarray(low), np.asarray(np.quantile(drawn, 1 - tail, axis=0, method="higher"))


def bootstrap_mean(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Bootstrap test of the mean with the resamples centred at the null (Berg-Kirkpatrick et al. 2012)."""
    means = resampled_means(differences, clusters, n_resamples=settings.n_resamples, seed=settings.seed)
    lattice = lattice_of(settings.moved(differences)) if clusters is None else None
    step = 0.0 if lattice is None else lattice[1] / len(differences)
    return _centred_test("mean", differences, means, settings, clusters, step=step)


def bootstrap_median(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Bootstrap test of the median with the resamples centred at the null."""

    def medians(rng: np.random.Generator, size: int) -> Floats:
        if clusters is None:
            return np.asarray(
                resample_medians(drawn_counts(rng, len(differences), size), np.sort(differences))
            )
        order = np.argsort(differences, kind="stable")
        counts = drawn_counts(rng, clusters.n_clusters, size)[:, clusters.codes[order]]
        return np.asarray(resample_medians(np.ascontiguousarray(counts), differences[order]))

    drawn = in_blocks(medians, settings.n_resamples, seed=settings.seed)
    return _centred_test("median", differences, drawn, settings, clusters)


def bca_interval(
    differences: Floats,
    clusters: Clusters | None = None,
    *,
    confidence: float = 0.95,
    n_resamples: int,
    seed: int,
) -> EffectSize:
    """Mean difference with the bias-corrected and accelerated interval (Efron 1987)."""
    mean = float(differences.mean())
    if all_alike(differences):
        return EffectSize("mean_bca", "Mean, BCa interval", mean, mean, mean, "no spread")
    means = resampled_means(differences, clusters, n_resamples=n_resamples, seed=seed)
    influence = None if clusters is None else clusters.sums(differences - differences.mean())
    low, high = np.quantile(means, bca_levels(differences, means, confidence, influence=influence))
    method = f"BCa bootstrap, {n_resamples:,} resamples{'' if clusters is None else ' of clusters'}"
    return EffectSize("mean_bca", "Mean, BCa interval", mean, float(low), float(high), method)


def bca_levels(
    differences: Floats, means: Floats, confidence: float, *, influence: Floats | None = None
) -> Floats:
    """Which quantiles of the resampled means are the ends of the BCa interval, shape (2,).

    influence : on the mean of each thing that is resampled, up to a factor; the items' own differences if None.
    """
    centred = differences - differences.mean() if influence is None else influence
    scale, mean = float(np.abs(differences).max()), float(differences.mean())
    not_below, not_above = at_least(means, mean, scale=scale), at_least(-means, -mean, scale=scale)
    below = float(np.mean(~not_below) + np.mean(not_below & not_above) / 2)
    shift = float(special.ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means))))
    acceleration = float((centred**3).sum() / (6 * (centred**2).sum() ** 1.5))
    z = special.ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    return np.asarray(special.ndtr(shift + (shift + z) / (1 - acceleration * (shift + z))))


def _centred_test(
    of: Literal["mean", "median"],
    differences: Floats,
    drawn: Floats,
    settings: TestSettings,
    clusters: Clusters | None,
    *,
    step: float = 0.0,
) -> PairedTest:
    """The test of a mean or median by its values in resamples, moved to the null.

    step : of the lattice on which these and the null lie, 0 for none.
    """
    estimate = float(np.mean(differences) if of == "mean" else np.median(differences))
    count = extreme(
        drawn - estimate,
        estimate - settings.null,
        settings.alternative,
        scale=float(np.abs(differences).max()),
    )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    resampled = "items" if clusters is None else counted_clusters(clusters)
    return PairedTest(
        name="bootstrap" if of == "mean" else "bootstrap-median",
        label=f"Bootstrap test of the {of}, centred at the null",
        estimand=of,
        estimate=estimate,
        interval=(float(low), float(high)),
        confidence=settings.confidence,
        statistic_name=of,
        statistic=estimate - settings.null,
        p_value=drawn_p(count, len(drawn)),
        lead=estimate - settings.null,
        n=len(differences),
        method=f"{len(drawn):,} resamples of {resampled}; percentile interval",
        p_interval=monte_carlo_interval(count, len(drawn)),
        resamples=resamples_of(of, drawn, at=settings.null, step=step),
    )


# Bootstrap-t of many pairs of systems at once, by shared resamples of items or of whole clusters.


@dataclass(frozen=True, slots=True, eq=False)
class JointBootstrap:
    """Bootstrap-t of the mean differences B - A of many pairs (last axis) by shared resamples.

    `t` is observed, shape (n_pairs,), `drawn` the same in the resamples around the observed means, shape
    (n_resamples, n_pairs). A pair that agrees on every item has t = 0 everywhere.
    """

    mean: Floats
    standard_error: Floats
    t: Floats
    drawn: Floats
    alternative: Direction

    def p_values(self) -> Floats:
        """Of each pair by itself; two-sided is twice the smaller tail, as in `bootstrap_t`."""
        n = len(self.drawn)
        above = (1 + at_least(self.drawn, self.t).sum(axis=0)) / (1 + n)
        below = (1 + at_least(-self.drawn, -self.t).sum(axis=0)) / (1 + n)
        both = np.minimum(1.0, 2 * np.minimum(above, below))
        return np.asarray({"greater": above, "less": below, "two-sided": both}[self.alternative])

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the bootstrap-t interval of each mean difference, not corrected for their number."""
        low, high = outer_quantiles(self.drawn, (1 - confidence) / 2)
        return self.mean - high * self.standard_error, self.mean - low * self.standard_error

    def max_t(self) -> Floats:
        """P-values corrected in a single step by the largest t of all pairs (Westfall and Young 1993)."""
        observed, drawn = self._sizes()
        largest = drawn.max(axis=1)
        count = np.array([at_least(largest, each).sum() for each in observed])
        return np.asarray((1 + count) / (1 + len(largest)))

    def romano_wolf(self) -> Floats:
        """P-values corrected step by step (Romano and Wolf 2005): each pair against the largest t of those
        that are not yet rejected; never larger than max-t's."""
        observed, drawn = self._sizes()
        order = np.argsort(-observed, kind="stable")
        remaining = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        count = at_least(remaining, observed[order]).sum(axis=0)
        p_value = np.empty(len(observed))
        p_value[order] = np.maximum.accumulate((1 + count) / (1 + len(drawn)))
        return p_value

    def _sizes(self) -> tuple[Floats, Floats]:
        """What counts as large in the direction of the test, observed and drawn."""
        if self.alternative == "two-sided":
            return np.abs(self.t), np.abs(self.drawn)
        sign = 1.0 if self.alternative == "greater" else -1.0
        return sign * self.t, sign * self.drawn


def joint_bootstrap(
    scores: Floats,
    pairs: Pairs,
    settings: TestSettings,
    *,
    clusters: Clusters | None = None,
    n_jobs: int = 1,
) -> JointBootstrap:
    """Bootstrap-t of every pair. scores : (n_items, n_systems). pairs : (n_pairs, 2), positions of A and B.
    clusters : of the items: whole clusters are drawn, and the errors are those of clusters (CR1)."""
    differences = np.column_stack([score_differences(scores[:, a], scores[:, b]) for a, b in pairs])
    mean = differences.mean(axis=0)
    error, drawn = _t_of_resamples(differences, clusters, settings, n_jobs)
    flat = error == 0
    center = np.where(np.ptp(differences, axis=0) == 0, differences[0], mean)
    if (flat & (settings.moved(center) != 0)).any():
        raise InputError(
            "A pair of systems differs by the same number on every item: no spread to judge by."
            if clusters is None
            else "A pair of systems differs by the same number in every cluster: no spread to judge by."
        )
    t = np.where(flat, 0.0, (mean - settings.null) / np.where(flat, 1.0, error))
    return JointBootstrap(mean, error, t, drawn, settings.alternative)


def _t_of_resamples(
    differences: Floats, clusters: Clusters | None, settings: TestSettings, n_jobs: int = 1
) -> tuple[Floats, Floats]:
    """Standard errors of the means of columns (n_items, k), and t in resamples about these, (n_resamples, k)."""
    k, mean = differences.shape[1], differences.mean(axis=0)
    if clusters is not None:
        of, n = ClusterSums.of(differences - mean, clusters), clusters.n_clusters
        drawn = in_blocks(
            lambda rng, size: of.ratios(drawn_counts(rng, n, size)),
            settings.n_resamples,
            seed=settings.seed,
            n_jobs=n_jobs,
        )
        return of.errors(np.ones((1, n)))[1][0], drawn
    n, flat = len(differences), np.ptp(differences, axis=0) == 0
    error = np.where(flat, 0.0, differences.std(axis=0, ddof=1) / np.sqrt(n))
    centred = np.where(flat, 0.0, differences - mean)
    both = np.hstack([centred, centred**2])
    sums = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ both,
        settings.n_resamples,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    return error, studentised(sums[:, :k], sums[:, k:], n)
