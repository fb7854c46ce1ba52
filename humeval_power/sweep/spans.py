"""Replicates cut into blocks."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Replicates `first` to `first + n - 1`."""

    first: int
    n: int


def spans(total: int, size: int) -> list[Span]:
    """The first `total` replicates in spans of `size`, the last of them shorter."""
    return [Span(first, min(size, total - first)) for first in range(0, total, size)]
