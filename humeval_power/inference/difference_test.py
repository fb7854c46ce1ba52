"""The effect from differences alone: what a worker and an item share cannot touch it."""

from __future__ import annotations

from humeval_power.errors import FitError
from humeval_power.estimation.native import BatchFit, CrossedProblem, RatingTable, fit_one
from humeval_power.inference.wald import EffectTest, finished_test, reference
from humeval_power.rules import DecisionRule


def difference_test(ratings: RatingTable, rule: DecisionRule) -> EffectTest:
    """Test the mean difference B - A of workers and items that have both systems.

    Raises
    ------
    InputError
        Too few such workers or items.
    FitError
        Differences without residual variation.
    """
    problem = CrossedProblem.of_differences(ratings.worker, ratings.item, ratings.system)
    fitted = fit_one(problem, ratings.rating, restricted=rule.estimator == "reml")
    if fitted.status[0] != 0:
        raise FitError("The differences could not be fitted: they have no residual variation.")
    return wald_of_differences(problem, fitted, rule)


def wald_of_differences(problem: CrossedProblem, fitted: BatchFit, rule: DecisionRule) -> EffectTest:
    """The test of a rule from a fit to differences alone."""
    error, df = reference(
        rule,
        standard_error=fitted.standard_error,
        adjusted=fitted.standard_error_adjusted,
        satterthwaite=fitted.df_satterthwaite,
        kenward_roger=fitted.df_kenward_roger,
        smallest=min(int(problem.outer.max()), int(problem.inner.max())),
    )
    return finished_test(float(fitted.estimate[0]), float(error[0]), float(df[0]), rule)
