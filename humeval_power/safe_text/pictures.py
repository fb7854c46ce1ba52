"""Text for a picture: one line that matplotlib's own font can draw."""

from __future__ import annotations

from functools import cache

from humeval_power.safe_text.visible import code_of, one_line

FONT = "DejaVu Sans"


def picture_text(text: str) -> str:
    """The text on one line; a character that the font lacks is shown as its code, not as an empty box.

    Two names in a script that the font lacks would look the same otherwise.
    """
    line = one_line(text)
    if line.isascii():
        return line
    return "".join(mark if ord(mark) in _drawn() else code_of(mark) for mark in line)


@cache
def _drawn() -> frozenset[int]:
    """The code points that the font has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=[FONT]))).get_charmap())
