"""The native engine: rating tables to crossproducts to fits, one table or thousands of replicates."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from threadpoolctl import ThreadpoolController

from humeval_power.errors import InputError
from humeval_power.estimation import vanishing_residual
from humeval_power.kernels import crossed, crossed_information, dense, information, reml
from humeval_power.kernels.crossed import Gram
from humeval_power.kernels.crossproducts import build_gram, response_products
from humeval_power.kernels.kernel import is_loaded, is_ready

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# The order of variance components in every array of this package.
COMPONENTS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
EFFECT = np.array([0.0, 1.0])
INTERCEPT = np.array([1.0])

# Fall of the criterion that a further step would bring: of one table, and of simulated replicates.
_TOLERANCE = 1e-10
_BATCH_TOLERANCE = 1e-8
_MAX_STEPS = 200
_STARTS = (0.1, 1.0, 0.001)  # relative variances to start a single fit from; the best end is kept
_SMALL_TABLE = 2_000  # worker-item pairs up to which a fit starts from all of them
# Starts of a tiny table, whose criterion can have several minima: every pattern of components there or not,
# small or large, and beyond every minimum that has a residual.
_PATTERN_VALUES = ((0.0, 1.0), (0.3, 30.0), (0.0, 1e4))
_TINY_TABLE = 150  # ratings up to which all of these take a twentieth of a second
_ROUNDING = 1e-9  # difference of the criterion that is none; on a ridge all ends are this close
_SAME_OPTIMUM = 1e-6  # difference of the criterion between two ends of one minimum
_SMALL_DESIGN = 300  # columns of workers and items up to which one dense matrix is as fast as the kernels
_DENSE_GAMMA = 1e3  # relative variances beyond which one dense matrix loses digits that the kernels keep
_quick: ContextVar[bool] = ContextVar("quick_start", default=False)
_CHUNK = 64  # replicates a thread takes at a time


class RatingTable(Protocol):
    """Codes 0, 1, ... of worker, item and system (0 or 1) and ratings on [0, 1], all of shape (n,)."""

    @property
    def worker(self) -> Codes: ...
    @property
    def item(self) -> Codes: ...
    @property
    def system(self) -> Codes: ...
    @property
    def rating(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class CrossedProblem:
    """What depends on the design alone. The factor with fewer levels is the dense outer one.

    columns : (rows, q), the columns of workers, items and the fixed effects alike: intercept and x, or
        the weights alone where differences are analysed.
    weights : (rows, n_ratings) sparse, from ratings to the rows that are fitted; None if those are the
        ratings themselves.
    log_det : what the transformation of the ratings into rows adds to -2 log likelihood.
    """

    gram: Gram
    outer: Codes
    inner: Codes
    columns: Floats
    worker_is_outer: bool
    weights: csr_array | None = None
    log_det: float = 0.0

    @classmethod
    def of_design(cls, worker: Codes, item: Codes, system: Codes) -> CrossedProblem:
        """Crossproducts for rows of integer codes, x = -1/2 for system 0 and +1/2 for system 1."""
        return cls._of_columns(worker, item, np.column_stack([np.ones(len(system)), system - 0.5]))

    @classmethod
    def of_differences(cls, worker: Codes, item: Codes, system: Codes) -> CrossedProblem:
        """The differences B - A of each worker and item that has both systems, weighted by their
        precision where cells hold several ratings: an intercept alone, for workers and items too.

        Raises
        ------
        InputError
            No worker rated an item under both systems, or differences of fewer than 2 workers or items.
        """
        n_items = int(item.max()) + 1
        pair = worker * np.int64(n_items) + item
        count = np.stack([np.bincount(pair[system == s], minlength=int(pair.max()) + 1) for s in (0, 1)])
        kept = np.flatnonzero(count.min(axis=0) > 0)
        workers, items = (np.unique(codes) for codes in (kept // n_items, kept % n_items))
        if min(len(workers), len(items)) < 2:
            raise InputError(
                "An analysis of differences needs at least 2 workers and 2 items with ratings of both "
                f"systems by the same worker; there are {len(workers)} and {len(items)}. "
                "Analyse the ratings instead."
            )
        # variance of a difference, relative to that of two single ratings: (1/nA + 1/nB) / 2
        weight = np.sqrt(2.0 / (1.0 / count[0, kept] + 1.0 / count[1, kept]))
        row = np.searchsorted(kept, pair)
        used = np.flatnonzero((row < len(kept)) & (kept[np.minimum(row, len(kept) - 1)] == pair))
        sign = np.where(system[used] == 1, 1.0, -1.0)
        value = sign * weight[row[used]] / count[system[used], pair[used]]
        weights = csr_array((value, (row[used], used)), shape=(len(kept), len(pair)))
        codes = np.searchsorted(workers, kept // n_items), np.searchsorted(items, kept % n_items)
        return replace(cls._of_columns(*codes, weight[:, None]), weights=weights)

    def with_interaction(self, worker: Codes, item: Codes, share: float) -> CrossedProblem:
        """The same model with a further random effect of each worker-item pair, of variance `share`
        relative to the residual's.

        Within a pair of n ratings the covariance I + share J has the inverse square root
        I - (1 - 1 / sqrt(1 + n share)) J / n: ratings and columns so transformed follow the model
        without the effect.
        """
        pair = np.unique(worker * np.int64(int(item.max()) + 1) + item, return_inverse=True)[1]
        count = np.bincount(pair)
        shrink = (1.0 - 1.0 / np.sqrt(1.0 + count * share)) / count
        n = len(pair)
        membership = csr_array((np.ones(n), (np.arange(n), pair)), shape=(n, len(count)))
        averaging = membership @ (membership * shrink[None, :]).T
        weights = csr_array(eye_array(n, format="csr") - averaging)
        workers, items = (self.outer, self.inner) if self.worker_is_outer else (self.inner, self.outer)
        changed = self._of_columns(workers, items, np.asarray(weights @ self.columns))
        log_det = float(np.log1p(count * share).sum())
        return replace(changed, weights=weights, log_det=log_det)

    @classmethod
    def _of_columns(cls, worker: Codes, item: Codes, columns: Floats) -> CrossedProblem:
        worker_is_outer = int(worker.max()) <= int(item.max())
        outer, inner = (worker, item) if worker_is_outer else (item, worker)
        outer, inner = (np.ascontiguousarray(codes, dtype=np.int64) for codes in (outer, inner))
        gram = build_gram(outer, inner, outer_columns=columns, inner_columns=columns, x=columns)
        return cls(gram, outer, inner, columns, worker_is_outer)

    def to_kernel(self, components: Floats) -> Floats:
        """Reorder the last axis from workers first to outer types first, and back (its own inverse)."""
        q = self.columns.shape[1]
        order = [*range(q, 2 * q), *range(q)]
        return components if self.worker_is_outer else components[..., order]

    def products(self, responses: Floats) -> tuple[Floats, ...]:
        """The fields of kernels.crossed.Response for ratings of shape (replicates, n_ratings)."""
        if self.weights is not None:
            responses = np.ascontiguousarray((self.weights @ responses.T).T)
        few = len(responses) <= _CHUNK and by_dense_matrices(self.gram)
        products: tuple[Floats, ...] = (dense.response_products if few else response_products)(
            self.gram, self.outer, self.inner, self.columns, self.columns, self.columns, responses
        )
        return products


class BatchFit(NamedTuple):
    """Fits of many responses to one design; the first axis of every array is the replicate.

    gamma : (replicates, 4), variances relative to the residual's, in the order of COMPONENTS; those of
        the intercepts are NaN where differences were analysed, and so is the baseline.
    status : 0 converged, otherwise a code of kernels.reml; RUNAWAY where the criterion is lowest at a
        residual of zero, so that no number of the fit means anything.
    n_optima : minima of the criterion that were found; 1 where the search had one start.
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
    n_optima: int = 1


def fit_batch(
    problem: CrossedProblem,
    responses: Floats,
    *,
    start: Floats,
    restricted: bool = True,
    n_jobs: int = 1,
    tolerance: float = _BATCH_TOLERANCE,
) -> BatchFit:
    """Fit every row of `responses` (replicates, n), starting at relative variances `start`: (4,), or
    (replicates, 4) for a start of its own for each."""
    n = len(responses)
    own_starts = start.ndim == 2
    by_difference = problem.columns.shape[1] == 1
    if by_difference:
        start = 0.5 * start[..., [1, 3]]  # slopes relative to the variance of a difference, 2 sigma^2
    center = np.zeros(n) if by_difference else responses.mean(axis=1)
    products = problem.products(responses - center[:, None])
    q, p = start.shape[-1], problem.columns.shape[1]
    status = np.empty(n, dtype=np.int64)
    criterion, beta = np.empty(n), np.empty((n, p))
    fitted = _empty(q, p, n)
    kernel_start = np.ascontiguousarray(problem.to_kernel(start), dtype=np.float64)
    filled = (status, criterion, beta, *fitted)
    chunk = 1 if own_starts else _CHUNK
    by_dense = n <= _CHUNK and by_dense_matrices(problem.gram)
    search = dense.fit_many if by_dense else reml.fit_many

    def run(first: int) -> None:
        part = slice(first, first + chunk)
        search(
            problem.gram,
            tuple(product[part] for product in products),
            kernel_start[first] if own_starts else kernel_start,
            restricted,
            tolerance,
            _MAX_STEPS,
            *(field[part] for field in filled),
        )

    with one_blas_thread():
        if n_jobs == 1 or n <= chunk:
            for first in range(0, n, chunk):
                run(first)
        else:
            with ThreadPoolExecutor(n_jobs) as pool:
                list(pool.map(run, range(0, n, chunk)))
        if by_dense and not ((status == reml.CONVERGED) & (fitted.gamma.max(axis=1) <= _DENSE_GAMMA)).all():
            search = reml.fit_many
            for first in range(0, n, chunk):
                run(first)
        contrast = INTERCEPT if by_difference else EFFECT
        accuracy = information.precision(fitted, contrast, n=problem.gram.n, restricted=restricted)
    status = _with_runaways(problem, products, fitted.gamma, criterion, status, restricted)
    for df in (accuracy.df_satterthwaite, accuracy.df_kenward_roger):
        df[np.isinf(df)] = np.nan  # the information was not positive: no df at all
    estimate, baseline = (beta * contrast).sum(axis=1), beta[:, 0]
    sigma2 = fitted.rss / (problem.gram.n - p if restricted else problem.gram.n)
    gamma = problem.to_kernel(fitted.gamma)
    if by_difference:  # 2 sigma^2 is the variance of a difference; the intercepts have cancelled
        blank = np.full(n, np.nan)
        gamma = np.column_stack([blank, 2.0 * gamma[:, 0], blank, 2.0 * gamma[:, 1]])
        baseline, sigma2 = blank, sigma2 / 2.0
    return BatchFit(
        estimate=estimate,
        baseline=baseline + center,
        **accuracy._asdict(),
        criterion=criterion + problem.log_det,
        sigma2=sigma2,
        gamma=gamma,
        status=status,
    )


def _with_runaways(
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
    share = vanishing_residual.residual_share(gamma, vanishing_residual.loadings(problem))
    suspect = (share < vanishing_residual.SUSPECT_SHARE) & (status != reml.NO_RESIDUAL)
    for row in np.flatnonzero(suspect).tolist():
        lower = True
        if share[row] > vanishing_residual.NO_SHARE:
            far = vanishing_residual.far_out(gamma[row], float(share[row]))
            beyond = _criterion_at(problem, products, row, far, restricted)
            lower = beyond <= criterion[row] + vanishing_residual.LEAST_RISE
        if lower:
            status[row] = reml.RUNAWAY
    return status


def _criterion_at(
    problem: CrossedProblem, products: tuple[Floats, ...], row: int, gamma: Floats, restricted: bool
) -> float:
    """The criterion of one response at relative variances in the kernel's order."""
    response = crossed.Response(*(part[row] for part in products))
    _, prof = crossed.evaluate(problem.gram, response, np.ascontiguousarray(gamma), restricted)
    return float(prof.criterion)


def runs_away(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> bool:
    """Whether the criterion at relative variances `gamma` (4,) is not below that without a residual."""
    kernel_gamma = np.array(problem.to_kernel(np.asarray(gamma, dtype=np.float64)))[None]
    products = problem.products(response[None] - response.mean())
    here = np.full(1, np.inf)
    share = vanishing_residual.residual_share(kernel_gamma, vanishing_residual.loadings(problem))[0]
    with one_blas_thread():
        if share > vanishing_residual.NO_SHARE:
            here[0] = _criterion_at(problem, products, 0, kernel_gamma[0], restricted)
        status = np.array([reml.CONVERGED])
        _with_runaways(problem, products, kernel_gamma, here, status, restricted)
    return bool(status[0] == reml.RUNAWAY)


def _empty(q: int, p: int, *lead: int) -> information.Fitted:
    """Room for what the kernels find in fits of q column types and p coefficients."""
    shapes = ((q,), (p, p), (), (q,), (q, q), (q,), (q, q), (q, p, p), (q, q, p, p))
    return information.Fitted(*(np.zeros((*lead, *shape)) for shape in shapes))


def fit_one(problem: CrossedProblem, response: Floats, *, restricted: bool = True) -> BatchFit:
    """Fit one response (n,) and keep the lowest criterion found (arrays of length 1).

    Small tables are searched from several starts, tiny ones from every pattern of components. Where a
    component ends at zero the search is repeated from a positive value: the criterion can have a second,
    lower minimum inside. Of ends that are equally low one with a residual is kept: where the table does
    not identify the variances, the residual can be traded for others.
    """

    def search(starts: Floats) -> BatchFit:
        responses = np.repeat(response[None], len(starts), axis=0)
        return fit_batch(problem, responses, start=starts, restricted=restricted, tolerance=_TOLERANCE)

    ends = search(_starts(problem, len(response)))
    if len(response) <= _TINY_TABLE:
        for row in np.flatnonzero(ends.status == reml.RUNAWAY).tolist():
            ends.criterion[row] = _far_criterion(problem, response, ends.gamma[row], restricted)
    best = lowest_end(ends.criterion, ends.status)
    zero = ends.gamma[best] == 0
    if zero.any() and ends.status[best] not in (reml.NO_RESIDUAL, reml.RUNAWAY):
        ends = _joined(ends, search(np.where(zero, 0.01, np.nan_to_num(ends.gamma[best]))[None]))
        best = lowest_end(ends.criterion, ends.status)
    kept = slice(best, best + 1)
    return BatchFit._make(
        [*(part[kept] for part in _parts(ends)), count_optima(ends.criterion, ends.status)]
    )


def _far_criterion(problem: CrossedProblem, response: Floats, gamma: Floats, restricted: bool) -> float:
    """The criterion where next to no residual is left, from a dense matrix of the rows: crossproducts have
    lost their digits there, and can look lower than anything."""
    by_difference = problem.columns.shape[1] == 1
    kernel_gamma = problem.to_kernel(0.5 * gamma[[1, 3]] if by_difference else gamma)
    share = float(vanishing_residual.residual_share(kernel_gamma, vanishing_residual.loadings(problem)))
    if share < vanishing_residual.NO_SHARE:
        kernel_gamma = vanishing_residual.far_out(kernel_gamma, share)
    columns = problem.columns
    n, p = columns.shape
    H = np.eye(n)
    for codes, part in ((problem.outer, kernel_gamma[:p]), (problem.inner, kernel_gamma[p:])):
        H += ((columns * part) @ columns.T) * (codes[:, None] == codes)
    y = response - response.mean()
    y = y if problem.weights is None else np.asarray(problem.weights @ y)
    lower = np.linalg.cholesky(H)
    half = np.linalg.solve(lower, np.column_stack([columns, y]))
    triangle: Floats = np.linalg.qr(half)[1]
    df = n - p if restricted else n
    log_det = 2.0 * np.log(np.diag(lower)).sum() + problem.log_det
    if restricted:
        log_det += 2.0 * np.log(np.abs(np.diag(triangle)[:p])).sum()
    return float(df * (1.0 + np.log(2.0 * np.pi * max(float(triangle[p, p]) ** 2, 1e-300) / df)) + log_det)


def _joined(first: BatchFit, second: BatchFit) -> BatchFit:
    pairs = zip(_parts(first), _parts(second), strict=True)
    return BatchFit._make([*(np.concatenate(pair) for pair in pairs), 1])


def _parts(fits: BatchFit) -> list[Any]:
    """The arrays of a batch, without the number of optima."""
    return list(fits[:-1])


def _starts(problem: CrossedProblem, n_ratings: int) -> Floats:
    if len(problem.gram.outer) > _SMALL_TABLE:
        return np.full((1, len(COMPONENTS)), _STARTS[0])
    starts = np.repeat(np.array(_STARTS)[:, None], len(COMPONENTS), axis=1)
    if n_ratings > _TINY_TABLE:
        return starts
    return np.vstack([starts, tiny_starts(by_difference=problem.columns.shape[1] == 1)])


def tiny_starts(*, by_difference: bool = False) -> Floats:
    """Relative variances (starts, 4) from which the criterion of a tiny table is searched; where differences are
    analysed the intercepts have cancelled, and only those of the slopes matter."""
    size = 2 if by_difference else 4
    patterns = [start for values in _PATTERN_VALUES for start in product(values, repeat=size) if any(start)]
    starts = np.unique(np.array(patterns), axis=0)
    if by_difference:
        starts = np.column_stack([0.0 * starts[:, 0], starts[:, 0], 0.0 * starts[:, 0], starts[:, 1]])
    return starts


def lowest_end(criteria: Floats, status: Codes) -> int:
    """The place of the lowest end of several searches; among equals one that converged, then one that has a
    residual, then the first."""
    height = np.nan_to_num(criteria, nan=np.inf)
    height[status == reml.NO_RESIDUAL] = np.inf
    if np.isinf(height).all():
        return 0
    near = np.flatnonzero(height <= height.min() + vanishing_residual.TIE)
    rank = np.array([_PREFERENCE[int(code)] for code in status[near]])
    same = near[rank == rank.min()]
    return int(same[height[same] <= height[same].min() + _ROUNDING][0])


_PREFERENCE = {
    code: place
    for place, code in enumerate(
        (reml.CONVERGED, reml.STALLED, reml.TOO_MANY_STEPS, reml.RUNAWAY, reml.NO_RESIDUAL)
    )
}


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
    """Evaluate a fit at relative variances `gamma` (4,) from its residuals.

    y'Py is the minimum of |y - Xb - Zu|^2 + u'u / gamma over b and u. Taken from the residuals themselves
    it keeps all its digits, where crossproducts would cancel them if the variance ratios are large.
    """
    center = response.mean()
    products = problem.products(response[None] - center)
    kernel_gamma = np.ascontiguousarray(problem.to_kernel(gamma), dtype=np.float64)
    with one_blas_thread():
        response_of_one = crossed.Response(*(part[0] for part in products))
        prof, log_det, info = _examine(problem.gram, response_of_one, kernel_gamma, restricted)
    qa = len(problem.gram.outer_types)
    outer_u = prof.outer_py.reshape(-1, qa) * kernel_gamma[:qa]
    inner_u = prof.inner_py * kernel_gamma[qa:]
    random = outer_u[problem.outer] + inner_u[problem.inner]
    centered = response - center
    if problem.weights is not None:
        centered = problem.weights @ centered
    residual = centered - ((random + prof.beta) * problem.columns).sum(axis=1)
    penalty = (outer_u * prof.outer_py.reshape(-1, qa)).sum() + (inner_u * prof.inner_py).sum()
    rss = float(residual @ residual + penalty)
    n, p = problem.columns.shape
    df = n - p if restricted else n
    criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + log_det + problem.log_det
    if restricted:
        criterion -= np.linalg.slogdet(prof.phi)[1]
    return Examination(float(criterion), rss, prof.phi, info)


def design_information(problem: CrossedProblem, gamma: Floats) -> tuple[information.Information, Floats]:
    """Information at relative variances `gamma` (4,), and (X'H^-1X)^-1, without any response."""
    return gram_information(problem.gram, problem.to_kernel(gamma))


def gram_information(gram: Gram, gamma: Floats) -> tuple[information.Information, Floats]:
    """The same for any columns, at relative variances in the kernel's order."""
    if dense.n_columns(gram) <= _SMALL_DESIGN and gamma.max() <= _DENSE_GAMMA:
        with one_blas_thread():
            return dense.design_information(gram, gamma)
    none = dense.no_response(gram)
    with one_blas_thread():
        prof, _, info = _examine(gram, none, np.ascontiguousarray(gamma, dtype=np.float64), True)
    return info, prof.phi


def _examine(
    gram: Gram, response: crossed.Response, gamma: Floats, restricted: bool
) -> tuple[crossed.Profile, float, information.Information]:
    """Profile, log |H| and information at relative variances in the kernel's order."""
    room = _empty(len(gamma), len(gram.xx))
    by_dense = gamma.max() <= _DENSE_GAMMA and by_dense_matrices(gram)
    look = dense.examine if by_dense else crossed_information.examine
    prof, log_det, trace = look(gram, response, gamma, restricted, room.norm, room.xgx, room.xggx)
    info = information.with_residual(gamma, trace, room.norm, room.xgx, room.xggx, prof.phi, gram.n)
    return prof, log_det, info


@contextmanager
def quick_start() -> Iterator[None]:
    """Within the block small single fits are by dense matrices unless the kernels are loaded already: for a
    command that fits one table, loading them takes longer than the fit."""
    token = _quick.set(True)
    try:
        yield
    finally:
        _quick.reset(token)


def by_dense_matrices(gram: Gram) -> bool:
    """Whether a single fit is found by dense matrices: it is small, and the kernels are not at hand."""
    if dense.n_columns(gram) > _SMALL_DESIGN or is_loaded(reml.fit_many):
        return False
    return _quick.get() or not kernels_ready()


def kernels_ready() -> bool:
    """Whether fits need no compiling any more."""
    return is_ready(reml.fit_many)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra on one thread: replicates are what runs in parallel, and sums of another
    thread count would differ in the last digit."""
    with _blas_controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas_controller() -> ThreadpoolController:
    """Looking for the libraries takes a millisecond: once is enough."""
    return ThreadpoolController()
