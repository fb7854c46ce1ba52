"""The bytes of a file that a user names: read once, as a whole, and never more than a limit.

A compressed file of a megabyte can hold gigabytes, a device never ends, and a pipe that nobody writes to
never begins: each is refused before it takes the machine.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.files_read import note_file
from humeval_power.interfaces.formats.size_limits import largest_size, too_large

if TYPE_CHECKING:
    from humeval_power.checking.origin import Encoding


STANDARD_INPUT = "-"
_GZIP, EXCEL, PARQUET, OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_SAVE = "Save the file as UTF-8; if it comes from Windows: iconv -f WINDOWS-1252 -t UTF-8 FILE"


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, or of standard input where `path` is '-'; gzip is unpacked by `unzipped`.

    Raises
    ------
    InputError
        A path that is no file or cannot be read, or content beyond the limit of HUMEVAL_POWER_MAX_MB.
    """
    content = _read(path)
    note_file(str(path), content)
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

    Raises
    ------
    InputError
        Bytes that are no such text, with the line; or a NUL.
    """
    if content.startswith(_UTF16_MARKS):
        try:
            text = content.decode("utf-16")
        except UnicodeDecodeError:
            raise InputError(
                [Problem("the file is cut off or not UTF-16.", hint or _SAVE, place)]
            ) from None
    elif b"\0" in content:
        raise InputError([_nul(content.count(b"\n", 0, content.index(b"\0")) + 1, hint, place)])
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            row = content.count(b"\n", 0, error.start) + 1
            rule = f"byte {error.start + 1:,} (0x{content[error.start]:02x}) is not UTF-8 text."
            raise InputError([Problem(rule, hint or _SAVE, place, row)]) from None
    if "\0" in text:
        raise InputError([_nul(text.count("\n", 0, text.index("\0")) + 1, hint, place)])
    return text if "\n" in text else text.replace("\r", "\n")


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

    Raises
    ------
    InputError
        A damaged archive, or one that unpacks to more than the limit.
    """
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            return within(packed, source, unpacked=True)
    except (OSError, EOFError, zlib.error):
        rule, remedy = "the gzip file is damaged or cut off.", "Fetch or compress it again."
        raise InputError([Problem(rule, remedy, place=source)]) from None


def within(source: BinaryIO | gzip.GzipFile | io.RawIOBase, name: str, *, unpacked: bool = False) -> bytes:
    """Everything that a stream gives.

    Raises
    ------
    InputError
        More than the limit.
    """
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
