"""A running study that is followed by its plan, of whatever kind: before its first look, at a look, after the
last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from humeval_power.choices import DEFAULT_ESTIMAND
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import Ratings
from humeval_power.studies.fit.many_systems import SystemsAnalysis
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.dropping import (
    DroppingMonitoring,
    best_sentence,
    dropping_monitoring,
    over_dropping_looks,
    step_dropping,
)
from humeval_power.studies.monitor.state import (
    JudgementData,
    LookData,
    Monitoring,
    Observations,
    observation_data,
    observation_monitoring,
)
from humeval_power.studies.monitor.step import look_data, step, study_monitoring
from humeval_power.studies.monitor.systems import (
    PairData,
    PairOverLooks,
    SystemsLookData,
    SystemsMonitoring,
    as_planned,
    over_systems_looks,
    step_systems,
    systems_look_data,
    systems_monitoring,
)
from humeval_power.studies.plan.plan import Plan

_SAME = 1e-6  # of the standard error: a fit of the same ratings in another order
MonitoredPlan = Plan | JudgementPlan
AnyLookData = LookData | JudgementData | SystemsLookData
AnyMonitoring = Monitoring | SystemsMonitoring


def monitoring_of(plan: MonitoredPlan) -> AnyMonitoring:
    """A planned study before its first look. Raises InputError: a plan without looks."""
    if isinstance(plan, JudgementPlan):
        return observation_monitoring(plan)
    if plan.many is None:
        return study_monitoring(plan)
    return dropping_monitoring(plan) if plan.drops_systems else systems_monitoring(plan)


def take(state: AnyMonitoring, data: AnyLookData, *, unplanned: str = "") -> AnyMonitoring:
    """The state after a look at these data. Raises InputError: data of another kind than the study's, or a
    look that is not due."""
    if isinstance(state, DroppingMonitoring) and isinstance(data, SystemsLookData):
        return step_dropping(state, data, unplanned=unplanned)[0]
    if isinstance(state, SystemsMonitoring) and isinstance(data, SystemsLookData):
        return step_systems(state, data, unplanned=unplanned)[0]
    if isinstance(state, SystemsMonitoring) or isinstance(data, SystemsLookData):
        raise InputError("The look before was at other systems than these ratings are of.")
    return step(state, data, unplanned=unplanned)[0]


def same_sums(one: AnyLookData, other: AnyLookData) -> bool:
    """Whether two looks at ratings have the same counts, estimates and standard errors: what can be compared where
    the single ratings cannot."""
    if isinstance(one, JudgementData) or isinstance(other, JudgementData):
        return one == other

    def tested(data: LookData | SystemsLookData) -> Sequence[LookData | PairData]:
        return data.pairs if isinstance(data, SystemsLookData) else (data,)

    if (one.n_ratings, one.n_workers, one.n_items) != (other.n_ratings, other.n_workers, other.n_items):
        return False
    return all(
        abs(now.estimate - then.estimate) <= _SAME * then.standard_error
        and abs(now.standard_error - then.standard_error) <= _SAME * then.standard_error
        for now, then in zip(tested(one), tested(other), strict=True)
    )


def data_of(
    seen: Ratings | Observations,
    plan: MonitoredPlan,
    *,
    final: bool = False,
    pool: ItemPool | None = None,
) -> AnyLookData:
    """Test what is in as the plan says; of items that were drawn from a pool what it says of that. Raises
    FitError: data of which there is no test: the look is not taken; InputError: a plan without looks, data of
    another kind than the plan's, or that break its assumptions."""
    monitoring_of(plan)
    if pool is not None:
        check_pool_at_looks(plan, pool)
    if isinstance(plan, Plan) and isinstance(seen, Ratings):
        if pool is not None:
            from humeval_power.studies.fit.over_pool import of_pool

            seen = of_pool(seen, pool, plan.rule)
        if plan.many is not None:
            return systems_look_data(as_planned(seen, plan), plan, final=final, pool=pool)
        return look_data(seen, plan, final=final, pool=pool)
    if isinstance(plan, JudgementPlan) and isinstance(seen, Observations):
        return observation_data(seen, plan, final=final)
    wanted = "the ratings of a study" if isinstance(plan, Plan) else f"observations of {plan.kind}"
    raise InputError(f"The plan is followed with {wanted}; got {type(seen).__name__}.")


def check_pool_at_looks(plan: MonitoredPlan, pool: ItemPool) -> None:
    """Refuse looks at chosen items that were not simulated. Raises InputError: all that is wrong, with the
    reason."""
    problems = []
    looks = plan.looks if isinstance(plan, Plan) else None
    if looks is None or not (looks.stop_when or looks.drop_systems):
        problems.append(
            "looks at items that were drawn from a pool were simulated with stop_when and with drop_systems alone."
        )
    if pool.by_hand:
        problems.append(
            "the items were picked and not drawn: looks were simulated for items drawn with equal probabilities, "
            "by strata or balanced."
        )
    elif pool.unequal:
        problems.append(
            "the items were drawn with unequal probabilities: looks were simulated for equal ones."
        )
    remedy = "Leave out the pool: the looks are then about items like those rated."
    refuse([Problem(rule, remedy, place=pool.source) for rule in problems])


def about_looks(state: AnyMonitoring, plan: MonitoredPlan, pool: ItemPool | None) -> str:
    """What the last look is about, in a sentence, where its items were drawn from a pool."""
    if pool is None or not state.looks or not isinstance(plan, Plan):
        return ""
    from humeval_power.studies.fit.over_pool import about_sentence

    data = state.looks[-1].data
    assert not isinstance(data, JudgementData)
    return about_sentence(pool, plan.estimand or DEFAULT_ESTIMAND, data.n_items)


def over_looks(state: SystemsMonitoring) -> tuple[PairOverLooks, ...]:
    """What to report of each comparison of several systems after the last look."""
    of = over_dropping_looks if isinstance(state, DroppingMonitoring) else over_systems_looks
    return of(state)


def decided_by_looks(
    analysis: SystemsAnalysis, state: SystemsMonitoring, plan: Plan, ratings: Ratings
) -> SystemsAnalysis:
    """The comparisons of the last look as the boundaries of all looks decided them, with p-values and, of
    two-sided tests, intervals `over_looks`. Raises InputError: comparisons that the looks were not taken at.
    """
    there = ratings.system_names
    planned = there if set(there) == set(plan.systems) else as_planned(ratings, plan).system_names
    called = dict(zip(there, planned, strict=True))
    values = {frozenset((one.first, one.second)): one for one in over_looks(state)}
    results = []
    for result in analysis.results:
        one = values.get(frozenset((called[result.first], called[result.second])))
        if one is None:
            raise InputError(
                f"No look was taken at {result.second} - {result.first}: analyse the comparisons of the plan."
            )
        low, high = one.interval
        if called[result.first] != one.first:
            low, high = -high, -low
        both = (low, high) if math.isfinite(low) and math.isfinite(high) else None
        results.append(replace(result, corrected_p=one.p_value, simultaneous_interval=both))
    dropping = best_sentence(state) if isinstance(state, DroppingMonitoring) else None
    tests = replace(analysis.tests, n_looks=len(state.looks), drop_result=dropping)
    return replace(analysis, results=tuple(results), tests=tests)
