"""`humeval-power simulate`: the ratings of one study, or a rehearsal of a planned one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.adapting import rehearsed_or_drawn
from humeval_power.asking.command import Use, needs
from humeval_power.asking.declared import EFFECTS, SIZE, VARIATION, Page, Part, study_command, untouched
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import SEED
from humeval_power.choices import DEFAULT_SEED
from humeval_power.differences import Difference
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.field.ask_rehearse import REHEARSAL, check_rehearsing, rehearsed
from humeval_power.studies.plan.ask_held import plan_path
from humeval_power.studies.resolve import (
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
from humeval_power.studies.resolve_systems import systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.field.result_rehearsal import RehearsalResult
    from humeval_power.studies.power.result_ratings import SimulatedStudy


@study_command(
    ("simulate",),
    {
        **untouched(
            study_fields(
                *("ratings", "variation", "effect", "design", "losses"),
                *("systems", "link"),
                but=COMPARISONS,
                pilot=FIELDS["pilot"],
                plan=FIELDS["plan"],
                assignment=replace(
                    FIELDS["assignment"],
                    label="Who rates what",
                    page_help="The table that the page \u201cWho rates what\u201d writes.",
                ),
                key=FIELDS["key"],
                effect=replace(
                    FIELDS["effect"],
                    note="on [0, 1]. [as in the parameters, or the plan's]",
                ),
            )
        ),
        **REHEARSAL,
        "seed": SEED,
    },
    use=Use(adapts=rehearsed_or_drawn, writes="rehearsal"),
    read_as={"plan": plan_path},
    endings=(".csv",),
    needs=(
        needs("--workers", ("workers", "plan")),
        needs("--items", ("items", "plan")),
        source_needed,
    ),
    page=Page(
        "Rehearsal",
        "Ratings of nobody: draw a study as it is planned, to try everything that follows before anyone is paid.",
        (
            Part("A planned study", ("plan", "assignment", "key", *REHEARSAL)),
            replace(
                VARIATION,
                title="Or a study without a plan",
                fields=(*VARIATION.fields, "scale", *SIZE.fields),
                note="",
                folded=True,
            ),
            Part(
                "The true difference",
                EFFECTS,
                "Left empty, it is that of the plan.",
                one_of=EFFECTS,
            ),
        ),
        journey="plan",
    ),
)
def command(study: StudyValues, seed: int | None, **rehearsal: Any) -> SimulatedStudy | RehearsalResult:
    """Draw the ratings of one study; -o FILE.csv writes them.

    The table has the columns worker, item, system (A, B) and rating, on --scale
    or, without it, on [0, 1]; --format csv prints it. With --n-systems 8, or the
    names of --systems, it has the ratings of several systems. With --criteria it
    has those on each of them, or on the one that --criterion names.

    With --plan PATH --assignment FILE it rehearses a planned study as it is
    assigned, with its names, codes, order, checks and repeats, and workers who
    stop or do not care, so that all that follows can be tried beforehand.
    """
    seed = DEFAULT_SEED if seed is None else seed
    check_rehearsing(study, rehearsal)
    if study.plan is not None:
        return rehearsed(study, rehearsal, seed)
    return _drawn(study, seed)


def _drawn(study: StudyValues, seed: int) -> SimulatedStudy:
    """A study of parameters."""
    from humeval_power.studies.fit.calls import simulate
    from humeval_power.studies.power.typed import study_of_several
    from humeval_power.studies.power.work_ahead import refuse_work, study_workload

    named, one = study.criteria or (), study.criterion
    if one is not None and named and one not in named:
        raise click.UsageError(f"--criterion {one}: the criteria of the study are {', '.join(named)}.")
    rated: dict[str, Any] = {"criteria": study.criteria or (), "criterion": study.criterion}
    study = study.without("criteria", "criterion")
    several = systems_of(study, DEFAULT_RULE)
    effect = effect_of(study)
    if several is not None:
        is_said = effect is not None or study.system_means is not None
        about, truth, scale = study_of_several(several, None if is_said else ())
        refuse_work(study_workload(about.design, n_simulations=1), n_simulations=1)
        return simulate(about, effect=truth, scale=scale, seed=seed, **rated)
    settings, said = assumptions_of(study), None
    if effect is not None:
        others = tuple(replace(entry, scale=None) for entry in settings.entries)
        settings, said = settled(study, replace(settings, entries=others), effect)[0]
    else:
        settings = without_effect(study, settings)
    _, parameters = only_setting(settings)
    shown = settings.typed_scale
    said = said or Difference(parameters.difference, shown, systems=settings.systems)
    warn_beyond(study, settings, [said])
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
        **rated,
    )
