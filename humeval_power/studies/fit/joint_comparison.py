"""Several systems compared by one fit of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.joint.fit import JointFit, contrast_precision, fit_joint
from humeval_power.inference.corrections import correct
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.inference.student_t import critical_value
from humeval_power.ratings import Ratings
from humeval_power.rules import ComparisonFamily, Correction, DecisionRule, FamilyOfTests, SystemVariances
from humeval_power.studies.fit.many_systems import (
    FamilyError,
    ModelCheck,
    SystemMean,
    SystemsAnalysis,
    SystemsComparison,
    VariancesCheck,
    compare_systems,
    decided_otherwise,
)
from humeval_power.studies.fit.max_t import DEFAULT_SEED, MaxT, contrast_factor, contrasts_of
from humeval_power.studies.fit.wald import finished_test, reference_of, wald_p, why_no_test

DEFAULT_JOINT_FAMILY = ComparisonFamily(model="joint")
_NODES = 7  # critical values that are found by a search; the others lie between these

Floats = NDArray[np.float64]


def compare_jointly(
    ratings: Ratings,
    *,
    rule: DecisionRule,
    family: ComparisonFamily = DEFAULT_JOINT_FAMILY,
    check: bool = False,
    seed: int = DEFAULT_SEED,
) -> SystemsAnalysis:
    """The comparisons of a family from one fit of all systems.

    More ratings tell of the variances than a pair has, so the degrees of freedom are larger than those of
    pairwise fits. With `common` variances the price is the assumption that workers' and items' differences vary
    alike between any two systems; then the largest t of max-t is referred to a multivariate t with the smallest
    of the comparisons' df, which errs to the safe side where they differ. With each system's `own` every
    comparison has its own df, and under max-t is referred to the largest t with these (Hasler and Hothorn 2008).
    `check` compares once more with the other kind of variances.

    Raises
    ------
    InputError
        A family of fits in pairs; a rule that the joint model has no answer for; a baseline that is not in the
        table; fewer than two systems, workers or items; more of them than a joint fit can hold.
    FitError
        Ratings without residual variation.
    """
    if family.model != "joint":
        raise InputError(f"One fit of all systems is the model 'joint'; got a family of '{family.model}'.")
    _check_rule(rule, family.correction)
    pairs = family.pairs(ratings.system_names)
    fitted = fit_joint(ratings, variances=family.variances, names=ratings.system_names)
    results, common = _compared(ratings, fitted, pairs, rule, family.correction, seed)
    return SystemsAnalysis(
        results,
        system_means(ratings, fitted, rule),
        FamilyOfTests(family, len(results)),
        fitted,
        common,
        _checked(ratings, fitted, results, rule, family.correction, seed) if check else None,
    )


def _compared(
    ratings: Ratings,
    fitted: JointFit,
    pairs: list[tuple[str, str]],
    rule: DecisionRule,
    correction: Correction,
    seed: int,
) -> tuple[tuple[SystemsComparison, ...], float | None]:
    """The comparisons of one joint fit, and the df that all share under max-t."""
    contrasts = _contrasts_of(ratings, pairs)
    estimate, error, df = referred(fitted, contrasts, rule)
    reason = why_no_test(fitted.converged)
    tests = [
        finished_test(float(e), float(s), float(d), rule, reason=reason)
        for e, s, d in zip(estimate, error, df, strict=True)
    ]
    common: float | None = None
    intervals: list[tuple[float, float] | None] = [None] * len(tests)
    if correction == "max-t" and not any(test.reason for test in tests):
        largest = MaxT(
            _factor_of(fitted, contrasts, rule), float(df.min()), rule.alternative == "two-sided", seed
        )
        raw = np.array([test.p_value for test in tests])
        common = largest.df if fitted.variances == "common" else None
        t = estimate / error
        if common is not None:
            beyond, critical = largest.p_value(t), np.full(len(t), largest.critical_value(rule.alpha))
        else:
            each = [largest.at(float(d)) for d in df]
            beyond = np.array([one.p_value(value) for one, value in zip(each, t, strict=True)])
            critical = _critical_values(largest, df, rule.alpha)
        reach = critical * error
        corrected = np.maximum(beyond, raw)
        intervals = [(float(e - r), float(e + r)) for e, r in zip(estimate, reach, strict=True)]
    else:
        # max-t comes here where a test is missing, and with it the largest statistic
        known = [math.nan if correction == "max-t" else test.p_value for test in tests]
        corrected = correct(known, "none" if correction == "max-t" else correction)
    results = tuple(
        SystemsComparison(first, second, fitted, test, float(p), interval)
        for (first, second), test, p, interval in zip(pairs, tests, corrected, intervals, strict=True)
    )
    return results, common


def _critical_values(largest: MaxT, df: Floats, alpha: float) -> Floats:
    """The critical value of each comparison at its own df, shape (comparisons,); as it is smooth in 1 / df, more
    than a few are interpolated."""
    different, place = np.unique(1.0 / df, return_inverse=True)
    nodes = different
    if len(different) > _NODES:
        spread = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)  # Chebyshev's points
        nodes = 0.5 * (different[0] + different[-1]) + 0.5 * (different[-1] - different[0]) * spread
    with np.errstate(divide="ignore"):
        known = np.array([largest.at(float(one)).critical_value(alpha) for one in 1.0 / nodes])
    if nodes is different:
        return np.asarray(known[place])
    from scipy.interpolate import BarycentricInterpolator

    return np.asarray(BarycentricInterpolator(nodes, known)(different)[place])


def _checked(
    ratings: Ratings,
    fitted: JointFit,
    results: tuple[SystemsComparison, ...],
    rule: DecisionRule,
    correction: Correction,
    seed: int,
) -> VariancesCheck:
    """The comparisons with the other kind of variances, or why there are none."""
    other: SystemVariances = "own" if fitted.variances == "common" else "common"
    pairs = [(one.first, one.second) for one in results]
    try:
        second = fit_joint(ratings, variances=other, names=ratings.system_names)
        comparisons, _ = _compared(ratings, second, pairs, rule, correction, seed)
    except (FitError, InputError) as error:
        return VariancesCheck(other, reason=str(error))
    if not (fitted.converged and second.converged):
        return VariancesCheck(other, second, comparisons, reason="one of the two fits has not converged")
    gain = second.criterion - fitted.criterion
    statistic = max(gain if other == "common" else -gain, 0.0)
    added = 2 * (ratings.n_systems - 1)
    return VariancesCheck(
        other,
        second,
        comparisons,
        statistic,
        added,
        float(special.chdtrc(added, statistic)),
        decided_otherwise(results, comparisons),
    )


def system_means(ratings: Ratings, fitted: JointFit, rule: DecisionRule) -> tuple[SystemMean, ...]:
    """Estimated mean of each system for new workers and items, with an interval of confidence 1 - alpha."""
    two_sided = replace(rule, alternative="two-sided", margin=None)
    mean, error, df = referred(fitted, np.eye(ratings.n_systems), two_sided)
    notices = []
    for name, m, s, d in zip(ratings.system_names, mean, error, df, strict=True):
        if not (fitted.converged and s > 0 and d > 0):
            notices.append(SystemMean(name, float(m)))
            continue
        reach = critical_value(float(d), rule.alpha / 2) * s
        notices.append(SystemMean(name, float(m), float(s), float(d), (float(m - reach), float(m + reach))))
    return tuple(notices)


def _check_rule(rule: DecisionRule, correction: Correction) -> None:
    problems = []
    if rule.estimator != "reml":
        problems.append("The joint model is fitted by REML; take --estimator reml, or --model pairwise.")
    if rule.analysis != "ratings":
        problems.append("The joint model has no analysis of differences; take --model pairwise for that.")
    if rule.is_latent:
        problems.append(
            f"The joint model is of ratings as numbers; got the family '{rule.family}', of which each pair has a "
            "fit of its own: take --model pairwise, with Holm's correction."
        )
    if rule.is_simulated:
        problems.append(f"The joint model has no simulated reference; got df '{rule.df}'.")
    if rule.margin is not None and correction == "max-t":
        problems.append("max-t is for tests of no difference; take holm for those with a margin.")
    if problems:
        raise InputError(" ".join(problems))


def _contrasts_of(ratings: Ratings, pairs: Sequence[tuple[str, str]]) -> Floats:
    place = {name: code for code, name in enumerate(ratings.system_names)}
    return contrasts_of([(place[first], place[second]) for first, second in pairs], ratings.n_systems)


def referred(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> tuple[Floats, Floats, Floats]:
    """Estimates, standard errors and df that the rule uses, each of shape (contrasts,)."""
    precision = contrast_precision(fitted, contrasts)
    error, df = reference_of(precision, rule, min(fitted.n_workers, fitted.n_items) - 1)
    return precision.estimate, error, df


def _factor_of(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> Floats:
    """Rows whose products are the estimated correlations, by the covariance whose standard errors the rule uses."""
    adjusted = rule.df == "kenward-roger"
    result = contrast_factor(fitted.covariance_adjusted if adjusted else fitted.covariance, contrasts)
    if not np.isfinite(result).all():
        raise InputError("The standard errors of the comparisons do not exist; fit the systems in pairs.")
    return result


# Comparisons of several systems by the other model: fits in pairs beside one of all systems, and the
# reverse.

MOST_WORK = (
    1_500  # pairs times the fewer of workers and items: beyond this fits in pairs take longer than the rest
)


def check_other_model(ratings: Ratings, analysis: SystemsAnalysis, rule: DecisionRule) -> ModelCheck | None:
    """The same comparisons by the model that does not lead; None where it knows less of these ratings: a joint fit
    has no documents, covariates and categories, and no other estimator than REML.

    Its p-values are corrected as those that decide; where that is max-t, which fits in pairs do not have, by Holm.
    """
    family = analysis.family
    if family.model == "pairwise":
        foreign = (
            rule.is_latent or rule.is_simulated or (rule.estimator, rule.analysis) != ("reml", "ratings")
        )
        if ratings.document is not None or ratings.covariates or foreign:
            return None
        other = replace(family, model="joint")
    else:
        correction: Correction = "holm" if family.correction == "max-t" else family.correction
        other = replace(family, model="pairwise", correction=correction)
    work = len(analysis.results) * min(ratings.n_workers, ratings.n_items)
    if work > MOST_WORK:
        return ModelCheck(
            other.model, reason=f"that takes longer than all the rest; --model {other.model} shows it"
        )
    try:
        if other.model == "joint":
            results = compare_jointly(ratings, rule=rule, family=other).results
        else:
            results = compare_systems(ratings, rule=rule, family=other)
    except (FitError, InputError) as error:
        return ModelCheck(other.model, reason=str(error))
    return ModelCheck(other.model, results, decided_otherwise(analysis.results, results))


# How often max-t by the joint model errs in a design: studies without differences, analysed as it was.

MAX_T_WORKERS = 20  # below which the largest of statistics with a few df each errs more often than it says
_N_STUDIES = 200
_MOST_RATINGS, _MOST_SYSTEMS = 2_000, 8  # of a study that is fitted so often in seconds


def family_error(
    ratings: Ratings, fitted: JointFit, pairs: Sequence[tuple[str, str]], rule: DecisionRule, *, seed: int
) -> FamilyError | None:
    """The error of max-t in the design of these ratings, with the variances of their fit; None where it keeps its
    level: with common variances, or many workers."""
    if fitted.variances == "common" or ratings.n_workers >= MAX_T_WORKERS or not fitted.converged:
        return None
    nan = math.nan
    if ratings.n_ratings > _MOST_RATINGS or ratings.n_systems > _MOST_SYSTEMS:
        return FamilyError(nan, (nan, nan), 0, 0, seed)
    contrasts = _contrasts_of(ratings, pairs)
    errs = failed = 0
    for child in np.random.SeedSequence(seed).spawn(_N_STUDIES):
        try:
            study = fit_joint(_drawn(ratings, fitted, np.random.default_rng(child)), variances="own")
            errs += _errs(study, contrasts, rule)
        except FitError:
            failed += 1
    done = _N_STUDIES - failed
    rate = errs / done if done else nan
    interval = wilson_interval(errs, done) if done else (nan, nan)
    return FamilyError(rate, interval, _N_STUDIES, failed, seed)


@dataclass(frozen=True, slots=True)
class _Rows:
    worker: NDArray[np.int64]
    item: NDArray[np.int64]
    system: NDArray[np.int64]
    rating: Floats


def _drawn(ratings: Ratings, fitted: JointFit, rng: np.random.Generator) -> _Rows:
    """Ratings in the same cells from the fitted variances, all systems with one mean."""
    sd = fitted.standard_deviations
    worker, item, system = ratings.worker, ratings.item, ratings.system
    m, n, K = ratings.n_workers, ratings.n_items, ratings.n_systems
    of_worker, of_item = (
        np.array([sd[f"{name} of {system}"] for system in ratings.system_names])
        for name in ("sd_worker_system", "sd_item_system")
    )
    rating = (
        0.5
        + (sd["sd_worker"] * rng.standard_normal(m))[worker]
        + (of_worker * rng.standard_normal((m, K)))[worker, system]
        + (sd["sd_item"] * rng.standard_normal(n))[item]
        + (of_item * rng.standard_normal((n, K)))[item, system]
        + sd["sd_residual"] * rng.standard_normal(len(worker))
    )
    return _Rows(worker, item, system, rating)


def _errs(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> bool:
    """Whether any comparison is significant. Between the p of a single t and Bonferroni's nothing is to be found
    out; only what lies there is referred to the largest t."""
    estimate, error, df = referred(fitted, contrasts, rule)
    t = estimate / error
    raw = wald_p(estimate, error, df, rule.alternative)
    if (raw <= rule.alpha / len(t)).any():
        return True
    open_ = np.flatnonzero(raw <= rule.alpha)
    if not len(open_):
        return False
    largest = MaxT(_factor_of(fitted, contrasts, rule), float(df.min()), rule.alternative == "two-sided")
    return any(float(largest.at(float(df[k])).p_value(t[k : k + 1])[0]) <= rule.alpha for k in open_)
