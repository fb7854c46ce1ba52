"""Options that say when a study is looked at and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Literal, get_args

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.inference.stopping_rule import StoppingRule
from humeval_power.inference.stopping_words import (
    EFFICACY_WORDS,
    FUTILITY_WORDS,
    efficacy_of,
    futility_of,
)
from humeval_power.interfaces.cli.options import Function, alpha_option
from humeval_power.interfaces.cli.study_options import number_list
from humeval_power.scenarios.looks import equal_looks

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
        text = self.looks.strip()
        try:
            if text.isdigit():
                return equal_looks("items", int(text)).shares
            return tuple(float(part) for part in text.split(","))
        except ValueError:
            raise click.UsageError(
                f"--looks is a number such as 3, or shares such as 0.5,0.75,1; got {text!r}."
            ) from None
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
        click.option(
            "--efficacy",
            metavar="RULE",
            default=efficacy,
            show_default=True,
            help=f"Boundaries of success: {', '.join(EFFICACY_WORDS)}.",
        ),
        click.option(
            "--futility",
            metavar="RULE",
            default="none",
            show_default=True,
            help=f"When to give up: {', '.join(FUTILITY_WORDS)}.",
        ),
        click.option(
            "--alternative",
            type=click.Choice(sides),
            default="two-sided",
            show_default=True,
            help="What to show: a difference in either direction, or B better than A.",
        ),
        alpha_option,
    )

    def decorate(command: Function) -> Function:
        @wraps(command)
        def gathered(*args: Any, **values: Any) -> Any:
            chosen = LooksOptions(**{field.name: values.pop(field.name) for field in fields(LooksOptions)})
            return command(*args, looks=chosen, **values)

        for option in reversed(options):
            gathered = option(gathered)
        return gathered

    return decorate


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
