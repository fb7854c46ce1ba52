"""The bytes of a file that a user names: read once, as a whole, and never more than a limit.

A compressed file of a megabyte can hold gigabytes, a device never ends, and a pipe that nobody writes to
never begins: each is refused before it takes the machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem, refusal
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
