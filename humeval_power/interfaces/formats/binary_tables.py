"""Tables in files that other programs pack: Excel workbooks and Parquet, measured before they are unpacked.

Their readers raise errors of many kinds on damaged or hostile files; whatever they raise, the file is at
fault, and is named.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator

import pandas as pd

from humeval_power.errors import InputError, Problem
from humeval_power.extras import require_extra
from humeval_power.interfaces.formats.archives import refuse_bomb
from humeval_power.interfaces.formats.size_limits import (
    largest_size,
    refuse_large_table,
    too_large,
)
from humeval_power.interfaces.formats.text_tables import with_header

_ROWS_AT_ONCE = 4096  # of Parquet: the limit is looked at after each such piece


def read_parquet(content: bytes, *, source: str) -> pd.DataFrame:
    """The table of a Parquet file; rows are numbered as in a spreadsheet, from 2.

    Raises
    ------
    InputError
        A damaged file, one that unpacks to more than the limits, or columns that share a name.
    """
    try:
        frame = _parquet_frame(content, source)
    except InputError:
        raise
    except Exception:  # pyarrow and pandas name no common kind
        raise _refuse(source, "the Parquet file is damaged.", "Write it again.") from None
    names = [str(name) for name in frame.columns]
    doubled = sorted({name for name in names if names.count(name) > 1})[:1]
    if doubled:
        raise _refuse(source, f"several columns are called {doubled[0]!r}.", "Rename all but one.")
    frame = frame.reset_index(drop=True).set_axis(names, axis=1)
    return frame.set_axis(pd.RangeIndex(2, len(frame) + 2), axis=0)


def read_sheets(content: bytes, *, source: str) -> dict[str, pd.DataFrame]:
    """Every sheet of a workbook that is not empty, as text, by name.

    Raises
    ------
    InputError
        A damaged workbook, or one that unpacks to more than the limits.
    EngineMissingError
        The extra [excel] is not installed.
    """
    found = {
        name: cells for name, cells in _sheets(content, source, first=False).items() if not cells.empty
    }
    return {
        name: with_header(cells, source=f"{source}, sheet {name!r}", notices=[])
        for name, cells in found.items()
    }


def read_excel(content: bytes, *, source: str) -> tuple[pd.DataFrame, list[str], str]:
    """The first sheet of a workbook as text, what was assumed, and what messages call it: with the name of the
    sheet where there are others.

    Raises
    ------
    InputError
        A damaged workbook, one that unpacks to more than the limits, or an empty first sheet.
    EngineMissingError
        The extra [excel] is not installed.
    """
    first, *others = _sheets(content, source, first=True).items()
    name, cells = first
    if cells.empty:
        raise _refuse(source, f"the first sheet, {name!r}, is empty.", "Put the ratings first.")
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
                _refuse_wide_sheet(book.book[name].iter_rows(values_only=True), source)
            return {
                name: pd.read_excel(book, sheet_name=name, header=None, dtype=str, na_filter=False)
                if name in read
                else pd.DataFrame()
                for name in names
            }
    except InputError:
        raise
    except Exception:  # zipfile, zlib, the XML parser and openpyxl name no common kind
        rule = "this zip archive is not a readable Excel workbook."
        raise _refuse(source, rule, "Unpack it, or save the workbook again.") from None


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


def _refuse_wide_sheet(rows: Iterator[tuple[object, ...]], source: str) -> None:
    """A cell in the last corner of a sheet makes a table of 17 thousand million cells."""
    widest = 1
    for n_rows, row in enumerate(rows, start=1):
        widest = max(widest, len(row))
        refuse_large_table(n_rows, widest, place=source)


def _refuse(source: str, rule: str, remedy: str) -> InputError:
    return InputError([Problem(rule, remedy, place=source)])
