"""Answers to a Google Form: a row for each submission, a column for each question and each row of a grid."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import ROLES, Role, listing
from humeval_power.checking.exports.mapping import Export, Mapping, RatingColumns, Template, literal
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.checking.wide import columns_of_criteria, columns_side_by_side
from humeval_power.errors import Problem, refuse
from humeval_power.files.exports.platform import Platform, part_columns, slot_templates
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.text_tables import read_sheets

_TIME = "Timestamp"
_WORKERS = ("Email Address", "Username")
_GRID = re.compile(r"(?P<question>.+) \[(?P<row>.+)\]", re.DOTALL)


def _known_by(export: RawExport) -> str | None:
    names = export.columns
    if len(names) < 2 or names[0] != _TIME:
        return None
    if any(name in names for name in _WORKERS):
        return f"its first columns are {_TIME} and {next(name for name in _WORKERS if name in names)}"
    grids = [name for name in names if _GRID.fullmatch(name)]
    return f"it begins with {_TIME} and has rows of a grid in brackets" if grids else None


def _read(export: RawExport) -> Export:
    worker = next((name for name in _WORKERS if name in export.columns), None)
    return Export(
        frame=export.table,
        mapping=_mapping(export.columns, worker),
        person=worker,
    )


def _mapping(names: Sequence[str], worker: str | None) -> Mapping | None:
    """Grids are slots by their rows; else questions that differ in a number."""
    wanted = [name for name in names if name not in (_TIME, *_WORKERS)]
    grids = dict.fromkeys(match["question"] for name in wanted if (match := _GRID.fullmatch(name)))
    templates = [f"{literal(question).text} [{{slot}}]" for question in grids]
    templates = templates or [text for text in slot_templates(wanted) if "{slot}" in text]
    if not templates:
        return None
    fields = {"timestamp": Template(_TIME)} | ({} if worker is None else {"worker": Template(worker)})
    several = len(templates) > 1
    return Mapping(
        ratings=tuple(
            RatingColumns(Template(text), text.replace("{slot}", "").strip(" []") if several else None)
            for text in templates
        ),
        columns=fields,
    )


FORMS = Platform("google-forms", _known_by, _read, weak=True)


# Any table, as with a column for each annotator, system or criterion, and workbooks of several sheets.

_MISSING = tuple(code for code in MISSING_CODES if code)
SHEET = "sheet"  # the column that names the sheet of a row, where there are several


def _known_by_of_sheets(export: RawExport) -> str | None:
    if export.is_folder:
        return None
    beside = columns_side_by_side(export.table) if export.columns else None
    return side_by_side_words(*beside) if beside else "its columns are taken by their names"


def side_by_side(export: RawExport) -> Export | None:
    """A table with a column of ratings for each worker or system; None where it is none."""
    if export.is_folder or not export.columns:
        return None
    beside = columns_side_by_side(export.table)
    return SHEETS.read(export, side_by_side_words(*beside)) if beside else None


def side_by_side_words(role: Role, columns: Sequence[str]) -> str:
    """That each of these columns is read as the ratings of one worker or system."""
    return f"Columns {listing(columns)} hold ratings on one scale: each is read as those of one {role}"


def _read_of_sheets(export: RawExport) -> Export:
    notices: list[str] = []
    frame = export.table
    if export.is_excel and len(sheets := read_sheets(export.content, source=export.source)) > 1:
        frame = _together(sheets, export.source)
        notices.append(f"All {len(sheets)} sheets are read; the column {SHEET!r} names that of a row.")
    return Export(
        frame=frame,
        mapping=mapping_of(frame),
        templates=_template_fields(frame),
        notices=tuple(notices),
    )


def _together(sheets: dict[str, pd.DataFrame], source: str) -> pd.DataFrame:
    """The rows of all sheets. They must have the same columns, for no cell is to be lost."""
    first, *others = sheets
    names = set(map(str, sheets[first].columns))
    problems = [
        Problem(
            f"has other columns than the sheet {first!r}: {', '.join(sorted(names ^ columns))}.",
            "Give the sheets the same columns, or save them as files of their own.",
            place=f"{source}, sheet {name!r}",
        )
        for name in others
        if (columns := set(map(str, sheets[name].columns))) != names
    ]
    refuse(problems)
    frame = pd.concat([table.assign(**{SHEET: name}) for name, table in sheets.items()])
    frame.index.name = ROW_INDEX
    return frame


def mapping_of(frame: pd.DataFrame) -> Mapping | None:
    """A table by its names: one column of ratings, or one for each worker, system or criterion; else None."""
    names = [str(name) for name in frame.columns]
    parts = _template_fields(frame)
    rating = parts.pop("rating", None)
    if (beside := columns_side_by_side(frame)) is not None:
        role, columns = beside
        known = {*columns, *(one.text for one in parts.values())}
        others = tuple(name for name in names if name not in known)
        return Mapping((RatingColumns(Template(f"{{{role}}}")),), parts, missing=_MISSING, keep=others)
    if rating is not None:
        return Mapping((RatingColumns(Template(rating.text)),), parts, missing=_MISSING)
    named = {part: parts[part].text for part in ROLES if part in parts}
    taken = [parts["document"].text] if "document" in parts else []
    criteria = columns_of_criteria(frame, named=named, source="", missing=MISSING_CODES, taken=taken)
    if not criteria:
        return None
    return Mapping(tuple(RatingColumns(literal(name), name) for name in criteria), parts, missing=_MISSING)


def _template_fields(frame: pd.DataFrame) -> dict[str, Template]:
    names = [str(name) for name in frame.columns]
    return part_columns(names, "worker", "item", "system", "criterion", "rating")


SHEETS = Platform("table", _known_by_of_sheets, _read_of_sheets, only_named=True)
