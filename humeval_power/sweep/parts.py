"""How far a block is while it is computed in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TELL: ContextVar[Callable[[float], None] | None] = ContextVar("part", default=None)


def part_done(share: float) -> None:
    """For the work of a block: so much of it is done. Only who waits for it in this process is told."""
    tell = _TELL.get()
    if tell is not None:
        tell(share)


@contextmanager
def hearing(tell: Callable[[float], None] | None) -> Iterator[None]:
    """Around the work of a block: who is told how far it is; None is nobody, within another block too."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)
