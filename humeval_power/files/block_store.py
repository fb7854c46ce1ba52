"""Finished blocks in one file: an embedded database, which a kill at any moment leaves as it last was saved.

SQLite and not Parquet parts: blocks are finished one by one and small, a kill would leave thousands of files or
lose what waits to fill one, and asking for a block by its digest would need an index beside them. SQLite has
the index, undoes by itself what a killed run had begun to save, and is part of Python. One process writes:
it holds the folder (`PartialFolder`), so that the database needs no locks, which network disks often lack.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

SCHEMA = 1
SAVE_EVERY = 1.0  # seconds: what a kill can lose at most, beside the blocks that are under way
_TABLES = (
    "CREATE TABLE blocks (key TEXT PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE runs (run INTEGER PRIMARY KEY, seconds REAL NOT NULL)",
)


class DamagedStoreError(ValueError):
    """A file that is no whole store of this version."""


class BlockStore:
    """The file, opened; `path` is made if it is not there.
    Raises DamagedStoreError: a file that is no store, or not whole, or of another version; OSError: a file that
    cannot be read or written."""

    def __init__(self, path: Path) -> None:
        is_new = not path.exists()
        self._began = self._saved = time.monotonic()
        self._waiting: dict[str, bytes] = {}
        try:
            self._file = sqlite3.connect(
                f"{path.absolute().as_uri()}?nolock=1", uri=True, isolation_level=None
            )
            if is_new:
                self._make()
            self._check()
            self._run = self._file.execute("INSERT INTO runs (seconds) VALUES (0.0)").lastrowid
        except sqlite3.Error as error:
            raise _as_said(error, path) from None
        self._path = path

    def _make(self) -> None:
        self._file.execute("PRAGMA journal_mode = TRUNCATE")
        self._file.execute("BEGIN")
        for table in _TABLES:
            self._file.execute(table)
        self._file.execute(f"PRAGMA user_version = {SCHEMA}")
        self._file.execute("COMMIT")

    def _check(self) -> None:
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        (verdict,) = self._file.execute("PRAGMA quick_check").fetchone()
        if version != SCHEMA or verdict != "ok":
            raise DamagedStoreError(f"version {version}, {verdict}")
        self._file.execute("PRAGMA journal_mode = TRUNCATE")
        self._file.execute("PRAGMA synchronous = FULL")

    def get(self, key: str) -> bytes | None:
        """What is kept under the key."""
        if key in self._waiting:
            return self._waiting[key]
        try:
            row = self._file.execute("SELECT result FROM blocks WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise _as_said(error, self._path) from None
        return None if row is None else row[0]

    def put(self, key: str, content: bytes) -> None:
        """Keep it; it is on the disk a second later at most, if others follow, or with `save`."""
        self._waiting[key] = content
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Have all on the disk when this returns."""
        self._saved = time.monotonic()
        try:
            if self._file.in_transaction:  # an interruption came while this was done before
                self._file.execute("ROLLBACK")
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR REPLACE INTO blocks VALUES (?, ?)", self._waiting.items())
            self._file.execute("UPDATE runs SET seconds = ? WHERE run = ?", (self._spent, self._run))
            self._file.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._file.execute("ROLLBACK")
            raise _as_said(error, self._path) from None
        self._waiting.clear()

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        """How long all runs have worked for what is kept."""
        (result,) = self._file.execute("SELECT sum(seconds) FROM runs").fetchone()
        return float(result)

    def __len__(self) -> int:
        """How many blocks are kept on the disk."""
        (count,) = self._file.execute("SELECT count(*) FROM blocks").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file, without saving what waits."""
        self._file.close()


def _as_said(error: sqlite3.Error, path: Path) -> Exception:
    """A full or protected disk is the system's; anything else is damage."""
    if isinstance(error, sqlite3.OperationalError):
        return OSError(None, str(error), str(path))
    return DamagedStoreError(str(error))
