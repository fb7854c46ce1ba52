"""Stop a write at its k-th change of the disk: as a kill does, as a full disk does, or as Ctrl-C does."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

CHANGES = ("mkdir", "open", "write", "fchmod", "fsync", "link", "replace", "unlink", "rmdir")


class Killed(BaseException):
    """The process is gone: from here on it changes nothing on the disk."""


@contextmanager
def changes_of_the_disk(at: Callable[[int, str], BaseException | None]) -> Iterator[list[str]]:
    """Ask `at` before each change of the disk, by its number, what goes wrong; gives the changes so far.

    A write that goes wrong has written half of its bytes.
    """
    seen: list[str] = []

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **named)
            error = at(len(seen), name)
            seen.append(name)
            if error is not None:
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise error
            # a killed process leaves to the system what it has written: waiting for the disk takes time only
            return None if name == "fsync" else real(*arguments, **named)

        return call

    with mock.patch.multiple(os, **{name: watched(name, getattr(os, name)) for name in CHANGES}):
        yield seen


def killed(moment: int) -> Callable[[int, str], BaseException | None]:
    """Nothing after the first `moment` changes reaches the disk."""
    return lambda number, _name: Killed() if number >= moment else None


def failing_once(moment: int, error: BaseException) -> Callable[[int, str], BaseException | None]:
    """One change goes wrong."""
    return lambda number, _name: error if number == moment else None


def no_space() -> OSError:
    """What a full disk says."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder by its place: the bytes of files, None for folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
