"""Read the library of parameters: the one that comes along, and the user's own."""

from __future__ import annotations

from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.documents.reading import checked_document
from humeval_power.interfaces.formats.json_text import read_json
from humeval_power.reporting import study
from humeval_power.reporting.records import PARAMETERS_SCHEMA
from humeval_power.reporting.study.parameter_library import LIBRARY_SCHEMA, LibraryEntry, entry_from_dict

_HINT = "Restore or rename it; 'humeval-power parameters add FILE' begins a new one where there is none."


def shipped_library() -> list[LibraryEntry]:
    """The entries that come with the package."""
    path = Path(str(study.__file__)).with_name("parameter_library.json")
    return [entry_from_dict(values, place=str(path)) for values in _entries(path)]


def read_library(path: str | Path) -> list[LibraryEntry]:
    """The entries of a library, in its order.

    Raises
    ------
    InputError
        A file that cannot be read, or every problem of its entries at once.
    """
    entries: list[LibraryEntry] = []
    problems: list[Problem] = []
    for values in _entries(Path(path)):
        try:
            entries.append(_entry(values, place=str(path)))
        except InputError as error:
            problems += error.problems
    names = [entry.name for entry in entries]
    problems += [
        Problem(f"two entries are called {name!r}.", "Rename one.", place=str(path))
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return entries


def _entry(values: object, *, place: str) -> LibraryEntry:
    """An entry whose document, where it has one, is read as a file of its own would be."""
    found = entry_from_dict(values, place=place)
    if found.document is not None:
        checked_document(found.document, schema=PARAMETERS_SCHEMA, place=f"{place}, entry {found.name!r}")
    return found


def _entries(path: Path) -> list[object]:
    document = read_json(path, hint=_HINT)
    if not isinstance(document, dict) or document.get("schema") != LIBRARY_SCHEMA:
        raise InputError([Problem(f"is no library: {LIBRARY_SCHEMA!r} is needed.", _HINT, place=str(path))])
    entries = document.get("entries")
    if not isinstance(entries, list):
        raise InputError([Problem("has no list of 'entries'.", _HINT, place=str(path))])
    return entries
