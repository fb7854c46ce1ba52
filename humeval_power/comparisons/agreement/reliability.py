"""Intraclass correlations of a fitted model: how far a rating, or a mean of several, tells outputs apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.problem import RatingTable
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.item_bootstrap import (
    DEFAULT_RESAMPLES,
    Measure,
    check_bootstrap,
    item_resamples,
    measure,
    undefined,
)
from humeval_power.parameters import STANDARD_DEVIATIONS

Floats = NDArray[np.float64]
Definition = Literal["agreement", "consistency"]

SOURCE = "McGraw and Wong (1996), two-way random effects: ICC(A,1), ICC(A,k), ICC(C,1), ICC(C,k)"
# Sums of variances that stay determined where their two parts are not: with x = -1/2, +1/2 the variance
# within a system is intercept + slope / 4, which nested items or workers do identify.
_WITHIN_SYSTEM = (
    {"sd_worker_intercept", "sd_worker_slope"},
    {"sd_item_intercept", "sd_item_slope"},
)


@dataclass(frozen=True, slots=True)
class IntraclassCorrelation:
    """Share of the variance of a rating (mean of `n_ratings` by different workers) within one system
    that is due to the items.

    `definition` 'agreement' counts differences between workers' levels as error, 'consistency' does
    not: it suits comparisons in which every worker rates the same outputs.
    """

    definition: Definition
    n_ratings: float
    measure: Measure


def intraclass_correlations(
    fit: Fit | LatentFit,
    *,
    ratings_per_output: float,
    n_draws: int = 4000,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
) -> tuple[IntraclassCorrelation, ...]:
    """Agreement and consistency of a single rating and of the mean of `ratings_per_output`.

    With item variance I = item intercept + item slope / 4, those of documents added (as estimated), worker
    variance W likewise, and error variance E (residual, and what a worker and an item share), ICC =
    I / (I + (W + E) / k) for agreement and I / (I + E / k) for consistency. Source: McGraw and Wong (1996).
    Intervals are percentiles of draws of the variances from their strata, approximate unless the table is
    complete and balanced.
    """
    if not ratings_per_output >= 1:
        raise InputError(f"ratings_per_output must be at least 1; got {ratings_per_output:g}.")
    sizes = [1.0] if ratings_per_output == 1 else [1.0, float(ratings_per_output)]
    reason = _not_determined(fit)
    variances = np.array([getattr(fit.parameters, name) for name in STANDARD_DEVIATIONS]) ** 2
    # what workers are to agree on is the output, document and item together
    document = np.array([fit.parameters.sd_document_intercept, fit.parameters.sd_document_slope]) ** 2
    variances[2:4] += document
    draws = _draws(fit, n_draws, seed)
    if draws is not None:
        draws[2:4] += document[:, None]
    shared = fit.parameters.sd_worker_item**2
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]

    def of(definition: Definition, k: float) -> Measure:
        if reason:
            return undefined(reason)
        value = float(correlation(variances, shared=shared, k=k, definition=definition))
        if draws is None:
            return Measure(value, math.nan, math.nan, "this engine or table does not tell how sure it is")
        drawn = correlation(draws, shared=shared, k=k, definition=definition)
        low, high = np.quantile(drawn, tails)
        return Measure(value, float(low), float(high))

    return tuple(
        IntraclassCorrelation(definition, k, of(definition, k))
        for definition in get_args(Definition)
        for k in sizes
    )


def correlation(variances: Floats, *, shared: float, k: float, definition: Definition) -> Floats:
    """ICC from variances (5, ...) in the order of STANDARD_DEVIATIONS and the worker-item variance."""
    worker = variances[0] + variances[1] / 4
    item = variances[2] + variances[3] / 4
    error = variances[4] + shared
    if definition == "agreement":
        error = error + worker
    return np.asarray(item / (item + error / k))


def _not_determined(fit: Fit | LatentFit) -> str:
    """Why the sums of variances are not determined by the table; empty if they are."""
    unknown = set(fit.not_identified)
    for parts in _WITHIN_SYSTEM:
        if parts <= unknown and "sd_residual" not in unknown:
            unknown -= parts
    if not unknown:
        return ""
    return f"the table does not tell {', '.join(sorted(fit.not_identified))} apart"


def _draws(fit: Fit | LatentFit, n_draws: int, seed: int) -> Floats | None:
    """Draws of the five variances (5, n_draws), None where the fit does not allow them."""
    if fit.uncertainty is None or fit.not_identified:
        return None
    strata = [number for stratum in fit.uncertainty.strata for number in stratum]
    if not np.isfinite([*strata, fit.uncertainty.residual_df]).all():
        return None
    return fit.uncertainty.draw(np.random.default_rng(seed), n_draws)


# How much of the variance of ratings is the outputs' quality and how much the annotators' noise.

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VarianceDecomposition:
    """Variance of a rating = variance of true quality + annotators' noise, on [0, 1] squared.

    `noise` is the mean variance of ratings of the same output, E[Var(H | x)], `quality` the variance of
    the outputs' true means within a system, Var(E[H | x]); `gamma` is noise over quality and
    `reducible` the share of quality, all that a metric can ever explain. The prose of Wei et al. (2022)
    below their eq. (1) calls the two by each other's name; their eq. (3) is this gamma. Intervals draw
    items again. `at_zero` says that ratings of one output differ as much as those of several.
    """

    noise: Measure
    quality: Measure
    total: Measure
    gamma: Measure
    reducible: Measure
    n_ratings: int
    n_outputs: int
    n_repeated: int
    at_zero: bool
    confidence: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityOutputs:
    """Ratings by output, an item under a system: item and system codes, number, mean, and sum of squares
    about the mean; all of shape (n_outputs,)."""

    item: Codes
    system: Codes
    size: Floats
    mean: Floats
    squares: Floats


def variance_decomposition(
    table: RatingTable,
    *,
    n_resamples: int = DEFAULT_RESAMPLES,
    seed: int = 1,
    confidence: float = DEFAULT_CONFIDENCE,
) -> VarianceDecomposition:
    """Decompose the variance of ratings within systems, from repeated judgements of the same output.

    One-way analysis of variance of outputs within systems, also with unequal numbers of ratings
    (Searle, Casella and McCulloch 1992, section 3.6); a negative estimate of the quality's variance is
    reported as 0. A worker's level counts as noise.

    Raises
    ------
    InputError
        No output with two ratings, or not two outputs of any system: then the parts cannot be told apart.
    """
    check_bootstrap(n_resamples, confidence)
    outputs = outputs_of(table)
    if not (outputs.size > 1).any():
        raise InputError(
            "Every output has a single rating: quality and noise cannot be told apart. Have some outputs "
            "rated by two annotators or more."
        )
    if len(outputs.size) <= len(np.unique(outputs.system)):
        raise InputError("There is one output of each system: its quality has no variance to estimate.")
    resamples = item_resamples(int(outputs.item.max()) + 1, n_resamples=n_resamples, seed=seed)

    def measured(function: Callable[[float, float], float]) -> Measure:
        return measure(
            lambda weights: function(*variances(outputs, weights[outputs.item])),
            resamples,
            confidence=confidence,
            reason="ratings do not vary",
        )

    quality, _ = variances(outputs, np.ones(len(outputs.size)))
    reducible = measured(_reducible)
    return VarianceDecomposition(
        noise=measured(lambda _quality, noise: noise),
        quality=measured(lambda quality, _noise: max(quality, 0.0)),
        total=measured(lambda quality, noise: max(quality, 0.0) + noise),
        gamma=_gamma(reducible),
        reducible=reducible,
        n_ratings=len(table.rating),
        n_outputs=len(outputs.size),
        n_repeated=int((outputs.size > 1).sum()),
        at_zero=not quality > 0,
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
    )


def _gamma(reducible: Measure) -> Measure:
    """1 / phi - 1 and its ends; infinite where nothing is reducible."""

    def of(share: float) -> float:
        return math.inf if share == 0 else 1 / share - 1

    return Measure(of(reducible.value), of(reducible.high), of(reducible.low), reducible.reason)


def _reducible(quality: float, noise: float) -> float:
    total = max(quality, 0.0) + noise
    return max(quality, 0.0) / total if total > 0 else math.nan


def outputs_of(table: RatingTable) -> ReliabilityOutputs:
    """The outputs of a table with what the analysis of variance needs of each."""
    n_systems = int(table.system.max()) + 1
    key = table.item * np.int64(n_systems) + table.system
    keys, place, size = np.unique(key, return_inverse=True, return_counts=True)
    mean = np.bincount(place, table.rating) / size
    squares = np.bincount(place, (table.rating - mean[place]) ** 2).astype(np.float64)
    return ReliabilityOutputs(keys // n_systems, keys % n_systems, size.astype(np.float64), mean, squares)


def variances(outputs: ReliabilityOutputs, weights: Floats) -> tuple[float, float]:
    """Variance of quality (can be negative) and of noise, each output counting `weights` times.

    E[SSB] = (outputs - systems) noise + (N - sum over systems of sum n^2 / sum n) quality.
    """
    n_systems = int(outputs.system.max()) + 1
    of_system = np.bincount(outputs.system, weights * outputs.size, n_systems)
    present = of_system > 0
    total = np.bincount(outputs.system, weights * outputs.size * outputs.mean, n_systems)
    center = np.divide(total, of_system, out=np.zeros(n_systems), where=present)
    n, n_outputs = float(of_system.sum()), float(weights.sum())
    within_df = n - n_outputs
    between_df = n_outputs - int(present.sum())
    if within_df <= 0 or between_df <= 0:
        return math.nan, math.nan
    noise = float(weights @ outputs.squares) / within_df
    between = float(weights @ (outputs.size * (outputs.mean - center[outputs.system]) ** 2))
    of_squares = np.bincount(outputs.system, weights * outputs.size**2, n_systems)
    typical = n - float(np.divide(of_squares, of_system, out=np.zeros(n_systems), where=present).sum())
    return (between - between_df * noise) / typical, noise
