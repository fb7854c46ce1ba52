"""Where ratings come from: the file, its columns, and which of its rows were read as what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from humeval_power.checking.cells import Mask
    from humeval_power.checking.rows import Rows
    from humeval_power.checking.submissions import Rejected


TableKind = Literal["delimited", "json lines", "excel", "parquet"]
Encoding = Literal["UTF-8", "UTF-8-BOM", "UTF-16"]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table lies in its file. `path` is as typed, '' where the table came from no file; `separator` and
    `encoding` are those of text."""

    kind: TableKind
    separator: str = ""
    encoding: Encoding = "UTF-8"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where ratings stand in their table, for another program to read the same ones.

    `columns` are those of the worker, item, system, rating, criterion and document, as far as there are;
    `missing` the cells of the rating, without blanks around them, that were read as no rating; `left_out` the
    cells of columns of states and kinds whose rows were left out. `layout` is None where the table came from no
    file.
    """

    columns: Mapping[str, str]
    missing: tuple[str, ...]
    left_out: tuple[tuple[str, tuple[str, ...]], ...]
    layout: Layout | None


def origin_of(
    rows: Rows, *, document: str | None, rejected_rows: Rejected | None, layout: Layout | None
) -> Origin:
    """What the rows of a table say of where they stand."""
    from humeval_power.checking.collected import KIND

    columns = {str(role): place.column for role, place in rows.at.items()}
    if document is not None:
        columns["document"] = document
    refused = rows.refused if rejected_rows == "drop" else ()
    left_out = tuple((one.column, _different(one.mask, one.cells.code, one.cells.texts)) for one in refused)
    if rows.kinds is not None and rows.kinds.left_out:
        left_out = (*left_out, (KIND, rows.kinds.left_out))
    missing = _different(rows.numbers.missing, rows.cells.code, rows.cells.texts)
    return Origin(columns, tuple(dict.fromkeys(("", *missing))), left_out, layout)


def _different(rows: Mask, code: np.ndarray, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The different cells of some rows, without blanks around them."""
    return tuple(dict.fromkeys(texts[one].strip() for one in np.unique(code[rows])))
