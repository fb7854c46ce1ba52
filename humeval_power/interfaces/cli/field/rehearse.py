"""What `simulate --plan` does: read the plan, its assignment and what is typed beside them, and rehearse."""

from __future__ import annotations

import click

from humeval_power.api.rehearsal import rehearse
from humeval_power.choices import DEFAULT_SEED, Response
from humeval_power.interfaces.cli.assumptions import only_setting
from humeval_power.interfaces.cli.effect_options import TypedEffects
from humeval_power.interfaces.cli.field.rehearsal_options import Rehearsing
from humeval_power.interfaces.cli.options import typed_scale
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.plan.options import load_plan
from humeval_power.interfaces.cli.study.options import StudyOptions, load_settings
from humeval_power.interfaces.formats.assigned import read_assignment, read_key
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.interfaces.formats.study.joint_record import is_analysis, read_joint
from humeval_power.planning.field.rehearsal import usual_habits
from humeval_power.reporting.field.rehearsal import RehearsalResult
from humeval_power.simulation.losses import Losses
from humeval_power.simulation.rehearsal import World


def rehearsed(
    rehearsing: Rehearsing,
    study: StudyOptions,
    losses: Losses,
    effect: TypedEffects | None,
    means: tuple[float, ...] | None,
    seed: int | None,
) -> RehearsalResult:
    """The study of --plan as --assignment has it.

    Raises
    ------
    InputError
        Files that cannot be used or do not belong together.
    """
    assert rehearsing.plan is not None
    plan = load_plan(rehearsing.plan)
    scale = typed_scale(study.scale, study.lower_is_better)
    return rehearse(
        plan,
        read_assignment(*rehearsing.assignment),
        key=None if rehearsing.key is None else read_key(rehearsing.key),
        parameters=_world(study),
        effect=None if effect is None else effect.one(plan.scale or scale),
        means=means,
        habits=usual_habits(plan, losses=losses, passing=rehearsing.passing, seconds=rehearsing.seconds),
        scale=scale,
        response=_response(study),
        points=study.points,
        look=rehearsing.look,
        coded=rehearsing.coded,
        plan_text=read_text(rehearsing.plan),
        seed=DEFAULT_SEED if seed is None else seed,
    )


def _world(study: StudyOptions) -> World | None:
    """The parameters that were typed; None for those of the plan."""
    if not study.sources:
        return None
    paths = study.sources.parameters
    if len(paths) == 1 and is_analysis(paths[0]):
        pilot = read_joint(paths[0])
        for line in pilot.notes:
            note(f"{paths[0]}: {line}")
        return pilot.parameters
    return only_setting(load_settings(study))[1]


def _response(study: StudyOptions) -> Response | None:
    """How ratings are given, if somebody said so."""
    source = click.get_current_context().get_parameter_source("response")
    return study.response if source is click.core.ParameterSource.COMMANDLINE else None
