"""The folder that the page may open, and a private folder for the time of the process."""

from __future__ import annotations

import atexit
import errno
import glob
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from humeval_power.errors import InputError

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet", ".xlsx", ".toml", ".gz", ".eval")
LOG_ENDINGS = (".json", ".jsonl", ".eval", ".json.gz", ".jsonl.gz")
_DEEPEST, _MOST, _LOOKED_AT, _MOST_LOGS = 4, 300, 20_000, 2_000
_DEEPEST_LOGS = 12
_LONGEST = 1_000


class Folder:
    """A folder whose files the page may read.

    path : of the folder.
    Raises InputError: it is no folder.
    """

    def __init__(self, path: str | Path) -> None:
        if "\0" in str(path) or not os.path.isdir(path):
            raise InputError(f"There is no folder {str(path)!r}. Name one with --folder.")
        self.path = Path(os.path.realpath(path))

    def resolve(self, named: str) -> Path:
        """The file of this name: a path within the folder, with slashes.

        Links are followed and must end within the folder. Hidden files are not opened: a folder can be a home.
        Raises InputError: a name that leads outside, is hidden, or is no regular file.
        """
        place = self._within(named)
        if not os.path.exists(place):
            raise InputError(f"There is no file {named!r} in the folder of the page.")
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise InputError(f"{named!r} is not a file. Name a file.")
        return place

    def places(self, named: str) -> tuple[tuple[str, Path], ...]:
        """The file of this name, or the logs in a folder of it, each by its path within the folder of the page.

        Links are followed and must end within the folder of the page; what is hidden is left out.
        Raises InputError: what `resolve` refuses, or a folder that leads outside, is hidden, holds no log, or too
        much.
        """
        place = self._within(named)
        if not os.path.isdir(place):  # False also for what cannot be looked at
            return ((named, self.resolve(named)),)
        result = [
            (each, self.resolve(each))
            for path in _files(place, LOG_ENDINGS, _DEEPEST_LOGS)
            if (each := f"{named}/{path.relative_to(place).as_posix()}")
        ]
        if not result:
            raise InputError(f"{named!r} holds no logs. Name a file, or a folder of logs.")
        if len(result) > _MOST_LOGS:
            raise InputError(f"{named!r} holds more than {_MOST_LOGS:,} files. Name a smaller folder.")
        return tuple(result)

    def target(self, named: str) -> Path:
        """Where something new of this name goes.
        Raises InputError: a name that leads outside or is hidden, or something that is there already."""
        place = self._within(named)
        if os.path.lexists(place):
            raise InputError(f"{named!r} is there already. Choose another name.")
        return place

    def named(self, name: str) -> tuple[str, ...]:
        """The files of exactly this name, those on top first: at most 300, four folders deep."""
        paths = (path for path in self._readable((name,)) if path.rpartition("/")[2] == name)
        return tuple(islice(paths, _MOST))

    def is_file(self, named: str) -> bool:
        """Whether this is a file within the folder. Raises InputError: a name that leads outside or is hidden."""
        return os.path.isfile(self._within(named))

    def below(self, named: str, most: int) -> tuple[str, ...]:
        """The files in a folder of this name, hidden ones left out; none where it is no folder.
        Raises InputError: a name that leads outside, or a folder of more files than that."""
        place = self._within(named)
        paths = list(islice(_files(place, ("",)), most + 1)) if os.path.isdir(place) else []
        if len(paths) > most:
            raise InputError(f"{named!r} holds more than {most} files. Is this the right folder?")
        return tuple(f"{named}/{path.relative_to(place).as_posix()}" for path in paths)

    def siblings(self, named: str) -> tuple[str, ...]:
        """The files beside this one whose names begin with its own and a dot."""
        place = self._within(named)
        paths = sorted(place.parent.glob(f"{glob.escape(place.name)}.*"))
        return tuple(path.relative_to(self.path).as_posix() for path in paths)

    def _within(self, named: str) -> Path:
        parts = named.split("/")
        if (
            len(named) > _LONGEST
            or not named.isprintable()
            or "\\" in named
            or os.path.isabs(named)
            or os.path.splitdrive(named)[0]
            or any(part == "" or part.startswith((".", "~")) for part in parts)
        ):
            raise InputError(
                f"{named[:80]!r} is no path within the folder of the page. Give one such as data/pilot.csv."
            )
        place = Path(os.path.realpath(self.path.joinpath(*parts)))
        is_within = place.is_relative_to(self.path)
        if not is_within or any(part.startswith(".") for part in place.relative_to(self.path).parts):
            raise InputError(f"{named!r} leads out of the folder of the page. Copy the file into it.")
        try:
            os.lstat(place)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise InputError(f"{named[:80]!r}... is too long for the name of a file.") from None
        return place

    def listing(self) -> tuple[str, ...]:
        """The tables and documents in it, those on top first: at most 300, four folders deep."""
        return tuple(islice(self._readable(ENDINGS), _MOST))

    def _readable(self, endings: tuple[str, ...]) -> Iterator[str]:
        """The files of these endings that can be opened."""
        for path in _files(self.path, endings):
            named = path.relative_to(self.path).as_posix()
            with suppress(InputError):
                self.resolve(named)
                yield named


def _files(top: Path, endings: tuple[str, ...], deepest: int = _DEEPEST) -> Iterator[Path]:
    """Files by their endings, level by level, as long as there is not too much to look at."""
    level, looked = [top], 0
    for _ in range(deepest):
        below: list[Path] = []
        for folder in level:
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name.casefold())
            except OSError:
                continue
            for entry in entries:
                looked += 1
                if looked > _LOOKED_AT:
                    return
                if entry.name.startswith(".") or not entry.name.isprintable():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif entry.name.lower().endswith(endings):
                    yield Path(entry.path)
        level = below


# A folder for the time of one process: nobody else may look into it, and it is cleared away whatever
# happens.

_PREFIX = "humeval-power-page-"


class PrivateFolder:
    """A temporary folder of mode 0700 that ends with `close`, or with the process.

    A killed process cannot clear up: its folder, which nobody holds any more, goes when the next one is made.

    path : of the folder.
    """

    def __init__(self) -> None:
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _clear_if_left(left)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            held = _held(self.path)
            # not cleared away by somebody who was quicker
            if held is not None and os.path.exists(self.path):
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
    user = os.getuid() if hasattr(os, "getuid") else 0
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != user:
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
    except ImportError:
        return -1  # Windows: folders of killed processes stay until its own clearing of temporary files
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
