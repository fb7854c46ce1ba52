"""Bootstrap tests and intervals of a paired difference: items are drawn again with replacement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.answers import (
    ClusterSums,
    Floats,
    PairedTest,
    TestSettings,
    all_alike,
    lattice_of,
    resamples_of,
    score_differences,
)
from humeval_power.comparisons.scores.effect_sizes import EffectSize
from humeval_power.comparisons.scores.score_table import Pairs
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.exact_comparison import at_least
from humeval_power.inference.item_bootstrap import drawn_p, in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.corpus import drawn_counts, drawn_signs, resample_medians

# The sign-flip (paired permutation) test of the mean or the median of differences.

LISTED_UP_TO = 20  # differences other than zero: 2^20 sums are listed in a moment
LISTED_MEDIANS_UP_TO = 14


def sign_flip_mean(differences: Floats, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the mean: exact where at most 20 differences are not zero, else drawn."""
    moved = settings.moved(differences)
    active = moved[moved != 0]
    observed = float(active.sum())
    if len(active) <= LISTED_UP_TO:
        drawn = flipped_sums(active)
        return flip_result("mean", differences, settings, observed=observed, drawn=drawn)
    drawn = in_blocks(
        lambda rng, size: drawn_signs(rng, len(active), size) @ active,
        settings.n_resamples,
        seed=settings.seed,
    )
    return flip_result("mean", differences, settings, observed=observed, drawn=drawn, is_drawn=True)


def sign_flip_median(differences: Floats, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the median: exact for at most 14 items, else drawn."""
    moved = settings.moved(differences)
    n = len(moved)
    observed = float(np.median(moved))
    if n <= LISTED_MEDIANS_UP_TO:
        drawn = np.median(listed_signs(n) * moved, axis=1)
        return flip_result("median", differences, settings, observed=observed, drawn=drawn)
    drawn = in_blocks(
        lambda rng, size: np.median(drawn_signs(rng, n, size) * moved, axis=1),
        settings.n_resamples,
        seed=settings.seed,
    )
    return flip_result("median", differences, settings, observed=observed, drawn=drawn, is_drawn=True)


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


def flip_result(
    of: str,
    differences: Floats,
    settings: TestSettings,
    *,
    observed: float,
    drawn: Floats,
    is_drawn: bool = False,
    flipped: str = "",
    remarks: tuple[str, ...] = (),
) -> PairedTest:
    """The test from the values under assignments of signs; `flipped` names whose signs, if not the items'."""
    count, total = extreme(drawn, observed, settings.alternative), len(drawn)
    estimate = _STATISTICS[of](differences)
    return PairedTest(
        name="permutation" if of == "mean" else "permutation-median",
        label=f"Sign-flip permutation test of the {of}",
        estimand=of,
        estimate=estimate,
        interval=(float("nan"), float("nan")),
        confidence=settings.confidence,
        statistic_name=of,
        statistic=estimate - settings.null,
        p_value=drawn_p(count, total) if is_drawn else count / total,
        lead=observed,
        n=len(differences),
        method=f"{total:,} random assignments of signs{flipped}"
        if is_drawn
        else f"all assignments of signs{flipped}",
        exact=not is_drawn,
        p_interval=monte_carlo_interval(count, total) if is_drawn else None,
        remarks=remarks,
    )


_NO_SPREAD = "All {n:,} differences are {value:g}: a bootstrap-t test has no spread to judge by."


def resampled_means(differences: Floats, *, n_resamples: int, seed: int) -> Floats:
    """Means of the resamples, shape (n_resamples,)."""
    n = len(differences)
    return in_blocks(lambda rng, size: drawn_counts(rng, n, size) @ differences / n, n_resamples, seed=seed)


def bootstrap_t(differences: Floats, settings: TestSettings) -> PairedTest:
    """Bootstrap-t test of the mean (Efron and Tibshirani 1993, ch. 12.5).

    Each resample is judged in its own standard errors around the observed mean; the two-sided p-value is
    twice the smaller tail, so that it agrees with the interval.
    """
    if all_alike(differences):
        raise InputError(_NO_SPREAD.format(n=len(differences), value=differences[0]))
    n = len(differences)
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    centred = differences - mean
    sums = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ np.column_stack([centred, centred**2]),
        settings.n_resamples,
        seed=settings.seed,
    )
    ratio = studentised(sums[:, 0], sums[:, 1], n)
    return bootstrap_t_result(
        mean, error, ratio, settings, n=n, label="Bootstrap-t test", resampled="items"
    )


def bootstrap_t_result(
    mean: float, error: float, drawn: Floats, settings: TestSettings, *, n: int, label: str, resampled: str
) -> PairedTest:
    """The test of a mean and its standard error over `n` items by the t of the resamples."""
    observed = (mean - settings.null) / error
    p_value, p_interval = t_tails(drawn, observed, settings)
    low, high = outer_quantiles(drawn, (1 - settings.confidence) / 2)
    return PairedTest(
        name="bootstrap-t",
        label=label,
        estimand="mean",
        estimate=mean,
        interval=(float(mean - high * error), float(mean - low * error)),
        confidence=settings.confidence,
        statistic_name="t",
        statistic=observed,
        p_value=p_value,
        lead=observed,
        n=n,
        method=f"{settings.n_resamples:,} resamples of {resampled}",
        p_interval=p_interval,
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


def bootstrap_mean(differences: Floats, settings: TestSettings) -> PairedTest:
    """Bootstrap test of the mean with the resamples centred at the null (Berg-Kirkpatrick et al. 2012)."""
    means = resampled_means(differences, n_resamples=settings.n_resamples, seed=settings.seed)
    lattice = lattice_of(settings.moved(differences))
    step = 0.0 if lattice is None else lattice[1] / len(differences)
    return centred_test("mean", differences, means, settings, step=step)


def bootstrap_median(differences: Floats, settings: TestSettings) -> PairedTest:
    """Bootstrap test of the median with the resamples centred at the null."""
    ordered, n = np.sort(differences), len(differences)
    medians = in_blocks(
        lambda rng, size: resample_medians(drawn_counts(rng, n, size), ordered),
        settings.n_resamples,
        seed=settings.seed,
    )
    return centred_test("median", differences, medians, settings)


def bca_interval(
    differences: Floats, *, confidence: float = 0.95, n_resamples: int, seed: int
) -> EffectSize:
    """Mean difference with the bias-corrected and accelerated interval (Efron 1987)."""
    mean = float(differences.mean())
    if all_alike(differences):
        return EffectSize("mean_bca", "Mean, BCa interval", mean, mean, mean, "no spread")
    means = resampled_means(differences, n_resamples=n_resamples, seed=seed)
    low, high = np.quantile(means, bca_levels(differences, means, confidence))
    method = f"BCa bootstrap, {n_resamples:,} resamples"
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


def centred_test(
    of: Literal["mean", "median"],
    differences: Floats,
    drawn: Floats,
    settings: TestSettings,
    *,
    drawn_of: str = "items",
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
        method=f"{len(drawn):,} resamples of {drawn_of}; percentile interval",
        p_interval=monte_carlo_interval(count, len(drawn)),
        resamples=resamples_of(of, drawn, at=settings.null, step=step),
    )


def t_tails(ratio: Floats, observed: float, settings: TestSettings) -> tuple[float, tuple[float, float]]:
    """p and its Monte Carlo interval from the resamples beyond the observed t on either side."""
    above, below = int(at_least(ratio, observed).sum()), int(at_least(-ratio, -observed).sum())
    total = settings.n_resamples
    count = {"greater": above, "less": below, "two-sided": min(above, below)}[settings.alternative]
    sides = 2 if settings.alternative == "two-sided" else 1
    low, high = monte_carlo_interval(count, total)
    return min(1.0, sides * drawn_p(count, total)), (min(1.0, sides * low), min(1.0, sides * high))


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
    """Bootstrap-t of every pair.

    Parameters
    ----------
    scores : (n_items, n_systems).
    pairs : (n_pairs, 2), positions of A and B.
    clusters : of the items: whole clusters are drawn, and the errors are those of clusters (CR1).
    """
    differences = np.column_stack([score_differences(scores[:, a], scores[:, b]) for a, b in pairs])
    mean = differences.mean(axis=0)
    if clusters is None:
        error, drawn = _of_items(differences, mean, settings, n_jobs)
    else:
        error, drawn = _of_clusters(differences - mean, clusters, settings, n_jobs)
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


def _of_items(
    differences: Floats, mean: Floats, settings: TestSettings, n_jobs: int
) -> tuple[Floats, Floats]:
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
    return error, studentised(sums[:, : len(mean)], sums[:, len(mean) :], n)


def _of_clusters(
    centred: Floats, clusters: Clusters, settings: TestSettings, n_jobs: int
) -> tuple[Floats, Floats]:
    of, n = ClusterSums.of(centred, clusters), clusters.n_clusters
    drawn = in_blocks(
        lambda rng, size: of.ratios(drawn_counts(rng, n, size)),
        settings.n_resamples,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    return of.errors(np.ones((1, n)))[1][0], drawn
