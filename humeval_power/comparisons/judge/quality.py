"""How a judge's answers go with people's: classes, agreement corrected for chance, correlation, errors by system.

Everything here is about this judge and these people on other items: errors are by items or by their clusters. Each
statistic is taken apart into what leaving one item out changes (the jackknife's pseudo-values), whose mean has CR2
errors; what lies between -1 and 1 has its interval on the scale of atanh.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import clustered_mean, student_interval, student_p
from humeval_power.inference.item_bootstrap import wilson_interval

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its interval; NaN where there is none, and then `reason` says why."""

    value: float
    low: float
    high: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Classes:
    """Yes and no of people and of a judge: `counts` are both yes, people alone, judge alone, both no.

    `rate` is the share of yes that people would give among `n_judged` items, by Rogan and Gladen (1978) with the
    interval of Lang and Reiczigel (2014): it takes sensitivity and specificity to be those of the labelled items
    wherever these come from. `judged` is the share of yes of the judge. `youden` is sensitivity + specificity - 1,
    with Newcombe's (1998) interval.
    """

    counts: tuple[int, int, int, int]
    n_judged: int
    judged: float
    sensitivity: Measured
    specificity: Measured
    youden: Measured
    rate: Measured


NO_CLASS = "the labels have no {}"
NOT_TOLD_APART = "the judge does not tell the classes apart for sure"
REVERSED = "the judge says the opposite of people"
NO_TARGET = "the judge scored no output without a label"


def classes(
    human: NDArray[np.bool_], judge: NDArray[np.bool_], all_judged: Floats, *, confidence: float
) -> Classes:
    """From the labelled items, (n,) each, and the judge's yes (1) and no (0) of those whose rate is asked, (T,)."""
    both, missed = int((human & judge).sum()), int((human & ~judge).sum())
    false, neither = int((~human & judge).sum()), int((~human & ~judge).sum())
    n = len(all_judged)
    judged = float(all_judged.mean()) if n else math.nan
    sensitivity = _share(both, both + missed, confidence, "positive one")
    specificity = _share(neither, neither + false, confidence, "negative one")
    youden, rate = _rate(
        (both, missed, false, neither), int(all_judged.sum()), n, sensitivity, specificity, confidence
    )
    return Classes((both, missed, false, neither), n, judged, sensitivity, specificity, youden, rate)


def _share(count: int, n: int, confidence: float, noun: str) -> Measured:
    if not n:
        return Measured(math.nan, math.nan, math.nan, NO_CLASS.format(noun))
    return Measured(count / n, *wilson_interval(count, n, confidence))


def _rate(
    counts: tuple[int, int, int, int],
    yes: int,
    n: int,
    sensitivity: Measured,
    specificity: Measured,
    confidence: float,
) -> tuple[Measured, Measured]:
    """Youden's index and the rate that it corrects."""
    reason = sensitivity.reason or specificity.reason
    if reason:
        none = Measured(math.nan, math.nan, math.nan, reason)
        return none, none
    se, sp = sensitivity.value, specificity.value
    index = se + sp - 1
    below = math.hypot(se - sensitivity.low, sp - specificity.low)
    above = math.hypot(sensitivity.high - se, specificity.high - sp)
    youden = Measured(index, index - below, index + above)
    positive, negative = counts[0] + counts[1], counts[2] + counts[3]
    if not n:
        return youden, Measured(math.nan, math.nan, math.nan, NO_TARGET)
    ends = lang_reiczigel(counts[0], positive, counts[3], negative, yes, n, confidence=confidence)
    rate = min(1.0, max(0.0, (yes / n + sp - 1) / index)) if index > 0 else math.nan
    why = REVERSED if youden.high < 0 else NOT_TOLD_APART if youden.low <= 0 else ""
    return youden, Measured(rate, *ends, why)


def lang_reiczigel(
    hits: int,
    positive: int,
    rejected: int,
    negative: int,
    yes: int,
    n: int,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> tuple[float, float]:
    """Interval of a prevalence: `yes` of n judged so; the judge finds `hits` of `positive`, rejects `rejected` of
    `negative` labelled ones. Lang and Reiczigel (2014), Preventive Veterinary Medicine 113."""
    z = float(special.ndtri((1 + confidence) / 2))
    more = n + z * z
    q = (yes + z * z / 2) / more
    se, sp = (hits + 1) / (positive + 2), (rejected + 1) / (negative + 2)
    index = se + sp - 1
    if index <= 0:
        return 0.0, 1.0
    rate = (q + sp - 1) / index
    of_se, of_sp = se * (1 - se) / (positive + 2), sp * (1 - sp) / (negative + 2)
    shift = 2 * z * z * (rate * of_se - (1 - rate) * of_sp)
    reach = z * math.sqrt(q * (1 - q) / more + rate**2 * of_se + (1 - rate) ** 2 * of_sp) / index
    return min(1.0, max(0.0, rate + shift - reach)), min(1.0, max(0.0, rate + shift + reach))


# Agreement of two columns, and their correlation.


def kappa(table: Floats, values: Floats, level: Level) -> Floats:
    """Cohen's kappa of tables (..., k, k); with squared differences of the values where they are ordered."""
    n = table.sum(axis=(-2, -1))
    distance = (values[:, None] - values[None, :]) ** 2 if level != "nominal" else 1.0 - np.eye(len(values))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    observed = (table * distance).sum(axis=(-2, -1)) / n
    expected = np.einsum("...i,ij,...j->...", rows, distance, columns) / n**2
    return _one_minus(observed, expected)


def ac1(table: Floats, values: Floats, level: Level) -> Floats:  # noqa: ARG001
    """Gwet's (2008) AC1 of tables (..., k, k); 1 where both use one class alone."""
    n = table.sum(axis=(-2, -1))
    share = (table.sum(axis=-1) + table.sum(axis=-2)) / (2 * n[..., None])
    by_chance = (share * (1 - share)).sum(axis=-1) / (len(values) - 1)
    same = np.einsum("...ii->...", table) / n
    return np.asarray((same - by_chance) / (1 - by_chance))


def alpha(table: Floats, values: Floats, level: Level) -> Floats:
    """Krippendorff's alpha of two columns, from tables (..., k, k)."""
    both = table.sum(axis=-1) + table.sum(axis=-2)
    total = both.sum(axis=-1)
    if level == "ordinal":
        ranks = np.cumsum(both, axis=-1) - both / 2
        distance = (ranks[..., :, None] - ranks[..., None, :]) ** 2
    elif level == "interval":
        distance = np.broadcast_to((values[:, None] - values[None, :]) ** 2, table.shape)
    else:
        distance = np.broadcast_to(1.0 - np.eye(len(values)), table.shape)
    observed = 2 * (table * distance).sum(axis=(-2, -1)) / total
    expected = np.einsum("...i,...ij,...j->...", both, distance, both) / (total * (total - 1))
    return _one_minus(observed, expected)


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


ONE_CLASS = "one class alone is used"
ONE_CLUSTER = "all labels are in one cluster"
ALL_AGREE = "all agree"
FEW = 5  # labels, or labels beside the most frequent class, below which no interval holds
_SKEWED = (
    0.25  # of the labels outside the most frequent class: below, intervals of moments cover .85 to .91
)
SKEWED = "three in four labels are of one class"
RARE = f"fewer than {FEW} labels lie outside the most frequent class"


def measured_table(
    of: Callable[[Floats, Floats, Level], Floats],
    human: Codes,
    judge: Codes,
    values: Floats,
    level: Level,
    clusters: Clusters | None,
    *,
    confidence: float,
) -> Measured:
    """A statistic of the table of two columns of codes, with its interval over items or clusters."""
    k, n = len(values), len(human)
    cell = human * k + judge
    counts = np.bincount(cell, minlength=k * k).astype(np.float64)
    occurring = np.flatnonzero(counts)
    tables = np.repeat(counts[None], len(occurring) + 1, axis=0)
    tables[np.arange(1, len(occurring) + 1), occurring] -= 1
    result = of(tables.reshape(-1, k, k), values, level)
    value = float(result[0])
    if math.isnan(value):
        return Measured(math.nan, math.nan, math.nan, ONE_CLASS)
    if value >= 1 - 1e-12:
        return Measured(1.0, math.nan, math.nan, ALL_AGREE)
    square = counts.reshape(k, k)
    beside = n - max(square.sum(axis=0).max(), square.sum(axis=1).max())
    if of is not ac1 and beside < FEW:
        return Measured(value, math.nan, math.nan, RARE)
    if of is kappa and level != "nominal" and beside < n * _SKEWED:
        return Measured(value, math.nan, math.nan, SKEWED)
    without = np.full(k * k, np.nan)
    without[occurring] = result[1:]
    return _on_atanh(value, n * value - (n - 1) * without[cell], clusters, confidence)


def alpha_of_numbers(x: Floats, y: Floats, clusters: Clusters | None, *, confidence: float) -> Measured:
    """Krippendorff's interval alpha of two columns of numbers."""
    n = len(x)
    middle = (x.mean() + y.mean()) / 2
    x, y = x - middle, y - middle
    apart, squares, sums = (x - y) ** 2, x**2 + y**2, x + y
    left = np.concatenate([[0.0], np.ones(n)])  # items left out
    own = [np.concatenate([[0.0], each]) for each in (apart, squares, sums)]
    apart_sum, square_sum, total = (float(each.sum()) - each for each in own)
    values = 2 * (n - left)
    spread = square_sum - total**2 / values
    if not spread.min() > 0:
        return Measured(math.nan, math.nan, math.nan, "nothing varies")
    alpha = 1 - (apart_sum / (n - left)) / (2 * spread / (values - 1))
    return _on_atanh(float(alpha[0]), n * alpha[0] - (n - 1) * alpha[1:], clusters, confidence)


def correlation(x: Floats, y: Floats, clusters: Clusters | None, *, confidence: float) -> Measured:
    """Pearson's correlation, with the jackknife's error over items or clusters."""
    n = len(x)
    most = max(np.unique(each, return_counts=True)[1].max() for each in (x, y))
    x, y = x - x.mean(), y - y.mean()
    if not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return Measured(math.nan, math.nan, math.nan, "nothing varies")
    # leaving one value of n out takes n / (n - 1) of its square from a sum of squares about the mean
    xx, yy, xy = (float(a @ b) - np.append(0.0, a * b * n / (n - 1)) for a, b in ((x, x), (y, y), (x, y)))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = xy / np.sqrt(xx * yy)
    if n - most < max(FEW, n * _SKEWED) and min(len(np.unique(x)), len(np.unique(y))) > 2:
        return Measured(float(correlations[0]), math.nan, math.nan, SKEWED)
    return _on_atanh(
        float(correlations[0]), n * correlations[0] - (n - 1) * correlations[1:], clusters, confidence
    )


def _on_atanh(value: float, pseudo: Floats, clusters: Clusters | None, confidence: float) -> Measured:
    if value >= 1 - 1e-12:
        return Measured(1.0, math.nan, math.nan, ALL_AGREE)
    if len(pseudo) < FEW or not np.isfinite(pseudo).all() or value <= -1 + 1e-12:
        return Measured(value, math.nan, math.nan, "one item decides it")
    mean = clustered_mean(pseudo, clusters)
    low, high = student_interval(
        math.atanh(value), mean.standard_error / (1 - value**2), mean.df, confidence
    )
    return Measured(value, math.tanh(low), math.tanh(high))


# Bias: three questions that must not be mixed.


@dataclass(frozen=True, slots=True)
class Distortion:
    """By how much a judge's mean difference second - first misses people's, on their common scale.

    It is what correction by labels takes away, and no preference: a judge that errs alike everywhere distorts a
    difference between systems whose rates differ.
    """

    first: str
    second: str
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    n: int


@dataclass(frozen=True, slots=True)
class Favour:
    """What a judge gives outputs `of` something beyond others that people value alike, in units of its scores."""

    of: str
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    n: int


def distortion(
    judge: Floats, human: Floats, names: tuple[str, str], clusters: Clusters | None, *, confidence: float
) -> Distortion | None:
    """From judge and human values of outputs under two systems, (n_items, 2), NaN where one is missing; by
    items with both, else by all outputs. None where there are too few, or all of one cluster."""
    error = judge - human
    both = np.isfinite(error).all(axis=1)
    if both.sum() >= FEW:
        if clusters is not None and len(np.unique(clusters.codes[both])) < 2:
            return None
        change = error[both, 1] - error[both, 0]
        groups = None if clusters is None else clusters.only(np.flatnonzero(both))
        mean = clustered_mean(change, groups)
        estimate, se, df, n = mean.estimate, mean.standard_error, mean.df, int(both.sum())
    else:
        parts = [column[np.isfinite(column)] for column in error.T]
        if clusters is not None or min(map(len, parts)) < FEW:
            return None
        each = [float(part.var(ddof=1)) / len(part) for part in parts]
        estimate, se = float(parts[1].mean() - parts[0].mean()), math.sqrt(sum(each))
        below = sum(v**2 / (len(part) - 1) for v, part in zip(each, parts, strict=True))
        df, n = (sum(each) ** 2 / below if below > 0 else math.nan), sum(map(len, parts))
    if not se > 0:
        return None
    p_value = student_p(estimate / se, df)
    return Distortion(*names, estimate, se, df, p_value, student_interval(estimate, se, df, confidence), n)


def favours(
    judge: Floats,
    first: Floats,
    second: Floats,
    design: Floats,
    contrasts: Floats,
    names: tuple[str, ...],
    cluster: Codes,
    *,
    confidence: float,
) -> tuple[Favour, ...]:
    """Two-stage least squares of the judge on a person's rating, with another person's of the same output for
    it.

    A rating is noisy, and given it the truth still goes with the system; another person's rating has other
    noise, and stands for the truth. Each of two ratings is the instrument of the other; errors are by clusters
    (items).
    judge, first, second : (n,), the judge's score and two people's ratings of an output.
    design : (n, q), a constant and what may be favoured. contrasts : (c, q), what is asked of their
        coefficients.
    cluster : (n,), codes from 0.
    """
    n, q = design.shape
    groups = len(np.unique(cluster))
    if groups < 2:
        return ()
    x = np.concatenate([np.column_stack([design, h]) for h in (first, second)])
    z = np.concatenate([np.column_stack([design, h]) for h in (second, first)])
    y = np.concatenate([judge, judge])
    cross = z.T @ x
    if np.linalg.cond(cross) > 1e12:
        return ()
    inverse = np.linalg.inv(cross)
    theta = inverse @ (z.T @ y)
    moments = z * (y - x @ theta)[:, None]
    sums = np.zeros((int(cluster.max()) + 1, q + 1))
    np.add.at(sums, np.concatenate([cluster, cluster]), moments)
    covariance = inverse @ (sums.T @ sums) @ inverse.T * groups / (groups - 1)
    result = []
    for row, name in zip(contrasts, names, strict=True):
        full = np.append(row, 0.0)
        estimate, se = float(full @ theta), math.sqrt(max(0.0, float(full @ covariance @ full)))
        df = groups - 1.0
        p_value = student_p(estimate / se, df) if se > 0 else math.nan
        result.append(
            Favour(name, estimate, se, df, p_value, student_interval(estimate, se, df, confidence), n)
        )
    return tuple(result)
