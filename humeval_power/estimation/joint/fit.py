"""Fit the means of several systems together, with variances that all systems share or that each has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.comparisons import SystemVariances
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed import vanishing_residual
from humeval_power.estimation.crossed.problem import RatingTable
from humeval_power.estimation.crossed.search_ends import count_optima, lowest_end, tiny_starts
from humeval_power.estimation.joint import closed_form as joint_closed_form
from humeval_power.estimation.joint.table import JointTable
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.joint.complete import CompletePoint, Strata
from humeval_power.kernels.joint.reml import (
    Optimum,
    Point,
    SecondOrder,
    average_information,
    optimise,
)

Floats = NDArray[np.float64]

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
        with np.errstate(divide="ignore", invalid="ignore"):
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
    if own:
        with one_blas_thread():
            return _by_search(ratings, (n_workers, n_items, K), called, closed_form=closed_form)
    strata = joint_closed_form.fit_complete(ratings) if closed_form else None
    if strata is None:
        with one_blas_thread():
            return _by_search(ratings, (n_workers, n_items, K), called, closed_form=False)
    if not strata.residual_is_positive:
        raise FitError(vanishing_residual.EXPLAINED)
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
    array = joint_closed_form.complete_array(ratings) if closed_form else None
    start: Point
    if array is not None:
        start = CompletePoint.of_table(Strata.of_table(array), np.zeros(2 * half))
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
        raise FitError(vanishing_residual.EXPLAINED)
    if best.status == reml.RUNAWAY:
        raise FitError(vanishing_residual.RUNS_AWAY)
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


def _best(anywhere: Point, n: int, smallest_rss: float) -> tuple[Optimum, int]:
    """The lowest end of searches from several starts, and how many minima they found; zeros are lifted
    once, as a lower minimum can lie inside."""
    half = len(anywhere.gamma) // 2
    places = np.repeat(np.arange(4), np.tile([1, half - 1], 2))  # of the four kinds of variances

    def search(start: Floats) -> Optimum:
        end = optimise(
            anywhere.moved(start), tolerance=_TOLERANCE, max_steps=_MAX_STEPS, smallest_rss=smallest_rss
        )
        return end._replace(status=reml.RUNAWAY) if _runs_away(end) else end

    starts = [np.full(4, value) for value in (_STARTS if n <= _SMALL_TABLE else _STARTS[:1])]
    if n <= _TINY_TABLE:
        starts += [start for start in tiny_starts(len(VARIANCES) - 1) if start.max() < _FAR]

    def lowest() -> Optimum:
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


def _runs_away(end: Optimum) -> bool:
    """Whether the criterion does not rise from here as the residual vanishes."""
    gamma = end.point.gamma
    half = len(gamma) // 2
    loadings = np.tile(np.append(1.0, np.full(half - 1, 1.0 / (half - 1))), 2)  # means over the systems
    share = float(vanishing_residual.residual_share(gamma, loadings))
    if end.status == reml.NO_RESIDUAL or share >= vanishing_residual.SUSPECT_SHARE:
        return False
    if share <= vanishing_residual.NO_SHARE:
        return True
    try:
        beyond = end.point.moved(vanishing_residual.far_out(gamma, share)).criterion
    except LinAlgError:
        return True
    return bool(beyond <= end.point.criterion + vanishing_residual.LEAST_RISE)


class JointPrecision(NamedTuple):
    """How well a fit knows its means: the fields of JointFit of the same names."""

    covariance: Floats
    covariance_adjusted: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats


def precision_of(point: Point, second: SecondOrder, sigma2: float) -> JointPrecision:
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


def _unidentified(point: Point, second: SecondOrder) -> list[int]:
    """Positions of the variances that trade off against each other, whatever the ratings."""
    if (point.gamma == 0).any():
        second = point.moved(np.where(point.gamma == 0, 1.0, point.gamma)).second_order()
    known = np.diag(second.expected)
    # a variance of which no rating says anything is 0 here but for rounding, on either side of it
    scale = np.sqrt(np.where(known > _NO_INFORMATION * known.max(), known, np.inf))
    values, vectors = np.linalg.eigh(second.expected / np.outer(scale, scale))
    flat = np.abs(vectors[:, values < _RANK_TOLERANCE])
    return [] if flat.shape[1] == 0 else np.flatnonzero(flat.max(axis=1) > 1e-6).tolist()
