"""The ledger of looks: lines that are only ever added, each sealed with the one before.

A line counts once it ends with a newline and is on the disk; what a killed process left behind the last
newline never counted and is cut off by the next one. The file itself is the lock, so that two
processes take turns.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.reporting.records import json_ready

LEDGER_SCHEMA = "humeval_power/look_ledger/1"
_NOTHING_BEFORE = "0" * 64
_FIELDS = {"schema", "number", "previous", "kind", "content", "sha256"}
_RESTORE = "Restore the ledger from a copy; it is what proves when the data were looked at."

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `number` counts from 1, `sha256` seals the line and, through `previous`, all before."""

    number: int
    kind: str
    content: dict[str, Any]
    previous: str
    sha256: str


class Ledger:
    """An open ledger that this process alone may extend; made by `open_ledger`."""

    def __init__(self, handle: int, entries: list[Entry]) -> None:
        self._handle = handle
        self._entries = entries

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines so far, first to last."""
        return tuple(self._entries)

    def append(self, kind: str, content: Content) -> Entry:
        """Add a line; when this returns, it is on the disk."""
        previous = self._entries[-1].sha256 if self._entries else _NOTHING_BEFORE
        line, entry = _sealed(len(self._entries) + 1, kind, content, previous)
        data = line.encode()
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)
        self._entries.append(entry)
        return entry


def ledger_path(plan_path: str, ledger: str | None) -> str:
    """The ledger of looks: as typed, or beside the plan."""
    return ledger or str(Path(plan_path).with_suffix(".looks.jsonl"))


@contextmanager
def open_ledger(path: str | Path) -> Iterator[Ledger]:
    """Lock the ledger, waiting for others, and give its lines; a missing file is made.

    Raises
    ------
    InputError
        A line that was changed, or is missing.
    """
    import fcntl

    place = Path(path)
    made = not place.exists()
    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        whole, torn = _read(handle)
        if torn:
            os.ftruncate(handle, len(whole))
            os.fsync(handle)
        if made:
            _sync_directory(place.parent)
        yield Ledger(handle, _entries(whole, str(place)))
    finally:
        os.close(handle)


def read_ledger(path: str | Path) -> tuple[Entry, ...]:
    """The lines of a ledger, without a lock; none where there is no file.

    Raises
    ------
    InputError
        A file that cannot be read, or a line that was changed or is missing.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError([Problem(f"cannot be read: {error.strerror}.", "", place=str(path))]) from None
    return tuple(_entries(content[: content.rfind(b"\n") + 1], str(path)))


def _read(handle: int) -> tuple[bytes, bytes]:
    """The whole lines of the file, and what is left after them."""
    parts = []
    os.lseek(handle, 0, os.SEEK_SET)
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    content = b"".join(parts)
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def _sync_directory(directory: Path) -> None:
    """The name of a new file is on the disk only when its directory is."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _entries(content: bytes, place: str) -> list[Entry]:
    entries: list[Entry] = []
    for row, line in enumerate(content.split(b"\n")[:-1], start=1):
        previous = entries[-1].sha256 if entries else _NOTHING_BEFORE
        entry = _parsed(line)
        if entry is None or entry.number != row or entry.previous != previous:
            rule = "is not as it was written: the chain of looks is broken here."
            raise InputError([Problem(rule, _RESTORE, place=place, row=row)])
        entries.append(entry)
    return entries


def _parsed(line: bytes) -> Entry | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    if not isinstance(values, dict) or set(values) != _FIELDS or values["schema"] != LEDGER_SCHEMA:
        return None
    stated = values.pop("sha256")
    if hashlib.sha256(_canonical(values).encode()).hexdigest() != stated:
        return None
    return Entry(values["number"], values["kind"], values["content"], values["previous"], stated)


def _sealed(number: int, kind: str, content: Content, previous: str) -> tuple[str, Entry]:
    plain: Any = json_ready(dict(content))
    values = {
        "schema": LEDGER_SCHEMA,
        "number": number,
        "previous": previous,
        "kind": kind,
        "content": plain,
    }
    seal = hashlib.sha256(_canonical(values).encode()).hexdigest()
    line = _canonical({**values, "sha256": seal}) + "\n"
    return line, Entry(number, kind, plain, previous, seal)


def _canonical(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
