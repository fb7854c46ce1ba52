"""Tests of one study against studies simulated without an effect: bootstrap and calibrated."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.inference.replication import Replication
from humeval_power.inference.wald import EffectTest, NullStatistics, effect_test, simulated_p
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule


def null_statistics(replication: Replication, *, n: int, seed: int, n_jobs: int = 1) -> NullStatistics:
    """t of `n` studies simulated without an effect and fitted alike."""
    without = replace(replication, parameters=replication.parameters.with_difference(0.0))
    fits = without.fits(n, seed=seed, n_jobs=n_jobs)
    usable = fits.status == 0
    return NullStatistics.of(fits.estimate[usable] / fits.adjusted[usable])


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
    estimate +- the simulated critical value times the standard error; `df` is NaN.

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
    null = null_statistics(replication, n=n_simulations, seed=seed, n_jobs=n_jobs)
    wald = effect_test(fit, replace(rule, df="kenward-roger"))
    estimate, error = np.array([wald.estimate]), np.array([wald.standard_error])
    p_value = float(simulated_p(estimate, error, null, rule.alternative)[0])
    reach = null.critical_value(rule.alpha, rule.alternative) * wald.standard_error
    return EffectTest(
        estimate=wald.estimate,
        standard_error=wald.standard_error,
        df=math.nan,
        p_value=p_value,
        interval=(wald.estimate - reach, wald.estimate + reach),
        significant=p_value <= rule.alpha,
        rule=rule,
    )
