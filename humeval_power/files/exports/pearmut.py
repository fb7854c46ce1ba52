"""Annotations of Pearmut: a line for each document of a user, or the download with the lines of each campaign."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from typing import Any

from humeval_power.checking.exports.mapping import (
    Condition,
    Export,
    Mapping,
    RatingColumns,
    Template,
    literal,
)
from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError
from humeval_power.files.exports.json_parts import JsonParts, frame_of
from humeval_power.files.exports.platform import Platform, plain
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.file_bytes import parse_json

_KEYS = ("user_id", "item_i", "item", "annotation")
_BESIDE = ("welcome", "random", "goodbye")  # documents that are no part of the study
_SCORE, _SLIDERS = "score", "sliders"
_CHECK = "validation"
Line = tuple[int, str, MappingType[str, Any]]  # its row, its campaign, what it says


def _known_by(export: RawExport) -> str | None:
    if not export.head.startswith("{"):
        return None
    try:
        record = _first(export)
    except InputError:
        return None
    lines = [line for part in record.values() for line in part[:1]] if _is_download(record) else [record]
    named = bool(lines) and all(isinstance(line, dict) and set(_KEYS) <= line.keys() for line in lines)
    return f"its lines have {', '.join(_KEYS)}" if named else None


def _first(export: RawExport) -> Any:
    """What the first line says; of a download that goes over several lines all of it."""
    try:
        return parse_json(export.text.lstrip().split("\n", 1)[0], place=export.source)
    except InputError:
        return export.json


def _is_download(record: object) -> bool:
    return (
        isinstance(record, dict) and bool(record) and all(isinstance(one, list) for one in record.values())
    )


def _lines(export: RawExport, parts: JsonParts) -> Iterator[Line]:
    if _is_download(_first(export)):
        several = len(export.json) > 1
        lines = [(name, line) for name, lines in export.json.items() for line in lines]
        for row, (name, line) in enumerate(lines, start=1):
            yield row, str(name) if several else "", parts.object_of(line, row=row)
        return
    for row, text in enumerate(export.text.split("\n"), start=1):
        if text.strip():
            yield row, "", parts.object_of(parse_json(text, place=export.source, row=row), row=row)


def _read(export: RawExport) -> Export:
    parts = JsonParts(export.source)
    documents: dict[tuple[str, str, str], Line] = {}
    sent = beside = 0
    for row, campaign, line in _lines(export, parts):
        user, place = (parts.text_of(line.get(name), row=row, field=name) for name in ("user_id", "item_i"))
        if not isinstance(line.get("annotation"), list):  # the user began anew
            for key in [key for key in documents if key[:2] == (campaign, user)]:
                del documents[key]
        elif place.startswith(_BESIDE):
            beside += 1
        else:
            sent += 1
            documents[campaign, user, place] = (row, campaign, line)
    rows = [row for line in documents.values() for row in _rows(line, parts)]
    parts.refuse()
    frame = frame_of(rows, source=export.source)
    flow = [FlowStep("read", sent + beside, f"documents, with {len(rows):,} outputs that were judged last")]
    steps = (
        (beside, "of welcome, of a break or of goodbye"),
        (sent - len(documents), "sent again, or void"),
    )
    flow += [FlowStep("dropped", number, f"documents {what}") for number, what in steps if number]
    return Export(
        frame=frame,
        mapping=_mapping([str(name) for name in frame.columns]),
        flow=tuple(flow),
        person="user_id",
    )


def _rows(result: Line, parts: JsonParts) -> Iterator[tuple[int, dict[str, str]]]:
    """A row for each output of a segment that was judged."""
    row, campaign, line = result
    segments = parts.list_of(line.get("item"), row=row, field="item")
    judged = parts.list_of(line.get("annotation"), row=row, field="annotation")
    for segment, answers in zip(segments, judged, strict=False):
        if segment is None or answers is None:
            continue
        about = parts.object_of(segment, row=row, field="item")
        document = plain(about.get("doc"))
        for system, given in parts.object_of(answers, row=row, field="annotation").items():
            answer = parts.object_of(given, row=row, field=f"annotation.{system}")
            sliders = parts.object_of(answer.get(_SLIDERS) or {}, row=row, field=_SLIDERS)
            points = {
                _SCORE: answer.get(_SCORE),
                **{f"{_SLIDERS}.{name}": one for name, one in sliders.items()},
            }
            yield (
                row,
                {
                    **({"campaign": campaign} if campaign else {}),
                    "user_id": plain(line.get("user_id")),
                    "item_id": parts.text_of(about.get("item_id"), row=row, field="item_id"),
                    **({"document": document} if document else {}),
                    "system": str(system),
                    _CHECK: "yes" if about.get(_CHECK) else "no",
                    **{
                        name: parts.text_of(value, row=row, field=name)
                        for name, value in points.items()
                        if value is not None
                    },
                },
            )


def _mapping(names: list[str]) -> Mapping | None:
    points = [name for name in names if name == _SCORE or name.startswith(f"{_SLIDERS}.")]
    if not points:
        return None
    several = len(points) > 1
    parts = {"worker": "user_id", "item": "item_id", "system": "system", "document": "document"}
    return Mapping(
        ratings=tuple(
            RatingColumns(literal(name), name.removeprefix(f"{_SLIDERS}.") if several else None)
            for name in points
        ),
        columns={part: Template(name) for part, name in parts.items() if name in names},
        where=(Condition(_CHECK, ("no",)),),
    )


PEARMUT = Platform("pearmut", _known_by, _read)
