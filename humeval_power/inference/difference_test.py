"""The effect from differences alone: what a worker and an item share cannot touch it."""

from __future__ import annotations

from humeval_power.errors import FitError
from humeval_power.estimation.native import CrossedProblem, RatingTable, fit_one
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
    batch = fit_one(problem, ratings.rating, restricted=rule.estimator == "reml")
    if batch.status[0] != 0:
        raise FitError("The differences could not be fitted: they have no residual variation.")
    error, df = reference(
        rule,
        standard_error=batch.standard_error,
        adjusted=batch.standard_error_adjusted,
        satterthwaite=batch.df_satterthwaite,
        kenward_roger=batch.df_kenward_roger,
        smallest=min(int(problem.outer.max()), int(problem.inner.max())),
    )
    return finished_test(float(batch.estimate[0]), float(error[0]), float(df[0]), rule)
