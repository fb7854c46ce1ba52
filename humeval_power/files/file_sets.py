"""Write files that belong together, or update one, so that a kill at any moment loses and mixes nothing.

Finished blocks in one file: an embedded database, which a kill at any moment leaves as it last was saved.

SQLite and not Parquet parts: blocks are finished one by one and small, a kill would leave thousands of files or
lose what waits to fill one, and asking for a block by its digest would need an index beside them. SQLite has
the index, undoes by itself what a killed run had begun to save, and is part of Python. One process writes:
it holds the folder (`PartialFolder`), so that the database needs no locks, which network disks often lack.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.files.disk import (
    STAGING,
    BusyError,
    Home,
    Journal,
    complete,
    digest,
    discard,
    finish_sets,
    keep_copy,
    lay_out,
    locked,
    move,
    old_name,
    remove_tree,
    rights_of,
    stream_number,
    sync_directory,
    take,
    way,
    write_new,
    write_stream,
)
from humeval_power.saying.numbers import time_taken
from humeval_power.sweep.versions import DamagedError, pack, unpack

STORE_SCHEMA = 1
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
        self._file.execute(f"PRAGMA user_version = {STORE_SCHEMA}")
        self._file.execute("COMMIT")

    def _check(self) -> None:
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        (verdict,) = self._file.execute("PRAGMA quick_check").fetchone()
        if version != STORE_SCHEMA or verdict != "ok":
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


# What can be written where: looked at before long work, and again before anything is changed.

_OTHER = "Choose another place."


def is_stream(path: str | Path) -> bool:
    """Whether this is no file that can be replaced: a device such as /dev/null, or a pipe."""
    place = Path(path)
    if stream_number(path) is not None:
        return True
    return place.exists() and not (place.is_file() or place.is_dir())


def check_targets(paths: Iterable[str | Path], *, force: bool) -> None:
    """Refuse files that cannot be written together.
    Raises InputError: all that is in the way: directories, files that are there already (unless `force`), two names
    for one file, what is protected from writing."""
    targets = [Path(path) for path in paths]
    problems = [*_twice(targets)]
    for path in targets:
        problems += _in_the_way(path)
    if problems:
        raise InputError([Problem(text, "") for text in dict.fromkeys(problems)])
    present = [str(path) for path in targets if path.is_file() and not is_stream(path)]
    if present and not force:
        verb = "exists" if len(present) == 1 else "exist"
        raise InputError(f"{', '.join(present)} {verb} already. Choose another name, or add --force.")


def _twice(paths: Sequence[Path]) -> Iterator[str]:
    """Two names that lead to one file, here or where capitals do not count."""
    seen: dict[str, Path] = {}
    for path in paths:
        if is_stream(path):
            continue
        place = os.path.realpath(path).casefold()
        if place in seen:
            same = str(path) == str(seen[place])
            both = f"Two files would be called {path}" if same else f"{seen[place]} and {path} are one file"
            if not same and os.path.realpath(path) != os.path.realpath(seen[place]):
                both = f"{seen[place]} and {path} differ in capitals alone, and are one file elsewhere"
            yield f"{both}; choose another name for one of them."
        seen.setdefault(place, path)


def _in_the_way(path: Path) -> Iterator[str]:
    if not path.name or path.is_dir():
        yield f"{path} is a directory; name a file."
    elif not is_stream(path):
        target = Path(os.path.realpath(path))
        blocking = next((above for above in target.parents if above.exists()), target)
        if not blocking.is_dir():
            yield f"{blocking} is a file, not a directory; choose another --output."
        elif not os.access(blocking, os.W_OK | os.X_OK):
            yield f"{path} cannot be written: there is no permission to write in {blocking}. {_OTHER}"
        elif target.is_file() and not os.access(target, os.W_OK):
            yield f"{path} is protected from writing. {_OTHER}"
        elif target.is_file() and _belongs_to_another(target):
            yield f"{path} belongs to somebody else, and {blocking} keeps files for their owners. {_OTHER}"


def _belongs_to_another(target: Path) -> bool:
    """Whether the directory lets only owners replace their files, as /tmp does."""
    above, user = target.parent.stat(), os.geteuid()
    owners = (target.stat().st_uid, above.st_uid, 0)
    return bool(above.st_mode & stat.S_ISVTX) and user not in owners and user != 0


Say = Callable[[str], None]
PRIVATE = 0o600


def silent(_remark: str) -> None:
    """Say nothing."""


def write_files(
    contents: Mapping[Path, str | bytes],
    *,
    force: bool,
    private: Collection[str | Path] = (),
    published: str | Path | None = None,
    first: Callable[[], None] | None = None,
    say: Say = silent,
) -> None:
    """Write files that belong together: after a kill at any moment all are as before, or all are new.

    contents : by path, in any directories; missing ones are made. A link stays a link. What is no file, such
        as /dev/null, gets its content once all others are on the disk, before they take their names.
    force : replace what is there.
    private : those of the files that nobody else may read; they are never written over.
    published : a folder that others will see; nothing unfinished ever lies in it.
    first : done once all is on the disk, before the files take their names; if it fails, nothing is written.
    say : told what a killed run had left, if it had.
    Raises InputError: something is in the way; nothing was written.
    """
    check_targets(contents, force=force)
    streams = {Path(path): _bytes(content) for path, content in contents.items() if is_stream(path)}
    files = {
        _real(path): _bytes(content) for path, content in contents.items() if Path(path) not in streams
    }
    hidden = {_real(path) for path in private}

    def handed_over() -> None:
        for stream, content in streams.items():
            write_stream(stream, content)
        if first is not None:
            first()

    with _held(files, None if published is None else _real(published), say) as (homes, completed):
        check_targets(private, force=False)
        same = {path for path in files if _holds(path, files[path], completed)}
        others = [path for path in contents if _real(path) not in same]
        check_targets(others, force=force)  # another process may have been quicker
        _put(homes, files, hidden, handed_over)


def update_file(path: str | Path, change: Callable[[], str | bytes], *, say: Say = silent) -> None:
    """Replace a file by what `change` makes of it; `change` reads it while no other process can write it."""
    target = _real(path)
    with _held([target], None, say) as (homes, _):
        content = _bytes(change())
        check_targets([path], force=True)
        _put(homes, {target: content}, set(), lambda: None)


def _holds(path: Path, content: bytes, completed: Collection[Path]) -> bool:
    """Whether a run that was killed at its very end, and completed only now, has left this very content."""
    return any(done in (path, *path.parents) for done in completed) and path.read_bytes() == content


@contextmanager
def _held(
    targets: Collection[Path], published: Path | None, say: Say
) -> Iterator[tuple[dict[Path, Home], list[Path]]]:
    """The homes of the targets, held for this process, and what an earlier run had left unfinished in them."""
    completed: list[Path] = []
    while True:
        homes = lay_out(targets, published=published)
        for home in homes:
            completed += finish_sets(home, say=say)
            if not os.access(home, os.W_OK):
                raise InputError(f"There is no permission to write in {home}.")
        with locked(homes):
            as_seen = lay_out(targets, published=published) == homes
            if as_seen and not any(os.path.lexists(home.staging) for home in homes.values()):
                yield homes, completed
                return


def _put(
    homes: Mapping[Path, Home],
    files: Mapping[Path, bytes],
    hidden: set[Path],
    first: Callable[[], None],
) -> None:
    journals: dict[Path, Journal] = {}
    made: list[Path] = []
    set_id = secrets.token_hex(16)
    try:
        for path, home in homes.items():
            os.mkdir(home.staging)
            made.append(path)
            digests = _stage(home, files, hidden)
            ways = tuple(way(path, other) for other in homes)
            journals[path] = Journal(set_id, ways, dict(home.moves), digests)
        first()
        for path in reversed(journals):  # that of the lead, the first, is the last to be written
            journals[path].write(homes[path].staging)
    except BaseException as error:
        discard(made)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            names = ", ".join(map(str, files)) or "standard output"
            raise HumevalPowerError(f"{names}: {error.strerror}. Nothing was written.") from None
        raise
    complete(journals)


def _stage(home: Home, files: Mapping[Path, bytes], hidden: set[Path]) -> dict[str, str]:
    """Write the parts of a home, and a second name for what they replace; the digest of each part."""
    for name, part in home.moves.items():
        if (home.path / name).is_file():
            keep_copy(home.path / name, home.staging / old_name(part))
    for part, target in home.parts.items():
        place = home.staging / part
        place.parent.mkdir(parents=True, exist_ok=True)
        new_and_hidden = target in hidden and not target.exists()
        write_new(place, files[target], rights=PRIVATE if new_and_hidden else rights_of(target))
        if place.parent != home.staging:
            sync_directory(place.parent)
    sync_directory(home.staging)
    return {part: digest(files[target]) for part, target in home.parts.items()}


def _real(path: str | Path) -> Path:
    """The path itself, without links on the way."""
    return Path(os.path.realpath(path))


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


# The folder `.NAME.partial` beside an output: what an unfinished run has finished, until the output is
# there.

# What a run was asked, so that a later one can tell whether it asks the same.

SCHEMA = "humeval_power/question/1"


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A command and all that its answer depends on.

    command : its name; `typed` is the line as it was typed, for print alone.
    options : what was said, by option: not where the answer goes, nor where it is computed.
    files : the SHA-256 of each file that was read, by its name.
    versions : of the programs that the digits depend on.
    """

    command: str
    typed: str
    options: dict[str, str]
    files: dict[str, str]
    versions: dict[str, str]

    def to_json(self) -> str:
        """The question as a document."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def of_json(cls, content: bytes) -> KeptQuestion:
        """The question that was written. Raises ValueError: no such document, or one of another version."""
        try:
            values = json.loads(content)
            if values.pop("schema") != SCHEMA:
                raise ValueError("another version")
            for name in ("options", "files", "versions"):
                values[name] = {str(key): str(value) for key, value in values[name].items()}
            return cls(**values)
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(str(error)) from None

    def changes(self, before: KeptQuestion) -> Iterator[str]:
        """In words, what is asked otherwise than before; not the versions."""
        if self.command != before.command:
            yield f"it is of {before.command!r}"
            return
        for name in dict.fromkeys([*before.options, *self.options]):
            now, was = self.options.get(name), before.options.get(name)
            if now != was:
                before_words = "was not given" if was is None else f"was {was}"
                yield f"{name} {before_words} and {'is not given now' if now is None else f'is {now} now'}"
        for name in dict.fromkeys([*before.files, *self.files]):
            if self.files.get(name) != before.files.get(name):
                read = "is not read now" if name not in self.files else "has other content"
                yield f"{name} {'was not read' if name not in before.files else read}"

    def other_versions(self, before: KeptQuestion) -> Iterator[str]:
        """In words, which versions are others than before."""
        for name in dict.fromkeys([*before.versions, *self.versions]):
            now, was = self.versions.get(name, "none"), before.versions.get(name, "none")
            if now != was:
                yield f"{name} was {was} and is {now}"


PATIENCE = 2.0  # seconds of work that are not worth a folder
QUESTION, BLOCKS = "question.json", "blocks.sqlite"
_OURS = {QUESTION, f"{QUESTION}.new", BLOCKS, f"{BLOCKS}-journal"}
_MOST_CHANGES = 3  # that are told


class UnfinishedWorkError(InputError):
    """What lies where unfinished work is kept cannot be gone on with; it is left as it is."""


def partial_of(output: Path) -> Path:
    """The folder that belongs to an output."""
    name = f".{output.name}.partial"
    return output.parent / (f".{output.name}.work.partial" if name == STAGING else name)


class PartialFolder:
    """A store of finished blocks, in a folder that comes to be after two seconds of work.

    Nothing is looked at before the first block is asked for: the files that the question depends on have been
    read by then, and a command that has no blocks never sees the folder.

    output : the file or folder that will have the answer.
    question : is called once, at the first block.
    tell : what is said while nothing is wrong; `warn`: what must be told in any case.
    """

    def __init__(self, output: Path, question: Callable[[], KeptQuestion], *, tell: Say, warn: Say) -> None:
        self.output, self.path = output, partial_of(output)
        self._ask, self._tell, self._warn = question, tell, warn
        self._began = time.monotonic()
        self._question: KeptQuestion | None = None
        self._waiting: dict[str, bytes] = {}
        self._store: BlockStore | None = None
        self._held: int | None = None
        self._is_kept = True

    def get(self, key: str) -> Any | None:
        """The result of a block that was finished before.
        Raises UnfinishedWorkError: the folder holds the work on another question, or is damaged, or no such folder;
        BusyError: another process works in it."""
        self._look()
        try:
            content = None if self._store is None else self._store.get(key)
            return None if content is None else unpack(content)
        except (DamagedStoreError, DamagedError):
            raise self._damaged() from None

    def put(self, key: str, result: Any) -> None:
        """Keep a result; raises as `get`."""
        self._look()
        if not self._is_kept:
            return
        try:
            content = pack(result)
        except DamagedError:
            return
        if self._store is None:
            self._waiting[key] = content
            if time.monotonic() - self._began > PATIENCE:
                self._make()
        else:
            self._keeping(lambda store: store.put(key, content))

    def save(self) -> bool:
        """Have on the disk what is finished; whether anything is kept there."""
        if self._store is not None and self._is_kept:
            self._keeping(BlockStore.save)
        return self._store is not None

    @property
    def seconds(self) -> float:
        """How long all runs together have worked for what is kept."""
        return 0.0 if self._store is None else self._store.seconds

    def close(self) -> None:
        """Let go of the folder, which stays."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def remove(self) -> None:
        """The answer is there: the folder goes. Without its question it counts for nothing already."""
        if self._store is not None:
            self._store.close()
            self._store = None
            self._clear()
        self.close()

    def _keeping(self, save: Callable[[BlockStore], None]) -> None:
        """Save, or say that no more can be saved; the run goes on."""
        assert self._store is not None
        try:
            save(self._store)
        except (OSError, DamagedStoreError) as error:
            self._is_kept = False
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(f"WARNING: finished work cannot be kept in {self.path} any more: {reason}.")

    def _look(self) -> None:
        """At the first block: is there a folder, and is it ours?"""
        if self._question is not None:
            return
        self._question = self._ask()
        if os.path.lexists(self.path) and self._open(self._question):
            self._tell(
                f"Going on where an earlier run was stopped: {time_taken(self.seconds)} of work in {self.path}."
            )

    def _open(self, question: KeptQuestion) -> bool:
        """Take the folder that is there; False where nothing in it counts any more."""
        self._held = self._taken()
        if self._held is None:
            return False
        if not (self.path / QUESTION).exists():
            self._refuse_strangers()
            self._clear()
            self.close()
            return False
        try:
            self._adopt(question)
        except BaseException:
            self.close()
            raise
        return True

    def _adopt(self, question: KeptQuestion) -> None:
        """Go on with what is in the folder, if it answers the same question."""
        try:
            before = KeptQuestion.of_json((self.path / QUESTION).read_bytes())
        except ValueError:
            raise self._damaged() from None
        self._refuse_other(question, before)
        try:
            self._store = BlockStore(self.path / BLOCKS)
        except DamagedStoreError:
            raise self._damaged() from None

    def _taken(self) -> int | None:
        """The folder held by this process alone; None if it went away meanwhile."""
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(status.st_mode):
            raise UnfinishedWorkError(
                f"{self.path} is in the way: unfinished work is kept in a folder of this name. Remove it, or "
                "choose another --output."
            )
        if status.st_uid not in (os.geteuid(), self.path.absolute().parent.stat().st_uid):
            raise UnfinishedWorkError(f"{self.path} belongs to somebody else. Choose another --output.")
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work and cannot be read and written. Change its rights, or choose "
                "another --output."
            )
        handle = take(self.path)
        if handle is None:
            raise BusyError(
                f"Another process is at work in {self.path} on the same output. Wait until it has ended, or choose "
                "another --output."
            )
        if not os.path.isdir(self.path):
            os.close(handle)
            return None
        return handle

    def _refuse_other(self, question: KeptQuestion, before: KeptQuestion) -> None:
        changes = list(question.changes(before))
        if changes:
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work on another question: {_some(changes)}. Choose another "
                "--output, remove the folder, or go on with it by typing its own line again. It was begun with: "
                f"{before.typed}"
            )
        versions = list(question.other_versions(before))
        if versions:
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work of other versions: {_some(versions)}. The two do not go "
                "together. Go on with the versions of before, choose another --output, or remove the folder."
            )

    def _make(self) -> None:
        """Make the folder with all that is finished so far; the question, which makes it count, comes last."""
        assert self._question is not None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            while self._held is None:
                with suppress(FileExistsError):
                    self.path.mkdir()
                self._held = self._taken()
            is_begun = (self.path / QUESTION).exists()  # by another run, meanwhile, that was stopped
            if is_begun:
                self._adopt(self._question)
            else:
                self._refuse_strangers()
                for name in _OURS:
                    (self.path / name).unlink(missing_ok=True)
                self._store = BlockStore(self.path / BLOCKS)
            assert self._store is not None
            for key, content in self._waiting.items():
                self._store.put(key, content)
            self._store.save()
            self._waiting.clear()
            if not is_begun:
                new = self.path / f"{QUESTION}.new"
                write_new(new, self._question.to_json().encode(), rights=rights_of(new))
                move(new, self.path / QUESTION)
                sync_directory(self.path)
        except (OSError, DamagedStoreError) as error:
            self._is_kept = False
            self._waiting.clear()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(
                f"WARNING: finished work cannot be kept in {self.path}: {reason}. A kill would lose it."
            )

    def _refuse_strangers(self) -> None:
        others = sorted(set(os.listdir(self.path)) - _OURS)
        if others:
            raise UnfinishedWorkError(
                f"{self.path} is in the way: it holds {_some(others)}, and is for unfinished work alone. Move it, "
                "or choose another --output."
            )

    def _clear(self) -> None:
        with suppress(FileNotFoundError):
            (self.path / QUESTION).unlink()
        with suppress(FileNotFoundError):
            remove_tree(self.path)

    def _damaged(self) -> HumevalPowerError:
        return UnfinishedWorkError(
            f"{self.path} holds unfinished work that is damaged, or of another version. Remove the folder to "
            "begin anew, or choose another --output."
        )


def _some(texts: list[str]) -> str:
    more = len(texts) - _MOST_CHANGES
    return "; ".join(islice(texts, _MOST_CHANGES)) + (f"; and {more} more" if more > 0 else "")
