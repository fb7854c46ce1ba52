"""JSON that cannot harm the program that reads it: what Python's reader lets through is refused, in words.

Python's reader takes NaN, names that occur twice, numbers of any size and halves of characters, and stops
with an error of its own where the nesting is deep or a number long.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.fees import PlatformFee
from humeval_power.files.file_bytes import read_text

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
    Raises InputError: a file that cannot be read, or what `parse_json` refuses."""
    return parse_json(read_text(path, hint=hint), place=str(path), hint=hint)


def read_object(path: str | Path, *, hint: str = "") -> dict[str, Any]:
    """The object in a JSON file; refuses what `read_json` refuses, and any other value."""
    document = read_json(path, hint=hint)
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise refusal(f"is {kind}, not a JSON object.", hint, place=str(path))
    return document


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
    Raises InputError: a text that is not JSON; names that occur twice in an object; numbers that are not finite or
    too long; halves of characters; lists and objects nested deeper than DEEPEST.
    """

    def refused(rule: str, remedy: str, line: int | None = None) -> InputError:
        words = rule if line is None or row is not None else f"{rule.removesuffix('.')}, in line {line}."
        return InputError([Problem(words, remedy, place=place, row=row)])

    try:
        document = _decoder(float if any_number else _nan if nan else _constant).decode(text)
    except json.JSONDecodeError as error:
        where = f"in line {error.lineno}" if row is None else f"at character {error.pos + 1}"
        raise refused(f"is not JSON: {error.msg} {where}.", hint) from None
    except _RefusedError as error:
        raise refused(error.rule, error.remedy, _line_of(error.said, text)) from None
    except RecursionError:
        raise refused(_too_deep(), hint) from None
    if text.count("[") + text.count("{") > DEEPEST and _depth(document) > DEEPEST:
        raise refused(_too_deep(), hint)
    if _HALF.search(text) and not _is_unicode(document):
        raise refused("holds text that is not Unicode: half of a character.", "Correct the \\u escape.")
    return document


@cache
def _decoder(parse_constant: Callable[[str], float]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_once, parse_int=_whole, parse_float=_decimal, parse_constant=parse_constant
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        doubled = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        rule = f"has {doubled!r} twice in one place: which counts cannot be told."
        raise _RefusedError(rule, "Delete one.", json.dumps(doubled))
    return record


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


# TOML that cannot harm the program that reads it.

_LONGEST_TOML_TEXT = 1_000_000  # characters: what people write by hand is far shorter
_LONGEST_NUMBER = 64  # bits
DEEPEST_KEY = 20  # names: the parser's time and memory grow with the square of them
_NAME = r"""(?>[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_NAME}[ \t]*+\.[ \t]*+){{{DEEPEST_KEY}}}")


def read_toml(
    path: str | Path, *, hint: str = "", parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a TOML file.
    Raises InputError: a file that cannot be read or is not TOML; one that is too long, too deep or has too long a
    number."""
    return toml_values(read_text(path, hint=hint), place=str(path), hint=hint, parse_float=parse_float)


def toml_values(
    text: str, *, place: str, hint: str = "", parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a text of TOML; `place` is what it is called in errors."""
    if len(text) > _LONGEST_TOML_TEXT:
        rule = f"has {len(text):,} characters; at most {_LONGEST_TOML_TEXT:,} are read as TOML."
        raise refusal(rule, hint, place=place)
    deep = _DEEP_KEY.search(text)
    if deep is not None:
        row = text.count("\n", 0, deep.start()) + 1
        rule = f"has a key of more than {DEEPEST_KEY} names with dots between them."
        raise refusal(rule, hint, place=place, row=row)
    try:
        document = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise refusal("has tables or lists nested too deep.", hint, place=place) from None
    except (ValueError, ArithmeticError) as error:  # bad TOML, and numbers of thousands of digits
        raise refusal(f"is not TOML: {_said(error)}.", hint, place=place) from None
    _refuse_long_numbers(document, place=place, hint=hint)
    return document


def _refuse_long_numbers(value: object, *, place: str, hint: str) -> None:
    """Whole numbers are of 64 bits in TOML; longer ones cannot even be written in an error."""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_long_numbers(one, place=place, hint=hint)
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        rule = f"has a whole number of {value.bit_length():,} bits; at most {_LONGEST_NUMBER} are read."
        raise refusal(rule, hint, place=place)


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line, from 1, of every key and table of a text of TOML that can be read, by its path."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    open_quote = ""
    for place, line in enumerate(text.split("\n"), start=1):
        if open_quote:
            open_quote = "" if open_quote in line else open_quote
            continue
        if line.lstrip().startswith("["):
            table = _path(f"{line}\n") or table
            lines.setdefault(table, place)
        key = _KEY.match(line)
        if key is None:
            continue
        path = (*table, *toml_path(key[1]))
        for depth in range(len(table) + 1, len(path) + 1):
            lines.setdefault(path[:depth], place)
        value = line[key.end() :]
        open_quote = next((mark for mark in _LONG if value.count(mark) % 2), "")
    return lines


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


# Read the fee rules of platforms from a TOML file: the one that comes along, or the user's own.

FEES_SCHEMA = "humeval_power/platform_fees/1"
_NAME_FEES = "platform_fees.toml"
_REMEDY = "Copy data/platform_fees.toml of the package and edit the copy."


def default_fee_file() -> Path:
    """The file that comes with the package: beside this module where it is installed, in `data/` of the
    repository where it is developed."""
    beside = Path(__file__).with_name(_NAME_FEES)
    return beside if beside.exists() else Path(__file__).resolve().parents[2] / "data" / _NAME_FEES


def read_fees(path: str | Path | None = None) -> dict[str, PlatformFee]:
    """The fee rules of a file by name, in the order of the file.
    Raises InputError: a file that is missing or not TOML, or every problem of its rules at once."""
    source = Path(path) if path is not None else default_fee_file()
    tables = read_toml(source, hint=_REMEDY, parse_float=Decimal)
    problems, fees = [], {}
    schema = tables.pop("schema", None)
    if schema != FEES_SCHEMA:
        shown = "no schema" if schema is None else f"the schema {schema!r}"
        problems.append(Problem(f"has {shown}; {FEES_SCHEMA!r} is needed.", _REMEDY, place=str(source)))
    if not tables:
        problems.append(Problem("has no fee rule.", _REMEDY, place=str(source)))
    for name, values in tables.items():
        if not isinstance(values, dict):
            rule = f"{name!r} must be a table of one platform's rule, [{name}]."
            problems.append(Problem(rule, _REMEDY, place=str(source)))
            continue
        try:
            fees[name] = PlatformFee.from_dict({"name": name, **values})
        except InputError as error:
            place = f"{source}, [{name}]"
            problems += [
                Problem(p.rule, p.remedy, place, column=p.column, value=p.value, has_value=p.has_value)
                for p in error.problems
            ]
    refuse(problems)
    return fees


def read_fee(name: str, path: str | Path | None = None) -> PlatformFee:
    """The fee rule of one platform.

    Raises
    ------
    InputError
        As `read_fees`, or a name that the file does not have.
    """
    fees = read_fees(path)
    if name not in fees:
        close = get_close_matches(name, fees, n=1)
        remedy = f"Do you mean {close[0]!r}?" if close else f"The file has {', '.join(fees)}."
        place = str(path) if path is not None else None
        raise refusal(f"there is no fee rule {name!r}.", remedy, place=place)
    return fees[name]
