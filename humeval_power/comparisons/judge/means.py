"""A mean from a few human values and judges' scores of many: by regression, beside cross-fitting and weight 1.

Source: Angelopoulos, Duchi and Zrnic (2023), PPI++; plain prediction-powered inference (Angelopoulos et al.
2023) has weight 1. Valid whatever the judges are worth if they were not tuned on the human values and the
further items come from the same population. With clusters of items the cross-fitted estimate has errors by
clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE, DEFAULT_SEED
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import Assisted, Method, assisted_mean, is_binary, label_mean
from humeval_power.errors import InputError
from humeval_power.inference.clustered import (
    ClusteredMean,
    bell_mccaffrey_df,
    clustered_mean,
    student_interval,
    student_p,
)

# The sum of two means over items in clusters, some rated and some not: CR2 and Bell-McCaffrey.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

N_FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredParts:
    """Clusters of n rated items and N others: `of_rated` (n,) and `of_extra` (N,) are codes of `n_clusters`;
    `rated` are the clusters of the rated items alone."""

    rated: Clusters
    of_rated: Codes
    of_extra: Codes
    n_clusters: int

    @classmethod
    def of(cls, clusters: Clusters, n: int, extra: int) -> ClusteredParts:
        """From the clusters of all items, rated ones first. InputError: clusters of another number of items, or
        rated or further items that are all in one cluster."""
        if clusters.n_items != n + extra:
            raise InputError(f"There are {n + extra:,} items, and clusters of {clusters.n_items:,}.")
        for noun, codes in (("have human values", clusters.codes[:n]), ("have none", clusters.codes[n:])):
            if len(np.unique(codes)) < 2:
                raise InputError(
                    f"All items that {noun} are in one cluster of {clusters.name!r}: at least 2 are needed, and 20 "
                    "or more are better."
                )
        rated = clusters.only(np.arange(n))
        return cls(rated, clusters.codes[:n], clusters.codes[n:], clusters.n_clusters)

    def folds(self, *, seed: int) -> Codes:
        """A random assignment of whole clusters of rated items to folds, shape (n,)."""
        n_clusters = self.rated.n_clusters
        number = max(2, min(N_FOLDS, n_clusters // 2))
        of_cluster = np.random.default_rng(seed).permutation(np.arange(n_clusters) % number)
        return np.asarray(of_cluster[self.rated.codes])

    def precision(self, values: Floats, others: Floats) -> tuple[float, float]:
        """Standard error and df of mean(values) + mean(others), of shapes (n,) and (N,).

        The working model of the df has independent items with one variance for each kind.
        """
        sums, diagonal, outside = np.zeros(self.n_clusters), np.zeros(self.n_clusters), []
        for part, codes in ((values, self.of_rated), (others, self.of_extra)):
            n, variance = len(part), float(np.var(part, ddof=1))
            size = np.bincount(codes, minlength=self.n_clusters)
            inflated = 1 / np.sqrt(1 - size / n)
            sums += np.bincount(codes, part - part.mean(), self.n_clusters) * inflated / n
            diagonal += variance * size / n**2
            outside.append(math.sqrt(variance) * size * inflated / n**1.5)
        # (sum of the eigenvalues)^2 over the sum of their squares; beside the diagonal stand -(a_g a_h + b_g b_h)
        a, b = outside
        beside = (a @ a) ** 2 + 2 * (a @ b) ** 2 + (b @ b) ** 2 - float(np.sum((a**2 + b**2) ** 2))
        squares = float(diagonal @ diagonal + beside)
        df = float(diagonal.sum()) ** 2 / squares if squares > 0 else math.nan
        return math.sqrt(float(sums @ sums)), df


Weighting = Literal["human", "plain", "cross-fitted", "tuned"]

FEW = 50  # human values below which the judge's gain is itself uncertain


@dataclass(frozen=True, slots=True)
class JudgedMean:
    """An estimate of the mean human value: with 'human' values alone, with the judge at weight 1 ('plain'), at
    weights estimated on other items ('cross-fitted'), or with those that are reported ('tuned').

    `weights` are one for each judge; with clusters of items the df are those of Bell and McCaffrey.
    """

    weighting: Weighting
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class JudgedMeans:
    """The estimates from the same data, 'tuned' by one `method`; `reason` says why the judges were not used.

    `used` are the places of the judges that were. `plain` is None for several judges, `cross_fitted` where no
    weights can be estimated. `correlation` is that of
    judge and human on labelled items, of several judges the multiple one freed of chance. `pool_error` is the
    standard error about the mean of these items alone. `clustered` is the mean of the human values by their
    clusters, `n_clusters` counts those of all items; None where items count as independent.
    """

    human: JudgedMean
    plain: JudgedMean | None
    cross_fitted: JudgedMean | None
    tuned: JudgedMean
    method: Method
    reason: str
    pool_error: float
    n: int
    extra: int
    correlation: float
    confidence: float
    seed: int
    clustered: ClusteredMean | None = None
    n_clusters: int | None = None
    used: tuple[int, ...] = ()

    @property
    def efficiency(self) -> float:
        """Human-only variance over the tuned one: below 1 the judge made things worse; 1 where it is not used."""
        if self.reason or not self.tuned.standard_error > 0:
            return 1.0
        return (self.human.standard_error / self.tuned.standard_error) ** 2

    @property
    def plain_hurts(self) -> bool:
        """Whether weight 1 is less precise than no judge at all."""
        return self.plain is not None and self.plain.standard_error > self.human.standard_error


def judged_means(
    human: ArrayLike,
    judge: ArrayLike,
    judge_extra: ArrayLike,
    *,
    clusters: Clusters | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    is_difference: bool = False,
    of_classes: bool = True,
) -> JudgedMeans:
    """Estimate the mean human value in all ways.

    human : (n,), values of the items that humans rated. judge : (n,) or (n, J), the judges' scores of the same.
    judge_extra : (N,) or (N, J), the judges' scores of the items that humans did not rate.
    clusters : of the n + N items, those that humans rated first; errors are then robust to whatever the items
        of a cluster share, and the weights are estimated on other clusters.
    seed : of the assignment to folds.
    is_difference : the values are differences B - A of two systems. of_classes : of yes and no.
    InputError: fewer than 2 rated items, or values that are not finite.
    """
    values, scores, extra = (np.asarray(part, dtype=float) for part in (human, judge, judge_extra))
    scores, extra = (part[:, None] if part.ndim == 1 else part for part in (scores, extra))
    check_values(values, scores, extra)
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")
    n, n_judges = scores.shape
    kinds = {"is_difference": is_difference, "of_classes": of_classes}
    assisted = assisted_mean(values, scores, extra, confidence=confidence, **kinds)
    binary = not is_difference and is_binary(values)
    parts = clustered = None
    if clusters is not None and np.ptp(values) > 0:
        parts = None if assisted.reason else ClusteredParts.of(clusters, n, len(extra))
        clustered = clustered_mean(values, clusters.only(np.arange(n)))
    fold = folds(n, seed=seed) if parts is None else parts.folds(seed=seed)

    def mean(weighting: Weighting, weights: Floats) -> JudgedMean:
        return _mean(weighting, values, scores, extra, weights, confidence, parts)

    of_labels = label_mean(values, confidence=confidence, binary=binary, of_classes=of_classes)
    alone = _taken("human", of_labels, n_judges)
    if clustered is not None:
        alone = replace(
            alone,
            standard_error=clustered.standard_error,
            df=clustered.df,
            p_value=clustered.p_value(),
            interval=clustered.interval(confidence),
        )
    plain = cross_fitted = None
    tuned = replace(alone, weighting="tuned") if assisted.reason else _taken("tuned", assisted, n_judges)
    if not assisted.reason:
        used = list(assisted.used)
        weights = np.zeros((int(fold.max()) + 1, n_judges))
        weights[:, used] = fold_weights(values, scores[:, used], extra[:, used], fold)
        cross_fitted = mean("cross-fitted", weights[fold])
        plain = mean("plain", np.ones((n, 1))) if n_judges == 1 else None
        if parts is not None:
            tuned = replace(cross_fitted, weighting="tuned")
    return JudgedMeans(
        human=alone,
        plain=plain,
        cross_fitted=cross_fitted,
        tuned=tuned,
        method=assisted.method if parts is None or assisted.reason else "cross-fitted",
        reason=assisted.reason,
        pool_error=assisted.pool_error if parts is None else math.nan,
        n=n,
        extra=len(extra),
        correlation=_correlation(values, scores, assisted.r_squared),
        confidence=confidence,
        seed=seed,
        clustered=clustered,
        n_clusters=None if clusters is None else clusters.n_clusters,
        used=assisted.used,
    )


def _taken(weighting: Weighting, assisted: Assisted, n_judges: int) -> JudgedMean:
    weights = np.zeros(n_judges)
    weights[list(assisted.used)] = assisted.weights
    return JudgedMean(
        weighting,
        assisted.estimate,
        assisted.standard_error,
        assisted.df,
        assisted.p_value,
        assisted.interval,
        tuple(map(float, weights)),
    )


def _correlation(values: Floats, scores: Floats, r_squared: float) -> float:
    if scores.shape[1] > 1:
        return math.sqrt(r_squared)
    varies = np.ptp(values) > 0 and np.ptp(scores) > 0
    return float(np.corrcoef(values, scores[:, 0])[0, 1]) if varies else 0.0


def folds(n: int, *, seed: int, n_folds: int = N_FOLDS) -> Codes:
    """A random assignment of n values to folds of nearly equal size, at least 2 and at most n / 2."""
    number = max(2, min(n_folds, n // 2))
    return np.random.default_rng(seed).permutation(np.arange(n) % number)


def fold_weights(human: Floats, judge: Floats, extra: Floats, fold: Codes) -> Floats:
    """For each fold the weights N / (n + N) S^-1 Cov(f, Y) from the labelled items of the others, (folds, J)."""
    share = len(extra) / (len(human) + len(extra))
    weights = []
    for left_out in range(int(fold.max()) + 1):
        rest = fold != left_out
        y, f = human[rest], judge[rest]
        if len(y) < 2:  # all but one of the rated items are in one cluster
            weights.append(np.zeros(judge.shape[1]))
            continue
        weights.append(share * np.linalg.lstsq(f - f.mean(axis=0), y - y.mean(), rcond=1e-10)[0])
    return np.array(weights)


def _mean(
    weighting: Weighting,
    human: Floats,
    judge: Floats,
    extra: Floats,
    weights: Floats,
    confidence: float,
    parts: ClusteredParts | None,
) -> JudgedMean:
    """Each human value corrected by its weights (n, J) times (mean judge elsewhere - judge here)."""
    mean_weights, center = weights.mean(axis=0), extra.mean(axis=0)
    estimate = float(np.mean(human - (weights * judge).sum(axis=1)) + mean_weights @ center)
    values, others = human - (weights * (judge - center)).sum(axis=1), extra @ mean_weights
    if parts is None:
        n, of_extra = len(human), float(np.var(others, ddof=1)) / len(extra)
        error, df = math.sqrt(float(np.var(values, ddof=1)) / n + of_extra), n - 1.0
    else:
        error, df = parts.precision(values, others)
    p_value = student_p(estimate / error, df) if error > 0 else math.nan
    ends = student_interval(estimate, error, df, confidence)
    return JudgedMean(weighting, estimate, error, df, p_value, ends, tuple(map(float, mean_weights)))


def check_values(human: Floats, judge: Floats, extra: Floats) -> None:
    """Raise InputError where values are too few, of other numbers than scores, or not finite."""
    if (
        human.ndim != 1
        or judge.shape[:1] != human.shape
        or judge.shape[1:] != extra.shape[1:]
        or judge.ndim != 2
    ):
        raise InputError("Each rated item needs one human value and one score of each judge.")
    if len(human) < 2:
        raise InputError(f"At least 2 items with human values are needed; got {len(human)}.")
    if not all(np.isfinite(part).all() for part in (human, judge, extra)):
        raise InputError("Human values and scores of the judge must be finite numbers.")


# Leaving out one cluster of items at a time: errors of statistics that are functions of sums over items.


@dataclass(frozen=True, slots=True)
class JackknifeEstimate:
    """A statistic with its jackknife error, Student's interval and two-sided p-value against 0."""

    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]


def jackknife(
    statistic: Callable[[Floats], Floats], sums: Floats, sizes: Floats, *, confidence: float
) -> list[JackknifeEstimate]:
    """Each of q statistics with its error: sqrt((G - 1) / G sum_g (t_-g - mean)^2) over G clusters.

    Source: Tukey (1958); Efron and Stein (1981). The df are those of a mean over such clusters.
    statistic : from totals (..., k) to (..., q); NaN where one is not defined.
    sums : (G, k), what each cluster adds to the totals.
    sizes : (G,), items of each cluster, for the degrees of freedom.
    """
    total = sums.sum(axis=0)
    estimates = statistic(total)
    left = statistic(total[None] - sums)
    n, df = len(sums), bell_mccaffrey_df(sizes)
    result = []
    for value, without in zip(estimates, left.T, strict=True):
        known = without[np.isfinite(without)]
        error = math.nan
        if len(known) == n and math.isfinite(value):
            error = math.sqrt((n - 1) / n * float(np.sum((known - known.mean()) ** 2)))
        p_value = student_p(float(value) / error, df) if error > 0 else math.nan
        ends = student_interval(float(value), error, df, confidence)
        result.append(JackknifeEstimate(float(value), error, df, p_value, ends))
    return result
