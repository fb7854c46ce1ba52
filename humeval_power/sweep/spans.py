"""Replicates cut into blocks."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Replicates `first` to `first + n - 1`."""

    first: int
    n: int


def spans(end: int, size: int, *, first: int = 0) -> list[Span]:
    """Replicates `first` to `end - 1` in spans of `size`, the last of them shorter."""
    return [Span(begin, min(size, end - begin)) for begin in range(first, end, size)]
