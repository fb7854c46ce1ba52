"""`humeval-power rank scores`: a leaderboard from scores of the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.options import alpha_option, seed_option
from humeval_power.interfaces.cli.rank.options import systems_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.rank.scores import ScoreRankResult


@click.command("scores", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]")
@click.option("--item", metavar="COLUMN", help="Column of the item. [found by name]")
@click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]")
@click.option("--score", metavar="COLUMN", help="Metric of a table with several. [the only one]")
@systems_option
@cluster_option
@click.option("--drop-missing", is_flag=True, help="Leave out items without a score of each system.")
@click.option("--lower-is-better", is_flag=True, help="The smallest mean is the best.")
@alpha_option
@seed_option
@with_result()
def scores_command(
    files: tuple[str, ...],
    item: str | None,
    system: str | None,
    score: str | None,
    systems: tuple[str, ...],
    cluster: str | None,
    drop_missing: bool,
    lower_is_better: bool,
    alpha: float,
    seed: int | None,
) -> ScoreRankResult:
    """Rank systems by their mean scores on the same items.

    FILE has one row an item and one column a system, or the columns item,
    system, score; or it is a log of a harness, or a folder of these.
    """
    from humeval_power.api import rank
    from humeval_power.inference.rank.leaderboard import DEFAULT_SEED
    from humeval_power.interfaces.formats.compare.reading import read_scores

    tables = read_scores(
        *files,
        item=item,
        system=system,
        scores=() if score is None else (score,),
        systems=systems,
        drop_missing=drop_missing,
        cluster=cluster,
    )
    return rank.scores(
        next(iter(tables.values())),
        lower_is_better=lower_is_better,
        alpha=alpha,
        seed=DEFAULT_SEED if seed is None else seed,
    )
