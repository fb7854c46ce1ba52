"""Power of a study of several systems: every goal, by formula."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons import ComparisonFamily
from humeval_power.errors import InputError
from humeval_power.inference.equivalence_power import equivalence_power
from humeval_power.inference.noncentral_t import exaggeration, noncentral_t_tail
from humeval_power.inference.study.replication import MOST_FAILURES
from humeval_power.planning.study.systems_goals import LOG2_POINTS, GoalCounts, SystemsPower, Truth
from humeval_power.planning.study.systems_law import (
    by_quadrature,
    counts_by_law,
    critical_values,
    reference_df,
)
from humeval_power.planning.study.systems_precision import (
    AnyStudy,
    SystemsPrecision,
    systems_precision,
)
from humeval_power.rules import DecisionRule
from humeval_power.systems import GOALS, Goal, SystemsParameters

Floats = NDArray[np.float64]
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
    found = power_of_counts(counts, precision, goal, truth=truth)
    if family.correction != "holm" or len(precision.pairs) == 1:
        return _sharpened(truth, precision, family, found)
    return found


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
    """Refuse what the model of several systems has no answer for."""
    if rule.is_latent:
        raise InputError(
            f"Several systems are planned for with ratings as numbers; got the family '{rule.family}'."
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
    truth: Truth, precision: SystemsPrecision, family: ComparisonFamily, found: SystemsPower
) -> SystemsPower:
    """In a single step each comparison has a closed form, and so has everything where there is but one; equally
    precise comparisons with a baseline have a quadrature."""
    critical = critical_values(
        precision, reference_df(precision, truth.rule), truth.rule, family.correction
    )
    each = _each_alone(truth, precision, critical[:, 0])
    shares, false = dict(found.shares), found.false_claim
    if truth.sought.any():
        shares["pair"] = float(each[truth.sought].mean())
    if len(each) == 1:
        shares, false = _alone(truth, precision, float(each[0]), shares)
    elif _is_dunnett(truth, precision):
        shift = truth.difference / precision.standard_error
        shares["any"], shares["all"], false = by_quadrature(
            shift, float(precision.df[0]), float(critical[0, 0])
        )
    errors = _exaggerations(truth, precision, critical[:, 0])
    return replace(found, shares=shares, per_comparison=tuple(each.tolist()), false_claim=false, **errors)


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
    found = [
        noncentral_t_tail(float(c), float(df), float(s))
        for c, df, s in zip(reach, precision.df, shift, strict=True)
    ]
    both = (rule.alternative == "two-sided") & (truth.difference == 0)
    return np.array(found) * np.where(both, 2.0, 1.0)
