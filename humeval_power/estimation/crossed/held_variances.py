"""The effect of a part of a study at the variances of the whole study: no search, one solve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array, hstack

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels, RatingTable
from humeval_power.estimation.crossed.runaways import profile_at
from humeval_power.estimation.fit import Fit
from humeval_power.kernels.crossed import likelihood

Floats = NDArray[np.float64]
_MOST_COLUMNS = 3000  # of the dense matrix that is inverted once: about two seconds
_MOST_ROWS = 1500  # that are left out together: a dense matrix of their order is solved
_SINGULAR = 1e-8  # of a matrix with unit diagonal at most: then the rest does not determine the effect


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
    sizes = len(part.rating), int(part.worker.max()) + 1, int(part.item.max()) + 1
    return _moved(fitted, center + float(beta[0]), float(beta @ problem.contrast), error, sizes)


def is_deleted_at_once(ratings: RatingTable) -> bool:
    """Whether `without_each_worker` takes the table, as its shape alone decides."""
    problem = CrossedProblem.of_ratings(ratings)
    levels = [int(factor.codes.max()) + 1 for factor in problem.factors]
    outer = 2 * (sum(levels) - levels[problem.inner]) + problem.x.shape[1]
    return outer <= _MOST_COLUMNS and int(np.bincount(ratings.worker).max()) <= _MOST_ROWS


def without_each_worker(fitted: Fit, ratings: RatingTable, workers: Iterable[int]) -> Iterator[Fit | None]:
    """What `at_variances_of` finds without each of these workers, by one factorisation of the whole study.

    With the random effects scaled to unit variance, R = [X Z] and C = R'R + diag(0, I) are those of Henderson's
    (1975) equations. Without the rows S the solution moves by -C^-1 R_S' (I - R_S C^-1 R_S')^-1 e_S, e_S what it
    leaves of them, and C^-1 grows likewise: exact generalised least squares of the rows that remain. The factor
    with most levels is eliminated, so that R C^-1 R' = Z D^-1 Z' + Q S^-1 Q' with small blocks D and one dense
    matrix S.

    Parameters
    ----------
    fitted : of `ratings`, for which `is_deleted_at_once`, without a term of worker and item.
    workers : codes.

    Yields
    ------
    Fit or None
        For each worker, in this order; None where the others' ratings do not determine the effect.
    """
    problem = CrossedProblem.of_ratings(ratings)
    residual = fitted.parameters.sd_residual
    sds = np.array([getattr(fitted.parameters, name) for name in problem.components])
    columns = list(map(_columns, problem.factors, sds.reshape(len(problem.factors), -1) / residual))
    inner, p = columns.pop(problem.inner), problem.x.shape[1]
    large = csr_array(hstack([csr_array(problem.x), *columns]))
    inverse = _inverted_blocks(csr_array(inner.T @ inner))
    inside = csr_array(inverse @ csr_array(inner.T @ large))
    dense = (large.T @ large - (inner.T @ large).T @ inside).toarray()
    dense[np.arange(p, len(dense)), np.arange(p, len(dense))] += 1.0
    center = float(ratings.rating.mean())
    response = ratings.rating - center
    with one_blas_thread():
        covariance = linalg.inv(dense)
        solved = covariance @ (large.T @ response - inside.T @ (inner.T @ response))
        left = response - large @ solved - inner @ (inverse @ (inner.T @ (response - large @ solved)))
    order = np.argsort(ratings.worker, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(ratings.worker))])
    of_item = np.bincount(ratings.item)
    for code in workers:
        rows = order[begin[code] : begin[code + 1]]
        own = inner[rows]
        outside = large[rows].toarray() - (own @ inside).toarray()
        moves = outside @ covariance
        with one_blas_thread():
            kept = np.eye(len(rows)) - (own @ inverse @ own.T).toarray() - moves @ outside.T
            lower, status = linalg.lapack.dpotrf(kept, lower=1)
            if status or lower.diagonal().min() ** 2 < _SINGULAR:
                yield None
                continue
            half = linalg.solve_triangular(lower, np.column_stack([moves[:, :p], left[rows]]), lower=True)
        beta = solved[:p] - half[:, :p].T @ half[:, p]
        phi = covariance[:p, :p] + half[:, :p].T @ half[:, :p]
        items = np.bincount(ratings.item[rows], minlength=len(of_item))
        sizes = len(response) - len(rows), fitted.n_workers - 1, int((items < of_item).sum())
        error = residual * math.sqrt(float(problem.contrast @ phi @ problem.contrast))
        yield _moved(fitted, center + float(beta[0]), float(beta @ problem.contrast), error, sizes)


def _columns(levels: Levels, scale: Floats) -> csr_array:
    """The columns of a factor's effects in units of their standard deviations, (rows, q n_levels) sparse."""
    n, q = levels.columns.shape
    column = levels.codes[:, None] * q + np.arange(q)
    place = np.repeat(np.arange(n), q), column.ravel()
    return csr_array(
        ((levels.columns * scale).ravel(), place), shape=(n, q * (int(levels.codes.max()) + 1))
    )


def _inverted_blocks(products: csr_array) -> csr_array:
    """The inverse of I plus a matrix of 2 by 2 blocks along its diagonal."""
    first = 2 * np.arange(products.shape[0] // 2)
    row, column = np.add.outer(first, [0, 0, 1, 1]).ravel(), np.add.outer(first, [0, 1, 0, 1]).ravel()
    blocks = np.asarray(products[row, column]).reshape(-1, 2, 2) + np.eye(2)
    return csr_array((np.linalg.inv(blocks).ravel(), (row, column)), shape=products.shape)


def _moved(fitted: Fit, baseline: float, effect: float, error: float, sizes: tuple[int, int, int]) -> Fit:
    """The fit with other fixed effects; `sizes` are the ratings, workers and items they are of."""
    n_ratings, n_workers, n_items = sizes
    return replace(
        fitted,
        parameters=replace(fitted.parameters, baseline=baseline, effect=effect),
        standard_error=error,
        standard_error_adjusted=fitted.standard_error_adjusted * error / fitted.standard_error,
        n_ratings=n_ratings,
        n_workers=n_workers,
        n_items=n_items,
    )
