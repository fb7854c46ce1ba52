"""From what a link asks to a piece of work: its words, and where the bytes of its files are."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.errors import InputError
from humeval_power.interfaces.page.answers import Work
from humeval_power.interfaces.page.asked import WRITES, Asked, file_names, upload_of, words_of
from humeval_power.interfaces.page.parts import Parts


def work_of(parts: Parts, asked: Asked, hides: tuple[str, ...] = ()) -> Work:
    """The words of what is asked and the files that they name; of a folder of logs, all files in it.

    Raises
    ------
    InputError
        Files that are not here.
    """
    names = file_names(asked, hides)
    files = tuple(file for value, name in names.items() for file in _places(parts, value, name))
    work = Work(words_of(asked, hides, lambda value: names[value]), files)
    return replace(work, files=(*files, *_own_key(parts, asked, hides)))


def _own_key(parts: Parts, asked: Asked, hides: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The key that the page wrote with an assignment, where a spare takes over in it: its codes are used again."""
    name = WRITES.get((asked.command, "key"))
    if name is None or not asked.values("replace"):
        return ()
    before = replace(asked, options=tuple(one for one in asked.options if one[0] != "replace"))
    place = parts.beside(work_of(parts, before, hides).key) / name
    return ((name, str(place)),) if place.is_file() else ()


def _places(parts: Parts, value: str, name: str) -> tuple[tuple[str, str], ...]:
    """The files that a value of a link names, as the command finds them, and where their bytes are."""
    upload = upload_of(value)
    if upload is not None:
        return ((name, str(parts.uploads.path_of(*upload))),)
    if parts.folder is None:
        raise InputError(f"{value!r}: the page was opened without a folder. Bring the file itself.")
    logs = parts.folder.logs(value)
    if logs is not None:
        return tuple((f"{name}{path.removeprefix(value)}", str(place)) for path, place in logs)
    return ((name, str(parts.folder.resolve(value))),)
