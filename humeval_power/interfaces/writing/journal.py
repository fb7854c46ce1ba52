"""The journal of a set of files: once it is there, the set counts as written and will be completed.

A set in several directories has a journal in each; it counts once that of its first directory, the lead, is
there. A journal names things below its own directory only, so that a forged one can do no more than its author
could have done.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from humeval_power.errors import InputError
from humeval_power.interfaces.writing.disk import move, rights_of, sync_directory, write_new

JOURNAL_SCHEMA = "humeval_power/unfinished/1"
JOURNAL = "journal.json"


@dataclass(frozen=True, slots=True)
class Journal:
    """What is to be moved from a staging folder to the directory around it.

    Attributes
    ----------
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

    Raises
    ------
    InputError
        A journal that was not written by this package.
    """
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
