"""Preferences of which a worker, or an item, has several: a mixed model of -1, 0, +1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError
from humeval_power.estimation.native import COMPONENTS, CrossedProblem, fit_one
from humeval_power.inference.study.wald import EffectTest, wald_of_differences
from humeval_power.kernels import reml
from humeval_power.rules import DEFAULT_RULE, DecisionRule

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MixedPreference:
    """The test of a mean preference, on -1 to +1, and what it varies with: standard deviations of
    workers' and of items' own mean preferences, and of what is left."""

    test: EffectTest
    sd_worker: float
    sd_item: float
    sd_residual: float


def mixed_preference_test(
    worker: Codes, item: Codes, preference: Floats, *, rule: DecisionRule = DEFAULT_RULE
) -> MixedPreference:
    """Test a mean preference of 0 with crossed random effects of workers and items.

    Parameters
    ----------
    worker, item : codes from 0, one for each judgement; several judgements of a pair are averaged.
    preference : -1 (prefers A), 0 (tie) or +1 (prefers B); the estimate is its mean.

    Raises
    ------
    InputError
        Fewer than two workers or items.
    FitError
        Preferences that are all alike.
    """
    n_items = int(item.max()) + 1
    pair, place = np.unique(worker * n_items + item, return_inverse=True)
    mean = np.bincount(place, weights=preference) / np.bincount(place)
    twice = np.concatenate([pair, pair])  # d as a rating (1 - d) / 2 of A and (1 + d) / 2 of B
    system = np.repeat(np.array([0, 1], dtype=np.int64), len(pair))
    problem = CrossedProblem.of_differences(twice // n_items, twice % n_items, system)
    ratings = np.concatenate([(1 - mean) / 2, (1 + mean) / 2])
    fitted = fit_one(problem, ratings, restricted=rule.estimator == "reml")
    if fitted.status[0] in (reml.NO_RESIDUAL, reml.RUNAWAY):
        raise FitError("The preferences have no variation besides that of workers and items.")
    single = math.sqrt(fitted.sigma2[0])  # of one rating: half the variance of a difference
    return MixedPreference(
        wald_of_differences(problem, fitted, rule),
        sd_worker=single * math.sqrt(fitted.gamma[0, COMPONENTS.index("sd_worker_slope")]),
        sd_item=single * math.sqrt(fitted.gamma[0, COMPONENTS.index("sd_item_slope")]),
        sd_residual=single * math.sqrt(2.0),
    )


def design_effect(worker: Codes, item: Codes, preference: Floats) -> float:
    """How many times larger the variance of the mean preference is than if judgements were independent.

    The sum over workers of their squared total deviation, plus that over items, less that over single
    judgements, divided by the last (two-way clustering; Cameron, Gelbach & Miller 2011); at least 0.
    """
    deviation = preference - preference.mean()
    alone = float(deviation @ deviation)
    if alone == 0:
        return 1.0
    by_worker, by_item = (np.bincount(code, weights=deviation) for code in (worker, item))
    return max(float(by_worker @ by_worker + by_item @ by_item) / alone - 1, 0.0)


def independent_range(
    worker: Codes, item: Codes, preference: Floats, *, n_shuffles: int = 999, seed: int = 1
) -> tuple[float, float]:
    """Between which design effects 90 % lie if the same preferences are dealt out anew at random.

    Above these judgements of a worker or an item go together, at the level 5 %; within they do not tell.
    """
    rng = np.random.default_rng(seed)
    found = [design_effect(worker, item, rng.permutation(preference)) for _ in range(n_shuffles)]
    low, high = np.quantile(found, [0.05, 0.95])
    return float(low), float(high)
