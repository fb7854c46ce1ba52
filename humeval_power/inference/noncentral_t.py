"""Student's noncentral t: how often it passes a critical value, and what is then estimated."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.quadrature import gauss_legendre

_NODES, _WEIGHTS = gauss_legendre(256)


def noncentral_t_tail(critical: float, df: float, noncentrality: float) -> float:
    """P(t > critical) for Student's noncentral t; the far wrong tail, where libraries give NaN, is 0."""
    below = float(special.nctdtr(df, noncentrality, critical))
    if math.isnan(below):
        return 1.0 if noncentrality > critical else 0.0
    return 1.0 - below


def exaggeration(
    ratio: float, df: float, critical: float, *, two_sided: bool = True
) -> tuple[float, float]:
    """Type M and Type S when significant means |t| > `critical` (t > `critical` if one-sided).

    ratio : true effect over its standard error. The standard error is itself estimated on `df` degrees
    of freedom: numerator and denominator are averaged over its chi distribution (for known standard
    error this is Lu, Qiu and Deng 2019). Returns (NaN, NaN) for no effect, where neither is defined.
    """
    if ratio == 0:
        return math.nan, math.nan
    up, down = significant_sizes(ratio, df, critical)
    right = noncentral_t_tail(critical, df, ratio)
    wrong = noncentral_t_tail(critical, df, -ratio) if two_sided else 0.0
    if right + wrong <= 0:
        return math.nan, math.nan
    size = up + down if two_sided else up
    return size / (ratio * (right + wrong)), wrong / (right + wrong)


def significant_sizes(ratio: float, df: float, critical: float) -> tuple[float, float]:
    """E[estimate; t > critical] and E[-estimate; t < -critical], in standard errors of the estimate.

    ratio : true effect over its standard error, which is itself estimated on `df` degrees of freedom
        (infinite: known); the estimate is averaged over its chi distribution.
    """
    spread = _spread(df)
    weight = _WEIGHTS / 2 if math.isfinite(df) else np.ones(1)
    cut = critical * spread
    up = ratio * special.ndtr(ratio - cut) + _density(cut - ratio)
    down = -ratio * special.ndtr(-ratio - cut) + _density(cut + ratio)
    return float(weight @ up), float(weight @ down)


@lru_cache(maxsize=64)
def _spread(df: float) -> NDArray[np.float64]:
    """Estimated standard errors in true ones at the nodes, those of one df for many effects."""
    if not math.isfinite(df):
        return np.ones(1)
    return np.asarray(np.sqrt(2 * special.gammaincinv(df / 2, (_NODES + 1) / 2) / df))


def _density(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi))
