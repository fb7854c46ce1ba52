"""`--looks` and what goes with it: when data are looked at, and by which boundaries."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.inference.stopping_words import EFFICACY_WORDS, FUTILITY_WORDS, efficacy_of, futility_of
from humeval_power.planning.sequential_plan import LookWish
from humeval_power.scenarios.looks import LookKind, Looks, equal_looks

DEFAULT_EFFICACY = "lan-demets-obrien-fleming"

_OPTIONS = (
    click.option(
        "--looks",
        metavar="K|LIST",
        help="Look at the data before the end: a number of equal looks, or shares such as 0.5,0.75,1.",
    ),
    click.option(
        "--looks-by",
        type=click.Choice(get_args(LookKind)),
        default="items",
        show_default=True,
        help="What comes in from look to look; blocks are new workers with new items.",
    ),
    click.option(
        "--efficacy",
        default=DEFAULT_EFFICACY,
        show_default=True,
        metavar="RULE",
        help=f"Boundaries of success: {', '.join(EFFICACY_WORDS)}.",
    ),
    click.option(
        "--futility",
        default="none",
        show_default=True,
        metavar="RULE",
        help=f"When to give up: {', '.join(FUTILITY_WORDS)}.",
    ),
)


def look_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of looks; the command gets them as `looks: LookWish | None`."""

    @wraps(command)
    def gathered(*args: Any, **values: Any) -> Any:
        shares, kind = values.pop("looks"), values.pop("looks_by")
        efficacy, futility = values.pop("efficacy"), values.pop("futility")
        try:
            wish = (
                None
                if shares is None
                else LookWish(_looks(shares, kind), efficacy_of(efficacy), futility_of(futility))
            )
        except HumevalPowerError as error:
            raise click.UsageError(str(error)) from None
        return command(*args, looks=wish, **values)

    decorated: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _looks(text: str, kind: LookKind) -> Looks:
    if text.strip().isdigit():
        found = equal_looks(kind, int(text))
    else:
        try:
            shares = tuple(float(part) for part in text.split(","))
        except ValueError:
            raise click.UsageError(
                f"--looks is a number such as 3, or shares such as 0.5,0.75,1; got {text!r}."
            ) from None
        found = Looks(kind, shares)
    if found.n_looks < 2:
        raise click.UsageError("One look is a plain study: leave out --looks, or give 2 or more.")
    return found
