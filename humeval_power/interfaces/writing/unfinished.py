"""Complete a set of files whose journal is there, and clear away what never counted."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.writing.disk import keep_copy, locked, move, remove_tree, sync_directory
from humeval_power.interfaces.writing.journal import JOURNAL, Journal, damaged, digest, read_journal
from humeval_power.interfaces.writing.layout import STAGING

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

    Raises
    ------
    InputError
        A set that cannot be completed: what is left is damaged, somebody else's, or cannot be reached or
        written.
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
    journals = {place: found for place in homes if (found := _same_set(place, own)) is not None}
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
    found = read_journal(lead / STAGING)
    return found is not None and found.set_id == journal.set_id


def _same_set(place: Path, journal: Journal) -> Journal | None:
    found = read_journal(place / STAGING) if place.is_dir() else None
    return found if found is not None and found.set_id == journal.set_id else None


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

    Raises
    ------
    HumevalPowerError
        A name that could not be given; all files are as they were.
    """
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
