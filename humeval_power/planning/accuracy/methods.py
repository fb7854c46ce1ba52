"""Claims by every way of guessing the agreement, and by task (Card et al. 2020, Table 9, Fig. 13 and 14)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from humeval_power.choices import PairedTest
from humeval_power.planning.accuracy.claims import Claim
from humeval_power.planning.accuracy.detectable import detectable_accuracy, detectable_by_prior
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy


@dataclass(frozen=True, slots=True)
class TaskClaims:
    """The claims on one task: means, the standard error of the mean (NaN of a single claim), the highest baseline,
    and the smallest improvement that is found over that by each way of guessing (NaN: none that is possible)."""

    task: str
    n_items: int
    n_claims: int
    mean_baseline: float
    mean_improvement: float
    standard_error: float
    best_baseline: float
    smallest: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClaimMethods:
    """For each claim the smallest improvement found, by each way of guessing, and the tasks in order."""

    smallest: tuple[Mapping[str, float], ...]
    reached: Mapping[str, float]
    tasks: tuple[TaskClaims, ...]


def by_every_method(
    claims: Sequence[Claim], *, test: PairedTest, power: float, alpha: float
) -> ClaimMethods:
    """The smallest improvements under each prior and for unpaired samples, and which share of claims reach them."""

    @cache
    def smallest(n_items: int, baseline: float) -> Mapping[str, float]:
        asked = detectable_by_prior(n_items, baseline=baseline, test=test, power=power, alpha=alpha)
        unpaired = UnpairedAccuracy(n_items, 0.0, baseline=baseline, alpha=alpha)
        found = {str(name): each.effect for name, each in asked.items()}
        return {**found, "unpaired": detectable_accuracy(unpaired, power=power).effect}

    found = tuple(smallest(claim.n_items, claim.baseline) for claim in claims)
    reached = {
        name: sum(c.improvement >= each[name] for c, each in zip(claims, found, strict=True)) / len(claims)
        for name in found[0]
    }
    tasks = []
    for task in dict.fromkeys(claim.task for claim in claims):
        own = [claim for claim in claims if claim.task == task]
        gains, hardest = (
            np.array([claim.improvement for claim in own]),
            max(own, key=lambda each: each.baseline),
        )
        error = float(gains.std(ddof=1)) / math.sqrt(len(own)) if len(own) > 1 else math.nan
        mean = float(np.mean([claim.baseline for claim in own]))
        n_items, best = hardest.n_items, hardest.baseline  # what it takes to improve on the best so far
        tasks.append(
            TaskClaims(
                task, n_items, len(own), mean, float(gains.mean()), error, best, smallest(n_items, best)
            )
        )
    return ClaimMethods(found, reached, tuple(tasks))
