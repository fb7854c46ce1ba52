"""`humeval-power contingency estimate` and `contingency test`: from labels of two systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SWAPS, ContingencyMetric
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import Function, alpha_option, decorated, seed_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.interfaces.formats.contingency import LabelTable
    from humeval_power.reporting.contingency.result import ContingencyEstimateResult
    from humeval_power.reporting.contingency.tested import ContingencyTestResult

metric_option = click.option(
    "--metric",
    type=click.Choice(get_args(ContingencyMetric)),
    default="f1",
    show_default=True,
    metavar="NAME",
    help="What is compared: f1, precision or recall (of the positive class), accuracy, balanced-accuracy, "
    "mcc, macro-f1 or micro-f1.",
)
positive_option = click.option(
    "--positive", metavar="LABEL", help="The positive class, for F1, precision and recall. [1]"
)


def _data_options(command: Function) -> Function:
    options = (
        click.argument("table", required=False, metavar="[TABLE]"),
        click.option(
            "--gold", metavar="FILE", required=True, help="True labels, one a line; of a TABLE its column."
        ),
        click.option(
            "--system-a", metavar="FILE", required=True, help="Predictions of A, one a line; or the column."
        ),
        click.option(
            "--system-b", metavar="FILE", required=True, help="Predictions of B; effects are B - A."
        ),
    )
    return decorated(command, options)


def _read(
    table: str | None, gold: str, system_a: str, system_b: str, cluster: str | None = None
) -> LabelTable:
    """From the columns of a table, or from files with a label a line."""
    from humeval_power.interfaces.formats.contingency import LabelTable, read_label_table
    from humeval_power.interfaces.formats.corpora import read_labels
    from humeval_power.interfaces.formats.item_clusters import read_cluster_lines

    if table is not None:
        return read_label_table(table, gold=gold, system_a=system_a, system_b=system_b, cluster=cluster)
    true, a, b = (tuple(lines) for lines in read_labels(gold, system_a, system_b))
    return LabelTable(true, a, b, None if cluster is None else read_cluster_lines(cluster, len(true)))


@click.command("estimate", cls=Command)
@_data_options
@positive_option
@with_result()
def estimate(
    table: str | None, gold: str, system_a: str, system_b: str, positive: str | None
) -> ContingencyEstimateResult:
    """How do two systems err together: joint tables and every metric, from labels.

    Power depends on how often the systems differ, class by class. The commands
    power, mde, size and surface take these tables with the same three files.
    Of one TABLE the three options name columns.
    """
    from humeval_power.api import contingency

    return contingency.estimate(*_read(table, gold, system_a, system_b).labels, positive=positive)


@click.command("test", cls=Command)
@_data_options
@metric_option
@positive_option
@click.option(
    "--swaps",
    type=WholeNumber(min=1),
    default=DEFAULT_SWAPS,
    show_default=True,
    help="Random swaps, for more than two classes or for clusters.",
)
@click.option(
    "--cluster", metavar="FILE", help="Clusters of items (passage): a name a line; or the column."
)
@alpha_option
@seed_option
@with_result()
def test(
    table: str | None,
    gold: str,
    system_a: str,
    system_b: str,
    metric: ContingencyMetric,
    positive: str | None,
    swaps: int,
    cluster: str | None,
    alpha: float,
    seed: int | None,
) -> ContingencyTestResult:
    """Is B better than A: the paired randomisation test of F1, MCC and the like.

    Exchanges the two predictions of a random half of the items and counts how
    often the systems then differ as much as A and B do. With two classes every
    exchange is counted, without drawing any. With --cluster whole clusters are
    exchanged: the items of a passage stay together. Of one TABLE the options name
    columns.
    """
    from humeval_power.api import contingency

    read = _read(table, gold, system_a, system_b, cluster)
    return contingency.test(
        *read.labels,
        clusters=read.clusters,
        suspects=read.suspects,
        metric=metric,
        positive=positive,
        n_swaps=swaps,
        alpha=alpha,
        seed=DEFAULT_SEED if seed is None else seed,
    )
