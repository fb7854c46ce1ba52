"""Tables of ratings in the files that people have, read as text so that ids such as 007 survive."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import pandas as pd
from openpyxl.utils.exceptions import InvalidFileException

from humeval_power.checking.columns import close_to
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.text_tables import read_delimited, read_json_lines, with_header

STANDARD_INPUT = "-"
_NO_WORKBOOK = (OSError, ValueError, KeyError, TypeError, SyntaxError, BadZipFile, InvalidFileException)


class SourceTable(NamedTuple):
    """A table as it was found: cells as text where the file has text, rows numbered as in the file.

    `sha256` is the digest of the bytes of the file; `notices` say what was assumed in reading it.
    """

    frame: pd.DataFrame
    source: str
    sha256: str
    notices: tuple[str, ...]


def read_table(path: str | Path) -> SourceTable:
    """Read a table from a file, or from standard input where `path` is '-'.

    The format is told from the content (Parquet, Excel, gzip) and for text from its first character.

    Raises
    ------
    InputError
        A file that is missing, empty, undecodable or not a table; with the row where there is one.
    """
    content = _read_bytes(path)
    source = "standard input" if str(path) == STANDARD_INPUT else Path(path).name
    digest = hashlib.sha256(content).hexdigest()
    frame, notices = _parse(_unzipped(content, source), source)
    if frame.empty:
        raise _refuse(source, "the table has a header but no rows.", "Is this the right file?")
    if len(frame.columns) == 1:
        rule = f"there is only one column, {frame.columns[0]!r}."
        raise _refuse(source, rule, "Separate the columns by commas, semicolons or tabs.")
    frame.index.name = ROW_INDEX
    return SourceTable(frame, source, digest, tuple(notices))


def _read_bytes(path: str | Path) -> bytes:
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    file = Path(path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path)!r}. {_neighbours(file)}".rstrip()) from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a directory; name the file with the ratings.") from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}.") from None


def _neighbours(file: Path) -> str:
    if not file.parent.is_dir():
        return f"Nor is there a directory {str(file.parent)!r}."
    known = [other.name for other in file.parent.iterdir() if other.is_file()]
    advice = close_to(file.name, known)
    return advice if advice.startswith("Did") else ""


def _unzipped(content: bytes, source: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise _refuse(
            source, "the gzip file is damaged or cut off.", "Fetch or compress it again."
        ) from None


def _parse(content: bytes, source: str) -> tuple[pd.DataFrame, list[str]]:
    if not content.strip():
        raise _refuse(source, "the file is empty.", "Is this the right file?")
    if content.startswith(b"PAR1"):
        return _read_parquet(content, source), []
    if content.startswith(b"PK\x03\x04"):
        return _read_excel(content, source)
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise _refuse(source, "old Excel files (.xls) are not read.", "Save it as .xlsx or as CSV UTF-8.")
    if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        return read_json_lines(content, source=source)
    if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"["):
        remedy = "Write one object a line (with jq: jq -c '.[]' FILE), or save it as CSV."
        raise _refuse(source, "a JSON array is not read; JSON Lines is.", remedy)
    return read_delimited(content, source=source)


def _read_parquet(content: bytes, source: str) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except (OSError, ValueError):
        raise _refuse(source, "the Parquet file is damaged.", "Write it again.") from None
    frame = frame.reset_index(drop=True)
    return frame.set_axis(pd.RangeIndex(2, len(frame) + 2), axis=0)


def _read_excel(content: bytes, source: str) -> tuple[pd.DataFrame, list[str]]:
    try:
        with warnings.catch_warnings(), pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
            warnings.simplefilter("ignore", UserWarning)  # openpyxl's remarks on styles do not matter
            sheets = [str(name) for name in book.sheet_names]
            cells = pd.read_excel(book, sheet_name=sheets[0], header=None, dtype=str, na_filter=False)
    except _NO_WORKBOOK:
        rule = "this zip archive is not a readable Excel workbook."
        raise _refuse(source, rule, "Unpack it, or save the workbook again.") from None
    if cells.empty:
        raise _refuse(source, f"the first sheet, {sheets[0]!r}, is empty.", "Put the ratings first.")
    notices: list[str] = []
    if len(sheets) > 1:
        rest = ", ".join(map(repr, sheets[1:]))
        notices.append(f"Only the first sheet is read, {sheets[0]!r}; not {rest}.")
    return with_header(cells, source=source, notices=notices), notices


def _refuse(source: str, rule: str, remedy: str) -> InputError:
    return InputError([Problem(rule, remedy, place=source)])
