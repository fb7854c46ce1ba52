"""The texts in a file of any kind, each with its place: lines, cells, values, and what archives hold."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from humeval_power.extras import require_extra

MOST_BYTES = 200_000_000  # unpacked, of one archive
_TAG = re.compile(r"<[^>]*>")
_SHEETS = ("xl/worksheets/", "xl/sharedstrings", "xl/styles", "xl/theme")  # read as cells, or no text


class Piece(NamedTuple):
    """A text and where it stands in its file, such as \"line 3\"."""

    place: str
    text: str


class Texts(NamedTuple):
    """All texts of a file, the bytes that they stand in, and the parts that could not be read ('': all of it)."""

    pieces: list[Piece]
    raw: list[bytes]
    unread: list[str]


def document_texts(name: str, content: bytes) -> Texts:
    """Take a file apart as far as it is text, a table, JSON, a workbook, or an archive of such."""
    if content.startswith(b"PK\x03\x04"):
        return _archive(content)
    if content.startswith(b"\x1f\x8b"):
        unpacked = _gunzipped(content)
        if unpacked is None or unpacked.startswith((b"\x1f\x8b", b"PK\x03\x04")):
            return Texts([], [content], [""])
        inner = document_texts(re.sub(r"\.gz$", "", name, flags=re.IGNORECASE), unpacked)
        return inner._replace(raw=[content, *inner.raw])
    text = _decoded(content)
    if text is None:
        return Texts([], [content], [""])
    return Texts(_pieces(name, text), [content], [])


def _decoded(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig"] if b"\0" in content else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if "\0" in text or content.startswith((b"%PDF", b"PAR1")) else text
    return None


def _pieces(name: str, text: str) -> list[Piece]:
    ending = name.rpartition(".")[2].casefold()
    if ending in ("csv", "tsv"):
        try:
            return list(_cells(text, "\t" if ending == "tsv" else None))
        except csv.Error:
            pass
    try:
        return list(_values(json.loads(text), "$"))
    except (ValueError, RecursionError):
        pass
    pieces = []
    for number, line in enumerate(text.splitlines(), start=1):
        pieces.append(Piece(f"line {number}", line))
        if line.lstrip().startswith("{") and "\\u" in line:
            try:
                pieces += list(_values(json.loads(line), f"line {number}: $"))
            except (ValueError, RecursionError):
                continue
    return pieces


def _cells(text: str, delimiter: str | None) -> Iterator[Piece]:
    first = text.split("\n", 1)[0]
    delimiter = delimiter or max(",;\t", key=first.count)
    header: list[str] = []
    for row, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1):
        header = header or cells
        for column, cell in enumerate(cells):
            named = repr(header[column]) if column < len(header) else str(column + 1)
            yield Piece("the header" if row == 1 else f"row {row}, column {named}", cell)


def _values(value: Any, at: str) -> Iterator[Piece]:
    """Keys, texts and whole numbers of a JSON document; of decimals no part is an id."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield Piece(f"{at}, a key", key)
            yield from _values(part, f"{at}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _values(part, f"{at}[{number}]")
    elif isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield Piece(at, str(value))


def _gunzipped(content: bytes) -> bytes | None:
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return unpacked if len(unpacked) <= MOST_BYTES else None


def _archive(content: bytes) -> Texts:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                return Texts([], [content], [""])
            members = {one.filename: archive.read(one) for one in archive.infolist() if not one.is_dir()}
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ):
        return Texts([], [content], [""])
    found = Texts([], [content, *members.values()], [])
    cells = _workbook(content) if "xl/workbook.xml" in members else None
    found.pieces.extend(cells or ())
    for name, inside in members.items():
        found.pieces.append(Piece(f"the name of {name}", name))
        if cells is not None and name.casefold().startswith(_SHEETS):
            continue
        text = None if inside.startswith((b"PK\x03\x04", b"\x1f\x8b")) else _decoded(inside)
        if text is None:
            found.unread.append(name)
        elif inside.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") and name.endswith((".xml", ".rels")):
            # One word may be split over several elements, or several words stand in one each.
            found.pieces.extend(
                Piece(name, html.unescape(_TAG.sub(between, text))) for between in ("", " ")
            )
        else:
            found.pieces.extend(
                Piece(f"{name}, {piece.place}", piece.text) for piece in _pieces(name, text)
            )
    return found


def _workbook(content: bytes) -> list[Piece] | None:
    """The cells, comments and names of the sheets of a workbook; None where it cannot be read."""
    require_extra("excel", wanted_for="Looking for what must not be published in an Excel workbook")
    import openpyxl

    pieces = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # remarks on styles do not matter
            book = openpyxl.load_workbook(io.BytesIO(content))
        for sheet in book.worksheets:
            pieces.append(Piece("the name of a sheet", sheet.title))
            for row in sheet.iter_rows():
                for cell in row:
                    at = f"sheet {sheet.title!r}, cell {cell.coordinate}"
                    if isinstance(cell.value, str | int) and not isinstance(cell.value, bool):
                        pieces.append(Piece(at, str(cell.value)))
                    if cell.comment is not None:
                        pieces.append(
                            Piece(f"{at}, its comment", f"{cell.comment.author} {cell.comment.text}")
                        )
    except Exception:
        return None
    return pieces
