"""The lme4 engine: R's lme4 and lmerTest through pymer4, as a reference for the native one.

It is an optional extra: pymer4 and rpy2 are imported when a fit is asked for, not before.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.errors import EngineMissingError, FitError, InputError
from humeval_power.estimation.crossed.examination import EXPLAINED, RUNS_AWAY, is_explained_exactly
from humeval_power.estimation.fit import KENWARD_ROGER_LIMIT, Fit
from humeval_power.parameters import Parameters

if TYPE_CHECKING:
    from scipy import optimize

    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.rules import Estimator

INSTALL_R = "apt-get install --no-install-recommends r-base-core r-cran-lmertest r-cran-pbkrtest"
INSTALL_PYTHON = 'pip install "pymer4==0.8.2" "rpy2==3.5.17" "pandas<3"'

# A numeric x: lme4 does not split a factor inside `||`. The four terms are uncorrelated as in the model.
MODEL = "rating ~ x + (1|worker) + (0+x|worker) + (1|item) + (0+x|item)"

# lme4's default stops up to 1e-4 above the lowest criterion, and a single start can end in another
# basin. This optimiser, in lme4's own form, tries several starts, polishes the best, and takes an SD
# for an exact zero where the criterion is not higher at zero.
SEARCH = """
humeval_power_search <- function(fn, par, lower, upper, control) {
  run <- function(start, scale, rhobeg, rhoend)
    minqa::bobyqa(start / scale, function(u) fn(u * scale), lower = lower,
                  control = list(rhobeg = rhobeg, rhoend = rhoend, maxfun = 1e4))
  starts <- c(lapply(c(1, 0.1, 5), rep, times = length(par)),
              lapply(seq_along(par), function(j) replace(rep(0.5, length(par)), j, 0)))
  ends <- lapply(starts, run, scale = 1, rhobeg = 0.2, rhoend = 1e-6)
  best <- ends[[which.min(sapply(ends, function(end) end$fval))]]
  par <- best$par
  for (radius in c(1e-1, 1e-3, 1e-5)) {
    scale <- pmax(par, 0.05)
    next_end <- run(par, scale, radius, 1e-12)
    if (next_end$fval <= fn(par)) par <- next_end$par * scale
  }
  for (j in which(par < 1e-3)) {
    at_zero <- replace(par, j, 0)
    if (fn(at_zero) <= fn(par) + 1e-9) par <- at_zero
  }
  list(par = par, value = fn(par), fval = fn(par), conv = best$ierr, message = best$msg)
}
"""
# pymer4 reads lme4's notes on convergence, which exist only with derivatives (the default).
CONTROL = (
    "optimizer='humeval_power_search', restart_edge=FALSE, check.conv.singular='ignore', "
    "check.conv.grad='ignore', check.conv.hess='ignore', check.nobs.vs.nlev='ignore', "
    "check.nobs.vs.rankZ='ignore', check.nobs.vs.nRE='ignore'"
)
KENWARD_ROGER = """
function(model) {
  adjusted <- pbkrtest::vcovAdj(model)
  c(sqrt(adjusted[2, 2]), pbkrtest::Lb_ddf(c(0, 1), vcov(model), adjusted))
}
"""


class KenwardRoger(NamedTuple):
    """Adjusted standard error of the effect and its degrees of freedom; NaN where not computed."""

    standard_error: float
    df: float


def fit_lme4(ratings: RatingTable, *, estimator: Estimator = "reml") -> Fit:
    """Fit the model with lme4; df from lmerTest (Satterthwaite) and pbkrtest (Kenward-Roger).

    Kenward-Roger's values are NaN with ML, without pbkrtest, and above `KENWARD_ROGER_LIMIT` ratings.
    `not_identified` is left empty: lme4 does not tell.

    Raises
    ------
    EngineMissingError
        R, one of its packages, pymer4 or rpy2 is missing or does not work.
    FitError
        lme4 could not fit the model to this table.
    """
    if is_explained_exactly(ratings):
        raise FitError(EXPLAINED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pymer4 and rpy2 use what pandas and numpy call deprecated
        lmer_class, r = _load()
        with _quiet_r():
            model = _fitted(lmer_class, ratings, estimator=estimator)
            kenward_roger = _kenward_roger(r, model, n_ratings=len(ratings.rating), estimator=estimator)
    return _as_fit(model, kenward_roger, ratings=ratings, estimator=estimator)


def _load() -> tuple[Any, Any]:
    """pymer4's model class and the running R, in which the optimiser is now defined."""
    try:
        from rpy2 import robjects
        from rpy2.robjects.packages import importr

        with _quiet_r():
            for package in ("lme4", "lmerTest", "minqa"):
                importr(package)
            from pymer4.models import Lmer
    # rpy2 answers a missing or unsuitable R with almost any exception, according to its version.
    except Exception as error:
        raise EngineMissingError(
            "The lme4 engine needs R with lmerTest, and pymer4 with rpy2, of which something is missing or "
            f"fails ({_first_line(error)}): install them with `{INSTALL_R}` and `{INSTALL_PYTHON}`."
        ) from error
    robjects.r(SEARCH)
    return Lmer, robjects.r


@contextmanager
def _quiet_r() -> Iterator[None]:
    """Keep R's notes and warnings off standard error; what matters comes back as an error or message."""
    from rpy2 import robjects
    from rpy2.rinterface_lib import callbacks

    loud = callbacks.consolewrite_warnerror
    level = robjects.r("getOption('warn')")[0]
    callbacks.consolewrite_warnerror = lambda _text: None
    robjects.r("options(warn = -1)")  # R would print them later, when this is over
    try:
        yield
    finally:
        robjects.r(f"options(warn = {level})")
        callbacks.consolewrite_warnerror = loud


def _fitted(lmer_class: Any, ratings: RatingTable, *, estimator: Estimator) -> Any:
    """A fitted pymer4 model of the ratings."""
    table = pd.DataFrame(
        {
            "worker": [f"w{code}" for code in ratings.worker],
            "item": [f"i{code}" for code in ratings.item],
            "x": ratings.system - 0.5,
            "rating": ratings.rating,
        }
    )
    model = lmer_class(MODEL, data=table)
    try:
        model.fit(summarize=False, REML=estimator == "reml", control=CONTROL, no_warnings=True)
    except Exception as error:  # an R error arrives as rpy2's own exception
        raise FitError(f"lme4 could not fit this table: {_first_line(error)}") from error
    return model


def _kenward_roger(r: Any, model: Any, *, n_ratings: int, estimator: Estimator) -> KenwardRoger:
    if estimator == "ml" or n_ratings > KENWARD_ROGER_LIMIT:
        return KenwardRoger(math.nan, math.nan)
    try:
        standard_error, df = r(KENWARD_ROGER)(model.model_obj)
    except Exception:  # pbkrtest is absent, or fails on this table (its information is singular)
        return KenwardRoger(math.nan, math.nan)
    return KenwardRoger(float(standard_error), float(df))


def _as_fit(model: Any, kenward_roger: KenwardRoger, *, ratings: RatingTable, estimator: Estimator) -> Fit:
    sds = _standard_deviations(model.ranef_var)
    effect = model.coefs.loc["x"]
    baseline = float(model.coefs.loc["(Intercept)", "Estimate"])
    parameters = Parameters.from_dict({"baseline": baseline, "effect": float(effect["Estimate"]), **sds})
    search = model.model_obj.slots["optinfo"]
    return Fit(
        parameters=parameters,
        estimator=estimator,
        engine="lme4",
        criterion=-2.0 * float(model.logLike),
        standard_error=float(effect["SE"]),
        standard_error_adjusted=kenward_roger.standard_error,
        df_satterthwaite=float(effect.get("DF", math.nan)),
        df_kenward_roger=kenward_roger.df,
        n_ratings=len(ratings.rating),
        n_workers=len(set(ratings.worker.tolist())),
        n_items=len(set(ratings.item.tolist())),
        converged=int(search.rx2("conv").rx2("opt")[0]) == 0,
        boundary=tuple(name for name, sd in sds.items() if sd == 0),
        message="; ".join(str(line) for line in model.warnings),
    )


def _standard_deviations(table: pd.DataFrame) -> dict[str, float]:
    """SDs by their names. lme4 orders the terms by number of levels and numbers repeated groups
    ('worker', 'worker.1'): a component is found by its group and its column, never by position."""
    deviations = {
        (str(group).split(".")[0], str(column)): float(sd)
        for group, column, sd in zip(table.index, table["Name"], table["Std"], strict=True)
    }
    sds = {
        f"sd_{group}_{name}": deviations[group, column]
        for group in ("worker", "item")
        for name, column in (("intercept", "(Intercept)"), ("slope", "x"))
    }
    residual = next(sd for (group, _), sd in deviations.items() if group == "Residual")
    return {**sds, "sd_residual": residual}


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


# The statsmodels engine: MixedLM's likelihood with crossed variance components, for small tables.

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
    fitted = _search(_model(ratings.rating, X, blocks, reml=estimator == "reml"))
    ratio = np.where(np.abs(fitted.x) < NEGLIGIBLE, 0.0, np.abs(fitted.x))
    if not (np.isfinite(ratio).all() and np.isfinite(fitted.fun)):
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
        criterion=float(fitted.fun),
        standard_error=solved.standard_error,
        standard_error_adjusted=math.nan,
        df_satterthwaite=math.nan,
        df_kenward_roger=math.nan,
        n_ratings=n_ratings,
        n_workers=blocks[0].shape[1],
        n_items=blocks[2].shape[1],
        converged=bool(fitted.success),
        boundary=tuple(name for name, sd in sds.items() if sd == 0),
        message=str(fitted.message),
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
