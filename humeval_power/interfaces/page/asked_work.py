"""From what a link asks to a piece of work: its words, and where the bytes of its files are."""

from __future__ import annotations

from humeval_power.errors import InputError
from humeval_power.interfaces.page.answers import Work
from humeval_power.interfaces.page.asked import Asked, file_names, upload_of, words_of
from humeval_power.interfaces.page.parts import Parts


def work_of(parts: Parts, asked: Asked, hides: tuple[str, ...] = ()) -> Work:
    """The words of what is asked and the files that they name.

    Raises
    ------
    InputError
        Files that are not here.
    """
    names = file_names(asked, hides)
    files = tuple((name, _place(parts, value)) for value, name in names.items())
    return Work(words_of(asked, hides, lambda value: names[value]), files)


def _place(parts: Parts, value: str) -> str:
    """Where the bytes of a file are that a link names."""
    upload = upload_of(value)
    if upload is not None:
        return str(parts.uploads.path_of(*upload))
    if parts.folder is None:
        raise InputError(f"{value!r}: the page was opened without a folder. Bring the file itself.")
    return str(parts.folder.resolve(value))
