"""Options of a rehearsal: the plan, its assignment, and what else becomes of it in the field."""

from __future__ import annotations

from dataclasses import dataclass, fields

import click

from humeval_power.choices import USUAL_PASSING, USUAL_SECONDS
from humeval_power.interfaces.asking.options import FurtherOption
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import Function, collected, fields_of

_OPTIONS = (
    click.option(
        "--coded",
        is_flag=True,
        help="Write what a platform gives back: worker, slot, code and rating, without items and systems.",
    ),
    click.option(
        "--look",
        cls=FurtherOption,
        type=WholeNumber(min=1),
        help="Only what is there at this look of the plan. [all]",
    ),
    click.option(
        "--passing",
        cls=FurtherOption,
        type=RealNumber(0, 1),
        help=f"Share of attention checks that careful workers pass. [{USUAL_PASSING:g}]",
    ),
    click.option(
        "--seconds",
        cls=FurtherOption,
        type=RealNumber(0, min_open=True),
        help="Median seconds that a careful worker takes for an output. [the plan's, else "
        f"{USUAL_SECONDS:g}]",
    ),
)
# Of a study that is not planned: what a plan and its assignment say themselves, or do not know.
_OF_PLAN = (
    *("workers", "items", "n_systems", "systems", "pattern", "goal", "ratings_per_item", "paired", "design"),
    *("max_ratings_per_worker", "documents", "items_per_document", "exclusion", "shares", "link", "effect_latent"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rehearsing:
    """What was typed of a rehearsal."""

    coded: bool
    look: int | None
    passing: float | None
    seconds: float | None


def rehearsal_options(command: Function) -> Function:
    """Add the options; the command gets them as `rehearsing: Rehearsing`."""
    return collected(command, _OPTIONS, name="rehearsing", collect=fields_of(Rehearsing))


def check_rehearsing(study: StudyValues, rehearsing: Rehearsing) -> None:
    """Refuse options of a rehearsal without a plan, and options that a plan leaves no room for.

    Raises
    ------
    click.UsageError
        All of them at once.
    """
    if study.plan is None:
        own = [f"--{one.name}" for one in fields(rehearsing) if getattr(rehearsing, one.name)]
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
