"""Cells of a CSV file that no spreadsheet runs as a formula, and their way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# Also the full-width signs, and a mark of byte order, which a spreadsheet skips.
_RUN = re.compile(r"'*[=+\-@\t\r\n\ufeff\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_. :/-]*")  # most cells, at the price of one look
_QUOTED = re.compile(r'[,"\r\n]')
_EMPTY = '""'  # a line of one empty cell would be a blank line, which readers skip
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def formula_safe(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it; plain numbers stay as they are.

    A cell that already has apostrophes before such a sign gets one more, so that taking one away is
    always the way back.
    """
    return f"'{cell}" if _RUN.match(cell) and not _NUMBER.fullmatch(cell) else cell


def original_cells(cells: Sequence[str]) -> list[str]:
    """The cells of a column before `formula_safe`.

    A column with a cell that a spreadsheet would run was not written by `formula_safe`: it stays as it is,
    and so no two names of a table ever become one.
    """
    if not any(cell.startswith("'") for cell in cells):
        return list(cells)
    different = {cell for cell in cells if _RUN.match(cell)}
    guarded = {cell: cell[1:] for cell in different if cell.startswith("'")}
    if not guarded or any(formula_safe(cell) != cell for cell in different - set(guarded)):
        return list(cells)
    return [guarded.get(cell, cell) for cell in cells]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV: commas, line feeds, quotation marks where needed, and no formulas."""
    lines = [header, *rows]
    return "".join(f"{','.join(map(_written, line)) or _EMPTY}\n" for line in lines)


def columns_csv(columns: Mapping[str, Sequence[str]]) -> str:
    """Columns of text of one length as CSV, under their names; a text that stands often is looked at once."""
    return _joined(list(columns), [_written_texts(cells) for cells in columns.values()])


def table_csv(table: pd.DataFrame, *, digits: int | None = None) -> str:
    """A table as CSV without its index; `digits` are the significant ones of numbers, None for all.

    What is missing is an empty cell.
    """
    names = [str(name) for name in table]
    return _joined(names, [_written_column(table.iloc[:, place], digits) for place in range(len(names))])


def _joined(names: Sequence[str], columns: Sequence[list[str]]) -> str:
    """Cells as they are written, column by column, as the lines of a file: their texts lie in one piece of memory
    from the start."""
    header = f"{','.join(map(_written, names)) or _EMPTY}\n"
    if not columns or not columns[0]:
        return header
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(columns) == 1:
        columns = [[cell or _EMPTY for cell in columns[0]]]
    *others, last = (pa.array(cells, pa.large_string()) for cells in columns)
    nothing, feed, comma = (pa.scalar(text, pa.large_string()) for text in ("", "\n", ","))
    ended = pc.binary_join_element_wise(last, nothing, feed)
    lines = pc.binary_join_element_wise(*others, ended, comma)
    body: bytes = lines.buffers()[2].to_pybytes()
    return header + body.decode()


def _written_column(cells: pd.Series, digits: int | None) -> list[str]:
    """The cells of a column as they are written."""
    values, missing = cells.tolist(), cells.isna()
    if missing.any():
        values = ["" if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]
    if set(map(type, values)) <= {str, int}:  # of which none equals another that is written otherwise
        return _written_texts(values)
    return [_written(_cell(value, digits)) for value in values]


def _written_texts(values: Sequence[str | int]) -> list[str]:
    """Texts and whole numbers as they are written, each different one looked at once."""
    written = {value: _written(str(value)) for value in set(values)}
    return [written[value] for value in values]


def _cell(value: object, digits: int | None) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) and digits is not None else str(value)


def _written(cell: str) -> str:
    if _PLAIN.fullmatch(cell):
        return cell
    cell = formula_safe(cell)
    text = _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", cell)  # UTF-8 has none
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
