"""What `simulate --plan` does: read the plan, its assignment and what is typed beside them, and rehearse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import LOOK_HELP
from humeval_power.choices import USUAL_PASSING, USUAL_SECONDS
from humeval_power.fields import Field, flag, own, real, whole
from humeval_power.studies.plan.ask_held import load_plan
from humeval_power.studies.resolve import (
    assumptions_of,
    effect_of,
    has_source,
    losses_of,
    only_setting,
    scale_of,
)

if TYPE_CHECKING:
    from humeval_power.simulation.rehearsal import World
    from humeval_power.studies.field.result_rehearsal import RehearsalResult

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

    Raises
    ------
    click.UsageError
        All of them at once.
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

    Raises
    ------
    InputError
        Files that cannot be used or do not belong together.
    """
    from humeval_power.files.file_bytes import read_text
    from humeval_power.studies.field.calls import rehearse
    from humeval_power.studies.field.files import read_assignment, read_key
    from humeval_power.studies.field.rehearsal import usual_habits

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
    from humeval_power.studies.power.files_joint import is_analysis, read_joint

    paths = study.parameters
    if len(paths) == 1 and is_analysis(paths[0]):
        pilot = read_joint(paths[0])
        for line in pilot.notes:
            note(f"{paths[0]}: {line}")
        return pilot.parameters
    return only_setting(assumptions_of(study))[1]
