"""How many items a comparison of two systems by a metric needs, and how its power grows with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy import special

from humeval_power.choices import CURVE_SIMULATIONS, DEFAULT_SEED, MOST_NEEDED, PowerBy, Question
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.effect_sizes import Floats, TestSettings, all_alike, hodges_lehmann
from humeval_power.comparisons.scores.scenario import (
    NormalScores,
    PairedScoreTest,
    ResampledClusters,
    ResampledScores,
    t_power,
)
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.exact_comparison import exact_difference
from humeval_power.inference.student_t import equivalence_power
from humeval_power.roots import root_between
from humeval_power.scenarios.contract import ComputedPower, Scenario
from humeval_power.studies.power.estimate import PowerEstimate, estimate_powers
from humeval_power.studies.power.questions import smallest_true

if TYPE_CHECKING:
    from humeval_power.comparisons.scores.scenario import SignScores

MOST_ITEMS = 100_000_000


@dataclass(frozen=True, slots=True)
class RequiredItems:
    """The fewest items, the real number that the formula gives, and the power with the fewest."""

    n: int
    exact_n: float
    power: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Power at one number of items, as simulated; None where nothing was. `formula` is None where it was not
    computed."""

    n: int
    simulated: PowerEstimate | None
    formula: float | None = None

    @property
    def power(self) -> float:
        """As simulated, or else by formula."""
        if self.simulated is not None:
            return self.simulated.power
        return math.nan if self.formula is None else self.formula

    @property
    def interval(self) -> tuple[float, float] | None:
        """Monte Carlo interval of what was simulated."""
        return None if self.simulated is None else self.simulated.interval


def required_items(
    ratio: float, *, power: float = 0.8, alpha: float = 0.05, alternative: Direction = "two-sided"
) -> RequiredItems:
    """Items for a paired t test to find a mean difference of `ratio` SDs with a given power.

    By the noncentral t, as a real number and rounded up (Zhu et al. 2020, section 3.4.1).
    """
    if not alpha < power < 1:
        raise InputError(f"The power must lie between alpha ({alpha:g}) and 1; got {power:g}.")
    if ratio == 0 or (alternative == "greater" and ratio < 0) or (alternative == "less" and ratio > 0):
        raise InputError(f"No number of items finds a difference of {ratio:g} SDs in this direction.")

    def missing(n: float) -> float:
        return t_power(ratio, n, alternative=alternative, alpha=alpha).power - power

    return _smallest(
        missing, power, lambda n: t_power(ratio, n, alternative=alternative, alpha=alpha).power
    )


def required_items_equivalence(
    margin_ratio: float, *, ratio: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> RequiredItems:
    """Items to show equivalence within a margin by two one-sided t tests (Phillips 1990).

    margin_ratio, ratio : margin and true mean difference in SDs of the differences.
    """
    if not alpha < power < 1:
        raise InputError(f"The power must lie between alpha ({alpha:g}) and 1; got {power:g}.")
    if not abs(ratio) < margin_ratio:
        raise InputError("Equivalence can only be shown where the true difference is inside the margin.")

    def reached(n: float) -> float:
        return equivalence_power_of(n, margin_ratio, ratio=ratio, alpha=alpha)

    return _smallest(lambda n: reached(n) - power, power, reached)


def equivalence_power_of(
    n: float, margin_ratio: float, *, ratio: float = 0.0, alpha: float = 0.05
) -> float:
    """Power of two one-sided t tests with n items; margin and true mean difference in SDs."""
    critical = -float(special.stdtrit(n - 1, alpha))
    return float(equivalence_power(ratio, 1 / math.sqrt(n), n - 1, margin=margin_ratio, critical=critical))


def power_curve(
    make: Callable[[int], Scenario],
    sizes: Sequence[int],
    *,
    n_simulations: int = CURVE_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> tuple[CurvePoint, ...]:
    """Simulated power at each number of items, every size with the same seed."""
    result = estimate_powers(
        [[make(n)] for n in sizes], n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
    )
    return tuple(CurvePoint(n, estimate) for n, (estimate,) in zip(sizes, result, strict=True))


def curve_sizes(n_items: int) -> tuple[int, ...]:
    """Numbers of items from a quarter to four times those at hand, which are always among them."""
    around = {max(5, round(n_items * factor)) for factor in (0.25, 0.5, 0.75, 1.5, 2, 3, 4)}
    return tuple(sorted({n_items, *around}))


def _smallest(
    missing: Callable[[float], float], power: float, reached: Callable[[int], float]
) -> RequiredItems:
    """Where the power is reached: first as a real number between 2 and the most items, then as an integer."""
    if missing(2.0) >= 0:
        return RequiredItems(2, 2.0, reached(2))
    high = 4.0
    while missing(high) < 0:
        high *= 2
        if high > MOST_ITEMS:
            raise InputError(
                f"The effect is too small beside the SD: a power of {power:g} would take more than "
                f"{MOST_ITEMS:,} items."
            )
    root = root_between(missing, max(2.0, high / 2), high, xtol=1e-9)
    n = math.ceil(root - 1e-9)
    return RequiredItems(n, root, reached(n))


def rank_values(differences: Floats) -> Floats:
    """Values whose mean over its standard error is Wilcoxon's Z in large samples, shape (n_items,).

    Of each difference d the share of others with a positive sum less that with a negative one, less half of its
    mean: the rank sum is half of the U-statistic of all sums, and varies as its projection does.
    """
    ordered, n = np.sort(differences), len(differences)
    below = np.searchsorted(ordered, -differences, side="left")
    above = n - np.searchsorted(ordered, -differences, side="right")
    shares = (above - below) / n
    return np.asarray(shares - shares.mean() / 2)


# Power around the number of items at hand, from the differences that were observed.

if TYPE_CHECKING:
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

    clusters : of the items, in their order: then the numbers are those of clusters, drawn as wholes.
    effect : the true difference, in the metric's units; for the question 'better' the share of items on which B
        is better, less one half. None takes the observed one.
    power_by : resample the observed differences, or draw normal ones with their SD, or 'formula' to simulate
        nothing. A test of signs is simulated from the shares of items that are better, worse and tied.
    sizes : numbers of items of the curve beside those at hand; none takes a quarter to four times as many.
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
    """Tests of means draw differences, tests of signs the signs, and that of signed ranks the values of which its
    statistic is a sum in large samples (its projection); each with the t test of CR2 errors."""
    if simulated == "t":
        values, words = moved, "mean of B - A"
        known = float(moved.mean()) if effect is None else effect
    elif simulated == "wilcoxon":
        observed = hodges_lehmann(moved).value
        known = observed if effect is None else effect
        values = rank_values(exact_difference(moved, observed - known) if effect is not None else moved)
        effect, words = None, "pseudomedian of B - A"
    else:
        if effect is not None and question != "better":
            moved, effect = exact_difference(moved, np.median(moved) - effect), None
        values, words = np.sign(moved) / 2, "share of items on which B is better, less one half"
        known = float(values.mean()) if effect is None else effect
    n, is_normal = clusters.n_clusters, power_by == "normal"

    def make(size: int) -> ResampledClusters:
        return ResampledClusters(
            size, values, clusters, effect, settings.alternative, settings.alpha, normal=is_normal
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
    from humeval_power.comparisons.scores.scenario import SignScores

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
