"""Text for a terminal: nothing that it would obey, in columns that align."""

from __future__ import annotations

import re
import unicodedata

from humeval_power.safe_text.visible import visible

WIDTH = 80
_DOTS = "..."
_STARTS_OF_ERRORS = ("error:", "warning:")


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


def wrapped(text: str, *, width: int = WIDTH, bullet: str = "", indent: str = "") -> str:
    """Text in lines of at most `width` columns; names and paths are not broken, nor are blanks in them lost.

    Later lines start with `indent`, or below the text after the bullet, and never as an error does: a system
    may be named so.
    """
    later = indent or " " * display_width(bullet)
    lines: list[str] = []
    line = ""
    for piece in re.findall(r" *[^ ]+(?: %[^ ]*)?", terminal_text(re.sub(r"[\t\r\n]", " ", text))):
        word = piece.lstrip(" ")
        room = width - display_width(later if lines else bullet)
        if not line:
            line = word
        elif display_width(line) + display_width(piece) <= room:
            line += piece
        elif not word.lower().startswith(_STARTS_OF_ERRORS):
            lines.append(line)
            line = word
        else:
            above, _, moved = line.rpartition(" ")
            lines += [above] if above else []
            line = moved + piece
    lines.append(line)
    return "\n".join((later if place else bullet) + each.rstrip(" ") for place, each in enumerate(lines))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
