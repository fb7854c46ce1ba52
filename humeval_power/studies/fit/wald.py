"""Wald tests of the effect: a fit and a decision rule give a p-value, an interval and a decision.

A latent effect on the scales that people read: ratings, and the chance of a better one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import Engine
from humeval_power.errors import FitError, HumevalPowerError, InputError, ParametersError
from humeval_power.estimation.fit import KENWARD_ROGER_LIMIT, CorrelationFit, Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.student_t import critical_value
from humeval_power.kernels.latent.moments import normal_expectation, shares_given
from humeval_power.latent import LARGEST_EFFECT, Family, Latent
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, Alternative, DecisionRule

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.estimation.latent.categories import Categories
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
    from humeval_power.estimation.fit import structure_of
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


Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LatentEffects:
    """One difference B - A in the words of each scale, over the workers and items that the study stands for.

    `expected` is the difference of expected ratings on [0, 1]. `better` is the chance that B's rating beats A's,
    half of the ties included, where the same worker rates both outputs for the same item. `averaged` is the
    latent difference in units of one rating's spread, workers and items included: the coefficient of a model
    without random effects (probit; for logit with two categories the difference of log odds, else none).
    """

    latent: float
    expected: float
    better: float
    averaged: float | None


def effects_of(latent: Latent) -> LatentEffects:
    """The effect of latent parameters on every scale."""
    return LatentEffects(
        latent=latent.effect,
        expected=latent.difference,
        better=chance_of_better(latent),
        averaged=population_averaged(latent),
    )


def effects_at(latent: Latent, effect: float) -> LatentEffects:
    """Every scale at another latent effect, thresholds and deviations as they are: each rises with the effect,
    so the ends of its interval are those of the latent one. Beyond the largest effect nothing changes any
    more: all ratings of a system are in one category."""
    return effects_of(replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))))


def expected_at(latent: Latent, effect: float) -> float:
    """Difference of expected ratings on [0, 1] at another latent effect."""
    return replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))).difference


def slope_to_expected(latent: Latent) -> float:
    """Expected difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what
    turns the latent standard error into one on [0, 1] with the same t."""
    effect = latent.effect if abs(latent.effect) > _NEAR_ZERO else _NEAR_ZERO
    return expected_at(latent, effect) / effect


def latent_margin(latent: Latent, margin: float) -> float:
    """The latent effect at which the expected ratings differ by `margin` on [0, 1]; infinite where no effect
    makes them differ so much."""
    try:
        return latent.with_difference(margin).effect
    except ParametersError:
        return math.inf


def chance_of_better(latent: Latent) -> float:
    """P(B's rating > A's) + P(equal) / 2 for one worker and one item (and document) that both share.

    Given the worker and the item the two ratings are independent; what they share and what parts them are two
    independent normal variables, over which the chance is averaged by quadrature.
    """
    logit = latent.link == "logit"
    factors = ("worker", "item", "document")
    same, across = (latent.shared(factors, same_system=each) for each in (True, False))
    nodes, weights = normal_expectation()
    common = math.sqrt(max(0.0, (same + across) / 2)) * nodes
    apart = math.sqrt(max(0.0, (same - across) / 2)) * nodes
    centre, half = np.meshgrid(common, apart, indexing="ij")
    thresholds = np.array(latent.thresholds)
    of_a = shares_given(centre - half - latent.effect / 2, thresholds, logit=logit)
    of_b = shares_given(centre + half + latent.effect / 2, thresholds, logit=logit)
    below = np.cumsum(of_a, axis=-1) - of_a / 2
    return float(weights @ (of_b * below).sum(axis=-1) @ weights)


def population_averaged(latent: Latent) -> float | None:
    """The effect of a model without random effects."""
    if latent.link == "probit":
        return latent.effect / math.sqrt(1.0 + latent.variance)
    if latent.family == "ordinal":
        return None
    a, b = (latent.shares(system) for system in (0, 1))
    return math.log(b[1] / b[0]) - math.log(a[1] / a[0])


_NEAR_ZERO = 1e-4  # a latent effect below which the expected difference is proportional to it


# Between the latent scale of fitted studies and differences of expected ratings on [0, 1], many fits at
# once.


_NODES = 31  # of the quadrature with a logit link: 1e-6 of a difference for latent SDs up to 3
_STEPS = 60  # of a bisection


@dataclass(frozen=True, slots=True, eq=False)
class LatentScale:
    """What fits say of the categories, the replicate being the first axis.

    `thresholds` (n, categories - 1), infinite or alike for a category that a study did not use; `variance` (n,)
    of the latent value over workers and items; `scores` (categories,) on [0, 1].
    """

    thresholds: Floats
    variance: Floats
    scores: Floats
    logit: bool

    def difference(self, effect: Floats) -> Floats:
        """Difference B - A of the expected ratings on [0, 1] at a latent effect, shape (n,)."""
        half = np.asarray(effect)[:, None] / 2
        steps = np.diff(self.scores)
        return np.asarray(
            (self._below(self.thresholds + half) - self._below(self.thresholds - half)) @ steps
        )

    def per_unit(self, effect: Floats) -> Floats:
        """Difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what turns
        a latent standard error into one on [0, 1] with the same t."""
        there = np.where(np.abs(effect) > _NEAR_ZERO, effect, _NEAR_ZERO)
        return self.difference(there) / there

    def effect_of(self, difference: float) -> Floats:
        """The latent effect (n,) at which the expected ratings differ by so much; infinite where none does."""
        n = len(self.variance)
        if difference == 0:
            return np.zeros(n)
        low, high = np.zeros(n), np.full(n, LARGEST_EFFECT)
        out_of_reach = self.difference(high) < abs(difference)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            short = self.difference(middle) < abs(difference)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        size = np.where(out_of_reach, np.inf, (low + high) / 2)
        return np.asarray(np.where(np.isnan(self.variance), np.nan, np.copysign(size, difference)))

    def _below(self, places: Floats) -> Floats:
        """Probability that latent value and noise lie below the places (n, places)."""
        if not self.logit:
            return np.asarray(special.ndtr(places / np.sqrt(1.0 + self.variance)[:, None]))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        spread = np.sqrt(self.variance)[:, None, None] * nodes
        return np.asarray(special.expit(places[:, :, None] - spread) @ (weights / weights.sum()))

    @classmethod
    def joined(cls, parts: list[LatentScale]) -> LatentScale:
        """One record from consecutive parts."""
        return cls(
            np.concatenate([part.thresholds for part in parts]),
            np.concatenate([part.variance for part in parts]),
            parts[0].scores,
            parts[0].logit,
        )


# The test of a model of categories: made on the latent scale, told on [0, 1].


def latent_test(fit: LatentFit, rule: DecisionRule) -> EffectTest:
    """Apply a decision rule to a fit of categories.

    t, df and p are those of the latent effect: its standard error and df are Kenward and Roger's for the
    model linearised at the estimates; 'satterthwaite' takes the same df without their correction of the
    standard error. Estimate and interval on [0, 1] are the latent ones transformed, thresholds and deviations
    as they were estimated; a margin on [0, 1] is moved to the latent scale. So interval and decision agree.
    Raises InputError: a rule that simulates, or a margin that no difference of these categories reaches.
    """
    if fit.estimator != rule.estimator:
        raise ValueError(f"The fit is by {fit.estimator}, the rule asks for {rule.estimator}.")
    if rule.is_simulated:
        raise InputError(_SIMULATED.format(df=rule.df))
    error, df = reference_of(fit, rule, fit.smallest - 1)
    reason = why_no_test(fit.converged, fit.message)
    return wald_of_categories(fit.latent, float(error), float(df), rule, reason=reason)


_SIMULATED = (
    "The df '{df}' simulate studies of the linear model, which ratings in categories are not: take the df "
    "'kenward-roger', which are those of the linearised model."
)


def wald_of_categories(
    latent: Latent, error: float, df: float, rule: DecisionRule, *, reason: str
) -> EffectTest:
    """The test from latent parameters, and the standard error and df of their effect."""
    per_unit = slope_to_expected(latent)
    estimate, effect = latent.difference, latent.effect
    reason = reason or why_unusable(error, df, rule)
    if reason:
        return without_test(estimate, error * per_unit, df, rule, reason=reason)
    margin: float | None = None
    if rule.margin is not None:
        margin = latent_margin(latent, rule.margin)
        if math.isinf(margin):
            widest = latent.scores[-1] - latent.scores[0]
            raise InputError(
                f"A margin of {rule.margin:g} on [0, 1] excludes nothing: the categories that were used lie "
                f"{widest:g} apart at most, so that no difference is as large. State a margin that a difference "
                "can cross."
            )
    values = np.array(effect), np.array(error), np.array(df)
    reach = critical_value(df, rule.tail) * error
    ends = effect - reach, effect + reach
    p_value = float(wald_p(*values, rule.alternative, margin=margin))
    return EffectTest(
        estimate=estimate,
        standard_error=error * per_unit,
        df=df,
        p_value=p_value,
        interval=(expected_at(latent, ends[0]), expected_at(latent, ends[1])),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=()
        if margin is None
        else tuple(map(float, one_sided_p(*values, rule=rule, margin=margin))),
        latent=LatentTest(effect, error, ends, margin),
    )


# What the model of categories says of ratings that were analysed as numbers: a check, never a choice.


@dataclass(frozen=True, slots=True)
class FamilyCheck:
    """The test of the other family, `None` with the reason where it has none, and that of equal spread."""

    rule: DecisionRule
    test: EffectTest | None
    spread: SpreadTest | None
    reason: str = ""


def has_few_points(ratings: Ratings) -> bool:
    """Whether ratings could be analysed as categories."""
    from humeval_power.estimation.latent.categories import MOST_CATEGORIES, distinct_values

    return 2 <= distinct_values(ratings) <= MOST_CATEGORIES


def check_family(ratings: Ratings, rule: DecisionRule) -> FamilyCheck:
    """Test the ratings of two systems as categories, by the nearest rule that there is."""
    from humeval_power.estimation.latent.categories import categories_of, distinct_values
    from humeval_power.estimation.latent.fit import fit_latent

    family: Family = "binary" if distinct_values(ratings) == 2 else "ordinal"
    df = DEFAULT_RULE.df if rule.is_simulated else rule.df
    other = replace(rule, family=family, analysis="ratings", df=df)
    try:
        fitted = fit_latent(ratings, family=other.family, link=other.link, estimator=other.estimator)
        test = latent_test(fitted, other)
        spread = spread_test(ratings, categories_of(ratings, other.family))
    except HumevalPowerError as error:
        return FamilyCheck(other, None, None, str(error))
    return FamilyCheck(other, test, spread)


# Whether one system's ratings are spread more widely than the other's on the latent scale: a score test.

_LEVEL = 0.01  # at which a difference of spread is worth a warning
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class SpreadTest:
    """Approximate test of one spread for both systems. `ratio` is B's latent SD over A's, by one step from
    equality."""

    ratio: float
    p_value: float

    @property
    def differs(self) -> bool:
        """Whether to warn: at level 0.01, for it is looked at in every table."""
        return self.p_value <= _LEVEL


def spread_test(ratings: Ratings, categories: Categories) -> SpreadTest | None:
    """Score test of a scale effect in the population-averaged cumulative probit model.

    Each rating's efficient score for the log ratio of spreads (its score less what thresholds and shift explain)
    is compared between the systems by the linear mixed model of crossed workers and items, which takes up that
    ratings of one worker or item go together. None with two categories, where spread and shift are one, and where
    the scores cannot be fitted.
    """
    from humeval_power.estimation.fitting import fit

    n_categories = categories.n_categories
    if n_categories < 3:
        return None
    counts = np.zeros((2, n_categories))
    np.add.at(counts, (ratings.system, categories.code), 1.0)
    if (counts.sum(axis=0) == 0).any():
        return None
    score, information = _efficient_scores(counts)
    value = np.where(ratings.system == 1, 1.0, -1.0) * score[ratings.system, categories.code]
    step = float((counts * score).sum()) / information if information > _TINY else math.nan
    rows = {"worker": ratings.worker, "item": ratings.item, "system": ratings.system}
    try:
        tested = effect_test(fit(cast("RatingTable", SimpleNamespace(**rows, rating=value))))
    except HumevalPowerError:
        return None
    if tested.reason or not math.isfinite(step):
        return None
    return SpreadTest(ratio=math.exp(max(-5.0, min(5.0, step))), p_value=tested.p_value)


def _efficient_scores(counts: Floats) -> tuple[Floats, float]:
    """Efficient score of the log ratio of spreads for each system and category (2, C), and its information.

    counts : (2, C), ratings of each system in each category.
    """
    thresholds, shift = _marginal_fit(counts)
    x = np.array([-0.5, 0.5])
    cut = thresholds - shift * x[:, None]
    density, below = np.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(cut)
    edge = np.zeros((2, 1))
    share = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
    share = np.maximum(share, _TINY)
    n_thresholds = len(thresholds)
    by_threshold = np.zeros((n_thresholds, 2, n_thresholds + 1))
    for k in range(n_thresholds):
        by_threshold[k, :, k] = density[:, k] / share[:, k]
        by_threshold[k, :, k + 1] = -density[:, k] / share[:, k + 1]
    by_shift = (by_threshold * -x[:, None]).sum(axis=0)
    by_spread = (by_threshold * (-x[:, None] * cut).T[:, :, None]).sum(axis=0)
    nuisance = np.concatenate([by_threshold, by_shift[None]])
    expected = counts.sum(axis=1, keepdims=True) * share
    products = np.einsum("asc,bsc,sc->ab", nuisance, nuisance, expected)
    cross = np.einsum("asc,sc,sc->a", nuisance, by_spread, expected)
    weights = np.linalg.lstsq(products, cross, rcond=1e-10)[0]
    score = by_spread - np.einsum("a,asc->sc", weights, nuisance)
    return score, float((score**2 * expected).sum())


def _marginal_fit(counts: Floats) -> tuple[Floats, float]:
    """Thresholds and shift of the cumulative probit model without random effects, by maximum likelihood."""
    from scipy import optimize

    share = counts.sum(axis=0) / counts.sum()
    start = special.ndtri(np.cumsum(share)[:-1])
    x = np.array([-0.5, 0.5])

    def parts(values: Floats) -> tuple[Floats, float]:
        steps = np.concatenate([values[:1], np.exp(values[1:-1])])
        return np.cumsum(steps), float(values[-1])

    def minus_log(values: Floats) -> float:
        thresholds, shift = parts(values)
        below = special.ndtr(thresholds - shift * x[:, None])
        edge = np.zeros((2, 1))
        probability = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
        return -float((counts * np.log(np.maximum(probability, _TINY))).sum())

    first = np.concatenate([start[:1], np.log(np.maximum(np.diff(start), 1e-6)), [0.0]])
    optimum = optimize.minimize(minus_log, first, method="BFGS", options={"gtol": 1e-6})
    return parts(np.asarray(optimum.x))
