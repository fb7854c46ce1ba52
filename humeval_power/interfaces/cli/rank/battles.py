"""`humeval-power rank battles`: a leaderboard from battles of two systems at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import BattleTies
from humeval_power.interfaces.cli.options import alpha_option, seed_option
from humeval_power.interfaces.cli.rank.options import systems_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.rank.battles import BattleRankResult


@click.command("battles", cls=Command)
@click.argument("table")
@systems_option
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="Column of clusters of battles: user, worker, session. [that of the worker]",
)
@click.option(
    "--ties",
    type=click.Choice(get_args(BattleTies)),
    default="davidson",
    show_default=True,
    help="The model of ties.",
)
@click.option(
    "--position-bias/--no-position-bias",
    default=True,
    help="Estimate what being shown first adds. [yes]",
)
@alpha_option
@seed_option
@with_result()
def battles_command(
    table: str,
    systems: tuple[str, ...],
    cluster: str | None,
    ties: BattleTies,
    position_bias: bool,
    alpha: float,
    seed: int | None,
) -> BattleRankResult:
    """Rank systems by battles: Bradley and Terry's model with ties.

    TABLE has a battle a row: system_a (shown first, or left), system_b, winner
    (A, B, tie, or the name of the system), and perhaps worker or user, whose
    battles go together.
    """
    from humeval_power.api import rank
    from humeval_power.inference.rank.leaderboard import DEFAULT_SEED
    from humeval_power.interfaces.formats.rank import read_battles

    return rank.battles(
        read_battles(table, systems=systems, cluster=cluster),
        ties=ties,
        position_bias=position_bias,
        alpha=alpha,
        seed=DEFAULT_SEED if seed is None else seed,
    )
