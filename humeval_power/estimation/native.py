"""The native engine: rating tables to crossproducts to fits, one table or thousands of replicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from threadpoolctl import ThreadpoolController

from humeval_power.errors import InputError
from humeval_power.estimation import vanishing_residual
from humeval_power.estimation.even_batch import fit_replicates
from humeval_power.estimation.monte_carlo import MonteCarlo
from humeval_power.estimation.search_ends import count_optima, lowest_end, tiny_starts
from humeval_power.estimation.structure import structure_of
from humeval_power.kernels import crossed, crossed_information, dense, information, reml
from humeval_power.kernels.crossed import Gram
from humeval_power.kernels.crossproducts import response_products, sparse_gram, with_outer_base
from humeval_power.kernels.even_designs import EvenDesign, even_design
from humeval_power.kernels.kernel import is_loaded, is_ready

if TYPE_CHECKING:
    from humeval_power.kernels.large_design import Large

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# The order of variance components in every array of this package; those of documents follow where there are any.
COMPONENTS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
DOCUMENT_COMPONENTS = ("sd_document_intercept", "sd_document_slope")
EFFECT = np.array([0.0, 1.0])

# Fall of the criterion that a further step would bring: of one table, and of simulated replicates.
_TOLERANCE = 1e-10
_BATCH_TOLERANCE = 1e-8
_MAX_STEPS = 200
_STARTS = (0.1, 1.0, 0.001)  # relative variances to start a single fit from; the best end is kept
_SMALL_TABLE = 2_000  # worker-item pairs up to which a fit starts from all of them
_TINY_TABLE = 150  # ratings up to which all of these take a twentieth of a second
_MANY_COLUMNS = 400  # outer columns from which sparse factors are faster than one dense block
# Floating-point operations of a factor whose parts are all dense, beyond which fits iterate.
_MOST_WORK = 2.5e9
_MOST_SPARSE_WORK = 5e8  # the same of a sparse factor, which comes with work of another kind
_SMALL_DESIGN = 300  # columns of workers and items up to which one dense matrix is as fast as the kernels
_DENSE_GAMMA = 1e3  # relative variances beyond which one dense matrix loses digits that the kernels keep
MESSAGES = {
    reml.CONVERGED: "converged",
    reml.STALLED: "no step lowers the criterion, yet its slope is not zero",
    reml.TOO_MANY_STEPS: "too many steps",
}
_quick: ContextVar[bool] = ContextVar("quick_start", default=False)
_CHUNK = 64  # replicates a thread takes at a time


class RatingTable(Protocol):
    """Codes 0, 1, ... of worker, item and system (0 or 1) and ratings on [0, 1], all of shape (n,).

    A table may have more: `document`, codes or None, and `covariate_columns` (n, k).
    """

    @property
    def worker(self) -> Codes: ...
    @property
    def item(self) -> Codes: ...
    @property
    def system(self) -> Codes: ...
    @property
    def rating(self) -> Floats: ...


class Levels(NamedTuple):
    """One random factor: the level of each row, and its columns (rows, q)."""

    codes: Codes
    columns: Floats


@dataclass(frozen=True, eq=False)
class CrossedProblem:
    """What depends on the design alone. The factor with most levels is eliminated, the others are dense.

    design : crossproducts whose memory is proportional to the rows; `gram` has the dense one as well.
    factors : workers, items and, where there are any, documents.
    x : (rows, p), the columns of the fixed effects: intercept and x, or the weights alone where differences
        are analysed, and those of covariates.
    inner : which of the factors is eliminated.
    is_difference : whether the rows are differences B - A, so that the first column is the effect.
    weights : (rows, n_ratings) sparse, from ratings to the rows that are fitted; None if those are the
        ratings themselves.
    log_det : what the transformation of the ratings into rows adds to -2 log likelihood.
    """

    design: Gram
    factors: tuple[Levels, ...]
    x: Floats
    inner: int
    is_difference: bool = False
    weights: csr_array | None = None
    log_det: float = 0.0

    @classmethod
    def of_design(
        cls,
        worker: Codes,
        item: Codes,
        system: Codes,
        *,
        document: Codes | None = None,
        covariates: Floats | None = None,
    ) -> CrossedProblem:
        """Crossproducts for rows of integer codes, x = -1/2 for system 0 and +1/2 for system 1.

        document : (n,); covariates : (n, k), further columns of fixed effects.
        """
        columns = np.column_stack([np.ones(len(system)), system - 0.5])
        x = columns if covariates is None else np.column_stack([columns, covariates])
        return cls.of_levels([Levels(codes, columns) for codes in _given(worker, item, document)], x)

    @classmethod
    def of_ratings(cls, ratings: RatingTable) -> CrossedProblem:
        """The same for a table, with its documents and covariates."""
        return cls.of_design(ratings.worker, ratings.item, ratings.system, **structure_of(ratings))

    @classmethod
    def of_differences(
        cls,
        worker: Codes,
        item: Codes,
        system: Codes,
        *,
        document: Codes | None = None,
        covariates: Floats | None = None,
    ) -> CrossedProblem:
        """The differences B - A of each worker and item that has both systems, weighted by their
        precision where cells hold several ratings: an intercept alone, for workers, items and documents too.

        An item is that of its document; covariates (n, k) are differences as well, and those that never
        differ within a pair have cancelled.

        Raises
        ------
        InputError
            No worker rated an item under both systems, or differences of fewer than 2 workers or items.
        """
        n_items = int(item.max()) + 1
        n_documents = 1 if document is None else int(document.max()) + 1
        pair = worker * np.int64(n_items) + item
        if document is not None:
            pair = pair * np.int64(n_documents) + document
        count = np.stack([np.bincount(pair[system == s], minlength=int(pair.max()) + 1) for s in (0, 1)])
        kept = np.flatnonzero(count.min(axis=0) > 0)
        of_pair = (kept // n_documents // n_items, kept // n_documents % n_items, kept % n_documents)
        workers, items, documents = (np.unique(codes) for codes in of_pair)
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
        codes = [np.searchsorted(*both) for both in zip((workers, items, documents), of_pair, strict=True)]
        x = weight[:, None]
        if covariates is not None and covariates.shape[1]:
            differences = np.asarray(weights @ covariates)
            x = np.column_stack([x, differences[:, np.abs(differences).max(axis=0) > 1e-12]])
        levels = [Levels(each, weight[:, None]) for each in codes[: 2 if document is None else 3]]
        return replace(cls.of_levels(levels, x), weights=weights, is_difference=True)

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
        levels = [factor._replace(columns=np.asarray(weights @ factor.columns)) for factor in self.factors]
        changed = self.of_levels(levels, np.asarray(weights @ self.x))
        log_det = float(np.log1p(count * share).sum())
        return replace(changed, weights=weights, log_det=log_det)

    @classmethod
    def of_levels(cls, factors: Sequence[Levels], x: Floats) -> CrossedProblem:
        """Crossproducts for any columns of two factors or three, workers first, items second."""
        sizes = [int(factor.codes.max()) for factor in factors]
        inner = max((1, 0, 2)[: len(sizes)], key=sizes.__getitem__)  # of equals the items
        kept = tuple(
            Levels(np.ascontiguousarray(codes, dtype=np.int64), columns) for codes, columns in factors
        )
        outer = [factor for place, factor in enumerate(kept) if place != inner]
        design = sparse_gram(
            np.stack([factor.codes for factor in outer]),
            kept[inner].codes,
            outer_columns=np.stack([factor.columns for factor in outer]),
            inner_columns=kept[inner].columns,
            x=x,
        )
        return cls(design, kept, x, inner)

    @cached_property
    def gram(self) -> Gram:
        """All crossproducts; the dense one, outer columns by outer columns, is built when first asked for."""
        return with_outer_base(self.design)

    @cached_property
    def even(self) -> EvenDesign | None:
        """The design in the form in which many replicates are fitted side by side, if it is even."""
        return even_design(self.design, *self.rows())

    @cached_property
    def is_large(self) -> bool:
        """Whether sparse factors fit the table, as its shape alone decides; else one dense outer block does."""
        n_outer, qa, _ = self.design.outer_block.shape
        return bool(n_outer * qa > _MANY_COLUMNS)

    @cached_property
    def is_iterative(self) -> bool:
        """Whether the table is so large that it is fitted by conjugate gradients and probes: its shape alone
        decides, by what the factor of its connected parts would cost if each of them were dense, and if that is
        too much by what it costs as it is."""
        n_outer, qa, _ = self.design.outer_block.shape
        kinds, width = (1, qa) if self.design.coupled else (qa, 1)

        def work(levels: Codes) -> float:
            return float(kinds * ((levels * float(width)) ** 3).sum() / 3.0)

        if work(np.array([n_outer])) <= _MOST_WORK:
            return False
        from humeval_power.kernels.crossproducts import connected_levels

        if work(connected_levels(self.design)) <= _MOST_WORK:
            return False
        return self.large.fronts.work > _MOST_SPARSE_WORK

    @cached_property
    def large(self) -> Large:
        """The design as sparse factors take it."""
        from humeval_power.kernels.large_design import large_design

        return large_design(self.design)

    @property
    def outer(self) -> tuple[int, ...]:
        """The factors that are not eliminated, in the kernel's order."""
        return tuple(place for place in range(len(self.factors)) if place != self.inner)

    @property
    def contrast(self) -> Floats:
        """The weights (p,) of the fixed effects that give the effect."""
        weights = np.zeros(self.x.shape[1])
        weights[0 if self.is_difference else 1] = 1.0
        return weights

    @property
    def n_components(self) -> int:
        """Number of variance components but the residual's, of ratings: two of each factor."""
        return 2 * len(self.factors)

    @property
    def components(self) -> tuple[str, ...]:
        """Their names, in the order of every array of this package."""
        return (*COMPONENTS, *DOCUMENT_COMPONENTS)[: self.n_components]

    def to_kernel(self, components: Floats) -> Floats:
        """Reorder the last axis from workers, items, documents to outer types first."""
        return components[..., self._kernel_order]

    def from_kernel(self, components: Floats) -> Floats:
        """Its inverse."""
        return components[..., np.argsort(self._kernel_order)]

    @property
    def _kernel_order(self) -> list[int]:
        q = self.factors[0].columns.shape[1]
        return [place * q + column for place in (*self.outer, self.inner) for column in range(q)]

    def rows(self) -> tuple[Codes, Codes, Floats, Floats, Floats]:
        """What `response_products` takes of the rows: outer and inner codes and columns, and x."""
        outer = [self.factors[place] for place in self.outer]
        codes, columns = (np.stack(part) for part in zip(*outer, strict=True))
        inner = self.factors[self.inner]
        return codes, inner.codes, columns, inner.columns, self.x

    def products(self, responses: Floats) -> tuple[Floats, ...]:
        """The fields of kernels.crossed.Response for ratings of shape (replicates, n_ratings)."""
        if self.weights is not None:
            responses = np.ascontiguousarray((self.weights @ responses.T).T)
        few = len(responses) <= _CHUNK and by_dense_matrices(self.design)
        products: tuple[Floats, ...] = (dense.response_products if few else response_products)(
            self.design, *self.rows(), responses
        )
        return products


def _given(*codes: Codes | None) -> list[Codes]:
    return [each for each in codes if each is not None]


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
    tolerance: float = _BATCH_TOLERANCE,
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
    fitted = _empty(q, p, n)
    kernel_start = np.ascontiguousarray(problem.to_kernel(start), dtype=np.float64)
    filled = (status, criterion, beta, *fitted)
    chunk = 1 if own_starts else min(_CHUNK, max(-(-n // n_jobs), 1))  # few large tables keep all busy
    by_dense = n <= _CHUNK and by_dense_matrices(problem.design)
    search, design = _search_of(problem, by_dense=by_dense)

    def run(first: int) -> None:
        part = slice(first, first + chunk)
        search(
            design,
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
            search, design = _search_of(problem, by_dense=False)
            for first in range(0, n, chunk):
                run(first)
    status = _with_runaways(problem, products, fitted.gamma, criterion, status, restricted)
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
    filled = fit_replicates(even, rows, first_step, restricted, tolerance, _MAX_STEPS, n_jobs)
    batch = _batch_of(problem, filled, center, restricted, contrasts)
    status, gamma = filled[0], filled[3]
    left = (status != reml.CONVERGED) | ~(gamma.max(axis=1) <= _DENSE_GAMMA)
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
        asked = [] if contrasts is None else list(contrasts)
        further = [np.stack([beta @ each, *look(each)], axis=1) for each in asked]
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
    from humeval_power.estimation.iterative import fit_iterative

    fits = [fit_iterative(problem, each, restricted=restricted, contrasts=contrasts) for each in responses]
    return BatchFit._make([*map(np.concatenate, zip(*map(_parts, fits), strict=True)), 1, None, None])


def _search_of(problem: CrossedProblem, *, by_dense: bool) -> tuple[Any, Any]:
    """The search that fits many responses, and the design as it takes it."""
    if by_dense:
        return dense.fit_many, problem.design
    if problem.is_large:
        from humeval_power.kernels import large_information

        return large_information.fit_many, problem.large
    return reml.fit_many, problem.gram


def profile_at(
    problem: CrossedProblem, response: crossed.Response, gamma: Floats, *, restricted: bool
) -> crossed.Profile:
    """The profile of one response at relative variances in the kernel's order."""
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    if problem.is_large:
        from humeval_power.kernels import large

        factor = large.factorise(problem.large, gamma)
        return large.profile(problem.large, response, factor, restricted)
    found: crossed.Profile = crossed.evaluate(problem.gram, response, gamma, restricted)[1]
    return found


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
    return float(profile_at(problem, response, gamma, restricted=restricted).criterion)


def runs_away(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> bool:
    """Whether the criterion at relative variances `gamma` (q,) is not below that without a residual."""
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
        from humeval_power.estimation.iterative import fit_iterative

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
            ends.criterion[row] = _far_criterion(problem, response, ends.gamma[row], restricted)
    best = lowest_end(ends.criterion, ends.status)
    zero = ends.gamma[best] == 0
    if zero.any() and ends.status[best] not in (reml.NO_RESIDUAL, reml.RUNAWAY):
        ends = _joined(ends, search(np.where(zero, 0.01, np.nan_to_num(ends.gamma[best]))[None]))
        best = lowest_end(ends.criterion, ends.status)
    kept = slice(best, best + 1)
    kept_parts = [part[kept] for part in _parts(ends)]
    return BatchFit._make([*kept_parts, count_optima(ends.criterion, ends.status), None, None])


def _far_criterion(problem: CrossedProblem, response: Floats, gamma: Floats, restricted: bool) -> float:
    """The criterion where next to no residual is left, from a dense matrix of the rows: crossproducts have
    lost their digits there, and can look lower than anything."""
    kernel_gamma = problem.to_kernel(0.5 * gamma[1::2] if problem.is_difference else gamma)
    share = float(vanishing_residual.residual_share(kernel_gamma, vanishing_residual.loadings(problem)))
    if share < vanishing_residual.NO_SHARE:
        kernel_gamma = vanishing_residual.far_out(kernel_gamma, share)
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
        response_of_one = crossed.Response(*(part[0] for part in products))
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
    problem: CrossedProblem, prof: crossed.Profile, kernel_gamma: Floats
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
        from humeval_power.estimation.iterative import information_at

        return information_at(problem, gamma)
    if _by_dense_design(problem.design, gamma):
        with one_blas_thread():
            return dense.design_information(problem.design, gamma)
    with one_blas_thread():
        prof, _, info = _examine(problem, dense.no_response(problem.design), gamma, True)
    return info, prof.phi


def gram_information(gram: Gram, gamma: Floats) -> tuple[information.Information, Floats]:
    """The same for any columns, at relative variances in the kernel's order."""
    if _by_dense_design(gram, gamma):
        with one_blas_thread():
            return dense.design_information(gram, gamma)
    with one_blas_thread():
        prof, _, info = _looked(crossed_information.examine, gram, dense.no_response(gram), gamma, True)
    return info, prof.phi


def _by_dense_design(gram: Gram, gamma: Floats) -> bool:
    """Whether what a design alone says is found by one dense matrix."""
    return bool(dense.n_columns(gram) <= _SMALL_DESIGN and gamma.max() <= _DENSE_GAMMA)


def _examine(
    problem: CrossedProblem, response: crossed.Response, gamma: Floats, restricted: bool
) -> tuple[crossed.Profile, float, information.Information]:
    """Profile, log |H| and information at relative variances in the kernel's order."""
    if gamma.max() <= _DENSE_GAMMA and by_dense_matrices(problem.design):
        return _looked(dense.examine, problem.design, response, gamma, restricted)
    if problem.is_large:
        from humeval_power.kernels import large_information

        return _looked(large_information.examine, problem.large, response, gamma, restricted)
    return _looked(crossed_information.examine, problem.gram, response, gamma, restricted)


def _looked(
    look: Any, design: Any, response: crossed.Response, gamma: Floats, restricted: bool
) -> tuple[crossed.Profile, float, information.Information]:
    """What one engine sees of a response, with the residual's part of the information."""
    room = _empty(len(gamma), len(design.xx))
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    prof, log_det, trace = look(design, response, gamma, restricted, room.norm, room.xgx, room.xggx)
    info = information.with_residual(gamma, trace, room.norm, room.xgx, room.xggx, prof.phi, design.n)
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
