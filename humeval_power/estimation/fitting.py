"""Fit the seven parameters to a table of ratings of two systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Engine
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.examination import (
    EXPLAINED,
    RUNS_AWAY,
    design_information,
    examine,
    is_explained_exactly,
    runs_away,
)
from humeval_power.estimation.crossed.fits import (
    MESSAGES,
    at_maximum,
    best_share,
    fit_complete,
    fit_one,
    with_uncertain_share,
)
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.fit import (
    CorrelatedFactor,
    CovariateEffect,
    Fit,
    is_structured,
    n_documents,
    structure_of,
)
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.information import Information, expected_information
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.rules import DEFAULT_RULE, Estimator
from humeval_power.uncertainty import VarianceUncertainty

# Which variance components a table can tell apart, from its design alone.

Floats = NDArray[np.float64]

_RANK_TOLERANCE = 1e-8  # relative to unit diagonal; rounding leaves about 1e-13


def information_matrix(problem: CrossedProblem, gamma: Floats, *, sigma2: float = 1.0) -> Floats:
    """Expected REML information of the variances, shape (q + 1, q + 1), in the order of the problem's components,
    the residual's last.

    gamma : (q,), variances relative to the residual's `sigma2`.
    """
    info, phi = design_information(problem, gamma)
    return arranged_information(problem, info, phi, sigma2=sigma2)


def design_matrix(problem: CrossedProblem) -> Floats:
    """The same at variances where it is exact whatever the size of the table: all are one, or, for a very large
    table, zero. What it cannot tell apart is the same at any."""
    if not problem.is_iterative:
        return information_matrix(problem, np.ones(problem.n_components))
    from humeval_power.estimation.large.probed_search import LargeSystem

    info, phi = LargeSystem(problem.design).plain_information(problem.x.T @ problem.x)
    return arranged_information(problem, info, phi, sigma2=1.0)


def arranged_information(
    problem: CrossedProblem, info: Information, phi: Floats, *, sigma2: float
) -> Floats:
    """The same from information quantities that are at hand."""
    expected = expected_information(info, phi, sigma2, True)
    q = expected.shape[0] - 1
    order = np.append(problem.from_kernel(np.arange(float(q))), float(q)).astype(int)
    return np.asarray(expected[np.ix_(order, order)])


def unidentified(matrix: Floats, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[Floats, ...]]:
    """Names of the components that trade off against each other, and the sums that do not.

    matrix : (q + 1, q + 1), the information at variances that are all positive, of the SDs `names`. Where it is
    singular, some direction in the variances leaves the distribution of all contrasts unchanged. Returned
    are the components with a part in such a direction, and the rows (q + 1,) of a basis of the identified
    linear combinations that involve them.
    """
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    flat = vectors[:, values < _RANK_TOLERANCE] / scale[:, None]
    if flat.shape[1] == 0:
        return (), ()
    involved = np.abs(flat / np.abs(flat).max(axis=0)).max(axis=1) > 1e-6
    together = tuple(name for name, part in zip(names, involved, strict=True) if part)
    combinations = row_echelon(null_space(flat[involved].T))
    rows = []
    for combination in combinations:
        row = np.zeros(len(names))
        row[involved] = combination
        rows.append(row)
    return together, tuple(rows)


def null_space(matrix: Floats) -> Floats:
    """Rows spanning the vectors that `matrix` maps to zero."""
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > 1e-10 * values.max()).sum())
    return np.asarray(vectors[rank:])


def row_echelon(rows: Floats) -> Floats:
    """Reduced row echelon form, so that combinations read in small whole numbers."""
    reduced = rows.copy()
    row = 0
    for column in range(reduced.shape[1]):
        if row == len(reduced):
            break
        pivot = row + int(np.argmax(np.abs(reduced[row:, column])))
        if abs(reduced[pivot, column]) < 1e-8:
            continue
        reduced[[row, pivot]] = reduced[[pivot, row]]
        reduced[row] /= reduced[row, column]
        for other in range(len(reduced)):
            if other != row:
                reduced[other] -= reduced[other, column] * reduced[row]
        row += 1
    return np.where(np.abs(reduced) < 1e-8, 0.0, reduced)[:row]


def in_words(combination: Floats, variances: Floats, names: Sequence[str]) -> str:
    """A combination of the variances of SDs `names` with its value, for example 'a^2 + 0.25 b^2 = 0.031'."""
    terms = []
    for name, weight in zip(names, combination, strict=True):
        if weight != 0:
            sign = "-" if weight < 0 else "+"
            factor = "" if np.isclose(abs(weight), 1) else f"{abs(weight):.4g} "
            terms.append(f"{sign} {factor}{name}^2")
    text = " ".join(terms).removeprefix("+ ")
    return f"{text} = {float(combination @ variances):.6g}"


_LARGE_RATIO = 100.0  # variances relative to the residual's beyond which information loses digits


def fit(
    ratings: RatingTable,
    *,
    estimator: Estimator = DEFAULT_RULE.estimator,
    engine: Engine = "native",
    worker_item: bool = False,
    correlated: Sequence[CorrelatedFactor] = (),
    near: Fit | None = None,
    problem: CrossedProblem | None = None,
) -> Fit:
    """Estimate the seven parameters by REML or maximum likelihood, with what the ratings carry of documents and
    covariates.

    Parameters
    ----------
    ratings : a `Ratings` of two systems, or anything with arrays worker, item, system, rating.
    engine : 'native', or a reference: 'lme4' (through pymer4), 'statsmodels' (small tables).
    worker_item : also estimate what a worker and an item share under both systems (native only). In tables
        of more than about 1,000 ratings the degrees of freedom take its share as known.
    correlated : whose intercepts and slopes may correlate, 'worker' and 'item' (native only).
    near : a fit of almost the same ratings, at whose SDs the search of a large table begins (native only).
    problem : `CrossedProblem.of_ratings` of these ratings, where the caller needs it too.

    Raises
    ------
    InputError
        Fewer than two workers or items, or other than two systems.
    FitError
        Ratings without residual variation, or so few that the likelihood is highest without one: nothing
        can be estimated.
    EngineMissingError
        A reference engine that is not installed.
    """
    check_table(ratings)
    if worker_item and engine != "native":
        raise InputError(f"Only the native engine fits the worker-item term; got engine {engine!r}.")
    if correlated and (engine != "native" or worker_item):
        raise InputError(
            "Correlated intercepts and slopes are fitted by the native engine, without the worker-item term."
        )
    if engine != "native" and is_structured(ratings):
        raise InputError(f"Only the native engine fits documents and covariates; got engine {engine!r}.")
    if is_explained_exactly(ratings):
        raise FitError(EXPLAINED)
    if engine == "lme4":
        from humeval_power.estimation.other_engines import fit_lme4

        return _examined(fit_lme4(ratings, estimator=estimator), ratings)
    if engine == "statsmodels":
        from humeval_power.estimation.other_engines import fit_statsmodels

        return _examined(fit_statsmodels(ratings, estimator=estimator), ratings)
    fitted = _fit_native(ratings, problem, estimator, worker_item=worker_item, near=near)
    if not correlated:
        return fitted
    from humeval_power.estimation.correlated import fit_correlated

    return fit_correlated(ratings, fitted, correlated, covariate_contrasts(ratings))


def _examined(fitted: Fit, ratings: RatingTable) -> Fit:
    """A reference engine's fit with what the design says about its components: engines do not warn. They
    do not say either that they ran off to a residual of zero."""
    problem = CrossedProblem.of_ratings(ratings)
    deviations = (*problem.components, "sd_residual")
    variances = np.array([getattr(fitted.parameters, name) for name in deviations]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        gamma = variances[:-1] / variances[-1]
    if not (variances[-1] > 0 and np.isfinite(gamma).all()) or runs_away(
        problem, ratings.rating, gamma, restricted=fitted.estimator == "reml"
    ):
        raise FitError(RUNS_AWAY)
    names, combinations = unidentified(design_matrix(problem), deviations)
    words = tuple(in_words(row, variances, deviations) for row in combinations)
    return replace(fitted, not_identified=names, identified_combinations=words)


def _fit_native(
    ratings: RatingTable,
    problem: CrossedProblem | None,
    estimator: Estimator,
    *,
    worker_item: bool,
    near: Fit | None,
) -> Fit:
    problem = problem or CrossedProblem.of_ratings(ratings)
    names_of = (*problem.components, "sd_residual")
    further = covariate_contrasts(ratings)
    contrasts = np.array([weights for *_, weights in further]) if further else None
    batch, share, plain = None, 0.0, problem
    if worker_item:
        share = best_share(ratings, restricted=estimator == "reml")
        problem = problem.with_interaction(ratings.worker, ratings.item, share)
    elif estimator == "reml":
        batch = fit_complete(ratings)
    if batch is None:
        batch = fit_one(
            problem,
            ratings.rating,
            restricted=estimator == "reml",
            contrasts=contrasts,
            near=None if near is None else relative_variances(problem, near),
        )
        if estimator == "ml" and not worker_item:
            batch = at_maximum(problem, ratings, batch)
    if share > 0.0 and int(batch.status[0]) in MESSAGES:  # at zero the term is no part of the model
        batch = with_uncertain_share(
            batch, plain, ratings, share, restricted=estimator == "reml", contrasts=contrasts
        )
    status = int(batch.status[0])
    if status == reml.NO_RESIDUAL:
        raise FitError(EXPLAINED)
    if status == reml.RUNAWAY:
        raise FitError(RUNS_AWAY)
    gamma = batch.gamma[0]
    seen = batch.examination or examine(problem, ratings.rating, gamma, restricted=estimator == "reml")
    sigma2 = seen.rss / (len(ratings.rating) - (problem.x.shape[1] if estimator == "reml" else 0))
    variances = np.append(gamma, 1.0) * sigma2
    deviations = np.sqrt(variances)
    information = arranged_information(problem, seen.information, seen.phi, sigma2=sigma2)
    if not (np.isfinite(information).all() and (np.diag(information) > 0).all()):
        raise FitError(RUNS_AWAY)  # the residual is so small that nothing is left of it
    inside = information
    if batch.monte_carlo or (gamma == 0).any() or gamma.max() > _LARGE_RATIO:
        # what the design tells apart is the same anywhere
        inside = design_matrix(problem)
    names, combinations = unidentified(inside, names_of)
    errors = deviation_errors(information, deviations)
    effect_error = float(batch.standard_error[0])
    baseline_error = float(np.sqrt(sigma2 * seen.phi[0, 0]))
    return Fit(
        parameters=Parameters.from_dict(
            {
                "baseline": float(batch.baseline[0]),
                "effect": float(batch.estimate[0]),
                **dict(zip(names_of, map(float, deviations), strict=True)),
                "sd_worker_item": math.sqrt(share * sigma2),
            }
        ),
        estimator=estimator,
        engine="native",
        criterion=seen.criterion,
        standard_error=effect_error,
        standard_error_adjusted=float(batch.standard_error_adjusted[0]),
        df_satterthwaite=float(batch.df_satterthwaite[0]),
        df_kenward_roger=float(batch.df_kenward_roger[0]),
        n_ratings=len(ratings.rating),
        n_workers=int(ratings.worker.max()) + 1,
        n_items=int(ratings.item.max()) + 1,
        converged=status == reml.CONVERGED,
        standard_errors={
            "baseline": baseline_error,
            "effect": effect_error,
            **dict(zip(names_of, errors, strict=True)),
        },
        uncertainty=VarianceUncertainty.of_information(information, variances),
        boundary=tuple(
            name
            for name, value in zip(problem.components, gamma, strict=True)
            if value == 0 and name not in names  # where on a flat ridge the search stopped says nothing
        ),
        not_identified=names,
        identified_combinations=tuple(in_words(row, variances, names_of) for row in combinations),
        message=MESSAGES[status],
        n_optima=batch.n_optima,
        n_documents=n_documents(ratings),
        covariates=tuple(
            CovariateEffect(column, label, *map(float, values))
            for (column, label, _), values in zip(further, batch.further[0], strict=True)
        ),
        monte_carlo=batch.monte_carlo,
    )


def relative_variances(problem: CrossedProblem, fitted: Fit) -> Floats:
    """The variances of a fit relative to its residual's (q,), in the order of the problem's components."""
    values = fitted.parameters
    deviations = np.array([getattr(values, name) for name in problem.components])
    return np.asarray((deviations / values.sd_residual) ** 2)


def covariate_contrasts(ratings: RatingTable) -> list[tuple[str, str, Floats]]:
    """What to tell of a table's covariates: column, label, and weights (p,) of the fixed effects."""
    covariates = getattr(ratings, "covariates", ())
    p = 2 + sum(len(one.labels) for one in covariates)
    contrasts, first = [], 2
    for one in covariates:
        last = first + len(one.labels)
        for label, weights in one.contrasts:
            row = np.zeros(p)
            row[first:last] = weights
            contrasts.append((one.name, label, row))
        first = last
    return contrasts


def deviation_errors(information: Floats, deviations: Floats) -> list[float]:
    """Asymptotic standard errors of SDs (delta method on the inverse information of the variances of those
    above zero); NaN at the boundary and where the information is singular.

    information : (q, q), of the variances; deviations : (q,).
    """
    errors = np.full(len(deviations), np.nan)
    free = np.flatnonzero(deviations > 0)
    part = information[np.ix_(free, free)]
    if not len(free) or not (np.isfinite(part).all() and (np.diag(part) > 0).all()):
        return [float(value) for value in errors]
    scale = np.sqrt(np.diag(part))
    scaled = part / np.outer(scale, scale)
    if np.linalg.eigvalsh(scaled).min() > 1e-8:
        variance = np.diag(np.linalg.inv(scaled)) / scale**2
        errors[free] = np.sqrt(variance) / (2 * deviations[free])
    return [float(value) for value in errors]


def check_not_confounded(ratings: RatingTable, document: NDArray[np.int64] | None = None) -> None:
    """Refuse tables in which every system has only one worker, one item or one document: how much these vary is
    then in no difference of two ratings of one system, and a fit ends anywhere.

    Raises
    ------
    InputError
        The first of them.
    """
    systems = [ratings.system == one for one in np.unique(ratings.system)]
    for noun, codes in (("worker", ratings.worker), ("item", ratings.item), ("document", document)):
        if codes is not None and all(np.ptp(codes[rows]) == 0 for rows in systems):
            raise InputError(
                f"Each system has one {noun} only, so that a difference between systems cannot be told from one "
                f"between {noun}s. Two {noun}s or more are needed for each system, best the same ones."
            )


def check_table(ratings: RatingTable) -> None:
    """Refuse tables that are too small for the model, or do not compare two systems.

    Raises
    ------
    InputError
        Other than two systems, fewer than two workers or items, or than seven ratings; or one worker, item or
        document for each system.
    """
    systems = np.unique(ratings.system)
    if not np.array_equal(systems, [0, 1]):
        raise InputError(
            f"The model compares two systems; this table has {len(systems)}. "
            "Choose two by pair(A, B): the effect is B - A; hp.analyze compares all of them."
        )
    for noun, codes in (("workers", ratings.worker), ("items", ratings.item)):
        count = int(codes.max()) + 1
        if count < 2:
            raise InputError(
                f"At least 2 {noun} are needed to estimate how {noun} differ; this table has {count}."
            )
    if n_documents(ratings) == 1:
        raise InputError(
            "At least 2 documents are needed to estimate how documents differ; this table has 1."
        )
    structure = structure_of(ratings)
    check_not_confounded(ratings, structure["document"])
    covariates = structure["covariates"]
    if covariates is not None:
        x = np.column_stack([np.ones(len(ratings.system)), ratings.system - 0.5, covariates])
        if np.linalg.matrix_rank(x) < x.shape[1]:
            raise InputError(
                "The covariates of these ratings follow from the system or from each other: leave one out."
            )
    if len(ratings.rating) < len(PARAMETER_NAMES):
        raise InputError(f"{len(ratings.rating)} ratings are too few for seven parameters.")
