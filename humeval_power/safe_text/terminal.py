"""Text for a terminal: nothing that it would obey, in columns that align."""

from __future__ import annotations

import unicodedata

from humeval_power.safe_text.visible import visible

_DOTS = "..."


def terminal_text(text: str) -> str:
    """Whole output, with its line feeds; what a terminal would obey is shown as a code."""
    return visible(text)


def display_width(text: str) -> int:
    """Columns that visible text takes: two for wide East Asian characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Text with blanks up to a width, before it where it is set to the right."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def cut(text: str, width: int) -> str:
    """Text of at most a width; what is cut off is shown by dots."""
    if display_width(text) <= width:
        return text
    room, kept = width - len(_DOTS), 0
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + _DOTS


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
