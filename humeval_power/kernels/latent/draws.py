"""What many latent settings mean on [0, 1] at once, for one distribution of the ratings."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.latent.moments import Floats, Scores, step_moments

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
