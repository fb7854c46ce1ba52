"""Options that say when a study is looked at and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from humeval_power.choices import LookKind
from humeval_power.errors import HumevalPowerError
from humeval_power.fields import word
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.numbers import real_number, shortened
from humeval_power.interfaces.cli.options import Function, alpha_option, collected, fields_of

if TYPE_CHECKING:
    from humeval_power.inference.looks.stopping_rule import StoppingRule
    from humeval_power.planning.looks.schedule import LookSchedule
    from humeval_power.scenarios.looks.looks import Looks


def _boundaries(efficacy: str) -> tuple[Function, ...]:
    """--efficacy, where `efficacy` is the boundary if none is typed, and --futility."""
    return field_option("efficacy", usual=efficacy), field_option("futility")


_TWO_KINDS = tuple(kind for kind in get_args(LookKind) if kind != "blocks")
_OPTIONS = (
    field_option("looks"),
    field_option("looks_by", kind=word(_TWO_KINDS), help="What comes in from look to look."),
    *_boundaries("lan-demets-obrien-fleming"),
)


def look_options(command: Function) -> Function:
    """Add the options of looks; the command gets them as `looks: LookSchedule | None`."""
    return collected(command, _OPTIONS, name="looks", collect=_wish)


def _wish(values: dict[str, Any]) -> LookSchedule | None:
    shares, kind = values.pop("looks"), values.pop("looks_by")
    efficacy, futility = values.pop("efficacy"), values.pop("futility")
    if shares is None:
        return None
    from humeval_power.inference.looks.stopping_words import efficacy_of, futility_of
    from humeval_power.planning.looks.schedule import LookSchedule

    try:
        return LookSchedule(_looks(shares, kind), efficacy_of(efficacy), futility_of(futility))
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def _looks(text: str, kind: LookKind) -> Looks:
    from humeval_power.scenarios.looks.looks import Looks

    found = Looks(kind, look_shares(text))
    if found.n_looks < 2:
        raise click.UsageError("One look is a plain study: leave out --looks, or give 2 or more.")
    return found


def look_shares(text: str) -> tuple[float, ...]:
    """What --looks says, a number of equal looks or their shares, as shares."""
    from humeval_power.scenarios.looks.looks import equal_looks

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
        from humeval_power.inference.looks.stopping_rule import StoppingRule
        from humeval_power.inference.looks.stopping_words import efficacy_of, futility_of

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
        field_option("looks", usual="3"),
        *_boundaries(efficacy),
        field_option(
            "alternative",
            kind=word(sides),
            help="What to show: a difference in either direction, or B better than A.",
        ),
        alpha_option,
    )

    return lambda command: collected(command, options, name="looks", collect=fields_of(LooksOptions))
