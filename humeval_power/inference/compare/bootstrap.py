"""Bootstrap tests and intervals of a paired difference: items are drawn again with replacement."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.compare.effect_sizes import EffectSize
from humeval_power.inference.compare.exact_sums import lattice_of
from humeval_power.inference.compare.permutation import extreme
from humeval_power.inference.compare.resamples import resamples_of
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings, all_alike
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import drawn_p, in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.resampling import drawn_counts, resample_medians

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
    found = lattice_of(settings.moved(differences))
    step = 0.0 if found is None else found[1] / len(differences)
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
