"""The fit and the test that a rule asks for, whatever it takes ratings for."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.errors import InputError
from humeval_power.estimation.fit import CorrelatedFactor, Fit
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.latent.fit import LatentFit, fit_latent
from humeval_power.inference.study.intervals import Intervals, latent_intervals, parameter_intervals
from humeval_power.inference.study.latent_test import latent_test
from humeval_power.inference.study.wald import EffectTest, difference_test, effect_test
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule


def fit_and_test(
    ratings: Ratings, rule: DecisionRule, *, correlated: Sequence[CorrelatedFactor] = ()
) -> tuple[Fit | LatentFit, EffectTest]:
    """Fit the ratings of two systems as the rule's family, and test their difference.

    correlated : 'worker', 'item' or both, whose intercepts and slopes may correlate; of numbers alone.

    Raises
    ------
    InputError
        A rule that simulates, ratings that are not of its family, or correlations of categories.
    FitError
        Ratings that determine nothing.
    """
    if rule.is_latent:
        if correlated:
            raise InputError(
                f"The family '{rule.family}' has no correlation of an intercept and its slope: leave it out, or "
                "take the family 'gaussian'. Under the coding -1/2, +1/2 it hardly touches the effect."
            )
        categories = fit_latent(ratings, family=rule.family, link=rule.link, estimator=rule.estimator)
        return categories, latent_test(categories, rule)
    fitted = fit(ratings, estimator=rule.estimator, correlated=correlated)
    if rule.analysis == "differences":
        return fitted, difference_test(ratings, rule)
    return fitted, effect_test(fitted, rule)


def asymptotic_intervals(fitted: Fit | LatentFit, ratings: Ratings) -> Intervals:
    """Asymptotic 95 % intervals of what was fitted; none where the search did not end."""
    if not fitted.converged:
        return {}
    if isinstance(fitted, LatentFit):
        return latent_intervals(fitted)
    return parameter_intervals(fitted, ratings)
