"""Wald tests of the effect: a fit and a decision rule give a p-value, an interval and a decision."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import Engine
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.fit import KENWARD_ROGER_LIMIT, CorrelationFit, Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.student_t import critical_value
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, Alternative, DecisionRule

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.ratings import Ratings

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LatentTest:
    """A test of categories where it is made: the latent effect, its standard error and interval, and the
    rule's margin moved to that scale (None without one)."""

    estimate: float
    standard_error: float
    interval: tuple[float, float]
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class EffectTest:
    """Test of the difference between the systems, in units of the [0, 1] scale.

    `interval` is two-sided with confidence 1 - alpha (1 - 2 alpha for a one-sided rule and for one with
    a margin, so that its ends agree with the decision). `significant` means that the rule's claim is
    shown: for 'equivalent' that the interval lies inside the margins, for 'non-inferior' that its lower
    end lies above minus the margin. `p_values` are then those against a difference of minus the margin
    or less and, for 'equivalent', of the margin or more, of which `p_value` is the larger.

    `latent` is the test of ratings in categories on their latent scale; what stands on [0, 1] is then moved
    from there, `standard_error` so that the estimate over it is the latent t.

    Where there is no test, `reason` says why: the fit did not converge, or its standard error or df do not
    exist. The p-values and the interval are then NaN, and nothing is significant.
    """

    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    significant: bool
    rule: DecisionRule
    p_values: tuple[float, ...] = ()
    reason: str = ""
    latent: LatentTest | None = None

    @property
    def t(self) -> float:
        """The estimate in standard errors."""
        return self.estimate / self.standard_error


def effect_test(fit: Fit, rule: DecisionRule = DEFAULT_RULE) -> EffectTest:
    """Apply a decision rule to a fit. The rule's estimator must be the one that made the fit."""
    if rule.is_simulated:
        raise InputError(f"The rule '{rule.df}' needs simulated studies: use simulated_test.")
    if fit.estimator != rule.estimator:
        raise ValueError(f"The fit is by {fit.estimator}, the rule asks for {rule.estimator}.")
    error, df = reference_of(fit, rule, fit.smallest - 1)
    reason = why_no_test(fit.converged, fit.message)
    return finished_test(fit.parameters.difference, float(error), float(df), rule, reason=reason)


def check_engine_df(engine: Engine, rule: DecisionRule, *, n_ratings: int) -> None:
    """Refuse a rule whose df an engine does not have, before anything is fitted. Raises InputError: df or
    standard errors that statsmodels has for no table, or lme4 for none of so many ratings."""
    if rule.analysis == "differences" or rule.df in ("min", "normal"):
        return
    if engine == "statsmodels":
        raise InputError(
            f"The statsmodels engine has no df '{rule.df}' and no standard error that goes with them: "
            "add --df min or --df normal, or take --engine native."
        )
    if engine == "lme4" and rule.df != "satterthwaite" and n_ratings > KENWARD_ROGER_LIMIT:
        raise InputError(
            f"The lme4 engine computes Kenward and Roger's standard error and df, which '{rule.df}' needs, for "
            f"at most {KENWARD_ROGER_LIMIT:,} ratings; there are {n_ratings:,}. Add --df satterthwaite, --df min "
            "or --df normal, or take --engine native."
        )


def why_no_test(converged: bool, message: str = "") -> str:
    """The reason that a search gives for no test: none if it ended at a minimum."""
    said = f" ({message})" if message else ""
    return "" if converged else f"the fit did not converge{said}; {_MORE_RATINGS}"


def finished_test(
    estimate: float, error: float, df: float, rule: DecisionRule, *, reason: str = ""
) -> EffectTest:
    """p-value, interval and decision from an estimate, its standard error and df; none of them where there
    is a `reason`, or where the standard error or the df do not exist."""
    reason = reason or why_unusable(error, df, rule)
    if reason:
        return without_test(estimate, error, df, rule, reason=reason)
    values = np.array(estimate), np.array(error), np.array(df)
    p_value = float(wald_p(*values, rule.alternative, margin=rule.margin))
    reach = critical_value(df, rule.tail) * error
    return EffectTest(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=p_value,
        interval=(estimate - reach, estimate + reach),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=() if rule.margin is None else tuple(map(float, one_sided_p(*values, rule=rule))),
    )


_MORE_RATINGS = "more ratings of each worker and item are needed"


def without_test(
    estimate: float, error: float, df: float, rule: DecisionRule, *, reason: str
) -> EffectTest:
    """An estimate of which nothing more can be said, for a `reason`."""
    sides = 2 if rule.alternative == "equivalent" else 1
    return EffectTest(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=math.nan,
        interval=(math.nan, math.nan),
        significant=False,
        rule=rule,
        p_values=() if rule.margin is None else (math.nan,) * sides,
        reason=reason,
    )


def why_unusable(error: float, df: float, rule: DecisionRule) -> str:
    """Why a standard error and df give no test; '' if they do."""
    if not (math.isfinite(error) and error > 0):
        return f"the standard error of the effect does not exist for this table; {_MORE_RATINGS}"
    if df > 0 and (math.isfinite(df) or rule.df == "normal"):
        return ""
    return (
        f"the df '{rule.df}' do not exist for this fit: the information about its variances is not positive; "
        "take --df kenward-roger or --df min"
    )


def one_sided_p(
    estimate: Floats,
    standard_error: Floats,
    df: Floats,
    *,
    rule: DecisionRule,
    margin: float | None = None,
) -> tuple[Floats, ...]:
    """p-values of the one-sided tests that a rule with a margin consists of: against a difference of
    minus the margin or less, and for 'equivalent' against one of the margin or more. `margin` is the rule's
    where it was moved to another scale."""
    margin = (rule.margin or 0.0) if margin is None else margin
    above = wald_p(estimate, standard_error, df, "non-inferior", margin=margin)
    if rule.alternative != "equivalent":
        return (above,)
    return above, wald_p(-estimate, standard_error, df, "non-inferior", margin=margin)


def reference(
    rule: DecisionRule,
    *,
    standard_error: Floats,
    adjusted: Floats,
    satterthwaite: Floats,
    kenward_roger: Floats,
    smallest: int,
) -> tuple[Floats, Floats]:
    """Standard error and df that a rule uses, arrays of the shape given.

    smallest : levels of the smallest of workers, items and documents, less 1: the df of rule 'min'.
    """
    if rule.df == "kenward-roger" or rule.is_simulated:
        return adjusted, kenward_roger
    if rule.df == "satterthwaite":
        return standard_error, satterthwaite
    fixed = math.inf if rule.df == "normal" else float(smallest)
    return standard_error, np.full_like(standard_error, fixed)


def reference_of(fitted: Any, rule: DecisionRule, smallest: int) -> tuple[Floats, Floats]:
    """The same from what has both standard errors and both df: a fit, a coefficient, or arrays of them."""
    return reference(
        rule,
        standard_error=np.asarray(fitted.standard_error),
        adjusted=np.asarray(fitted.standard_error_adjusted),
        satterthwaite=np.asarray(fitted.df_satterthwaite),
        kenward_roger=np.asarray(fitted.df_kenward_roger),
        smallest=smallest,
    )


def wald_p(
    estimate: Floats,
    standard_error: Floats,
    df: Floats,
    alternative: Alternative,
    *,
    margin: float | Floats | None = None,
) -> Floats:
    """p-values on `df` degrees of freedom (infinite: normal); for 'equivalent' the larger of the two
    one-sided ones (Schuirmann 1987)."""
    t = statistic(estimate, standard_error, alternative, margin)
    if alternative == "two-sided":
        return np.asarray(2.0 * _lower_tail(-np.abs(t), df))
    return np.asarray(_lower_tail(-t, df))


def statistic(
    estimate: Floats, error: Floats, alternative: Alternative, margin: float | Floats | None
) -> Floats:
    """The statistic that has to be large: the distance in standard errors from 0 or from the margin,
    for 'equivalent' from the nearer one, whose test has the larger p-value."""
    distance = np.abs(estimate) if alternative == "equivalent" else -estimate
    # without a standard error there is no statistic, least of all an infinite one
    error = np.where(error > 0, error, np.nan)
    with np.errstate(over="ignore"):  # of estimates in files that were changed by hand
        return np.asarray(((0.0 if margin is None else margin) - distance) / error)


@dataclass(frozen=True, slots=True, eq=False)
class NullStatistics:
    """Test statistics of studies simulated without an effect, or with one that lies at the margin,
    sorted; failed ones are left out."""

    t: Floats
    absolute: Floats

    @classmethod
    def of(cls, t: Floats) -> NullStatistics:
        """From the t of each simulated study."""
        kept = t[np.isfinite(t)]
        return cls(np.sort(kept), np.sort(np.abs(kept)))

    def critical_value(self, alpha: float, alternative: Alternative) -> float:
        """What t must exceed for p <= alpha: at most alpha (1 + n) - 1 statistics are as extreme."""
        sample = self.absolute if alternative == "two-sided" else self.t
        beyond = max(math.floor(alpha * (1 + len(sample))) - 1, 0)
        return float(sample[-1 - beyond])


def simulated_p(
    estimate: Floats,
    standard_error: Floats,
    null: NullStatistics,
    alternative: Alternative,
    *,
    margin: float | Floats | None = None,
) -> Floats:
    """p-values against a simulated null: (1 + statistics at least as extreme) / (1 + all), so never 0
    (Davison and Hinkley 1997, section 4.2). For 'equivalent' the statistic of the nearer margin is
    compared with studies at the lower one, of which those at the upper one are the mirror image."""
    t = statistic(estimate, standard_error, alternative, margin)
    two_sided = alternative == "two-sided"
    sample, value = (null.absolute, np.abs(t)) if two_sided else (null.t, t)
    beyond = len(sample) - np.searchsorted(sample, value, side="left")
    return np.where(np.isfinite(t), (1.0 + beyond) / (1.0 + len(sample)), np.nan)


def _lower_tail(t: Floats, df: Floats) -> Floats:
    endless = np.isinf(df)
    if np.all(endless):
        return np.asarray(special.ndtr(t))
    if not np.any(endless):
        return np.asarray(special.stdtr(df, t))
    return np.where(endless, special.ndtr(t), special.stdtr(np.where(endless, 1.0, df), t))


def difference_test(ratings: RatingTable, rule: DecisionRule) -> EffectTest:
    """Test the mean difference B - A of workers and items that have both systems. Raises InputError: too few
    such workers or items; FitError: differences without residual variation, or so few that their likelihood
    is highest without one."""
    from humeval_power.estimation.crossed.examination import EXPLAINED, RUNS_AWAY
    from humeval_power.estimation.crossed.fits import fit_one
    from humeval_power.estimation.crossed.problem import CrossedProblem
    from humeval_power.estimation.structure import structure_of
    from humeval_power.kernels.crossed import reml

    problem = CrossedProblem.of_differences(
        ratings.worker, ratings.item, ratings.system, **structure_of(ratings)
    )
    fitted = fit_one(problem, ratings.rating, restricted=rule.estimator == "reml")
    status = int(fitted.status[0])
    if status == reml.NO_RESIDUAL:
        raise FitError(f"Of the differences B - A: {EXPLAINED}")
    if status == reml.RUNAWAY:
        raise FitError(f"Of the differences B - A: {RUNS_AWAY}")
    error, df = reference_of(fitted, rule, min(int(factor.codes.max()) for factor in problem.factors))
    reason = why_no_test(status == reml.CONVERGED)
    return finished_test(float(fitted.estimate[0]), float(error[0]), float(df[0]), rule, reason=reason)


@dataclass(frozen=True, slots=True)
class StandardisedEffect:
    """The difference B - A over two spreads, each named so that it cannot be taken for another.

    `by_rating` divides by the SD of a single rating (all components; Westfall, Kenny and Judd 2014, d);
    `by_residual` by the residual SD alone.
    """

    by_rating: float
    by_residual: float


def standardised_effect(parameters: Parameters) -> StandardisedEffect:
    """Both, from the seven parameters; a rating's variance has the slopes' at x = +- 1/2."""
    coded = parameters.recoded()
    w0, w1, i0, i1, residual = (getattr(coded, name) ** 2 for name in STANDARD_DEVIATIONS)
    documents = coded.sd_document_intercept**2 + coded.sd_document_slope**2 / 4
    total = w0 + i0 + (w1 + i1) / 4 + documents + residual + coded.sd_worker_item**2
    return StandardisedEffect(coded.effect / math.sqrt(total), coded.effect / math.sqrt(residual))


# What documents, covariates and correlations change: each covariate's own test, and the effect without
# them.


@dataclass(frozen=True, slots=True)
class CovariateTest:
    """A coefficient of a covariate, tested in both directions against zero."""

    covariate: str
    label: str
    test: EffectTest


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a model with documents, covariates or correlations says besides the effect.

    `documents` is the column's number of documents, 0 without; `unadjusted` the test of the effect by the
    model of workers and items alone, which leaves all of this out: it is no test to choose.
    """

    n_documents: int
    covariates: tuple[CovariateTest, ...]
    correlations: tuple[CorrelationFit, ...]
    unadjusted: EffectTest


def adjustment(fitted: Fit | LatentFit, ratings: Ratings, rule: DecisionRule) -> Adjustment | None:
    """The further results of a fit, None for one of workers and items alone, and for categories, whose covariates
    are told with their thresholds."""
    if isinstance(fitted, LatentFit) or not (
        fitted.n_documents or fitted.covariates or fitted.correlations
    ):
        return None
    from humeval_power.estimation.fitting import fit

    if rule.is_simulated:
        rule = replace(rule, df="kenward-roger")
    by_ratings = replace(rule, analysis="ratings")
    two_sided = replace(by_ratings, alternative="two-sided", margin=None)
    reason, tests = why_no_test(fitted.converged, fitted.message), []
    for one in fitted.covariates:
        standard_error, df = reference_of(one, two_sided, fitted.smallest - 1)
        tested = finished_test(one.estimate, float(standard_error), float(df), two_sided, reason=reason)
        tests.append(CovariateTest(one.covariate, one.label, tested))
    plain = replace(ratings, document=None, document_names=(), covariates=())
    try:
        unadjusted = effect_test(fit(plain, estimator=rule.estimator), by_ratings)
    except FitError as error:
        unadjusted = without_test(np.nan, np.nan, np.nan, by_ratings, reason=str(error))
    return Adjustment(fitted.n_documents, tuple(tests), fitted.correlations, unadjusted)
