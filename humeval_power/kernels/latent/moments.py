"""Moments of category scores whose latent variable is normal: means, covariances, and roots of them.

A rating takes category c where tau_c-1 < eta + e <= tau_c, e standard normal (probit) or logistic (logit);
m(eta) is its expected score. For eta ~ N(mu, v) let a_k be the coefficients of m in the normalised Hermite
polynomials of (eta - mu) / sqrt(v). Two such variables of correlation r have (Mehler's formula)

    Cov(m(eta), m(eta')) = sum over k >= 1 of a_k a'_k r^k.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

_NODES = 160  # of the quadrature with a logit link; a latent SD of 3 leaves an error below 1e-9
_TERMS = 80  # of the series with a logit link, whose coefficients fall fast
_STEP_TERMS = 400  # of the series with a probit link


@cache
def _rule() -> tuple[Floats, Floats, Floats]:
    """Nodes and weights of a standard normal expectation, and the normalised polynomials (terms, nodes)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    polynomials = np.ones((_TERMS, _NODES))
    polynomials[1] = nodes
    for k in range(1, _TERMS - 1):
        polynomials[k + 1] = (nodes * polynomials[k] - np.sqrt(k) * polynomials[k - 1]) / np.sqrt(k + 1)
    return nodes, weights, polynomials


def normal_expectation() -> tuple[Floats, Floats]:
    """Nodes and weights (nodes,) of the expectation of a function of a standard normal variable."""
    nodes, weights, _ = _rule()
    return nodes, weights


def shares_given(eta: Floats, thresholds: Floats, *, logit: bool) -> Floats:
    """Probability of each category at given latent values: (...,) in, (..., categories) out."""
    below = (special.expit if logit else special.ndtr)(thresholds - np.asarray(eta)[..., None])
    edge = np.zeros((*below.shape[:-1], 1))
    return np.diff(np.concatenate([edge, below, edge + 1.0], axis=-1), axis=-1)


def category_shares(mean: float, variance: float, thresholds: Floats, *, logit: bool) -> Floats:
    """Probability of each category (categories,) where the latent value is N(mean, variance)."""
    if not logit:
        scale = np.sqrt(1.0 + variance)
        return shares_given(np.asarray(mean / scale), thresholds / scale, logit=False)
    nodes, weights, _ = _rule()
    return np.asarray(weights @ shares_given(mean + np.sqrt(variance) * nodes, thresholds, logit=True))


class Scores(NamedTuple):
    """What the scores of one system look like: their mean, their total variance, and the coefficients of
    their conditional mean (terms,)."""

    mean: float
    variance: float
    coefficients: Floats


def score_moments(
    mean: float, variance: float, thresholds: Floats, scores: Floats, *, logit: bool
) -> Scores:
    """Moments of scores whose latent value is N(mean, variance)."""
    if not logit:
        scale = np.sqrt(1.0 + variance)
        steps = step_moments((thresholds - mean) / scale, scores)
        shrunk = np.sqrt(variance / (1.0 + variance)) ** np.arange(_STEP_TERMS)
        return steps._replace(coefficients=steps.coefficients * shrunk)
    nodes, weights, polynomials = _rule()
    shares = shares_given(mean + np.sqrt(variance) * nodes, thresholds, logit=logit)
    marginal = category_shares(mean, variance, thresholds, logit=logit)
    expected = float(marginal @ scores)
    return Scores(
        mean=expected,
        variance=float(marginal @ scores**2 - expected**2),
        coefficients=polynomials @ (weights * (shares @ scores)),
    )


def step_moments(places: Floats, scores: Floats) -> Scores:
    """Moments of scores that are steps of a standard normal variable at `places` (categories - 1,): in closed
    form, for E[1(z <= h) He_k(z)] = -phi(h) He_k-1(h), divided by the root of k!."""
    shares = np.diff(special.ndtr(places), prepend=0.0, append=1.0)
    mean = float(shares @ scores)
    coefficients = np.empty(_STEP_TERMS)
    coefficients[0] = mean
    heights = np.diff(scores) * np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi)
    before, polynomial = np.zeros_like(places), np.ones_like(places)
    for k in range(1, _STEP_TERMS):
        coefficients[k] = heights @ polynomial / np.sqrt(k)
        following = (places * polynomial - np.sqrt(k - 1) * before) / np.sqrt(k)
        before, polynomial = polynomial, following
    return Scores(mean, float(shares @ scores**2 - mean**2), coefficients)


def score_covariance(first: Scores, second: Scores, correlation: float) -> float:
    """Covariance of the conditional means of two scores whose latent values have this correlation."""
    powers = correlation ** np.arange(1, len(first.coefficients))
    return float((first.coefficients[1:] * second.coefficients[1:]) @ powers)
