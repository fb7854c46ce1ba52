"""Words of an answer: powers of a hundred studies, small shares, differences and what they show."""

from __future__ import annotations

from humeval_power.reporting.numbers import percent


def of_hundred(power: float) -> str:
    """'40', to follow or precede 'of 100 such studies'; the ends are not claimed for what is close to them."""
    if power < 0.01:
        return "fewer than 1"
    return "more than 99" if power > 0.99 else f"{100 * power:.0f}"


def hundred_interval(low: float, high: float) -> str:
    """'38 to 42', of 100 studies."""
    return f"{100 * low:.0f} to {100 * high:.0f}"


def share_words(share: float) -> str:
    """A share in per cent; one that would be printed as zero is 'under 0.1 %'."""
    return "under 0.1 %" if 0 <= share < 0.0005 else percent(share)
