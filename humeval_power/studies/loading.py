"""From a file and the options of a command to checked ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import study_in_use
from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.rows import Rejected
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.files import tables
from humeval_power.files.tables import SourceTable, ratings_of, read_rating_table
from humeval_power.ratings import Ratings
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.field.worker_quality import WorkerExclusion
    from humeval_power.studies.plan.plan import Plan


def load_ratings(path: str, study: StudyValues, *, require_pair: bool = True, tell: bool = True) -> Ratings:
    """Read and check a table of ratings; `tell` prints its notices on standard error. Raises InputError: all
    problems of the table at once."""
    return check_ratings(read_rating_table(path), study, require_pair=require_pair, tell=tell)


def read_decided(path: str, rejected_rows: Rejected | None) -> SourceTable:
    """A table of judgements without the rejected or unfinished ones, or with them where the user says so.
    Raises InputError: a file that is no table, or rows that a column such as AssignmentStatus marks and
    nobody decided on."""
    table = tables.read_decided(path, rejected_rows)
    for notice in table.notices:
        note(f"{table.source}: {notice}")
    return table


def check_ratings(
    table: SourceTable, study: StudyValues, *, require_pair: bool = True, tell: bool = True
) -> Ratings:
    """The same from a table that has been read. Raises InputError: all problems of the table at once."""
    ratings = ratings_of(table, require_pair=require_pair, **reading(study))
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
    table: SourceTable,
    ratings: Sequence[Ratings],
    plan: Plan | None,
    typed: ExclusionRules = NO_RULES,
) -> WorkerExclusion | None:
    """What the rules do to the workers of a table; None without rules.

    ratings : those of each criterion that is analysed.
    Raises UsageError: typed rules beside those of a plan; InputError: seconds or checks that cannot be read.
    """
    sealed = None if plan is None else plan.exclusion_rules
    if sealed and typed and sealed != typed:
        raise click.UsageError(
            f"The plan seals its own rules ({sealed}): leave out --exclude-if, or amend the plan."
        )
    from humeval_power.files.tables import answers_of
    from humeval_power.studies.field.worker_quality import exclude_workers

    rules = sealed or typed
    return exclude_workers(answers_of(table, ratings), rules) if rules else None


# A pilot's table, read with the columns, scale and systems that the study names.

_OF_TABLE = [name for name, one in FIELDS.items() if one.section == "columns" or name == "criterion"]


def read_pilot(study: StudyValues) -> Ratings:
    """The ratings of two systems or more.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    kept: dict[str, Ratings] = click.get_current_context().meta.setdefault("humeval_power.pilots", {})
    path = study.pilot
    if path in kept:
        return kept[path]
    source = study_in_use()
    said = {} if source is None else source.fields
    table = study.with_(**{name: said[name] for name in _OF_TABLE if name in said and not study.says(name)})
    ratings = load_ratings(path, table, require_pair=False)
    if ratings.n_systems < 2:
        load_ratings(path, table)  # says what is wrong
    kept[path] = ratings
    return ratings
