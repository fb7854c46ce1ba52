"""Student's t: its quantiles; how often the noncentral one passes a critical value, and what is then estimated."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.quadrature import gauss_legendre

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = gauss_legendre(256)


def critical_value(df: float, tail: float) -> float:
    """What t passes with probability `tail`; the normal one where `df` is infinite."""
    return float(-special.ndtri(tail) if math.isinf(df) else -special.stdtrit(df, tail))


def critical_values(df: ArrayLike, tail: ArrayLike) -> Floats:
    """The same of arrays that broadcast."""
    df, tail = np.asarray(df, dtype=np.float64), np.asarray(tail, dtype=np.float64)
    endless = np.isinf(df)
    finite = -special.stdtrit(np.where(endless, 1.0, df), tail)
    return np.asarray(np.where(endless, -special.ndtri(tail), finite))


def noncentral_t_tail(critical: float, df: float, noncentrality: float) -> float:
    """P(t > critical) for Student's noncentral t; the far wrong tail, where libraries give NaN, is 0."""
    below = float(special.nctdtr(df, noncentrality, critical))
    if math.isnan(below):
        return 1.0 if noncentrality > critical else 0.0
    return 1.0 - below


def detectable_ratio(df: float, tail: float, power: float) -> float:
    """The true effect in standard errors of which t exceeds its critical value with the probability `power`; `tail`
    as in `critical_value`. The far wrong tail is not counted."""
    critical = critical_value(df, tail)
    if math.isinf(df):
        return critical + float(special.ndtri(power))
    return float(special.nctdtrinc(df, 1 - power, critical))


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


# Power of two one-sided tests: Owen's integral over the estimated standard error.


_NODES_EQUIVALENCE_POWER, _WEIGHTS_EQUIVALENCE_POWER = gauss_legendre(64)


_REACH = 8.0  # standard deviations of the estimated standard error to either side


_AT_ONCE = 16_384  # designs integrated together: bounds the memory used


_STIRLING_FROM = 1e4  # half df above which the gamma function's logarithm loses digits


def equivalence_power(
    effect: ArrayLike, standard_error: ArrayLike, df: ArrayLike, *, margin: float, critical: ArrayLike
) -> Floats:
    """Probability that estimate +- critical x estimated standard error lies inside (-margin, margin).

    Owen's (1965) integral over the estimated standard error, which both one-sided tests share (Phillips
    1990); arrays that broadcast. Subtracting two tails of noncentral t from 1 is only a lower bound: an
    estimated standard error too large for any decision would be counted twice.

    Parameters
    ----------
    standard_error : the true one, on [0, 1] like `effect` and `margin`.
    df : of its estimate; infinite where it is known.
    critical : above 0, the value that each one-sided t must pass.
    """
    arrays = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (effect, standard_error, df, critical))
    )
    shape = arrays[0].shape
    flat = [np.atleast_1d(array).ravel() for array in arrays]
    parts = [
        _owen(*(array[first : first + _AT_ONCE] for array in flat), margin=margin)
        for first in range(0, len(flat[0]), _AT_ONCE)
    ]
    return np.concatenate(parts).reshape(shape) if parts else np.empty(shape)


def _owen(effect: Floats, error: Floats, df: Floats, critical: Floats, *, margin: float) -> Floats:
    """The integral over u = sqrt(q / df), the estimated over the true standard error, and below 2 df over
    the root x of u that makes the density smooth at 0."""
    upper, lower = (margin - effect) / error, (-margin - effect) / error
    known = np.isinf(df)
    finite = np.where(known, 1.0, df)
    spread = _REACH / np.sqrt(2 * finite)
    first = np.clip(1 - spread, 0.0, None)
    last = np.minimum(1 + spread, margin / (error * critical))
    root = np.maximum(1.0, 2 / finite)[:, None]
    half = np.clip(last[:, None] ** (1 / root) - first[:, None], 0.0, None) / 2  # first is 0 below 2 df
    x = first[:, None] + half * (_NODES_EQUIVALENCE_POWER + 1)
    u = x**root
    inside = special.ndtr(upper[:, None] - critical[:, None] * u)
    inside -= special.ndtr(lower[:, None] + critical[:, None] * u)
    slope = root * x ** (root - 1)
    values = np.einsum(
        "ij,j->i", inside * _chi_density(u, finite[:, None]) * slope * half, _WEIGHTS_EQUIVALENCE_POWER
    )
    sure = special.ndtr(upper - critical) - special.ndtr(lower + critical)
    return np.clip(np.where(known, sure, values), 0.0, 1.0)


def _chi_density(u: Floats, df: Floats) -> Floats:
    """Density of sqrt(chi-square / df); the exponents are arranged so that a huge df costs no digits."""
    half = df / 2
    large = half > _STIRLING_FROM
    small = np.where(large, 1.0, half)
    constant = np.where(
        large,
        np.log(half / (2 * np.pi)) / 2 - 1 / (12 * half),
        small * np.log(small) - small - special.gammaln(small),
    )
    off = u - 1
    positive = np.maximum(u, np.finfo(np.float64).tiny)
    log_u = np.where(u < 0.5, np.log(positive), np.log1p(np.maximum(off, -0.5)))
    return np.asarray(2 * np.exp(constant + df * (log_u - off - off**2 / 2) - log_u))
