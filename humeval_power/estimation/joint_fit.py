"""Fit the means of several systems together, with variances that all systems share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from humeval_power.errors import FitError, InputError
from humeval_power.estimation import joint_closed_form, vanishing_residual
from humeval_power.estimation.native import (
    RatingTable,
    count_optima,
    lowest_end,
    one_blas_thread,
    tiny_starts,
)
from humeval_power.kernels import compound_reml, reml
from humeval_power.kernels import compound_symmetric as model

Floats = NDArray[np.float64]

VARIANCES = ("sd_worker", "sd_worker_system", "sd_item", "sd_item_system", "sd_residual")
_TOLERANCE = 1e-10  # fall of the criterion that a further step would bring
_MAX_STEPS = 200
_STARTS = (0.1, 1.0, 0.001)  # relative variances to start from; the best end is kept
_SMALL_TABLE = 2_000  # ratings up to which a fit starts from all of them
_FAR = 100.0  # relative variances above which no search starts: its factors would lose their digits
_TINY_TABLE = 150  # ratings up to which it starts from every pattern of components too
_MOST_COLUMNS = 5_000  # levels of the smaller factor times systems: the order of a dense matrix
_RANK_TOLERANCE = 1e-8  # relative to unit diagonal; rounding leaves about 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class JointFit:
    """REML fit of rating = mean[system] + worker + worker:system + item + item:system + residual.

    `means` (K,) are on [0, 1], `covariance` (K, K) is their covariance and `covariance_adjusted` Kenward
    and Roger's (1997). `standard_deviations` go by the names of VARIANCES; the SD of a worker's own
    difference between two systems is sqrt(2) sd_worker_system. `derivatives` (q, K, K) are those of
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
        contrasts @ fitted.means,
        root(variance),
        root(variance_of(fitted.covariance_adjusted)),
        df(fitted.uncertainty_observed),
        df(fitted.uncertainty),
    )


def fit_joint(ratings: RatingTable, *, closed_form: bool = True) -> JointFit:
    """Fit all systems of a table together by REML.

    Parameters
    ----------
    ratings : any table of two systems or more, codes 0, 1, ...; complete or not.
    closed_form : use the mean squares of a complete balanced table, which need no search.

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
    _check(len(ratings.rating), n_workers, n_items, K)
    strata = joint_closed_form.fit_complete(ratings) if closed_form else None
    if strata is None:
        with one_blas_thread():
            return _by_search(ratings, (n_workers, n_items, K))
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


def _check(n: int, n_workers: int, n_items: int, K: int) -> None:
    if K < 2:
        raise InputError(f"At least two systems are needed; the table has {K}.")
    for noun, count in (("workers", n_workers), ("items", n_items)):
        if count < 2:
            raise InputError(
                f"At least 2 {noun} are needed to estimate how {noun} differ; this table has {count}."
            )
    if n < K + len(VARIANCES):
        raise InputError(f"{n} ratings are too few for {K} means and {len(VARIANCES)} variances.")
    if min(n_workers, n_items) * K > _MOST_COLUMNS:
        raise InputError(
            f"{n_workers:,} workers, {n_items:,} items and {K} systems are too many for a joint fit: it "
            f"needs a dense matrix with a row for each system of each "
            f"{'worker' if n_workers <= n_items else 'item'}, and takes at most {_MOST_COLUMNS:,}. Fit "
            "the systems in pairs."
        )


def _by_search(ratings: RatingTable, sizes: tuple[int, int, int]) -> JointFit:
    n_workers, n_items, K = sizes
    worker_is_outer = n_workers <= n_items
    outer, inner = (ratings.worker, ratings.item) if worker_is_outer else (ratings.item, ratings.worker)
    table = model.build_table(outer, inner, ratings.system, n_systems=K)
    centre = np.bincount(ratings.system, ratings.rating) / np.bincount(ratings.system)
    data = model.response_products(table, ratings.rating - centre[ratings.system])
    smallest = 1e-14 * float(ratings.rating @ ratings.rating)  # rounding leaves about 1e-16
    best, n_optima = _best(table, data, smallest)
    if best.status == reml.NO_RESIDUAL:
        raise FitError(vanishing_residual.EXPLAINED)
    if best.status == reml.RUNAWAY:
        raise FitError(vanishing_residual.RUNS_AWAY)
    order = [0, 1, 2, 3, 4] if worker_is_outer else [2, 3, 0, 1, 4]
    sigma2 = best.profile.rss / (table.n - K)
    variances = (np.append(best.gamma, 1.0) * sigma2)[order]
    info = model.information(table, best.factor, best.profile)
    unknown = [VARIANCES[order[t]] for t in _unidentified(table, data, best, info)]
    return JointFit(
        means=best.profile.beta + centre,
        criterion=best.profile.criterion,
        standard_deviations=dict(zip(VARIANCES, np.sqrt(variances).tolist(), strict=True)),
        n_ratings=table.n,
        n_workers=n_workers,
        n_items=n_items,
        converged=best.status == reml.CONVERGED,
        boundary=tuple(
            name for name, v in zip(VARIANCES, variances, strict=True) if v == 0 and name not in unknown
        ),
        not_identified=tuple(name for name in VARIANCES if name in unknown),
        n_optima=n_optima,
        **_precision(table, best, info, sigma2)._asdict(),
    )


def _best(
    table: model.Table, data: model.Products, smallest_rss: float
) -> tuple[compound_reml.Optimum, int]:
    """The lowest end of searches from several starts, and how many minima they found; zeros are lifted
    once, as a lower minimum can lie inside."""

    def search(start: Floats) -> compound_reml.Optimum:
        end = compound_reml.optimise(
            table, data, start=start, tolerance=_TOLERANCE, max_steps=_MAX_STEPS, smallest_rss=smallest_rss
        )
        return end._replace(status=reml.RUNAWAY) if _runs_away(table, data, end) else end

    starts = [np.full(4, value) for value in (_STARTS if table.n <= _SMALL_TABLE else _STARTS[:1])]
    if table.n <= _TINY_TABLE:
        starts += [start for start in tiny_starts() if start.max() < _FAR]

    def lowest() -> compound_reml.Optimum:
        return ends[lowest_end(np.array(criteria()), np.array([end.status for end in ends]))]

    def criteria() -> list[float]:
        return [end.profile.criterion for end in ends]

    ends = [search(start) for start in starts]
    best = lowest()
    usable = best.status not in (reml.NO_RESIDUAL, reml.RUNAWAY)
    if table.n <= _SMALL_TABLE and (best.gamma == 0).any() and usable:
        ends.append(search(np.where(best.gamma == 0, 0.01, best.gamma)))
        best = lowest()
    return best, count_optima(np.array(criteria()), np.array([end.status for end in ends]))


def _runs_away(table: model.Table, data: model.Products, end: compound_reml.Optimum) -> bool:
    """Whether the criterion does not rise from here as the residual vanishes."""
    share = float(vanishing_residual.residual_share(end.gamma, np.ones(4)))
    if end.status == reml.NO_RESIDUAL or share >= vanishing_residual.SUSPECT_SHARE:
        return False
    if share <= vanishing_residual.NO_SHARE:
        return True
    try:
        factor = model.factorise(table, vanishing_residual.far_out(end.gamma, share))
    except LinAlgError:
        return True
    beyond = model.profile(table, factor, data).criterion
    return bool(beyond <= end.profile.criterion + vanishing_residual.LEAST_RISE)


class _Precision(NamedTuple):
    """The fields of JointFit of the same names."""

    covariance: Floats
    covariance_adjusted: Floats
    derivatives: Floats
    uncertainty: Floats
    uncertainty_observed: Floats


def _precision(
    table: model.Table, best: compound_reml.Optimum, info: model.Information, sigma2: float
) -> _Precision:
    """Covariances of the means and of the variance parameters, Kenward and Roger (1997)."""
    phi = best.profile.phi  # all of `info` is in units of sigma^2 = 1
    expected = expected_information(info, phi)
    inverse = _inverse(expected)
    P = -info.xgx
    middle = np.einsum("st,stab->ab", inverse, info.xggx - np.einsum("sab,bc,tcd->stad", P, phi, P))
    adjusted = phi + 2.0 * phi @ middle @ phi
    average = compound_reml.average_information(table, best.factor, best.profile) * sigma2**2
    free = np.append(best.gamma > 0, True)
    observed = np.zeros((5, 5))
    observed[np.ix_(free, free)] = _inverse((2.0 * average - expected)[np.ix_(free, free)])
    return _Precision(
        covariance=phi * sigma2,
        covariance_adjusted=adjusted * sigma2,
        derivatives=np.asarray(phi @ info.xgx @ phi),
        uncertainty=inverse * sigma2**2,
        uncertainty_observed=observed * sigma2**2,
    )


def expected_information(info: model.Information, phi: Floats) -> Floats:
    """Expected REML information of the five variances in units of the residual's, shape (5, 5)."""
    cross = np.einsum("ab,stba->st", phi, info.xggx)
    fixed = np.einsum("ab,sbc,cd,tda->st", phi, info.xgx, phi, info.xgx)
    return np.asarray(0.5 * (info.gg - cross - cross.T + fixed))


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; directions in which it is flat are left out."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    inverse = np.linalg.pinv(matrix / np.outer(scale, scale), rcond=_RANK_TOLERANCE, hermitian=True)
    return np.asarray(inverse / np.outer(scale, scale))


def _unidentified(
    table: model.Table, data: model.Products, best: compound_reml.Optimum, info: model.Information
) -> list[int]:
    """Positions of the variances that trade off against each other, whatever the ratings."""
    phi = best.profile.phi
    if (best.gamma == 0).any():
        factor = model.factorise(table, np.where(best.gamma == 0, 1.0, best.gamma))
        prof = model.profile(table, factor, data)
        info, phi = model.information(table, factor, prof), prof.phi
    expected = expected_information(info, phi)
    scale = np.sqrt(np.diag(expected))
    values, vectors = np.linalg.eigh(expected / np.outer(scale, scale))
    flat = np.abs(vectors[:, values < _RANK_TOLERANCE])
    return [] if flat.shape[1] == 0 else np.flatnonzero(flat.max(axis=1) > 1e-6).tolist()
