"""Text that another program reads: JSON, TOML, R, a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from humeval_power.safe_text.visible import HIDDEN, code_of, visible

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_UNDECODED = re.compile(r"[\udc80-\udcff]")  # bytes of an argument that are not UTF-8, as Python keeps them


def json_text(document: str) -> str:
    r"""A JSON document whose strings hold hidden characters as \u202e: it reads back as the same values."""
    return HIDDEN.sub(lambda found: _json_code(found[0]), document)


def _json_code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def toml_text(text: str, *, key: bool = False) -> str:
    """A string of TOML, or a key, which stays bare where it can."""
    if key and _PLAIN_KEY.fullmatch(text):
        return text
    return '"' + re.sub(r'["\\]|[\t\n\r]|' + HIDDEN.pattern, _toml_code, text) + '"'


def _toml_code(found: re.Match[str]) -> str:
    character = found[0]
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":
        return f"\\\\u{ord(character):04x}"  # TOML has no lone surrogates: shown, as for a reader
    code = code_of(character)
    return code.replace("\\x", "\\u00")


def r_text(text: str) -> str:
    r"""A string of R in ASCII, which is the same under every locale: "\u00e9" for é."""
    return '"' + re.sub(r'["\\]|[^ -~]', _r_code, text) + '"'


def _r_code(found: re.Match[str]) -> str:
    character = found[0]
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":
        return "\\ufffd"  # as R shows what is no character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def shell_command(words: Iterable[str]) -> str:
    """A command to be shown and pasted: one line, and each word what it was in bash, zsh and ksh."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """One word of a command, such as the value of an option, quoted where that is needed."""
    if visible(word) == word and "\n" not in word:
        return shlex.quote(word)
    return "$'" + re.sub(r"['\\]|[\t\n\r]|" + HIDDEN.pattern, _shell_code, word) + "'"


def _shell_code(found: re.Match[str]) -> str:
    character = found[0]
    if character in "'\\":
        return f"\\{character}"
    if _UNDECODED.fullmatch(character):
        return f"\\x{ord(character) - 0xDC00:02x}"
    if "\x80" <= character <= "\xff":
        return f"\\u{ord(character):04x}"  # \x would be a byte
    return code_of(character)
