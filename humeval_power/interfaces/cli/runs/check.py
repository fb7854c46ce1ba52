"""`humeval-power runs check`: which kind of runs a table holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api import runs
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.runs.reading import Reading, read_table, reading_options

if TYPE_CHECKING:
    from humeval_power.reporting.runs.kind import RunsKindResult


@click.command("check", cls=Command)
@reading_options
@with_result()
def check(reading: Reading) -> RunsKindResult:
    """Say whether runs are nested in items or crossed with them.

    TABLE has one row for each item, system and run: generations of an answer
    are nested in items; prompts and seeds are crossed with them.
    """
    return runs.check(read_table(reading))
