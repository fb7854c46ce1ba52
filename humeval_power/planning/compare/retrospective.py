"""Power around the number of items at hand, from the differences that were observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from humeval_power.choices import CURVE_SIMULATIONS, MOST_NEEDED, Question
from humeval_power.choices import PowerBy as PowerBy
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.compare.result import Floats, TestSettings, all_alike
from humeval_power.inference.ranked_values import exact_difference
from humeval_power.planning.compare.power import CurvePoint, curve_sizes, power_curve
from humeval_power.planning.questions import smallest_true
from humeval_power.scenarios.compare.scores import NormalScores, PairedScoreTest, ResampledScores
from humeval_power.scenarios.computed import ComputedPower

if TYPE_CHECKING:
    from humeval_power.scenarios.compare.clusters import ResampledClusters
    from humeval_power.scenarios.compare.signs import SignScores

    Drawn: TypeAlias = ResampledScores | NormalScores | SignScores | ResampledClusters

Unit = Literal["items", "clusters"]
POST_HOC = (
    "The power is that for the effect that was observed. It says nothing that the p-value does not say "
    "already: at p = 0.05 it is about one half. Name the difference that matters instead."
)
SIGN_TESTS = ("sign", "mcnemar", "bootstrap-median", "permutation-median")
_SIMULATED_AS = {"bootstrap-median": "sign", "permutation-median": "sign", "wilcoxon": "wilcoxon"}


@dataclass(frozen=True, slots=True)
class RetrospectivePower:
    """Simulated power at the items at hand (`at`) and around them, for one true effect.

    `unit` says what is counted: items, or clusters of them, drawn as wholes, of `items_per_unit` on average.

    `test` is the test that was simulated: a permutation or bootstrap test has the t or sign test in its
    place, which is as powerful with many items and takes no resampling inside every simulation; with clusters
    every test has the t test of its differences, signs or signed ranks. `needed` is about the number for a
    power of `target` by formula; None where more than `MOST_NEEDED` are.
    """

    effect: float
    effect_words: str
    is_observed: bool
    test: str
    method: str
    formula: str
    at: CurvePoint
    curve: tuple[CurvePoint, ...]
    target: float
    needed: int | None
    unit: Unit = "items"
    items_per_unit: float = 1.0


def retrospective_power(
    differences: Floats,
    *,
    test: str,
    question: Question,
    settings: TestSettings,
    clusters: Clusters | None = None,
    effect: float | None = None,
    power_by: PowerBy = "bootstrap",
    sizes: Sequence[int] = (),
    target: float = 0.8,
    n_simulations: int = CURVE_SIMULATIONS,
    n_jobs: int = 1,
) -> RetrospectivePower | None:
    """Power of a test at several numbers of items; None where the differences have no spread.

    Parameters
    ----------
    clusters : of the items, in their order: then the numbers are those of clusters, drawn as wholes.
    effect : the true difference, in the metric's units; for the question 'better' the share of items on
        which B is better, less one half. None takes the observed one.
    power_by : resample the observed differences, or draw normal ones with their SD, or 'formula' to simulate
        nothing. A test of signs is simulated from the shares of items that are better, worse and tied.
    sizes : numbers of items of the curve beside those at hand; none takes a quarter to four times as many.

    Raises
    ------
    InputError
        Fewer than two items in `sizes`.
    """
    if any(size < 2 for size in sizes):
        raise InputError(f"Power is for at least 2 items; got {min(sizes)}.")
    if all_alike(differences):
        return None
    moved = settings.moved(differences)
    if effect is not None and question != "better":
        effect -= settings.null
    simulated = _SIMULATED_AS.get(test, test if test in SIGN_TESTS else "t")
    if clusters is not None:
        drawn_from = _of_clusters(moved, clusters, simulated, question, settings, effect, power_by)
        if drawn_from is None:
            return None
    elif test in SIGN_TESTS:
        drawn_from = _of_signs(moved, simulated, question, settings, effect)
    else:
        drawn_from = _of_differences(moved, simulated, settings, effect, power_by)
    make, computed, n = drawn_from.make, drawn_from.computed, drawn_from.n
    points = tuple(sorted({n, *sizes})) if sizes else curve_sizes(n)
    if power_by == "formula":
        curve = tuple(CurvePoint(size, None, computed(size).power) for size in points)
    else:
        drawn = power_curve(make, points, n_simulations=n_simulations, seed=settings.seed, n_jobs=n_jobs)
        curve = tuple(replace(point, formula=computed(point.n).power) for point in drawn)
    formula = computed(n).method
    return RetrospectivePower(
        effect=drawn_from.effect + (0.0 if test in SIGN_TESTS else settings.null),
        effect_words=drawn_from.words,
        is_observed=effect is None,
        test=simulated,
        method=formula if power_by == "formula" else drawn_from.method,
        formula=formula,
        at=next(point for point in curve if point.n == n),
        curve=curve,
        target=target,
        needed=_needed(computed, target),
        unit="items" if clusters is None else "clusters",
        items_per_unit=len(moved) / n,
    )


@dataclass(frozen=True, slots=True)
class _DrawnFrom:
    """Studies by number of items or clusters, of which `n` are at hand, their true effect and their power."""

    make: Callable[[int], Drawn]
    computed: Callable[[int], ComputedPower]
    n: int
    effect: float
    words: str
    method: str


def _needed(computed: Callable[[int], ComputedPower], target: float) -> int | None:
    """About the fewest items with a power; None where there are none, or more than are worth naming."""
    if computed(MOST_NEEDED).power < target:
        return None
    return smallest_true(lambda size: computed(size).power >= target, 2, MOST_NEEDED)


def _of_clusters(
    moved: Floats,
    clusters: Clusters,
    simulated: str,
    question: Question,
    settings: TestSettings,
    effect: float | None,
    power_by: PowerBy,
) -> _DrawnFrom | None:
    from humeval_power.planning.compare.clustered_power import of_clusters

    n, is_normal = clusters.n_clusters, power_by == "normal"
    make, known, words = of_clusters(
        moved,
        clusters,
        simulated=simulated,
        question=question,
        settings=settings,
        effect=effect,
        is_normal=is_normal,
    )
    if not make(n).varies:
        return None
    method = (
        "normal clusters, same variance between and within" if is_normal else "resampled whole clusters"
    )
    return _DrawnFrom(make, make(n).computed_with, n, known, words, method)


def _of_signs(
    moved: Floats, simulated: str, question: Question, settings: TestSettings, effect: float | None
) -> _DrawnFrom:
    from humeval_power.scenarios.compare.signs import SignScores

    if effect is not None and question in ("median", "pseudomedian"):
        moved, effect = exact_difference(moved, np.median(moved) - effect), None
    ties, share = float((moved == 0).mean()), float(np.sign(moved).mean()) / 2
    if effect is not None:
        share = (
            effect if question == "better" else effect / 2
        )  # a difference of accuracies counts both ways

    def make(n: int) -> SignScores:
        return SignScores(n, share, ties, settings.alternative, settings.alpha, simulated == "mcnemar")

    words = "share of items on which B is better, less one half"
    method = "draws of better, worse and tied items"
    return _DrawnFrom(make, lambda size: make(size).computed(), len(moved), share, words, method)


def _of_differences(
    moved: Floats, simulated: str, settings: TestSettings, effect: float | None, power_by: PowerBy
) -> _DrawnFrom:
    used: PairedScoreTest = "wilcoxon" if simulated == "wilcoxon" else "t"
    words = "pseudomedian of B - A" if used == "wilcoxon" else "mean of B - A"
    n = len(moved)
    at_hand = ResampledScores(n, moved, effect, used, settings.alternative, settings.alpha)
    known = at_hand.true_effect
    if power_by != "normal":
        return _DrawnFrom(
            lambda size: replace(at_hand, n=size),
            at_hand.computed_with,
            n,
            known,
            words,
            "resampled differences",
        )
    sd = float(moved.std(ddof=1))

    def make(size: int) -> NormalScores:
        return NormalScores(size, known, sd, used, settings.alternative, settings.alpha)

    method = "normal differences, same SD"
    return _DrawnFrom(make, lambda size: make(size).computed(), n, known, words, method)
