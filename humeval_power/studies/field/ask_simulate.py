"""`humeval-power simulate`: the ratings of one study, or a rehearsal of a planned one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.adapting import rehearsed_or_drawn
from humeval_power.asking.command import Use, needs
from humeval_power.asking.declared import EFFECTS, SIZE, VARIATION, Page, Part, study_command, untouched
from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import LOOK_HELP, SEED
from humeval_power.choices import DEFAULT_SEED, USUAL_PASSING, USUAL_SECONDS
from humeval_power.differences import Difference
from humeval_power.fields import Field, flag, own, real, whole
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.plan.ask_held import load_plan, plan_path
from humeval_power.studies.resolve import (
    COMPARISONS,
    assumptions_of,
    design_of,
    effect_of,
    has_source,
    losses_of,
    only_setting,
    points_of,
    scale_of,
    settled,
    source_needed,
    warn_beyond,
    without_effect,
)
from humeval_power.studies.resolve_systems import systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.simulation.rehearsal import World
    from humeval_power.studies.field.result_rehearsal import RehearsalResult
    from humeval_power.studies.power.result_ratings import SimulatedStudy


REHEARSAL: Mapping[str, Field] = {
    "passing": own(
        real(0, 1),
        f"Share of attention checks that careful workers pass. [{USUAL_PASSING:g}]",
        "Careful workers who pass a check",
        unit="as a share",
        slider=(0.5, 1),
        step=0.01,
        further=True,
    ),
    "seconds": own(
        real(0, open="low"),
        f"Median seconds that a careful worker takes for an output. [the plan's, else {USUAL_SECONDS:g}]",
        "Seconds for an output",
        further=True,
    ),
    "look": own(
        whole(1),
        LOOK_HELP,
        "Only up to this look",
        note="of the plan: only what is there by then. [all]",
        further=True,
    ),
    "coded": own(
        flag(),
        "Write what a platform gives back: worker, slot, code and rating, without items and systems.",
        "What a platform gives back: codes, no systems",
        usual=False,
    ),
}
# Of a study that is not planned: what a plan and its assignment say themselves, or do not know.
_OF_PLAN = (
    *("workers", "items", "n_systems", "systems", "pattern", "goal", "ratings_per_item", "paired", "design"),
    *("max_ratings_per_worker", "documents", "items_per_document", "exclusion", "shares", "link", "effect_latent"),
)  # fmt: skip


def check_rehearsing(study: StudyValues, rehearsal: Mapping[str, Any]) -> None:
    """Refuse options of a rehearsal without a plan, and options that a plan leaves no room for.

    Raises click.UsageError: all of them at once.
    """
    if study.plan is None:
        own = [f"--{name}" for name, value in rehearsal.items() if value]
        given = [*study.options_of(("assignment", "key")), *own]
        if given:
            raise click.UsageError(
                f"{', '.join(given)}: this is of a rehearsal. Name the plan that is rehearsed: --plan PATH."
            )
        return
    given = study.options_of(_OF_PLAN)
    if given:
        raise click.UsageError(f"The plan and its assignment say this: leave out {', '.join(given)}.")
    if not study.assignment:
        raise click.UsageError(
            "A rehearsal needs --assignment FILE: the table that 'humeval-power assign --plan' wrote."
        )


def rehearsed(study: StudyValues, rehearsal: Mapping[str, Any], seed: int) -> RehearsalResult:
    """The study of --plan as --assignment has it.

    Raises InputError: files that cannot be used or do not belong together.
    """
    from humeval_power.files.file_bytes import read_text
    from humeval_power.studies.field.calls import rehearse
    from humeval_power.studies.field.files import read_assignment, read_key
    from humeval_power.studies.field.result_rehearsal import usual_habits

    plan, effect, scale = load_plan(study.plan), effect_of(study), scale_of(study)
    return rehearse(
        plan,
        read_assignment(*study.assignment),
        key=None if study.key is None else read_key(study.key),
        parameters=_world(study),
        effect=None if effect is None else effect.one(plan.scale or scale),
        means=study.system_means,
        habits=usual_habits(
            plan, losses=losses_of(study), passing=rehearsal["passing"], seconds=rehearsal["seconds"]
        ),
        scale=scale,
        response=study.response if study.says("response") else None,
        points=study.points,
        look=rehearsal["look"],
        coded=rehearsal["coded"],
        plan_text=read_text(study.plan),
        seed=seed,
    )


def _world(study: StudyValues) -> World | None:
    """The parameters that were typed; None for those of the plan."""
    if not has_source(study):
        return None
    from humeval_power.studies.power.files import is_analysis, read_joint

    if study.pilot is not None:
        from humeval_power.studies.loading import read_pilot
        from humeval_power.studies.plan.calls import systems_pilot

        if (ratings := read_pilot(study)).n_systems > 2:
            return systems_pilot(ratings).parameters
    paths = study.parameters
    if len(paths) == 1 and is_analysis(paths[0]):
        pilot = read_joint(paths[0])
        for line in pilot.notes:
            note(f"{paths[0]}: {line}")
        return pilot.parameters
    return only_setting(assumptions_of(study))[1]


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
    from humeval_power.studies.power.calls_drawn import simulate
    from humeval_power.studies.power.typed import refuse_work, study_of_several
    from humeval_power.studies.power.workload import study_workload

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
