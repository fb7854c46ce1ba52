"""`humeval-power monitor`: a planned look at ratings that are still coming in."""

from __future__ import annotations

import datetime
from pathlib import Path

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.invocation import typed_command
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.monitor_text import look_text
from humeval_power.interfaces.cli.options import (
    TableOptions,
    force_option,
    json_option,
    quiet_option,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, write_directory
from humeval_power.interfaces.cli.plan_options import table_by_plan
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.interfaces.formats.look_entries import LedgerState, look_content, start_content, state_of
from humeval_power.interfaces.formats.look_ledger import ledger_path, open_ledger, read_ledger
from humeval_power.interfaces.formats.row_digests import row_digests
from humeval_power.planning.monitoring import (
    changed_rows,
    collected_information,
    collected_share,
    estimates,
    path_boundaries,
    step,
    study_monitoring,
)
from humeval_power.planning.monitoring_state import LookData, Monitoring, TakenLook
from humeval_power.planning.plan import Plan
from humeval_power.ratings import Ratings
from humeval_power.reporting.look_record import look_record

_MOST_NAMED = 5
_PICTURES = ("looks.png", "looks.svg")


@click.command("monitor")
@click.argument("file", metavar="[RATINGS]", required=False)
@table_options
@click.option("--plan", required=True, metavar="FILE", help="The plan with its looks.")
@click.option("--ledger", metavar="FILE", help="The ledger of looks. [beside the plan: plan.looks.jsonl]")
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
    is shown again, at other data it is refused.
    """
    from humeval_power.interfaces.formats.plan_file import read_plan_file

    if (file is None) is not status:
        raise click.UsageError("Give RATINGS for a look, or --status to see those taken.")
    if pictures is not None:  # before the look is taken, which cannot be undone
        refuse_to_overwrite([Path(pictures) / name for name in _PICTURES], force=force)
    with compiled_kernels():
        planned = read_plan_file(plan)
        start = study_monitoring(planned.plan)
        path = ledger_path(plan, ledger)
        if file is None:
            state = state_of(read_ledger(path), start, planned.checksum, place=path)
            look = state.monitoring.looks[-1] if state.monitoring.looks else None
            again = True
        else:
            by_plan = table_by_plan(planned.plan, table)
            if by_plan.scale is None:
                raise click.UsageError(
                    "The plan has no scale, and one taken from the ratings would change from look to look: "
                    "give --scale LOW:HIGH."
                )
            ratings = load_ratings(file, by_plan)
            data = _look_data(ratings, planned.plan, final=final)
            state, look, again = _take(path, ratings, data, start, planned.checksum, unplanned)
    if state.amended:
        note(f"The plan was amended after the first look; its looks are as they were. See {plan}.")
    if again and file is not None:
        note(f"This look was taken before, at the same ratings: {path} is as it was.")
    if pictures is not None:
        _draw(state.monitoring, pictures, force=force)
    if as_json:
        record = look_record(state.monitoring, look, planned.plan, ledger=path, command=typed_command())
        click.echo(to_json(record), nl=False)
    else:
        click.echo(look_text(state.monitoring, look, planned.plan))


def _take(
    path: str, ratings: Ratings, data: LookData, start: Monitoring, checksum: str, unplanned: str
) -> tuple[LedgerState, TakenLook, bool]:
    """Take a look under the ledger's lock, or find that it was taken at these ratings before."""
    digests = row_digests(ratings)
    rows = dict(digests)
    if not Path(path).exists():
        step(start, data, unplanned=unplanned)  # what is refused leaves no file behind
    with open_ledger(path) as book:
        state = state_of(book.entries, start, checksum, place=path, scale=ratings.scale)
        _check_rows(state, digests, ratings, path)
        looks = state.monitoring.looks
        if looks and rows == state.rows and data.final == looks[-1].data.final:
            return state, looks[-1], True
        after, look = step(state.monitoring, data, unplanned=unplanned)
        if not book.entries:
            book.append("start", start_content(checksum, start, ratings.scale))
        new = {key: value for key, value in rows.items() if key not in state.rows}
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        book.append("look", look_content(look, new_rows=new, data_sha256=ratings.sha256, time=now))
    return LedgerState(after, rows, amended=state.amended), look, False


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


def _look_data(ratings: Ratings, plan: Plan, *, final: bool) -> LookData:
    from humeval_power.estimation.fitting import fit
    from humeval_power.inference.difference_test import difference_test
    from humeval_power.inference.wald import effect_test

    rule = plan.rule
    if rule.analysis == "differences":
        tested = difference_test(ratings, rule)
    else:
        tested = effect_test(fit(ratings, estimator=rule.estimator), rule)
    return LookData(
        n_ratings=ratings.n_ratings,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        share=collected_share(plan, ratings),
        information=collected_information(plan, ratings),
        estimate=tested.estimate,
        standard_error=tested.standard_error,
        df=tested.df,
        p_value=tested.p_value,
        final=final,
    )


def _draw(state: Monitoring, directory: str, *, force: bool) -> None:
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.sequential_figures import boundary_figure

    bounds = path_boundaries(state)
    path = [
        (look.fraction, estimate.z) for look, estimate in zip(state.looks, estimates(state), strict=True)
    ]
    figure = boundary_figure(bounds, information_shares=bounds.information, path=path)
    files = dict(zip(_PICTURES, (figure_bytes(figure, "png"), figure_bytes(figure, "svg")), strict=True))
    write_directory(directory, files, force=force)
    note(f"Written to {directory}: {', '.join(files)}")
