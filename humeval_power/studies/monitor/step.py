"""One look at a running study as a pure step: the state and the data give a decision and the next state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from humeval_power.choices import ConditionalTest, LookKind
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.designs import Design
from humeval_power.errors import FitError, InputError
from humeval_power.inference.mcnemar import critical_counts
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import Ratings
from humeval_power.studies.looks.boundaries import Boundaries, boundaries, false_positive_rate
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.looks.rating_looks import look_information
from humeval_power.studies.looks.repeated import (
    FEWEST_WORKERS,
    Reason,
    RepeatedResult,
    StopWhen,
    interval_of,
    reason_of,
)
from humeval_power.studies.looks.replicates import Looks, nested_designs
from humeval_power.studies.looks.stagewise import (
    DecidedLook,
    LookEstimate,
    StagewiseResult,
    exact_errors,
    exact_stagewise,
    stagewise_inference,
)
from humeval_power.studies.looks.stopping_rule import Spending, conditional_power
from humeval_power.studies.looks.systems_looks import sequential_level
from humeval_power.studies.monitor.state import Decision, JudgementData, LookData, Monitoring, TakenLook
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.power.formula import effect_precision

if TYPE_CHECKING:
    from humeval_power.studies.monitor.followed import AnyLookData, AnyMonitoring

SMALLEST_STEP = 1e-3  # of the information, by which a look must add to the one before
AS_PLANNED = 0.05  # a look this much later than planned is not worth a remark
NOTABLE = 2.0  # factor by which the information may differ from the expected one without a remark
# How remarks start that say no departure from the plan.
NO_DEPARTURE = ("by their own variances", "an early end may have been chosen by what was seen")
REACHED = 1e-9


def study_monitoring(plan: Plan) -> Monitoring:
    """A planned study before its first look. Raises InputError: a plan without looks."""
    schedule = plan.looks
    if schedule is None:
        raise InputError(
            "The plan has no looks: it allows one test, at the end. Plan them beforehand: plan --looks."
        )
    whole = plan.design()
    known = look_information(plan.parameters, whole, schedule.looks)
    return Monitoring(
        rule=schedule.rule(plan.rule),
        unit=schedule.looks.kind,
        shares=planned_shares(whole, schedule.looks),
        fractions=known.fractions,
        maximum_information=known.maximum,
        effect=plan.effect,
        factor=schedule.factor,
        stop_when=schedule.stop_when,
        test=plan.rule,
        decision_bias=_predicted(plan, "decision_bias"),
        half_width_bias=_predicted(plan, "half_width_bias"),
    )


def _predicted(plan: Plan, name: str) -> float | None:
    """What the plan expects if its effect is true; None where it does not say."""
    values = (float(getattr(one, name)) for one in plan.stops if math.isclose(one.effect, plan.effect))
    bias = next(values, math.nan)
    return None if math.isnan(bias) else bias


def planned_shares(design: Design, looks: Looks) -> tuple[float, ...]:
    """Shares of what looks are counted by at each of them."""
    sizes = [_size(each, looks.kind) for each in nested_designs(design, looks).designs]
    return tuple(size / sizes[-1] for size in sizes)


def collected_share(plan: Plan, ratings: Ratings) -> float:
    """Share of what the plan's looks are counted by that is in. Workers of whom several share the work of one,
    after dropouts, are no later look than the one that their work is nearest to."""
    assert plan.looks is not None
    looks, design = plan.looks.looks, plan.design()
    share = _size(ratings, looks.kind) / _size(design, looks.kind)
    if looks.kind != "workers":
        return share
    rows = design.assignment
    met, planned = (
        len(np.unique(one.worker * np.int64(one_of.n_items) + one.item))
        for one, one_of in ((ratings, ratings), (rows, design))
    )
    work = met / planned
    return min(share, max(work, min(planned_shares(design, looks), key=lambda look: abs(look - work))))


def _size(counted: Design | Ratings, kind: LookKind) -> int:
    """How much there is of what looks are counted by."""
    if kind == "items":
        return counted.n_items
    return counted.n_ratings if kind == "ratings" else counted.n_workers


def step(
    state: Monitoring, data: LookData | JudgementData, *, unplanned: str = ""
) -> tuple[Monitoring, TakenLook]:
    """Take a look: the new state, and the look with its decision.

    A look between two planned ones needs a reason (`unplanned`) and a spending function, which gives it its
    part of the error by its information. The last look spends all that is left, if the study is complete: one
    that ends early (`data.final`) gets what its information allows, or the boundary of the next planned look,
    so that the end cannot be chosen by what the ratings show. Raises InputError: a study that has ended, too
    few data for the next look without a reason, an unplanned look under boundaries that do not allow one, or
    no new information.
    """
    refuse_after_the_end(state, unplanned)
    if state.stop_when is not None and isinstance(data, LookData) and data.n_workers < FEWEST_WORKERS:
        raise InputError(
            f"{data.n_workers} workers are too few for an interval that stops a study: it needs {FEWEST_WORKERS}. "
            "Collect more first; nothing was recorded."
        )
    planned, final, complete = place_of(state, data, unplanned)
    fraction = look_fraction(state, data, complete=complete)
    bounds = look_boundaries(state, fraction, final=fraction >= 1.0 - REACHED)
    place = boundary_place(state, complete, planned)
    nominal = float(bounds.nominal[place])
    futility = 1.0 if final else min(float(bounds.futility_p[place]), 1.0)
    decision = _decision(state, data, nominal, futility, final=final)
    chances: dict[str, float] = {}
    goes_on = state.stop_when is None or (state.stop_when == StopWhen() and decision == "continue")
    if goes_on and state.test.margin is None and not final:  # the last boundary is what may still be passed
        critical = float(_scaled(state, state.fractions).efficacy[-1])
        for under in ("design", "trend", "null"):
            drift = state.drift if under == "design" else 0.0
            chances[under] = conditional_power(
                data.z, fraction, critical=critical, under=under, drift=drift
            )
    look = TakenLook(
        number=len(state.looks) + 1,
        planned=planned,
        data=data,
        fraction=fraction,
        nominal=nominal,
        futility=futility,
        decision=decision,
        conditional_power=chances,
        reason=unplanned,
        remarks=_remarks(state, data, planned, final=final),
    )
    return replace(state, looks=(*state.looks, look)), look


def look_boundaries(state: Monitoring, fraction: float, *, final: bool) -> Boundaries:
    """Boundaries that hold at this look: by the information of the looks taken for a spending function (and
    the end, which is still to come), as planned for the others."""
    if not isinstance(state.rule.efficacy, Spending):
        return _scaled(state, state.fractions)
    taken = [look.fraction for look in state.looks]
    return _scaled(state, [*taken, max(fraction, 1.0)] if final else [*taken, fraction, 1.0])


def _scaled(state: Monitoring, fractions: Sequence[float]) -> Boundaries:
    rule = state.rule if len(fractions) > 1 else replace(state.rule, futility=None)
    return boundaries(rule, fractions, drift=state.drift).scaled(state.factor)


def repeated_interval(look: TakenLook) -> tuple[float, float]:
    """The interval of a look that holds together with those of all looks."""
    data = look.data
    return interval_of(data.estimate, data.standard_error, data.df, look.nominal)


def level_at(state: Monitoring, alpha: float, fraction: float, planned: int | None) -> float:
    """The nominal level of the next look, at this share of the information, had the study this alpha and no
    futility."""
    one = replace(state, rule=replace(state.rule, alpha=alpha, futility=None))
    final = fraction >= 1.0 - REACHED
    bounds = look_boundaries(one, fraction, final=final)
    return float(bounds.nominal[boundary_place(one, final, planned)])


def as_decided(p_value: float, alpha: float, *, shown: bool) -> float:
    """A p-value over the looks, which as a root is right to a millionth, on the side of alpha that they decided."""
    return min(p_value, alpha) if shown else max(p_value, math.nextafter(alpha, 1.0))


def repeated_inference(state: Monitoring, stop_when: StopWhen) -> RepeatedResult:
    """What to report of a study that ended by its interval: that of the last look, never the plain one."""
    last, test, alpha = state.last, state.test, state.rule.alpha
    low, high = interval = repeated_interval(last)
    before, data = replace(state, looks=state.looks[:-1]), last.data
    two_sided = data.p_value if test.margin is None else min(2 * data.p_value, 1.0)
    decided = reason_of(interval, replace(stop_when, decision=True), test) == "decision"
    p = sequential_level(lambda level: level_at(before, level, last.fraction, last.planned), two_sided)
    p = as_decided(p, alpha, shown=decided)
    as_planned = test.margin is not None or data.estimate * state.effect >= 0
    biases: dict[Decision, float | None] = {
        "stop-success": state.decision_bias if as_planned else None,
        "stop-half-width": state.half_width_bias,
    }
    return RepeatedResult(
        look=last.number,
        p_value=p,
        estimate=data.estimate,
        interval=interval,
        confidence=1.0 - alpha,
        half_width=(high - low) / 2,
        reason=_REASON.get(last.decision, "end"),
        bias=biases.get(last.decision),
    )


_REASON: dict[Decision, Reason] = {
    "stop-success": "decision",
    "stop-equivalence": "equivalence",
    "stop-half-width": "half-width",
    "stop-futility": "futility",
}


def estimates(state: Monitoring) -> list[LookEstimate]:
    """The looks as stage-wise inference takes them."""
    return [
        LookEstimate(look.data.estimate, look.data.standard_error, look.data.df) for look in state.looks
    ]


def taken_boundaries(state: Monitoring) -> Boundaries:
    """Boundaries of the looks that were taken, and of those still planned, for inference after stopping."""
    last = state.last
    before = replace(state, looks=state.looks[:-1])
    final = last.fraction >= 1.0 - REACHED
    bounds = look_boundaries(before, last.fraction, final=final)
    if isinstance(state.rule.efficacy, Spending):
        return bounds
    places = []  # of fixed boundaries those of looks that were passed over are none
    for number, look in enumerate(state.looks):
        earlier = replace(state, looks=state.looks[:number])
        places.append(boundary_place(earlier, look.fraction >= 1.0 - REACHED, look.planned))
    return bounds.at_looks([*places, *range(places[-1] + 1, bounds.n_looks)])


def path_boundaries(state: Monitoring) -> Boundaries:
    """Boundaries of the looks taken and those still planned, for a picture of both."""
    if not isinstance(state.rule.efficacy, Spending):
        return _scaled(state, state.fractions)
    taken = [look.fraction for look in state.looks]
    last = taken[-1] if taken else 0.0
    upcoming = state.next_planned or len(state.shares) + 1
    rest = [each for each in state.fractions[upcoming - 1 :] if each > last + SMALLEST_STEP]
    ended = state.ended and last >= 1.0 - REACHED
    return _scaled(state, taken if ended else [*taken, *rest])


def refuse_after_the_end(state: AnyMonitoring, unplanned: str) -> None:
    if not state.ended:
        return
    last = state.looks[-1]
    if last.decision == "stop-futility" and unplanned and not state.rule.binding:
        return
    stopped = {
        "stop-success": "was stopped for success",
        "stop-equivalence": "was stopped for equivalence",
        "stop-half-width": "was stopped because its interval was narrow enough",
        "stop-futility": "was stopped for futility",
    }.get(last.decision, "came to its planned end")
    remedy = "What to report: --status." if state.independent else "Analyse it: humeval-power analyze."
    if last.decision == "stop-futility" and not state.rule.binding:
        remedy = 'Its futility rule does not bind: go on with --unplanned "reason", which is recorded.'
    raise InputError(f"The study {stopped} at look {last.number}; no test holds after that. {remedy}")


class LookPlace(NamedTuple):
    """Which planned look it is (None: it lies between two), whether it is the last, and of a complete study."""

    planned: int | None
    final: bool
    complete: bool


def place_of(state: AnyMonitoring, data: AnyLookData, unplanned: str) -> LookPlace:
    """Where the next look stands; one that is not planned is refused, unless it has a reason and boundaries that
    allow it."""
    upcoming, n = state.next_planned, len(state.shares)
    planned = upcoming
    if upcoming is not None:
        reached = [k for k in range(upcoming, n + 1) if data.share >= state.shares[k - 1] - REACHED]
        planned = n if data.final else max(reached, default=None)
    final = planned == n
    if planned is not None:
        return LookPlace(planned, final, final and data.share >= 1.0 - REACHED)
    due = "" if upcoming is None else f"Look {upcoming} is due at {100 * state.shares[upcoming - 1]:.3g} %"
    have = f"{100 * data.share:.3g} % of the planned {state.unit} are in"
    if not isinstance(state.rule.efficacy, Spending):
        raise InputError(
            f"{due} of the {state.unit}; {have}. The boundaries '{state.rule.efficacy}' hold for the planned "
            "looks alone: collect more first. (Only spending functions allow another look.)"
        )
    if not unplanned.strip():
        raise InputError(
            f"{due} of the {state.unit}; {have}. Collect more first; if no more will come, say --final; to "
            'look now all the same, say --unplanned "reason", which uses up a part of the error and is recorded.'
        )
    return LookPlace(None, final=False, complete=False)


def look_fraction(state: Monitoring, data: LookData | JudgementData, *, complete: bool) -> float:
    """Share of the planned information, made to grow; a look before the end leaves something for it."""
    if not (math.isfinite(data.standard_error) and data.standard_error > 0 and 0 <= data.p_value <= 1):
        raise InputError(
            "The ratings so far give no standard error or no p-value of the effect: this look decides nothing."
        )
    last = state.looks[-1].fraction if state.looks else 0.0
    if complete:
        return max(data.information / state.maximum_information, 1.0) if state.is_open else 1.0
    known = min(data.information / state.maximum_information, 1.0 - SMALLEST_STEP)
    if last + SMALLEST_STEP > 1.0 - SMALLEST_STEP:
        if data.final:
            return 1.0
        raise InputError(
            f"The looks so far hold {100 * last:.3g} % of the planned information: only the final look is left."
        )
    return max(known, last + SMALLEST_STEP)


def boundary_place(state: Monitoring, complete: bool, planned: int | None) -> int:
    """Index of the boundary of this look. Where boundaries were fixed beforehand an early end is tested by the next
    of them."""
    if isinstance(state.rule.efficacy, Spending):
        return len(state.looks)
    number = planned if complete or planned != len(state.shares) else state.next_planned
    assert number is not None  # fixed boundaries allow no other looks
    return number - 1


def _decision(
    state: Monitoring, data: LookData | JudgementData, nominal: float, futility: float, *, final: bool
) -> Decision:
    """By p or, where intervals stop the study, by the interval of the look; at the end what it shows is said,
    whether or not it would have stopped the study before."""
    reason: Reason = "decision" if data.p_value <= nominal else "end"
    if state.stop_when is not None:
        stop_when = replace(state.stop_when, decision=True) if final else state.stop_when
        interval = interval_of(data.estimate, data.standard_error, data.df, nominal)
        reason = reason_of(interval, stop_when, state.test)
    if reason == "decision":
        return "end-success" if final else "stop-success"
    if reason == "equivalence":
        return "end-equivalence" if final else "stop-equivalence"
    if reason == "half-width":
        return "end-half-width" if final else "stop-half-width"
    if final:
        return "end-nothing-shown"
    return "stop-futility" if data.p_value > futility else "continue"


def _remarks(
    state: Monitoring, data: LookData | JudgementData, planned: int | None, *, final: bool
) -> tuple[str, ...]:
    remarks = departures(state, data, planned, final=final)
    if state.stop_when is not None:  # the interval holds whatever ended the study
        remarks = [remark for remark in remarks if not remark.startswith(NO_DEPARTURE[1])]
    seen = 1.0 / data.standard_error**2 / data.information
    if not 1 / NOTABLE < seen < NOTABLE:
        counted = state.unit if state.independent else "ratings"
        remarks.append(
            f"{NO_DEPARTURE[0]} these {counted} carry {seen:.2g} times the information that the plan "
            "expected of them; the boundaries go by the plan"
        )
    if state.ended:
        remarks.append("the study went on after it could have been stopped for futility")
    return tuple(remarks)


def departures(state: AnyMonitoring, data: AnyLookData, planned: int | None, *, final: bool) -> list[str]:
    """What is to be said of when a look is taken."""
    remarks = []
    upcoming = state.next_planned
    if planned is not None and upcoming is not None and planned > upcoming:
        skipped = ", ".join(map(str, range(upcoming, planned)))
        several = planned - upcoming > 1
        remarks.append(f"planned look{'s' * several} {skipped} {'were' if several else 'was'} not taken")
    if planned is None:
        remarks.append("the look was not planned")
    elif final and data.share < 1 - REACHED:
        remarks.append(f"the study ended with {100 * data.share:.3g} % of the planned {state.unit}")
        remarks.append(
            f"{NO_DEPARTURE[1]}, so that its boundary uses only as much of the "
            "error as this information allows; a p-value and interval that take looks into account assume "
            "that it was not"
        )
    elif data.share > state.shares[planned - 1] + AS_PLANNED:
        remarks.append(
            f"planned at {100 * state.shares[planned - 1]:.3g} % of the {state.unit}, taken at "
            f"{100 * data.share:.3g} %"
        )
    return remarks


def changed_rows(earlier: Mapping[str, str], now: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Keys of ratings that an earlier look had and that have vanished, and of those with another value."""
    vanished = [key for key in earlier if key not in now]
    changed = [key for key, value in earlier.items() if key in now and now[key] != value]
    return vanished, changed


# After the last look: p-value, estimate and interval that take the looks into account, by the test of the
# plan.

_HALF = 0.5


def rating_inference(state: Monitoring) -> StagewiseResult | RepeatedResult:
    """Inference for a rating study that ended at the last look: by its interval where intervals stop it, else
    in the stage-wise ordering."""
    if state.stop_when is not None:
        return repeated_inference(state, state.stop_when)
    return stagewise_inference(estimates(state), taken_boundaries(state))


def after_stopping(state: Monitoring, plan: JudgementPlan) -> StagewiseResult:
    """Inference for a study that ended at the last look, in the stage-wise ordering and the units of its
    estimates.

    Scores: p from the p-values of the test at the looks, the estimate and the interval from their standard
    errors without the null hypothesis; so the two may disagree at the edge. Preferences and accuracy:
    exactly, given how many judgements were decided; of a difference of accuracy, and where ties are kept,
    this takes the share of decided judgements as it is in the data.
    """
    if isinstance(plan.study, DirectAssessment):
        return _after_scores(state)
    inference = exact_stagewise(_decided(state, plan), mid_p=_test(plan) == "mid-p", alpha=plan.rule.alpha)
    last, study = _seen(state)[-1], plan.study
    # what a share of the decided that is larger by 1 is in the units of the estimate
    decided = (last.n_a + last.n_b) / last.n_judgements
    unit = 2 * decided
    if isinstance(study, Preference):
        unit = decided if study.ties == "kept" else 1.0
    low, high = (unit * (share - _HALF) for share in inference.interval)
    return replace(
        inference, estimate=unit * (inference.estimate - _HALF), interval=(low, high), naive=last.estimate
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
    looks, there = [], []
    for z, data in zip(levels, seen, strict=True):
        estimate, error, boundary = data.estimate, data.standard_error, z * _null_error(data)
        if apart:
            there.append(boundary / error)
        else:
            share = estimate + _HALF
            estimate, error = float(special.logit(share)), error / (share * (1 - share))
            there.append(float(special.logit(_HALF + boundary)) / error if boundary < _HALF else math.inf)
        looks.append(LookEstimate(estimate, error))
    inference = stagewise_inference(looks, _as_taken(state, there))
    low, middle, high = (
        min(max(value, -_HALF), _HALF) if apart else float(special.expit(value)) - _HALF
        for value in (inference.interval[0], inference.estimate, inference.interval[1])
    )
    last = seen[-1].estimate
    return replace(inference, p_value=p_value, estimate=middle, interval=(low, high), naive=last)


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


# What a table of ratings holds at a look, by the test of the plan.


def undecided(why: str) -> FitError:
    """The error of ratings of which there is no test."""
    return FitError(
        f"This look decides nothing: {why}. The ledger is as it was, and no error is spent; collect more ratings "
        "and look again."
    )


def look_data(
    ratings: Ratings, plan: Plan, *, final: bool = False, pool: ItemPool | None = None
) -> LookData:
    """Test the ratings as the plan says.

    pool : that the rated items were drawn from, of which the ratings are (`of_pool`).

    Raises FitError: ratings of which there is no test: the look is not taken; InputError: ratings without
    documents, where the plan has them.
    """
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.studies.fit.many_systems import fit_and_test
    from humeval_power.studies.fit.over_pool import compare_over_pool

    plan.check_documents(ratings)
    if pool is not None:
        tested = compare_over_pool(ratings, pool, plan.rule).of(plan.estimand)
    else:
        with few_fits():
            _, tested = fit_and_test(ratings, plan.rule)
    if tested.reason:
        raise undecided(tested.reason)
    return LookData(
        n_ratings=ratings.n_ratings,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        share=collected_share(plan, ratings),
        information=1.0 / effect_precision(plan.parameters, ratings.design()).variance,
        estimate=tested.estimate,
        standard_error=tested.standard_error,
        df=tested.df,
        p_value=tested.p_value,
        final=final,
    )
