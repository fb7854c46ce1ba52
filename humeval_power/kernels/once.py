"""A kernel is compiled once on a machine, however many processes come to need it at the same moment.

Numba looks in its cache, compiles what it does not find, and keeps that. Processes that start together all find
nothing and all compile. Here the first takes a lock for the kernel with arguments of these types, and the
others wait and then find what it has kept; one that needs it for other types compiles at the same time. Kernels
call kernels but never in a circle, so that nobody waits for one that waits for him.
"""

from __future__ import annotations

import os
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

_LOOK_EVERY = 0.02  # seconds between two tries to take a lock
_PATIENCE = 120.0  # seconds for a lock whose process compiles: one that was stopped keeps it for ever


class OncePerMachine:
    """Numba's cache of one kernel, with a lock of this machine from a miss until it is kept for these types.

    All types share one index, which is read, changed and written in turn: a second lock, held for that only.
    """

    def __init__(self, cache: Any, name: str) -> None:
        self._cache = cache
        self._name = name
        self._held: set[int] = set()

    def _place(self, signature: Any = "") -> int:
        """A byte of the lock file; no matter if two share one."""
        return zlib.crc32(f"{self._name}{signature}".encode())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel, or None: then it is this process that compiles it."""
        overload = self._kept(signature, target)
        place = self._place(signature)
        if overload is None and _lock(place):
            self._held.add(place)
            overload = self._kept(signature, target)
        return overload

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a kernel that was compiled; where the disk is full it serves this process alone."""
        _lock(self._place())
        try:
            with suppress(OSError):
                self._cache.save_overload(signature, compiled)
        finally:
            release(self._place())

    def _kept(self, signature: Any, target: Any) -> Any:
        """What is kept. What cannot be read is forgotten: it is damaged, or of a version with other classes."""
        try:
            return self._cache.load_overload(signature, target)
        except Exception:  # whatever unpickling came upon
            with suppress(OSError):
                self._cache.flush()
            return None

    def finished(self, signature: Any) -> None:
        """The kernel was found, or kept, or could not be compiled: let the others look."""
        place = self._place(signature)
        if place in self._held:
            self._held.remove(place)
            release(place)


def _lock(place: int) -> bool:
    """Wait for a byte of the lock file; False where there are no such locks, or who has it does not give it up:
    then everybody compiles."""
    end = time.monotonic() + _PATIENCE
    try:
        import fcntl

        while time.monotonic() < end:
            try:
                fcntl.lockf(_handle(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except BlockingIOError:
                time.sleep(_LOOK_EVERY)
            else:
                return True
    except (ImportError, OSError):
        pass
    return False


def release(place: int) -> None:
    """Let the next process look; also where nothing was locked."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.lockf(_handle(), fcntl.LOCK_UN, 1, place)


# The lock file, by process: what is opened before a fork is opened again after it.
_open: dict[int, int] = {}


def _handle() -> int:
    process = os.getpid()
    if process not in _open:
        user = os.getuid() if hasattr(os, "getuid") else 0
        path = Path(tempfile.gettempdir(), f"humeval-power-compiling-{user}.lock")
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        _open[process] = os.open(path, flags, 0o600)
    return _open[process]
