"""Cells of a CSV file that no spreadsheet runs as a formula, and their way back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_RUN = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # also the full-width signs
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def formula_safe(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it; plain numbers stay as they are.

    A cell that already has apostrophes before such a sign gets one more, so that taking one away is
    always the way back.
    """
    return f"'{cell}" if _RUN.match(cell) and not _NUMBER.fullmatch(cell) else cell


def original_cell(cell: str) -> str:
    """The cell before `formula_safe`."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV: commas, line feeds, quotation marks where needed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
