"""A plan of looks at independent judgements: what is tested, when, and what stops it, decided beforehand.

Looks at studies of independent judgements: scores, preferences, accuracy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import (
    DirectAssessment,
    GammaScores,
    rank_probabilities,
    score_tests,
)
from humeval_power.comparisons.preference.scenario import Preference, preference_p
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.inference.exact_comparison import exact_difference
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.scenarios.contract import BLOCK, Replicates
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.calibration import blocks_of, run_together
from humeval_power.studies.looks.replicates import (
    Flags,
    Floats,
    LookReplicates,
    LookSource,
    OfStudies,
    RatingLooks,
    Stopped,
    look_blocks,
    share_problems,
    stacked,
    stop,
)
from humeval_power.studies.looks.stagewise import median_unbiased
from humeval_power.studies.looks.stopping_rule import ConditionalPowerFutility, StoppingRule

Counts = NDArray[np.int64]
_VALUES = 2**22  # scores held in memory at a time


class DrawnJudgements(ABC):
    """Independent judgements that are looked at after shares of them."""

    shares: tuple[float, ...]

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.shares)

    @property
    def drawn_together(self) -> int:
        """Replicates that are drawn at once."""
        return BLOCK

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate studies `first` to `first + n - 1`."""
        size = self.drawn_together
        return look_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size)

    @abstractmethod
    def _draw_block(self, rng: np.random.Generator, size: int) -> LookReplicates: ...


@dataclass(frozen=True)
class AssessmentLooks(DrawnJudgements):
    """Direct assessment looked at after shares of each system's scores."""

    assessment: DirectAssessment
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        _ = look_counts(self.assessment.n, self.shares, at_least=2)

    @property
    def true_effect(self) -> float:
        """Mean score of B minus mean score of A, in points."""
        return self.assessment.true_effect

    @property
    def sizes(self) -> tuple[int, ...]:
        """Scores of both systems at each look."""
        return tuple(2 * n for n in look_counts(self.assessment.n, self.shares, at_least=2))

    def with_effect(self, effect: float) -> AssessmentLooks:
        """The same with B better by `effect` points."""
        return replace(self, assessment=self.assessment.with_effect(effect))

    @property
    def drawn_together(self) -> int:
        """Fewer where there are many scores."""
        return max(1, min(BLOCK, _VALUES // (2 * self.assessment.n)))

    def _draw_block(self, rng: np.random.Generator, size: int) -> LookReplicates:
        whole = self.assessment
        a, b = (scores.draw(rng, (size, whole.n)) for scores in (whole.a, whole.b))
        looks = []
        for total in self.sizes:
            n = total // 2
            looks.append(score_tests(a[:, :n], b[:, :n], test=whole.test, continuity=whole.continuity))
        return stacked(looks)


@dataclass(frozen=True)
class PairedLooks(DrawnJudgements):
    """Preferences, or two systems' accuracy on the same items, looked at after shares of the judgements or
    items; the test of each look is the study's own."""

    study: PairedAccuracy | Preference
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if isinstance(self.study, PairedAccuracy) and self.study.test == "unconditional":
            raise InputError("Looks at accuracy use the mid-p, exact or asymptotic McNemar test.")
        _ = self.sizes

    @property
    def true_effect(self) -> float:
        """Difference of accuracy, or share that prefers B minus 1/2."""
        return self.study.true_effect

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Items or judgements at each look."""
        study = self.study
        n = study.n_items if isinstance(study, PairedAccuracy) else study.n_judgements
        return look_counts(n, self.shares, at_least=1)

    def with_effect(self, effect: float) -> PairedLooks:
        """The same with another true effect."""
        return replace(self, study=self.study.with_effect(effect))

    def _draw_block(self, rng: np.random.Generator, size: int) -> LookReplicates:
        study = self.study
        if isinstance(study, PairedAccuracy):
            shares = (study.only_b, study.only_a)
        else:
            shares = (study.win_share, study.loss_share)
        law = np.clip([*shares, 1.0 - sum(shares)], 0.0, 1.0)
        so_far = np.zeros((size, 3), dtype=np.int64)
        looks = []
        for total, step in zip(self.sizes, np.diff(self.sizes, prepend=0), strict=True):
            so_far = so_far + rng.multinomial(step, law / law.sum(), size=size)
            looks.append(_paired_test(study, total, so_far[:, 0], so_far[:, 1]))
        return stacked(looks)


def _paired_test(
    study: PairedAccuracy | Preference, total: int, wins: Counts, losses: Counts
) -> Replicates:
    if isinstance(study, PairedAccuracy):
        return replace(study, n_items=total).decide(wins, losses)
    p_value = preference_p(wins, losses, total, ties=study.ties, test=study.test)
    number = np.maximum(wins + losses, 1) if study.ties == "excluded" else np.full(len(wins), total)
    mean = (wins - losses) / number
    spread = np.maximum((wins + losses) / number - mean**2, 0.0)
    status = np.zeros(len(wins), dtype=np.int64)
    return Replicates(
        mean / 2,
        np.sqrt(spread / number) / 2,
        np.full(len(wins), np.nan),
        p_value,
        status,
        np.zeros((len(wins), 0), dtype=np.bool_),
    )


def look_counts(n: int, shares: Sequence[float], *, at_least: int) -> tuple[int, ...]:
    """How many of `n` there are at each look. Raises InputError: shares that do not increase to 1, a look
    that adds nothing, or one with fewer than `at_least`."""
    problems = share_problems(shares)
    counts = tuple(round(share * n) for share in shares)
    if not problems and (counts[0] < at_least or any(np.diff(counts) < 1)):
        problems = [
            f"{n} judgements are too few for looks at {', '.join(f'{share:g}' for share in shares)}."
        ]
    refuse(problems)
    return counts


# Looks at comparisons drawn from a pool: the laws of two systems' scores, a user's own or assumed ones.

_POOL_BLOCK = 128  # replicates of a pair drawn together: a pool has many pairs, each with few replicates


@dataclass(frozen=True, eq=False)
class ScoreLaws:
    """The laws of two systems' scores: `values` in increasing order, shape (k,), and the probability of each
    under A and under B."""

    values: Floats
    of_a: Floats
    of_b: Floats
    name: str = ""

    @property
    def difference(self) -> float:
        """Mean of B minus mean of A."""
        return float((self.of_b - self.of_a) @ self.values)


def pair_of_samples(a: ArrayLike, b: ArrayLike, *, name: str = "") -> ScoreLaws:
    """The pair whose laws are the scores of two samples: drawing from it is drawing with replacement. Raises
    InputError: a sample without scores, or with one that is not a number."""
    samples = [np.asarray(sample, dtype=float).ravel() for sample in (a, b)]
    if any(len(sample) < 2 or not np.isfinite(sample).all() for sample in samples):
        raise InputError(
            f"{name or 'A pair'} needs at least two scores of each system, all of them numbers."
        )
    values = np.unique(np.concatenate(samples))
    of_a, of_b = (
        np.bincount(np.searchsorted(values, sample), minlength=len(values)) / len(sample)
        for sample in samples
    )
    return ScoreLaws(values, of_a, of_b, name)


def pair_of_laws(a: GammaScores, b: GammaScores, *, name: str = "") -> ScoreLaws:
    """The pair of two Gamma laws whose scores are rounded to whole points; what lies beyond the ends of the
    scale counts there."""
    low, high = int(np.floor(min(a.low, b.low))), int(np.ceil(max(a.high, b.high)))
    values = np.arange(low, high + 1, dtype=float)

    def law(scores: GammaScores) -> Floats:
        shape, scale = scores.law
        edges = scores.high - (values[:-1] + 0.5)
        beyond = special.gammaincc(shape, np.maximum(edges, 0.0) / scale)
        return np.asarray(np.diff(np.concatenate([[0.0], beyond, [1.0]])))

    return ScoreLaws(values, law(a), law(b), name)


def simulated_pool(n: int, *, typical: float, mean: float, sd: float) -> list[ScoreLaws]:
    """Pairs of Gamma laws whose true differences are the quantiles of a Laplace law's absolute value: most are
    small, a few large. Those that would leave the scale are set to its end."""
    shares = (np.arange(n) + 0.5) / n
    room = 0.9 * (100.0 - mean)
    differences = np.minimum(-typical * np.log1p(-shares), room)
    a = GammaScores(mean, sd)
    return [
        pair_of_laws(a, GammaScores(mean + float(each), sd), name=f"{each:.3g} points")
        for each in differences
    ]


@dataclass(frozen=True, eq=False)
class PoolLooks(DrawnJudgements):
    """Scores drawn from a pair's laws, `n` for each system, compared by Mann and Whitney's U (ties and
    continuity corrected) after shares of them. Only the counts of each value are drawn."""

    pair: ScoreLaws
    n: int
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        _ = look_counts(self.n, self.shares, at_least=2)

    @property
    def true_effect(self) -> float:
        """Mean of B minus mean of A in the pool."""
        return self.pair.difference

    @property
    def sizes(self) -> tuple[int, ...]:
        """Scores of both systems at each look."""
        return tuple(2 * n for n in look_counts(self.n, self.shares, at_least=2))

    def with_effect(self, effect: float) -> PoolLooks:
        """The same with every score of B moved, so that the mean difference is `effect`. Laws of different
        shape differ in rank even where their means are equal, and U finds that."""
        pair, move = self.pair, effect - self.pair.difference
        values = np.concatenate([pair.values, exact_difference(pair.values, -move)])
        nothing = np.zeros(len(pair.values))
        of_a, of_b = np.append(pair.of_a, nothing), np.append(nothing, pair.of_b)
        distinct, place = np.unique(values, return_inverse=True)
        law_a, law_b = (np.bincount(place, weights=law).astype(np.float64) for law in (of_a, of_b))
        return replace(self, pair=ScoreLaws(distinct, law_a, law_b, pair.name))

    @property
    def drawn_together(self) -> int:
        """Fewer where there are many scores or values."""
        return max(1, min(_POOL_BLOCK, _VALUES // (self.n + 8 * len(self.pair.values))))

    def _draw_block(self, rng: np.random.Generator, size: int) -> LookReplicates:
        steps = np.diff(self.sizes, prepend=0) // 2
        of_a, of_b = (np.zeros((size, len(self.pair.values)), dtype=np.int64) for _ in range(2))
        looks = []
        for step in steps:
            of_a = of_a + _draw_counts(rng, self.pair.of_a, int(step), size)
            of_b = of_b + _draw_counts(rng, self.pair.of_b, int(step), size)
            looks.append(counted_mann_whitney(self.pair.values, of_a, of_b))
        return stacked(looks)


def _draw_counts(rng: np.random.Generator, law: Floats, n: int, size: int) -> Counts:
    """How often each value occurs among `n` draws, shape (size, values). Draw by draw: a multinomial draw
    costs a binomial for every value, which is dearer up to some ten thousand draws."""
    upper = np.cumsum(law)
    upper /= upper[-1]
    codes = np.searchsorted(upper, rng.random((size, n)), side="right")
    codes += np.arange(size)[:, None] * len(law)
    return np.bincount(codes.ravel(), minlength=size * len(law)).reshape(size, len(law))


def counted_mann_whitney(values: Floats, of_a: Counts, of_b: Counts) -> Replicates:
    """Two-sided Mann-Whitney tests from how often each value (increasing) occurs, arrays (n, values)."""
    n_a, n_b = of_a[0].sum(), of_b[0].sum()
    n = n_a + n_b
    below = np.cumsum(of_a, axis=1) - 0.5 * of_a
    u = (of_b * below).sum(axis=1)
    tied = (of_a + of_b).astype(float)
    tie_term = (tied**3 - tied).sum(axis=1)
    variance = n_a * n_b / 12 * (n + 1 - tie_term / (n * (n - 1)))
    root = np.sqrt(np.where(variance > 0, variance, np.nan))
    excess = np.abs(u - n_a * n_b / 2) - 0.5
    p_value = np.minimum(2 * special.ndtr(-excess / root), 1.0)
    estimate = of_b @ values / n_b - of_a @ values / n_a
    unknown = np.full(len(u), np.nan)
    status = np.where(np.isnan(p_value), 1, 0)
    return Replicates(estimate, unknown, unknown, p_value, status, np.zeros((len(u), 0), dtype=np.bool_))


# What a study with looks does in the long run: power, false positives, size, cost and bias.


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """The long run at one true effect, over simulated studies that were refitted at every look.

    `power` counts significant results of the right sign, `rejection_rate` those of either; `futility_rate`
    stops for futility. `stopping` has the share of studies that end at each look, `success_by_look` the
    share that ends there as significant. `bias` is the mean of the naive estimate at stopping minus the
    effect, `corrected_bias` that of the median-unbiased one; `type_m` the mean |naive estimate| over |effect|
    of significant studies (NaN without an effect). `fixed_power` is that of the same study with one look at
    its end. `expected_cost` is NaN without prices.
    """

    effect: float
    power: float
    power_interval: tuple[float, float]
    rejection_rate: float
    rejection_interval: tuple[float, float]
    futility_rate: float
    stopping: tuple[float, ...]
    success_by_look: tuple[float, ...]
    expected_size: float
    expected_cost: float
    bias: float
    corrected_bias: float
    corrected_above: float
    type_m: float
    fixed_power: float
    n_usable: int
    n_failed: int


@dataclass(frozen=True, slots=True, eq=False)
class Endings(OfStudies):
    """How simulated studies ended, shape (n,): at which look (from 0), with which result and estimate, the naive
    one and the median-unbiased; `last_significant` and `last_positive` are those of one look at the end, at alpha.
    """

    look: NDArray[np.int8]
    usable: Flags
    significant: Flags
    futile: Flags
    last_significant: Flags
    last_positive: Flags
    estimate: Floats
    corrected: Floats

    @classmethod
    def of(cls, looks: LookReplicates, bounds: Boundaries) -> Endings:
        """Where boundaries stop studies."""
        stopped = stop(looks, bounds)
        return cls(
            look=stopped.look.astype(np.int8),
            usable=stopped.usable,
            significant=stopped.significant,
            futile=stopped.futile,
            last_significant=looks.p_value[:, -1] <= bounds.rule.alpha,
            last_positive=looks.estimate[:, -1] > 0,
            estimate=stopped.estimate,
            corrected=_corrected(looks, stopped, bounds),
        )


def operating_point(
    endings: Endings,
    bounds: Boundaries,
    *,
    effect: float,
    sizes: Sequence[float],
    costs: Sequence[float] | None = None,
) -> OperatingPoint:
    """Summarise simulated studies with this true effect.

    sizes : ratings collected by each look; costs : what has been spent by each look
    """
    kept = endings.part(endings.usable)
    n, look, significant, estimate = len(kept.look), kept.look, kept.significant, kept.estimate
    right = significant & ((estimate > 0) if effect >= 0 else (estimate < 0))
    last_right = kept.last_significant & (kept.last_positive == (effect >= 0))
    by_look = np.arange(bounds.n_looks)
    spent = np.array(costs, dtype=float) if costs is not None else np.full(bounds.n_looks, math.nan)
    exaggeration = _mean(np.abs(estimate[significant])) / abs(effect) if effect else math.nan
    return OperatingPoint(
        effect=effect,
        power=_mean(right),
        power_interval=wilson_interval(int(right.sum()), n),
        rejection_rate=_mean(significant),
        rejection_interval=wilson_interval(int(significant.sum()), n),
        futility_rate=_mean(kept.futile),
        stopping=tuple(_mean(look == k) for k in by_look),
        success_by_look=tuple(_mean((look == k) & significant) for k in by_look),
        expected_size=_mean(np.array(sizes, dtype=float)[look]),
        expected_cost=_mean(spent[look]),
        bias=_mean(estimate) - effect,
        corrected_bias=_mean(kept.corrected) - effect,
        corrected_above=_mean(kept.corrected > effect),
        type_m=exaggeration,
        fixed_power=_mean(last_right),
        n_usable=n,
        n_failed=len(endings.usable) - n,
    )


def operating_characteristics(
    source: LookSource,
    bounds: Boundaries,
    *,
    effects: Sequence[float],
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
    costs: Sequence[float] | None = None,
) -> list[OperatingPoint]:
    """The long run at each of several true effects.

    Gaussian rating studies serve all effects with one set of random numbers: only their estimates move.
    """
    if isinstance(source, RatingLooks) and source.shifts:
        sources: list[tuple[LookSource, tuple[float, ...]]] = [(source.with_effect(0.0), tuple(effects))]
    else:
        sources = [(source.with_effect(effect), ()) for effect in effects]
    lists = [
        blocks_of(endings_of, at, bounds, shifts, n_simulations=n_simulations, seed=seed)
        for at, shifts in sources
    ]
    endings: list[Endings] = []
    for parts in run_together(lists, n_jobs=n_jobs):
        endings += [Endings.joined(of_effect) for of_effect in zip(*parts, strict=True)]
    return [
        operating_point(ended, bounds, effect=effect, sizes=source.sizes, costs=costs)
        for effect, ended in zip(effects, endings, strict=True)
    ]


def endings_of(looks: LookReplicates, bounds: Boundaries, shifts: tuple[float, ...]) -> tuple[Endings, ...]:
    """How studies end as they are, or with each of several larger effects."""
    if not shifts:
        return (Endings.of(looks, bounds),)
    return tuple(Endings.of(looks.shifted(by), bounds) for by in shifts)


def _corrected(looks: LookReplicates, stopped: Stopped, bounds: Boundaries) -> Floats:
    rows = np.arange(len(looks))
    score = looks.score[rows, stopped.look]
    error = looks.standard_error[rows, stopped.look]
    with np.errstate(divide="ignore", invalid="ignore"):
        implied = np.abs(stopped.estimate / score)
    error = np.where(np.isfinite(error), error, np.where(np.isfinite(implied), implied, 0.0))
    return median_unbiased(stopped.look, score, error, stopped.estimate, bounds=bounds)


def _mean(values: Floats | np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


JudgementKind = Literal["scores", "preference", "accuracy"]
Judged = DirectAssessment | Preference | PairedAccuracy
UNITS: dict[JudgementKind, str] = {"scores": "scores", "preference": "judgements", "accuracy": "items"}
TESTS: dict[JudgementKind, str] = {
    "scores": "Mann-Whitney U",
    "preference": "sign test",
    "accuracy": "McNemar's test",
}


@dataclass(frozen=True, slots=True)
class PromisedPower:
    """What simulation promised: power at the planned effect with its interval, the mean size at stopping if the
    effect is true and if there is none, in how many studies, and the seed."""

    power: float
    interval: tuple[float, float]
    size_if_effect: float
    size_if_none: float
    n_simulations: int
    seed: int


@dataclass(frozen=True, slots=True)
class JudgementPlan:
    """Looks at independent judgements as planned. `study` has the size, the test and what is assumed; the effect is
    B - A of the `systems`. `shares` are those of the judgements at which the study is looked at.

    Independent is what the test takes the judgements to be: no worker and no item may come twice.
    """

    systems: tuple[str, str]
    study: Judged
    shares: tuple[float, ...]
    rule: StoppingRule
    promised: PromisedPower | None = None

    def __post_init__(self) -> None:
        refuse([Problem(rule, remedy) for rule, remedy in self._problems()])
        _ = self.sizes
        _ = self.boundaries()

    def _problems(self) -> list[tuple[str, str]]:
        study, futility, problems = self.study, self.rule.futility, []
        if len({name.strip() for name in self.systems}) < 2:
            problems.append((f"A and B must be two systems; got {' and '.join(self.systems)}.", ""))
        if isinstance(study, DirectAssessment) and study.test != "mann-whitney":
            problems.append(
                (f"Looks at scores are sealed for the Mann-Whitney test, not {study.test}.", "")
            )
        if isinstance(study, Preference | PairedAccuracy) and study.test not in ("exact", "mid-p"):
            problems.append((f"Looks are sealed for the exact or the mid-p test, not {study.test}.", ""))
        if isinstance(study, Preference) and study.ties == "split":
            problems.append(("Split ties have no exact test after looks.", "Leave ties out, or keep them."))
        if isinstance(study, PairedAccuracy) and not isinstance(study.agreement, KnownAgreement):
            problems.append(("A sealed plan states the agreement that it assumes.", "Give it as a share."))
        if study.alpha != self.rule.alpha:
            rule = f"The test has alpha {study.alpha:g}, its boundaries {self.rule.alpha:g}."
            problems.append((rule, "Use one."))
        if self.rule.alternative != "two-sided":
            problems.append((f"These tests are two-sided; the rule is '{self.rule.alternative}'.", ""))
        if study.true_effect == 0:
            problems.append(("The effect of interest must not be 0: no study can find that.", ""))
        if isinstance(futility, ConditionalPowerFutility) and futility.under == "design":
            rule = "Conditional power under the design is for looks at a rating study."
            problems.append((rule, "Take that under the trend or the null."))
        return problems

    @property
    def kind(self) -> JudgementKind:
        """What is judged."""
        if isinstance(self.study, DirectAssessment):
            return "scores"
        return "preference" if isinstance(self.study, Preference) else "accuracy"

    @property
    def unit(self) -> str:
        """What the looks are counted by."""
        return UNITS[self.kind]

    @property
    def test(self) -> str:
        """The test of each look, in words."""
        if isinstance(self.study, DirectAssessment):
            return TESTS[self.kind]
        return f"{TESTS[self.kind]} ({self.study.test})"

    @property
    def n(self) -> int:
        """Judgements or items at the planned end; of scores those of both systems."""
        return self.sizes[-1]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Judgements or items at each look; of scores those of both systems."""
        study = self.study
        if isinstance(study, DirectAssessment):
            return tuple(2 * n for n in look_counts(study.n, self.shares, at_least=2))
        n = study.n_judgements if isinstance(study, Preference) else study.n_items
        return look_counts(n, self.shares, at_least=1)

    @property
    def fractions(self) -> tuple[float, ...]:
        """Shares of the judgements at each look, as counted; of independent ones they are those of the
        information."""
        return tuple(size / self.n for size in self.sizes)

    def boundaries(self) -> Boundaries:
        """The boundaries at the planned looks."""
        return boundaries(self.rule, self.fractions)

    def source(self) -> AssessmentLooks | PairedLooks:
        """The study as it would be simulated."""
        if isinstance(self.study, DirectAssessment):
            return AssessmentLooks(self.study, self.shares)
        return PairedLooks(self.study, self.shares)

    @property
    def effect(self) -> float:
        """The planned effect as the looks estimate it: of scores P(a score of B is higher) with ties counted
        half, minus 1/2; of preferences the share that prefers B, minus 1/2; of accuracy the difference."""
        study = self.study
        if isinstance(study, DirectAssessment):
            return rank_probabilities(study.a, study.b).p1 - 0.5
        return study.true_effect

    @property
    def maximum_information(self) -> float:
        """1 / variance of that estimate at the planned end, if what is assumed is true."""
        study = self.study
        if isinstance(study, DirectAssessment):
            law = rank_probabilities(study.a, study.b)
            spread = law.p1 - law.tied / 4 - law.p1**2
            return study.n**2 / (spread + (study.n - 1) * (law.p2 + law.p3 - 2 * law.p1**2))
        if isinstance(study, PairedAccuracy):
            return 1 / _variance(study.disagreement - study.difference**2, study.n_items)
        margin = study.win_share - study.loss_share
        decided = study.win_share + study.loss_share
        if study.ties == "kept":
            return 4 / _variance(decided - margin**2, study.n_judgements)
        return 4 / _variance(1 - (margin / decided) ** 2, study.n_judgements * decided)


def _variance(spread: float, n: float) -> float:
    """Of a mean of n; where all are assumed to be alike, as if one were not."""
    return max(spread, 1 / n) / n


def promised_power(
    points: Sequence[OperatingPoint], effect: float, *, n_simulations: int, seed: int
) -> PromisedPower | None:
    """What simulated operating points say of the planned effect and of none; None where one is not among them."""
    at = {point.effect: point for point in points}
    if effect not in at or 0.0 not in at:
        return None
    point = at[effect]
    return PromisedPower(
        power=point.power,
        interval=point.power_interval,
        size_if_effect=point.expected_size,
        size_if_none=at[0.0].expected_size,
        n_simulations=n_simulations,
        seed=seed,
    )


def judgement_plan(
    source: AssessmentLooks | PairedLooks,
    rule: StoppingRule,
    *,
    systems: tuple[str, str],
    promised: PromisedPower | None,
) -> JudgementPlan:
    """The plan of a study that was simulated; a predicted agreement becomes the one that it predicts.

    Raises
    ------
    InputError
        A test that no look can be taken by.
    """
    study: Judged = source.assessment if isinstance(source, AssessmentLooks) else source.study
    if isinstance(study, PairedAccuracy):
        study = replace(study, agreement=KnownAgreement(1.0 - study.disagreement))
    return JudgementPlan(systems, study, source.shares, rule, promised)
