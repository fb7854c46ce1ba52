"""Looks at studies of independent judgements: scores, preferences, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem
from humeval_power.inference.preference.sign_test import preference_p
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.assessment.scenario import DirectAssessment, score_tests
from humeval_power.scenarios.blocks import BLOCK
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.looks.looks import share_problems
from humeval_power.scenarios.looks.replicates import LookReplicates, look_blocks
from humeval_power.scenarios.preference.independent import Preference

Counts = NDArray[np.int64]
_VALUES = 2**22  # scores held in memory at a time


@dataclass(frozen=True)
class AssessmentLooks:
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
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.shares)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Scores of both systems at each look."""
        return tuple(2 * n for n in look_counts(self.assessment.n, self.shares, at_least=2))

    def with_effect(self, effect: float) -> AssessmentLooks:
        """The same with B better by `effect` points."""
        return replace(self, assessment=self.assessment.with_effect(effect))

    @property
    def drawn_together(self) -> int:
        """Replicates that are drawn at once."""
        return max(1, min(BLOCK, _VALUES // (2 * self.assessment.n)))

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate evaluations `first` to `first + n - 1`."""
        size = self.drawn_together
        return look_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size)

    def _draw_block(self, rng: np.random.Generator, size: int) -> LookReplicates:
        whole = self.assessment
        a, b = (scores.draw(rng, (size, whole.n)) for scores in (whole.a, whole.b))
        return stacked(
            [
                score_tests(
                    a[:, : total // 2], b[:, : total // 2], test=whole.test, continuity=whole.continuity
                )
                for total in self.sizes
            ]
        )


@dataclass(frozen=True)
class PairedLooks:
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

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.shares)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Items or judgements at each look."""
        study = self.study
        n = study.n_items if isinstance(study, PairedAccuracy) else study.n_judgements
        return look_counts(n, self.shares, at_least=1)

    def with_effect(self, effect: float) -> PairedLooks:
        """The same with another true effect."""
        return replace(self, study=self.study.with_effect(effect))

    @property
    def drawn_together(self) -> int:
        """Replicates that are drawn at once."""
        return BLOCK

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate studies `first` to `first + n - 1`."""
        return look_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs)

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
    """How many of `n` there are at each look.

    Raises
    ------
    InputError
        Shares that do not increase to 1, a look that adds nothing, or one with fewer than `at_least`.
    """
    problems = share_problems(shares)
    counts = tuple(round(share * n) for share in shares)
    if not problems and (counts[0] < at_least or any(np.diff(counts) < 1)):
        problems = [
            f"{n} judgements are too few for looks at {', '.join(f'{share:g}' for share in shares)}."
        ]
    if problems:
        raise InputError([Problem(rule=problem, remedy="") for problem in problems])
    return counts


def stacked(looks: Sequence[Replicates]) -> LookReplicates:
    """One record from the tests of each look; the judgements being independent, so is their test."""

    def column(name: str) -> np.ndarray:
        return np.stack([getattr(look, name) for look in looks], axis=1)

    p_value = column("p_value")
    return LookReplicates(
        estimate=column("estimate"),
        standard_error=column("standard_error"),
        df=column("df"),
        p_value=p_value,
        independent_p=p_value,
        status=column("status"),
    )
