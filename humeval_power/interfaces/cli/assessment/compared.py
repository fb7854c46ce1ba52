"""`humeval-power assessment test`: systems compared by independent ratings, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import ScoreTest
from humeval_power.interfaces.asking.options import SystemNames
from humeval_power.interfaces.cli.options import alpha_option, rejected_rows_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected
    from humeval_power.reporting.assessment.tested import RatedPairs


@click.command("test", cls=Command)
@click.argument("table", metavar="TABLE")
@click.option(
    "--test",
    type=click.Choice(get_args(ScoreTest)),
    default="mann-whitney",
    show_default=True,
    help="The two-sided test.",
)
@click.option(
    "--systems",
    metavar="A,B,...",
    type=SystemNames(),
    help="Systems to compare, A first. [all, by name]",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one only.")
@click.option("--by", metavar="COLUMN", help="Compare within each group, such as a language pair.")
@click.option(
    "--cluster", metavar="COLUMN", help="Ratings of one worker, item or document belong together."
)
@click.option("--criterion", metavar="NAME", help="Criterion to keep, where there are several.")
@click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]")
@click.option("--rating", metavar="COLUMN", help="Column of the rating. [found by name]")
@click.option("--worker", metavar="COLUMN", help="Column of the worker, if any. [found by name]")
@click.option("--item", metavar="COLUMN", help="Column of the item, if any. [found by name]")
@rejected_rows_option
@click.option("--no-continuity", is_flag=True, help="Mann-Whitney without the correction for continuity.")
@alpha_option
@with_result()
def command(
    table: str,
    test: ScoreTest,
    systems: tuple[str, ...] | None,
    baseline: str | None,
    by: str | None,
    cluster: str | None,
    criterion: str | None,
    system: str | None,
    rating: str | None,
    worker: str | None,
    item: str | None,
    rejected_rows: Rejected | None,
    no_continuity: bool,
    alpha: float,
) -> RatedPairs:
    """Are systems rated differently? Each pair by all ratings, taken as independent.

    TABLE has a row for each rating, with its system. All pairs of systems are
    tested; '-o pairs.csv' is a table that 'assessment observed-mde' reads.

    Nothing is paired, and workers have no level of their own: where the same
    workers rate many outputs the test is too bold. --cluster is robust to what
    ratings of one worker, or of one item, share; 'fit' and 'analyze' know both.
    """
    from humeval_power.api import assessment
    from humeval_power.interfaces.formats.assessment.rated import read_rated

    rated = read_rated(
        table,
        systems=systems,
        by=by,
        cluster=cluster,
        criterion=criterion,
        system=system,
        rating=rating,
        worker=worker,
        item=item,
        rejected_rows=rejected_rows,
    )
    return assessment.test(rated, test=test, baseline=baseline, continuity=not no_continuity, alpha=alpha)
