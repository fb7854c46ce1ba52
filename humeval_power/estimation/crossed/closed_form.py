"""Complete balanced tables by their mean squares: REML without iteration, and the end of a search for ML."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.crossed.fits import BatchFit, fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.structure import is_structured
from humeval_power.kernels.crossed import balanced, by_python, reml

Floats = NDArray[np.float64]


def complete_array(ratings: RatingTable) -> Floats | None:
    """The ratings as (1, workers, items, 2, repeats) if every cell holds the same number of ratings,
    in the order of the table within a cell; None otherwise."""
    m, n = int(ratings.worker.max()) + 1, int(ratings.item.max()) + 1
    n_rows = len(ratings.rating)
    if n_rows % (2 * m * n) != 0:
        return None
    cell = (ratings.worker * n + ratings.item) * 2 + ratings.system
    counts = np.bincount(cell, minlength=2 * m * n)
    if counts.min() != counts.max():
        return None
    ordered = ratings.rating[np.argsort(cell, kind="stable")]
    return ordered.reshape(1, m, n, 2, int(counts[0]))


def fit_complete(ratings: RatingTable) -> BatchFit | None:
    """REML fit of a complete balanced table (arrays of length 1), or None if it is not one, or has documents or
    covariates."""
    table = None if is_structured(ratings) else complete_array(ratings)
    if table is None:
        return None
    _, m, n, _, r = table.shape
    size = balanced.Size(m, n, r)
    df = balanced.degrees_of_freedom(size)
    squares, difference, mean = balanced.mean_squares(table)
    size_of_ratings = float((ratings.rating**2).mean())
    if not squares[balanced.RESIDUAL, 0] > 1e-14 * size_of_ratings:  # rounding leaves about 1e-16
        squares = squares * np.nan
    return fit_mean_squares(squares, df, size, difference, mean)


def at_maximum(problem: CrossedProblem, ratings: RatingTable, found: BatchFit) -> BatchFit:
    """An ML fit of a complete balanced table (arrays of length 1) at its optimum to the digits of the mean squares:
    a search by the criterion stops at the root of them. Of other tables the fit as it is."""
    table = None if is_structured(ratings) else complete_array(ratings)
    if table is None or found.status[0] != reml.CONVERGED:
        return found
    _, m, n, _, r = table.shape
    size = balanced.Size(m, n, r)
    squares, *_ = balanced.mean_squares(table)
    sigma2, gamma = found.sigma2[0], found.gamma[0]
    start = balanced.expected_mean_squares(size, np.append(gamma, 1.0) * sigma2)
    theta = np.append(start[:4] - start[4], start[4])
    ended = by_python.polished(theta, squares[:, 0], balanced.degrees_of_freedom(size))
    gamma = ended[:4] / balanced.loadings(size) / ended[4]
    row = ratings.rating[None]
    there = fit_batch(problem, row, start=gamma[None], restricted=False, tolerance=math.inf)
    return there._replace(n_optima=found.n_optima) if there.status[0] == reml.CONVERGED else found


def fit_mean_squares(
    squares: Floats, df: Floats, size: balanced.Size, difference: Floats, mean: Floats
) -> BatchFit:
    """REML fits from mean squares (5, replicates) and means (replicates,)."""
    strata = balanced.pool(squares, df)
    expected = strata.expected
    residual = expected[balanced.RESIDUAL]
    with np.errstate(invalid="ignore", divide="ignore"):
        standard_error = np.sqrt(balanced.effect_variance(expected, size))
        gamma = (expected[:4] - residual) / balanced.loadings(size)[:, None] / residual
        status = np.where(residual > 0, reml.CONVERGED, reml.NO_RESIDUAL)
        return BatchFit(
            estimate=difference,
            baseline=mean,
            standard_error=standard_error,
            standard_error_adjusted=standard_error,
            df_satterthwaite=balanced.satterthwaite_df(strata, df),
            df_kenward_roger=balanced.kenward_roger_df(expected, df),
            criterion=_criterion(squares, expected, df, size),
            sigma2=residual,
            gamma=gamma.T,
            status=status,
            further=np.empty((len(difference), 0, 5)),
        )


def _criterion(squares: Floats, expected: Floats, df: Floats, size: balanced.Size) -> Floats:
    """-2 log restricted likelihood: strata, plus log |X'X| and log 2 pi."""
    n = size.ratings
    strata = (df[:, None] * (np.log(expected) + squares / expected)).sum(axis=0)
    return np.asarray(strata + (n - 2) * math.log(2 * math.pi) + math.log(n) + math.log(n / 4))
