"""A file before it is known whose log it is: its bytes, its lines and its JSON, each read once."""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import os
import zipfile
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import decoded, read_bytes, unzipped
from humeval_power.interfaces.formats.json_text import parse_json
from humeval_power.interfaces.formats.text_tables import read_delimited

_FIRST = 65_536  # bytes that a format is told from
_COLUMNS = (b"user_input", b"request", b"Named Scores")  # of ragas, MLflow and promptfoo
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_HALF = "The log is cut off here, or was damaged: run the evaluation to its end"


class RawLog:
    """A regular file that may be a log; `source` is what messages call it. Only its beginning is read at first."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = path, source

    @cached_property
    def head(self) -> bytes:
        """The beginning of the content, unpacked where it is gzip, without blanks before it."""
        try:
            with self.path.open("rb") as file:
                start = file.read(_FIRST)
            if start.startswith(_GZIP):
                with gzip.open(self.path) as packed:
                    start = packed.read(_FIRST)
        except (OSError, EOFError, zlib.error):
            return b""
        return start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \r\n\t")

    @property
    def may_be_log(self) -> bool:
        """Whether it starts as JSON, as an archive, or with a column that only tables of harnesses have."""
        header = self.head.split(b"\n", 1)[0]
        return header.startswith((b"{", b"[", _ZIP)) or any(column in header for column in _COLUMNS)

    @property
    def is_zip(self) -> bool:
        """Whether it is an archive, such as Inspect's .eval files."""
        return self.head.startswith(_ZIP)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The members of an archive; none of what is no archive, or a broken one."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return tuple(archive.namelist())
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
            return ()  # names that are no text raise a ValueError

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object of a file of JSON lines or of an array; {} where there is none that can be read."""
        text = self.head.decode("utf-8", "ignore")
        if not text.startswith(("{", "[")):
            return {}
        line = text.split("\n", 1)[0]
        try:
            if text.startswith("{") and len(line) < len(text):
                found = parse_json(line, place=self.source, any_number=True)
            else:
                found = self.records[0][1] if self.records else {}
        except InputError:
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def content(self) -> bytes:
        """All bytes, unpacked where they are gzip."""
        return unzipped(read_bytes(self.path), source=self.source)

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The archive, in memory."""
        return zipfile.ZipFile(io.BytesIO(self.content))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return decoded(self.content, place=self.source)

    @cached_property
    def json(self) -> Any:
        """The value of the whole text.

        Raises
        ------
        InputError
            A text that is no JSON, with the line.
        """
        return parse_json(self.text, place=self.source, hint=f"{_HALF}.", any_number=True)

    @cached_property
    def records(self) -> list[tuple[int, dict[str, Any]]]:
        """The objects of a file of JSON lines, each with its line; or of an array, with its place.

        Raises
        ------
        InputError
            Lines that are no JSON objects, all of them.
        """
        if self.text.lstrip().startswith("["):
            found = list(enumerate(self.json, start=1))
        else:
            found, problems = [], list[Problem]()
            for row, line in enumerate(self.text.split("\n"), start=1):
                if not line.strip():
                    continue
                try:
                    value = parse_json(
                        line,
                        place=self.source,
                        row=row,
                        hint=f"{_HALF}, or delete this line.",
                        any_number=True,
                    )
                    found.append((row, value))
                except InputError as error:
                    problems += error.problems
            if problems:
                raise InputError(problems[:5])
        wrong = [row for row, value in found if not isinstance(value, dict)]
        if wrong:
            rule = "is no JSON object, {...}: every sample is one."
            raise InputError([Problem(rule, "Is this the right file?", self.source, wrong[0])])
        return found

    @cached_property
    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The same of any table: of JSON lines, of an array, or of text with a header, each with its row."""
        if self.head.startswith((b"{", b"[")):
            return self.records
        frame, _ = read_delimited(self.text, source=self.source)
        cells = frame.to_dict("records")
        return [
            (int(row), {str(name): cell for name, cell in one.items()})
            for row, one in zip(frame.index, cells, strict=True)
        ]

    def beside(self, name: str) -> RawLog:
        """Another file of the same folder."""
        parent = os.path.dirname(self.source)
        return RawLog(self.path.with_name(name), os.path.join(parent, name))


def text_of(value: object) -> str | None:
    """A scalar of JSON as text; None for null, lists and objects."""
    if value is None or isinstance(value, list | dict):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def texts_in(record: object) -> dict[str, str]:
    """The scalars of an object as texts; {} of anything else."""
    if not isinstance(record, dict):
        return {}
    return {str(name): text for name, value in record.items() if (text := text_of(value))}


def number_of(value: object) -> float | None:
    """A score as a number: yes or no is 1 or 0; None for what is no finite number."""
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None
