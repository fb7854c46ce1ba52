"""`humeval-power collect`: a study while it is collected."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.adapting import two_systems
from humeval_power.asking.calls import TypedValues
from humeval_power.asking.command import HERE, Use
from humeval_power.asking.declared import Calls, Declaration
from humeval_power.asking.expressions import call
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import RATINGS, WITHDRAWN
from humeval_power.comparisons.questions import Subject
from humeval_power.errors import InputError, Problem
from humeval_power.fields import text
from humeval_power.studies.field.ask_import import (
    ASSIGNED,
    EXPORTS,
    PSEUDONYMS,
    assignment_of,
    key_and_withdrawn,
    secret_beside,
)
from humeval_power.studies.plan.ask_held import LEDGER_SECRET, load_plan, plan_path, table_by_plan
from humeval_power.studies.resolve import scale_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.ratings import Ratings
    from humeval_power.studies.field.form import Names, WithdrawalResult
    from humeval_power.studies.plan.files import PlanFile


def _status(given: TypedValues, calls: Calls) -> None:
    from humeval_power.files.exports.mapping_file import read_mapping
    from humeval_power.files.exports.platforms import read_export

    mapping, scale = given["mapping"], given["scale"]
    assignment: Any = assignment_of(given)
    if assignment is None:
        raise click.UsageError("Say who was to see what: --assignment FILE.")
    planned = load_plan(given["plan"])
    if planned is not None and scale is not None:
        raise click.UsageError("The plan says this itself: leave out --scale.")
    chosen, named = (None, None) if mapping is None else read_mapping(mapping)
    exports: list[Any] = [
        read_export(path, platform=given["platform"] or named) for path in given["exports"]
    ]
    how: dict[str, Any] = {
        **key_and_withdrawn(given),
        "mapping": chosen,
        "scale": scale_of(StudyValues.of(given.context)) if planned is None else planned.scale,
        "rules": None if planned is None or planned.rules is None else planned.rules.rules,
    }
    expression: Any = calls.let("result", call("hp.exports.follow_collection", exports, assignment, **how))
    calls.let("result", replace(expression, names=_names(given)))


def _names(given: TypedValues) -> Names:
    """How workers are named: by their ids on a terminal alone."""
    from humeval_power.studies.field.form import Names
    from humeval_power.studies.monitor.files import kept_secret

    secret, output = given["secret"], given["output"]
    if given["keep_ids"]:
        return Names()
    if secret is None and output in (None, "-"):
        return Names(hidden=bool(given["as_json"]) or given["format"] != "terminal")
    return Names(kept_secret(secret or secret_beside(output, "collect")).key.hex())


STATUS = Declaration(
    ("collect", "status"),
    """Who has done what, what is missing, and which spares to call.

    EXPORT is what the platform has given back so far, as 'import' takes it:
    a file or many, finished or not. Nothing here depends on which system an
    output is of, so that it may be looked at as often as you like. The terminal
    names workers as the platform does; what is written has pseudonyms.
    """,
    {
        "exports": replace(FIELDS["exports"], kind=text("EXPORT...", many=True), needed=True),
        **ASSIGNED,
        "plan": FIELDS["plan"],
        **EXPORTS,
        **PSEUDONYMS,
        "scale": replace(FIELDS["scale"], note="[from the plan, or the data]"),
    },
    _status,
    arguments=("exports",),
    endings=(".csv",),
    of_study=True,
    read_as={"plan": plan_path},
    no_program="makes pseudonyms with a secret that the command keeps; hp.exports has its calls.",
)


def _withdraw(given: TypedValues, calls: Calls) -> None:
    left: Any = _left(given)
    calls.let("result", left)


def _left(given: TypedValues) -> WithdrawalResult:
    from humeval_power.files.private_files import ledger_path
    from humeval_power.files.tables import read_rating_table
    from humeval_power.studies.field.calls import withdraw_workers
    from humeval_power.studies.field.files import read_withdrawn
    from humeval_power.studies.loading import check_ratings
    from humeval_power.studies.monitor.files import secret_path
    from humeval_power.studies.plan.files import read_plan_file

    study = StudyValues.of(given.context)
    secret = given["secret"]
    plan, ledger, result = study.plan, study.ledger, read_rating_table(study.ratings)
    names = _as_in_table(read_withdrawn(*given["withdrawn"]), result.frame, Path(str(study.ratings)).parent)
    if plan is None:
        if ledger is not None or secret is not None:
            raise click.UsageError("--ledger and --secret are of a study with a plan: add --plan PATH.")
        return withdraw_workers(result.frame, names, worker=study.worker, source=result.source)
    planned = read_plan_file(plan)
    left = withdraw_workers(
        result.frame,
        names,
        worker=study.worker,
        source=result.source,
        n_planned=planned.plan.counts.n_workers,
    )
    path = ledger_path(plan, ledger)
    if planned.plan.looks is None or not Path(path).exists():
        return left
    table, is_pair = table_by_plan(planned.plan, study), planned.plan.many is None
    ratings = check_ratings(result, table, require_pair=is_pair, tell=False)
    return left.seen(path, _noted(planned, ratings, names, path, secret_path(path, secret)))


def _as_in_table(names: Sequence[str], table: pd.DataFrame, folder: Path) -> tuple[str, ...]:
    """Who withdrew as the table names them: ids that it does not have by their pseudonyms, where a secret that lies
    in its folder made these."""
    from humeval_power.studies.field.form import pseudonyms
    from humeval_power.studies.monitor.files import read_secret

    there = set(table.astype(str).stack().str.strip())
    known: dict[str, str] = {}
    for place in sorted(folder.glob("*.secret")):
        try:
            secret = read_secret(place)
        except InputError:  # of something else
            continue
        if secret is not None:
            made = pseudonyms(
                (name for name in names if name not in there), key=secret.key.hex(), kind="worker"
            )
            known |= {name: pseudonym for name, pseudonym in made.items() if pseudonym in there}
    return tuple(known.get(name, name) for name in names)


def _noted(planned: PlanFile, ratings: Ratings, names: Collection[str], path: str, secret_file: str) -> int:
    """Tell the ledger which ratings are gone; how many of them looks have seen.

    Raises InputError: a ledger whose secret is lost: which ratings looks saw cannot be told.
    """
    from humeval_power.studies.monitor.files import open_ledger, row_digests
    from humeval_power.studies.monitor.followed import monitoring_of
    from humeval_power.studies.monitor.ledger_fields import check_content, state_of, withdrawal_content
    from humeval_power.studies.monitor.systems import as_planned
    from humeval_power.studies.monitor.taking import secret_of_rows

    if planned.plan.many is not None:
        ratings = as_planned(ratings, planned.plan)
    with open_ledger(path) as book:
        state = state_of(
            book.entries, monitoring_of(planned.plan), planned.checksum, place=path, by=ratings.scale
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


WITHDRAW = Declaration(
    ("collect", "withdraw"),
    """Take out the ratings of participants who withdrew.

    -o FILE.csv writes the table without them; delete the old one, and their
    rows in the platform's files. Where looks have seen ratings of theirs, the
    ledger gets a line that says so, and goes on without them.
    """,
    {
        "ratings": replace(FIELDS["ratings"], kind=text("RATINGS", is_file=True), needed=True),
        "withdrawn": replace(WITHDRAWN, needed=True),
        **RATINGS,
        "plan": FIELDS["plan"],
        "ledger": FIELDS["ledger"],
        "secret": LEDGER_SECRET,
    },
    _withdraw,
    arguments=("ratings",),
    endings=(".csv",),
    of_study=True,
    use=Use(adapts=two_systems, updates=lambda _result: {"ratings": HERE}),
    read_as={"plan": plan_path},
    no_program="changes the files of a study, which the command alone does.",
)
SUBJECT = Subject(
    "collect",
    """A study while it is collected.

    What these commands show never depends on which system an output is of.
    """,
    (STATUS, WITHDRAW),
)
command = SUBJECT.command()
