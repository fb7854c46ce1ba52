"""What `simulate --plan` does: read the plan, its assignment and what is typed beside them, and rehearse."""

from __future__ import annotations

from humeval_power.api.rehearsal import rehearse
from humeval_power.interfaces.asking.resolve import (
    assumptions_of,
    effect_of,
    has_source,
    losses_of,
    only_setting,
    scale_of,
)
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.field.rehearsal_options import Rehearsing
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.plan.options import load_plan
from humeval_power.interfaces.formats.assigned import read_assignment, read_key
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.interfaces.formats.study.joint_record import is_analysis, read_joint
from humeval_power.planning.field.rehearsal import usual_habits
from humeval_power.reporting.field.rehearsal import RehearsalResult
from humeval_power.simulation.rehearsal import World


def rehearsed(study: StudyValues, rehearsing: Rehearsing, seed: int) -> RehearsalResult:
    """The study of --plan as --assignment has it.

    Raises
    ------
    InputError
        Files that cannot be used or do not belong together.
    """
    plan, effect, scale = load_plan(study.plan), effect_of(study), scale_of(study)
    return rehearse(
        plan,
        read_assignment(*study.assignment),
        key=None if study.key is None else read_key(study.key),
        parameters=_world(study),
        effect=None if effect is None else effect.one(plan.scale or scale),
        means=study.system_means,
        habits=usual_habits(
            plan, losses=losses_of(study), passing=rehearsing.passing, seconds=rehearsing.seconds
        ),
        scale=scale,
        response=study.response if study.says("response") else None,
        points=study.points,
        look=rehearsing.look,
        coded=rehearsing.coded,
        plan_text=read_text(study.plan),
        seed=seed,
    )


def _world(study: StudyValues) -> World | None:
    """The parameters that were typed; None for those of the plan."""
    if not has_source(study):
        return None
    paths = study.parameters
    if len(paths) == 1 and is_analysis(paths[0]):
        pilot = read_joint(paths[0])
        for line in pilot.notes:
            note(f"{paths[0]}: {line}")
        return pilot.parameters
    return only_setting(assumptions_of(study))[1]
