"""`humeval-power assessment decompose`: quality and noise in ratings, and what a metric could save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import DEFAULT_SEED, USUAL_CORRELATIONS
from humeval_power.interfaces.cli.numbers import WholeNumber, number_list
from humeval_power.interfaces.cli.options import TableOptions, seed_option, table_options
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.assessment.decomposed import Decomposition


@click.command("decompose", cls=Command)
@click.argument("file", metavar="RATINGS")
@table_options
@click.option(
    "--correlation",
    metavar="LIST",
    default=",".join(f"{each:g}" for each in USUAL_CORRELATIONS),
    show_default=True,
    callback=number_list(float),
    help="Correlations of a metric with true quality to look at.",
)
@click.option("--resamples", type=WholeNumber(min=1), help="Resamples of items for the intervals.")
@seed_option
@with_result()
def command(
    file: str,
    table: TableOptions,
    correlation: tuple[float, ...],
    resamples: int | None,
    seed: int | None,
) -> Decomposition:
    """How much of the variance of ratings is quality, and how much is noise?

    RATINGS is a table as 'check' reads it, in which outputs were judged more
    than once. A metric can explain quality only: what is left limits how many
    ratings any metric can save.
    """
    from humeval_power.api.assessment import decompose
    from humeval_power.inference.item_bootstrap import DEFAULT_RESAMPLES
    from humeval_power.interfaces.cli.loading import load_ratings

    return decompose(
        load_ratings(file, table, require_pair=False),
        correlations=correlation,
        resamples=resamples or DEFAULT_RESAMPLES,
        seed=DEFAULT_SEED if seed is None else seed,
    )
