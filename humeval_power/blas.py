"""Linear algebra on one thread, while replicates or tasks are what runs in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0  # blocks of this process that are running now, in any thread
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra on one thread: cores are for replicates and tasks, and sums of another thread count would
    differ in the last digit. The limit is the process's; it is lifted when the last block ends."""
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries takes a millisecond: once is enough."""
    return ThreadpoolController()
