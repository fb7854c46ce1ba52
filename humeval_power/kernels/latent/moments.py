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


# What many latent settings mean on [0, 1] at once, for one distribution of the ratings.

_LIKE_LOGISTIC = (15 * np.pi / (16 * np.sqrt(3))) ** 2  # variance of the normal law nearest to the logistic


def observed_variances(
    thresholds: Floats,
    scores: Floats,
    effect: float,
    variance: float,
    drawn: Floats,
    *,
    others: float = 0.0,
    logit: bool,
) -> Floats:
    """Variances on [0, 1] of settings that give the same ratings but divide their variance otherwise.

    The distribution of single ratings, which many of them tell, stays; thresholds and effect go with the latent
    variance. With a logit link the noise is replaced by the normal variable that is nearest to it.

    Parameters
    ----------
    thresholds, scores, effect : of the setting; variance : of its latent value over workers and items.
    drawn : variances (4, n) of worker intercept and slope, item intercept and slope on the latent scale.
    others : variance of a latent value that is not drawn, of documents.

    Returns
    -------
    Variances (6, n) on [0, 1] of the same four, the residual, and what a worker and an item share.
    """
    noise = _LIKE_LOGISTIC if logit else 1.0
    spread = np.sqrt(noise + variance)
    a, b = (step_moments((thresholds - side * effect) / spread, scores) for side in (-0.5, 0.5))
    worker0, worker1, item0, item1 = drawn
    total = noise + others + worker0 + item0 + (worker1 + item1) / 4

    def within(same: Floats, across: Floats) -> tuple[Floats, Floats]:
        """Of ratings that share so much: the mean covariance under one system, and that across both."""
        alike = (_series(a, a, same / total) + _series(b, b, same / total)) / 2
        return alike, _series(a, b, across / total)

    worker = within(worker0 + worker1 / 4, worker0 - worker1 / 4)
    item = within(item0 + item1 / 4, item0 - item1 / 4)
    both = within(worker0 + item0 + (worker1 + item1) / 4, worker0 + item0 - (worker1 + item1) / 4)
    pair = [both[k] - worker[k] - item[k] for k in (0, 1)]
    rest = (a.variance + b.variance) / 2 - both[0] + np.maximum(pair[0] - pair[1], 0.0)
    parts = [
        part for alike, across in (worker, item) for part in ((alike + across) / 2, 2 * (alike - across))
    ]
    return np.maximum(np.stack([*parts, rest, pair[1]]), 0.0)


def _series(first: Scores, second: Scores, correlation: Floats) -> Floats:
    """`score_covariance` for many correlations (n,), by Horner's rule."""
    products = first.coefficients[1:] * second.coefficients[1:]
    values = np.zeros_like(correlation)
    for term in products[::-1]:
        values = (values + term) * correlation
    return values
