"""A plan of looks at independent judgements: what is tested, when, and what stops it, decided beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from humeval_power.errors import InputError, Problem
from humeval_power.inference.looks.boundaries import Boundaries, boundaries
from humeval_power.inference.looks.futility import ConditionalPowerFutility
from humeval_power.inference.looks.stopping_rule import StoppingRule
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.scenarios.accuracy.agreement import KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.assessment.scenario import DirectAssessment, rank_probabilities
from humeval_power.scenarios.looks.judgements import AssessmentLooks, PairedLooks, look_counts
from humeval_power.scenarios.preference.independent import Preference

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
        problems = [Problem(rule, remedy) for rule, remedy in self._problems()]
        if problems:
            raise InputError(problems)
        _ = self.sizes
        _ = self.boundaries()

    def _problems(self) -> list[tuple[str, str]]:
        study, futility, found = self.study, self.rule.futility, []
        if len({name.strip() for name in self.systems}) < 2:
            found.append((f"A and B must be two systems; got {' and '.join(self.systems)}.", ""))
        if isinstance(study, DirectAssessment) and study.test != "mann-whitney":
            found.append((f"Looks at scores are sealed for the Mann-Whitney test, not {study.test}.", ""))
        if isinstance(study, Preference | PairedAccuracy) and study.test not in ("exact", "mid-p"):
            found.append((f"Looks are sealed for the exact or the mid-p test, not {study.test}.", ""))
        if isinstance(study, Preference) and study.ties == "split":
            found.append(("Split ties have no exact test after looks.", "Leave ties out, or keep them."))
        if isinstance(study, PairedAccuracy) and not isinstance(study.agreement, KnownAgreement):
            found.append(("A sealed plan states the agreement that it assumes.", "Give it as a share."))
        if study.alpha != self.rule.alpha:
            rule = f"The test has alpha {study.alpha:g}, its boundaries {self.rule.alpha:g}."
            found.append((rule, "Use one."))
        if self.rule.alternative != "two-sided":
            found.append((f"These tests are two-sided; the rule is '{self.rule.alternative}'.", ""))
        if study.true_effect == 0:
            found.append(("The effect of interest must not be 0: no study can find that.", ""))
        if isinstance(futility, ConditionalPowerFutility) and futility.under == "design":
            rule = "Conditional power under the design is for looks at a rating study."
            found.append((rule, "Take that under the trend or the null."))
        return found

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
