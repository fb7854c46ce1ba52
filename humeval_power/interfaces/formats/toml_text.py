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


def read_toml(
    path: str | Path, *, hint: str = "", parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    InputError
        A file that cannot be read or is not TOML; one that is too long, too deep or has too long a number.
    """
    place, text = str(path), read_text(path, hint=hint)
    if len(text) > _LONGEST:
        rule = f"has {len(text):,} characters; at most {_LONGEST:,} are read as TOML."
        raise InputError([Problem(rule, hint, place=place)])
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise InputError([Problem("has tables or lists nested too deep.", hint, place=place)]) from None
    except (ValueError, ArithmeticError) as error:  # bad TOML, and numbers of thousands of digits
        raise InputError([Problem(f"is not TOML: {_said(error)}.", hint, place=place)]) from None


def _said(error: Exception) -> str:
    """The first sentence of an error, without the advice for programmers that some carry."""
    return re.split(r"; use |\. ", str(error) or type(error).__name__)[0].rstrip(".")
