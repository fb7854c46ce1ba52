"""After the last look: p-value, estimate and interval that take the looks into account, by the test of the plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from humeval_power.inference.looks.boundaries import Boundaries, false_positive_rate
from humeval_power.inference.looks.decided_counts import DecidedLook, exact_errors, exact_stagewise
from humeval_power.inference.looks.stagewise import LookEstimate, StagewiseResult, stagewise_inference
from humeval_power.inference.mcnemar import ConditionalTest, critical_counts
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.state import JudgementData, Monitoring
from humeval_power.planning.monitor.step import estimates, taken_boundaries
from humeval_power.planning.plan.plan import Plan
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.assessment.scenario import DirectAssessment
from humeval_power.scenarios.preference.independent import Preference

_HALF = 0.5


def after_stopping(state: Monitoring, plan: Plan | JudgementPlan) -> StagewiseResult:
    """Inference for a study that ended at the last look, in the stage-wise ordering and the units of its estimates.

    Ratings: as `stagewise_inference`. Scores: p from the p-values of the test at the looks, the estimate and
    the interval from their standard errors without the null hypothesis; so the two may disagree at the edge.
    Preferences and accuracy: exactly, given how many judgements were decided; of a difference of accuracy, and
    where ties are kept, this takes the share of decided judgements as it is in the data.

    Raises
    ------
    InputError
        No look was taken yet.
    """
    if isinstance(plan, Plan):
        return stagewise_inference(estimates(state), taken_boundaries(state))
    if isinstance(plan.study, DirectAssessment):
        return _after_scores(state)
    found = exact_stagewise(_decided(state, plan), mid_p=_test(plan) == "mid-p", alpha=plan.rule.alpha)
    last = _seen(state)[-1]
    unit = _per_share(last, plan)
    low, high = (unit * (share - _HALF) for share in found.interval)
    return replace(
        found, estimate=unit * (found.estimate - _HALF), interval=(low, high), naive=last.estimate
    )


def false_positive_chance(state: Monitoring, plan: JudgementPlan) -> float:
    """Chance that the looks taken so far claim a difference where there is none: exactly for preferences and
    accuracy, given how many judgements were decided; for z-values for scores."""
    if isinstance(plan.study, DirectAssessment):
        levels = [look.nominal for look in state.looks]
        return false_positive_rate(levels, [look.fraction for look in state.looks], two_sided=True)
    return exact_errors(_decided(state, plan))[-1]


def _after_scores(state: Monitoring) -> StagewiseResult:
    """p from the z of the test's p-values; estimate and interval on the scale of log odds, where the share of pairs
    that B wins is nearer to normal, with the boundaries as they lie there. Where all scores of one system lie above
    all of the other, log odds have no end, and the share itself is used, with the error of the null hypothesis."""
    seen = _seen(state)
    levels = [float(-special.ndtri(look.nominal / 2)) for look in state.looks]
    tested = [LookEstimate(data.z, 1.0) for data in seen]
    p_value = stagewise_inference(tested, _as_taken(state, levels)).p_value
    apart = any(abs(data.estimate) >= _HALF for data in seen)
    boundary = [z * _null_error(data) for z, data in zip(levels, seen, strict=True)]
    looks, there = _shares(seen, boundary) if apart else _log_odds(seen, boundary)
    found = stagewise_inference(looks, _as_taken(state, there))
    low, middle, high = (
        min(max(value, -_HALF), _HALF) if apart else float(special.expit(value)) - _HALF
        for value in (found.interval[0], found.estimate, found.interval[1])
    )
    last = seen[-1].estimate
    return replace(found, p_value=p_value, estimate=middle, interval=(low, high), naive=last)


def _shares(
    seen: Sequence[JudgementData], boundary: Sequence[float]
) -> tuple[list[LookEstimate], list[float]]:
    """The looks as shares of pairs, minus 1/2, and z at their boundaries, given as such shares."""
    looks = [LookEstimate(data.estimate, data.standard_error) for data in seen]
    return looks, [at / look.standard_error for at, look in zip(boundary, looks, strict=True)]


def _log_odds(
    seen: Sequence[JudgementData], boundary: Sequence[float]
) -> tuple[list[LookEstimate], list[float]]:
    """The same on the scale of log odds."""
    looks, there = [], []
    for data, at in zip(seen, boundary, strict=True):
        share = data.estimate + _HALF
        error = data.standard_error / (share * (1 - share))
        looks.append(LookEstimate(float(special.logit(share)), error))
        there.append(float(special.logit(_HALF + at)) / error if at < _HALF else math.inf)
    return looks, there


def _null_error(data: JudgementData) -> float:
    """Standard error of the share of pairs under the null hypothesis, with ties as there are: what the test
    divided by; where its p is 1, that without ties."""
    pairs = data.n_a * data.n_b
    z, excess = abs(data.z), abs(data.estimate) - _HALF / pairs
    if z > 0 and excess > 0:
        return excess / z
    return math.sqrt((data.n_a + data.n_b + 1) / (12 * pairs))


def _as_taken(state: Monitoring, z: Sequence[float]) -> Boundaries:
    """Boundaries of the looks that were taken, at the information that they had: of independent judgements it is
    known, also where looks came late or were left out."""
    fractions = tuple(look.fraction for look in state.looks)
    return Boundaries(state.rule, fractions, tuple(z), (-math.inf,) * len(z))


def _decided(state: Monitoring, plan: JudgementPlan) -> list[DecidedLook]:
    test, looks = _test(plan), []
    for look, data in zip(state.looks, _seen(state), strict=True):
        decided = data.n_a + data.n_b
        critical = critical_counts(np.array([decided]), test=test, alpha=look.nominal)
        looks.append(DecidedLook(decided, data.n_b, int(critical[0])))
    return looks


def _seen(state: Monitoring) -> Sequence[JudgementData]:
    data = [look.data for look in state.looks]
    return [each for each in data if isinstance(each, JudgementData)]


def _test(plan: JudgementPlan) -> ConditionalTest:
    study = plan.study
    assert isinstance(study, Preference | PairedAccuracy)
    assert study.test != "unconditional"
    return study.test


def _per_share(last: JudgementData, plan: JudgementPlan) -> float:
    """What a share of the decided that is larger by 1 is in the units of the estimate."""
    study, decided = plan.study, (last.n_a + last.n_b) / last.n_judgements
    if isinstance(study, PairedAccuracy):
        return 2 * decided
    assert isinstance(study, Preference)
    return decided if study.ties == "kept" else 1.0
