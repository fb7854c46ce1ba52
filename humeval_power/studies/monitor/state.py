"""What is known of a study between its looks: what was planned, and what each look found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment, score_tests
from humeval_power.comparisons.preference.scenario import Preference, preference_p
from humeval_power.errors import FitError, InputError, Problem, refuse
from humeval_power.inference.exact_comparison import rounded
from humeval_power.inference.mcnemar import P_VALUES
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.looks.repeated import StopWhen
from humeval_power.studies.looks.stagewise import LookEstimate
from humeval_power.studies.looks.stopping_rule import StoppingRule

Look = TypeVar("Look")
Decision = Literal[
    "continue",
    "stop-success",
    "stop-equivalence",
    "stop-half-width",
    "stop-futility",
    "end-success",
    "end-equivalence",
    "end-half-width",
    "end-some-shown",
    "end-nothing-shown",
]


@dataclass(frozen=True, slots=True)
class LookData:
    """What is in at a look.

    `share` is the share of the planned items, workers or ratings, by which the looks were planned.
    `information`, 1 / variance of the effect on [0, 1], is that of who rated what at the variances that the
    plan assumed: it does not depend on the ratings, so that they cannot move the boundaries (the estimated one
    would let a worker variance that happens to be estimated as zero spend all of alpha at once). `p_value` is
    that of the study's own test, one- or two-sided as its rule. `final` says that no more ratings will come.
    """

    n_ratings: int
    n_workers: int
    n_items: int
    share: float
    information: float
    estimate: float
    standard_error: float
    df: float
    p_value: float
    final: bool = False

    @property
    def z(self) -> float:
        """The z with the tail probability of the look's t."""
        return LookEstimate(self.estimate, self.standard_error, self.df).z


@dataclass(frozen=True, slots=True)
class JudgementData:
    """What is in at a look at independent judgements.

    `n_a` and `n_b` are the scores of each system; or the judgements for each, or the items that one system
    alone got right, beside `n_ties` judgements or items that are for neither. `estimate` and `standard_error`
    are in the units of the plan's boundaries: of scores P(a score of B is higher) - 1/2, ties counted half.
    `difference` is B - A as people report it: of mean scores in points, else the estimate. `share` and
    `information` depend on how many there are alone."""

    n_a: int
    n_b: int
    n_ties: int
    share: float
    information: float
    estimate: float
    standard_error: float
    p_value: float
    difference: float
    final: bool = False

    @property
    def n_judgements(self) -> int:
        """Scores of both systems, judgements or items."""
        return self.n_a + self.n_b + self.n_ties

    @property
    def df(self) -> float:
        """These tests have no degrees of freedom."""
        return math.inf

    @property
    def z(self) -> float:
        """The z with the two-sided p-value of the look and the sign of its estimate."""
        return math.copysign(float(-special.ndtri(self.p_value / 2)), self.estimate)


@dataclass(frozen=True, slots=True)
class TakenLook:
    """A look that was taken, and what it decided.

    `planned` is the number of the planned look (1, 2, ...), None for one that was not; `fraction` the
    share of the planned information at which it counts; `nominal` the level that its p-value had to
    reach, `futility` the one above which it would have been given up (1: never). `remarks` are departures from
    the plan, `reason` why an unplanned one was taken.
    """

    number: int
    planned: int | None
    data: LookData | JudgementData
    fraction: float
    nominal: float
    futility: float
    decision: Decision
    conditional_power: Mapping[str, float]
    reason: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Monitoring:
    """A study with looks: what was planned, and the looks so far.

    shares : planned shares of the items, workers or ratings, increasing to 1
    fractions : the shares of information that they were expected to carry
    maximum_information : of the whole study as planned, 1 / variance of the effect on [0, 1]
    effect : the effect of interest, on [0, 1]
    factor : by which nominal levels are multiplied, from a calibration by simulation (1: none)
    independent : whether the judgements are, so that their number is the information, also beyond the plan's
    stop_when, test : where intervals stop the study, for which reasons, and the test that they decide
    decision_bias, half_width_bias : what the plan predicts, on [0, 1], of an estimate at which a decision, or a
        narrow interval, stops the study early
    """

    rule: StoppingRule
    unit: str
    shares: tuple[float, ...]
    fractions: tuple[float, ...]
    maximum_information: float
    effect: float
    factor: float = 1.0
    independent: bool = False
    looks: tuple[TakenLook, ...] = ()
    stop_when: StopWhen | None = None
    test: DecisionRule = DEFAULT_RULE
    decision_bias: float | None = None
    half_width_bias: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the information of a complete study may be more than was planned, and counts as such."""
        return self.independent or self.stop_when is not None

    @property
    def rule_words(self) -> str:
        """The rule, with the reasons of intervals that stop the study."""
        return str(self.rule) if self.stop_when is None else f"{self.rule}, stop when {self.stop_when}"

    @property
    def drift(self) -> float:
        """Expected z at the planned end, if the effect of interest is true."""
        return self.effect * math.sqrt(self.maximum_information)

    @property
    def last(self) -> TakenLook:
        """The last look; refused before the first."""
        return last_of(self.looks)

    @property
    def ended(self) -> bool:
        """Whether the study has come to its end, or was stopped."""
        return bool(self.looks) and self.looks[-1].decision != "continue"

    @property
    def next_planned(self) -> int | None:
        """Number of the next planned look, None after the last."""
        taken = max((look.planned or 0 for look in self.looks), default=0)
        return taken + 1 if taken < len(self.shares) else None


def last_of(looks: Sequence[Look]) -> Look:
    """The last look; refused before the first."""
    if not looks:
        raise InputError("No look was taken yet.")
    return looks[-1]


# Looks at independent judgements: what they show so far by the test of their plan.

Floats = NDArray[np.float64]

_MOST_NAMED = 3
ALONE = "the tests of this plan take every judgement as independent of all others"


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Observations so far, one entry each. `value` is a score; or 1 for B, -1 for A and 0 for neither: who is
    preferred, or who alone is right. `is_b` says of a score whether it is B's, None for the others. `worker`
    and `item` are names, None where they are not known. `source` is what messages call the table,
    `notices` what was assumed or left out in reading it."""

    value: Floats
    is_b: NDArray[np.bool_] | None = None
    worker: Sequence[str] | None = None
    item: Sequence[str] | None = None
    source: str = "judgements"
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.value)


def observation_monitoring(plan: JudgementPlan) -> Monitoring:
    """A planned study of independent judgements before its first look."""
    return Monitoring(
        rule=plan.rule,
        unit=plan.unit,
        shares=plan.fractions,
        fractions=plan.fractions,
        maximum_information=plan.maximum_information,
        effect=plan.effect,
        independent=True,
    )


def observation_data(seen: Observations, plan: JudgementPlan, *, final: bool = False) -> JudgementData:
    """Test the judgements as the plan says. Raises InputError: observations of another kind than the plan's,
    none at all, or several of one worker or item; FitError: observations of which there is no test: the look
    is not taken."""
    if (seen.is_b is None) is (plan.kind == "scores"):
        raise InputError(f"{seen.source}: the plan is of {plan.kind}, and these are other judgements.")
    if not len(seen):
        raise InputError(f"{seen.source}: there are no judgements.")
    check_independent(seen, workers=plan.kind != "accuracy")
    data = _scores(seen, plan) if isinstance(plan.study, DirectAssessment) else _counts(seen, plan)
    information = plan.maximum_information / plan.n * data.information
    return replace(data, share=len(seen) / plan.n, information=information, final=final)


def check_independent(seen: Observations, *, workers: bool = True) -> None:
    """Refuse several judgements of one item, or of one worker; of scores, of one under one system.

    workers : whether those of one worker are refused too

    Raises InputError: all that come twice.
    """
    problems = []
    for what, names in (("worker", seen.worker if workers else None), ("item", seen.item)):
        if names is None:
            continue
        systems = [0] * len(names) if seen.is_b is None else seen.is_b.tolist()
        counts = Counter(zip(names, systems, strict=True))
        several = {name: n for (name, _), n in counts.items() if n > 1}
        if several:
            shown = ", ".join(f"{name!r} has {n:,}" for name, n in list(several.items())[:_MOST_NAMED])
            more = " and others" if len(several) > _MOST_NAMED else ""
            under = "" if seen.is_b is None else " of one system"
            who = f"{len(several):,} {what}{'s' * (len(several) > 1)}"
            rule = f"{who} with several judgements{under} ({shown}{more}), and {ALONE}."
            remedy = (
                f"Combine those of one {what} to one judgement first (a mean, a majority) by a rule that was "
                "written down; or plan a rating study with looks, whose model has workers and items."
            )
            problems.append(Problem(rule, remedy, place=seen.source))
    refuse(problems)


def paired_remarks(seen: Observations) -> tuple[str, ...]:
    """What is no error, but not what the plan takes judgements for: workers or items with a score of each
    system, workers who judge several items for right or wrong."""
    said = []
    for what, names in (("workers", seen.worker), ("items", seen.item)):
        if names is None:
            continue
        if seen.is_b is None:
            several = len(names) - len(set(names))
            if several and what == "workers":
                said.append(
                    "Some workers judge several items. The test takes items as the sample and answers as right or "
                    "wrong, whoever says so: judges who favour one system make it too bold."
                )
            continue
        of_b = {name for name, b in zip(names, seen.is_b, strict=True) if b}
        both = of_b & {name for name, b in zip(names, seen.is_b, strict=True) if not b}
        if both:
            said.append(
                f"{len(both):,} {what} have a score of each system. The test takes them as unrelated: it is too "
                "cautious where the two go up and down together, and too bold where one goes up as the other "
                "goes down."
            )
    return tuple(said)


def _counts(seen: Observations, plan: JudgementPlan) -> JudgementData:
    """The test of counts; `information` is in judgements, and `share` is set by who calls."""
    for_b, for_a = int((seen.value > 0).sum()), int((seen.value < 0).sum())
    n, study = len(seen), plan.study
    decided, margin = for_b + for_a, for_b - for_a
    if isinstance(study, PairedAccuracy):
        assert study.test != "unconditional"  # a plan refuses it
        p_value = P_VALUES[study.test](for_b, for_a)
        estimate, error = margin / n, _paired_error(for_b, for_a, n)
    else:
        assert isinstance(study, Preference)
        p_value = preference_p(for_b, for_a, n, ties=study.ties, test=study.test)
        if study.ties == "kept":
            estimate, error = margin / n / 2, _paired_error(for_b, for_a, n) / 2
        else:
            share = (for_b + 0.5) / (decided + 1)  # never 0 or 1, where the error would be none
            estimate, error = margin / max(decided, 1) / 2, math.sqrt(share * (1 - share) / max(decided, 1))
    return JudgementData(
        for_a, for_b, n - decided, math.nan, n, estimate, error, float(p_value), difference=estimate
    )


def _paired_error(for_b: int, for_a: int, n: int) -> float:
    """Standard error of (b - a) / n with 1/2 added to each cell of the table (Agresti and Min 2005), so that it is
    not 0 where all agree."""
    b, a, total = for_b + 0.5, for_a + 0.5, n + 2.0
    return math.sqrt(b + a - (b - a) ** 2 / total) / total


def _scores(seen: Observations, plan: JudgementPlan) -> JudgementData:
    """The same of scores; `information` is how many of a balanced study have theirs."""
    study = plan.study
    assert isinstance(study, DirectAssessment)
    assert seen.is_b is not None
    value = rounded(seen.value)
    a, b = value[~seen.is_b], value[seen.is_b]
    few = [name for name, scores in zip(plan.systems, (a, b), strict=True) if len(scores) < 2]
    if few:
        raise InputError(f"{seen.source}: {' and '.join(few)} must have at least 2 scores for a test.")
    tested = score_tests(a[None], b[None], test=study.test, continuity=study.continuity)
    if tested.status[0] != 0:
        raise FitError(
            "This look decides nothing: all scores are the same. The ledger is as it was, and no error is spent; "
            "collect more and look again."
        )
    superiority, error = superiority_of(a, b)
    effective = 4 * len(a) * len(b) / (len(a) + len(b))
    p_value, difference = float(tested.p_value[0]), float(tested.estimate[0])
    return JudgementData(
        len(a), len(b), 0, math.nan, effective, superiority - 0.5, error, p_value, difference
    )


def superiority_of(a: Floats, b: Floats) -> tuple[float, float]:
    """P(a score of B is higher), ties counted half, and its standard error from the scores' placements (DeLong,
    DeLong and Clarke-Pearson 1988; Brunner and Munzel 2000), which holds with and without a difference."""
    of_b, of_a = _placements(b, a), 1.0 - _placements(a, b)
    share = float(of_b.mean())
    variance = float(of_b.var(ddof=1) / len(b) + of_a.var(ddof=1) / len(a))
    if variance <= 0:  # all of one above all of the other: as large as without a difference
        variance = (len(a) + len(b) + 1) / (12 * len(a) * len(b))
    return share, math.sqrt(variance)


def _placements(of: Floats, among: Floats) -> Floats:
    """The share of `among` below each of `of`, ties counted half."""
    ordered = np.sort(among)
    below, to = np.searchsorted(ordered, of, side="left"), np.searchsorted(ordered, of, side="right")
    return np.asarray((below + to) / (2.0 * len(among)))
