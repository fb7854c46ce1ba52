"""`humeval-power simulate`: the ratings of one study, or a rehearsal of a planned one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from humeval_power.choices import DEFAULT_SEED
from humeval_power.differences import Difference
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.asking.resolve import (
    COMPARISONS,
    assumptions_of,
    design_of,
    effect_of,
    losses_of,
    only_setting,
    points_of,
    settled,
    source_needed,
    warn_beyond,
    without_effect,
)
from humeval_power.interfaces.asking.resolve_systems import systems_of
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.adapting import rehearsed_or_drawn
from humeval_power.interfaces.cli.field.rehearsal_options import (
    Rehearsing,
    check_rehearsing,
    rehearsal_options,
)
from humeval_power.interfaces.cli.options import seed_option
from humeval_power.interfaces.cli.plan.options import plan_path
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.study.running import PILOT
from humeval_power.rules import DEFAULT_RULE

if TYPE_CHECKING:
    from humeval_power.reporting.field.rehearsal import RehearsalResult
    from humeval_power.reporting.study.simulated import SimulatedStudy


@click.command("simulate", cls=StudyCommand, use=Use(adapts=rehearsed_or_drawn, writes="rehearsal"))
@study_fields(
    *("ratings", "variation", "effect", "design", "losses"),
    *("systems", "link"),
    but=("criteria", "criterion", *COMPARISONS),
    pilot=PILOT,
    plan=field_option(
        "plan",
        callback=plan_path,
        help="Rehearse this planned study, as --assignment has it: the plan's file, or its folder.",
    ),
    assignment=field_option(
        "assignment",
        help="The table that 'assign --plan' wrote; repeat it for the tables of spares that 'assign --replace' "
        "called in.",
    ),
    key=field_option("key", help="What the codes of the assignment stand for."),
    workers=field_option("workers", help="Number of workers, where there is no plan."),
    effect=field_option(
        "effect", help="True difference B - A on [0, 1]. [as in the parameters, or the plan's]"
    ),
)
@rehearsal_options
@seed_option
@with_result(endings=(".csv",))
@needs("--workers", ("workers", "plan"))
@needs("--items", ("items", "plan"))
@source_needed
def command(
    study: StudyValues, rehearsing: Rehearsing, seed: int | None
) -> SimulatedStudy | RehearsalResult:
    """Draw the ratings of one study; -o FILE.csv writes them.

    The table has the columns worker, item, system (A, B) and rating, on --scale
    or, without it, on [0, 1]; --format csv prints it. With --n-systems 8, or the
    names of --systems, it has the ratings of several systems.

    With --plan PATH --assignment FILE it rehearses a planned study as it is
    assigned, with its names, codes, order, checks and repeats, and workers who
    stop or do not care, so that all that follows can be tried beforehand.
    """
    from humeval_power.interfaces.cli.field.rehearse import rehearsed

    seed = DEFAULT_SEED if seed is None else seed
    check_rehearsing(study, rehearsing)
    if study.plan is not None:
        return rehearsed(study, rehearsing, seed)
    return _drawn(study, seed)


def _drawn(study: StudyValues, seed: int) -> SimulatedStudy:
    """A study of parameters."""
    from humeval_power.api.study import simulate
    from humeval_power.interfaces.cli.study.typed import study_of_several
    from humeval_power.interfaces.cli.work_ahead import refuse_work
    from humeval_power.planning.workload import study_workload

    several = systems_of(study, DEFAULT_RULE)
    effect = effect_of(study)
    if several is not None:
        is_said = effect is not None or study.system_means is not None
        asked, truth, scale = study_of_several(several, None if is_said else ())
        refuse_work(study_workload(asked.design, n_simulations=1), n_simulations=1)
        return simulate(asked, effect=truth, scale=scale, seed=seed)
    settings, said = assumptions_of(study), None
    if effect is not None:
        others = tuple(replace(entry, scale=None) for entry in settings.entries)
        settings, said = settled(study, replace(settings, entries=others), effect)[0]
    else:
        settings = without_effect(study, settings)
    _, parameters = only_setting(settings)
    shown = settings.typed_scale
    said = said or Difference(parameters.difference, shown, systems=settings.systems)
    warn_beyond(settings, [said])
    design = design_of(study)
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    return simulate(
        parameters,
        design,
        effect=said,
        scale=shown,
        seed=seed,
        response=study.response,
        points=points_of(study, settings.scale),
        losses=losses_of(study),
        exclusion=study.exclusion,
    )
