"""Any table, such as a sheet with a column for each annotator or criterion, and workbooks of several sheets."""

from __future__ import annotations

import pandas as pd

from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping, RatingColumns
from humeval_power.checking.exports.templates import Template
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.binary_tables import read_sheets
from humeval_power.interfaces.formats.exports.guess import part_columns
from humeval_power.interfaces.formats.exports.platform import Platform
from humeval_power.interfaces.formats.exports.raw import RawExport

SHEET = "sheet"  # the column that names the sheet of a row, where there are several


def _known_by(found: RawExport) -> str | None:
    return None if found.is_folder else "it is named as a table"


def _read(found: RawExport, why: str) -> Export:
    notices = list(found.notices)
    frame = found.table
    if found.is_excel and len(sheets := read_sheets(found.content, source=found.source)) > 1:
        frame = _together(sheets, found.source)
        notices.append(f"All {len(sheets)} sheets are read; the column {SHEET!r} names that of a row.")
    return Export(
        platform="table",
        why=why,
        source=found.source,
        frame=frame,
        mapping=_mapping([str(name) for name in frame.columns]),
        notices=tuple(notices),
    )


def _together(sheets: dict[str, pd.DataFrame], source: str) -> pd.DataFrame:
    """The rows of all sheets. They must have the same columns, for no cell is to be lost."""
    first, *others = sheets
    names = set(map(str, sheets[first].columns))
    problems = [
        Problem(
            f"has other columns than the sheet {first!r}: {', '.join(sorted(names ^ found))}.",
            "Give the sheets the same columns, or save them as files of their own.",
            place=f"{source}, sheet {name!r}",
        )
        for name in others
        if (found := set(map(str, sheets[name].columns))) != names
    ]
    if problems:
        raise InputError(problems)
    frame = pd.concat([table.assign(**{SHEET: name}) for name, table in sheets.items()])
    frame.index.name = ROW_INDEX
    return frame


def _mapping(names: list[str]) -> Mapping | None:
    """A table of one rating a row by its names; nothing where the ratings stand side by side."""
    told = part_columns(names, "worker", "item", "system", "criterion", "rating")
    rating = told.pop("rating", None)
    if rating is None or not {"worker", "item", "system"} <= set(told):
        return None
    return Mapping(ratings=(RatingColumns(Template(rating.text)),), columns=told)


SHEETS = Platform("table", "a table of your own", _known_by, _read, only_named=True)
