"""Options that say when a study is looked at and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.inference.stopping_rule import StoppingRule
from humeval_power.inference.stopping_words import efficacy_of, futility_of
from humeval_power.interfaces.cli.look_options import efficacy_option, futility_option, look_shares
from humeval_power.interfaces.cli.numbers import number_list
from humeval_power.interfaces.cli.option_groups import Function, collected, fields_of
from humeval_power.interfaces.cli.options import alpha_option

Side = Literal["two-sided", "greater"]


@dataclass(frozen=True, slots=True)
class LooksOptions:
    """Looks and boundaries as typed."""

    looks: str
    efficacy: str
    futility: str
    alternative: Side
    alpha: float

    @property
    def at(self) -> tuple[float, ...]:
        """The shares at which the study is looked at, the last included."""
        try:
            return look_shares(self.looks)
        except HumevalPowerError as error:
            raise click.UsageError(str(error)) from None

    @property
    def rule(self) -> StoppingRule:
        """The stopping rule."""
        try:
            return StoppingRule(
                efficacy_of(self.efficacy), futility_of(self.futility), self.alpha, self.alternative
            )
        except HumevalPowerError as error:
            raise click.UsageError(str(error)) from None


def looks_options(*, efficacy: str, one_sided: bool = True) -> Callable[[Function], Function]:
    """A decorator that adds the options; the command gets them as `looks: LooksOptions`.

    efficacy : the boundary if none is typed; one_sided : whether a one-sided test can be had
    """
    sides: Sequence[str] = get_args(Side) if one_sided else ("two-sided",)
    options = (
        click.option(
            "--looks",
            metavar="K|LIST",
            default="3",
            show_default=True,
            help="A number of equal looks, the last included, or shares such as 0.5,0.75,1.",
        ),
        efficacy_option(efficacy),
        futility_option,
        click.option(
            "--alternative",
            type=click.Choice(sides),
            default="two-sided",
            show_default=True,
            help="What to show: a difference in either direction, or B better than A.",
        ),
        alpha_option,
    )

    return lambda command: collected(command, options, name="looks", collect=fields_of(LooksOptions))


effects_option = click.option(
    "--effects",
    metavar="LIST",
    callback=number_list(float),
    help="True effects for the table of the long run. [none, half and all of --effect]",
)
figures_option = click.option(
    "--figures", metavar="DIR", help="Directory for the pictures: boundaries, stopping, expected cost."
)


def effects_of(typed: tuple[float, ...] | None, effect: float) -> tuple[float, ...]:
    """The effects of the table: those typed, or none, half and all of the planned one."""
    return typed if typed is not None else tuple(dict.fromkeys((0.0, effect / 2, effect)))


def curve_of(effect: float) -> tuple[float, ...]:
    """The effects of the picture: 0 to 1.5 times the planned one."""
    return tuple(effect * step / 6 for step in range(10))
