"""JSON that cannot harm the program that reads it: what Python's reader lets through is refused, in words.

Python's reader takes NaN, names that occur twice, numbers of any size and halves of characters, and stops
with an error of its own where the nesting is deep or a number long.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import read_text

DEEPEST = 100  # levels of lists and objects; documents of this package have about 10
_LONGEST = 300  # digits: a longer whole number is beyond what a float can hold
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # may be half of a character
_SHOWN = 20  # characters of a number that are shown


class _RefusedError(ValueError):
    """A value that is JSON, or Python's idea of it, and cannot be used. `said` is how the text has it."""

    def __init__(self, rule: str, remedy: str, said: str) -> None:
        super().__init__(rule)
        self.rule, self.remedy, self.said = rule, remedy, said


def read_json(path: str | Path, *, hint: str = "") -> Any:
    """The value in a JSON file; `hint` is the remedy where there is none.

    Raises
    ------
    InputError
        A file that cannot be read, or what `parse_json` refuses.
    """
    return parse_json(read_text(path, hint=hint), place=str(path), hint=hint)


def read_object(path: str | Path, *, hint: str = "") -> dict[str, Any]:
    """The object in a JSON file; refuses what `read_json` refuses, and any other value."""
    found = read_json(path, hint=hint)
    if not isinstance(found, dict):
        kind = "a list" if isinstance(found, list) else "a single value"
        raise InputError([Problem(f"is {kind}, not a JSON object.", hint, place=str(path))])
    return found


def parse_json(
    text: str,
    *,
    place: str,
    hint: str = "",
    row: int | None = None,
    nan: bool = False,
    any_number: bool = False,
) -> Any:
    """The value of a JSON text.

    row : the line of a file of several texts. nan : whether NaN may stand for a number that is missing.
    any_number : whether infinities may stand too, as logarithms of probabilities have them.

    Raises
    ------
    InputError
        A text that is not JSON; names that occur twice in an object; numbers that are not finite or too
        long; halves of characters; lists and objects nested deeper than DEEPEST.
    """

    def refused(rule: str, remedy: str, line: int | None = None) -> InputError:
        told = rule if line is None or row is not None else f"{rule.removesuffix('.')}, in line {line}."
        return InputError([Problem(told, remedy, place=place, row=row)])

    try:
        found = _decoder(float if any_number else _nan if nan else _constant).decode(text)
    except json.JSONDecodeError as error:
        where = f"in line {error.lineno}" if row is None else f"at character {error.pos + 1}"
        raise refused(f"is not JSON: {error.msg} {where}.", hint) from None
    except _RefusedError as error:
        raise refused(error.rule, error.remedy, _line_of(error.said, text)) from None
    except RecursionError:
        raise refused(_too_deep(), hint) from None
    if text.count("[") + text.count("{") > DEEPEST and _depth(found) > DEEPEST:
        raise refused(_too_deep(), hint)
    if _HALF.search(text) and not _is_unicode(found):
        raise refused("holds text that is not Unicode: half of a character.", "Correct the \\u escape.")
    return found


@cache
def _decoder(parse_constant: Callable[[str], float]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_once, parse_int=_whole, parse_float=_decimal, parse_constant=parse_constant
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        doubled = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        rule = f"has {doubled!r} twice in one place: which counts cannot be told."
        raise _RefusedError(rule, "Delete one.", json.dumps(doubled))
    return found


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST:
        raise _RefusedError(
            f"has a number of {len(digits):,} digits, {_short(digits)}.", "Correct it.", digits
        )
    return int(digits)


def _decimal(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        rule = f"has {_short(digits)}, a number larger than can be computed with."
        raise _RefusedError(rule, "Correct it.", digits)
    return value


def _constant(word: str) -> float:
    raise _RefusedError(f"has {word}, which is no number in JSON.", "Write null where there is none.", word)


def _nan(word: str) -> float:
    return math.nan if word == "NaN" else _constant(word)


def _short(digits: str) -> str:
    return digits if len(digits) <= _SHOWN else f"{digits[:_SHOWN]}..."


def _line_of(said: str, text: str) -> int | None:
    """The line of the last place where a text has these words."""
    at = text.rfind(said)
    return None if at < 0 else text.count("\n", 0, at) + 1


def _too_deep() -> str:
    return f"has lists or objects nested more than {DEEPEST} deep."


def _depth(value: object) -> int:
    """How deep lists and objects are nested, found without recursion."""
    level, depth = [value], 0
    while level:
        inner: list[object] = []
        for one in level:
            inner += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        level = inner
        depth += bool(inner)
        if depth > DEEPEST:
            break
    return depth


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
