"""Power of a study of several systems: every goal, by formula."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TypedDict, assert_never

import numpy as np
from numpy.polynomial import hermite_e
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.student_t import (
    critical_values,
    equivalence_power,
    exaggeration,
    noncentral_t_tail,
)
from humeval_power.kernels.joint.systems_law import rejected_at_points
from humeval_power.quadrature import gauss_legendre
from humeval_power.rules import ComparisonFamily, Correction, DecisionRule
from humeval_power.studies.fit.max_t import CriticalValues, factor_of
from humeval_power.studies.power.replication import MOST_FAILURES
from humeval_power.studies.power.systems_goals import (
    LOG2_POINTS,
    GoalCounts,
    SystemsPower,
    Truth,
    count_goals,
)
from humeval_power.studies.power.systems_precision import (
    AnyStudy,
    SystemsPrecision,
    systems_precision,
)
from humeval_power.systems import GOALS, Goal, SystemsParameters

# Several comparisons of a study at once, by the law of their estimates and of the estimated variances.

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
    thresholds, row, errors, scores = _draws(_Known(precision), family, rule, log2_points)
    estimate = np.array(truth.parameters.means) + errors
    first, second = np.array(precision.pairs).T
    difference = estimate[:, second] - estimate[:, first]
    table = np.array([_scale_table(float(df)) for df in precision.df])
    rejected = rejected_at_points(
        np.ascontiguousarray(difference), scores, np.ascontiguousarray(precision.standard_error), table,
        -_REACH, 2 * _REACH / (_KNOTS - 1), thresholds, row, rule.alternative == "two-sided",
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
) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
    """What does not depend on the true means: thresholds and the row of each pair in them, errors of the estimated
    means (points, K) and normal scores of the estimated variances (points, pairs). Kept for a study that is asked
    about under several means."""
    precision = known.precision
    thresholds, row = family_thresholds(precision, reference_df(precision, rule), rule, family.correction)
    loading = scale_loadings(precision, family)
    K = len(precision.covariance)
    points = _points(K - 1 + loading.shape[1], log2_points)
    return (
        thresholds,
        row,
        points[:, : K - 1] @ _root(precision.covariance).T,
        points[:, K - 1 :] @ loading.T,
    )


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
        factor = precision.factor_of(precision.pairs)
        loading = factor_of(np.round(factor @ factor.T, 10) ** 2)
    return np.asarray(loading / np.linalg.norm(loading, axis=1, keepdims=True))


def reference_df(precision: SystemsPrecision, rule: DecisionRule) -> Floats:
    """The df that the rule refers each comparison to, (pairs,)."""
    if rule.df == "normal":
        return np.full(len(precision.df), math.inf)
    return np.full(len(precision.df), float(precision.smallest)) if rule.df == "min" else precision.df


def family_thresholds(
    precision: SystemsPrecision, df: Floats, rule: DecisionRule, correction: Correction
) -> tuple[Floats, NDArray[np.int64]]:
    """What the statistics must pass: (rows, 1) in a single step, (rows, pairs) for Holm's (1979) steps, the first
    of them for the smallest p-value; and the row of each pair: those of equal df share one."""
    n = len(df)
    different, row = np.unique(df, return_inverse=True)
    if correction == "bh":
        raise InputError("Benjamini and Hochberg's correction (bh) has no formula: take the simulation.")
    if correction == "max-t":
        check_max_t(rule)
        factor = precision.factor_of(precision.pairs)
        values = CriticalValues.of(factor, rule.alpha, rule.alternative == "two-sided")
        return values(different)[:, None], row
    if correction == "holm":
        tails = rule.tail / (n - np.arange(n))
    elif correction == "bonferroni":
        tails = np.array([rule.tail / n])
    elif correction == "none":
        tails = np.array([rule.tail])
    else:
        assert_never(correction)
    return critical_values(different[:, None], tails), row


def check_max_t(rule: DecisionRule) -> None:
    """Refuse max-t for a rule that it has no answer for."""
    if rule.margin is not None:
        raise InputError("max-t is for tests of no difference; take holm for those with a margin.")


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


_ALIKE = 1e-9  # relative difference of standard errors and df that is rounding


def has_formula(family: ComparisonFamily, rule: DecisionRule) -> bool:
    """Whether a formula describes the comparisons: of numbers by REML, with a correction that has one."""
    plain = rule.analysis == "ratings" and not rule.is_latent and not rule.is_simulated
    return plain and rule.estimator == "reml" and family.correction != "bh"


def systems_formula(
    parameters: SystemsParameters,
    study: AnyStudy,
    family: ComparisonFamily,
    rule: DecisionRule,
    goal: Goal = "pair",
    *,
    log2_points: int = LOG2_POINTS,
) -> SystemsPower:
    """Power of every goal at once, by the law of the estimates; the same numbers at every call.

    study : counts (regular designs; fast enough for a search) or a design with its assignment.
    log2_points : how many Sobol points (their logarithm); fewer are enough for a curve that is looked at.

    Raises
    ------
    InputError
        A goal that is none, one that cannot be reached under these means and this family, or comparisons that
        no formula describes.
    """
    check_study(parameters, study, rule)
    if not has_formula(family, rule):
        raise InputError("No formula describes these comparisons: take the simulation.")
    precision = systems_precision(parameters, study, family)
    return power_by_law(parameters, precision, family, rule, goal, log2_points=log2_points)


def power_by_law(
    parameters: SystemsParameters,
    precision: SystemsPrecision,
    family: ComparisonFamily,
    rule: DecisionRule,
    goal: Goal = "pair",
    *,
    log2_points: int = LOG2_POINTS,
) -> SystemsPower:
    """The same where the precision of every comparison is known already."""
    truth = Truth(parameters, precision.pairs, rule)
    check_goal(truth, goal)
    counts = counts_by_law(truth, precision, family, log2_points=log2_points)
    power = power_of_counts(counts, precision, goal, truth=truth)
    if family.correction != "holm" or len(precision.pairs) == 1:
        return _sharpened(truth, precision, family, power)
    return power


def power_of_counts(
    counts: GoalCounts,
    precision: SystemsPrecision,
    goal: Goal,
    *,
    truth: Truth | None = None,
    n_simulations: int = 0,
    n_failed: int = 0,
) -> SystemsPower:
    """Shares of counts; of all simulated studies, where `counts` are of those with a fit."""
    of = n_simulations or counts.n
    nothing = n_failed > MOST_FAILURES * of or counts.n == 0

    def share(count: float) -> float:
        return math.nan if nothing else count / of

    zero = counts.boundary / (counts.n or math.nan)
    return SystemsPower(
        goal=goal,
        pairs=precision.pairs,
        **_of_significant(truth, counts.significant * (not nothing), counts.size, counts.opposite),
        shares={one: share(counts.of(one)) for one in GOALS},
        per_comparison=tuple(share(count) for count in counts.each.tolist()),
        false_claim=share(counts.false),
        wrong_sign=share(counts.wrong),
        top_group=math.nan if nothing else counts.group / counts.n,
        standard_error=tuple(precision.standard_error.tolist()),
        df=tuple(precision.df.tolist()),
        boundary_rate_of=tuple(zero.tolist()),
        boundary_rate=float(zero.mean()),
        n_simulations=n_simulations,
        n_failed=n_failed,
    )


class _OfSignificant(TypedDict):
    type_m_of: tuple[float, ...]
    type_s_of: tuple[float, ...]
    type_m: float
    type_s: float


def _of_significant(
    truth: Truth | None, significant: Floats, size: Floats, opposite: Floats
) -> _OfSignificant:
    """Type M and S, of each comparison and of those that are sought, from how many estimates are significant, the
    sum of their sizes and how many have the wrong sign, (pairs,)."""
    if truth is None:
        unknown = (math.nan,) * len(significant)
        return {"type_m_of": unknown, "type_s_of": unknown, "type_m": math.nan, "type_s": math.nan}
    true = np.abs(truth.difference)
    counted = (significant > 0) & (true > 0) & (truth.rule.margin is None)
    of = np.where(counted, significant, np.nan)
    sought = truth.sought & counted
    n, sizes = significant[sought].sum(), size[sought] / true[sought]
    return {
        "type_m_of": tuple((size / of / np.where(counted, true, 1.0)).tolist()),
        "type_s_of": tuple((opposite / of).tolist()),
        "type_m": float(sizes.sum() / n) if sought.any() else math.nan,
        "type_s": float(opposite[sought].sum() / n) if sought.any() else math.nan,
    }


def check_study(parameters: SystemsParameters, study: AnyStudy, rule: DecisionRule) -> None:
    """Refuse a study of other systems, or a margin on [0, 1] for categories: in each pair of systems it would be
    another latent effect."""
    if rule.is_latent and rule.margin is not None:
        raise InputError(
            "A margin on [0, 1] is another latent effect in each pair of systems: analyse several systems with "
            f"the family '{rule.family}' by tests of difference, or their ratings as numbers (family 'gaussian')."
        )
    if study.n_systems != parameters.n_systems:
        raise InputError(
            f"The study has {study.n_systems} systems, and the parameters are of {parameters.n_systems}."
        )


def check_goal(truth: Truth, goal: Goal) -> None:
    """Refuse a goal that cannot be reached: there is nothing of its kind to find."""
    if goal not in GOALS:
        raise InputError(f"The goal must be one of {', '.join(GOALS)}; got {goal!r}.")
    if goal == "best" and truth.leader is None:
        raise InputError(
            "The goal 'best' needs one system with the highest true mean, and comparisons of it with every other "
            "in a test of differences: compare all pairs, or take 'first' or 'any'."
        )
    if goal == "first" and not truth.has_ranking:
        raise InputError("The goal 'first' needs means that differ; these are all equal.")
    if goal in ("pair", "any", "all") and not truth.real.any():
        nothing = (
            "no two of the compared systems differ" if truth.rule.margin is None else "no claim is true"
        )
        raise InputError(
            f"Under these means {nothing}: there is nothing to find. Give an effect, or means."
        )


def _sharpened(
    truth: Truth, precision: SystemsPrecision, family: ComparisonFamily, power: SystemsPower
) -> SystemsPower:
    """In a single step each comparison has a closed form, and so has everything where there is but one; equally
    precise comparisons with a baseline have a quadrature."""
    thresholds, row = family_thresholds(
        precision, reference_df(precision, truth.rule), truth.rule, family.correction
    )
    critical = thresholds[row, 0]
    each = _each_alone(truth, precision, critical)
    shares, false = dict(power.shares), power.false_claim
    if truth.sought.any():
        shares["pair"] = float(each[truth.sought].mean())
    if len(each) == 1:
        shares, false = _alone(truth, precision, float(each[0]), shares)
    elif _is_dunnett(truth, precision):
        shift = truth.difference / precision.standard_error
        shares["any"], shares["all"], false = by_quadrature(
            shift, float(precision.df[0]), float(critical[0])
        )
    errors = _exaggerations(truth, precision, critical)
    return replace(power, shares=shares, per_comparison=tuple(each.tolist()), false_claim=false, **errors)


def _exaggerations(truth: Truth, precision: SystemsPrecision, critical: Floats) -> _OfSignificant:
    """Type M and S where each comparison has a critical value of its own."""
    ratio = np.abs(truth.difference) / precision.true_error
    reach = critical * precision.standard_error / precision.true_error
    two_sided = truth.rule.alternative == "two-sided"
    each = list(zip(ratio.tolist(), precision.df.tolist(), reach.tolist(), strict=True))
    type_m, type_s = np.array([exaggeration(r, df, c, two_sided=two_sided) for r, df, c in each]).T
    right = np.array([noncentral_t_tail(c, df, r) for r, df, c in each])
    significant = np.where(np.isnan(type_s), 0.0, right / (1 - np.nan_to_num(type_s)))
    size = np.nan_to_num(type_m) * significant * np.abs(truth.difference)
    return _of_significant(truth, significant, size, np.nan_to_num(type_s) * significant)


def _alone(
    truth: Truth, precision: SystemsPrecision, power: float, shares: dict[Goal, float]
) -> tuple[dict[Goal, float], float]:
    """Shares and the probability of a false claim where there is one comparison."""
    if truth.real.all():
        shares |= {"any": power, "all": power}
    if truth.leader is not None:
        shares["best"] = power
    if truth.has_ranking:
        shares["first"] = float(special.ndtr(abs(truth.difference[0]) / precision.true_error[0]))
    return shares, math.nan if truth.real.all() else power


def _is_dunnett(truth: Truth, precision: SystemsPrecision) -> bool:
    """Whether the comparisons are two-sided ones with a baseline, all of them equally precise."""
    own = np.diag(precision.covariance)
    shared = precision.covariance[~np.eye(len(own), dtype=bool)]
    alike = all(np.ptp(values) <= _ALIKE * np.abs(own).max() for values in (own, shared)) and np.allclose(
        precision.standard_error, precision.true_error, rtol=_ALIKE
    )
    to_one = len(precision.pairs) == len(own) - 1
    return bool(
        to_one and alike and len(np.unique(precision.df)) == 1 and truth.rule.alternative == "two-sided"
    )


def _each_alone(truth: Truth, precision: SystemsPrecision, critical: Floats) -> Floats:
    """The probability of each comparison's claim, with the right sign if it has one, (pairs,)."""
    rule, error = truth.rule, precision.true_error
    reach = critical * precision.standard_error / error
    if rule.alternative == "equivalent":
        margin = rule.margin or 0.0
        return equivalence_power(truth.difference, error, precision.df, margin=margin, critical=reach)
    shift = truth.difference if rule.alternative != "two-sided" else np.abs(truth.difference)
    shift = (shift + (rule.margin or 0.0)) / error
    chances = [
        noncentral_t_tail(float(c), float(df), float(s))
        for c, df, s in zip(reach, precision.df, shift, strict=True)
    ]
    both = (rule.alternative == "two-sided") & (truth.difference == 0)
    return np.array(chances) * np.where(both, 2.0, 1.0)
