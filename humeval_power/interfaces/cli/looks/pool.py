"""`humeval-power looks pool`: what looks would have saved on a pool of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from humeval_power.choices import POOL_BUDGETS
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import rejected_rows_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected
    from humeval_power.reporting.looks.results import LooksPoolResult


_PER_PAIR = 1000  # bytes of a pair of systems in memory


@click.command("pool", cls=Command)
@click.argument("file", required=False)
@click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]")
@click.option("--rating", metavar="COLUMN", help="Column of the score. [found by name]")
@rejected_rows_option
@click.option(
    "--simulated",
    type=WholeNumber(min=2),
    help="Instead of FILE: this many pairs with Gamma scores and Laplace differences.",
)
@click.option(
    "--typical-difference",
    type=RealNumber(0, 20, min_open=True),
    default=1.5,
    show_default=True,
    help="Mean absolute true difference of the simulated pairs, in points.",
)
@click.option(
    "--mean", type=RealNumber(), default=75.0, show_default=True, help="Mean score of simulated A."
)
@click.option("--sd", type=RealNumber(), default=25.0, show_default=True, help="SD of simulated scores.")
@click.option(
    "--budgets",
    metavar="LIST",
    callback=number_list(int),
    help=f"Planned judgements of a comparison, both systems together. [{','.join(map(str, POOL_BUDGETS))}]",
)
@click.option(
    "--at",
    metavar="LIST",
    callback=number_list(int),
    help="Budgets of a single look at which savings are told. [1200,3600]",
)
@click.option("--looks", type=WholeNumber(2, 10), default=3, show_default=True, help="Equal looks, Pocock.")
@with_run
@with_result()
def pool(
    file: str | None,
    system: str | None,
    rating: str | None,
    rejected_rows: Rejected | None,
    simulated: int | None,
    typical_difference: float,
    mean: float,
    sd: float,
    budgets: tuple[int, ...] | None,
    at: tuple[int, ...] | None,
    looks: int,
    run: Run,
) -> LooksPoolResult:
    """Average power against budget over many pairs of systems.

    Scores are drawn with replacement from those in FILE (a table with a column
    for the system and one for the score) for every pair of its systems, and
    tested by Mann and Whitney's U once, at Pocock's looks, and with a stop for
    futility at p > 0.5, as Wei, Kocmi and Federmann (2022) did.
    """
    if (file is None) == (simulated is None):
        raise click.UsageError("Give a FILE of past scores, or --simulated with a number of pairs.")
    from humeval_power.api import looks as api
    from humeval_power.api.looks import POOL_SIMULATIONS, POOL_TOLD_AT
    from humeval_power.scenarios.looks.pools import simulated_pool

    planned, n_simulations = budgets or POOL_BUDGETS, run.simulations(POOL_SIMULATIONS)
    if file is not None:
        from humeval_power.interfaces.cli.loading import read_decided
        from humeval_power.interfaces.formats.looks import score_pairs

        pairs = score_pairs(read_decided(file, rejected_rows), system=system, rating=rating)
        _tell_work(len(pairs), planned, n_simulations, run.slots)
    else:
        assert simulated is not None
        _tell_work(simulated, planned, n_simulations, run.slots)
        pairs = simulated_pool(simulated, typical=typical_difference, mean=mean, sd=sd)
    return api.pool(
        pairs,
        budgets=planned,
        at=at or POOL_TOLD_AT,
        n_looks=looks,
        source=file or "simulated",
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
    )


def _tell_work(n_pairs: int, budgets: Sequence[int], n_simulations: int, n_jobs: int) -> None:
    """Say how long the pool will take, or refuse it, before its pairs are made."""
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.workload import Workload, comparison_workload

    work = Workload(0.0, float(_PER_PAIR * n_pairs))
    for budget in budgets:
        each = comparison_workload("assessment", max(budget, 0), n_simulations=n_simulations)
        drawn = each.n_bytes * n_simulations  # they are drawn together
        work += Workload(each.seconds * n_pairs / n_jobs, drawn * n_jobs)
    tell_work(work, n_simulations=n_simulations)
