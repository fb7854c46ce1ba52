"""`humeval-power judge agreement`: how well a judge agrees with people, beside how well they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.judge.table_options import confidence_option, typed_systems, worker_option
from humeval_power.interfaces.cli.options import rejected_rows_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected
    from humeval_power.reporting.judge.agreement import JudgeAgreement


@click.command("agreement", cls=Command)
@click.argument("file", metavar="TABLE")
@click.option("--systems", metavar="A,B", help="Agree about the differences B - A. [all outputs]")
@worker_option
@cluster_option
@rejected_rows_option
@confidence_option
@with_result()
def command(
    file: str,
    systems: str | None,
    worker: str | None,
    cluster: str | None,
    rejected_rows: Rejected | None,
    confidence: float,
) -> JudgeAgreement:
    """How well does a judge agree with people, and people with each other?

    TABLE has a row for each rating: 'item', 'worker', 'human', 'judge' and,
    where there are several, 'system'. Each worker is left out in turn: the
    mean of the others is the reference for that worker and for the judge.
    With --systems the differences B - A of items are correlated.
    """
    from humeval_power.api.judged import agreement
    from humeval_power.interfaces.formats.judged import read_judged

    table = read_judged(file, worker=worker, cluster=cluster, rejected_rows=rejected_rows)
    return agreement(
        table,
        systems=typed_systems(systems),
        confidence=confidence,
    )
