"""What depends on the operating system: locks that die with their process, and data that are on the disk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from humeval_power.errors import HumevalPowerError

PATIENCE = 60.0  # seconds that another process is waited for
_PAUSE = 0.02
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr")


class BusyError(HumevalPowerError):
    """Another process is writing there and does not end."""


@contextmanager
def locked(directories: Iterable[Path]) -> Iterator[None]:
    """Hold directories for this process alone, waiting for others; always taken in the same order.

    The lock is on the open directory itself: nothing is left behind, and it ends with the process.

    Raises
    ------
    BusyError
        Another process has held one of them for a minute.
    """
    with ExitStack() as held:
        for directory in sorted(set(directories)):
            held.enter_context(_locked(directory))
        yield


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    handle = _opened(directory)
    try:
        deadline = time.monotonic() + PATIENCE
        while not lock_handle(handle, wait=False):
            if time.monotonic() > deadline:
                raise BusyError(f"Another process is writing in {directory}. Try again when it has ended.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def take(directory: Path) -> int | None:
    """Hold a directory until the handle is closed, as `locked` does, without waiting; None if another process
    holds it."""
    handle = _opened(directory)
    if lock_handle(handle, wait=False):
        return handle
    os.close(handle)
    return None


def _opened(directory: Path) -> int:
    """The directory opened, or a file that stands for it where directories cannot be opened or locked."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except PermissionError:
        return _stand_in(directory)
    try:
        if lock_handle(handle, wait=False):
            return handle
    except OSError:  # a file system that locks files only
        os.close(handle)
        return _stand_in(directory)
    return handle


def _stand_in(directory: Path) -> int:
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]
    name = Path(tempfile.gettempdir(), f"humeval-power-{os.getuid()}-{digest}.lock")
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def lock_handle(handle: int, *, wait: bool = True) -> bool:
    """Lock an open file or directory until it is closed; whether it is held now."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def write_new(path: Path, content: bytes, *, rights: int) -> None:
    """A new file that is on the disk as a whole when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights & 0o666)
    try:
        _write(handle, content)
        if stat.S_IMODE(os.fstat(handle).st_mode) != rights:
            with suppress(PermissionError):  # a file system without rights
                os.fchmod(handle, rights)
        os.fsync(handle)
    finally:
        os.close(handle)


def write_stream(path: str | Path, content: bytes) -> None:
    """Hand the content to what is no file, such as /dev/null, /dev/stdout or a pipe."""
    number = stream_number(path)
    if number is not None:
        sys.stdout.flush()
    handle = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
    try:
        _write(handle, content)
    finally:
        os.close(handle)


def stream_number(path: str | Path) -> int | None:
    """The open file that a path such as /dev/stdout or /dev/fd/3 stands for."""
    if str(path) in _STREAMS:
        return _STREAMS.index(str(path))
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", str(path))
    return None if found is None else int(found[1])


def _write(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_directory(directory: Path) -> None:
    """A name is on the disk only when its directory is."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move(source: Path, target: Path) -> None:
    """Give a file or folder its name, in one step; a file that has it already is replaced."""
    os.replace(source, target)


def keep_copy(source: Path, copy: Path) -> None:
    """A second name for a file, or a copy where the file system has no second names."""
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, copy)


def remove_tree(folder: Path) -> None:
    """Remove a folder of ours with all that is in it."""
    for name in os.listdir(folder):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            os.unlink(path)
    os.rmdir(folder)


def rights_of(path: Path) -> int:
    """The rights that a file has, or would get as a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
