"""A plan of looks at independent judgements: what is tested, when, and what stops it, decided beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment, rank_probabilities
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import Problem, refuse
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.calibration import blocks_of, run_together
from humeval_power.studies.looks.judgements import AssessmentLooks, PairedLooks, look_counts
from humeval_power.studies.looks.replicates import (
    Flags,
    Floats,
    LookReplicates,
    LookSource,
    OfStudies,
    RatingLooks,
    Stopped,
    stop,
)
from humeval_power.studies.looks.stagewise import median_unbiased
from humeval_power.studies.looks.stopping_rule import ConditionalPowerFutility, StoppingRule

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
