"""The files of an assignment in the field: who sees what when, the key of its codes, and who withdrew."""

from __future__ import annotations

from pathlib import Path

from humeval_power.checking.exports.assigned import Assigned, Key, assigned_of, key_of
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.interfaces.formats.tables import read_table

_HEADER = 1_000  # bytes that hold the names of columns


def read_assignment(*paths: str | Path) -> Assigned:
    """Read who sees what when: the table of an assignment, and those of spares that took over.

    Raises
    ------
    InputError
        A file that is none, such as a key or ratings, or that is not whole: all problems at once.
    """
    found = [read_table(path) for path in paths]
    return assigned_of([(one.frame, one.source) for one in found])


def read_key(path: str | Path) -> Key:
    """Read what the codes of an assignment stand for.

    Raises
    ------
    InputError
        A file that is none, such as an assignment or ratings, or that is not whole.
    """
    found = read_table(path)
    return key_of(found.frame, source=found.source)


def looks_like_key(path: str | Path) -> bool:
    """Whether there is a file that begins as a key does, whole or not."""
    if str(path) == "-" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        header = file.read(_HEADER).replace(b"\0", b"").splitlines()[:1]
    return bool(header) and all(name in header[0] for name in (b"code", b"item", b"system"))


def read_withdrawn(path: str | Path) -> tuple[str, ...]:
    """The workers in a file, one a line, who took their consent back.

    Raises
    ------
    InputError
        A file without any, or that holds what is no list of ids.
    """
    lines = [line.strip() for line in read_text(path).splitlines()]
    names = tuple(dict.fromkeys(line for line in lines if line))
    if not names:
        raise InputError([Problem("names nobody.", "Write the id of a worker on each line.", str(path))])
    return names
