"""Tables in text files: values separated by commas, semicolons or tabs, and JSON Lines."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from typing import Any

import pandas as pd

from humeval_power.checking.columns import listing, shortened
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.extras import require_extra
from humeval_power.files.file_bytes import (
    largest_size,
    largest_table,
    most_columns,
    parse_json,
    refuse_bomb,
    refuse_large_table,
    too_large,
)
from humeval_power.safe_text import original_cells
from humeval_power.saying.numbers import counted

# Delimited text whose rows all have as many cells as the header, read by Arrow in one pass.

_LONGEST_HEADER = 100_000  # characters; one cell of more is beyond what `csv` takes by itself


def even_cells(text: str, separator: str) -> pd.DataFrame | None:
    """The cells of a text that ends in a line feed, header and blank lines among them; None where its rows are
    uneven, too many, or cut in a way on which readers differ: a slower reader then finds out."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header = text[: text.index("\n")]
    if len(header) > _LONGEST_HEADER or text.count("\r") != text.count("\r\n"):
        return None
    quoted = '"' in text
    width = len(next(csv.reader([header], delimiter=separator), []))
    # A blank line becomes a row of as many cells as the header has.
    if width < 2 or width > most_columns() or text.count("\n") * width > largest_table():
        return None
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=True),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=quoted, ignore_empty_lines=False
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={f"f{place}": pa.large_string() for place in range(width)},
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, csv.Error):
        return None
    if table.num_columns != width:
        return None
    # Arrow takes a quotation mark that is never closed for one that closes with the text.
    if quoted and table.column(width - 1)[-1].as_py().endswith("\n"):
        return None
    frame: pd.DataFrame = table.to_pandas()
    return frame.set_axis(range(width), axis=1)


SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
LISTED = 5  # rows that are shown for each kind of problem; the rest is counted
_CUT_OFF = "Is the file cut off in this last row? Fetch or save it again, or delete the row."
_ONE_A_LINE = "Write one complete object a line."


def read_delimited(text: str, *, source: str) -> tuple[pd.DataFrame, list[str]]:
    """The cells as text, the index counting rows as a spreadsheet does, and what was assumed.

    Arrow reads a table in one pass. What it does not take is read again, row by row, to say what is wrong.
    """
    text, notices = text.rstrip("\r\n") + "\n", []
    if not text[: text.index("\n")].strip():
        raise InputError([_blank_header(source)])
    separator = separator_of(text)
    cells = even_cells(text, separator)
    if cells is None:
        widths = _Widths(text, source)
        separator, cells = widths.separator, _read_slowly(text, widths, source)
    if separator in ";|":
        notices.append(f"The columns are separated by a {SEPARATORS[separator]} ({separator!r}).")
    return with_header(cells, source=source, notices=notices), notices


def _read_slowly(text: str, widths: _Widths, source: str) -> pd.DataFrame:
    """The cells as text, or everything that is wrong with the rows."""
    widths.refuse_too_many()
    failure = None
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            sep=widths.separator,
            header=None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
        )
    except (ValueError, OverflowError) as error:  # pandas' own kinds are children of ValueError
        failure = str(error)
    unclosed = re.search(r"EOF inside string starting at row (\d+)", failure or "")
    if unclosed:
        is_last = int(unclosed[1]) + 1 >= text.count("\n")
        problem = Problem(
            "a quotation mark is opened and never closed.",
            _CUT_OFF
            if is_last
            else 'Close it; a quotation mark inside a quoted cell is written twice ("").',
            place=source,
            row=int(unclosed[1]) + 1,
        )
        raise InputError([problem])
    widths.refuse_uneven()
    if failure is not None:
        raise refusal(f"this is not a table of text: {failure}.", place=source)
    return cells


def read_json_lines(text: str, *, source: str) -> pd.DataFrame:
    """One row for each JSON object; the index counts the lines of the file from 1."""
    if record := re.match(r'\s*\{\s*"schema": "humeval_power/(\w+)/', text):
        rule = f"is a record of humeval-power ({record[1]}), which holds no rows."
        remedy = "Give the table that it was made from; the record of a last board is for --last-board."
        raise refusal(rule, remedy, place=source)
    records: dict[int, dict[str, object]] = {}
    names: dict[str, None] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line, place=source, row=number, hint=_ONE_A_LINE, nan=True)
        except InputError as error:
            problems += error.problems
            continue
        if isinstance(record, dict):
            records[number] = record
            names.update(dict.fromkeys(record))
        else:
            rule = "each line must hold one JSON object, {...}."
            problems.append(Problem(rule, _ONE_A_LINE, place=source, row=number))
    if problems:
        raise InputError(_capped(problems, source))
    refuse_large_table(len(records), len(names), place=source)
    # As objects, whole numbers stay whole where other rows lack the field.
    return pd.DataFrame(list(records.values()), index=pd.Index(list(records)), dtype=object)


def read_json_array(text: str, *, source: str) -> tuple[pd.DataFrame, list[str]]:
    """One row for each object of an array, by its place from 1; and what is said of columns that hold lists or
    objects, such as conversations, which are left out."""
    document = parse_json(text, place=source, nan=True)
    wrong = [place for place, each in enumerate(document, 1) if not isinstance(each, dict)]
    if wrong:
        rule = "each entry of the array must be an object, {...}."
        raise refusal(rule, "Is this the right file?", place=source, row=wrong[0])
    nested = {name for each in document for name, value in each.items() if isinstance(value, list | dict)}
    rows = [{name: value for name, value in each.items() if name not in nested} for each in document]
    refuse_large_table(len(rows), len({name for row in rows for name in row}), place=source)
    left_out = [f"Columns of lists and objects are left out: {listing(sorted(nested))}."] if nested else []
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1), dtype=object), left_out


def with_header(cells: pd.DataFrame, *, source: str, notices: list[str]) -> pd.DataFrame:
    """Take the first row of text cells as the header; the rows below are numbered from 2.

    Cells are what they were before `table_csv` made them safe for a spreadsheet; `notices` say so.
    """
    header = original_cells([str(name).strip() for name in cells.iloc[0]])
    if not any(header):
        raise InputError([_blank_header(source)])
    doubled = {name: count for name, count in Counter(header).items() if name and count > 1}
    if doubled:
        rows = [
            Problem(f"{count:,} columns bear this name.", "Rename all but one.", source, 1, shortened(name))
            for name, count in sorted(doubled.items())
        ]
        raise InputError(_capped(rows, source, what="names"))
    body = cells.iloc[1:].copy()
    for place, name in zip(body, header, strict=True):
        _take_guards_away(body, place, name, notices)
    body.columns = pd.Index([name or f"(column {i} without a name)" for i, name in enumerate(header, 1)])
    return body.set_axis(pd.RangeIndex(2, len(body) + 2), axis=0)


def _take_guards_away(body: pd.DataFrame, place: Any, name: str, notices: list[str]) -> None:
    """Take from a column the apostrophes that keep a spreadsheet from running its cells."""
    if not body[place].str.startswith("'").any():
        return
    result = body[place].tolist()
    original = original_cells(result)
    n_guarded = sum(a is not b for a, b in zip(result, original, strict=True))
    if n_guarded:
        body[place] = original
        cells = counted(n_guarded, "cell")
        notices.append(
            f"Column {name!r}: the apostrophe that keeps a spreadsheet from running {cells} was taken away."
        )


def _blank_header(source: str) -> Problem:
    remedy = "The first row must name the columns: worker, item, system, rating."
    return Problem("the header is blank.", remedy, place=source, row=1)


class _Widths:
    """How many cells each row of a delimited text has, and what separates them."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        limit = csv.field_size_limit(len(text) + 1)  # ids are sometimes whole passages
        try:
            self.separator = separator_of(text)
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
            self._widths = [len(row) for row in rows]
        except csv.Error as error:
            raise refusal(f"this is not a table of text: {error}.", place=source) from None
        finally:
            csv.field_size_limit(limit)

    def refuse_too_many(self) -> None:
        """Short rows are filled up to the width of the header, so a small file can make a large table."""
        refuse_large_table(len(self._widths), self._widths[0], place=self._source)

    def refuse_uneven(self) -> None:
        """Every row must have as many cells as the header; blank lines are rows without cells."""
        wanted, n_rows = self._widths[0], len(self._widths)
        quoted = f"A cell that contains a {SEPARATORS[self.separator]} must stand in quotation marks."
        problems = [
            Problem(
                f"the row has {counted(width, 'cell')}, but the header has {wanted:,}.",
                _CUT_OFF if row == n_rows and width < wanted else quoted,
                place=self._source,
                row=row,
            )
            for row, width in enumerate(self._widths, start=1)
            if width not in (0, wanted)
        ]
        if problems:
            raise InputError(_capped(problems, self._source))


def separator_of(text: str) -> str:
    """The separator that makes most columns of the header; the comma where none makes two."""
    header = text[: text.index("\n")]

    def fields(separator: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=separator), []))
        except csv.Error:  # a field beyond all limits, which reading the table tells
            return 0

    return max(SEPARATORS, key=fields)


def _capped(problems: list[Problem], source: str, *, what: str = "rows") -> list[Problem]:
    rest = len(problems) - LISTED
    if rest <= 0:
        return problems
    return [*problems[:LISTED], Problem(f"and {rest:,} more {what} like this.", "", place=source)]


# Tables in files that other programs pack: Excel workbooks and Parquet, measured before they are
# unpacked.

_ROWS_AT_ONCE = 4096  # of Parquet: the limit is looked at after each such piece


def read_parquet(content: bytes, *, source: str) -> pd.DataFrame:
    """The table of a Parquet file; rows are numbered as in a spreadsheet, from 2.
    Raises InputError: a damaged file, one that unpacks to more than the limits, or columns that share a name."""
    try:
        frame = _parquet_frame(content, source)
    except InputError:
        raise
    except Exception:  # pyarrow and pandas name no common kind
        raise refusal("the Parquet file is damaged.", "Write it again.", source) from None
    names = [str(name) for name in frame.columns]
    doubled = sorted({name for name in names if names.count(name) > 1})[:1]
    if doubled:
        raise refusal(f"several columns are called {doubled[0]!r}.", "Rename all but one.", source)
    frame = frame.reset_index(drop=True).set_axis(names, axis=1)
    return frame.set_axis(pd.RangeIndex(2, len(frame) + 2), axis=0)


def read_sheets(content: bytes, *, source: str) -> dict[str, pd.DataFrame]:
    """Every sheet of a workbook that is not empty, as text, by name.
    Raises InputError: a damaged workbook, or one that unpacks to more than the limits; EngineMissingError: the
    extra [excel] is not installed."""
    sheets = {
        name: cells for name, cells in _sheets(content, source, first=False).items() if not cells.empty
    }
    return {
        name: with_header(cells, source=f"{source}, sheet {name!r}", notices=[])
        for name, cells in sheets.items()
    }


def read_excel(content: bytes, *, source: str) -> tuple[pd.DataFrame, list[str], str]:
    """The first sheet of a workbook as text, what was assumed, and what messages call it: with the name of the
    sheet where there are others.
    Raises InputError: a damaged workbook, one that unpacks to more than the limits, or an empty first sheet;
    EngineMissingError: the extra [excel] is not installed."""
    first, *others = _sheets(content, source, first=True).items()
    name, cells = first
    if cells.empty:
        raise refusal(f"the first sheet, {name!r}, is empty.", "Put the ratings first.", source)
    notices: list[str] = []
    if others:
        rest = ", ".join(repr(other) for other, _ in others)
        notices.append(f"Only the first sheet is read, {name!r}; not {rest}.")
        source = f"{source}, first sheet {name!r}"
    return with_header(cells, source=source, notices=notices), notices, source


def _sheets(content: bytes, source: str, *, first: bool) -> dict[str, pd.DataFrame]:
    """The cells of every sheet by its name; with `first` those of the others are left empty."""
    require_extra("excel", wanted_for=f"Reading {source}, an Excel workbook,")
    try:
        refuse_bomb(io.BytesIO(content), source=source)
        with warnings.catch_warnings(), pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
            warnings.simplefilter("ignore")  # openpyxl's remarks on styles and pandas' do not matter
            names = [str(name) for name in book.sheet_names]
            read = names[:1] if first else names
            for name in read:
                widest = 1  # a cell in the last corner makes a table of 17 thousand million cells
                for n_rows, row in enumerate(book.book[name].iter_rows(values_only=True), start=1):
                    widest = max(widest, len(row))
                    refuse_large_table(n_rows, widest, place=source)
            return {
                name: pd.read_excel(book, sheet_name=name, header=None, dtype=str, na_filter=False)
                if name in read
                else pd.DataFrame()
                for name in names
            }
    except InputError:
        raise
    except Exception:  # zipfile, zlib, the XML parser and openpyxl name no common kind
        if b"word/document.xml" in content:
            raise refusal(
                "this is a Word document, and no table.", "Save its table as CSV UTF-8.", source
            ) from None
        rule = "this zip archive is not a readable Excel workbook."
        raise refusal(rule, "Unpack it, or save the workbook again.", source) from None


def _parquet_frame(content: bytes, source: str) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(content))
    about = file.metadata
    refuse_large_table(about.num_rows, about.num_columns, place=source)
    pieces, size = [], 0
    # A dictionary of one long text stands for any number of rows: only what comes out tells the size.
    for piece in file.iter_batches(batch_size=_ROWS_AT_ONCE):
        size += piece.nbytes
        if size > largest_size():
            raise too_large(source, unpacked=True)
        pieces.append(piece)
    frame: pd.DataFrame = pa.Table.from_batches(pieces, schema=file.schema_arrow).to_pandas()
    return frame
