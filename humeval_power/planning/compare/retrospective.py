"""Power around the number of items at hand, from the differences that were observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from humeval_power.inference.compare.result import Floats, Question, TestSettings, all_alike
from humeval_power.inference.ranked_values import exact_difference
from humeval_power.planning.compare.power import CURVE_SIMULATIONS, CurvePoint, curve_sizes, power_curve
from humeval_power.scenarios.compare.scores import NormalScores, PairedScoreTest, ResampledScores
from humeval_power.scenarios.compare.signs import SignScores
from humeval_power.scenarios.contract import Scenario

PowerBy = Literal["bootstrap", "normal"]
POST_HOC = (
    "The power is that for the effect that was observed. It says nothing that the p-value does not say "
    "already: at p = 0.05 it is about one half. Name the difference that matters instead."
)
SIGN_TESTS = ("sign", "mcnemar", "bootstrap-median", "permutation-median")
_SIMULATED_AS = {"bootstrap-median": "sign", "permutation-median": "sign", "wilcoxon": "wilcoxon"}


@dataclass(frozen=True, slots=True)
class RetrospectivePower:
    """Simulated power at the items at hand (`at`) and around them, for one true effect.

    `test` is the test that was simulated: a permutation or bootstrap test has the t or sign test in its
    place, which is as powerful with many items and takes no resampling inside every simulation.
    """

    effect: float
    effect_words: str
    is_observed: bool
    test: str
    method: str
    at: CurvePoint
    curve: tuple[CurvePoint, ...]


def retrospective_power(
    differences: Floats,
    *,
    test: str,
    question: Question,
    settings: TestSettings,
    effect: float | None = None,
    power_by: PowerBy = "bootstrap",
    n_simulations: int = CURVE_SIMULATIONS,
    n_jobs: int = 1,
) -> RetrospectivePower | None:
    """Power of a test at several numbers of items; None where the differences have no spread.

    Parameters
    ----------
    effect : the true difference, in the metric's units; for the question 'better' the share of items on
        which B is better, less one half. None takes the observed one.
    power_by : resample the observed differences, or draw normal ones with their SD. A test of signs is
        simulated from the shares of items that are better, worse and tied, either way.
    """
    if all_alike(differences):
        return None
    moved = settings.moved(differences)
    if effect is not None and question != "better":
        effect -= settings.null
    simulated = _SIMULATED_AS.get(test, test if test in SIGN_TESTS else "t")
    if test in SIGN_TESTS:
        make, words = _of_signs(moved, simulated, question, settings, effect)
        method = "draws of better, worse and tied items"
    else:
        make, words = _of_differences(moved, simulated, settings, effect, power_by)
        method = "resampled differences" if power_by == "bootstrap" else "normal differences, same SD"
    n = len(moved)
    curve = power_curve(
        make, curve_sizes(n), n_simulations=n_simulations, seed=settings.seed, n_jobs=n_jobs
    )
    return RetrospectivePower(
        effect=make(n).true_effect + (0.0 if test in SIGN_TESTS else settings.null),
        effect_words=words,
        is_observed=effect is None,
        test=simulated,
        method=method,
        at=next(point for point in curve if point.n == n),
        curve=curve,
    )


def _of_signs(
    moved: Floats, simulated: str, question: Question, settings: TestSettings, effect: float | None
) -> tuple[Callable[[int], Scenario], str]:
    if effect is not None and question in ("median", "pseudomedian"):
        moved, effect = exact_difference(moved, np.median(moved) - effect), None
    ties, share = float((moved == 0).mean()), float(np.sign(moved).mean()) / 2
    if effect is not None:
        share = (
            effect if question == "better" else effect / 2
        )  # a difference of accuracies counts both ways

    def make(n: int) -> Scenario:
        return SignScores(n, share, ties, settings.direction, settings.alpha, simulated == "mcnemar")

    return make, "share of items on which B is better, less one half"


def _of_differences(
    moved: Floats, simulated: str, settings: TestSettings, effect: float | None, power_by: PowerBy
) -> tuple[Callable[[int], Scenario], str]:
    used: PairedScoreTest = "wilcoxon" if simulated == "wilcoxon" else "t"

    def make(n: int) -> Scenario:
        resampled = ResampledScores(n, moved, effect, used, settings.direction, settings.alpha)
        if power_by == "bootstrap":
            return resampled
        sd = float(moved.std(ddof=1))
        return NormalScores(n, resampled.true_effect, sd, used, settings.direction, settings.alpha)

    return make, "pseudomedian of B - A" if used == "wilcoxon" else "mean of B - A"
