"""What documents, covariates and correlations change: each covariate's own test, and the effect without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.errors import FitError
from humeval_power.estimation.fit import CorrelationFit, Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.study.wald import (
    EffectTest,
    effect_test,
    finished_test,
    reference,
    why_no_test,
    without_test,
)
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


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
    if rule.is_simulated:
        rule = replace(rule, df="kenward-roger")
    return Adjustment(
        fitted.n_documents, _covariate_tests(fitted, rule), fitted.correlations, _unadjusted(ratings, rule)
    )


def _covariate_tests(fitted: Fit, rule: DecisionRule) -> tuple[CovariateTest, ...]:
    two_sided = replace(rule, alternative="two-sided", margin=None, analysis="ratings")
    tests = []
    for one in fitted.covariates:
        error, df = reference(
            two_sided,
            standard_error=np.array(one.standard_error),
            adjusted=np.array(one.standard_error_adjusted),
            satterthwaite=np.array(one.df_satterthwaite),
            kenward_roger=np.array(one.df_kenward_roger),
            smallest=fitted.smallest - 1,
        )
        reason = why_no_test(fitted.converged, fitted.message)
        tested = finished_test(one.estimate, float(error), float(df), two_sided, reason=reason)
        tests.append(CovariateTest(one.covariate, one.label, tested))
    return tuple(tests)


def _unadjusted(ratings: Ratings, rule: DecisionRule) -> EffectTest:
    from humeval_power.estimation.fitting import fit

    plain = replace(ratings, document=None, document_names=(), covariates=())
    by_ratings = replace(rule, analysis="ratings")
    try:
        return effect_test(fit(plain, estimator=rule.estimator), by_ratings)
    except FitError as error:
        return without_test(np.nan, np.nan, np.nan, by_ratings, reason=str(error))
