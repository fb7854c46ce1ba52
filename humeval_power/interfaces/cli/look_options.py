"""`--looks` and what goes with it: when data are looked at, and by which boundaries."""

from __future__ import annotations

from typing import Any, get_args

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.inference.stopping_words import EFFICACY_WORDS, FUTILITY_WORDS, efficacy_of, futility_of
from humeval_power.interfaces.cli.numbers import real_number, shortened
from humeval_power.interfaces.cli.option_groups import Function, collected
from humeval_power.planning.look_schedule import LookSchedule
from humeval_power.scenarios.looks import LookKind, Looks, equal_looks

DEFAULT_EFFICACY = "lan-demets-obrien-fleming"


def efficacy_option(default: str) -> Function:
    """--efficacy, where `default` is the boundary if none is typed."""
    return click.option(
        "--efficacy",
        metavar="RULE",
        default=default,
        show_default=True,
        help=f"Boundaries of success: {', '.join(EFFICACY_WORDS)}.",
    )


futility_option = click.option(
    "--futility",
    metavar="RULE",
    default="none",
    show_default=True,
    help=f"When to give up: {', '.join(FUTILITY_WORDS)}.",
)
_OPTIONS = (
    click.option(
        "--looks",
        metavar="K|LIST",
        help="Look at the data before the end: a number of equal looks, or shares such as 0.5,0.75,1.",
    ),
    click.option(
        "--looks-by",
        type=click.Choice([kind for kind in get_args(LookKind) if kind != "blocks"]),
        default="items",
        show_default=True,
        help="What comes in from look to look.",
    ),
    efficacy_option(DEFAULT_EFFICACY),
    futility_option,
)


def look_options(command: Function) -> Function:
    """Add the options of looks; the command gets them as `looks: LookSchedule | None`."""
    return collected(command, _OPTIONS, name="looks", collect=_wish)


def _wish(values: dict[str, Any]) -> LookSchedule | None:
    shares, kind = values.pop("looks"), values.pop("looks_by")
    efficacy, futility = values.pop("efficacy"), values.pop("futility")
    if shares is None:
        return None
    try:
        return LookSchedule(_looks(shares, kind), efficacy_of(efficacy), futility_of(futility))
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def _looks(text: str, kind: LookKind) -> Looks:
    found = Looks(kind, look_shares(text))
    if found.n_looks < 2:
        raise click.UsageError("One look is a plain study: leave out --looks, or give 2 or more.")
    return found


def look_shares(text: str) -> tuple[float, ...]:
    """What --looks says, a number of equal looks or their shares, as shares."""
    if text.strip().isdecimal():
        if len(text.strip()) > 4:
            raise click.UsageError(f"--looks: a study has a few looks; got {shortened(text)!r}.")
        return equal_looks("items", int(text)).shares
    try:
        return tuple(real_number(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"--looks is a number such as 3, or shares such as 0.5,0.75,1; got {shortened(text)!r}."
        ) from None
