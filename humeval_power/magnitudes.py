"""Which numbers can be computed with: their fourth powers, and sums of these, are still numbers."""

from __future__ import annotations

LARGEST = 1e75
SMALLEST = 1e-75  # of the largest of several numbers
MOST_COUNTED = 2**53  # up to which every whole number is a number of its own
TOO_LARGE = f"is larger than can be computed with, {LARGEST:g} in size."


def is_computable(value: float) -> bool:
    """Whether a number is finite and not too large for its powers."""
    return abs(value) <= LARGEST
