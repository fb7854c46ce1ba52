"""`humeval-power judge bias`: whether a judge prefers the outputs of its own family."""

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
    from humeval_power.reporting.judge.bias import JudgeBias


@click.command("bias", cls=Command)
@click.argument("file", metavar="TABLE")
@click.option("--own", metavar="A,B", required=True, help="Systems of the judge's own family.")
@click.option("--same-scale", is_flag=True, help="Judge and humans scored on the same scale.")
@worker_option
@cluster_option
@rejected_rows_option
@confidence_option
@with_result()
def command(
    file: str,
    own: str,
    same_scale: bool,
    worker: str | None,
    cluster: str | None,
    rejected_rows: Rejected | None,
    confidence: float,
) -> JudgeBias:
    """Does a judge prefer the outputs of its own family?

    TABLE has a row for each rating: 'item', 'system', 'human' and 'judge'.
    The judge's scores of its own systems and of others are held against what
    the human values make one expect. Some outputs need two ratings, so that
    their noise is known.
    """
    from humeval_power.api.judged import bias
    from humeval_power.interfaces.formats.judged import read_judged

    table = read_judged(file, worker=worker, cluster=cluster, rejected_rows=rejected_rows)
    return bias(
        table,
        typed_systems(own) or [],
        same_scale=same_scale,
        confidence=confidence,
    )
