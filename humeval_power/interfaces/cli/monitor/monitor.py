"""`humeval-power monitor`: a planned look at ratings that are still coming in."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.monitor.secret import UNCHECKED, secret_of_look, tell_of_secret
from humeval_power.interfaces.cli.monitor.text import look_text
from humeval_power.interfaces.cli.options import (
    TableOptions,
    force_option,
    json_option,
    quiet_option,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, write_directory
from humeval_power.interfaces.cli.plan.options import table_by_plan
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.interfaces.formats.monitor.entries import (
    LedgerSeal,
    LedgerState,
    ledger_seal,
    look_content,
    row_digests,
    secret_content,
    start_content,
    state_of,
)
from humeval_power.interfaces.formats.monitor.fields import check_content
from humeval_power.interfaces.formats.monitor.ledger import ledger_path, open_ledger, read_ledger
from humeval_power.interfaces.formats.monitor.secret import secret_path
from humeval_power.planning.monitor.look_data import look_data
from humeval_power.planning.monitor.state import LookData, Monitoring, TakenLook
from humeval_power.planning.monitor.step import (
    changed_rows,
    estimates,
    path_boundaries,
    step,
    study_monitoring,
)
from humeval_power.ratings import Ratings
from humeval_power.reporting.monitor import look_record

_MOST_NAMED = 5
_PICTURES = ("looks.png", "looks.svg")


class Asked(NamedTuple):
    """What was typed about a look: the secret's file, why there is a new secret, and why the look is not due."""

    secret: str
    new_secret: str
    unplanned: str


class Answer(NamedTuple):
    """A study after a look: the last look, the end of the ledger's chain, and whether it was all there before."""

    state: LedgerState
    look: TakenLook | None
    seal: LedgerSeal | None
    again: bool


@click.command("monitor", cls=Command)
@click.argument("file", metavar="[RATINGS]", required=False)
@table_options
@click.option("--plan", required=True, metavar="FILE", help="The plan with its looks.")
@click.option("--ledger", metavar="FILE", help="The ledger of looks. [beside the plan: plan.looks.jsonl]")
@click.option(
    "--secret",
    metavar="FILE",
    help="The secret of the ledger's digests; made by the first look. [beside the ledger: plan.looks.secret]",
)
@click.option(
    "--new-secret",
    metavar="REASON",
    default="",
    help="Go on with a new secret, the old one being lost; recorded.",
)
@click.option("--final", is_flag=True, help="No more ratings will come: test for the last time.")
@click.option(
    "--unplanned",
    metavar="REASON",
    default="",
    help="Look although no look is due, or go on after futility; recorded, and paid for in level.",
)
@click.option("--status", is_flag=True, help="Show the looks so far; take none.")
@click.option("--pictures", metavar="DIR", help="Write the boundaries with the path so far to DIR.")
@json_option
@force_option
@quiet_option
def command(
    file: str | None,
    table: TableOptions,
    plan: str,
    ledger: str | None,
    secret: str | None,
    new_secret: str,
    final: bool,
    unplanned: str,
    status: bool,
    pictures: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """May we stop? One look at the ratings so far, by the plan.

    RATINGS are all ratings so far, those of earlier looks included. The look is
    added to a ledger that is never rewritten; the same look at the same data
    is shown again, at other data it is refused. Keep the secret beside the
    ledger, and do not publish it.
    """
    from humeval_power.interfaces.formats.plan.plan_file import read_plan_file

    if (file is None) is not status:
        raise click.UsageError("Give RATINGS for a look, or --status to see those taken.")
    if pictures is not None:  # before the look is taken, which cannot be undone
        refuse_to_overwrite([Path(pictures) / name for name in _PICTURES], force=force)
    with compiled_kernels():
        planned = read_plan_file(plan)
        start = study_monitoring(planned.plan)
        path = ledger_path(plan, ledger)
        asked = Asked(secret_path(path, secret), _one_line(new_secret), _one_line(unplanned))
        if file is None:
            entries = read_ledger(path)
            state = state_of(entries, start, planned.checksum, place=path)
            look = state.monitoring.looks[-1] if state.monitoring.looks else None
            answer = Answer(state, look, ledger_seal(entries), again=False)
        else:
            by_plan = table_by_plan(planned.plan, table)
            if by_plan.scale is None:
                raise click.UsageError(
                    "The plan has no scale, and one taken from the ratings would change from look to look: "
                    "give --scale LOW:HIGH."
                )
            ratings = load_ratings(file, by_plan)
            data = look_data(ratings, planned.plan, final=final)
            answer = _take(path, asked, ratings, data, start, planned.checksum)
    state, look = answer.state, answer.look
    if state.amended:
        note(f"The plan was amended after the first look; its looks are as they were. See {plan}.")
    if answer.again:
        note(f"This look was taken before, at the same ratings: {path} is as it was.")
    tell_of_secret(state, path, asked.secret)
    if pictures is not None:
        _draw(state.monitoring, pictures, force=force)
    if as_json:
        record = look_record(
            state.monitoring,
            look,
            planned.plan,
            ledger=path,
            seal=None if answer.seal is None else _seal_record(answer.seal),
            command=typed_command(),
        )
        say(to_json(record), nl=False)
    else:
        publish = None if answer.seal is None else answer.seal.statement
        say(look_text(state.monitoring, look, planned.plan, publish=publish))


def _seal_record(seal: LedgerSeal) -> dict[str, object]:
    return {"n_lines": seal.n_lines, "sha256": seal.sha256, "statement": seal.statement}


def _one_line(text: str) -> str:
    """A reason as the ledger holds it: bytes of the command line that are no text are shown as such."""
    return " ".join(text.encode("utf-8", "backslashreplace").decode().split())


def _take(
    path: str, asked: Asked, ratings: Ratings, data: LookData, start: Monitoring, checksum: str
) -> Answer:
    """Take a look under the ledger's lock, or find that it was taken at these ratings before."""
    if not Path(path).exists():
        _refuse_early(path, asked, data, start)  # what is refused leaves no file behind
    with open_ledger(path) as book:
        state = state_of(book.entries, start, checksum, place=path, scale=ratings.scale)
        if not book.entries:
            _refuse_early(path, asked, data, start)
        secret = secret_of_look(state, path, asked.secret, replace_lost=bool(asked.new_secret))
        renewed = state.secret is not None and state.secret != secret.fingerprint
        digests = row_digests(ratings, secret)
        rows = dict(digests)
        if not renewed:
            _check_rows(state, digests, ratings, path)
            looks = state.monitoring.looks
            if looks and rows == state.rows and data.final == looks[-1].data.final:
                return Answer(state, looks[-1], ledger_seal(book.entries), again=True)
        after, look = step(state.monitoring, data, unplanned=asked.unplanned)
        if renewed:
            look = replace(look, remarks=(*look.remarks, f"{UNCHECKED} ({asked.new_secret})"))
            after = replace(after, looks=(*after.looks[:-1], look))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        added: list[tuple[str, dict[str, Any]]] = []
        if not book.entries:
            added.append(("start", start_content(checksum, start, ratings.scale, secret.fingerprint)))
        if renewed:
            added.append(("secret", secret_content(secret.fingerprint, reason=asked.new_secret, time=now)))
        known = {} if renewed else state.rows
        new = {key: value for key, value in rows.items() if key not in known}
        added.append(("look", look_content(look, new_rows=new, time=now)))
        for kind, content in added:
            check_content(kind, content, place=path)
        book.extend(added)
        found = LedgerState(after, rows, amended=state.amended, secret=secret.fingerprint)
        return Answer(found, look, ledger_seal(book.entries), again=False)


def _refuse_early(path: str, asked: Asked, data: LookData, start: Monitoring) -> None:
    """Take a first look for trial, before any file is made."""
    _, look = step(start, data, unplanned=asked.unplanned)
    check_content("look", look_content(look, new_rows={}, time=""), place=path)


def _check_rows(state: LedgerState, digests: list[tuple[str, str]], ratings: Ratings, path: str) -> None:
    """Refuse data in which ratings of an earlier look have changed or vanished."""
    vanished, changed = changed_rows(state.rows, dict(digests))
    rules = []
    if changed:
        named = _names_of(set(changed), digests, ratings)
        rules.append(f"{_ratings(len(changed))} of an earlier look with another value now: {named}.")
    if vanished:
        rules.append(f"{_ratings(len(vanished))} of an earlier look missing now.")
    remedy = f"Looks build on each other: restore them. What was seen is sealed in {path}."
    if rules:
        raise InputError([Problem(rule, remedy, place=ratings.source) for rule in rules])


def _ratings(count: int) -> str:
    return "1 rating" if count == 1 else f"{count:,} ratings"


def _names_of(keys: set[str], digests: list[tuple[str, str]], ratings: Ratings) -> str:
    rows = [row for row, (place, _) in enumerate(digests) if place in keys]
    shown = [
        f"worker {ratings.worker_names[ratings.worker[row]]!r}, item "
        f"{ratings.item_names[ratings.item[row]]!r}, system {ratings.system_names[ratings.system[row]]!r}"
        for row in rows[:_MOST_NAMED]
    ]
    return "; ".join(shown) + (" and others" if len(rows) > _MOST_NAMED else "")


def _draw(state: Monitoring, directory: str, *, force: bool) -> None:
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.looks.figures import boundary_figure

    bounds = path_boundaries(state)
    path = [
        (look.fraction, estimate.z) for look, estimate in zip(state.looks, estimates(state), strict=True)
    ]
    figure = boundary_figure(bounds, information_shares=bounds.information, path=path)
    files = dict(zip(_PICTURES, (figure_bytes(figure, "png"), figure_bytes(figure, "svg")), strict=True))
    write_directory(directory, files, force=force)
    note(f"Written to {directory}: {', '.join(files)}")
