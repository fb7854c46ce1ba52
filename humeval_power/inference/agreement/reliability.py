"""Intraclass correlations of a fitted model: how far a rating, or a mean of several, tells outputs apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.item_bootstrap import DEFAULT_CONFIDENCE, Measure, undefined
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
