"""Scores of Appraise: a file without a header, whose columns depend on the kind of campaign."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping as MappingType

import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.exports.mapping import Condition, Export, Mapping, RatingColumns, Template
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem
from humeval_power.files.exports.platform import Platform, columns_named
from humeval_power.files.exports.raw import RawExport

_KINDS = ("TGT", "BAD", "REF", "CHK")
_FIRST = ("user", "system", "segment", "itemType", "source language", "target language", "score")
_DUMP = ("systemID", "username", "segmentID", "score", "itemType")
_KIND = _FIRST.index("itemType")


def _known_by(export: RawExport) -> str | None:
    if columns_named(export, _DUMP):
        return f"its columns are {', '.join(_DUMP)}"
    if export.is_folder or export.is_excel or export.is_json:
        return None
    first = next(csv.reader(export.head.splitlines()[:1]), [])
    if len(first) < len(_FIRST) + 2 or first[_KIND] not in _KINDS:
        return None
    return f"it has no header, and column 4 is one of {', '.join(_KINDS)}"


def _read(export: RawExport) -> Export:
    if columns_named(export, _DUMP):
        frame, parts = export.table, dict(zip(("system", "worker", "item"), _DUMP, strict=False))
    else:
        frame = _named(export)
        parts = {"worker": "user", "system": "system", "item": "segment"}
    frame, joined = _separated(frame, parts["system"])
    notices: list[str] = []
    if joined:
        notices.append(
            f"WARNING: {joined:,} scores are of one output that several systems share (ids joined by +): each "
            "such system has the same score, which is no evidence of its own."
        )
    rated = frame[frame["itemType"].isin(["TGT"])]
    split = _with_document(rated, parts["system"])
    if split:
        frame, said = _numbered_by_document(frame, parts)
        notices += said
    kept = {"status": "itemType", "batch": "batchNo", "time_s": "durationInSeconds"}
    return Export(
        frame=frame,
        mapping=Mapping(
            ratings=(RatingColumns(Template("score")),),
            columns={part: Template(name) for part, name in {**parts, **kept}.items() if name in frame},
            split=split,
            where=(Condition("itemType", ("TGT",)),),
        ),
        notices=tuple(notices),
        person=parts["worker"],
    )


def _with_document(rated: pd.DataFrame, system: str) -> dict[str, Template]:
    """How names such as doc1#sysA come apart: the document stands beside them, or systems come again."""
    names = rated[system].astype(str)
    halves = names.str.split("#", n=1, expand=True)
    if names.empty or not (names.str.count("#") == 1).all() or (halves == "").any(axis=None):
        return {}
    pairs = halves.drop_duplicates()
    again = pairs[1].nunique() < len(pairs) and pairs[0].nunique() > 1
    beside = any((rated[name].astype(str) == halves[0]).all() for name in rated.columns if name != system)
    return {"system": Template("{document}#{system}")} if again or beside else {}


def _numbered_by_document(
    frame: pd.DataFrame, values: MappingType[str, str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows, with the document in the names of items where segments are counted anew in each; what to say."""
    document = frame[values["system"]].astype(str).str.partition("#")[0]
    said = "The names of systems begin with the document, as in doc1#sysA: it is the column document."
    segment = frame[values["item"]].astype(str)
    if pd.crosstab(segment, document).gt(0).sum(axis=1).le(1).all():
        return frame, [said]
    again = "Segments are counted anew in each document: an item is DOCUMENT:SEGMENT."
    return frame.assign(**{values["item"]: document + ":" + segment}), [said, again]


def _named(export: RawExport) -> pd.DataFrame:
    """The rows with names for their columns. Raises InputError: rows of other lengths than the first."""
    rows = [row for row in csv.reader(io.StringIO(export.text, newline="")) if row]
    width = len(rows[0])
    problems = [
        Problem(
            f"has {len(row)} cells; the first row has {width}.",
            "Is the file complete?",
            export.source,
            number,
        )
        for number, row in enumerate(rows, start=1)
        if len(row) != width
    ]
    if problems:
        raise InputError(problems[:LISTED])
    rest = [f"column {place}" for place in range(len(_FIRST) + 1, width + 1)]
    frame = pd.DataFrame(rows, columns=[*_FIRST, *rest], index=range(1, len(rows) + 1), dtype=str)
    if _is_time(frame.iloc[:, -2]) and _is_time(frame.iloc[:, -1]):
        start, end = (pd.to_numeric(frame.iloc[:, place]) for place in (-2, -1))
        frame["durationInSeconds"] = (end - start).round(3).astype(str)
    frame.index.name = ROW_INDEX
    return frame


def _is_time(column: pd.Series) -> bool:
    numbers = pd.to_numeric(column, errors="coerce")
    return bool((numbers > 1e9).all())


def _separated(frame: pd.DataFrame, system: str) -> tuple[pd.DataFrame, int]:
    """A row for each system of an output that several share, and how many rows are of such outputs."""
    names = frame[system].astype(str)
    shared = names.str.contains("+", regex=False)
    if not shared.any():
        return frame, 0
    return frame.assign(**{system: names.str.split("+")}).explode(system), int(shared.sum())


APPRAISE = Platform("appraise", _known_by, _read)
