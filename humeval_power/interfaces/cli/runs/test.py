"""`humeval-power runs test`: compare systems by repeated generations, prompts or seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.api import runs
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.runs.reading import Reading, read_table, reading_options
from humeval_power.rules import Alternative
from humeval_power.runs_parameters import RunsFamily, RunsKind

if TYPE_CHECKING:
    from humeval_power.reporting.runs.test import RunsTestResult


@click.command("test", cls=Command)
@reading_options
@click.option("--nested", "kind", flag_value="nested", help="Each item has runs of its own: generations.")
@click.option(
    "--crossed", "kind", flag_value="crossed", help="All items have the same runs: prompts, seeds."
)
@click.option(
    "--family",
    type=click.Choice(get_args(RunsFamily)),
    help="Numbers, or right and wrong. [binary if all are 0 or 1]",
)
@click.option(
    "--alternative",
    type=click.Choice(get_args(Alternative)),
    default="two-sided",
    show_default=True,
    help="What to show: a difference, B better, B not worse by --margin, or none as large as --margin.",
)
@click.option("--margin", type=RealNumber(), help="A difference of scores, in their unit.")
@alpha_option
@with_result()
def test(
    reading: Reading,
    kind: RunsKind | None,
    family: RunsFamily | None,
    alternative: Alternative,
    margin: float | None,
    alpha: float,
) -> RunsTestResult:
    """Compare systems by generations, prompts or seeds.

    TABLE has one row for each item, system and run. Of generations the items
    are the sample; prompts and seeds are a sample too. Written with -o, the
    record (.json) is the pilot that planning reads.
    """
    return runs.test(
        read_table(reading),
        kind=kind,
        family=family,
        alternative=alternative,
        margin=margin,
        alpha=alpha,
    )
