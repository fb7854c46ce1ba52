"""`humeval-power judge estimate`: means and differences from human values and a judge's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import DEFAULT_SEED
from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.judge.table_options import (
    average_workers_option,
    confidence_option,
    typed_systems,
    worker_option,
)
from humeval_power.interfaces.cli.options import rejected_rows_option, seed_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected
    from humeval_power.reporting.judge.estimate import JudgeEstimate
    from humeval_power.reporting.judge.systems import JudgeSystems
    from humeval_power.reporting.judge.workers import JudgeWorkers


@click.command("estimate", cls=Command)
@click.argument("file", metavar="TABLE")
@click.option(
    "--systems", metavar="A,B", help="Systems to compare, two or more; the effect is B - A. [all]"
)
@click.option("--baseline", metavar="NAME", help="Compare each system with this one, not all pairs.")
@click.option("--own", metavar="A,B", help="Systems of the judge's own family: look for its bias.")
@worker_option
@average_workers_option
@cluster_option
@rejected_rows_option
@confidence_option
@seed_option
@with_result()
def command(
    file: str,
    systems: str | None,
    baseline: str | None,
    own: str | None,
    worker: str | None,
    average_workers: bool,
    cluster: str | None,
    rejected_rows: Rejected | None,
    confidence: float,
    seed: int | None,
) -> JudgeEstimate | JudgeWorkers | JudgeSystems:
    """Estimate with a judge's help: from a table of human values and judge scores.

    TABLE has a row for each rating or each output: 'item', 'judge', 'human'
    (blank where no human rated it) and, for a comparison, 'system'. With a
    column of workers the ratings are analysed by the rating model, the judge
    as a covariate of items; without, the ratings of an output are averaged.
    Three systems or more: all pairs, corrected by Holm.
    """
    from humeval_power.api.judged import estimate_table
    from humeval_power.interfaces.formats.judged import read_judged

    table = read_judged(
        file,
        worker=worker,
        cluster=cluster,
        average_workers=average_workers,
        rejected_rows=rejected_rows,
    )
    return estimate_table(
        table,
        systems=typed_systems(systems),
        baseline=baseline,
        own=typed_systems(own),
        confidence=confidence,
        seed=DEFAULT_SEED if seed is None else seed,
    )
