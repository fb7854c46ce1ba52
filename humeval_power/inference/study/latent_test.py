"""The test of a model of categories: made on the latent scale, told on [0, 1]."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.study.latent_effects import expected_at, latent_margin, slope_to_expected
from humeval_power.inference.study.wald import (
    EffectTest,
    LatentTest,
    critical_value,
    reference,
    wald_p,
    why_no_test,
    why_unusable,
    without_test,
)
from humeval_power.latent import Latent
from humeval_power.rules import DecisionRule

Floats = NDArray[np.float64]


def latent_test(fit: LatentFit, rule: DecisionRule) -> EffectTest:
    """Apply a decision rule to a fit of categories.

    t, df and p are those of the latent effect: its standard error and df are Kenward and Roger's for the model
    linearised at the estimates; 'satterthwaite' takes the same df without their correction of the standard
    error. Estimate and interval on [0, 1] are the latent ones transformed, thresholds and deviations as they
    were estimated; a margin on [0, 1] is moved to the latent scale. So interval and decision agree.

    Raises
    ------
    InputError
        A rule that simulates, or a margin that no difference of these categories reaches.
    """
    if fit.estimator != rule.estimator:
        raise ValueError(f"The fit is by {fit.estimator}, the rule asks for {rule.estimator}.")
    if rule.is_simulated:
        raise InputError(_SIMULATED.format(df=rule.df))
    error, df = reference(
        rule,
        standard_error=np.array(fit.standard_error),
        adjusted=np.array(fit.standard_error_adjusted),
        satterthwaite=np.array(fit.df_satterthwaite),
        kenward_roger=np.array(fit.df_kenward_roger),
        smallest=fit.smallest - 1,
    )
    reason = why_no_test(fit.converged, fit.message)
    return wald_of_categories(fit.latent, float(error), float(df), rule, reason=reason)


_SIMULATED = (
    "The df '{df}' simulate studies of the linear model, which ratings in categories are not: take the df "
    "'kenward-roger', which are those of the linearised model."
)


def wald_of_categories(
    latent: Latent, error: float, df: float, rule: DecisionRule, *, reason: str
) -> EffectTest:
    """The test from latent parameters, and the standard error and df of their effect."""
    per_unit = slope_to_expected(latent)
    estimate, effect = latent.difference, latent.effect
    reason = reason or why_unusable(error, df, rule)
    if reason:
        return without_test(estimate, error * per_unit, df, rule, reason=reason)
    margin = None if rule.margin is None else _margin(latent, rule.margin)
    values = np.array(effect), np.array(error), np.array(df)
    reach = critical_value(df, rule.tail) * error
    ends = effect - reach, effect + reach
    p_value = float(wald_p(*values, rule.alternative, margin=margin))
    return EffectTest(
        estimate=estimate,
        standard_error=error * per_unit,
        df=df,
        p_value=p_value,
        interval=(expected_at(latent, ends[0]), expected_at(latent, ends[1])),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=() if margin is None else _sides(values, rule, margin),
        latent=LatentTest(effect, error, ends, margin),
    )


def _sides(values: tuple[Floats, Floats, Floats], rule: DecisionRule, margin: float) -> tuple[float, ...]:
    """p-values against both ends of the margin, or the lower alone."""
    effect, error, df = values
    signs = (1.0, -1.0) if rule.alternative == "equivalent" else (1.0,)
    return tuple(float(wald_p(sign * effect, error, df, "non-inferior", margin=margin)) for sign in signs)


def _margin(latent: Latent, margin: float) -> float:
    moved = latent_margin(latent, margin)
    if math.isinf(moved):
        widest = latent.scores[-1] - latent.scores[0]
        raise InputError(
            f"A margin of {margin:g} on [0, 1] excludes nothing: the categories that were used lie {widest:g} "
            "apart at most, so that no difference is as large. State a margin that a difference can cross."
        )
    return moved
