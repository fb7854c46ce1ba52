"""The bytes of a file that a user names: read once, as a whole, and never more than a limit.

A compressed file of a megabyte can hold gigabytes, a device never ends, and a pipe that nobody writes to
never begins: each is refused before it takes the machine.

JSON that cannot harm the program that reads it: what Python's reader lets through is refused, in words.

Python's reader takes NaN, names that occur twice, numbers of any size and halves of characters, and stops
with an error of its own where the nesting is deep or a number long.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import sys
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.fees import PlatformFee
from humeval_power.saying.result import Source

if TYPE_CHECKING:
    from humeval_power.checking.origin import Encoding


# Which files were read, with their digests: what a result says of its sources.

_NOTED: ContextVar[dict[str, Source] | None] = ContextVar("files_read", default=None)


@contextmanager
def noting_files() -> Iterator[dict[str, Source]]:
    """Within the block, each file that is read is noted by its name, in the order of reading."""
    source: dict[str, Source] = {}
    token = _NOTED.set(source)
    try:
        yield source
    finally:
        _NOTED.reset(token)


# How large the files may be that people name: a megabyte that is packed can hold gigabytes.

MAX_MB = "HUMEVAL_POWER_MAX_MB"
MAX_CELLS = "HUMEVAL_POWER_MAX_CELLS"
MAX_COLUMNS = "HUMEVAL_POWER_MAX_COLUMNS"  # each of them costs time of its own
MEGABYTE = 1_000_000
_DEFAULTS = {MAX_MB: 200, MAX_CELLS: 25_000_000, MAX_COLUMNS: 10_000}


def largest_size() -> int:
    """The most bytes that a file may have, unpacked."""
    return _limit(MAX_MB) * MEGABYTE


def largest_table() -> int:
    """The most cells that a table may have."""
    return _limit(MAX_CELLS)


def most_columns() -> int:
    """The most columns that a table may have."""
    return _limit(MAX_COLUMNS)


def too_large(name: str, *, unpacked: bool = False) -> InputError:
    """The refusal of a file beyond the limit of bytes."""
    verb = "unpacks to more than" if unpacked else "is larger than"
    remedy = f"If it is what you mean, raise the limit: {MAX_MB}=2000 in the environment."
    return InputError([Problem(f"{verb} {_limit(MAX_MB):,} MB.", remedy, place=name)])


def refuse_large_table(n_rows: int, n_columns: int, *, place: str) -> None:
    """Refuse a table beyond the limits of columns and of cells.
    Raises InputError: what there is too much of, and how the limit is raised."""
    if n_columns > most_columns():
        rule = f"has {n_columns:,} columns; at most {most_columns():,} are read."
        variable, needed = MAX_COLUMNS, n_columns
    elif n_rows * n_columns > largest_table():
        rule = f"{n_rows:,} rows of {n_columns:,} columns are more than {largest_table():,} cells."
        variable, needed = MAX_CELLS, n_rows * n_columns
    else:
        return
    remedy = f"If it is what you mean, raise the limit: {variable}={needed} in the environment."
    raise refusal(rule, remedy, place=place)


def _limit(variable: str) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return _DEFAULTS[variable]
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InputError(f"{variable} must be a whole number from 1; got {text!r}.")
    return int(text)


STANDARD_INPUT = "-"
_GZIP, EXCEL, PARQUET, OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_SAVE = (
    "Save it as UTF-8: Excel has \u201cCSV UTF-8\u201d among the types of \u201cSave As\u201d. "
    "In a terminal: iconv -f WINDOWS-1252 -t UTF-8 FILE"
)


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, or of standard input where `path` is '-'; gzip is unpacked by `unzipped`.
    Raises InputError: a path that is no file or cannot be read, or content beyond the limit of
    HUMEVAL_POWER_MAX_MB."""
    content = _read(path)
    name = str(path)
    noted = _NOTED.get()
    if noted is not None:
        noted.setdefault(name, Source(Path(name).name, hashlib.sha256(content).hexdigest()))
    return content


def _read(path: str | Path) -> bytes:
    name = str(path)
    if name == STANDARD_INPUT:
        return within(sys.stdin.buffer, "standard input")
    if "\0" in name:
        raise InputError("The name of a file cannot hold a NUL character.")
    file = Path(path)
    try:
        handle, start = _opened(file)
        with os.fdopen(handle, "rb") as source:
            return start + within(source, name)
    except FileNotFoundError:
        raise InputError(f"There is no file {name!r}. {_neighbours(file)}".rstrip()) from None
    except IsADirectoryError:
        raise InputError(f"{name!r} is a directory; name a file.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name!r} cannot be read: {reason}.") from None


def read_text(path: str | Path, *, hint: str = "") -> str:
    """The text of a file as `decoded` reads it."""
    return decoded(read_bytes(path), place=str(path), hint=hint)


def decoded(content: bytes, *, place: str, hint: str = "") -> str:
    """The text of UTF-8, with or without a byte-order mark, or of UTF-16 with one.

    Line ends of old Macintosh programs become line feeds. `hint` is the remedy where it is no such text.
    Raises InputError: bytes that are no such text, with the line; or a NUL.
    """
    if content.startswith(_UTF16_MARKS):
        try:
            text = content.decode("utf-16")
        except UnicodeDecodeError:
            raise refusal("the file is cut off or not UTF-16.", hint or _SAVE, place) from None
    elif (foreign := _other_format(content)) is not None:
        rule, remedy = foreign
        raise refusal(rule, remedy, place)
    elif b"\0" in content:
        raise InputError([_nul(content.count(b"\n", 0, content.index(b"\0")) + 1, hint, place)])
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            row = content.count(b"\n", 0, error.start) + 1
            rule = f"byte {error.start + 1:,} (0x{content[error.start]:02x}) is not UTF-8 text."
            raise refusal(rule, hint or _SAVE, place, row) from None
    if "\0" in text:
        raise InputError([_nul(text.count("\n", 0, text.index("\0")) + 1, hint, place)])
    return text if "\n" in text else text.replace("\r", "\n")


_AS_TABLE = "Save the table in it as CSV UTF-8."
_OTHER_FORMATS: Mapping[bytes, tuple[str, str]] = {
    b"%PDF-": ("a PDF document", "Take the table that it was made of, as CSV UTF-8."),
    b"\x89PNG\r\n": ("a picture (PNG)", "Take the table that it shows, as CSV UTF-8."),
    b"\xff\xd8\xff": ("a picture (JPEG)", "Take the table that it shows, as CSV UTF-8."),
    OLD_EXCEL: ("an old Excel or Word file", "Save its table as .xlsx or as CSV UTF-8."),
    b"$FL2": ("a data file of SPSS", _AS_TABLE),
    b"$FL3": ("a data file of SPSS", _AS_TABLE),
    b"<stata_dta>": ("a data file of Stata", _AS_TABLE),
    b"SQLite format 3\0": ("a database (SQLite)", "Export its table as CSV UTF-8."),
    b"\x93NUMPY": ("an array of NumPy", _AS_TABLE),
    b"\x80\x04\x95": ("a pickle of Python", _AS_TABLE),
    b"RDX3": ("a workspace of R", "Write the table by write.csv."),
    b"X\n\0\0\0": ("an object of R", "Write the table by write.csv."),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "Unpack it."),
    b"Rar!": ("a RAR archive", "Unpack it."),
    b"BZh": ("a bzip2 archive", "Unpack it."),
    b"\xfd7zXZ\0": ("an xz archive", "Unpack it."),
}


def _other_format(content: bytes) -> tuple[str, str] | None:
    """What a file is that is no text, by its first bytes, and the remedy; None where nobody can say."""
    known = (
        (name, remedy) for start, (name, remedy) in _OTHER_FORMATS.items() if content.startswith(start)
    )
    return next(((f"this is {name}, and no table.", remedy) for name, remedy in known), None)


def _nul(row: int, hint: str, place: str) -> Problem:
    rule = "there is a NUL byte: this is not a text file, or not in UTF-8."
    return Problem(rule, hint or _SAVE, place, row)


def encoding_notices(content: bytes) -> tuple[str, ...]:
    """What a reader of the text should know of the bytes."""
    if content.startswith(_UTF8_MARK):
        return ("A byte-order mark at the start of the file was skipped.",)
    if content.startswith(_UTF16_MARKS):
        return ("The file is read as UTF-16, as its byte-order mark says.",)
    return ()


def encoding_of(content: bytes) -> Encoding:
    """How text is encoded, as its byte-order mark says."""
    if content.startswith(_UTF16_MARKS):
        return "UTF-16"
    return "UTF-8-BOM" if content.startswith(_UTF8_MARK) else "UTF-8"


def is_text(content: bytes) -> bool:
    """Whether the bytes are none of the formats of tables that start with bytes of their own."""
    return not content.startswith((EXCEL, PARQUET, OLD_EXCEL, _GZIP))


def unzipped(content: bytes, *, source: str) -> bytes:
    """The content, unpacked where it is gzip.
    Raises InputError: a damaged archive, or one that unpacks to more than the limit."""
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            return within(packed, source, unpacked=True)
    except (OSError, EOFError, zlib.error):
        rule, remedy = "the gzip file is damaged or cut off.", "Fetch or compress it again."
        raise refusal(rule, remedy, place=source) from None


def within(source: BinaryIO | gzip.GzipFile | io.RawIOBase, name: str, *, unpacked: bool = False) -> bytes:
    """Everything that a stream gives. Raises InputError: more than the limit."""
    limit, parts, size = largest_size(), [], 0
    while chunk := source.read(1 << 20):
        size += len(chunk)
        if size > limit:
            raise too_large(name, unpacked=unpacked)
        parts.append(chunk)
    return b"".join(parts)


def _opened(file: Path) -> tuple[int, bytes]:
    """A handle to a regular file, or to a pipe that somebody writes to; and what was read of the pipe."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        if stat.S_ISFIFO(mode):
            return handle, _first(handle)
        if not stat.S_ISREG(mode):
            raise ValueError("it is a device, not a file; '-' reads standard input")
    except BaseException:
        os.close(handle)
        raise
    return handle, b""


def _first(handle: int) -> bytes:
    """The first bytes of a pipe: waits for them where somebody writes, and not where nobody does."""
    try:
        start = os.read(handle, 1)
    except BlockingIOError:  # a writer is there, and has written nothing yet
        os.set_blocking(handle, True)
        return b""
    if not start:
        raise ValueError("nobody writes to this pipe; '-' reads standard input")
    os.set_blocking(handle, True)
    return start


def _neighbours(file: Path) -> str:
    try:
        if not file.parent.is_dir():
            return f"Nor is there a directory {str(file.parent)!r}."
        known = [other.name for other in file.parent.iterdir() if other.is_file()]
    except OSError:
        return ""
    advice = close_to(file.name, known)
    return advice if advice.startswith("Did") else ""


# Zip archives, such as Excel workbooks are, measured by what they state before anything is unpacked.

_MOST_MEMBERS = 10_000  # a workbook of a thousand sheets has some three thousand
_MEMBER_SIZE = 200  # bytes of the directory that a member takes, with its name
_TAIL = 65_557  # bytes in which the end of an archive lies, with its comment
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"


def refuse_bomb(
    file: BinaryIO,
    *,
    source: str,
    most_members: int = _MOST_MEMBERS,
    wanted: Callable[[str], bool] = lambda _name: True,
) -> None:
    """Refuse an archive that states more members or bytes than can be taken; no reader unpacks more than it states.

    wanted : by the name of a member, whether it will be unpacked; the others are not measured.
    Raises InputError: such an archive; zipfile.BadZipFile: one that is damaged.
    """
    # Already to read the list of a million members takes the memory of a machine.
    if max(_directory_sizes(file), default=0) > most_members * _MEMBER_SIZE:
        raise _too_many(source, most_members)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (ValueError, NotImplementedError) as error:  # names that are no text, versions that do not exist
        raise zipfile.BadZipFile(str(error)) from error
    if len(members) > most_members:
        raise _too_many(source, most_members)
    if sum(member.file_size for member in members if wanted(member.filename)) > largest_size():
        raise too_large(source, unpacked=True)


def _directory_sizes(file: BinaryIO) -> Iterator[int]:
    """The bytes of its list of members, by everything that a reader may take for the end of the archive."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    file.seek(0)
    for place in _places(tail, _END, 22):
        stated = struct.unpack_from("<L", tail, place + 12)[0]
        yield 0 if stated == 0xFFFFFFFF else stated
    if _LOCATOR_64 in tail:
        yield from [
            struct.unpack_from("<Q", tail, place + 40)[0] for place in _places(tail, _END_64, 56)
        ] or [size]


def _places(tail: bytes, mark: bytes, length: int) -> Iterator[int]:
    place = tail.find(mark)
    while 0 <= place <= len(tail) - length:
        yield place
        place = tail.find(mark, place + 1)


def _too_many(source: str, most: int) -> InputError:
    rule = f"the archive has more than {most:,} members."
    return InputError([Problem(rule, "Save the ratings as CSV UTF-8.", place=source)])


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
            problems += [replace(one, place=place) for one in error.problems]
    refuse(problems)
    return fees


def read_fee(name: str, path: str | Path | None = None) -> PlatformFee:
    """The fee rule of one platform.
    Raises InputError: as `read_fees`, or a name that the file does not have."""
    fees = read_fees(path)
    if name not in fees:
        close = get_close_matches(name, fees, n=1)
        remedy = f"Do you mean {close[0]!r}?" if close else f"The file has {', '.join(fees)}."
        place = str(path) if path is not None else None
        raise refusal(f"there is no fee rule {name!r}.", remedy, place=place)
    return fees[name]
