"""What can be written where: looked at before long work, and again before anything is changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.writing.disk import stream_number

_OTHER = "Choose another place."


def is_stream(path: str | Path) -> bool:
    """Whether this is no file that can be replaced: a device such as /dev/null, or a pipe."""
    place = Path(path)
    if stream_number(path) is not None:
        return True
    return place.exists() and not (place.is_file() or place.is_dir())


def check_targets(paths: Iterable[str | Path], *, force: bool) -> None:
    """Refuse files that cannot be written together.

    Raises
    ------
    InputError
        All that is in the way: directories, files that are there already (unless `force`), two names for one
        file, what is protected from writing.
    """
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
