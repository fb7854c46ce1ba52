"""The numbers that options take: finite, of a sensible size, and refused with the rule they break.

Every numeric option has one of these types. What a single option allows besides is its own min and max;
what a computation can bear is for `workload` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import click

from humeval_power import fields
from humeval_power.fields import LARGEST, LARGEST_COUNT, SMALLEST, real_number, shortened, whole_number

__all__ = ["LARGEST", "LARGEST_COUNT", "LARGEST_SEED", "SMALLEST", "real_number", "shortened"]
LARGEST_SEED = 2**63 - 1


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
            number = whole_number(value, largest=self.largest)
        except ValueError as error:
            self.fail(str(error), param, ctx)
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


class Money(click.ParamType[Decimal]):
    """An amount or share, kept exactly as typed."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """Read a decimal number."""
        try:
            return fields.amount(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def number_list(
    kind: type[int] | type[float], *, least: int | None = None, most: int | None = None
) -> Callable[..., tuple[Any, ...] | None]:
    """A click callback for lists such as 3,10 and ranges such as 50:500:50 (end included); `least` and
    `most` are what a value may be."""
    parse = fields.number_list(kind, least=least, most=most)

    def read(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[Any, ...] | None:
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read
