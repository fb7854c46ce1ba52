"""How many more items, tasks or battles show a difference: by the present standard errors, which shrink as 1 /
sqrt(n)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FurtherData:
    """How many times the present data tell the first two systems apart with this power, at their estimated
    difference (`times`) and `at_end` of its interval that is nearest to none (None: it holds none); `alone`: the
    first from all others. `votes` are battles between just the first two that would do. None where there is no
    number."""

    first: str
    second: str
    is_apart: bool
    times: float
    at_end: float | None
    alone: float | None
    votes: float | None
    power: float


def times_needed(difference: float, standard_error: float, critical: float, *, power: float = 0.8) -> float:
    """How many times the present data show this difference; infinite where it is none."""
    if not difference > 0:
        return math.inf
    return float(((critical + special.ndtri(power)) * standard_error / difference) ** 2)


def times_until_alone(
    value: Floats, error_to_first: Floats, critical: float, draws: Floats, *, power: float = 0.8
) -> float:
    """How many times the present data show the first to be better than each of the others.

    Parameters
    ----------
    value : (K,), the first the largest.
    error_to_first : (K - 1,), standard errors of the differences from it.
    draws : (B, K) errors of the estimates at the present size.
    """
    gap = value[0] - value[1:]
    if not (gap > 0).all():
        return math.inf
    short = (critical * error_to_first - (draws[:, :1] - draws[:, 1:])) / gap
    return float(np.quantile(np.maximum(short.max(axis=1), 0.0), power) ** 2)


def direct_votes(
    difference: float,
    variance: float,
    information: float,
    critical: float,
    *,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> float:
    """Battles between just two systems, each with this `information` about their difference, until it is shown
    (Sherman and Morrison's update of the variance)."""
    if not difference > 0:
        return math.inf
    wanted = (difference / (critical + special.ndtri(power))) ** 2
    return max(float(design_effect * (1 / wanted - 1 / variance) / information), 0.0)
