"""`humeval-power accuracy test` and `estimate`: what a finished comparison shows."""

from __future__ import annotations

import click

from humeval_power.api import accuracy
from humeval_power.inference.accuracy import PairedCounts
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.reporting.accuracy.comparison import AccuracyEstimateResult, AccuracyTestsResult

labels_option = click.option("--labels", metavar="FILE", help="The right answers, one for each item.")
column_option = click.option(
    "--column", metavar="NAME", help="Column of the predictions in tables. [found by name]"
)


@click.command("test", cls=Command)
@click.argument("files", nargs=-1, metavar="[A B | TABLE]")
@labels_option
@column_option
@click.option("--only-b", "--b", type=WholeNumber(min=0), help="Items that B alone got right.")
@click.option("--only-a", "--c", type=WholeNumber(min=0), help="Items that A alone got right.")
@click.option("--n", type=WholeNumber(min=1), help="Items in all.")
@click.option("--both", type=WholeNumber(min=0), help="Items that both got right, if known.")
@alpha_option
@with_result(AccuracyTestsResult)
def test(
    files: tuple[str, ...],
    labels: str | None,
    column: str | None,
    only_b: int | None,
    only_a: int | None,
    n: int | None,
    both: int | None,
    alpha: float,
) -> AccuracyTestsResult:
    """Test a difference of accuracy in five ways, the recommended one first.

    From two files of predictions, A's and B's, and --labels; from --only-b,
    --only-a and --n; or from one TABLE with the columns b, c and n, where b
    counts the items that B alone got right, c those that A alone got right.
    """
    from humeval_power.interfaces.formats.accuracy import read_answers, read_counts

    if files and any(value is not None for value in (only_b, only_a, n, both)):
        raise click.UsageError("Give files or counts, not both.")
    if len(files) == 2:
        counts, remarks = read_answers(*files, labels=labels, column=column)
        return accuracy.test(counts, alpha=alpha, remarks=remarks)
    if len(files) == 1:
        return accuracy.test(read_counts(files[0]), alpha=alpha)
    if only_b is None or only_a is None or n is None:
        raise click.UsageError("Give two files of predictions, one table, or --only-b, --only-a and --n.")
    return accuracy.test(PairedCounts(only_b, only_a, n, both), alpha=alpha)


@click.command("estimate", cls=Command)
@click.argument("files", nargs=2, metavar="A B")
@labels_option
@column_option
@with_result(AccuracyEstimateResult)
def estimate(files: tuple[str, str], labels: str | None, column: str | None) -> AccuracyEstimateResult:
    """Accuracies, difference and agreement of two files of predictions.

    The agreement on a validation set is what `accuracy power --agreement` needs
    for the test set. Without --labels the files must say right or wrong (1, 0).
    """
    from humeval_power.interfaces.formats.accuracy import read_answers

    counts, remarks = read_answers(*files, labels=labels, column=column)
    return accuracy.estimate(counts, remarks=remarks)
