"""A mean from a few human values and a judge's scores of many: prediction-powered inference, PPI++.

The judge's mean over further items corrects the human mean; its weight is estimated from the data.
Source: Angelopoulos, Duchi and Zrnic (2023), PPI++; plain prediction-powered inference (Angelopoulos et
al. 2023) has weight 1. Valid whatever the judge is worth if the judge was not tuned on the human values
and the further items come from the same population.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Weighting = Literal["human", "plain", "tuned"]

N_FOLDS = 10
FEW = 50  # human values below which a weight estimated on the same values makes intervals too short


@dataclass(frozen=True, slots=True)
class JudgedMean:
    """An estimate of the mean human value: with 'human' values alone, with the judge at weight 1
    ('plain'), or at a weight estimated by cross-fitting ('tuned').

    `weight` is the mean over the folds; the interval is Student's on n - 1 df.
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
    """The three estimates from the same data; `correlation` is that of judge and human on rated items."""

    human: JudgedMean
    plain: JudgedMean
    tuned: JudgedMean
    n: int
    extra: int
    correlation: float
    confidence: float
    seed: int

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
    confidence: float = 0.95,
    seed: int = 1,
) -> JudgedMeans:
    """Estimate the mean human value in three ways.

    Parameters
    ----------
    human, judge : (n,), values of the items that humans rated and the judge's scores of the same.
    judge_extra : (N,), the judge's scores of the items that humans did not rate.
    seed : of the assignment to folds.

    Raises
    ------
    InputError
        Fewer than 3 rated or 2 further items, values that are not finite, or human values all alike.
    """
    values, scores, extra = (np.asarray(part, dtype=float) for part in (human, judge, judge_extra))
    _check(values, scores, extra, confidence)
    n = len(values)
    fold = folds(n, seed=seed)
    weight = fold_weights(values, scores, extra, fold)[fold]
    zero = np.zeros(n)
    with_judge = np.corrcoef(values, scores)[0, 1] if np.ptp(scores) > 0 else 0.0
    return JudgedMeans(
        human=_mean("human", values, scores, extra, zero, confidence),
        plain=_mean("plain", values, scores, extra, zero + 1.0, confidence),
        tuned=_mean("tuned", values, scores, extra, weight, confidence),
        n=n,
        extra=len(extra),
        correlation=float(with_judge),
        confidence=confidence,
        seed=seed,
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
        variance = float(np.var(np.concatenate([f, extra]), ddof=1))
        covariance = float((y - y.mean()) @ (f - f.mean())) / (len(y) - 1)
        found.append(covariance / (shrink * variance) if variance > 0 else 0.0)
    return np.array(found)


def _mean(
    weighting: Weighting, human: Floats, judge: Floats, extra: Floats, weight: Floats, confidence: float
) -> JudgedMean:
    """Each human value corrected by its weight times (mean judge elsewhere - judge here)."""
    n, mean_weight = len(human), float(weight.mean())
    estimate = float(np.mean(human - weight * judge)) + mean_weight * float(extra.mean())
    center = extra.mean()
    of_values = float(np.var(human - weight * (judge - center), ddof=1)) / n
    of_extra = mean_weight**2 * float(np.var(extra, ddof=1)) / len(extra)
    error, df = math.sqrt(of_values + of_extra), n - 1.0
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
