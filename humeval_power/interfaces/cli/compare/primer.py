"""`humeval-power compare primer` and `primer-table`: what the bootstrap primer would say, of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import MOST_PRIMER_ITEMS, PRIMER_EFFECTS, PRIMER_HURT, PRIMER_ITEMS
from humeval_power.interfaces.cli.family import ACCURACIES
from humeval_power.interfaces.cli.numbers import WholeNumber, number_list
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.compare.primer import PrimerCountsResult
    from humeval_power.reporting.compare.prospective import PrimerResult


def _joined(values: tuple[float, ...]) -> str:
    return ",".join(f"{value:g}" for value in values)


@click.command("primer-table", cls=Command)
@click.option(
    "--n",
    metavar="LIST",
    default=_joined(PRIMER_ITEMS),
    show_default=True,
    callback=number_list(int, least=2, most=MOST_PRIMER_ITEMS),
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
@with_result()
def primer_table_command(
    n: tuple[int, ...], effect: tuple[float, ...], hurt: tuple[float, ...]
) -> PrimerResult:
    """Expected p of the bootstrap primer, exactly.

    By number of items, difference of accuracy and share of items that B gets
    wrong and A right. The primer's p is one-sided and not centred at the null:
    read it as the primer does, not as a test.
    """
    from humeval_power.api import compare

    ACCURACIES.check(effect)
    return compare.primer_table(n, effects=effect, hurt=hurt)


@click.command("primer", cls=Command)
@click.option("--n", type=WholeNumber(min=1, max=MOST_PRIMER_ITEMS), required=True, help="Items in all.")
@click.option(
    "--helped", type=WholeNumber(min=0), required=True, help="Items on which B is right and A wrong."
)
@click.option(
    "--hurt", type=WholeNumber(min=0), required=True, help="Items on which A is right and B wrong."
)
@with_result()
def primer_command(n: int, helped: int, hurt: int) -> PrimerCountsResult:
    """The bootstrap primer's p of counts, exactly.

    Of items scored 0 or 1: how many B helped, and how many it hurt. With the
    picture of the resampled means, and what tests say of the same counts. For
    scores in a file: compare scores FILE --test primer --direction greater.
    """
    from humeval_power.api import compare

    return compare.primer(n, helped=helped, hurt=hurt)
