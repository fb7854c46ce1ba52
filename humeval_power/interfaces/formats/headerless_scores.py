"""Score files without a header: one or two columns of numbers, a line for each item."""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path

import pandas as pd

from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.tables import STANDARD_INPUT, SourceTable

_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")
LISTED = 5  # problems shown of each file


def is_headerless(path: str | Path) -> bool:
    """Whether the first line of a text file holds numbers alone."""
    if str(path) == STANDARD_INPUT or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        start = file.read(65_536)
    line = start.lstrip(b"\xef\xbb\xbf").lstrip().split(b"\n")[0]
    try:
        cells = _cells(line.decode())
    except UnicodeDecodeError:
        return False
    return bool(cells) and all(_number(cell) is not None for cell in cells)


def read_headerless(path: str | Path) -> SourceTable:
    """The columns as text, named A and B where there are two and by their number otherwise.

    Raises
    ------
    InputError
        A line with another number of cells than the first.
    """
    content = Path(path).read_bytes()
    name = Path(path).name
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        problem = Problem("is not UTF-8 text.", "Save the file as UTF-8.", place=name, row=row)
        raise InputError([problem]) from None
    rows = {number: _cells(line) for number, line in enumerate(lines, start=1) if line.strip()}
    width = len(next(iter(rows.values())))
    problems = [
        Problem(
            f"the line has {len(cells)} numbers, but the first has {width}.",
            "Write one line for each item.",
            place=name,
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
    notice = f"The file has no header; its columns are called {', '.join(columns)}."
    return SourceTable(frame, name, hashlib.sha256(content).hexdigest(), (notice,))


def _cells(line: str) -> list[str]:
    text = line.strip()
    return [cell.strip() for cell in _SEPARATORS.split(text)] if text else []


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
