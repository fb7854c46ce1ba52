"""Fit the means of several systems together, with variances that all systems share or that each has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.designs import Assignment
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.examination import (
    EXPLAINED,
    LEAST_RISE,
    NO_SHARE,
    RUNS_AWAY,
    SUSPECT_SHARE,
    count_optima,
    far_out,
    lowest_end,
    residual_share,
    tiny_starts,
)
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels, RatingTable
from humeval_power.estimation.fitting import check_not_confounded
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.likelihood import Response
from humeval_power.kernels.joint import model
from humeval_power.kernels.joint.complete import CompletePoint, JointStrata
from humeval_power.kernels.joint.reml import (
    JointOptimum,
    JointPoint,
    SecondOrder,
    TablePoint,
    average_information,
    optimise,
)
from humeval_power.rules import SystemVariances

# REML of several systems in complete balanced tables, without iteration.

Floats = NDArray[np.float64]
PARENT = (1, 4, 3, 4, -1)  # each stratum's expected mean square is at least that of this one


class StrataFit(NamedTuple):
    """A fit in closed form; `derivatives` and the two uncertainties are by the five expected mean squares,
    `variances` in the order worker, worker x system, item, item x system, residual."""

    means: Floats
    covariance: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats
    variances: Floats
    criterion: float
    residual_is_positive: bool


def complete_array(ratings: RatingTable) -> Floats | None:
    """Ratings as (workers, items, systems, repeats) if every cell holds the same number of them, in the
    order of the table within a cell; None otherwise."""
    m, n, K = (int(codes.max()) + 1 for codes in (ratings.worker, ratings.item, ratings.system))
    if len(ratings.rating) % (m * n * K) != 0:
        return None
    cell = (ratings.worker * n + ratings.item) * K + ratings.system
    counts = np.bincount(cell, minlength=m * n * K)
    if counts.min() != counts.max():
        return None
    ordered: Floats = ratings.rating[np.argsort(cell, kind="stable")]
    return np.asarray(ordered.reshape(m, n, K, int(counts[0])))


def degrees_of_freedom(m: int, n: int, K: int, r: int) -> Floats:
    """df of the five strata, shape (5,)."""
    residual = K * m * n * r - K * m - K * n + K
    return np.array([m - 1.0, (m - 1.0) * (K - 1), n - 1.0, (n - 1.0) * (K - 1), residual])


def mean_squares(table: Floats) -> Floats:
    """Mean squares of the five strata, shape (5,); table of shape (workers, items, systems, repeats)."""
    m, n, K, r = table.shape
    centred = table - table.mean(axis=(0, 1, 3), keepdims=True)
    total = (centred**2).sum()
    by_worker, by_item = centred.mean(axis=(1, 3)), centred.mean(axis=(0, 3))
    worker, item = (
        K * n * r * (by_worker.mean(axis=1) ** 2).sum(),
        K * m * r * (by_item.mean(axis=1) ** 2).sum(),
    )
    worker_system = n * r * (by_worker**2).sum() - worker
    item_system = m * r * (by_item**2).sum() - item
    residual = total - n * r * (by_worker**2).sum() - m * r * (by_item**2).sum()
    sums = np.array([worker, worker_system, item, item_system, residual])
    return np.asarray(np.maximum(sums, 0.0) / degrees_of_freedom(m, n, K, r))


def pool(squares: Floats, df: Floats) -> tuple[Floats, list[list[int]]]:
    """REML estimates of the expected mean squares (5,), and the blocks of strata that share one.

    The smallest stratum below its parent's value is pooled with it until none is left, which solves the
    problem restricted to the order of a tree (Thompson 1962).
    """
    blocks = [[k] for k in range(len(squares))]

    def value(block: list[int]) -> float:
        return float(df[block] @ squares[block] / df[block].sum())

    while True:
        home = {k: number for number, block in enumerate(blocks) for k in block}
        violations = []
        for number, block in enumerate(blocks):
            above = next(
                (home[PARENT[k]] for k in block if PARENT[k] >= 0 and home[PARENT[k]] != number), None
            )
            if above is not None and value(block) <= value(blocks[above]):
                violations.append((value(block), number, above))
        if not violations:
            break
        _, number, above = min(violations)
        blocks[above] = blocks[above] + blocks[number]
        del blocks[number]
    expected = np.empty(len(squares))
    for block in blocks:
        expected[block] = value(block)
    return expected, blocks


def fit_complete(ratings: RatingTable) -> StrataFit | None:
    """REML fit of a complete balanced table, or None if it is not one."""
    table = complete_array(ratings)
    if table is None:
        return None
    m, n, K, r = table.shape
    df = degrees_of_freedom(m, n, K, r)
    squares = mean_squares(table)
    expected, blocks = pool(squares, df)
    share, contrast = np.full((K, K), 1.0 / K), np.eye(K) - 1.0 / K
    derivatives = np.array([share, contrast, share, contrast, -np.eye(K)]) / (m * n * r)
    observed = np.zeros((5, 5))
    for block in blocks:
        observed[np.ix_(block, block)] = 2.0 * expected[block[0]] ** 2 / df[block].sum()
    step = expected[[0, 1, 2, 3]] - expected[[1, 4, 3, 4]]
    positive = bool(expected[4] > 1e-14 * (table**2).mean())  # rounding leaves about 1e-16
    with np.errstate(divide="ignore", invalid="ignore"):
        criterion = (df * (np.log(expected) + squares / expected)).sum()
    return StrataFit(
        means=table.mean(axis=(0, 1, 3)),
        covariance=np.tensordot(expected, derivatives, 1),
        derivatives=derivatives,
        uncertainty=np.diag(2.0 * expected**2 / df),
        uncertainty_observed=observed,
        variances=np.append(step / np.array([K * n * r, n * r, K * m * r, m * r]), expected[4]),
        criterion=float(criterion + (table.size - K) * math.log(2 * math.pi) + K * math.log(m * n * r)),
        residual_is_positive=positive,
    )


# The rows of a joint fit as its likelihood takes them: by sparse factors where all systems are rated
# together and share their variances, else by one dense matrix.

Codes = NDArray[np.int64]

_PAIRED_FROM = 300  # levels of the smaller factor times systems up to which one dense matrix is as fast
_MOST_COLUMNS = 5_000  # levels of the smaller factor times systems: the order of a dense matrix
_MOST_OWN_COLUMNS = 2_000  # where as many such matrices are needed as there are systems


@dataclass(frozen=True, eq=False)
class JointTable:
    """Who rated what; rows (n,) of codes 0, 1, ...

    order : (K, n / K), the rows of each system by worker and item, where these are the same for all systems: which
        ratings of one worker, item and system stand with which of another system is without consequence, as the
        model does not tell them apart. None where systems are not rated together, where each has variances of its
        own, or where the table is small.
    """

    worker: Codes
    item: Codes
    system: Codes
    n_systems: int
    own: bool
    order: Codes | None

    @classmethod
    def of_rows(cls, worker: Codes, item: Codes, system: Codes, *, n_systems: int, own: bool) -> Self:
        """own : each system has variances of its own."""
        least = min(int(worker.max()), int(item.max())) + 1
        order = None
        if not own and least * n_systems > _PAIRED_FROM:
            order = by_system(worker, item, system, n_systems)
        return cls(worker, item, system, n_systems, own, order)

    def point(self, response: Floats, gamma: Floats) -> JointPoint:
        """The likelihood of ratings (n,) at relative variances `gamma`, those of the outer factor first."""
        if self.order is None:
            table = self._dense
            return TablePoint.of_table(table, model.response_products(table, response), gamma)
        from scipy.linalg import helmert

        from humeval_power.kernels.joint.paired import Layers, PairedPoint

        rotation = helmert(self.n_systems, full=True)
        products = self._layer.products(np.ascontiguousarray(rotation @ response[self.order]))
        responses = tuple(Response(*(part[layer] for part in products)) for layer in range(self.n_systems))
        return PairedPoint.of_layers(Layers(self._layer.large, responses, rotation), gamma)

    @property
    def worker_is_outer(self) -> bool:
        """Whether the variances of workers come first; items are eliminated then."""
        return int(self.worker.max()) <= int(self.item.max())

    def refuse_too_large(self) -> None:
        """Raise InputError where the matrix that the fit needs would be too large."""
        n_workers, n_items = int(self.worker.max()) + 1, int(self.item.max()) + 1
        least, most, of = min(n_workers, n_items), _MOST_OWN_COLUMNS if self.own else _MOST_COLUMNS, ""
        if self.order is None:
            least, of = least * self.n_systems, "system of each "
        if least <= most or (self.order is not None and self._layer.large.fronts.work <= most**3 / 3.0):
            return
        raise InputError(
            f"{n_workers:,} workers, {n_items:,} items and {self.n_systems} systems are too many for a joint fit: "
            f"it needs a dense matrix with a row for each {of}{'worker' if self.worker_is_outer else 'item'}, "
            f"and takes at most {most:,}. Fit the systems in pairs: --model pairwise."
        )

    @cached_property
    def _dense(self) -> model.StackedTable:
        outer, inner = (self.worker, self.item) if self.worker_is_outer else (self.item, self.worker)
        return model.build_table(outer, inner, self.system, n_systems=self.n_systems, own=self.own)

    @cached_property
    def _layer(self) -> CrossedProblem:
        """The design of each layer: the rows of one system, with an intercept alone."""
        assert self.order is not None
        first = self.order[0]
        ones = np.ones((len(first), 1))
        return CrossedProblem.of_levels(
            [Levels(self.worker[first], ones), Levels(self.item[first], ones)], ones
        )


def by_system(worker: Codes, item: Codes, system: Codes, n_systems: int) -> Codes | None:
    """The rows of each system (K, n / K), by worker and item; None where those are not the same."""
    counts = np.bincount(system, minlength=n_systems)
    if counts.min() != counts.max():
        return None
    order = np.lexsort((item, worker, system)).reshape(len(counts), -1)
    same = (worker[order] == worker[order[0]]) & (item[order] == item[order[0]])
    return order if same.all() else None


VARIANCES = ("sd_worker", "sd_worker_system", "sd_item", "sd_item_system", "sd_residual")
_TOLERANCE = 1e-10  # fall of the criterion that a further step would bring
_MAX_STEPS = 200
_STARTS = (0.1, 1.0, 0.001)  # relative variances to start from; the best end is kept
_SMALL_TABLE = 2_000  # ratings up to which a fit starts from all of them
_FAR = 100.0  # relative variances above which no search starts: its factors would lose their digits
_TINY_TABLE = 150  # ratings up to which it starts from every pattern of components too
_NO_INFORMATION = 1e-12
_RANK_TOLERANCE = 1e-8  # relative to unit diagonal; rounding leaves about 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class JointFit:
    """REML fit of rating = mean[system] + worker + worker:system + item + item:system + residual.

    `means` (K,) are on [0, 1], `covariance` (K, K) is their covariance and `covariance_adjusted` Kenward
    and Roger's (1997). `variances` says whether worker:system and item:system have one variance for all systems
    or each system its own; `standard_deviations` go by `variance_names`. A worker's own difference between two
    systems has the sum of their two worker:system variances. `derivatives` (q, K, K) are those of
    `covariance` by q variance parameters, whose covariance is `uncertainty` (q, q) by the expected
    information and `uncertainty_observed` by the observed one, without those at zero.
    `not_identified` names the SDs that this table cannot tell apart, `boundary` the others that are
    estimated as exactly zero; `n_optima` counts the minima of the criterion that the search found.
    """

    means: Floats
    covariance: Floats
    covariance_adjusted: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats
    standard_deviations: Mapping[str, float]
    criterion: float
    n_ratings: int
    n_workers: int
    n_items: int
    converged: bool
    boundary: tuple[str, ...] = ()
    not_identified: tuple[str, ...] = ()
    closed_form: bool = False
    n_optima: int = 1
    variances: SystemVariances = "common"


class ContrastPrecision(NamedTuple):
    """Estimates of contrasts of the means and how well they are known, each of shape (contrasts,)."""

    estimate: Floats
    standard_error: Floats
    standard_error_adjusted: Floats
    df_satterthwaite: Floats
    df_kenward_roger: Floats


def contrast_precision(fitted: JointFit, contrasts: Floats) -> ContrastPrecision:
    """Linear combinations of the means; contrasts of shape (n, K), a unit vector for a mean itself.

    For a single contrast Kenward and Roger's (1997) df is Satterthwaite's with expected information.
    """
    return precision_of_contrasts(fitted.means, fitted, contrasts)


def precision_of_contrasts(
    means: Floats, fitted: JointFit | JointPrecision, contrasts: Floats
) -> ContrastPrecision:
    """The same from means (K,) and what is known of them."""

    def variance_of(covariance: Floats) -> Floats:
        return np.asarray(np.einsum("ck,kl,cl->c", contrasts, covariance, contrasts))

    variance = variance_of(fitted.covariance)
    slopes = np.einsum("ck,qkl,cl->cq", contrasts, fitted.derivatives, contrasts)

    def df(uncertainty: Floats) -> Floats:
        spread = np.einsum("cq,qr,cr->c", slopes, uncertainty, slopes)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(spread > 0, 2.0 * variance**2 / spread, np.nan)

    def root(values: Floats) -> Floats:
        return np.sqrt(np.where(values > 0, values, np.nan))

    return ContrastPrecision(
        contrasts @ means,
        root(variance),
        root(variance_of(fitted.covariance_adjusted)),
        df(fitted.uncertainty_observed),
        df(fitted.uncertainty),
    )


def variance_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The SDs of the model in order: VARIANCES, or those of each system where names are given."""
    if names is None:
        return VARIANCES
    both = [(f"sd_{of}", *(f"sd_{of}_system of {name}" for name in names)) for of in ("worker", "item")]
    return (*both[0], *both[1], "sd_residual")


def fit_joint(
    ratings: RatingTable,
    *,
    variances: SystemVariances = "common",
    names: Sequence[str] | None = None,
    closed_form: bool = True,
) -> JointFit:
    """Fit all systems of a table together by REML.

    Parameters
    ----------
    ratings : any table of two systems or more, codes 0, 1, ...; complete or not.
    variances : of worker:system and item:system, 'common' to all systems or each system its 'own'.
    names : the systems', by which their own SDs are called; None takes their codes.
    closed_form : use the sums of a complete balanced table, which stand for its ratings.

    Raises
    ------
    InputError
        Fewer than two workers, items or systems; too few ratings; more workers and items than the
        dense matrix of the smaller of the two can hold.
    FitError
        Ratings without residual variation, or so few that the likelihood is highest without one: nothing
        can be estimated.
    """
    n_workers, n_items, K = (
        int(codes.max()) + 1 for codes in (ratings.worker, ratings.item, ratings.system)
    )
    own = variances == "own"
    called = variance_names((names or [str(code) for code in range(K)]) if own else None)
    _check(len(ratings.rating), n_workers, n_items, K, n_variances=len(called))
    check_not_confounded(ratings)
    if own:
        with one_blas_thread():
            return _by_search(ratings, (n_workers, n_items, K), called, closed_form=closed_form)
    strata = fit_complete(ratings) if closed_form else None
    if strata is None:
        with one_blas_thread():
            return _by_search(ratings, (n_workers, n_items, K), called, closed_form=False)
    if not strata.residual_is_positive:
        raise FitError(EXPLAINED)
    return JointFit(
        means=strata.means,
        covariance=strata.covariance,
        covariance_adjusted=strata.covariance,  # no correction where the means are eigenvectors
        derivatives=strata.derivatives,
        uncertainty=strata.uncertainty,
        uncertainty_observed=strata.uncertainty_observed,
        standard_deviations=dict(zip(VARIANCES, np.sqrt(strata.variances).tolist(), strict=True)),
        criterion=strata.criterion,
        n_ratings=len(ratings.rating),
        n_workers=n_workers,
        n_items=n_items,
        converged=True,
        boundary=tuple(name for name, v in zip(VARIANCES, strata.variances, strict=True) if v == 0),
        closed_form=True,
    )


def _check(n: int, n_workers: int, n_items: int, K: int, *, n_variances: int) -> None:
    if K < 2:
        raise InputError(f"At least two systems are needed; the table has {K}.")
    for noun, count in (("workers", n_workers), ("items", n_items)):
        if count < 2:
            raise InputError(
                f"At least 2 {noun} are needed to estimate how {noun} differ; this table has {count}."
            )
    if n < K + n_variances:
        raise InputError(f"{n} ratings are too few for {K} means and {n_variances} variances.")


def _by_search(
    ratings: RatingTable, sizes: tuple[int, int, int], names: tuple[str, ...], *, closed_form: bool
) -> JointFit:
    n_workers, n_items, K = sizes
    half = len(names) // 2
    order = np.arange(len(names))
    centre = np.bincount(ratings.system, ratings.rating) / np.bincount(ratings.system)
    own = names != VARIANCES
    array = complete_array(ratings) if closed_form else None
    start: JointPoint
    if array is not None:
        start = CompletePoint.of_table(JointStrata.of_table(array), np.zeros(2 * half))
        centre = np.zeros(K)
    else:
        table = JointTable.of_rows(ratings.worker, ratings.item, ratings.system, n_systems=K, own=own)
        table.refuse_too_large()
        start = table.point(ratings.rating - centre[ratings.system], np.zeros(2 * half))
        if not table.worker_is_outer:
            order[: 2 * half] = np.roll(order[: 2 * half], half)
    n = len(ratings.rating)
    smallest = 1e-14 * float(ratings.rating @ ratings.rating)  # rounding leaves about 1e-16
    best, n_optima = _best(start, n, smallest)
    if best.status == reml.NO_RESIDUAL:
        raise FitError(EXPLAINED)
    if best.status == reml.RUNAWAY:
        raise FitError(RUNS_AWAY)
    point = best.point
    sigma2 = point.rss / point.df
    values = (np.append(point.gamma, 1.0) * sigma2)[order]
    second = point.second_order()
    unknown = [names[order[t]] for t in _unidentified(point, second)]
    return JointFit(
        means=point.beta + centre,
        criterion=point.criterion,
        standard_deviations=dict(zip(names, np.sqrt(values).tolist(), strict=True)),
        n_ratings=n,
        n_workers=n_workers,
        n_items=n_items,
        converged=best.status == reml.CONVERGED,
        boundary=tuple(
            name for name, v in zip(names, values, strict=True) if v == 0 and name not in unknown
        ),
        not_identified=tuple(name for name in names if name in unknown),
        n_optima=n_optima,
        variances="own" if own else "common",
        **precision_of(point, second, sigma2)._asdict(),
    )


def _best(anywhere: JointPoint, n: int, smallest_rss: float) -> tuple[JointOptimum, int]:
    """The lowest end of searches from several starts, and how many minima they found; zeros are lifted
    once, as a lower minimum can lie inside."""
    half = len(anywhere.gamma) // 2
    places = np.repeat(np.arange(4), np.tile([1, half - 1], 2))  # of the four kinds of variances

    def search(start: Floats) -> JointOptimum:
        end = optimise(
            anywhere.moved(start), tolerance=_TOLERANCE, max_steps=_MAX_STEPS, smallest_rss=smallest_rss
        )
        return end._replace(status=reml.RUNAWAY) if _runs_away(end) else end

    starts = [np.full(4, value) for value in (_STARTS if n <= _SMALL_TABLE else _STARTS[:1])]
    if n <= _TINY_TABLE:
        starts += [start for start in tiny_starts(len(VARIANCES) - 1) if start.max() < _FAR]

    def lowest() -> JointOptimum:
        return ends[lowest_end(np.array(criteria()), np.array([end.status for end in ends]))]

    def criteria() -> list[float]:
        return [end.point.criterion for end in ends]

    ends = [search(start[places]) for start in starts]
    best = lowest()
    usable = best.status not in (reml.NO_RESIDUAL, reml.RUNAWAY)
    gamma = best.point.gamma
    if n <= _SMALL_TABLE and (gamma == 0).any() and usable:
        ends.append(search(np.where(gamma == 0, 0.01, gamma)))
        best = lowest()
    return best, count_optima(np.array(criteria()), np.array([end.status for end in ends]))


def _runs_away(end: JointOptimum) -> bool:
    """Whether the criterion does not rise from here as the residual vanishes."""
    gamma = end.point.gamma
    half = len(gamma) // 2
    loadings = np.tile(np.append(1.0, np.full(half - 1, 1.0 / (half - 1))), 2)  # means over the systems
    share = float(residual_share(gamma, loadings))
    if end.status == reml.NO_RESIDUAL or share >= SUSPECT_SHARE:
        return False
    if share <= NO_SHARE:
        return True
    try:
        beyond = end.point.moved(far_out(gamma, share)).criterion
    except LinAlgError:
        return True
    return bool(beyond <= end.point.criterion + LEAST_RISE)


class JointPrecision(NamedTuple):
    """How well a fit knows its means: the fields of JointFit of the same names."""

    covariance: Floats
    covariance_adjusted: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats


def precision_of(point: JointPoint, second: SecondOrder, sigma2: float) -> JointPrecision:
    """Covariances of the means and of the variance parameters, Kenward and Roger (1997)."""
    phi, expected = point.phi, second.expected  # all of `second` is in units of sigma^2 = 1
    inverse = inverse_information(expected)
    moved = second.xgx @ phi
    # sum_st W_st (X'H^-1 G_s H^-1 G_t H^-1 X - P_s phi P_t), with the sums over t taken first
    weighted = np.tensordot(inverse, second.xgx, 1)
    middle = np.tensordot(inverse, second.xggx, 2) - np.einsum("sab,sbc->ac", moved, weighted)
    adjusted = phi + 2.0 * phi @ middle @ phi
    average = average_information(point) * sigma2**2
    free = np.append(point.gamma > 0, True)
    observed = np.zeros_like(expected)
    observed[np.ix_(free, free)] = inverse_information((2.0 * average - expected)[np.ix_(free, free)])
    return JointPrecision(
        covariance=phi * sigma2,
        covariance_adjusted=adjusted * sigma2,
        derivatives=np.asarray(phi @ second.xgx @ phi),
        uncertainty=inverse * sigma2**2,
        uncertainty_observed=observed * sigma2**2,
    )


def inverse_information(matrix: Floats) -> Floats:
    """Inverses of symmetric matrices (..., q, q); directions in which one is flat are left out."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 1e-300))
    across = scale[..., :, None] * scale[..., None, :]
    return np.asarray(np.linalg.pinv(matrix / across, rcond=_RANK_TOLERANCE, hermitian=True) / across)


def _unidentified(point: JointPoint, second: SecondOrder) -> list[int]:
    """Positions of the variances that trade off against each other, whatever the ratings."""
    if (point.gamma == 0).any():
        second = point.moved(np.where(point.gamma == 0, 1.0, point.gamma)).second_order()
    known = np.diag(second.expected)
    # a variance of which no rating says anything is 0 here but for rounding, on either side of it
    scale = np.sqrt(np.where(known > _NO_INFORMATION * known.max(), known, np.inf))
    values, vectors = np.linalg.eigh(second.expected / np.outer(scale, scale))
    flat = np.abs(vectors[:, values < _RANK_TOLERANCE])
    return [] if flat.shape[1] == 0 else np.flatnonzero(flat.max(axis=1) > 1e-6).tolist()


# What a joint fit of several systems will know of their means, for any assignment at assumed variances.


class DesignPrecision(NamedTuple):
    """Covariance of the estimated means (K, K), its derivatives by the variances (q, K, K), and the covariance of
    these by the expected information (q, q)."""

    covariance: Floats
    derivatives: Floats
    uncertainty: Floats


def joint_precision(
    rows: Assignment,
    *,
    worker: Floats,
    item: Floats,
    residual: float,
    variances: SystemVariances,
) -> DesignPrecision:
    """By the block algebra of the fitter, with the expected REML information (Kenward and Roger 1997).

    worker, item : variances (1 + K,), what systems share first and then each system's own; where `variances` are
        common their averages over the systems are taken.
    """
    own = variances == "own"
    K = len(worker) - 1
    if not own:
        worker, item = (np.append(part[0], part[1:].mean()) for part in (worker, item))
    table = JointTable.of_rows(rows.worker, rows.item, rows.system, n_systems=K, own=own)
    first, second = (worker, item) if table.worker_is_outer else (item, worker)
    response = np.zeros(len(rows.worker))
    response[0] = 1.0  # precision does not depend on the ratings; some there must be
    gamma = np.concatenate([first, second]) / residual
    with one_blas_thread():
        point = table.point(response, gamma)
        second_order = point.second_order()
    return DesignPrecision(
        point.phi * residual,
        np.asarray(point.phi @ second_order.xgx @ point.phi),
        inverse_information(second_order.expected) * residual**2,
    )
