"""Leaving out one cluster of items at a time: errors of statistics that are functions of sums over items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.clustered import bell_mccaffrey_df

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """A statistic with its jackknife error, Student's interval and two-sided p-value against 0."""

    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]


def jackknife(
    statistic: Callable[[Floats], Floats], sums: Floats, sizes: Floats, *, confidence: float
) -> list[Jackknifed]:
    """Each of q statistics with its error: sqrt((G - 1) / G sum_g (t_-g - mean)^2) over G clusters.

    Parameters
    ----------
    statistic : from totals (..., k) to (..., q); NaN where one is not defined.
    sums : (G, k), what each cluster adds to the totals.
    sizes : (G,), items of each cluster, for the degrees of freedom.

    Source: Tukey (1958); Efron and Stein (1981). The df are those of a mean over such clusters.
    """
    total = sums.sum(axis=0)
    estimates = statistic(total)
    left = statistic(total[None] - sums)
    n, df = len(sums), bell_mccaffrey_df(sizes)
    found = []
    for value, without in zip(estimates, left.T, strict=True):
        known = without[np.isfinite(without)]
        error = math.nan
        if len(known) == n and math.isfinite(value):
            error = math.sqrt((n - 1) / n * float(np.sum((known - known.mean()) ** 2)))
        reach = -float(special.stdtrit(df, (1 - confidence) / 2)) * error
        p_value = 2 * float(special.stdtr(df, -abs(value) / error)) if error > 0 else math.nan
        found.append(
            Jackknifed(float(value), error, df, p_value, (float(value) - reach, float(value) + reach))
        )
    return found
