"""The statsmodels engine: MixedLM's likelihood with crossed variance components, for small tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.vanishing_residual import EXPLAINED, RUNS_AWAY, is_explained_exactly
from humeval_power.estimation.fit import Fit
from humeval_power.parameters import Parameters

if TYPE_CHECKING:
    from scipy import optimize

    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.rules import Estimator

Array = NDArray[np.float64]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

MAX_RATINGS = 3000
COMPONENTS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
# Relative SDs. Two starts, because the criterion can have more than one minimum.
STARTS = (1.0, 0.2)
# Powell's search halts on the relative change of the criterion; a relative SD below NEGLIGIBLE moves
# the criterion by less than it can tell, and is an exact zero.
TOLERANCE = 1e-13
NEGLIGIBLE = 1e-4


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Generalised least squares at given variance ratios."""

    baseline: float
    effect: float
    standard_error: float
    sd_residual: float


def fit_statsmodels(ratings: RatingTable, *, estimator: Estimator = "reml") -> Fit:
    """Fit the model with the likelihood of statsmodels' MixedLM and Powell's search.

    MixedLM.fit itself is not used: its gradient optimisers stop at wrong points where an SD is zero,
    it fails where its Hessian is singular, and its standard error of the effect, taken from that
    Hessian, is off on unbalanced tables. Degrees of freedom are NaN: statsmodels has none.

    Raises
    ------
    InputError
        More than `MAX_RATINGS` ratings.
    FitError
        Ratings without residual variation, or whose likelihood is highest without one.
    """
    n_ratings = len(ratings.rating)
    if n_ratings > MAX_RATINGS:
        raise InputError(
            f"The statsmodels engine takes at most {MAX_RATINGS:,} ratings, because it works with dense "
            f"matrices of all workers and items for every step; this table has {n_ratings:,}: "
            "use engine 'native' or 'lme4'."
        )
    X, blocks = _design(ratings)
    if is_explained_exactly(ratings):
        raise FitError(EXPLAINED)
    found = _search(_model(ratings.rating, X, blocks, reml=estimator == "reml"))
    ratio = np.where(np.abs(found.x) < NEGLIGIBLE, 0.0, np.abs(found.x))
    if not (np.isfinite(ratio).all() and np.isfinite(found.fun)):
        raise FitError(RUNS_AWAY)
    try:
        solved = _least_squares(ratings.rating, X, blocks, ratio=ratio, reml=estimator == "reml")
    except np.linalg.LinAlgError as error:
        raise FitError(RUNS_AWAY) from error
    sds = dict(zip(COMPONENTS, (ratio * solved.sd_residual).tolist(), strict=True))
    return Fit(
        parameters=Parameters.from_dict(
            {"baseline": solved.baseline, "effect": solved.effect, **sds, "sd_residual": solved.sd_residual}
        ),
        estimator=estimator,
        engine="statsmodels",
        criterion=float(found.fun),
        standard_error=solved.standard_error,
        standard_error_adjusted=math.nan,
        df_satterthwaite=math.nan,
        df_kenward_roger=math.nan,
        n_ratings=n_ratings,
        n_workers=blocks[0].shape[1],
        n_items=blocks[2].shape[1],
        converged=bool(found.success),
        boundary=tuple(name for name, sd in sds.items() if sd == 0),
        message=str(found.message),
    )


def _design(ratings: RatingTable) -> tuple[Array, list[Array]]:
    """X of shape (N, 2) and the four blocks of Z in the order of `COMPONENTS`."""
    x = ratings.system - 0.5
    worker, item = _indicators(ratings.worker), _indicators(ratings.item)
    X = np.column_stack([np.ones_like(x), x])
    return X, [worker, worker * x[:, None], item, item * x[:, None]]


def _indicators(codes: NDArray[np.int64]) -> Array:
    """One column for each code that occurs, shape (N, levels)."""
    indicators: Array = (codes[:, None] == np.unique(codes)).astype(np.float64)
    return indicators


def _model(rating: Array, X: Array, blocks: list[Array], *, reml: bool) -> Any:
    """A MixedLM in which all ratings are one group, so that workers and items may cross."""
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    columns = [[[str(level) for level in range(block.shape[1])]] for block in blocks]
    components = VCSpec(list(COMPONENTS), columns, [[block] for block in blocks])
    model = MixedLM(rating, X, groups=np.zeros(len(rating)), exog_vc=components)
    model.reml, model.cov_pen, model.fe_pen = reml, None, None
    model._cov_sing = 0
    return model


def _search(model: Any) -> optimize.OptimizeResult:
    """Lowest -2 log likelihood over the relative SDs, whose sign is free: only their squares count."""
    from scipy import optimize

    def criterion(relative_sd: Vector) -> float:
        try:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                value = -2.0 * float(model.loglike(relative_sd, profile_fe=True))
        except np.linalg.LinAlgError:  # a step so long that the residual vanishes beside the SDs
            return math.inf
        return value if math.isfinite(value) else math.inf

    def descend(start: Vector) -> optimize.OptimizeResult:
        return optimize.minimize(
            criterion, start, method="Powell", options={"ftol": TOLERANCE, "xtol": 1e-8, "maxiter": 500}
        )

    # A second descent has fresh directions: the first set may have collapsed.
    ends = [descend(descend(np.full(len(COMPONENTS), start)).x) for start in STARTS]
    return min(ends, key=lambda end: float(end.fun))


def _least_squares(
    rating: Array, X: Array, blocks: list[Array], *, ratio: Array, reml: bool
) -> LeastSquares:
    """GLS for H = I + sum_i ratio_i^2 Z_i Z_i', by the Woodbury identity."""
    Z = np.hstack([block * sd for block, sd in zip(blocks, ratio, strict=True)])
    data = np.column_stack([X, rating])
    inner = np.eye(Z.shape[1]) + Z.T @ Z
    gram = data.T @ data - (Z.T @ data).T @ np.linalg.solve(inner, Z.T @ data)
    information, right = gram[:2, :2], gram[:2, 2]
    baseline, effect = np.linalg.solve(information, right).tolist()
    n_free = len(rating) - (2 if reml else 0)
    variance = float(gram[2, 2] - right @ np.array([baseline, effect])) / n_free
    inverse = float(np.linalg.inv(information)[1, 1])
    if not (variance > 0 and inverse > 0):  # rounding has taken what was left of a residual
        raise FitError(RUNS_AWAY)
    return LeastSquares(baseline, effect, math.sqrt(variance * inverse), math.sqrt(variance))
