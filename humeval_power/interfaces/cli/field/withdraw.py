"""`humeval-power collect withdraw`: participants who take their consent back."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import FurtherOption, field_option, file_argument
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.adapting import two_systems
from humeval_power.interfaces.cli.options import COLUMNS_OF_MODEL, TABLE, TABLE_OPTIONS
from humeval_power.interfaces.cli.plan.options import plan_path, table_by_plan
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.interfaces.formats.plan.plan_file import PlanFile
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.field.withdrawal import WithdrawalResult


@click.command(
    "withdraw",
    cls=StudyCommand,
    use=Use(adapts=two_systems),
    no_program="changes the files of a study, which the command alone does.",
)
@file_argument("ratings", metavar="RATINGS")
@click.option(
    "--withdrawn",
    required=True,
    metavar="FILE",
    help="Those who withdrew, named as in RATINGS, one a line.",
)
@study_fields(
    *TABLE,
    "ledger",
    but=COLUMNS_OF_MODEL,
    **TABLE_OPTIONS,
    plan=field_option("plan", callback=plan_path, help="The plan of the study."),
)
@click.option(
    "--secret",
    cls=FurtherOption,
    metavar="FILE",
    help="The secret of the ledger's digests. [beside the ledger]",
)
@with_result(endings=(".csv",))
def withdraw(
    withdrawn: str,
    secret: str | None,
    study: StudyValues,
) -> WithdrawalResult:
    """Take out the ratings of participants who withdrew.

    -o FILE.csv writes the table without them; delete the old one, and their
    rows in the platform's files. Where looks have seen ratings of theirs, the
    ledger gets a line that says so, and goes on without them.
    """
    from humeval_power.api.field import withdraw_workers
    from humeval_power.interfaces.cli.loading import check_ratings
    from humeval_power.interfaces.formats.assigned import read_withdrawn
    from humeval_power.interfaces.formats.monitor.ledger import ledger_path
    from humeval_power.interfaces.formats.monitor.secret import secret_path
    from humeval_power.interfaces.formats.plan.plan_file import read_plan_file
    from humeval_power.interfaces.formats.rating_tables import read_rating_table

    names, plan, ledger = read_withdrawn(withdrawn), study.plan, study.ledger
    found = read_rating_table(study.ratings)
    if plan is None:
        if ledger is not None or secret is not None:
            raise click.UsageError("--ledger and --secret are of a study with a plan: add --plan PATH.")
        return withdraw_workers(found.frame, names, worker=study.worker, source=found.source)
    planned = read_plan_file(plan)
    left = withdraw_workers(
        found.frame,
        names,
        worker=study.worker,
        source=found.source,
        n_planned=planned.plan.counts.n_workers,
    )
    path = ledger_path(plan, ledger)
    if planned.plan.looks is None or not Path(path).exists():
        return left
    ratings = check_ratings(found, table_by_plan(planned.plan, study), tell=False)
    return left.seen(path, _noted(planned, ratings, names, path, secret_path(path, secret)))


def _noted(planned: PlanFile, ratings: Ratings, names: Collection[str], path: str, secret_file: str) -> int:
    """Tell the ledger which ratings are gone; how many of them looks have seen.

    Raises
    ------
    InputError
        A ledger whose secret is lost: which ratings looks saw cannot be told.
    """
    from humeval_power.interfaces.cli.monitor.secret import secret_of_rows
    from humeval_power.interfaces.formats.monitor.entries import state_of, withdrawal_content
    from humeval_power.interfaces.formats.monitor.fields import check_content
    from humeval_power.interfaces.formats.monitor.ledger import open_ledger
    from humeval_power.interfaces.formats.monitor.rows import row_digests
    from humeval_power.planning.monitor.step import study_monitoring

    with open_ledger(path) as book:
        state = state_of(
            book.entries, study_monitoring(planned.plan), planned.checksum, place=path, by=ratings.scale
        )
        if not state.rows:
            return 0
        key = secret_of_rows(state, book.entries, path, secret_file)
        if key is None:
            rule = "is missing: which ratings the looks saw cannot be told without it."
            raise InputError(
                [Problem(rule, "Restore it, or name it with --secret FILE.", place=secret_file)]
            )
        seen = [
            (place, int(worker))
            for (place, _), worker in zip(
                row_digests(ratings, planned.plan.systems, key), ratings.worker, strict=True
            )
            if ratings.worker_names[worker] in names and place in state.rows
        ]
        if seen:
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            n_workers = len({worker for _, worker in seen})
            content = withdrawal_content(n_workers, [place for place, _ in seen], time=now)
            check_content("withdrawal", content, place=path)
            book.append("withdrawal", content, secret=key)
    return len(seen)
