"""The effect of a part of a study at the variances of the whole study: no search, one solve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.crossed.runaways import profile_at
from humeval_power.estimation.fit import Fit
from humeval_power.kernels.crossed import likelihood


def is_searched_slowly(ratings: RatingTable) -> bool:
    """Whether a fit of such a table is by sparse factors or by iterations, as its shape alone decides."""
    return CrossedProblem.of_ratings(ratings).is_large


def at_variances_of(fitted: Fit, part: RatingTable) -> Fit:
    """The fit of nearly all ratings of a study at the SDs and df of the fit of all of them.

    Baseline, effect and its standard error are those of generalised least squares on the part. The adjusted
    standard error is in the proportion of the whole study.

    Raises
    ------
    FitError
        Variances many thousands of times the residual's.
    """
    problem = CrossedProblem.of_ratings(part)
    residual2 = fitted.parameters.sd_residual**2
    gamma = np.array([getattr(fitted.parameters, name) for name in problem.components]) ** 2 / residual2
    gamma = np.ascontiguousarray(problem.to_kernel(gamma))
    center = float(part.rating.mean())
    response = part.rating - center
    with one_blas_thread():
        if problem.is_iterative:
            from humeval_power.estimation.large.iterative import fixed_effects_at

            beta, phi = fixed_effects_at(problem, response, gamma)
        else:
            products = likelihood.Response(*(each[0] for each in problem.products(response[None])))
            found = profile_at(problem, products, gamma, restricted=fitted.estimator == "reml")
            beta, phi = found.beta, found.phi
    error = math.sqrt(residual2 * float(problem.contrast @ phi @ problem.contrast))
    baseline, effect = center + float(beta[0]), float(beta @ problem.contrast)
    return replace(
        fitted,
        parameters=replace(fitted.parameters, baseline=baseline, effect=effect),
        standard_error=error,
        standard_error_adjusted=fitted.standard_error_adjusted * error / fitted.standard_error,
        n_ratings=len(part.rating),
        n_workers=int(part.worker.max()) + 1,
        n_items=int(part.item.max()) + 1,
    )
