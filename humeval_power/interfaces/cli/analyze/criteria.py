"""The part of `analyze` that goes through several criteria of one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.output import note

if TYPE_CHECKING:
    from humeval_power.interfaces.formats.tables import SourceTable
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.ratings import Ratings


def refuse_criteria(study: StudyValues, *, plan: Plan | None) -> None:
    """Refuse options that do not go together."""
    if plan is not None and plan.many is not None:
        return
    if plan is not None and study.criteria is not None:
        raise click.UsageError("This plan is for one criterion: give --criterion NAME, not --criteria.")
    if study.criteria is not None and study.criterion is not None:
        raise click.UsageError("Give --criterion for one criterion or --criteria for several, not both.")
    several = study.says("comparisons", "baseline")
    if not several:
        study.refuse(["model"], "is for several systems: add --all-pairs or --baseline SYSTEM.")
    if study.criteria is None:
        study.refuse(["correct_over"], "is for several criteria: add --criteria all.")
        if not several:
            remedy = "--all-pairs, --baseline SYSTEM or --criteria all"
            study.refuse(["correction"], f"is for several tests: add {remedy}.")


def load_criteria(
    found: SourceTable, study: StudyValues, wanted: str | Sequence[str], *, require_pair: bool
) -> dict[str, Ratings]:
    """The ratings of each criterion asked for, by name, in the order asked or that of the table.

    wanted : names, as a list or as typed, or 'all'

    Raises
    ------
    InputError
        As `read_criteria`.
    """
    from humeval_power.interfaces.cli.loading import reading
    from humeval_power.interfaces.formats.criteria import criteria_of_table

    names = list(wanted)
    if isinstance(wanted, str):
        names = [part.strip() for part in wanted.split(",") if part.strip()]
    read = criteria_of_table(
        found, "all" if wanted == "all" else names, require_pair=require_pair, **reading(study)
    )
    for notice in dict.fromkeys(notice for ratings in read.values() for notice in ratings.notices):
        note(f"{found.source}: {notice}")
    return read
