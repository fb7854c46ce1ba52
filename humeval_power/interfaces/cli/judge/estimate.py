"""`humeval-power judge estimate`: a mean or a difference from human values and a judge's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api.judge import estimate
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import rejected_rows_option, seed_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.reporting.judge.result import JudgeEstimate

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected


@click.command("estimate", cls=Command)
@click.argument("file", metavar="TABLE")
@click.option("--systems", metavar="A,B", help="The two systems to compare; the effect is B - A.")
@rejected_rows_option
@click.option(
    "--confidence",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@seed_option
@with_result(JudgeEstimate)
def command(
    file: str, systems: str | None, rejected_rows: Rejected | None, confidence: float, seed: int | None
) -> JudgeEstimate:
    """Estimate with a judge's help: from a table of human values and judge scores.

    TABLE has a row for each rating or each output: 'item', 'judge', 'human'
    (blank where no human rated it) and, for a comparison, 'system'. Several
    rows of an output are averaged.
    """
    from humeval_power.interfaces.cli.loading import read_decided
    from humeval_power.interfaces.formats.judged import judged_values

    values = judged_values(read_decided(file, rejected_rows), systems)
    return estimate(
        values.human,
        values.judge,
        values.extra,
        estimated=values.what,
        confidence=confidence,
        seed=DEFAULT_SEED if seed is None else seed,
        remarks=values.notices,
    )
