"""Score files without a header: one or two columns of numbers, a line for each item."""

from __future__ import annotations

import hashlib
import math
import re

import pandas as pd

from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import decoded, encoding_notices, is_text
from humeval_power.interfaces.formats.tables import SourceTable

_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")
LISTED = 5  # problems shown of each file


def read_headerless(content: bytes, *, source: str) -> SourceTable | None:
    """The columns as text, named A and B where there are two and by their number otherwise; None for a file
    whose first line is not of numbers alone.

    Raises
    ------
    InputError
        A line with another number of cells than the first, or bytes that are no text.
    """
    if not is_text(content):
        return None
    lines = decoded(content, place=source).split("\n")
    start = next((line for line in lines if line.strip()), "")
    if not start or any(_number(cell) is None for cell in _cells(start)):
        return None
    rows = {number: _cells(line) for number, line in enumerate(lines, start=1) if line.strip()}
    width = len(next(iter(rows.values())))
    problems = [
        Problem(
            f"the line has {len(cells)} numbers, but the first has {width}.",
            "Write one line for each item.",
            place=source,
            row=number,
        )
        for number, cells in rows.items()
        if len(cells) != width
    ]
    if problems:
        raise InputError(problems[:LISTED])
    columns = ["A", "B"] if width == 2 else [f"column {place}" for place in range(1, width + 1)]
    frame = pd.DataFrame(
        list(rows.values()), index=pd.Index(list(rows), name=ROW_INDEX), columns=columns, dtype=str
    )
    notices = (
        *encoding_notices(content),
        f"The file has no header; its columns are called {', '.join(columns)}.",
    )
    return SourceTable(frame, source, hashlib.sha256(content).hexdigest(), notices)


def _cells(line: str) -> list[str]:
    text = line.strip()
    return [cell.strip() for cell in _SEPARATORS.split(text)] if text else []


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
