"""`humeval-power accuracy test` and `estimate`: what a finished comparison shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from humeval_power.api import accuracy
from humeval_power.interfaces.asking.options import SystemNames
from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.runs.instead import run_option, test_of_runs

if TYPE_CHECKING:
    from humeval_power.inference.accuracy.answers import Answers
    from humeval_power.reporting.accuracy.comparison import AccuracyTestsResult
    from humeval_power.reporting.accuracy.estimated import AccuracyEstimateResult
    from humeval_power.reporting.runs.test import RunsTestResult

labels_option = click.option(
    "--labels", metavar="FILE|COLUMN", help="The right answers: a file, or a column of the one table."
)
column_option = click.option(
    "--column", metavar="NAME", help="Column of the predictions in tables. [found by name]"
)
systems_option = click.option(
    "--systems",
    metavar="A,B",
    type=SystemNames(),
    help="Systems of one table, A first. [found by their looks]",
)


@click.command("test", cls=Command)
@click.argument("files", nargs=-1, metavar="[A B | TABLE]")
@labels_option
@column_option
@systems_option
@cluster_option
@run_option
@click.option("--only-b", "--b", type=WholeNumber(min=0), help="Items that B alone got right.")
@click.option("--only-a", "--c", type=WholeNumber(min=0), help="Items that A alone got right.")
@click.option("--n", type=WholeNumber(min=1), help="Items in all.")
@click.option("--both", type=WholeNumber(min=0), help="Items that both got right, if known.")
@alpha_option
@with_result()
def test(
    files: tuple[str, ...],
    labels: str | None,
    column: str | None,
    systems: tuple[str, ...] | None,
    cluster: str | None,
    run_column: str | None,
    only_b: int | None,
    only_a: int | None,
    n: int | None,
    both: int | None,
    alpha: float,
) -> AccuracyTestsResult | RunsTestResult:
    """Test a difference of accuracy, the recommended test first.

    From two files of predictions, A's and B's, and --labels; from one TABLE of
    answers, with a column for each system and one of the right answers, or a
    row for each item and system; from --only-b, --only-a and --n; or from one
    TABLE with the columns b, c and n, where b counts the items that B alone got
    right, c those that A alone got right.

    With --cluster items of a passage or a template count as belonging together.
    """
    if run_column is not None:
        return test_of_runs(files, run_column)
    given = any(value is not None for value in (only_b, only_a, n, both))
    if files and given:
        raise click.UsageError("Give files or counts, not both.")
    asked = {"labels": labels, "column": column, "systems": systems or (), "cluster": cluster}
    if len(files) == 2:
        return accuracy.test(_answers(files, asked), alpha=alpha)
    if len(files) == 1:
        return _of_table(files[0], asked, alpha)
    if files:
        raise click.UsageError("Name two files, or one table with a column for each system.")
    if only_b is None or only_a is None or n is None:
        raise click.UsageError("Give two files of predictions, one table, or --only-b, --only-a and --n.")
    if cluster is not None:
        raise click.UsageError(
            "Counts do not say which items belong together: --cluster needs the answers."
        )
    from humeval_power.inference.accuracy.counts import PairedCounts

    return accuracy.test(PairedCounts(only_b, only_a, n, both), alpha=alpha)


def _answers(files: Sequence[str], asked: Mapping[str, Any]) -> Answers:
    from humeval_power.interfaces.formats.accuracy.answers import read_answers

    return read_answers(*files, **asked)


def _of_table(path: str, asked: Mapping[str, Any], alpha: float) -> AccuracyTestsResult:
    """Counts of comparisons where the table has them and nothing is said of answers; else answers."""
    from humeval_power.interfaces.formats.accuracy.answers import answers_from
    from humeval_power.interfaces.formats.accuracy.results import counts_of, has_counts
    from humeval_power.interfaces.formats.tables import read_table

    table = read_table(path)
    if has_counts(table) and not any(asked.values()):
        return accuracy.test(counts_of(table), alpha=alpha)
    return accuracy.test(answers_from(table, path=path, **asked), alpha=alpha)


@click.command("estimate", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="[A B | TABLE]")
@labels_option
@column_option
@systems_option
@cluster_option
@with_result()
def estimate(
    files: tuple[str, ...],
    labels: str | None,
    column: str | None,
    systems: tuple[str, ...] | None,
    cluster: str | None,
) -> AccuracyEstimateResult:
    """Accuracies, difference and agreement of two systems.

    From two files of predictions, or one TABLE with a column for each system.
    The agreement on a validation set is what `accuracy power --agreement` needs
    for the test set. Without right answers the predictions must say right or
    wrong (1, 0).
    """
    if len(files) > 2:
        raise click.UsageError("Name two files, or one table with a column for each system.")
    asked = {"labels": labels, "column": column, "systems": systems or (), "cluster": cluster}
    return accuracy.estimate(_answers(files, asked))
