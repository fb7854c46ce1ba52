"""A mean from a few human values and a judge's scores of many: prediction-powered inference, PPI++.

The judge's mean over further items corrects the human mean; its weight is estimated from the data.
Source: Angelopoulos, Duchi and Zrnic (2023), PPI++; plain prediction-powered inference (Angelopoulos et
al. 2023) has weight 1. Valid whatever the judge is worth if the judge was not tuned on the human values
and the further items come from the same population.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean, bell_mccaffrey_df, clustered_mean

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
        """From the clusters of all items, rated ones first.

        Raises
        ------
        InputError
            Clusters of another number of items, or rated or further items that are all in one cluster.
        """
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


Weighting = Literal["human", "plain", "tuned"]

FEW = 50  # human values below which a weight estimated on the same values makes intervals too short


@dataclass(frozen=True, slots=True)
class JudgedMean:
    """An estimate of the mean human value: with 'human' values alone, with the judge at weight 1
    ('plain'), or at a weight estimated by cross-fitting ('tuned').

    `weight` is the mean over the folds; the interval is Student's on n - 1 df, with clusters of items on those of
    Bell and McCaffrey.
    """

    weighting: Weighting
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    weight: float


@dataclass(frozen=True, slots=True)
class JudgedMeans:
    """The three estimates from the same data; `correlation` is that of judge and human on rated items.

    `clustered` is the mean of the human values by their clusters, `n_clusters` counts those of all items; None
    where items count as independent.
    """

    human: JudgedMean
    plain: JudgedMean
    tuned: JudgedMean
    n: int
    extra: int
    correlation: float
    confidence: float
    seed: int
    clustered: ClusteredMean | None = None
    n_clusters: int | None = None

    @property
    def efficiency(self) -> float:
        """Human-only variance over the tuned one: below 1 the judge made things worse."""
        return (self.human.standard_error / self.tuned.standard_error) ** 2

    @property
    def plain_hurts(self) -> bool:
        """Whether weight 1 is less precise than no judge at all."""
        return self.plain.standard_error > self.human.standard_error


def judged_means(
    human: ArrayLike,
    judge: ArrayLike,
    judge_extra: ArrayLike,
    *,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
    seed: int = 1,
) -> JudgedMeans:
    """Estimate the mean human value in three ways.

    Parameters
    ----------
    human, judge : (n,), values of the items that humans rated and the judge's scores of the same.
    judge_extra : (N,), the judge's scores of the items that humans did not rate.
    clusters : of the n + N items, those that humans rated first; errors are then robust to whatever the items
        of a cluster share, and folds are of whole clusters.
    seed : of the assignment to folds.

    Raises
    ------
    InputError
        Fewer than 3 rated or 2 further items, values that are not finite, or human values all alike.
    """
    values, scores, extra = (np.asarray(part, dtype=float) for part in (human, judge, judge_extra))
    _check(values, scores, extra, confidence)
    n = len(values)
    parts = None if clusters is None else ClusteredParts.of(clusters, n, len(extra))
    fold = folds(n, seed=seed) if parts is None else parts.folds(seed=seed)
    weight = fold_weights(values, scores, extra, fold)[fold]
    zero = np.zeros(n)
    with_judge = np.corrcoef(values, scores)[0, 1] if np.ptp(scores) > 0 else 0.0

    def mean(weighting: Weighting, weights: Floats) -> JudgedMean:
        return _mean(weighting, values, scores, extra, weights, confidence, parts)

    return JudgedMeans(
        human=mean("human", zero),
        plain=mean("plain", zero + 1.0),
        tuned=mean("tuned", weight),
        n=n,
        extra=len(extra),
        correlation=float(with_judge),
        confidence=confidence,
        seed=seed,
        clustered=None if parts is None else clustered_mean(values, parts.rated),
        n_clusters=None if clusters is None else clusters.n_clusters,
    )


def folds(n: int, *, seed: int, n_folds: int = N_FOLDS) -> Codes:
    """A random assignment of n values to folds of nearly equal size, at least 2 and at most n / 2."""
    number = max(2, min(n_folds, n // 2))
    return np.random.default_rng(seed).permutation(np.arange(n) % number)


def fold_weights(human: Floats, judge: Floats, extra: Floats, fold: Codes) -> Floats:
    """For each fold the weight Cov(Y, f) / ((1 + n/N) Var f) from the other folds, shape (folds,)."""
    shrink = 1 + len(human) / len(extra)
    found = []
    for left_out in range(int(fold.max()) + 1):
        rest = fold != left_out
        y, f = human[rest], judge[rest]
        if len(y) < 2:  # all but one of the rated items are in one cluster
            found.append(0.0)
            continue
        variance = float(np.var(np.concatenate([f, extra]), ddof=1))
        covariance = float((y - y.mean()) @ (f - f.mean())) / (len(y) - 1)
        found.append(covariance / (shrink * variance) if variance > 0 else 0.0)
    return np.array(found)


def _mean(
    weighting: Weighting,
    human: Floats,
    judge: Floats,
    extra: Floats,
    weight: Floats,
    confidence: float,
    parts: ClusteredParts | None,
) -> JudgedMean:
    """Each human value corrected by its weight times (mean judge elsewhere - judge here)."""
    mean_weight, center = float(weight.mean()), extra.mean()
    estimate = float(np.mean(human - weight * judge)) + mean_weight * float(center)
    values, others = human - weight * (judge - center), mean_weight * extra
    if parts is None:
        n, of_extra = len(human), mean_weight**2 * float(np.var(extra, ddof=1)) / len(extra)
        error, df = math.sqrt(float(np.var(values, ddof=1)) / n + of_extra), n - 1.0
    else:
        error, df = parts.precision(values, others)
    reach = -float(special.stdtrit(df, (1 - confidence) / 2)) * error
    p_value = 2 * float(special.stdtr(df, -abs(estimate) / error)) if error > 0 else math.nan
    return JudgedMean(
        weighting, estimate, error, df, p_value, (estimate - reach, estimate + reach), mean_weight
    )


def _check(human: Floats, judge: Floats, extra: Floats, confidence: float) -> None:
    if human.ndim != 1 or human.shape != judge.shape or extra.ndim != 1:
        raise InputError("Each rated item needs one human value and one score of the judge.")
    if len(human) < 3 or len(extra) < 2:
        raise InputError(
            f"At least 3 items with human values and 2 without are needed; got {len(human)} and {len(extra)}."
        )
    if not all(np.isfinite(part).all() for part in (human, judge, extra)):
        raise InputError("Human values and scores of the judge must be finite numbers.")
    if np.ptp(human) == 0:
        raise InputError("The human values are all alike: their mean has no error to reduce.")
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")


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

    Parameters
    ----------
    statistic : from totals (..., k) to (..., q); NaN where one is not defined.
    sums : (G, k), what each cluster adds to the totals.
    sizes : (G,), items of each cluster, for the degrees of freedom.

    Source: Tukey (1958); Efron and Stein (1981). The df are those of a mean over such clusters.
    """
    total = sums.sum(axis=0)
    estimates = statistic(total)
    left = statistic(total[None] - sums)
    n, df = len(sums), bell_mccaffrey_df(sizes)
    found = []
    for value, without in zip(estimates, left.T, strict=True):
        known = without[np.isfinite(without)]
        error = math.nan
        if len(known) == n and math.isfinite(value):
            error = math.sqrt((n - 1) / n * float(np.sum((known - known.mean()) ** 2)))
        reach = -float(special.stdtrit(df, (1 - confidence) / 2)) * error
        p_value = 2 * float(special.stdtr(df, -abs(value) / error)) if error > 0 else math.nan
        found.append(
            JackknifeEstimate(
                float(value), error, df, p_value, (float(value) - reach, float(value) + reach)
            )
        )
    return found
