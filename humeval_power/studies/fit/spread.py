"""Whether one system's ratings are spread more widely than the other's on the latent scale: a score test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import HumevalPowerError
from humeval_power.estimation.crossed.problem import RatingTable
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.latent.categories import Categories
from humeval_power.ratings import Ratings
from humeval_power.studies.fit.wald import effect_test

Floats = NDArray[np.float64]

_LEVEL = 0.01  # at which a difference of spread is worth a warning
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class SpreadTest:
    """Approximate test of one spread for both systems. `ratio` is B's latent SD over A's, by one step from
    equality."""

    ratio: float
    p_value: float

    @property
    def differs(self) -> bool:
        """Whether to warn: at level 0.01, for it is looked at in every table."""
        return self.p_value <= _LEVEL


def spread_test(ratings: Ratings, categories: Categories) -> SpreadTest | None:
    """Score test of a scale effect in the population-averaged cumulative probit model.

    Each rating's efficient score for the log ratio of spreads (its score less what thresholds and shift explain)
    is compared between the systems by the linear mixed model of crossed workers and items, which takes up that
    ratings of one worker or item go together. None with two categories, where spread and shift are one, and where
    the scores cannot be fitted.
    """
    n_categories = categories.n_categories
    if n_categories < 3:
        return None
    counts = np.zeros((2, n_categories))
    np.add.at(counts, (ratings.system, categories.code), 1.0)
    if (counts.sum(axis=0) == 0).any():
        return None
    score, information = _efficient_scores(counts)
    value = np.where(ratings.system == 1, 1.0, -1.0) * score[ratings.system, categories.code]
    step = float((counts * score).sum()) / information if information > _TINY else math.nan
    table = SimpleNamespace(
        worker=ratings.worker,
        item=ratings.item,
        system=ratings.system,
        rating=value,
    )
    try:
        tested = effect_test(fit(cast(RatingTable, table)))
    except HumevalPowerError:
        return None
    if tested.reason or not math.isfinite(step):
        return None
    return SpreadTest(ratio=math.exp(max(-5.0, min(5.0, step))), p_value=tested.p_value)


def _efficient_scores(counts: Floats) -> tuple[Floats, float]:
    """Efficient score of the log ratio of spreads for each system and category (2, C), and its information.

    counts : (2, C), ratings of each system in each category.
    """
    thresholds, shift = _marginal_fit(counts)
    x = np.array([-0.5, 0.5])
    cut = thresholds - shift * x[:, None]
    density, below = np.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(cut)
    edge = np.zeros((2, 1))
    share = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
    share = np.maximum(share, _TINY)
    n_thresholds = len(thresholds)
    by_threshold = np.zeros((n_thresholds, 2, n_thresholds + 1))
    for k in range(n_thresholds):
        by_threshold[k, :, k] = density[:, k] / share[:, k]
        by_threshold[k, :, k + 1] = -density[:, k] / share[:, k + 1]
    by_shift = (by_threshold * -x[:, None]).sum(axis=0)
    by_spread = (by_threshold * (-x[:, None] * cut).T[:, :, None]).sum(axis=0)
    nuisance = np.concatenate([by_threshold, by_shift[None]])
    expected = counts.sum(axis=1, keepdims=True) * share
    products = np.einsum("asc,bsc,sc->ab", nuisance, nuisance, expected)
    cross = np.einsum("asc,sc,sc->a", nuisance, by_spread, expected)
    weights = np.linalg.lstsq(products, cross, rcond=1e-10)[0]
    score = by_spread - np.einsum("a,asc->sc", weights, nuisance)
    return score, float((score**2 * expected).sum())


def _marginal_fit(counts: Floats) -> tuple[Floats, float]:
    """Thresholds and shift of the cumulative probit model without random effects, by maximum likelihood."""
    from scipy import optimize

    share = counts.sum(axis=0) / counts.sum()
    start = special.ndtri(np.cumsum(share)[:-1])
    x = np.array([-0.5, 0.5])

    def parts(values: Floats) -> tuple[Floats, float]:
        steps = np.concatenate([values[:1], np.exp(values[1:-1])])
        return np.cumsum(steps), float(values[-1])

    def minus_log(values: Floats) -> float:
        thresholds, shift = parts(values)
        below = special.ndtr(thresholds - shift * x[:, None])
        edge = np.zeros((2, 1))
        probability = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
        return -float((counts * np.log(np.maximum(probability, _TINY))).sum())

    first = np.concatenate([start[:1], np.log(np.maximum(np.diff(start), 1e-6)), [0.0]])
    optimum = optimize.minimize(minus_log, first, method="BFGS", options={"gtol": 1e-6})
    return parts(np.asarray(optimum.x))
