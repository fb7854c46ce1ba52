"""What estimates of the difference a study would give, and which of them it would call significant."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.study.formula import EffectPrecision, rule_critical_value
from humeval_power.rules import DecisionRule

Floats = NDArray[np.float64]


def estimate_density(at: Floats, effect: float, precision: EffectPrecision) -> Floats:
    """The density of the estimated difference at `at` where the true one is `effect`: normal."""
    error = precision.standard_error
    z = (at - effect) / error
    return np.asarray(np.exp(-(z**2) / 2) / (error * math.sqrt(2 * math.pi)))


def chance_of_significance(at: Floats, precision: EffectPrecision, rule: DecisionRule) -> Floats:
    """The probability that an estimate of `at` is significant, or shows the claim of a rule with a margin.

    The standard error is itself estimated: its square is chi-square on the df about the true one, whatever the
    estimate. An estimate is significant where its standard error comes out small enough.
    """
    critical = rule_critical_value(rule, precision)
    if rule.alternative == "equivalent":
        reach = (rule.margin or 0.0) - np.abs(at)
    elif rule.alternative == "two-sided":
        reach = np.abs(at)
    else:
        reach = at + (rule.margin or 0.0)
    largest = np.maximum(reach, 0.0) / (critical * precision.standard_error)
    if not math.isfinite(precision.df):
        return np.asarray((largest >= 1).astype(np.float64))
    return np.asarray(special.gammainc(precision.df / 2, precision.df / 2 * largest**2))
