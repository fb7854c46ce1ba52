"""`humeval-power check`: what is in a table of ratings, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api import runs
from humeval_power.api.ratings import check
from humeval_power.interfaces.cli.loading import reading
from humeval_power.interfaces.cli.options import TableOptions, modelled_table_options
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.formats.criteria import each_criterion
from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.reporting.study.check import CheckResult
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    from humeval_power.reporting.runs.kind import RunsKindResult

_UNSAID = TableOptions(None, None, None, None, None, None, None, None, lower_is_better=False, missing=())


@click.command("check", cls=Command)
@click.argument("file", metavar="FILE")
@modelled_table_options
@with_result(CheckResult)
def command(file: str, table: TableOptions) -> CheckResult | RunsKindResult:
    """Show what is in a table of ratings, and all that is wrong with it.

    FILE is CSV, TSV, JSON Lines, Parquet or Excel, with one rating per row;
    - is standard input. Columns that look like documents, sessions, an order of
    showing or time are named, with what leaving them out of the model would do.
    Ends with 0 if the table is fine, with 2 if not. Of scores without workers,
    in several runs, it says what kind of runs they are, as `runs check` does.
    """
    from humeval_power.interfaces.formats.runs import holds_runs, run_table

    found = read_rating_table(file)
    if table == _UNSAID and holds_runs(found):
        return runs.check(run_table(found))
    checked = each_criterion(found, **reading(table))
    told = []
    if len(checked) > 1:
        option = f"--criterion {shell_word(str(checked[0].criterion))}"
        told.append(f"{len(checked)} criteria, each by itself. To 'fit' one, name it: {option}")
    return check(checked, table=found.frame, remarks=told)
