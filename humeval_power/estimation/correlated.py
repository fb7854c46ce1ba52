"""Intercepts and slopes that correlate: by a search over the slope of one on the other.

A factor's covariance is M diag(d) M' with M = [[1, 0], [m, 1]]: given m its columns are [1 + m x, x] with
independent effects, which the kernels fit. m is searched over; standard errors and df are then those of the
model in (variance of intercepts, covariance, variance of slopes), from dense matrices of all workers and items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.examination import RUNS_AWAY
from humeval_power.estimation.crossed.fits import MESSAGES, fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels, RatingTable
from humeval_power.estimation.fit import CorrelatedFactor, CorrelationFit, CovariateEffect, Fit
from humeval_power.kernels.crossed import information, reml
from humeval_power.parameters import Parameters
from humeval_power.uncertainty import VarianceUncertainty

Floats = NDArray[np.float64]

MOST_COLUMNS = 4000  # of random effects: the dense matrices of the df have their square
_FACTORS: tuple[CorrelatedFactor, ...] = ("worker", "item")
_GRID = np.linspace(-1.2, 1.2, 7)  # angles at which the search begins
_EDGE = 0.5 * math.pi - 1e-4
_TOLERANCE = 1e-9


class CorrelatedOptimum(NamedTuple):
    """The lowest criterion, with m of each correlated factor, relative variances and coefficients."""

    slopes: dict[CorrelatedFactor, float]
    criterion: float
    gamma: Floats
    sigma2: float
    status: int


def fit_correlated(
    ratings: RatingTable,
    base: Fit,
    correlated: Sequence[CorrelatedFactor],
    contrasts: Sequence[tuple[str, str, Floats]] = (),
) -> Fit:
    """The fit with correlated intercepts and slopes of `correlated`, from `base`, the fit without.

    Every correlation is tested by its likelihood ratio against the model in which it alone is zero.

    Raises
    ------
    InputError
        Variances that the table cannot tell apart, or too many workers and items for dense matrices.
    FitError
        A likelihood that is highest without a residual.
    """
    if base.not_identified:
        raise InputError(
            f"This table does not tell {', '.join(base.not_identified)} apart, so that a correlation means "
            "nothing: fit it without one."
        )
    problem = CrossedProblem.of_ratings(ratings)
    n_columns = sum(2 * (int(factor.codes.max()) + 1) for factor in problem.factors)
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"Correlated intercepts and slopes need dense matrices of all {n_columns:,} random effects; "
            f"they are fitted up to {MOST_COLUMNS:,}. Leave the correlation out."
        )
    restricted = base.estimator == "reml"
    wanted = [factor for factor in _FACTORS if factor in correlated]
    best = _search(problem, ratings.rating, base, wanted, restricted)
    if best.status in (reml.NO_RESIDUAL, reml.RUNAWAY):
        raise FitError(RUNS_AWAY)
    notices = []
    for factor in wanted:
        others = [other for other in wanted if other != factor]
        without = (
            base.criterion if not others else _search(problem, ratings.rating, base, others, restricted)[1]
        )
        fall = max(without - best.criterion, 0.0)
        notices.append(
            CorrelationFit(factor, _correlation(best, factor), fall, float(special.chdtrc(1, fall)))
        )
    return _finished(problem, ratings, base, best, tuple(notices), contrasts)


def _search(
    problem: CrossedProblem,
    response: Floats,
    base: Fit,
    correlated: Sequence[CorrelatedFactor],
    restricted: bool,
) -> CorrelatedOptimum:
    """The lowest criterion over m, as an angle on the scale of the uncorrelated fit."""
    from scipy import optimize

    values = base.parameters
    names = {factor: (f"sd_{factor}_intercept", f"sd_{factor}_slope") for factor in correlated}
    scale = np.array(
        [
            max(getattr(values, slope), 0.1 * values.sd_residual)
            / max(getattr(values, intercept), 0.1 * values.sd_residual)
            for intercept, slope in names.values()
        ]
    )
    start = np.array([getattr(values, name) for name in problem.components]) ** 2 / values.sd_residual**2

    def at(angles: Floats) -> CorrelatedOptimum:
        m = dict(zip(correlated, scale * np.tan(np.clip(angles, -_EDGE, _EDGE)), strict=True))
        fitted = fit_batch(
            _turned(problem, m),
            response[None],
            start=np.maximum(start, 1e-3),
            restricted=restricted,
            tolerance=1e-11,
        )
        height = float(np.nan_to_num(fitted.criterion[0], nan=np.inf))
        return CorrelatedOptimum(m, height, fitted.gamma[0], float(fitted.sigma2[0]), int(fitted.status[0]))

    here = np.zeros(len(correlated))
    for place in range(len(correlated)):  # one at a time, then all together
        heights = [at(_with(here, place, angle)).criterion for angle in _GRID]
        k = int(np.argmin(heights))
        low = _GRID[k - 1] if k else -_EDGE
        high = _GRID[k + 1] if k + 1 < len(_GRID) else _EDGE
        line = optimize.minimize_scalar(
            lambda angle, here=here, place=place: at(_with(here, place, angle)).criterion,
            bounds=(low, high),
            method="bounded",
            options={"xatol": _TOLERANCE},
        )
        here = _with(here, place, float(line.x))
    if len(correlated) > 1:
        simplex = here + np.array([[0.0, 0.0], [0.05, 0.0], [0.0, 0.05]])
        optimum = optimize.minimize(  # type: ignore[call-overload]  # its stub has no simplex
            lambda angles: at(np.asarray(angles)).criterion,
            here.tolist(),
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-9, "initial_simplex": simplex},
        )
        here = np.asarray(optimum.x)
    ends = [at(here), at(np.zeros(len(correlated)))]
    return min(ends, key=lambda end: end.criterion)


def _with(angles: Floats, place: int, angle: float) -> Floats:
    changed = angles.copy()
    changed[place] = angle
    return changed


def _turned(problem: CrossedProblem, m: dict[CorrelatedFactor, float]) -> CrossedProblem:
    """The problem with columns [1 + m x, x] of the correlated factors."""
    levels = list(problem.factors)
    for factor, slope in m.items():
        codes, columns = levels[_FACTORS.index(factor)]
        turned = np.column_stack([columns[:, 0] + slope * columns[:, 1], columns[:, 1]])
        levels[_FACTORS.index(factor)] = Levels(codes, turned)
    return CrossedProblem.of_levels(levels, problem.x)


def _correlation(optimum: CorrelatedOptimum, factor: CorrelatedFactor) -> float:
    first, second = map(float, optimum.gamma[2 * _FACTORS.index(factor) :][:2])
    m = optimum.slopes[factor]
    spread = math.sqrt(first * (m**2 * first + second))
    return min(max(m * first / spread, -1.0), 1.0) if spread > 0 else 0.0  # rounding must not pass 1


class _Parameter(NamedTuple):
    """A variance or covariance, relative to the residual's: dH = sum of z_r z_c' over pairs of columns."""

    name: str
    value: float
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    free: bool


def _parameters(problem: CrossedProblem, optimum: CorrelatedOptimum) -> list[_Parameter]:
    parameters, first = [], 0
    nouns = ("worker", "item", "document")
    for noun, factor, (d0, d1) in zip(nouns, problem.factors, optimum.gamma.reshape(-1, 2), strict=False):
        a = first + np.arange(int(factor.codes.max()) + 1)
        b = a + len(a)
        first += 2 * len(a)
        m = {str(key): value for key, value in optimum.slopes.items()}.get(noun)
        parameters.append(_Parameter(f"sd_{noun}_intercept", d0, a, a, bool(d0 > 0)))
        if m is not None:
            both = np.concatenate([a, b]), np.concatenate([b, a])
            parameters.append(_Parameter(f"covariance_{noun}", m * d0, *both, bool(d0 > 0)))
        v1 = d1 + (m or 0.0) ** 2 * d0
        parameters.append(_Parameter(f"sd_{noun}_slope", v1, b, b, bool(v1 > 0)))
    return parameters


def dense_quantities(
    problem: CrossedProblem, response: Floats, parameters: Sequence[_Parameter]
) -> tuple[information.Fitted, Floats]:
    """What `information` needs of a model whose variances and covariances are `parameters`, and the
    coefficients of the fixed effects."""
    Z = np.column_stack(
        [
            (factor.codes[:, None] == np.arange(int(factor.codes.max()) + 1)) * column[:, None]
            for factor in problem.factors
            for column in factor.columns.T
        ]
    )
    order = Z.shape[1]
    gamma = np.zeros((order, order))
    for one in parameters:
        gamma[one.rows, one.columns] = one.value
    M, X = Z.T @ Z, np.column_stack([problem.x, response])
    # H^-1 = I - Z (gamma^-1 + M)^-1 Z', in a form that a singular gamma does not spoil
    inside = np.linalg.solve(np.eye(order) + gamma @ M, gamma)
    inside = 0.5 * (inside + inside.T)
    T = M - M @ inside @ M
    seen = Z.T @ X
    U = seen - M @ inside @ seen
    products = X.T @ X - seen.T @ inside @ seen
    p = problem.x.shape[1]
    phi = np.linalg.inv(products[:p, :p])
    beta = phi @ products[:p, p]
    v = U[:, p] - U[:, :p] @ beta
    U = U[:, :p]
    pairs = [(one.rows, one.columns) for one in parameters]
    weighted = [np.bincount(r, v[c], order) for r, c in pairs]  # K_t Z'Py
    projected = T - U @ phi @ U.T
    return (
        information.Fitted(
            gamma=np.array([one.value for one in parameters]),
            phi=phi,
            rss=np.array(products[p, p] - beta @ products[:p, p]),
            trace=np.array([T[c, r].sum() for r, c in pairs]),
            quadratic=np.array([[a @ projected @ b for b in weighted] for a in weighted]),
            square=np.array([v[r] @ v[c] for r, c in pairs]),
            norm=np.array(
                [[(T[np.ix_(c2, r1)] * T[np.ix_(c1, r2)].T).sum() for r2, c2 in pairs] for r1, c1 in pairs]
            ),
            xgx=np.array([U[r].T @ U[c] for r, c in pairs]),
            xggx=np.array([[U[r1].T @ T[np.ix_(c1, r2)] @ U[c2] for r2, c2 in pairs] for r1, c1 in pairs]),
        ),
        beta,
    )


def _finished(
    problem: CrossedProblem,
    ratings: RatingTable,
    base: Fit,
    optimum: CorrelatedOptimum,
    correlations: tuple[CorrelationFit, ...],
    contrasts: Sequence[tuple[str, str, Floats]],
) -> Fit:
    restricted = base.estimator == "reml"
    parameters = _parameters(problem, optimum)
    center = float(ratings.rating.mean())
    fitted, beta = dense_quantities(problem, ratings.rating - center, parameters)
    n, p = problem.x.shape
    free = np.array([one.free for one in parameters])
    sigma2 = float(fitted.rss) / (n - p if restricted else n)

    def look(contrast: Floats) -> list[float]:
        precision = information.precision(fitted, contrast, n=n, restricted=restricted, free=free)
        return [float(value) if np.isfinite(value) else math.nan for value in precision]

    error, adjusted, satterthwaite, kenward_roger = look(problem.contrast)
    variances = np.append([one.value for one in parameters], 1.0) * sigma2
    names = [*(one.name for one in parameters), "sd_residual"]
    deviations = {
        name: math.sqrt(max(value, 0.0))
        for name, value in zip(names, variances, strict=True)
        if name.startswith("sd_")
    }
    covariance = information.pseudo_inverse(
        information.expected_information(fitted.information(n), fitted.phi, sigma2, True)
    )
    kept = [place for place, name in enumerate(names) if name.startswith("sd_")]
    own = covariance[np.ix_(kept, kept)]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(np.diag(own)) / (2 * np.sqrt(variances[kept]))
    return replace(
        base,
        parameters=Parameters.from_dict(
            {
                "baseline": center + float(beta[0]),
                "effect": float(beta[1]),
                **deviations,
                **{f"correlation_{one.factor}": one.value for one in correlations},
            }
        ),
        criterion=optimum.criterion,
        standard_error=error,
        standard_error_adjusted=adjusted,
        df_satterthwaite=satterthwaite,
        df_kenward_roger=kenward_roger,
        converged=optimum.status == reml.CONVERGED,
        message=MESSAGES[optimum.status],
        standard_errors={
            "baseline": math.sqrt(sigma2 * fitted.phi[0, 0]),
            "effect": error,
            **{
                names[place]: float(value) if np.isfinite(value) else math.nan
                for place, value in zip(kept, errors, strict=True)
            },
        },
        uncertainty=VarianceUncertainty.of_information(information.pseudo_inverse(own), variances[kept]),
        boundary=tuple(name for name, value in deviations.items() if value == 0),
        covariates=tuple(
            CovariateEffect(column, label, float(weights @ beta), *look(weights))
            for column, label, weights in contrasts
        ),
        correlations=correlations,
    )
