"""`humeval-power compare primer-table`: what the bootstrap primer would say."""

from __future__ import annotations

import click

from humeval_power.api import compare
from humeval_power.interfaces.cli.family import ACCURACIES
from humeval_power.interfaces.cli.numbers import number_list
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.planning.compare.primer import PRIMER_EFFECTS, PRIMER_HURT, PRIMER_ITEMS
from humeval_power.reporting.compare.prospective import PrimerResult


def _joined(values: tuple[float, ...]) -> str:
    return ",".join(f"{value:g}" for value in values)


@click.command("primer-table", cls=Command)
@click.option(
    "--n",
    metavar="LIST",
    default=_joined(PRIMER_ITEMS),
    show_default=True,
    callback=number_list(int, least=2, most=1_000_000),
    help="Numbers of items.",
)
@click.option(
    "--effect",
    metavar="LIST",
    default=_joined(PRIMER_EFFECTS),
    show_default=True,
    callback=number_list(float, least=0, most=1),
    help="Differences of accuracy B - A, as shares.",
)
@click.option(
    "--hurt",
    metavar="LIST",
    default=_joined(PRIMER_HURT[::2]),
    show_default=True,
    callback=number_list(float, least=0, most=1),
    help="Shares of items on which B is wrong and A right.",
)
@with_result(PrimerResult)
def primer_command(n: tuple[int, ...], effect: tuple[float, ...], hurt: tuple[float, ...]) -> PrimerResult:
    """Expected p of the bootstrap primer, exactly.

    By number of items, difference of accuracy and share of items that B gets
    wrong and A right. The primer's p is one-sided and not centred at the null:
    read it as the primer does, not as a test.
    """
    ACCURACIES.check(effect)
    return compare.primer_table(n, effects=effect, hurt=hurt)
