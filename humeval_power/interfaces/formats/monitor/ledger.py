"""The ledger of looks: lines that are only ever added, each sealed with the one before.

A line counts once it is sealed and on the disk; what a killed process left after the last sealed line never
counted, and goes when the next one is written. Any other file is left as it is. The file itself is the
lock, so that two processes take turns.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.monitor.lines import (
    HEAD_LENGTH,
    Content,
    Entry,
    Lines,
    check_head,
    read_lines,
    sealed_line,
)
from humeval_power.interfaces.formats.monitor.secret import StudySecret
from humeval_power.interfaces.writing.disk import lock_handle, sync_directory

_BLOCK = 1 << 20


class Ledger:
    """An open ledger that this process alone may extend; made by `open_ledger`."""

    def __init__(self, handle: int, lines: Lines, place: str) -> None:
        self._handle = handle
        self._entries = list(lines.entries)
        self._length = lines.length
        self._open_end = lines.open_end
        self._place = place

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines so far, first to last."""
        return tuple(self._entries)

    def append(self, kind: str, content: Content, *, secret: StudySecret | None = None) -> Entry:
        """Add a line; when this returns, it is on the disk."""
        return self.extend([(kind, content)], secret=secret)[0]

    def extend(
        self, added: Sequence[tuple[str, Content]], *, secret: StudySecret | None = None
    ) -> list[Entry]:
        """Add lines, all or none, sealed with the secret of the study; when this returns, they are on the disk.

        Raises
        ------
        InputError
            The disk is full, for example. The ledger is as it was.
        """
        data = b"\n" if self._open_end else b""
        before = self._entries[-1] if self._entries else None
        entries = []
        for kind, content in added:
            line, before = sealed_line(kind, content, before, secret=secret)
            data += line
            entries.append(before)
        try:
            self._write(data)
        except OSError as error:
            rule = f"cannot be written: {error.strerror}. The look was not recorded."
            raise InputError([Problem(rule, "Make room, and take it again.", place=self._place)]) from None
        self._length += len(data)
        self._open_end = False
        self._entries += entries
        return entries

    def _write(self, data: bytes) -> None:
        os.ftruncate(self._handle, self._length)  # what was torn
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except BaseException:
            os.ftruncate(self._handle, self._length)
            raise


def ledger_path(plan_path: str, ledger: str | None) -> str:
    """The ledger of looks: as typed, or beside the plan."""
    return ledger or str(Path(plan_path).with_suffix(".looks.jsonl"))


@contextmanager
def open_ledger(path: str | Path) -> Iterator[Ledger]:
    """Lock the ledger, waiting for others, and give its lines; a missing file is made.

    A file that was made goes again if no line was added to it.

    Raises
    ------
    InputError
        A file that is no ledger, or a line that was changed or is missing.
    """
    place = Path(os.path.realpath(path))  # a link stays a link
    try:
        handle, made = _locked(place, str(path))
    except OSError as error:
        raise _cannot(path, "opened", error) from None
    book: Ledger | None = None
    try:
        book = Ledger(handle, read_lines(_read(handle, str(path)), str(path)), str(path))
        yield book
    finally:
        if made and (book is None or not book.entries):
            with suppress(OSError):
                place.unlink()
        os.close(handle)


def read_ledger(path: str | Path) -> tuple[Entry, ...]:
    """The lines of a ledger, without a lock; none where there is no file.

    Raises
    ------
    InputError
        A file that cannot be read or is no ledger, or a line that was changed or is missing.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _cannot(path, "read", error) from None
    try:
        _check_regular(handle, str(path))
        return read_lines(_read(handle, str(path)), str(path)).entries
    except OSError as error:
        raise _cannot(path, "read", error) from None
    finally:
        os.close(handle)


def _locked(place: Path, shown: str) -> tuple[int, bool]:
    """A handle of the file under that name, locked, and whether this made the file."""
    while True:
        handle, made = _opened(place)
        try:
            _check_regular(handle, shown)
            lock_handle(handle)
            if _is_there(handle, place):
                if made:
                    sync_directory(place.parent)
                return handle, made
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # while waiting, the one who made it took it away again


def _opened(place: Path) -> tuple[int, bool]:
    flags = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK
    try:
        return os.open(place, flags), False
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        return os.open(place, flags | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(place, flags), False


def _is_there(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(place))
    except FileNotFoundError:
        return False


def _check_regular(handle: int, place: str) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        rule = "is not a file that lines could be added to. It was left as it is."
        raise InputError([Problem(rule, "Name another --ledger.", place=place)])


def _read(handle: int, place: str) -> bytes:
    """All bytes of the file, if its first ones are those of a ledger."""
    os.lseek(handle, 0, os.SEEK_SET)
    parts = [os.read(handle, HEAD_LENGTH)]
    check_head(parts[0], place)
    while part := os.read(handle, _BLOCK):
        parts.append(part)
    return b"".join(parts)


def _cannot(path: str | Path, what: str, error: OSError) -> InputError:
    rule = f"cannot be {what}: {error.strerror}."
    return InputError([Problem(rule, "Name the ledger of this study: --ledger FILE.", place=str(path))])
