"""Who wants to know when a kernel is compiled. Importing this costs nothing: Numba is not needed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], None]

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within the block, call `listener` with the name of each kernel that is about to be compiled. It may be
    called from any thread, but never twice at once."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def announce(name: str) -> None:
    """Tell every listener that the kernel `name` is being compiled."""
    for listener in list(_listeners):
        listener(name)
