"""Write files that belong together, or update one, so that a kill at any moment loses and mixes nothing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.writing.disk import (
    keep_copy,
    locked,
    rights_of,
    sync_directory,
    write_new,
    write_stream,
)
from humeval_power.interfaces.writing.journal import Journal, digest, way
from humeval_power.interfaces.writing.layout import Home, lay_out
from humeval_power.interfaces.writing.targets import check_targets, is_stream
from humeval_power.interfaces.writing.unfinished import complete, discard, finish_sets, old_name

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

    Parameters
    ----------
    contents : by path, in any directories; missing ones are made. A link stays a link. What is no file, such
        as /dev/null, gets its content once all others are on the disk, before they take their names.
    force : replace what is there.
    private : those of the files that nobody else may read; they are never written over.
    published : a folder that others will see; nothing unfinished ever lies in it.
    first : done once all is on the disk, before the files take their names; if it fails, nothing is written.
    say : told what a killed run had left, if it had.

    Raises
    ------
    InputError
        Something is in the way; nothing was written.
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
        _put(homes, {target: content}, set(), _nothing)


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


def _nothing() -> None:
    """Nothing is to be done before the files take their names."""


def _real(path: str | Path) -> Path:
    """The path itself, without links on the way."""
    return Path(os.path.realpath(path))


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
