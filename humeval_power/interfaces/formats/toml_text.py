"""TOML that cannot harm the program that reads it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import read_text

_LONGEST = 1_000_000  # characters: what people write by hand is far shorter
_LONGEST_NUMBER = 64  # bits
DEEPEST_KEY = 20  # names: the parser's time and memory grow with the square of them
_NAME = r"""(?>[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_NAME}[ \t]*+\.[ \t]*+){{{DEEPEST_KEY}}}")


def read_toml(
    path: str | Path, *, hint: str = "", parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    InputError
        A file that cannot be read or is not TOML; one that is too long, too deep or has too long a number.
    """
    return toml_values(read_text(path, hint=hint), place=str(path), hint=hint, parse_float=parse_float)


def toml_values(
    text: str, *, place: str, hint: str = "", parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a text of TOML; `place` is what it is called in errors."""
    if len(text) > _LONGEST:
        rule = f"has {len(text):,} characters; at most {_LONGEST:,} are read as TOML."
        raise InputError([Problem(rule, hint, place=place)])
    deep = _DEEP_KEY.search(text)
    if deep is not None:
        row = text.count("\n", 0, deep.start()) + 1
        rule = f"has a key of more than {DEEPEST_KEY} names with dots between them."
        raise InputError([Problem(rule, hint, place=place, row=row)])
    try:
        found = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise InputError([Problem("has tables or lists nested too deep.", hint, place=place)]) from None
    except (ValueError, ArithmeticError) as error:  # bad TOML, and numbers of thousands of digits
        raise InputError([Problem(f"is not TOML: {_said(error)}.", hint, place=place)]) from None
    _refuse_long_numbers(found, place=place, hint=hint)
    return found


def _refuse_long_numbers(value: object, *, place: str, hint: str) -> None:
    """Whole numbers are of 64 bits in TOML; longer ones cannot even be written in an error."""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_long_numbers(one, place=place, hint=hint)
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        rule = f"has a whole number of {value.bit_length():,} bits; at most {_LONGEST_NUMBER} are read."
        raise InputError([Problem(rule, hint, place=place)])


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line, from 1, of every key and table of a text of TOML that can be read, by its path."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    open_quote = ""
    for place, line in enumerate(text.split("\n"), start=1):
        if open_quote:
            open_quote = "" if open_quote in line else open_quote
            continue
        if line.lstrip().startswith("["):
            table = _path(f"{line}\n") or table
            found.setdefault(table, place)
        key = _KEY.match(line)
        if key is None:
            continue
        path = (*table, *toml_path(key[1]))
        for depth in range(len(table) + 1, len(path) + 1):
            found.setdefault(path[:depth], place)
        value = line[key.end() :]
        open_quote = next((mark for mark in _LONG if value.count(mark) % 2), "")
    return found


_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")
_LONG = ('"""', "'''")


def toml_path(key: str) -> tuple[str, ...]:
    """The names of a key as it is written in TOML: heds."2.1" is two."""
    return _path(f"{key} = 0")


def _path(line: str) -> tuple[str, ...]:
    """The names that lead to the only value of a line; none where it is no line of its own."""
    try:
        value: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    names: list[str] = []
    while isinstance(value, dict) and len(value) == 1:
        (name, value), *_ = value.items()
        names.append(name)
    return tuple(names)


def _said(error: Exception) -> str:
    """The first sentence of an error, without the advice for programmers that some carry."""
    return re.split(r"; use |\. ", str(error) or type(error).__name__)[0].rstrip(".")
