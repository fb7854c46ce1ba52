"""Options of simulated rating studies, and the work ahead of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import Method
from humeval_power.interfaces.asking.options import FurtherOption, field_option
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.run import Run

if TYPE_CHECKING:
    from humeval_power.planning.study.surface import Cell


PILOT = field_option("pilot", help="A table of ratings to estimate them from, as 'check' reads it.")
compat_option = click.option(
    "--compat",
    cls=FurtherOption,
    type=click.Choice(["card2020"]),
    help="Decide as Card et al. (2020): maximum likelihood, t > 1.96, and --effect is their "
    "coefficient under -1/+1 coding, which is HALF the difference B - A.",
)
half_width_option = click.option(
    "--half-width",
    cls=FurtherOption,
    type=RealNumber(0, 0.5, min_open=True, max_open=True),
    help="Simulate until the power is known to +- this.",
)
strict_option = click.option(
    "--strict", cls=FurtherOption, is_flag=True, help="End with 3 if more than 1 % of the fits failed."
)
method_option = click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="both",
    show_default=True,
    help="By formula at once, by simulation, or both beside each other.",
)


def tell_cells(cells: Sequence[Cell], run: Run, precision: float | None = None, *, times: int = 1) -> None:
    """Say how long the studies will take to simulate, or refuse them; `times`: the steps of a search."""
    from humeval_power.interfaces.cli.work_ahead import precise_simulations, tell_work
    from humeval_power.planning.power import MAX_SIMULATIONS
    from humeval_power.planning.study.strategies import workload

    most = precise_simulations(run.simulations(), precision, MAX_SIMULATIONS)
    work = workload(cells, n_simulations=times * most, n_jobs=run.slots)
    tell_work(work, n_simulations=most, way_out="--method analytic")
