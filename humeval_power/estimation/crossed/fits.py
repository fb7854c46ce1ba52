"""The native engine: rating tables to crossproducts to fits, one table or thousands of replicates."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.examination import (
    EXPLAINED,
    RUNS_AWAY,
    Examination,
    count_optima,
    far_criterion,
    lowest_end,
    room_for,
    tiny_starts,
    with_runaways,
)
from humeval_power.estimation.crossed.problem import (
    CHUNK,
    DENSE_GAMMA,
    CrossedProblem,
    Levels,
    RatingTable,
    by_dense_matrices,
)
from humeval_power.estimation.fit import is_structured
from humeval_power.estimation.large.probed_search import NO_LIKELIHOOD, MonteCarlo
from humeval_power.kernels.crossed import balanced, by_python, dense, information, reml
from humeval_power.kernels.crossed.even_designs import (
    EvenDesign,
    evaluate,
    newton_directions,
    second_order,
    sums_of,
)
from humeval_power.kernels.crossed.likelihood import Response

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Fall of the criterion that a further step would bring: of one table, and of simulated replicates.
_TOLERANCE = 1e-10
BATCH_TOLERANCE = 1e-8
MAX_STEPS = 200
_STARTS = (0.1, 1.0, 0.001)  # relative variances to start a single fit from; the best end is kept
_SMALL_TABLE = 2_000  # worker-item pairs up to which a fit starts from all of them
_TINY_TABLE = 150  # ratings up to which all of these take a twentieth of a second
MESSAGES = {
    reml.CONVERGED: "converged",
    reml.STALLED: "no step lowers the criterion, yet its slope is not zero",
    reml.TOO_MANY_STEPS: "too many steps",
}


def check_ended_well(status: int) -> None:
    """Raise FitError, and say why, where the status of a fit is that of none."""
    if status == reml.NO_RESIDUAL:
        raise FitError(EXPLAINED)
    if status == reml.RUNAWAY:
        raise FitError(RUNS_AWAY)
    if status != reml.CONVERGED:
        raise FitError(
            f"The fit did not converge ({MESSAGES.get(status, status)}): more ratings are needed."
        )


class BatchFit(NamedTuple):
    """Fits of many responses to one design; the first axis of every array is the replicate.

    gamma : (replicates, q), variances relative to the residual's, in the order of the problem's components;
        those of the intercepts are NaN where differences were analysed, and so is the baseline.
    status : 0 converged, otherwise a code of kernels.reml; RUNAWAY where the criterion is lowest at a
        residual of zero, so that no number of the fit means anything.
    further : (replicates, contrasts, 5), of each further contrast that was asked for the estimate, and its
        precision in the order of `information.Precision`.
    n_optima : minima of the criterion that were found; 1 where the search had one start.
    examination : of one fit whose search leaves it behind; monte_carlo : what its random probes leave uncertain.
    """

    estimate: Floats
    baseline: Floats
    standard_error: Floats
    standard_error_adjusted: Floats
    df_satterthwaite: Floats
    df_kenward_roger: Floats
    criterion: Floats
    sigma2: Floats
    gamma: Floats
    status: Codes
    further: Floats
    n_optima: int = 1
    examination: Examination | None = None
    monte_carlo: MonteCarlo | None = None


def fit_batch(
    problem: CrossedProblem,
    responses: Floats,
    *,
    start: Floats,
    restricted: bool = True,
    n_jobs: int = 1,
    tolerance: float = BATCH_TOLERANCE,
    contrasts: Floats | None = None,
    side_by_side: bool = False,
) -> BatchFit:
    """Fit every row of `responses` (replicates, n), starting at relative variances `start`: (q,), or
    (replicates, q) for a start of its own for each. `contrasts` (c, p) are further ones to test. `side_by_side`
    says that these are some of many replicates: those of an even design are then fitted together."""
    if side_by_side and problem.even is not None:
        return _fit_side_by_side(problem, responses, start, restricted, n_jobs, tolerance, contrasts)
    if problem.is_iterative:
        return _each_iterative(problem, responses, restricted, contrasts)
    n = len(responses)
    own_starts = start.ndim == 2
    by_difference = problem.is_difference
    if by_difference:
        start = 0.5 * start[..., 1::2]  # slopes relative to the variance of a difference, 2 sigma^2
    center = np.zeros(n) if by_difference else responses.mean(axis=1)
    products = problem.products(responses - center[:, None])
    q, p = start.shape[-1], problem.x.shape[1]
    status = np.empty(n, dtype=np.int64)
    criterion, beta = np.empty(n), np.empty((n, p))
    fitted = room_for(q, p, n)
    kernel_start = np.ascontiguousarray(problem.to_kernel(start), dtype=np.float64)
    filled = (status, criterion, beta, *fitted)
    chunk = 1 if own_starts else min(CHUNK, max(-(-n // n_jobs), 1))  # few large tables keep all busy
    by_dense = by_dense_matrices(problem.design)
    search, design = _search_of(problem, by_dense=by_dense)

    def run(first: int) -> None:
        part = slice(first, first + chunk)
        search(
            design,
            tuple(product[part] for product in products),
            kernel_start[first] if own_starts else kernel_start,
            restricted,
            tolerance,
            MAX_STEPS,
            *(field[part] for field in filled),
        )

    with one_blas_thread():
        if n_jobs == 1 or n <= chunk:
            for first in range(0, n, chunk):
                run(first)
        else:
            with ThreadPoolExecutor(n_jobs) as pool:
                list(pool.map(run, range(0, n, chunk)))
        if by_dense and not ((status == reml.CONVERGED) & (fitted.gamma.max(axis=1) <= DENSE_GAMMA)).all():
            search, design = _search_of(problem, by_dense=False)
            for first in range(0, n, chunk):
                run(first)
    status = with_runaways(problem, products, fitted.gamma, criterion, status, restricted)
    return _batch_of(problem, filled, center, restricted, contrasts)


def _fit_side_by_side(
    problem: CrossedProblem,
    responses: Floats,
    start: Floats,
    restricted: bool,
    n_jobs: int,
    tolerance: float,
    contrasts: Floats | None,
) -> BatchFit:
    """What `fit_batch` does, for an even design and one start: all together, then one by one those that did not
    converge or have variances at which sums of squares would lose digits."""
    even = problem.even
    assert even is not None  # checked by the caller
    by_difference, n = problem.is_difference, len(responses)
    center = np.zeros(n) if by_difference else responses.mean(axis=1)
    rows = responses - center[:, None]
    if problem.weights is not None:
        rows = (problem.weights @ rows.T).T
    first_step = problem.to_kernel(0.5 * start[1::2] if by_difference else start)
    filled = fit_replicates(even, rows, first_step, restricted, tolerance, MAX_STEPS, n_jobs)
    batch = _batch_of(problem, filled, center, restricted, contrasts)
    status, gamma = filled[0], filled[3]
    left = (status != reml.CONVERGED) | ~(gamma.max(axis=1) <= DENSE_GAMMA)
    if left.any():
        again = fit_batch(
            problem,
            responses[left],
            start=start,
            restricted=restricted,
            n_jobs=n_jobs,
            tolerance=tolerance,
            contrasts=contrasts,
        )
        for part, values in zip(_parts(batch), _parts(again), strict=True):
            part[left] = values
    return batch


def _batch_of(
    problem: CrossedProblem,
    filled: tuple[Any, ...],
    center: Floats,
    restricted: bool,
    contrasts: Floats | None,
) -> BatchFit:
    """The fits in the order of the problem's components, and their precision, from status, criterion, coefficients
    and the fields of `information.Fitted`."""
    status, criterion, beta, *fields = filled
    fitted = information.Fitted(*fields)
    n, p = beta.shape
    with one_blas_thread():
        contrast = problem.contrast
        look = partial(information.precision, fitted, n=problem.design.n, restricted=restricted)
        accuracy = look(contrast)
        wanted = [] if contrasts is None else list(contrasts)
        further = [np.stack([beta @ each, *look(each)], axis=1) for each in wanted]
    for df in (accuracy.df_satterthwaite, accuracy.df_kenward_roger):
        df[np.isinf(df)] = np.nan  # the information was not positive: no df at all
    estimate, baseline = (beta * contrast).sum(axis=1), beta[:, 0]
    sigma2 = fitted.rss / (problem.design.n - p if restricted else problem.design.n)
    gamma = problem.from_kernel(fitted.gamma)
    if problem.is_difference:  # 2 sigma^2 is the variance of a difference; the intercepts have cancelled
        slopes, gamma = 2.0 * gamma, np.full((n, problem.n_components), np.nan)
        gamma[:, 1::2] = slopes
        baseline, sigma2 = np.full(n, np.nan), sigma2 / 2.0
    return BatchFit(
        estimate=estimate,
        baseline=baseline + center,
        **accuracy._asdict(),
        criterion=criterion + problem.log_det,
        sigma2=sigma2,
        gamma=gamma,
        status=status,
        further=np.stack(further, axis=1) if further else np.empty((n, 0, 5)),
    )


def _each_iterative(
    problem: CrossedProblem, responses: Floats, restricted: bool, contrasts: Floats | None
) -> BatchFit:
    """Fits of a table that is very large, one after the other; each uses all cores."""
    from humeval_power.estimation.large.iterative import fit_iterative

    fits = [fit_iterative(problem, each, restricted=restricted, contrasts=contrasts) for each in responses]
    return BatchFit._make([*map(np.concatenate, zip(*map(_parts, fits), strict=True)), 1, None, None])


def _search_of(problem: CrossedProblem, *, by_dense: bool) -> tuple[Any, Any]:
    """The search that fits many responses, and the design as it takes it."""
    if by_dense:
        return dense.fit_many, problem.design
    if problem.is_large:
        from humeval_power.kernels.large import information as large_information

        return large_information.fit_many, problem.large
    return reml.fit_many, problem.gram


def fit_one(
    problem: CrossedProblem,
    response: Floats,
    *,
    restricted: bool = True,
    contrasts: Floats | None = None,
    near: Floats | None = None,
) -> BatchFit:
    """Fit one response (n,) and keep the lowest criterion found (arrays of length 1).

    near : relative variances (q,) where the search of a table begins that has one start alone.

    Small tables are searched from several starts, tiny ones from every pattern of components. Where a
    component ends at zero the search is repeated from a positive value: the criterion can have a second,
    lower minimum inside. Of ends that are equally low one with a residual is kept: where the table does
    not identify the variances, the residual can be traded for others. Very large tables are searched once, by
    conjugate gradients.
    """
    if problem.is_iterative:
        from humeval_power.estimation.large.iterative import fit_iterative

        return fit_iterative(problem, response, restricted=restricted, contrasts=contrasts)

    def search(starts: Floats) -> BatchFit:
        responses = np.repeat(response[None], len(starts), axis=0)
        return fit_batch(
            problem,
            responses,
            start=starts,
            restricted=restricted,
            tolerance=_TOLERANCE,
            contrasts=contrasts,
        )

    ends = search(_starts(problem, len(response), near))
    if len(response) <= _TINY_TABLE:
        for row in np.flatnonzero(ends.status == reml.RUNAWAY).tolist():
            ends.criterion[row] = far_criterion(problem, response, ends.gamma[row], restricted)
    best = lowest_end(ends.criterion, ends.status)
    zero = ends.gamma[best] == 0
    if zero.any() and ends.status[best] not in (reml.NO_RESIDUAL, reml.RUNAWAY):
        ends = _joined(ends, search(np.where(zero, 0.01, np.nan_to_num(ends.gamma[best]))[None]))
        best = lowest_end(ends.criterion, ends.status)
    kept = slice(best, best + 1)
    kept_parts = [part[kept] for part in _parts(ends)]
    return BatchFit._make([*kept_parts, count_optima(ends.criterion, ends.status), None, None])


def _joined(first: BatchFit, second: BatchFit) -> BatchFit:
    pairs = zip(_parts(first), _parts(second), strict=True)
    return BatchFit._make([*(np.concatenate(pair) for pair in pairs), 1, None, None])


def _parts(fits: BatchFit) -> list[Any]:
    """The arrays of a batch, without what belongs to single fits."""
    return list(fits[: BatchFit._fields.index("n_optima")])


def _starts(problem: CrossedProblem, n_ratings: int, near: Floats | None) -> Floats:
    size = problem.n_components
    if len(problem.design.outer) > _SMALL_TABLE:
        return np.full((1, size), _STARTS[0]) if near is None else np.maximum(near, _STARTS[2])[None]
    starts = np.repeat(np.array(_STARTS)[:, None], size, axis=1)
    if n_ratings > _TINY_TABLE:
        return starts
    return np.vstack([starts, tiny_starts(size, by_difference=problem.is_difference)])


# Complete balanced tables by their mean squares: REML without iteration, and the end of a search for ML.


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


def at_maximum(problem: CrossedProblem, ratings: RatingTable, fit: BatchFit) -> BatchFit:
    """An ML fit of a complete balanced table (arrays of length 1) at its optimum to the digits of the mean squares:
    a search by the criterion stops at the root of them. Of other tables the fit as it is."""
    table = None if is_structured(ratings) else complete_array(ratings)
    if table is None or fit.status[0] != reml.CONVERGED:
        return fit
    _, m, n, _, r = table.shape
    size = balanced.Size(m, n, r)
    squares, *_ = balanced.mean_squares(table)
    sigma2, gamma = fit.sigma2[0], fit.gamma[0]
    start = balanced.expected_mean_squares(size, np.append(gamma, 1.0) * sigma2)
    theta = np.append(start[:4] - start[4], start[4])
    ended = by_python.polished(theta, squares[:, 0], balanced.degrees_of_freedom(size))
    gamma = ended[:4] / balanced.loadings(size) / ended[4]
    row = ratings.rating[None]
    there = fit_batch(problem, row, start=gamma[None], restricted=False, tolerance=math.inf)
    return there._replace(n_optima=fit.n_optima) if there.status[0] == reml.CONVERGED else fit


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


# The worker-item interaction: what a worker and an item share under both systems.

_LARGEST = 1e3  # variance of the interaction relative to the residual's
_GRID = np.concatenate([[0.0], np.geomspace(1e-3, _LARGEST, 13)])


def best_share(ratings: RatingTable, *, restricted: bool) -> float:
    """Variance of the worker-item term relative to the residual's that minimises the criterion.

    One dimension over the profile of everything else: a coarse grid, then Brent's method around its
    best point.

    Raises
    ------
    InputError
        A table in which no worker rated an item twice, under whatever system: the term and the
        residual are then one. A table that is too large for its criterion.
    """
    from scipy import optimize

    if CrossedProblem.of_ratings(ratings).is_iterative:
        raise InputError(
            f"The worker-item term is found by comparing likelihoods, and {NO_LIKELIHOOD}. Leave it out, or "
            "analyse differences B - A, which it cannot touch."
        )
    pair = ratings.worker * np.int64(int(ratings.item.max()) + 1) + ratings.item
    if len(np.unique(pair)) == len(pair):
        raise InputError(
            "The worker-item term cannot be told from the residual: no worker rated an item twice. "
            "Leave it out."
        )
    criterion = _criterion_of_share(ratings, restricted=restricted)
    values = [criterion(share) for share in _GRID]
    best = int(np.argmin(values))
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
    optimum = optimize.minimize_scalar(
        criterion, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    share = float(optimum.x) if optimum.fun < values[best] else float(_GRID[best])
    return 0.0 if values[0] <= min(values[best], float(optimum.fun)) + 1e-9 else share


def _criterion_of_share(ratings: RatingTable, *, restricted: bool) -> Callable[[float], float]:
    """The criterion, everything else profiled out, as a function of the relative variance of the term."""
    problem = CrossedProblem.of_ratings(ratings)
    start = np.full(problem.n_components, 0.1)

    def criterion(share: float) -> float:
        changed = problem.with_interaction(ratings.worker, ratings.item, share)
        fit = fit_batch(changed, ratings.rating[None], start=start, restricted=restricted, tolerance=1e-10)
        return float(np.nan_to_num(fit.criterion[0], nan=np.inf))

    return criterion


_SHARE_COLUMNS = (
    1_500  # of dense matrices; in larger tables the share's own error moves df by less than 0.1 %
)


def with_uncertain_share(
    fit: BatchFit,
    problem: CrossedProblem,
    ratings: RatingTable,
    share: float,
    *,
    restricted: bool,
    contrasts: Floats | None,
) -> BatchFit:
    """The fit of one table with the worker-item term, its errors and df with the term's variance as uncertain as
    the others; unchanged for a table too large for it. `problem` is without the term."""
    pair = np.unique(
        ratings.worker * np.int64(int(ratings.item.max()) + 1) + ratings.item, return_inverse=True
    )[1]
    factors = [*problem.factors, Levels(pair, np.ones((len(pair), 1)))]
    if sum((int(codes.max()) + 1) * columns.shape[1] for codes, columns in factors) > _SHARE_COLUMNS:
        return fit
    z, types, first = [], [], 0
    for codes, columns in factors:
        belongs, width = np.eye(int(codes.max()) + 1)[codes], columns.shape[1]
        z.append((belongs[:, :, None] * columns[:, None, :]).reshape(len(codes), -1))
        types.append(first + np.tile(np.arange(width), belongs.shape[1]))
        first += width
    all_z, x, y = np.hstack(z), problem.x, ratings.rating - ratings.rating.mean()
    member = (np.concatenate(types)[:, None] == np.arange(first)).astype(float)
    wide = dense.Wide(all_z.T @ all_z, all_z.T @ x, member, x.T @ x, len(y), (0, 1))
    z_y, xy, yy, none = all_z.T @ y, x.T @ y, float(y @ y), np.zeros((0, 1))
    gamma = np.append(fit.gamma[0], share)
    factor = dense.factorise(wide, gamma)
    response = Response(none, z_y[:, None], xy, yy, z_y, xy, yy)
    found = dense.profile(wide, response, factor, restricted)
    p = x.shape[1]
    norm, xgx, xggx = np.empty((first, first)), np.empty((first, p, p)), np.empty((first, first, p, p))
    dense.second_order(wide, factor, found, norm, xgx, xggx)
    products = dense.working_products(wide, factor, found, first)
    parts = (
        gamma,
        found.phi,
        np.array(found.rss),
        dense.traces(wide, factor, gamma),
        *products,
        norm,
        xgx,
        xggx,
    )
    fitted = information.Fitted(*(part[None] for part in parts))
    look = partial(information.precision, fitted, n=len(y), restricted=restricted)
    further = fit.further.copy()
    for place, each in enumerate([] if contrasts is None else contrasts):
        further[:, place, 1:] = np.stack(look(each), axis=-1)
    return fit._replace(**look(problem.contrast)._asdict(), further=further)


# Many replicates of an even design: the search of `kernels.reml`, all of them side by side.

_LEAST_FALL = 1e-4  # share of the fall that the slope promises
_HALVINGS = 40
_MOST_LANES, _CELLS = 256, 1 << 20  # replicates side by side, where their ratings are no more than this
_LANES = 2  # at least: with one, NumPy adds the parts of a sum in another order


def fit_replicates(
    design: EvenDesign,
    responses: Floats,
    start: Floats,
    restricted: bool,
    tolerance: float,
    max_steps: int,
    n_jobs: int,
) -> tuple[Any, ...]:
    """What `fit_even` gives for any number of responses, some lanes at a time."""
    lanes = min(_MOST_LANES, max(_CELLS // responses.shape[1], 1))

    def fit(first: int) -> tuple[Codes | Floats, ...]:
        part = responses[first : first + lanes]
        return fit_even(design, part, start, restricted, tolerance, max_steps)

    begins = range(0, len(responses), lanes)
    if n_jobs == 1 or len(begins) == 1:
        parts = [fit(first) for first in begins]
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            parts = list(pool.map(fit, begins))
    return tuple(np.concatenate(fields) for fields in zip(*parts, strict=True))


def fit_even(
    design: EvenDesign,
    responses: Floats,
    start: Floats,
    restricted: bool,
    tolerance: float,
    max_steps: int,
) -> tuple[Codes | Floats, ...]:
    """Status (n,), criterion (n,), coefficients (n, p) and the fields of `information.Fitted`, of responses
    (n, rows) from a start (q,) in the kernel's order. Numbers of fits whose status is not CONVERGED mean nothing.

    A fit does not depend on which others stand beside it.
    """
    n = len(responses)
    if n < _LANES:
        responses = np.repeat(responses, _LANES, axis=0)
    with np.errstate(all="ignore"):  # a lane that goes astray is marked, and no concern of the others
        sums = sums_of(design, np.ascontiguousarray(responses.T))
        at = partial(evaluate, design, restricted=restricted)
        df = design.n - design.x.shape[0] if restricted else design.n
        gamma, status = search(at, sums, start, df, tolerance, max_steps)
        point = evaluate(design, sums, gamma, restricted)
        moments = second_order(design, point)
    first = (status, point.criterion, point.beta, gamma, point.phi, point.rss)
    rest = (point.trace, point.quadratic, point.square, *moments)
    return tuple(np.moveaxis(part, -1, 0)[:n] for part in (*first, *rest))


def search(
    at: Callable[..., Any], sums: Any, start: Floats, df: int, tolerance: float, max_steps: int
) -> tuple[Floats, Codes]:
    """Gamma (q, lanes) where the criterion is lowest, and status (lanes,); lanes that have arrived make room.

    at : the likelihoods of sums at gamma (q, lanes), with the fields of `Point` that a step takes; sums give some
        of their lanes by `of`, and y'y of each as `total`.
    """
    lanes, q = len(sums.total), len(start)
    values, status = np.empty((q, lanes)), np.full(lanes, reml.NO_RESIDUAL)
    place = np.arange(lanes)
    gamma = trial = np.repeat(start[:, None], lanes, axis=1)
    slope, direction = np.zeros((q, lanes)), np.zeros((q, lanes))
    criterion, fall = np.full(lanes, np.inf), np.ones(lanes)
    steps, halvings = np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=np.int64)
    length = np.ones(lanes)
    while True:
        point = at(sums, trial)
        lower = (fall > 0.0) & (criterion - point.criterion >= _LEAST_FALL * fall)
        accepted = point.ok & ((steps == 0) | lower)
        gamma = np.where(accepted, trial, gamma)
        criterion = np.where(accepted, point.criterion, criterion)
        newest, promise = _direction(point, df)
        slope = np.where(accepted, point.slope, slope)
        direction = np.where(accepted, newest, direction)
        steps = steps + accepted
        halvings = np.where(accepted, 0, halvings + 1)
        shorter = length * np.where(length > 1e-3, 0.5, 0.1)
        length = np.where(accepted, 1.0, shorter)
        code = np.full(len(place), -1)
        code[accepted & (np.abs(promise) < tolerance)] = reml.CONVERGED
        code[(code < 0) & (steps > max_steps)] = reml.TOO_MANY_STEPS
        code[~accepted & (steps == 0)] = reml.NO_RESIDUAL
        code[~accepted & (halvings == _HALVINGS)] = reml.STALLED
        done = code >= 0
        values[:, place[done]] = gamma[:, done]
        status[place[done]] = code[done]
        if done.all():
            return values, status
        going = np.flatnonzero(~done)
        if len(going) < _LANES:  # a companion, whose end is the same again
            going = np.append(going, going)
        place, sums = place[going], sums.of(going)
        gamma, slope, direction = gamma[:, going], slope[:, going], direction[:, going]
        criterion, steps, halvings, length = criterion[going], steps[going], halvings[going], length[going]
        trial = np.clip(gamma + length * direction, 0.0, 100.0 * gamma + 10.0)
        fall = (slope * (gamma - trial)).sum(axis=0)


def _direction(point: Any, df: int) -> tuple[Floats, Floats]:
    """Newton steps (q, lanes) and the falls of the criterion that they promise."""
    sigma2 = point.rss / df
    free = (point.gamma > 0.0) | (point.slope < 0.0)
    across = point.square[:, None] * point.square[None]
    step = newton_directions(point.quadratic / sigma2 - across / (sigma2**2 * df), point.slope, free)
    pressed = point.gamma + step < 0.0  # a component pressed against its bound promises no fall
    promise = np.where(pressed, point.slope * point.gamma, -point.slope * step).sum(axis=0)
    return step, promise
