"""The smallest whole number for which something holds."""

from __future__ import annotations

from collections.abc import Callable


def smallest_true(test: Callable[[int], bool], lowest: int, highest: int) -> int | None:
    """Smallest value in the range for which a monotone test holds, None if there is none."""
    value, step = lowest, 1
    while value < highest and not test(value):
        value, step = min(value + step, highest), 2 * step
    if not test(value):
        return None
    low, high = max(lowest, value - step), value
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle + 1, high)
    return high
