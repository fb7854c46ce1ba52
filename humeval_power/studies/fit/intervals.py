"""95 % intervals of the fitted parameters: asymptotic, profile likelihood, parametric bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.blas import one_blas_thread
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.latent import LATENT_DEVIATIONS
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.roots import root_between

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
    from humeval_power.studies.power.replication import Replication

Floats = NDArray[np.float64]
IntervalMethod = Literal["asymptotic", "profile", "bootstrap"]
Intervals = dict[str, tuple[float, float]]
DEFAULT_BOOTSTRAPS = 1000
_Z = float(special.ndtri(0.975))
_CHI2 = _Z**2


def parameter_intervals(
    fit: Fit,
    ratings: RatingTable,
    *,
    method: IntervalMethod = "asymptotic",
    n_simulations: int = DEFAULT_BOOTSTRAPS,
    seed: int = 1,
    n_jobs: int = 1,
) -> Intervals:
    """95 % intervals of the parameters on [0, 1], by name: the seven, and the SDs of documents.

    'asymptotic' is estimate +- 1.96 standard errors, on the log scale for SDs so that they stay positive
    (NaN at and near the boundary, where that theory fails). 'profile' turns the profile criterion of each SD
    round; baseline and effect stay asymptotic. 'bootstrap' takes percentiles of fits to studies
    simulated from the fit. The effect's own test and interval are those of the decision rule.

    Raises
    ------
    InputError
        A method that an engine or model does not offer.
    """
    from humeval_power.estimation.large.probed_search import NO_LIKELIHOOD

    if method == "asymptotic":
        return _asymptotic(fit)
    if fit.parameters.sd_worker_item > 0:
        raise InputError(f"{method} intervals are not offered for a fit with the worker-item term.")
    if fit.monte_carlo is not None:
        raise InputError(
            f"{method} intervals are not offered here: {NO_LIKELIHOOD}. Take asymptotic ones, which are accurate "
            "at this size."
        )
    if fit.correlations:
        raise InputError(
            f"{method} intervals are not offered for a fit with correlations; take asymptotic ones."
        )
    if fit.not_identified:
        raise InputError(
            f"{method} intervals need parameters that the table identifies; it does not identify "
            f"{', '.join(fit.not_identified)}."
        )
    if method == "bootstrap" and fit.covariates:
        raise InputError("bootstrap intervals are not offered for a fit with covariates; take profile.")
    if method == "profile":
        return {**_asymptotic(fit), **_profile(fit, ratings)}
    return _bootstrap(fit, ratings, n_simulations, seed, n_jobs)


def latent_intervals(fit: LatentFit) -> Intervals:
    """Asymptotic 95 % intervals of thresholds and latent SDs, by name; as those of the seven parameters."""
    latent = fit.latent
    values = {f"threshold_{k + 1}": value for k, value in enumerate(latent.thresholds)}
    values |= {name: getattr(latent, name) for name in LATENT_DEVIATIONS if name in fit.standard_errors}
    return {name: _around(name, value, fit.standard_errors[name]) for name, value in values.items()}


def _asymptotic(fit: Fit) -> Intervals:
    from humeval_power.estimation.crossed.problem import DOCUMENT_COMPONENTS

    return {
        name: _around(name, float(getattr(fit.parameters, name)), fit.standard_errors.get(name, math.nan))
        for name in (*PARAMETER_NAMES, *(DOCUMENT_COMPONENTS if fit.n_documents else ()))
    }


def _around(name: str, value: float, error: float) -> tuple[float, float]:
    """The ends of an interval; of a standard deviation on the log scale."""
    if not name.startswith("sd_"):
        return value - _Z * error, value + _Z * error
    known = value > 0 and error <= value  # a larger error leaves the theory no meaning
    factor = math.exp(_Z * error / value) if known else math.nan
    return value / factor, value * factor


def _profile(fit: Fit, ratings: RatingTable) -> Intervals:
    from scipy import optimize

    from humeval_power.estimation.crossed.problem import CrossedProblem

    problem = CrossedProblem.of_ratings(ratings)
    names = (*problem.components, "sd_residual")
    restricted = fit.estimator == "reml"
    criterion = _variance_criterion(problem, ratings.rating, restricted)
    variances = np.array([getattr(fit.parameters, name) for name in names]) ** 2
    floor = 1e-12 * variances.sum()
    best = criterion(np.maximum(variances, 0.0))

    def excess(index: int, deviation: float) -> float:
        """How far the criterion rises when one SD is fixed and the others adapt."""
        others = [k for k in range(len(names)) if k != index]

        def value(roots: Floats) -> float:
            trial = np.empty(len(names))
            trial[index], trial[others] = deviation**2, roots**2
            trial[-1] = max(trial[-1], floor)
            return criterion(trial)

        start = np.sqrt(np.maximum(variances[others], 1e-4 * variances[-1]))
        optimum = optimize.minimize(value, start, method="L-BFGS-B", bounds=[(0, None)] * len(others))
        return float(optimum.fun) - best - _CHI2

    with one_blas_thread():
        return {
            name: _crossings(partial(excess, k), math.sqrt(variances[k]), math.sqrt(variances.sum()))
            for k, name in enumerate(names)
        }


def _crossings(excess: Callable[[float], float], estimate: float, spread: float) -> tuple[float, float]:

    low = 0.0
    if estimate > 0 and excess(1e-6 * estimate) > 0:
        low = root_between(excess, 1e-6 * estimate, estimate, xtol=1e-6 * spread)
    upper = max(2 * estimate, 0.1 * spread)
    for _ in range(40):
        if excess(upper) > 0:
            return low, root_between(excess, estimate, upper, xtol=1e-6 * spread)
        upper *= 2
    return low, math.inf


def _variance_criterion(
    problem: CrossedProblem, response: Floats, restricted: bool
) -> Callable[[Floats], float]:
    """-2 log (restricted) likelihood as a function of all variances, the residual's last, the fixed effects
    profiled."""
    from humeval_power.estimation.crossed.examination import profile_at
    from humeval_power.kernels.crossed import likelihood

    products = problem.products(response[None] - response.mean())
    observed = likelihood.Response(*(part[0] for part in products))
    n, p = problem.x.shape
    df = n - p if restricted else n

    def criterion(variances: Floats) -> float:
        gamma = problem.to_kernel(variances[:-1] / variances[-1])
        prof = profile_at(problem, observed, gamma, restricted=restricted)
        if not prof.ok:
            return 1e10
        constant = prof.criterion - df * (1.0 + np.log(2.0 * np.pi * prof.rss / df))
        return float(df * np.log(2.0 * np.pi * variances[-1]) + prof.rss / variances[-1] + constant)

    return criterion


def _bootstrap(fit: Fit, ratings: RatingTable, n: int, seed: int, n_jobs: int) -> Intervals:
    from humeval_power.designs import from_table
    from humeval_power.estimation.fit import structure_of
    from humeval_power.studies.power.replication import Replication
    from humeval_power.sweep.blocks import run_blocks

    document = structure_of(ratings)["document"]
    design = from_table(ratings.worker, ratings.item, ratings.system, document=document)
    replication = Replication(fit.parameters, design, fit.estimator)
    blocks = replication.blocks(bootstrap_estimates, n=n, seed=seed)
    draws = np.concatenate(list(run_blocks(blocks, n_jobs=n_jobs)))
    if not len(draws):
        raise FitError("No bootstrap sample could be fitted.")
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    fitted = ("baseline", "effect", *replication.components, "sd_residual")
    return {name: (float(low[k]), float(high[k])) for k, name in enumerate(fitted)}


def bootstrap_estimates(
    replication: Replication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> Floats:
    """The work of a block: baseline, effect and SDs, the residual's last, of those of studies `first` to
    `first + n - 1` that could be fitted; (studies, 2 + SDs)."""
    from humeval_power.estimation.crossed.fits import fit_batch
    from humeval_power.estimation.crossed.problem import CrossedProblem
    from humeval_power.simulation.study import portions

    rows = replication.design.assignment
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system, document=rows.document)
    names = (*replication.components, "sd_residual")
    deviations = np.array([getattr(replication.parameters, name) for name in names])

    def drawn(part: range) -> Floats:
        batch = fit_batch(
            problem,
            replication.responses(len(part), seed=seed, first=part.start),
            start=(deviations[:-1] / deviations[-1]) ** 2,
            restricted=replication.estimator == "reml",
            n_jobs=n_jobs,
            side_by_side=True,
        )
        spread = np.sqrt(np.column_stack([batch.gamma, np.ones(len(part))]) * batch.sigma2[:, None])
        columns = np.column_stack([batch.baseline, batch.estimate, spread])
        return np.asarray(columns[batch.status == 0])

    held = portions(first, n, n_ratings=len(rows.worker), n_jobs=n_jobs)
    return np.concatenate([drawn(part) for part in held])
