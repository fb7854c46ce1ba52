"""Several comparisons of a study at once, by the law of their estimates and of the estimated variances.

The estimated means are normal around the true ones. Each comparison is referred to t with df of its own: its
standard error is its true size times sqrt(chi2 / df), exactly so for each by itself, and together as one estimated
variance or as normal scores that are correlated as the estimated variances are. Where nothing is in closed
form the mean is taken over fixed scrambled Sobol points, which makes it the same at every call, right to about
0.002, and smooth enough to search.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.polynomial import hermite_e
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons import ComparisonFamily, Correction
from humeval_power.errors import InputError
from humeval_power.inference.study.max_t import CriticalValues
from humeval_power.kernels.joint.systems_law import rejected_at_points
from humeval_power.planning.study.systems_goals import LOG2_POINTS, GoalCounts, Truth, count_goals
from humeval_power.planning.study.systems_precision import Pairs, SystemsPrecision
from humeval_power.quadrature import gauss_legendre
from humeval_power.rules import DecisionRule

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_SEED = 1936
_MOST_ALONE = 200  # comparisons up to which each fit in pairs has a variance of its own
_NODES = 96  # of each quadrature: it is then right to about 1e-8
_KNOTS, _REACH = (
    129,
    6.0,
)  # of the quantile of chi2, which is interpolated, and the normal score where it ends


def counts_by_law(
    truth: Truth, precision: SystemsPrecision, family: ComparisonFamily, *, log2_points: int = LOG2_POINTS
) -> GoalCounts:
    """What a study finds, as counts over Sobol points.

    Raises
    ------
    InputError
        The correction 'bh', whose steps depend on all p-values: it is simulated; max-t with a margin.
    """
    rule = truth.rule
    thresholds, errors, scores = _draws(_Known(precision), family, rule, log2_points)
    estimate = np.array(truth.parameters.means) + errors
    first, second = np.array(precision.pairs).T
    difference = estimate[:, second] - estimate[:, first]
    table = np.array([_scale_table(float(df)) for df in precision.df])
    rejected = rejected_at_points(
        np.ascontiguousarray(difference), scores, np.ascontiguousarray(precision.standard_error), table,
        -_REACH, 2 * _REACH / (_KNOTS - 1), thresholds, rule.alternative == "two-sided",
        int(rule.alternative == "equivalent"), rule.margin or 0.0,
    )  # fmt: skip
    return count_goals(truth, estimate, difference, rejected)


class _Known:
    """A precision that can be looked up: equal to another of the same numbers."""

    def __init__(self, precision: SystemsPrecision) -> None:
        self.precision = precision
        self._key = tuple(part.tobytes() if isinstance(part, np.ndarray) else part for part in precision)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=4)
def _draws(
    known: _Known, family: ComparisonFamily, rule: DecisionRule, log2_points: int
) -> tuple[Floats, Floats, Floats]:
    """What does not depend on the true means: thresholds, errors of the estimated means (points, K) and normal
    scores of the estimated variances (points, pairs). Kept for a study that is asked about under several means."""
    precision = known.precision
    thresholds = critical_values(precision, reference_df(precision, rule), rule, family.correction)
    loading = scale_loadings(precision, family)
    K = len(precision.covariance)
    points = _points(K - 1 + loading.shape[1], log2_points)
    return thresholds, points[:, : K - 1] @ _root(precision.covariance).T, points[:, K - 1 :] @ loading.T


def scale_loadings(precision: SystemsPrecision, family: ComparisonFamily) -> Floats:
    """How the estimated variances of the comparisons move together: rows of length 1, (pairs, q).

    One estimated variance for all, with common variances. With each system's own the variance of a comparison is
    the sum of two estimated ones, whose df follow from those of the comparisons. Fits in pairs estimate it
    from differences alone: chi-squares of differences are correlated as the squares of these are. Of very many fits
    in pairs the variances are taken as those of the joint model.
    """
    n, K = len(precision.pairs), len(precision.covariance)
    if (family.model == "joint" and family.variances == "common") or np.isinf(precision.df).all():
        return np.ones((n, 1))
    if family.model == "joint" or n > _MOST_ALONE:
        first, second = np.array(precision.pairs).T
        which = np.zeros((n, K))
        which[np.arange(n), first] = which[np.arange(n), second] = 1.0
        spread = precision.standard_error**4 / precision.df
        parts = np.linalg.lstsq(which, spread / spread.max(), rcond=None)[0]
        loading = which * np.sqrt(np.maximum(parts, 1e-6))
    else:
        values, vectors = np.linalg.eigh(correlation_of(precision.covariance, precision.pairs) ** 2)
        kept = values > 1e-9 * values[-1]
        loading = vectors[:, kept] * np.sqrt(values[kept])
    return np.asarray(loading / np.linalg.norm(loading, axis=1, keepdims=True))


def reference_df(precision: SystemsPrecision, rule: DecisionRule) -> Floats:
    """The df that the rule refers each comparison to, (pairs,)."""
    if rule.df == "normal":
        return np.full(len(precision.df), math.inf)
    return np.full(len(precision.df), float(precision.smallest)) if rule.df == "min" else precision.df


def critical_values(
    precision: SystemsPrecision, df: Floats, rule: DecisionRule, correction: Correction
) -> Floats:
    """What the statistics must pass: (pairs, 1) in a single step, (pairs, pairs) for Holm's (1979) steps, the
    first of them for the smallest p-value."""
    n = len(df)
    if correction == "bh":
        raise InputError("Benjamini and Hochberg's correction (bh) has no formula: take the simulation.")
    if correction == "max-t":
        return max_t_values(precision, df, rule)[:, None]
    if correction == "holm":
        tails = rule.tail / (n - np.arange(n))
    else:
        tails = np.array([rule.tail / n if correction == "bonferroni" else rule.tail])
    endless = np.isinf(df)[:, None]
    finite = -special.stdtrit(np.where(endless, 1.0, df[:, None]), tails)
    return np.where(endless, -special.ndtri(tails), finite)


def max_t_values(precision: SystemsPrecision, df: Floats, rule: DecisionRule) -> Floats:
    """Critical values of the largest t, (pairs,), each at the df given."""
    check_max_t(rule)
    correlation = correlation_of(precision.covariance, precision.pairs)
    two_sided = rule.alternative == "two-sided"
    return _critical_values(correlation.tobytes(), len(df), rule.alpha, two_sided)(df)


def check_max_t(rule: DecisionRule) -> None:
    """Refuse max-t for a rule that it has no answer for."""
    if rule.margin is not None:
        raise InputError("max-t is for tests of no difference; take holm for those with a margin.")


@lru_cache(maxsize=32)
def _critical_values(correlation: bytes, n: int, alpha: float, two_sided: bool) -> CriticalValues:
    return CriticalValues(np.frombuffer(correlation).reshape(n, n), alpha, two_sided)


def correlation_of(C: Floats, pairs: Pairs) -> Floats:
    """Correlation of the differences of means with covariance C, (pairs, pairs), rounded to 10 digits."""
    first, second = np.array(pairs).T
    rows, columns = first[:, None], second[:, None]
    covariance = C[rows, first] + C[columns, second] - C[rows, second] - C[columns, first]
    scale = np.sqrt(np.diag(covariance))
    return np.asarray(np.round(covariance / np.outer(scale, scale), 10))


def by_quadrature(shift: Floats, df: float, critical: float) -> tuple[float, float, float]:
    """Any, all and any false one of two-sided comparisons with a baseline in a single step, all equally precise:
    given the baseline's error and the estimated scale they are independent.

    shift : true differences in standard errors, (n,); NaN for what cannot be.
    """
    scale, weight = _quantiles(df)
    z, of_z = hermite_e.hermegauss(_NODES)
    of_z = of_z / of_z.sum()
    half = math.sqrt(0.5)
    centre = (shift[:, None, None] - half * z[None, :, None]) / half
    reach = critical * scale / half
    up, down = special.ndtr(centre - reach), special.ndtr(-centre - reach)
    sign = np.sign(shift)[:, None, None]
    hit = np.where(sign > 0, up, np.where(sign < 0, down, up + down))

    def mean(chance: Floats) -> float:
        return float(of_z @ chance @ weight)

    real, null = shift != 0, shift == 0
    return (
        mean(1 - np.prod(1 - hit[real], axis=0)) if real.any() else math.nan,
        mean(np.prod(hit[real], axis=0)) if real.any() else math.nan,
        mean(1 - np.prod(1 - hit[null], axis=0)) if null.any() else math.nan,
    )


def _quantiles(df: float) -> tuple[Floats, Floats]:
    """Nodes and weights of the estimated standard error relative to the true one, sqrt(chi2 / df)."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    node, weight = gauss_legendre(_NODES)
    # a smooth map of (0, 1) that crowds the nodes at both ends, where the quantile runs away
    inside, slope = 0.5 * (1 + np.sin(node * np.pi / 2)), 0.25 * np.pi * np.cos(node * np.pi / 2)
    return np.sqrt(2.0 * special.gammaincinv(df / 2, inside) / df), weight * slope


@lru_cache(maxsize=8)
def _points(dimensions: int, log2_points: int) -> Floats:
    """Standard normal numbers (points, dimensions)."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(dimensions, rng=np.random.default_rng(_SEED)).random_base2(log2_points)
    return np.asarray(special.ndtri(np.clip(sobol, 1e-12, 1 - 1e-12)))


def _root(covariance: Floats) -> Floats:
    """R (K, K - 1) with R R' the covariance of the means less their average: all that comparisons need."""
    K = len(covariance)
    centre = np.eye(K) - 1.0 / K
    values, vectors = np.linalg.eigh(centre @ covariance @ centre)
    return np.asarray(vectors[:, 1:] * np.sqrt(np.maximum(values[1:], 0.0)))


@lru_cache(maxsize=1024)
def _scale_table(df: float) -> Floats:
    """sqrt(chi2 / df) at equally spaced normal scores, between which it is nearly straight."""
    if math.isinf(df):
        return np.ones(_KNOTS)
    scores = np.linspace(-_REACH, _REACH, _KNOTS)
    return np.asarray(np.sqrt(2.0 * special.gammaincinv(df / 2, special.ndtr(scores)) / df))
