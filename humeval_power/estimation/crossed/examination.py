"""A second look at one fit, exact where crossproducts lose digits, and what a design alone tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array, hstack

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed.problem import (
    DENSE_GAMMA,
    CrossedProblem,
    Levels,
    RatingTable,
    by_dense_design,
    by_dense_matrices,
)
from humeval_power.estimation.fit import Fit, structure_of
from humeval_power.kernels.crossed import dense, information, likelihood, reml, second_order
from humeval_power.kernels.crossed.likelihood import Gram

# Where the criterion is lowest at a residual of zero, and a mixed model has no usable fit.

Floats = NDArray[np.float64]

SUSPECT_SHARE = 1e-4  # of a rating's variance: a residual below this is looked at again
NO_SHARE = 1e-7  # below this there is none, and the criterion has lost too many digits to compare
TIE = 1e-6  # of the criterion: less is no difference between two ends
LEAST_RISE = 1e-4  # of the criterion towards no residual: less is rounding, and no minimum
_SMALL_TABLE = 200  # ratings up to which exact explanations are looked for
_EXACT = 1e-9  # what rounding may leave of the ratings' spread; a residual has more than 1e-4 of it

ADVICE = (
    "Collect more ratings, above all several of each worker and of each item under both systems; a paired "
    "test of the items' means (compare) needs no variances of workers."
)
EXPLAINED = (
    "Workers and items explain these ratings without any residual variation, so no standard error exists "
    f"and nothing can be tested. Are they constant, or very few? {ADVICE}"
)
RUNS_AWAY = (
    "The likelihood of this table is highest at a residual of zero: there are too few ratings to tell the "
    "variation between workers and items from that of single ratings, so nothing can be tested. "
    f"{ADVICE}"
)


def residual_share(gamma: Floats, loadings: Floats) -> Floats:
    """The residual's share of a rating's variance, for relative variances (..., q)."""
    return np.asarray(1.0 / (1.0 + np.nan_to_num(gamma, posinf=1e300) @ loadings))


def far_out(gamma: Floats, share: float) -> Floats:
    """The same variances at which the residual has no share left, in the same proportions."""
    return np.asarray(gamma * (share / NO_SHARE))


def is_explained_exactly(ratings: RatingTable) -> bool:
    """Whether the fixed effects and some of the random ones reproduce the ratings with fewer columns than
    ratings, so that the likelihood has no upper bound. Looked for in small tables only."""
    y = ratings.rating - ratings.rating.mean()
    spread = max(float(np.linalg.norm(y)), 1e-6 * float(np.linalg.norm(ratings.rating)))
    slope = ratings.system[:, None] - 0.5
    more = structure_of(ratings)
    covariates = [] if more["covariates"] is None else [more["covariates"]]
    x = np.column_stack([np.ones(len(y)), slope, *covariates])
    if len(y) > _SMALL_TABLE:
        return _leaves_nothing(x, y, spread)
    blocks = [
        columns
        for codes in (ratings.worker, ratings.item, more["document"])
        if codes is not None
        for membership in [(codes[:, None] == np.unique(codes)).astype(np.float64)]
        for columns in (membership, membership * slope)
    ]
    subsets = chain.from_iterable(combinations(blocks, size) for size in range(len(blocks) + 1))
    return any(_leaves_nothing(np.hstack([x, *subset]), y, spread) for subset in subsets)


def _leaves_nothing(columns: Floats, y: Floats, spread: float) -> bool:
    solution, _, rank, _ = np.linalg.lstsq(columns, y, rcond=1e-10)
    left = float(np.linalg.norm(y - columns @ solution))
    return bool(rank < len(y) and left <= _EXACT * spread)


def loadings(problem: CrossedProblem) -> Floats:
    """What a relative variance of 1 adds to the mean variance of a row, by column type, outer first."""
    columns = [problem.factors[place].columns for place in (*problem.outer, problem.inner)]
    return np.concatenate([(each**2).mean(axis=0) for each in columns])


# Where the searches of one fit begin, and which of their ends is kept.

Codes = NDArray[np.int64]

# Starts of a tiny table, whose criterion can have several minima: every pattern of components there or not,
# small or large, and beyond every minimum that has a residual.
_PATTERN_VALUES = ((0.0, 1.0), (0.3, 30.0), (0.0, 1e4))
_ROUNDING = 1e-9  # difference of the criterion that is none; on a ridge all ends are this close
_SAME_OPTIMUM = 1e-6  # difference of the criterion between two ends of one minimum
_PREFERENCE = {
    code: place
    for place, code in enumerate(
        (reml.CONVERGED, reml.STALLED, reml.TOO_MANY_STEPS, reml.RUNAWAY, reml.NO_RESIDUAL)
    )
}


def tiny_starts(n_components: int, *, by_difference: bool = False) -> Floats:
    """Relative variances (starts, n_components) from which the criterion of a tiny table is searched; where
    differences are analysed the intercepts have cancelled, and only those of the slopes matter."""
    size = n_components // 2 if by_difference else n_components
    patterns = [start for values in _PATTERN_VALUES for start in product(values, repeat=size) if any(start)]
    starts = np.unique(np.array(patterns), axis=0)
    if not by_difference:
        return starts
    spread = np.zeros((len(starts), n_components))
    spread[:, 1::2] = starts
    return spread


def lowest_end(criteria: Floats, status: Codes) -> int:
    """The place of the lowest end of several searches; among equals one that converged, then one that has a
    residual, then the first."""
    height = np.nan_to_num(criteria, nan=np.inf)
    height[status == reml.NO_RESIDUAL] = np.inf
    if np.isinf(height).all():
        return 0
    near = np.flatnonzero(height <= height.min() + TIE)
    rank = np.array([_PREFERENCE[int(code)] for code in status[near]])
    same = near[rank == rank.min()]
    return int(same[height[same] <= height[same].min() + _ROUNDING][0])


def count_optima(criteria: Floats, status: Codes) -> int:
    """Minima with a residual among the ends of searches, at least 1."""
    heights = np.sort(criteria[status == reml.CONVERGED])
    return 1 + int((np.diff(heights) > _SAME_OPTIMUM).sum())


class Examination(NamedTuple):
    """A second look at one fit: exact criterion and residual sum of squares, (X'H^-1X)^-1, and the
    information quantities at its gamma."""

    criterion: float
    rss: float
    phi: Floats
    information: information.Information


def examine(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> Examination:
    """Evaluate a fit at relative variances `gamma` (q,) from its residuals.

    y'Py is the minimum of |y - Xb - Zu|^2 + u'u / gamma over b and u. Taken from the residuals themselves
    it keeps all its digits, where crossproducts would cancel them if the variance ratios are large.
    """
    center = response.mean()
    products = problem.products(response[None] - center)
    kernel_gamma = np.ascontiguousarray(problem.to_kernel(gamma), dtype=np.float64)
    with one_blas_thread():
        response_of_one = likelihood.Response(*(part[0] for part in products))
        prof, log_det, info = _examine(problem, response_of_one, kernel_gamma, restricted)
    seen, effects = outer_effects(problem, prof, kernel_gamma)
    inner_u = prof.inner_py * kernel_gamma[-prof.inner_py.shape[1] :]
    levels = zip(problem.design.begin[:-1], problem.outer, strict=True)
    random = sum(effects[begin + problem.factors[place].codes] for begin, place in levels)
    random = random + inner_u[problem.factors[problem.inner].codes]
    centered = response - center
    if problem.weights is not None:
        centered = problem.weights @ centered
    n, p = problem.x.shape
    q = random.shape[1]  # the columns of every factor are the first of the fixed effects
    residual = centered - ((random + prof.beta[:q]) * problem.x[:, :q]).sum(axis=1)
    if p > q:
        residual = residual - problem.x[:, q:] @ prof.beta[q:]
    penalty = (effects * seen).sum() + (inner_u * prof.inner_py).sum()
    rss = float(residual @ residual + penalty)
    df = n - p if restricted else n
    criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + log_det + problem.log_det
    if restricted:
        criterion -= np.linalg.slogdet(prof.phi)[1]
    return Examination(float(criterion), rss, prof.phi, info)


def outer_effects(
    problem: CrossedProblem, prof: likelihood.Profile, kernel_gamma: Floats
) -> tuple[Floats, Floats]:
    """Z'Py of the outer levels, kind by kind, and their predicted effects, both (n_outer, q)."""
    qa = len(problem.design.outer_types)
    by_kind = kernel_gamma[: len(problem.outer) * qa].reshape(-1, qa)
    seen = prof.outer_py.reshape(-1, qa)
    return seen, seen * np.repeat(by_kind, np.diff(problem.design.begin), axis=0)


def design_information(problem: CrossedProblem, gamma: Floats) -> tuple[information.Information, Floats]:
    """Information at relative variances `gamma` (q,), and (X'H^-1X)^-1, without any response."""
    gamma = problem.to_kernel(gamma)
    if problem.is_iterative:
        from humeval_power.estimation.large.iterative import information_at

        return information_at(problem, gamma)
    if by_dense_design(problem.design, gamma):
        with one_blas_thread():
            return dense.design_information(problem.design, gamma)
    with one_blas_thread():
        prof, _, info = _examine(problem, dense.no_response(problem.design), gamma, True)
    return info, prof.phi


def gram_information(gram: Gram, gamma: Floats) -> tuple[information.Information, Floats]:
    """The same for any columns, at relative variances in the kernel's order."""
    if by_dense_design(gram, gamma):
        with one_blas_thread():
            return dense.design_information(gram, gamma)
    with one_blas_thread():
        prof, _, info = _looked(second_order.examine, gram, dense.no_response(gram), gamma, True)
    return info, prof.phi


def _examine(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats, restricted: bool
) -> tuple[likelihood.Profile, float, information.Information]:
    """Profile, log |H| and information at relative variances in the kernel's order."""
    if gamma.max() <= DENSE_GAMMA and by_dense_matrices(problem.design):
        return _looked(dense.examine, problem.design, response, gamma, restricted)
    if problem.is_large:
        from humeval_power.kernels.large import information as large_information

        return _looked(large_information.examine, problem.large, response, gamma, restricted)
    return _looked(second_order.examine, problem.gram, response, gamma, restricted)


def _looked(
    look: Any, design: Any, response: likelihood.Response, gamma: Floats, restricted: bool
) -> tuple[likelihood.Profile, float, information.Information]:
    """What one engine sees of a response, with the residual's part of the information."""
    room = room_for(len(gamma), len(design.xx))
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    prof, factor, trace = look(design, response, gamma, restricted, room.norm, room.xgx, room.xggx)
    info = information.with_residual(gamma, trace, room.norm, room.xgx, room.xggx, prof.phi, design.n)
    return prof, factor.log_det, info


def room_for(q: int, p: int, *lead: int) -> information.Fitted:
    """Room for what the kernels find in fits of q column types and p coefficients."""
    shapes = ((q,), (p, p), (), (q,), (q, q), (q,), (q, q), (q, p, p), (q, q, p, p))
    return information.Fitted(*(np.zeros((*lead, *shape)) for shape in shapes))


# Fits whose criterion is lowest at a residual of zero: none of their numbers means anything.


def profile_at(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats, *, restricted: bool
) -> likelihood.Profile:
    """The profile of one response at relative variances in the kernel's order."""
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    if problem.is_large:
        from humeval_power.kernels.large import factored

        factor = factored.factorise(problem.large, gamma)
        return factored.profile(problem.large, response, factor, restricted)
    profile: likelihood.Profile = second_order.evaluate(problem.gram, response, gamma, restricted)[1]
    return profile


def with_runaways(
    problem: CrossedProblem,
    products: tuple[Floats, ...],
    gamma: Floats,
    criterion: Floats,
    status: Codes,
    restricted: bool,
) -> Codes:
    """The status of each fit, RUNAWAY where the criterion does not rise as the residual vanishes.

    Only fits whose residual has next to no share of the variance are looked at, so that this costs nothing.
    """
    share = residual_share(gamma, loadings(problem))
    suspect = (share < SUSPECT_SHARE) & (status != reml.NO_RESIDUAL)
    for row in np.flatnonzero(suspect).tolist():
        lower = True
        if share[row] > NO_SHARE:
            far = far_out(gamma[row], float(share[row]))
            beyond = _criterion_at(problem, products, row, far, restricted)
            lower = beyond <= criterion[row] + LEAST_RISE
        if lower:
            status[row] = reml.RUNAWAY
    return status


def _criterion_at(
    problem: CrossedProblem, products: tuple[Floats, ...], row: int, gamma: Floats, restricted: bool
) -> float:
    """The criterion of one response at relative variances in the kernel's order."""
    response = likelihood.Response(*(part[row] for part in products))
    return float(profile_at(problem, response, gamma, restricted=restricted).criterion)


def runs_away(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> bool:
    """Whether the criterion at relative variances `gamma` (q,) is not below that without a residual."""
    kernel_gamma = np.array(problem.to_kernel(np.asarray(gamma, dtype=np.float64)))[None]
    products = problem.products(response[None] - response.mean())
    here = np.full(1, np.inf)
    share = residual_share(kernel_gamma, loadings(problem))[0]
    with one_blas_thread():
        if share > NO_SHARE:
            here[0] = _criterion_at(problem, products, 0, kernel_gamma[0], restricted)
        status = np.array([reml.CONVERGED])
        with_runaways(problem, products, kernel_gamma, here, status, restricted)
    return bool(status[0] == reml.RUNAWAY)


def far_criterion(problem: CrossedProblem, response: Floats, gamma: Floats, restricted: bool) -> float:
    """The criterion where next to no residual is left, from a dense matrix of the rows: crossproducts have
    lost their digits there, and can look lower than anything."""
    kernel_gamma = problem.to_kernel(0.5 * gamma[1::2] if problem.is_difference else gamma)
    share = float(residual_share(kernel_gamma, loadings(problem)))
    if share < NO_SHARE:
        kernel_gamma = far_out(kernel_gamma, share)
    n, p = problem.x.shape
    H = np.eye(n)
    own = problem.from_kernel(kernel_gamma).reshape(len(problem.factors), -1)
    for (codes, columns), part in zip(problem.factors, own, strict=True):
        H += ((columns * part) @ columns.T) * (codes[:, None] == codes)
    y = response - response.mean()
    y = y if problem.weights is None else np.asarray(problem.weights @ y)
    lower = np.linalg.cholesky(H)
    half = np.linalg.solve(lower, np.column_stack([problem.x, y]))
    triangle: Floats = np.linalg.qr(half)[1]
    df = n - p if restricted else n
    log_det = 2.0 * np.log(np.diag(lower)).sum() + problem.log_det
    if restricted:
        log_det += 2.0 * np.log(np.abs(np.diag(triangle)[:p])).sum()
    return float(df * (1.0 + np.log(2.0 * np.pi * max(float(triangle[p, p]) ** 2, 1e-300) / df)) + log_det)


# The effect of a part of a study at the variances of the whole study: no search, one solve.

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
            profile = profile_at(problem, products, gamma, restricted=fitted.estimator == "reml")
            beta, phi = profile.beta, profile.phi
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
