"""Ordinal and yes/no ratings by crossed workers and items (and documents): arrays in, fits out.

P(y <= c | eta) = F(tau_c - eta) with F normal or logistic. The criterion is the restricted likelihood, fixed
effects and thresholds integrated out with the random effects by Laplace's method; for binary ratings it is
that of glmmTMB with REML = TRUE. The integral is over the raw thresholds, not their logarithmic differences.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.latent.search import (
    CONVERGED,
    NO_MODE,
    ONE_CATEGORY,
    SEPARATED,
    STALLED,
    TOO_FEW_CATEGORIES,
    TOO_MANY_STEPS,
    LatentFits,
    LatentTable,
    of_one_level,
)
from humeval_power.kernels.latent.mode import LatentLayout
from humeval_power.latent import Link

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

MESSAGES = {  # of the ends of a search that are a fit
    CONVERGED: "converged",
    STALLED: "no step lowers the criterion, yet its slope is not zero",
    TOO_MANY_STEPS: "too many steps",
}
# Fall of the criterion that a further step would bring: of one table, and of simulated replicates.
_TOLERANCE = 1e-10
_BATCH_TOLERANCE = 1e-6
_START = {"probit": 0.25, "logit": 0.7}  # variances of a search without a start
_FURTHER_STARTS = (0.1, 4.0)  # of a small single table, relative to the first
_SMALL_TABLE = 500  # ratings up to which a single fit starts from all of them; the best end is kept
_LARGEST_ERROR = 30.0  # standard error in latent SDs, beyond which a coefficient has run away
_CHUNK = 16  # replicates a thread takes at a time


@dataclass(frozen=True, eq=False)
class LatentProblem:
    """What depends on the design alone. Of workers and items, the factor with more levels is eliminated.

    order : (n,), the ratings sorted by that factor
    components : where each component of the public order is in the kernel's
    contrast : (n,), the column of the effect, in the order of the ratings given
    symmetric : thresholds are (-t, t), or zero
    """

    layout: LatentLayout
    order: Codes
    components: Codes
    contrast: Floats
    symmetric: bool

    @classmethod
    def of_design(
        cls,
        worker: Codes,
        item: Codes,
        system: Codes,
        *,
        document: Codes | None = None,
        covariates: Floats | None = None,
    ) -> LatentProblem:
        """Workers, items and documents with an intercept and a slope in x each, x = -1/2 for system 0 and
        +1/2 for system 1; fixed effects x and the columns of `covariates` (n, k); free thresholds."""
        x = np.asarray(system, dtype=np.float64) - 0.5
        fixed = x[:, None] if covariates is None else np.column_stack([x, covariates])
        return cls._of_columns(worker, item, document, np.column_stack([np.ones(len(x)), x]), fixed, False)

    @classmethod
    def of_preferences(cls, worker: Codes, item: Codes, *, position: Floats | None = None) -> LatentProblem:
        """Preferences between two outputs: categories 0 loss, 1 tie, 2 win of B, or 0 and 1 without ties.

        Workers and items have an intercept each; fixed effects are the strength of B and, if given,
        `position`, +1/2 where B was shown first and -1/2 where A was. Thresholds are -t and t.
        """
        one = np.ones((len(worker), 1))
        fixed = one if position is None else np.column_stack([one, position])
        return cls._of_columns(worker, item, None, one, fixed, True)

    @classmethod
    def _of_columns(
        cls,
        worker: Codes,
        item: Codes,
        document: Codes | None,
        z: Floats,
        fixed: Floats,
        symmetric: bool,
    ) -> LatentProblem:
        q = z.shape[1]
        worker_is_dense = int(np.max(worker)) <= int(np.max(item))
        dense, eliminated = (worker, item) if worker_is_dense else (item, worker)
        order = np.lexsort((dense, eliminated))
        factors = [dense] if document is None else [dense, document]
        sizes = [int(np.max(codes)) + 1 for codes in factors]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        block = np.column_stack([codes + begin for codes, begin in zip(factors, first, strict=True)])[order]
        levels = np.asarray(eliminated)[order]
        n_levels, n_blocks = int(levels[-1]) + 1, sum(sizes)
        met, place = np.unique(levels[:, None] * np.int64(n_blocks) + block, return_inverse=True)
        list_start = np.searchsorted(met, np.arange(n_levels + 1) * np.int64(n_blocks))
        place = place.reshape(block.shape) - list_start[levels][:, None]
        layout = LatentLayout(
            start=np.searchsorted(levels, np.arange(n_levels + 1)).astype(np.int64),
            block=np.ascontiguousarray(block, dtype=np.int64),
            place=np.ascontiguousarray(place, dtype=np.int64),
            list_start=list_start.astype(np.int64),
            listed=(met % n_blocks).astype(np.int64),
            kind=np.repeat(np.arange(len(sizes)), sizes).astype(np.int64),
            z=np.ascontiguousarray(z[order]),
            fixed=np.ascontiguousarray(fixed[order], dtype=np.float64),
        )
        types = np.arange((len(sizes) + 1) * q).reshape(-1, q)  # dense, [document,] eliminated
        factor_order = [0, len(sizes)] if worker_is_dense else [len(sizes), 0]
        factor_order += [1] if document is not None else []
        return cls(layout, order, types[factor_order].ravel(), np.asarray(fixed[:, 0]), symmetric)


class Start(NamedTuple):
    """Where a search starts: `sd` (q,) in the order of `LatentBatch.sd`, thresholds (C-1,), coefficients."""

    sd: Floats
    thresholds: Floats
    coefficients: Floats


class LatentBatch(NamedTuple):
    """Fits of many tables of categories to one design; the first axis of every array is the replicate.

    effect : (n,), the first coefficient, on the latent scale; its standard error at the fit, and adjusted
        for the estimation of the variances (Kenward and Roger 1997)
    df : (n,), 2 Phi^2 / g' I^-1 g; NaN where the information is singular
    criterion : (n,), -2 log restricted likelihood by Laplace's method, without the constant -k log 2 pi of
        the k thresholds and coefficients that are integrated out
    thresholds : (n, C-1), of categories that a replicate does not use: equal to their neighbour, or infinite
        at the ends
    coefficients : (n, p); fixed_covariance : (n, C-1+p, C-1+p) of thresholds and coefficients, zero where a
        threshold is infinite or fixed
    sd : (n, q), worker intercept, worker slope, item intercept, item slope[, document intercept, slope];
        for preferences worker and item
    information : (n, q, q), expected, of the variances
    status : (n,), 0 converged, else a code of `latent_search`; all numbers are NaN where there is no fit
    """

    effect: Floats
    standard_error: Floats
    standard_error_adjusted: Floats
    df: Floats
    criterion: Floats
    thresholds: Floats
    coefficients: Floats
    fixed_covariance: Floats
    sd: Floats
    information: Floats
    status: Codes


def fit_latent_batch(
    problem: LatentProblem,
    categories: NDArray[np.integer],
    *,
    n_categories: int,
    link: Link,
    start: Start | None = None,
    restricted: bool = True,
    n_jobs: int = 1,
) -> LatentBatch:
    """Fit every row of `categories` (replicates, n), codes 0 to n_categories - 1.

    With a `start` (the generating values, or an earlier fit) every replicate's search begins there. A single
    table without one is fitted to a finer tolerance and, if small, from several starts; the best end is kept.
    Each replicate depends on its own ratings and on `start` alone.

    Without `restricted` the criterion is -2 log likelihood by Laplace's method, minimised over thresholds and
    coefficients too, as glmer and clmm do.

    Raises
    ------
    ValueError
        Preferences with other than 2 or 3 categories, or codes beyond `n_categories`.
    """
    if problem.symmetric and n_categories not in (2, 3):
        raise ValueError("preferences have 2 or 3 categories")
    if categories.min() < 0 or categories.max() >= n_categories:
        raise ValueError("a category is beyond the number of categories")
    status = _without_a_fit(problem, categories, n_categories)
    single = start is None and len(categories) == 1
    variances = np.full(len(problem.components), _START[link])
    fixed = np.empty(0)
    if start is not None:
        variances[problem.components] = np.square(start.sd)
        fixed = np.concatenate([start.thresholds, start.coefficients])
    ordered = np.ascontiguousarray(categories[:, problem.order], dtype=np.int64)
    starts = [variances]
    if single and categories.shape[1] <= _SMALL_TABLE:
        starts += [variances * factor for factor in _FURTHER_STARTS]
    fits = LatentFits.empty(problem.layout, len(categories), n_categories, status)
    tolerance = _TOLERANCE if single else _BATCH_TOLERANCE

    def run(first: int) -> None:
        for row in range(first, min(first + _CHUNK, len(categories))):
            if status[row] == CONVERGED:
                table = LatentTable.of(
                    problem.layout,
                    ordered[row],
                    n_categories,
                    symmetric=problem.symmetric,
                    logit=link == "logit",
                    restricted=restricted,
                )
                table.fit(starts, fixed, tolerance, fits, row)

    firsts = range(0, len(categories), _CHUNK)
    with one_blas_thread():
        if n_jobs == 1 or len(firsts) == 1:
            for first in firsts:
                run(first)
        else:
            with ThreadPoolExecutor(n_jobs) as pool:
                list(pool.map(run, firsts))
    return _results(problem, fits, n_categories)


def _without_a_fit(problem: LatentProblem, categories: NDArray[np.integer], n_categories: int) -> Codes:
    """ONE_CATEGORY, TOO_FEW_CATEGORIES or SEPARATED where the ratings alone show it, else CONVERGED.

    The effect runs away if no rating of one system is above any of the other (Albert and Anderson 1984).
    Preferences whose ties leave only wins, or only losses, run away as well.
    """
    status = np.full(len(categories), CONVERGED)
    lowest, highest = categories.min(axis=1), categories.max(axis=1)
    if problem.symmetric:
        if n_categories == 3:
            one_sided = (lowest == 1) | (highest == 1)
            status[one_sided] = TOO_FEW_CATEGORIES
    else:
        high = problem.contrast > problem.contrast.min()
        parts = categories[:, ~high], categories[:, high]
        if all(part.shape[1] for part in parts):
            (low_a, high_a), (low_b, high_b) = ((part.min(axis=1), part.max(axis=1)) for part in parts)
            status[(high_a <= low_b) | (high_b <= low_a)] = SEPARATED
    status[lowest == highest] = ONE_CATEGORY
    return status


def _results(problem: LatentProblem, fits: LatentFits, n_categories: int) -> LatentBatch:
    """The public order of components, standard errors and degrees of freedom."""
    n_cuts = n_categories - 1
    order = problem.components
    variance, norm = fits.variance[:, order], fits.norm[:, order]
    information = fits.information[:, order][:, :, order]
    products = fits.products[:, order][:, :, order]
    phi = fits.covariance[:, n_cuts, n_cuts]
    inverse = _inverses(information, ~of_one_level(problem.layout)[order])
    with np.errstate(invalid="ignore", divide="ignore"):
        df = 2.0 * phi**2 / np.einsum("ra,rab,rb->r", norm, inverse, norm)
        adjusted = phi + 2.0 * np.einsum("rab,rab->r", inverse, products)
        df[~(np.isfinite(df) & (df > 0.0))] = np.nan
        errors = np.sqrt(np.diagonal(fits.covariance, axis1=1, axis2=2))
        standard_error_adjusted = np.sqrt(adjusted)
    width = np.ptp(problem.layout.fixed, axis=0)
    width[width == 0.0] = 1.0
    runaway = (errors[:, n_cuts:] * width).max(axis=1) > _LARGEST_ERROR
    status = fits.status
    status[runaway] = SEPARATED
    no_fit = np.isin(status, (NO_MODE, ONE_CATEGORY, TOO_FEW_CATEGORIES, SEPARATED))
    fits.covariance[no_fit] = np.nan
    blank = np.where(no_fit, np.nan, 1.0)
    return LatentBatch(
        effect=fits.fixed[:, n_cuts] * blank,
        standard_error=errors[:, n_cuts] * blank,
        standard_error_adjusted=standard_error_adjusted * blank,
        df=df * blank,
        criterion=fits.criterion * blank,
        thresholds=fits.fixed[:, :n_cuts] * blank[:, None],
        coefficients=fits.fixed[:, n_cuts:] * blank[:, None],
        fixed_covariance=fits.covariance,
        sd=np.sqrt(variance) * blank[:, None],
        information=information * blank[:, None, None],
        status=status,
    )


def _inverses(information: Floats, estimated: NDArray[np.bool_]) -> Floats:
    """The inverse of each information matrix, NaN where it is singular to rounding; zero for variances that
    are not estimated."""
    if not estimated.all():
        whole = np.zeros(information.shape)
        kept = np.flatnonzero(estimated)
        part = np.ix_(np.arange(len(information)), kept, kept)
        if len(kept):
            whole[part] = _inverses(information[part], estimated[kept])
        return whole
    inverse = np.full(information.shape, np.nan)
    finite = np.flatnonzero(np.isfinite(information).all(axis=(1, 2)))
    scale = np.sqrt(np.diagonal(information[finite], axis1=1, axis2=2))
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = information[finite] / (scale[:, :, None] * scale[:, None, :])
    good = np.flatnonzero(np.isfinite(scaled).all(axis=(1, 2)))
    good = good[np.linalg.cond(scaled[good]) < 1e12]
    outer = scale[good][:, :, None] * scale[good][:, None, :]
    inverse[finite[good]] = np.linalg.inv(scaled[good]) / outer
    return inverse


__all__ = [
    "CONVERGED",
    "MESSAGES",
    "NO_MODE",
    "ONE_CATEGORY",
    "SEPARATED",
    "STALLED",
    "TOO_FEW_CATEGORIES",
    "TOO_MANY_STEPS",
    "LatentBatch",
    "LatentProblem",
    "Start",
    "fit_latent_batch",
]
