"""Options that say what happens to planned ratings: missing, quitting and careless workers."""

from __future__ import annotations

from typing import Any, get_args

import click

from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.option_groups import Function, collected
from humeval_power.simulation.losses import Exclusion, Losses

_SHARE = RealNumber(0, 1, max_open=True)
_LOSS_OPTIONS = (
    click.option("--lost", type=_SHARE, default=0.0, help="Share of ratings that are never given."),
    click.option("--quitting", type=_SHARE, default=0.0, help="Share of workers who quit midway."),
    click.option("--at-random", type=_SHARE, default=0.0, help="Share of workers who answer at random."),
    click.option(
        "--straight-lining", type=_SHARE, default=0.0, help="Share of workers with one answer for all."
    ),
    click.option(
        "--exclusion",
        type=click.Choice(get_args(Exclusion)),
        default="none",
        show_default=True,
        help="Workers left out before the fit: the careless ones (as if known), or the suspicious.",
    ),
)


def loss_options(command: Function) -> Function:
    """Add the options; the command gets them as `losses: Losses` and `exclusion: Exclusion`."""
    return collected(command, _LOSS_OPTIONS, name="losses", collect=_losses)


def _losses(values: dict[str, Any]) -> Losses:
    return Losses(
        missing=values.pop("lost"),
        quitting=values.pop("quitting"),
        at_random=values.pop("at_random"),
        straight_lining=values.pop("straight_lining"),
    )
