"""Rehearsals of a planned study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

    from humeval_power.checking.exports.assigned import Assigned, Key
    from humeval_power.choices import Response
    from humeval_power.differences import Difference
    from humeval_power.parameters import Parameters
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.reporting.field.rehearsal import RehearsalResult
    from humeval_power.reporting.plan.assignment import AssignmentResult
    from humeval_power.scales import RatingScale
    from humeval_power.simulation.rehearsal import Habits
    from humeval_power.systems import SystemsParameters


def rehearse(
    plan: Plan,
    assignment: Assigned | AssignmentResult | pd.DataFrame,
    *,
    key: Key | pd.DataFrame | None = None,
    parameters: Parameters | SystemsParameters | None = None,
    effect: float | Difference | None = None,
    means: Sequence[float] | None = None,
    habits: Habits | None = None,
    scale: RatingScale | None = None,
    response: Response | None = None,
    points: int | None = None,
    look: int | None = None,
    coded: bool = False,
    plan_text: str | None = None,
    seed: int = DEFAULT_SEED,
) -> RehearsalResult:
    """Draw a planned study exactly as it is assigned, before money is spent; the same seed gives the same.

    Parameters
    ----------
    plan, assignment : the study; what `assign_work` made, its table (`to_frame`), or the table as
        `read_assignment` reads it.
    key : what the codes stand for, where a table does not name the systems.
    parameters, effect, means : the true world, in the place of the plan's; means are of several systems.
    habits : who stops, who does not care, checks and seconds. [nobody stops; seconds as the plan's prices have
        them]
    scale : on which ratings are given, where the plan has none. [0 to 1]
    response, points : how ratings are given. [in the points of the scale, or where it has none cut to its ends]
    look : end the table with what this look needs.
    coded : give the table as a platform does: codes, no items and systems.
    plan_text : the plan's file, for a folder that holds all that is needed to try what comes next.

    Returns
    -------
    RehearsalResult
        `to_frame` is the table; its workers are called rehearsal-w01, ..., so that nobody takes it for real.

    Raises
    ------
    InputError
        An assignment that is not of this plan, a key that is missing or another's, or what contradicts the plan.
    """
    from dataclasses import replace

    from humeval_power.checking.exports.assigned import Assigned, Key, assigned_of, key_of
    from humeval_power.checking.exports.whole import whole_work
    from humeval_power.differences import Difference
    from humeval_power.errors import InputError
    from humeval_power.planning.field.rehearsal import (
        check_look,
        fieldwork,
        planned_response,
        usual_habits,
        world_of,
    )
    from humeval_power.reporting.field.rehearsal import RehearsalResult
    from humeval_power.reporting.plan.assignment import AssignmentResult
    from humeval_power.reporting.result import Provenance
    from humeval_power.simulation.rehearsal import rehearse as drawn

    if (
        scale is not None
        and plan.scale is not None
        and replace(scale, source=plan.scale.source) != plan.scale
    ):
        raise InputError(f"The plan is of ratings on {plan.scale}: leave out the scale.")
    rated = plan.scale or scale
    if isinstance(assignment, AssignmentResult):
        key = assignment.key() if assignment.blind and key is None else key
        assignment = assignment.to_frame()
    if not isinstance(assignment, Assigned):
        assignment = assigned_of([(assignment, "assignment")])
    if key is not None and not isinstance(key, Key):
        key = key_of(key, source="key")
    work = whole_work(assignment, key)
    if look is not None:
        check_look(plan, look)
    said = effect if isinstance(effect, Difference | None) else Difference(effect, rated)
    world = world_of(plan, parameters=parameters, effect=None if said is None else said.value, means=means)
    used = usual_habits(plan) if habits is None else habits
    given, on_points = planned_response(world, rated, response, points)
    return RehearsalResult(
        plan=plan,
        work=work,
        world=world,
        habits=used,
        drawn=drawn(
            world,
            fieldwork(plan, work),
            used,
            seed=seed,
            n_criteria=max(1, len(plan.criteria)),
            response=given,
            points=on_points,
        ),
        response=given,
        effect=None if means is not None else said or Difference(plan.effect, rated),
        scale=rated,
        coded=coded,
        look=look,
        plan_text=plan_text,
        provenance=Provenance(seed=seed),
    )
