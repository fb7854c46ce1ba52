"""The numbers that options take: finite, of a sensible size, and refused with the rule they break.

Every numeric option has one of these types. What a single option allows besides is its own min and max;
what a computation can bear is for `workload` to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

LARGEST_COUNT = 10**9
LARGEST_SEED = 2**63 - 1
LARGEST, SMALLEST = 1e9, 1e-9  # sizes of numbers other than 0
MOST_VALUES = 10_000  # of a list


class WholeNumber(click.IntRange):
    """A count: a whole number of at most a billion, or of at most `max`."""

    def __init__(
        self, min: int | None = None, max: int | None = None, *, largest: int = LARGEST_COUNT
    ) -> None:
        super().__init__(min, max)
        self.name = "integer" if min is None and max is None else "integer range"
        self.largest = largest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number within the limits."""
        try:
            number = int(value)
        except (ValueError, TypeError, OverflowError):
            self.fail(f"give a whole number such as 20; got {str(value)[:40]!r}.", param, ctx)
        if abs(number) > self.largest:
            self.fail(
                f"give a whole number of at most {self.largest:,}; got {shortened(value)}.", param, ctx
            )
        return int(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class RealNumber(click.FloatRange):
    """A finite number: 0, or of a size between a billionth and a billion."""

    def __init__(
        self,
        min: float | None = None,
        max: float | None = None,
        *,
        min_open: bool = False,
        max_open: bool = False,
    ) -> None:
        super().__init__(min, max, min_open=min_open, max_open=max_open)
        self.name = "float" if min is None and max is None else "float range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number within the limits."""
        try:
            number = real_number(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return float(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


def real_number(value: Any) -> float:
    """A finite number of a sensible size.

    Raises
    ------
    ValueError
        With the rule that it breaks.
    """
    try:
        number = float(value)
    except (ValueError, TypeError):
        raise ValueError(f"give a number such as 0.05; got {str(value)[:40]!r}.") from None
    if not math.isfinite(number):
        raise ValueError(f"give a finite number; got {shortened(value)}.")
    if abs(number) > LARGEST or 0 < abs(number) < SMALLEST:
        raise ValueError(
            f"give 0, or a number of a size between {SMALLEST:g} and {LARGEST:g}; got {shortened(value)}."
        )
    return number + 0.0  # no negative zero


def number_list(
    kind: type[int] | type[float], *, least: int | None = None, most: int | None = None
) -> Callable[..., tuple[Any, ...] | None]:
    """A click callback for lists such as 3,10 and ranges such as 50:500:50 (end included); `least` and
    `most` are what a value may be."""

    def parse(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[Any, ...] | None:
        if text is None:
            return None
        single: click.ParamType[Any] = (
            WholeNumber(largest=most or LARGEST_COUNT) if kind is int else RealNumber()
        )
        values: list[Any] = []
        for part in text.split(","):
            bounds = _bounds(part.strip(), kind, text)
            values += _range_values([single.convert(each, option, ctx) for each in bounds], kind, text)
            if len(values) > MOST_VALUES:
                raise click.BadParameter(_TOO_MANY.format(shortened(text)))
        if least is not None and min(values) < least:
            raise click.BadParameter(f"give numbers of at least {least}; got {shortened(min(values))}.")
        if kind is float and most is not None and max(values) > most:
            raise click.BadParameter(f"give numbers of at most {most}; got {shortened(max(values))}.")
        return tuple(dict.fromkeys(values))

    return parse


_TOO_MANY = "a list may have 10,000 values; {} has more. Take a larger step, such as 50:500:50."


def _bounds(part: str, kind: type[int] | type[float], text: str) -> list[int | float]:
    try:
        return [kind(piece) for piece in part.split(":")]
    except (ValueError, OverflowError):
        raise _wrong(kind, text) from None


def _range_values(bounds: list[Any], kind: type[int] | type[float], text: str) -> list[Any]:
    if len(bounds) == 1:
        return bounds
    if len(bounds) == 2 and kind is int:
        bounds.append(1)
    if len(bounds) != 3 or bounds[2] <= 0 or bounds[1] < bounds[0]:
        raise _wrong(kind, text)
    first, last, step = bounds
    count = int((last - first) / step + 1e-9) + 1
    if count > MOST_VALUES:
        raise click.BadParameter(_TOO_MANY.format(shortened(text)))
    return [kind(round(first + i * step, 12)) for i in range(count)]


def _wrong(kind: type[int] | type[float], text: str) -> click.BadParameter:
    wanted = "whole numbers such as 3,10 or 2:40 or 50:500:50"
    if kind is float:
        wanted = "numbers such as 0.05,0.1 or 0.05:0.2:0.05"
    return click.BadParameter(f"give {wanted}; got {shortened(text)!r}.")


def shortened(value: Any) -> str:
    """What was typed, at most 40 characters of it."""
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
