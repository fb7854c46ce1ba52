"""Looks at studies of independent judgements: scores, preferences, accuracy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment, GammaScores, score_tests
from humeval_power.comparisons.preference.judgements import preference_p
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import InputError, refuse
from humeval_power.inference.exact_comparison import exact_difference
from humeval_power.scenarios.contract import BLOCK, Replicates
from humeval_power.studies.looks.replicates import (
    Floats,
    LookReplicates,
    look_blocks,
    share_problems,
    stacked,
)

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
