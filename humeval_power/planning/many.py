"""Power by formula for many designs, effects or parameters at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.planning.margins import equivalence_power
from humeval_power.planning.regular import RegularPrecision
from humeval_power.rules import DEFAULT_RULE, DecisionRule

Floats = NDArray[np.float64]


def powers(
    effect: ArrayLike,
    precision: RegularPrecision,
    *,
    smallest: ArrayLike = np.inf,
    rule: DecisionRule = DEFAULT_RULE,
) -> Floats:
    """Power for a positive effect, or for any under a rule with a margin; arrays that broadcast: the
    vectorised twin of analytic.power_at.

    smallest : min(workers, items) - 1, needed by the rule 'min' alone.
    """
    if rule.df == "normal":
        critical = np.asarray(-special.ndtri(rule.tail))
    else:
        df = np.asarray(smallest, dtype=np.float64) if rule.df == "min" else precision.df
        critical = np.asarray(-special.stdtrit(df, rule.tail))
    error = np.sqrt(precision.variance)
    if rule.alternative == "equivalent":
        return equivalence_power(effect, error, precision.df, margin=rule.margin or 0.0, critical=critical)
    ratio = (np.asarray(effect) + (rule.margin or 0.0)) / error
    below = special.nctdtr(precision.df, ratio, critical)
    certain = np.where(ratio > critical, 0.0, 1.0)  # where the tail is too far out to be computed
    return np.asarray(1.0 - np.where(np.isnan(below), certain, below))
