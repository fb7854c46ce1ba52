"""A study that is followed by its plan, of either kind: before its first look, and what its data show."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.errors import InputError
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.look_data import look_data
from humeval_power.planning.monitor.observations import (
    Observations,
    observation_data,
    observation_monitoring,
)
from humeval_power.planning.monitor.state import JudgementData, LookData, Monitoring
from humeval_power.planning.monitor.step import step, study_monitoring
from humeval_power.planning.monitor.systems import (
    PairData,
    SystemsLookData,
    SystemsMonitoring,
    as_planned,
    step_systems,
    systems_look_data,
    systems_monitoring,
)
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings

_SAME = 1e-6  # of the standard error: a fit of the same ratings in another order
Followed = Plan | JudgementPlan
AnyLookData = LookData | JudgementData | SystemsLookData
AnyMonitoring = Monitoring | SystemsMonitoring


def monitoring_of(plan: Followed) -> AnyMonitoring:
    """A planned study before its first look.

    Raises
    ------
    InputError
        A plan without looks.
    """
    if isinstance(plan, JudgementPlan):
        return observation_monitoring(plan)
    return study_monitoring(plan) if plan.many is None else systems_monitoring(plan)


def take(state: AnyMonitoring, data: AnyLookData, *, unplanned: str = "") -> AnyMonitoring:
    """The state after a look at these data.

    Raises
    ------
    InputError
        Data of another kind than the study's, or a look that is not due.
    """
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

    counts = [(each.n_ratings, each.n_workers, each.n_items) for each in (one, other)]
    both = list(zip(tested(one), tested(other), strict=True))
    return counts[0] == counts[1] and all(
        abs(now.estimate - then.estimate) <= _SAME * then.standard_error
        and abs(now.standard_error - then.standard_error) <= _SAME * then.standard_error
        for now, then in both
    )


def data_of(seen: Ratings | Observations, plan: Followed, *, final: bool = False) -> AnyLookData:
    """Test what is in as the plan says.

    Raises
    ------
    FitError
        Data of which there is no test: the look is not taken.
    InputError
        A plan without looks, data of another kind than the plan's, or that break its assumptions.
    """
    monitoring_of(plan)
    if isinstance(plan, Plan) and isinstance(seen, Ratings):
        if plan.many is not None:
            return systems_look_data(as_planned(seen, plan), plan, final=final)
        return look_data(seen, plan, final=final)
    if isinstance(plan, JudgementPlan) and isinstance(seen, Observations):
        return observation_data(seen, plan, final=final)
    wanted = "the ratings of a study" if isinstance(plan, Plan) else f"observations of {plan.kind}"
    raise InputError(f"The plan is followed with {wanted}; got {type(seen).__name__}.")
