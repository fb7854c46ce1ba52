"""What depends on the operating system: locks that die with their process, and data that are on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from humeval_power.errors import HumevalPowerError, InputError

PATIENCE = 60.0  # seconds that another process is waited for
_PAUSE = 0.02
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr")


class BusyError(HumevalPowerError):
    """Another process is writing there and does not end."""


@contextmanager
def locked(directories: Iterable[Path]) -> Iterator[None]:
    """Hold directories for this process alone, waiting for others; always taken in the same order.

    The lock is on the open directory itself: nothing is left behind, and it ends with the process.
    Raises BusyError: another process has held one of them for a minute.
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
    match = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", str(path))
    return None if match is None else int(match[1])


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


# The journal of a set of files: once it is there, the set counts as written and will be completed.

JOURNAL_SCHEMA = "humeval_power/unfinished/1"
JOURNAL = "journal.json"


@dataclass(frozen=True, slots=True)
class Journal:
    """What is to be moved from a staging folder to the directory around it.

    homes : all directories of the set, the lead first, as ways from this one.
    moves : the staged name by the name that it gets.
    digests : SHA-256 of every staged file.
    """

    set_id: str
    homes: tuple[str, ...]
    moves: Mapping[str, str]
    digests: Mapping[str, str]

    @property
    def is_lead(self) -> bool:
        """Whether the set counts because of this journal."""
        return self.homes[0] == "."

    def write(self, staging: Path) -> None:
        """Put the journal on the disk, as a whole."""
        values = {
            "schema": JOURNAL_SCHEMA,
            "set": self.set_id,
            "homes": list(self.homes),
            "moves": dict(self.moves),
            "sha256": dict(self.digests),
        }
        text = json.dumps(values, indent=1) + "\n"
        write_new(staging / f"{JOURNAL}.new", text.encode(), rights=rights_of(staging / JOURNAL))
        move(staging / f"{JOURNAL}.new", staging / JOURNAL)
        sync_directory(staging)


def read_journal(staging: Path) -> Journal | None:
    """The journal of a staging folder; None where there is none, so that the set does not count.
    Raises InputError: a journal that was not written by this package."""
    try:
        content = (staging / JOURNAL).read_bytes()
    except FileNotFoundError:
        return None
    try:
        values = json.loads(content)
        if values["schema"] != JOURNAL_SCHEMA or not values["homes"]:
            raise ValueError
        return Journal(
            str(values["set"]),
            tuple(map(str, values["homes"])),
            {_below(name): _below(part) for name, part in values["moves"].items()},
            {_below(part): str(digest) for part, digest in values["sha256"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged(staging) from None


def damaged(staging: Path) -> InputError:
    """The error for a set that can neither be completed nor undone."""
    return InputError(
        f"{staging.parent} has a set of files that was not finished, and what is left of it is damaged. Remove "
        f"the folder {staging} and write the files again."
    )


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def way(start: Path, end: Path) -> str:
    """How to come from one directory to another; it still holds when both are moved together."""
    return os.path.relpath(end, start)


def _below(name: Any) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts:
        raise ValueError
    return str(path)


# Where the files of a set are staged, and under which names they come to be.

STAGING = ".humeval-power.partial"


@dataclass(slots=True)
class Home:
    """A directory in which names appear or change.

    moves : the name in the staging folder by the name that it gets in this directory.
    parts : the target of each staged file, by its place in the staging folder.
    """

    path: Path
    moves: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Path] = field(default_factory=dict)

    @property
    def staging(self) -> Path:
        """The folder for what is not finished yet."""
        return self.path / STAGING


def lay_out(targets: Iterable[Path], *, published: Path | None = None) -> dict[Path, Home]:
    """The homes of the targets, in order.

    A folder that is not there yet is staged as a whole and becomes visible in one step. The files of the
    folder `published`, if it is there, are staged beside it and not in it.
    """
    homes: dict[Path, Home] = {}
    for target in targets:
        if published is not None and published.is_dir() and target.is_relative_to(published):
            place = _outside(published)
        else:
            place = next(above for above in target.parents if above.is_dir())
        home = homes.setdefault(place, Home(place))
        steps = target.relative_to(place).parts
        # what is there already changes file by file; the first step that is missing comes as a whole
        whole = next(
            (n for n in range(1, len(steps)) if not place.joinpath(*steps[:n]).is_dir()), len(steps)
        )
        part = home.moves.setdefault("/".join(steps[:whole]), str(len(home.moves)))
        home.parts["/".join([part, *steps[whole:]])] = target
    return dict(sorted(homes.items()))


def _outside(folder: Path) -> Path:
    """The directory above, or the folder itself where nothing can be moved from there (a volume, say)."""
    above = folder.parent
    same_disk = folder.stat().st_dev == above.stat().st_dev
    return above if same_disk and os.access(above, os.W_OK | os.X_OK) else folder


# Complete a set of files whose journal is there, and clear away what never counted.

_CLEARED = (
    "Removed {staging}, left by a run that was stopped. All files are whole: as before that run, or as it wrote "
    "them."
)
_DONE = (
    "WARNING: a run was stopped while it gave {names} in {where} their names. They belong together; they are "
    "complete now."
)


def old_name(part: str) -> str:
    """The second name, in the staging folder, of the file that a part replaces."""
    return f"{part}.old"


def finish_sets(directory: Path, *, say: Callable[[str], None]) -> list[Path]:
    """Complete or clear away what a killed run has left in a directory, and say so.

    Waits for a run that is writing there now. What comes back are the files and folders of a completed set.
    Raises InputError: a set that cannot be completed: what is left is damaged, somebody else's, or cannot be
    reached or written.
    """
    home = Path(os.path.realpath(directory))
    staging = home / STAGING
    while os.path.lexists(staging):
        journal = _readable(staging)
        homes = [home] if journal is None else [_at(home, step) for step in journal.homes]
        with locked([place for place in {home, *homes} if place.is_dir()]):
            if not os.path.lexists(staging) or _readable(staging) != journal:
                continue
            return _finish(home, homes, say)
    return []


def _readable(staging: Path) -> Journal | None:
    """The journal of a staging folder that this package may have made, for a user who can be trusted."""
    try:
        mode, owner = os.lstat(staging).st_mode, os.lstat(staging).st_uid
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(mode):
        raise InputError(f"{staging} is in the way: files are staged in a folder of this name. Remove it.")
    if owner not in (os.geteuid(), staging.parent.stat().st_uid):
        raise InputError(f"{staging} belongs to somebody else. Its owner must complete or remove it.")
    return read_journal(staging)


def _finish(home: Path, homes: list[Path], say: Callable[[str], None]) -> list[Path]:
    """With all directories of the set held by this process."""
    own = read_journal(home / STAGING)
    if own is None or not _counts(own, homes[0]):
        if os.access(home, os.W_OK):
            discard([home])
            say(_CLEARED.format(staging=home / STAGING))
        return []
    journals = {place: same for place in homes if (same := _same_set(place, own)) is not None}
    waiting = {
        place: [name for name, part in journal.moves.items() if os.path.lexists(place / STAGING / part)]
        for place, journal in journals.items()
    }
    _check(homes, journals, waiting)
    if not all(os.access(place, os.W_OK) for place in journals):
        return []
    complete(journals)
    for place, journal in journals.items():
        said = _DONE if waiting[place] else _CLEARED
        say(said.format(names=", ".join(journal.moves), where=place, staging=place / STAGING))
    return [place / name for place, journal in journals.items() for name in journal.moves]


def _counts(journal: Journal, lead: Path) -> bool:
    """Whether the journal of the lead was written: a set without it is as if it had never been begun."""
    if journal.is_lead:
        return True
    if not lead.is_dir():
        raise InputError(f"Files of a set that was not finished lie in {lead}, which is not there now.")
    result = read_journal(lead / STAGING)
    return result is not None and result.set_id == journal.set_id


def _same_set(place: Path, journal: Journal) -> Journal | None:
    result = read_journal(place / STAGING) if place.is_dir() else None
    return result if result is not None and result.set_id == journal.set_id else None


def _check(homes: list[Path], journals: Mapping[Path, Journal], waiting: Mapping[Path, list[str]]) -> None:
    """Refuse before anything is moved what could not be moved to its end."""
    away = [str(place) for place in homes if not place.is_dir()]
    if away:
        raise InputError(f"Files of a set that was not finished lie in {', '.join(away)}, not there now.")
    for place, journal in journals.items():
        moving = {journal.moves[name] for name in waiting[place]}
        for part, expected in journal.digests.items():
            staged = place / STAGING / part
            if part.split("/")[0] in moving and not (
                staged.is_file() and digest(staged.read_bytes()) == expected
            ):
                raise damaged(place / STAGING)
        for name in waiting[place]:
            above = (place / name).parent
            if Path(os.path.realpath(above)) != above:
                raise damaged(place / STAGING)
        if waiting[place] and not os.access(place, os.W_OK):
            raise InputError(
                f"{', '.join(journal.moves)} in {place} belong together, and the run that wrote them was "
                "stopped before all were there; there is no permission to complete them."
            )


def complete(journals: Mapping[Path, Journal]) -> None:
    """Give the parts their names, or, where one cannot have it, let all be as they were.
    Raises HumevalPowerError: a name that could not be given; all files are as they were."""
    try:
        for place, journal in journals.items():
            for name, part in journal.moves.items():
                if os.path.lexists(place / STAGING / part):
                    move(place / STAGING / part, place / name)
        for directory in {(place / name).parent for place in journals for name in journals[place].moves}:
            sync_directory(directory)
    except BaseException as error:
        _undo(journals)
        discard(journals)
        if isinstance(error, OSError):
            shown = f"{error.filename2 or error.filename} could not be written: {error.strerror}."
            raise HumevalPowerError(f"{shown} All files are as they were.") from None
        raise
    discard(journals)


def _undo(journals: Mapping[Path, Journal]) -> None:
    """Let the files be as they were. Until the journal goes, the set can still be completed."""
    for place, journal in journals.items():
        for name, part in journal.moves.items():
            staged, old, target = place / STAGING / part, place / STAGING / old_name(part), place / name
            if os.path.lexists(staged):
                continue
            move(target, staged)
            if old.exists():
                with suppress(FileNotFoundError):
                    os.unlink(place / STAGING / f"{part}.again")
                keep_copy(old, place / STAGING / f"{part}.again")
                move(place / STAGING / f"{part}.again", target)


def discard(homes: Iterable[Path]) -> None:
    """Clear the staging folders away; the journal of the lead, which makes the set count, goes first."""
    places = [place for place in homes if (place / STAGING).is_dir()]
    for place in places:
        with suppress(FileNotFoundError):
            os.unlink(place / STAGING / JOURNAL)
    for place in places:
        remove_tree(place / STAGING)


def _at(home: Path, step: str) -> Path:
    return Path(os.path.normpath(home / step))
