"""From a file and the options of a command to checked ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from humeval_power.checking.submissions import Rejected
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.formats import tables
from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.interfaces.formats.ratings import ratings_of
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import MISSING_CODES, Ratings

if TYPE_CHECKING:
    from humeval_power.inference.field.worker_exclusion import WorkerExclusion
    from humeval_power.planning.plan.plan import Plan


def load_ratings(path: str, study: StudyValues, *, require_pair: bool = True, tell: bool = True) -> Ratings:
    """Read and check a table of ratings; `tell` prints its notices on standard error.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    return check_ratings(read_rating_table(path), study, require_pair=require_pair, tell=tell)


def read_decided(path: str, rejected_rows: Rejected | None) -> SourceTable:
    """A table of judgements without the rejected or unfinished ones, or with them where the user says so.

    Raises
    ------
    InputError
        A file that is no table, or rows that a column such as AssignmentStatus marks and nobody decided on.
    """
    found = tables.read_decided(path, rejected_rows)
    for notice in found.notices:
        note(f"{found.source}: {notice}")
    return found


def check_ratings(
    found: SourceTable, study: StudyValues, *, require_pair: bool = True, tell: bool = True
) -> Ratings:
    """The same from a table that has been read.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    ratings = ratings_of(found, require_pair=require_pair, **reading(study))
    if tell:
        for notice in ratings.notices:
            note(f"{ratings.source}: {notice}")
    return ratings


def reading(study: StudyValues) -> dict[str, Any]:
    """How the study says to read a table, as `read_ratings` takes it."""
    same = (
        "scale",
        "worker",
        "item",
        "system",
        "rating",
        "criterion_column",
        "criterion",
        "lower_is_better",
    )
    return {
        **{name: getattr(study, name) for name in (*same, "rejected_rows", "document", "order_column")},
        "systems": study.pair,
        "missing": (*MISSING_CODES, *(study.missing or ())),
        "covariates": tuple(study.covariates or ()),
    }


def excluded(
    found: SourceTable,
    ratings: Sequence[Ratings],
    plan: Plan | None,
    typed: ExclusionRules = NO_RULES,
) -> WorkerExclusion | None:
    """What the rules do to the workers of a table; None without rules.

    ratings : those of each criterion that is analysed.

    Raises
    ------
    click.UsageError
        Typed rules beside those of a plan.
    InputError
        Seconds or checks that cannot be read.
    """
    sealed = None if plan is None else plan.exclusion_rules
    if sealed and typed and sealed != typed:
        raise click.UsageError(
            f"The plan seals its own rules ({sealed}): leave out --exclude-if, or amend the plan."
        )
    from humeval_power.inference.field.worker_exclusion import exclude_workers
    from humeval_power.interfaces.formats.answers import answers_of

    rules = sealed or typed
    return exclude_workers(answers_of(found, ratings), rules) if rules else None
