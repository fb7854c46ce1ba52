"""A study that is followed by its plan, of either kind: before its first look, and what its data show."""

from __future__ import annotations

from humeval_power.errors import InputError
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.look_data import look_data
from humeval_power.planning.monitor.observations import (
    Observations,
    observation_data,
    observation_monitoring,
)
from humeval_power.planning.monitor.state import JudgementData, LookData, Monitoring
from humeval_power.planning.monitor.step import study_monitoring
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings

Followed = Plan | JudgementPlan


def monitoring_of(plan: Followed) -> Monitoring:
    """A planned study before its first look.

    Raises
    ------
    InputError
        A plan without looks.
    """
    return study_monitoring(plan) if isinstance(plan, Plan) else observation_monitoring(plan)


def data_of(
    seen: Ratings | Observations, plan: Followed, *, final: bool = False
) -> LookData | JudgementData:
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
        return look_data(seen, plan, final=final)
    if isinstance(plan, JudgementPlan) and isinstance(seen, Observations):
        return observation_data(seen, plan, final=final)
    wanted = "the ratings of a study" if isinstance(plan, Plan) else f"observations of {plan.kind}"
    raise InputError(f"The plan is followed with {wanted}; got {type(seen).__name__}.")
