"""Tests of one study against simulated studies without an effect, or with one at the margin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.replication import MOST_FAILURES, Replication
from humeval_power.inference.study.wald import (
    EffectTest,
    NullStatistics,
    effect_test,
    simulated_p,
    without_test,
)
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.sweep.blocks import run_blocks


def null_statistics(
    replication: Replication, *, effect: float = 0.0, n: int, seed: int, n_jobs: int = 1
) -> NullStatistics:
    """t of `n` studies simulated with a true difference of `effect` and fitted alike: the distance of
    the estimate from `effect` in standard errors, for categories on the latent scale.

    effect : 0, or minus the margin of a rule that has one (its `null_effect`).
    """
    null = replace(replication, parameters=replication.parameters.with_difference(effect))
    blocks = null.blocks(null_t, effect, n=n, seed=seed)
    return NullStatistics.of(np.concatenate(list(run_blocks(blocks, n_jobs=n_jobs))))


def null_t(
    null: Replication, effect: float, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> NDArray[np.float64]:
    """The work of a block: t of those of studies `first` to `first + n - 1` that could be fitted."""
    fits = null.fits(n, seed=seed, first=first, n_jobs=n_jobs)
    usable = fits.status == 0
    distance = fits.estimate - fits.moved(effect)
    return np.asarray(distance[usable] / fits.adjusted[usable])


def simulated_test(
    fit: Fit,
    design: Design,
    rule: DecisionRule,
    *,
    assumed: Parameters | None = None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> EffectTest:
    """Compare a fit's t with its simulated null distribution.

    Rule 'bootstrap' simulates at the fitted parameters (parametric bootstrap: Davison and Hinkley 1997,
    section 4.2.3); 'calibrated' at `assumed` ones, and is right only if those are. The interval is
    estimate +- the simulated critical value times the standard error; `df` is NaN. A rule with a margin
    is compared with studies whose true difference lies at the margin; those at the upper margin of an
    equivalence are the mirror image of those at the lower one, so that one simulation serves both.

    Raises
    ------
    InputError
        The calibrated rule without assumed parameters.
    """
    if rule.df == "calibrated" and assumed is None:
        raise InputError(
            "The calibrated rule needs the parameters that the plan assumed (--assumed FILE); taken from "
            "the data it would be a bootstrap (--df bootstrap)."
        )
    base = fit.parameters if rule.df == "bootstrap" or assumed is None else assumed
    replication = Replication(base, design, rule.estimator, rule.analysis)
    wald = effect_test(fit, replace(rule, df="kenward-roger"))
    if wald.reason:
        return replace(wald, rule=rule)
    null = null_statistics(replication, effect=rule.null_effect, n=n_simulations, seed=seed, n_jobs=n_jobs)
    failed = 1.0 - len(null.t) / n_simulations
    if failed > MOST_FAILURES:
        reason = (
            f"{100 * failed:.0f} % of the simulated studies could not be fitted, and the others are no "
            "fair sample; more ratings of each worker and item are needed"
        )
        return without_test(wald.estimate, wald.standard_error, math.nan, rule, reason=reason)
    estimate, error = np.array([wald.estimate]), np.array([wald.standard_error])
    p_value = float(simulated_p(estimate, error, null, rule.alternative, margin=rule.margin)[0])
    sides = {"non-inferior": (1.0,), "equivalent": (1.0, -1.0)}.get(rule.alternative, ())
    reach = null.critical_value(rule.alpha, rule.alternative) * wald.standard_error
    return EffectTest(
        estimate=wald.estimate,
        standard_error=wald.standard_error,
        df=math.nan,
        p_value=p_value,
        interval=(wald.estimate - reach, wald.estimate + reach),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=tuple(
            float(simulated_p(sign * estimate, error, null, "non-inferior", margin=rule.margin)[0])
            for sign in sides
        ),
    )
