"""Characters that cannot be seen, shown as codes: what every medium for readers starts from."""

from __future__ import annotations

import re

# Controls, marks that turn the direction, line and paragraph separators, fillers and blanks of no width,
# tags, lone surrogates, and code points that are no characters. Tab and line ends are `_LAYOUT`.
_INVISIBLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17))
)
# Joiners and variation selectors act on other alphabets and emoji; beside ASCII letters they only hide.
_JOINERS = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_SELECTORS = r"(?<![^\x00-\x7f])[\ufe00-\ufe0f](?!\u20e3)"
HIDDEN = re.compile(f"[{_INVISIBLE}]|{_JOINERS}|{_SELECTORS}")
_LAYOUT = re.compile(r"[\t\r]")
_BLANKS = re.compile(r"[ \t\r\n]+")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    """Text with its line feeds and nothing else that cannot be seen: an escape character becomes \\x1b.

    Doing it twice changes nothing more.
    """
    if _is_plain(text):
        return text
    return _LAYOUT.sub(_code, HIDDEN.sub(_code, text))


def one_line(text: str) -> str:
    """Visible text on one line: blanks and line ends become one blank, and none at the ends."""
    if _is_plain(text) and "  " not in text:
        return text.strip(" ")
    return HIDDEN.sub(_code, _BLANKS.sub(" ", text).strip(" "))


def one_cell(text: str) -> str:
    """Visible text on one line with its line feeds as \\n: names that differ by them stay different."""
    return visible(text).replace("\n", r"\n")


def _is_plain(text: str) -> bool:
    """Whether there is nothing to look for, as in nearly all text."""
    return text.isascii() and text.isprintable()


def code_of(character: str) -> str:
    """The code that a hidden character is shown as: \\x1b, \\u202e or \\U000e0001."""
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _code(found: re.Match[str]) -> str:
    return code_of(found[0])
