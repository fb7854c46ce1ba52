"""After the last look: p-value, estimate and interval that take the looks into account, by the test of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from humeval_power.inference.looks.boundaries import false_positive_rate
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
        bounds, looks = taken_boundaries(state), estimates(state)
        tested = [LookEstimate(_z(look.data.p_value, look.data.estimate), 1.0) for look in state.looks]
        found = stagewise_inference(looks, bounds)
        return replace(found, p_value=stagewise_inference(tested, bounds).p_value)
    found = exact_stagewise(_decided(state, plan), mid_p=_test(plan) == "mid-p", alpha=plan.rule.alpha)
    last = _seen(state)[-1]
    unit = _per_share(last, plan)
    low, high = (unit * (share - 0.5) for share in found.interval)
    return replace(found, estimate=unit * (found.estimate - 0.5), interval=(low, high), naive=last.estimate)


def false_positive_chance(state: Monitoring, plan: JudgementPlan) -> float:
    """Chance that the looks taken so far claim a difference where there is none: exactly for preferences and
    accuracy, given how many judgements were decided; for z-values for scores."""
    if isinstance(plan.study, DirectAssessment):
        levels = [look.nominal for look in state.looks]
        return false_positive_rate(levels, [look.fraction for look in state.looks], two_sided=True)
    return exact_errors(_decided(state, plan))[-1]


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


def _z(p_value: float, estimate: float) -> float:
    """The z of a two-sided p-value, with the sign of the estimate."""
    return float(np.copysign(-special.ndtri(p_value / 2), estimate))
