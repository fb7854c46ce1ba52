"""The effect from differences alone: what a worker and an item share cannot touch it."""

from __future__ import annotations

from humeval_power.errors import FitError
from humeval_power.estimation import vanishing_residual
from humeval_power.estimation.native import BatchFit, CrossedProblem, RatingTable, fit_one
from humeval_power.inference.wald import EffectTest, finished_test, reference, why_no_test
from humeval_power.kernels import reml
from humeval_power.rules import DecisionRule


def difference_test(ratings: RatingTable, rule: DecisionRule) -> EffectTest:
    """Test the mean difference B - A of workers and items that have both systems.

    Raises
    ------
    InputError
        Too few such workers or items.
    FitError
        Differences without residual variation, or so few that their likelihood is highest without one.
    """
    problem = CrossedProblem.of_differences(ratings.worker, ratings.item, ratings.system)
    fitted = fit_one(problem, ratings.rating, restricted=rule.estimator == "reml")
    status = int(fitted.status[0])
    if status == reml.NO_RESIDUAL:
        raise FitError(f"Of the differences B - A: {vanishing_residual.EXPLAINED}")
    if status == reml.RUNAWAY:
        raise FitError(f"Of the differences B - A: {vanishing_residual.RUNS_AWAY}")
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
    return finished_test(
        float(fitted.estimate[0]),
        float(error[0]),
        float(df[0]),
        rule,
        reason=why_no_test(bool(fitted.status[0] == reml.CONVERGED)),
    )
