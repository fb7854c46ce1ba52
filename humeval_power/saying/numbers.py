"""Numbers in words, the same everywhere: p-values, intervals, shares, counts, times; real minus signs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

MINUS = "\u2212"


_ROUNDING = 1e-14  # of differences and spreads of numbers near 1: what is smaller is 0 but for rounding


def without_rounding(value: float) -> float:
    """0 for an estimate that differs from it by errors of rounding alone, and for -0; else the number."""
    return 0.0 if abs(value) < _ROUNDING else value


def with_minus(text: str) -> str:
    """A number as text with a real minus sign."""
    return text.replace("-", MINUS)


def minus_of_numbers(text: str) -> str:
    """A sentence with real minus signs before numbers and in B - A; hyphens and values of options stay."""
    signs = re.sub(r"(--[\w-]+ )?(?<![\w=-])-(?=\d)", lambda match: match[0] if match[1] else MINUS, text)
    return signs.replace("B - A", f"B {MINUS} A")


def interval_words(low: float, high: float, *, digits: int = 4, signed: bool = False) -> str:
    """'0.0123 to 0.0456', 'none' where there is no such interval; `signed` writes the plus signs too."""
    if math.isnan(low):
        return "none"
    sign = "+" if signed else ""
    return f"{low:{sign}z.{digits}f} to {high:{sign}z.{digits}f}"


def level_of(confidence: float) -> str:
    """'95 %', as intervals are called."""
    return f"{100 * confidence:.4g} %"


def percent(share: float) -> str:
    """A share in words of a reader, with a digit more where it is small; 'unknown' where there is none."""
    if math.isnan(share):
        return "unknown"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.095 else f"{100 * share:.0f} %"


def counted(count: int, noun: str) -> str:
    """'1 item', '1,200 items', '2 batches'."""
    plural = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{plural}"


def in_words(names: Sequence[str], *, last: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'."""
    return f" {last} ".join([", ".join(names[:-1])] * (len(names) > 1) + list(names[-1:]))


def time_taken(seconds: float) -> str:
    """A time in words: '12 s', '3 min 5 s', '2 h 40 min'."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def decimals(value: float, digits: int) -> str:
    """A number with so many decimals, without a minus where all are 0; a dash where there is none, as for type M
    where nothing is found."""
    return f"{value:z.{digits}f}" if math.isfinite(value) else "-"


def share_decimals(share: float, digits: int) -> str:
    """A share with so many decimals; '< 0.001' for what would be printed as 0 and is more."""
    least = 10.0**-digits
    return f"< {least:.{digits}f}" if 0 < share < least / 2 else decimals(share, digits)


NO_P = "none"  # what a cell of p-values shows where there is none


def p_words(value: float) -> str:
    """A p-value as reports print it; 'no p-value' where it is missing."""
    cell = p_cell(value)
    if cell == NO_P:
        return "no p-value"
    return f"p {cell}" if cell.startswith("<") else f"p = {cell}"


def p_cell(value: float) -> str:
    """The same for a column of p-values."""
    if math.isnan(value):
        return NO_P
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def significant(value: float) -> str:
    """Four significant digits, for what has a scale of its own; '-' where it is not known."""
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return "-" if math.isnan(value) else f"{value:.4g}"


def significant_interval(low: float, high: float) -> str:
    """'0.1 to 0.3', 'above 0.1' where the other end is open, or '-' where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "-"
    if math.isinf(high) and math.isfinite(low):
        return f"above {significant(low)}"
    if math.isinf(low) and math.isfinite(high):
        return f"below {significant(high)}"
    return f"{significant(low)} to {significant(high)}"


POWER_LABEL, BY_FORMULA = "Power", "By formula"
_POWER_DIGITS = 3  # of a power


def power_words(power: float, interval: tuple[float, float] | None = None) -> str:
    """A power, with its interval where it was simulated.

    >>> power_words(0.7916), power_words(0.79, (0.768, 0.8141))
    ('0.792', '0.790 (0.768 to 0.814)')
    """
    reach = "" if interval is None else f" ({interval_words(*interval, digits=_POWER_DIGITS)})"
    return f"{decimals(power, _POWER_DIGITS)}{reach}"
