"""A folder for the time of one process: nobody else may look into it, and it is cleared away whatever happens."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "humeval-power-page-"


class PrivateFolder:
    """A temporary folder of mode 0700 that ends with `close`, or with the process.

    A killed process cannot clear up: its folder, which nobody holds any more, goes when the next one is made.

    Attributes
    ----------
    path : of the folder.
    """

    def __init__(self) -> None:
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _clear_if_left(left)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            held = _held(self.path)
            if held is not None and os.path.exists(
                self.path
            ):  # not cleared away by somebody who was quicker
                break
        self._handle = held
        atexit.register(self.close)

    def close(self) -> None:
        """Delete all of it; a second time does nothing."""
        atexit.unregister(self.close)
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle >= 0:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = -1


def _clear_if_left(folder: Path) -> None:
    """Delete a folder of this user's that no process holds."""
    try:
        about = folder.lstat()
    except OSError:
        return
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != _user():
        return
    handle = _held(folder)
    if handle is None or handle < 0:
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.close(handle)


def _held(folder: Path) -> int | None:
    """A handle that keeps the folder for this process; None where another has it, -1 where no locks are."""
    try:
        import fcntl
    except (
        ImportError
    ):  # Windows: folders of killed processes stay until its own clearing of temporary files
        return -1
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
