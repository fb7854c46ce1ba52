"""An export before it is known whose it is: its bytes, its text, its table and its JSON, each read once."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from humeval_power.checking.cells import as_texts
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.files.file_bytes import (
    EXCEL,
    PARQUET,
    STANDARD_INPUT,
    decoded,
    encoding_notices,
    parse_json,
    read_bytes,
    unzipped,
)
from humeval_power.files.text_tables import read_delimited, read_excel, read_json_lines, read_parquet
from humeval_power.saying.numbers import counted

_FIRST = 65_536  # characters that a format is told from
_MOST_PROBLEMS = 5


class RawExport:
    """A file, or a folder, that a platform wrote. Raises InputError: a file that is missing or cannot be read."""

    def __init__(self, path: str | Path, content: bytes | None = None) -> None:
        """`content` are the bytes of the file, where it has been read."""
        self.path = Path(path)
        self.source = "standard input" if str(path) == STANDARD_INPUT else self.path.name
        self.is_folder = content is None and self.path.is_dir()
        content_here = b"" if self.is_folder else read_bytes(path) if content is None else content
        self.sha256 = "" if self.is_folder else hashlib.sha256(content_here).hexdigest()
        self.content = unzipped(content_here, source=self.source)

    @property
    def is_excel(self) -> bool:
        """Whether it is a workbook."""
        return self.content.startswith(EXCEL)

    @property
    def _is_packed(self) -> bool:
        """Whether the bytes are no text of a file: a folder, a workbook or Parquet."""
        return self.is_folder or self.content.startswith((EXCEL, PARQUET))

    @cached_property
    def text(self) -> str:
        """The text of the file; nothing of a folder, a workbook or Parquet.
        Raises InputError: bytes that are no text."""
        return "" if self._is_packed else decoded(self.content, place=self.source)

    @property
    def head(self) -> str:
        """The beginning of the text, without blanks before it."""
        return self.text[:_FIRST].lstrip(" \r\n\t")

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON: an array, or objects."""
        return self.head[:1] in ("{", "[")

    @cached_property
    def table(self) -> pd.DataFrame:
        """The cells as text, numbered as the file counts its rows (the header is row 1).
        Raises InputError: a file that is no table."""
        if self.is_excel:
            frame, _, _ = read_excel(self.content, source=self.source)
        elif self.content.startswith(PARQUET):
            frame = as_texts(self._cells)
        elif self.is_json:
            frame = read_json_lines(self.text, source=self.source)
        else:
            frame, _ = read_delimited(self.text, source=self.source)
        frame.columns = [str(name).strip() for name in frame.columns]
        frame.index.name = ROW_INDEX
        return frame

    @cached_property
    def _cells(self) -> pd.DataFrame:
        """The table of a Parquet file with its types."""
        return read_parquet(self.content, source=self.source)

    def take_table(self, frame: pd.DataFrame) -> None:
        """Take the table as it has been read, so that it is not read twice."""
        if self.content.startswith(PARQUET):
            self._cells = frame
        else:
            self.table = frame

    @cached_property
    def tab_table(self) -> pd.DataFrame:
        """The cells of a table whose lines are cut at tabs alone: quotation marks in it are text.
        Raises InputError: rows that have not as many cells as the header."""
        lines = [line.rstrip("\r") for line in self.text.split("\n")]
        header, rows = lines[0].split("\t"), {}
        problems = []
        for number, line in enumerate(lines[1:], start=2):
            if not line:
                continue
            cells = line.split("\t")
            if len(cells) != len(header):
                rule = f"has {counted(len(cells), 'cell')}; the header has {len(header)}."
                problems.append(Problem(rule, "Is the file complete?", self.source, number))
            rows[number] = cells
        if problems:
            raise InputError(problems[:_MOST_PROBLEMS])
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=header)
        frame.index.name = ROW_INDEX
        return frame

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns; none where it is no table."""
        if self.is_folder or self.is_json:
            return ()
        try:
            if self.content.startswith(PARQUET):  # whose cells need not become text for that
                return tuple(str(name).strip() for name in self._cells.columns)
            return tuple(self.table.columns)
        except InputError:
            return ()

    @cached_property
    def json(self) -> Any:
        """The JSON of the file. Raises InputError: text that is no JSON, with the line."""
        return parse_json(self.text, place=self.source)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was assumed in reading the bytes."""
        return () if self._is_packed else tuple(encoding_notices(self.content))
