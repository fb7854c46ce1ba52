"""Cells of a CSV file that no spreadsheet runs as a formula, and their way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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


def table_csv(table: pd.DataFrame, *, digits: int | None = None) -> str:
    """A table as CSV without its index; `digits` are the significant ones of numbers, None for all.

    What is missing is an empty cell.
    """
    header = [_written(str(name)) for name in table]
    columns = [_written_column(table[name], digits) for name in table]
    return "".join(
        f"{line or _EMPTY}\n" for line in (",".join(header), *map(",".join, zip(*columns, strict=True)))
    )


def _written_column(cells: pd.Series, digits: int | None) -> list[str]:
    """The cells of a column as they are written; a text that stands in it often is looked at once."""
    known: dict[str, str] = {}

    def written(value: object) -> str:
        if type(value) is not str:
            return _written(_cell(value, digits))
        if value not in known:
            known[value] = _written(value)
        return known[value]

    pairs = zip(cells.tolist(), cells.isna().tolist(), strict=True)
    return ["" if missing else written(value) for value, missing in pairs]


def _cell(value: object, digits: int | None) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) and digits is not None else str(value)


def _written(cell: str) -> str:
    if _PLAIN.fullmatch(cell):
        return cell
    cell = formula_safe(cell)
    text = _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", cell)  # UTF-8 has none
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
