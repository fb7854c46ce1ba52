"""Annotations of Label Studio: its JSON, its short JSON (JSON_MIN) and its CSV."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Mapping as MappingType
from typing import Any

import pandas as pd

from humeval_power.checking.columns import bare
from humeval_power.checking.exports.mapping import (
    Condition,
    Export,
    Mapping,
    RatingColumns,
    Template,
    literal,
)
from humeval_power.checking.exports.rating_blocks import is_free_text
from humeval_power.checking.rows import FlowStep
from humeval_power.checking.wide import CRITERIA
from humeval_power.files.exports.json_parts import JsonParts, frame_of
from humeval_power.files.exports.platform import Platform, columns_named, part_columns, plain
from humeval_power.files.exports.raw import RawExport

_SHORT = ("annotation_id", "annotator", "lead_time")
_ABOUT = {*_SHORT, "id", "created_at", "updated_at", "was_cancelled", "ground_truth"}
_NUMBERS = ("rating", "number")  # of the controls that give one


def _known_by(export: RawExport) -> str | None:
    if _has_tasks(export):
        return "its tasks have data and annotations"
    objects = map(set, _objects(export) if export.is_json else ())
    is_short = any(one.issuperset(_SHORT) for one in objects) or columns_named(export, _SHORT)
    return f"its fields are {', '.join(_SHORT)}" if is_short else None


def _has_tasks(export: RawExport) -> bool:
    return export.is_json and any({"data", "annotations"} <= set(one) for one in _objects(export))


def _objects(export: RawExport) -> Sequence[MappingType[str, Any]]:
    """The objects that the format is told from."""
    if not export.head.startswith("[") or not isinstance(export.json, list):
        return ()
    return [one for one in export.json if isinstance(one, dict)]


def _read(export: RawExport) -> Export:
    parts = JsonParts(export.source)
    flow: tuple[FlowStep, ...] = ()
    has_tasks = _has_tasks(export)
    if not export.is_json:
        rows = {
            int(number): dict(row) for number, row in zip(export.table.index, _records(export), strict=True)
        }
    elif not has_tasks:
        rows = dict(parts.records_of(export.json))
    else:
        tasks = list(parts.records_of(export.json))
        rows = dict(enumerate(_of_tasks(tasks, parts), start=1))
        flow = tuple(_flow([task for _, task in tasks], len(rows)))
    parts.refuse()
    answers: dict[str, None] = {}
    frame = frame_of([(number, _cells(row, answers)) for number, row in rows.items()], source=export.source)
    if not has_tasks:
        answers |= dict.fromkeys(_in_words(frame, answers))
    return Export(
        frame=frame,
        mapping=_mapping(frame, list(answers)),
        flow=flow,
        person="annotator",
    )


def _records(export: RawExport) -> Iterator[MappingType[str, Any]]:
    yield from export.table.to_dict(orient="records")  # type: ignore[misc]


def _flow(tasks: Sequence[MappingType[str, Any]], n_rows: int) -> Iterator[FlowStep]:
    empty = sum(not one.get("annotations") for one in tasks)
    yield FlowStep("read", len(tasks), f"tasks, with {n_rows:,} annotations")
    if empty:
        yield FlowStep("dropped", empty, "tasks without an annotation")


def _of_tasks(
    tasks: Sequence[tuple[int, MappingType[str, Any]]], parts: JsonParts
) -> Iterator[dict[str, Any]]:
    """A row for each annotation of each task, with the fields of the task's data."""
    for number, task in tasks:
        data = parts.object_of(task.get("data"), row=number, field="data")
        for one in parts.objects_of(task.get("annotations"), row=number, field="annotations"):
            who = one.get("completed_by")
            who = who.get("id") if isinstance(who, dict) else who
            row = {
                **data,
                "annotation_id": one.get("id"),
                "annotator": parts.text_of(who, row=number, field="annotations.completed_by"),
                "was_cancelled": one.get("was_cancelled", False),
                "ground_truth": one.get("ground_truth", False),
                "lead_time": one.get("lead_time"),
                "created_at": one.get("created_at"),
            }
            for result in parts.objects_of(one.get("result"), row=number, field="annotations.result"):
                name = parts.text_of(
                    result.get("from_name"), row=number, field="annotations.result.from_name"
                )
                if name:
                    value = result.get("value")
                    row[name] = parts.object_of(value, row=number, field="annotations.result.value")
            yield row


def _cells(row: MappingType[str, Any], answers: dict[str, None]) -> dict[str, str]:
    """The cells of a row as text; the names of columns that hold an answer are noted."""
    cells = {}
    for name, value in row.items():
        result, is_answer = _answer(value)
        cells[str(name)] = result
        if is_answer and name not in _ABOUT:
            answers[str(name)] = None
    return cells


def _answer(value: Any) -> tuple[str, bool]:
    """An answer as a cell, and whether it is one by its shape: {"rating": 4}, [{"number": 71}]."""
    if isinstance(value, str) and value[:1] in "[{" and value[:1]:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value, False
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        for kind in _NUMBERS:
            if kind in value:
                return plain(value[kind]), True
        for kind in ("choices", "text"):
            if kind in value:
                said = value[kind]
                return (
                    "; ".join(map(plain, said)) if isinstance(said, list) else plain(said)
                ), kind == "choices"
        return json.dumps(value, ensure_ascii=False), False
    return (json.dumps(value, ensure_ascii=False) if isinstance(value, list) else plain(value)), False


def _in_words(frame: pd.DataFrame, answers: Collection[str]) -> Iterator[str]:
    """Columns of choices, which the short forms write as plain words like the fields of a task.

    An answer differs between annotations of a task, or is told of neither the item nor the system alone.
    """
    names = [str(name) for name in frame.columns if name not in answers and name not in _ABOUT]
    parts = part_columns(names, "item", "system")
    within = [column.text for column in parts.values()]
    for name in names:
        given = frame[frame[name].str.strip() != ""]
        words = Counter(given[name])
        if name in within or not words or is_free_text(name, words) or all(map(_is_number, words)):
            continue
        by_annotator = "id" in frame and _differs_within(given, "id", name)
        by_output = len(parts) > 1 and all(_differs_within(given, each, name) for each in within)
        if by_annotator or by_output or bare(name) in CRITERIA:
            yield name


def _differs_within(frame: pd.DataFrame, level: str, name: str) -> bool:
    return bool((frame.groupby(level)[name].nunique() > 1).any())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _mapping(frame: pd.DataFrame, answers: Sequence[str]) -> Mapping | None:
    names = [str(name) for name in frame.columns]
    if not answers:
        return None
    others = [name for name in names if name not in answers and name not in _ABOUT]
    fields = {"worker": Template("annotator"), **part_columns(others, "item", "system")}
    fields |= {"time_s": Template("lead_time")} if "lead_time" in names else {}
    fields |= {"timestamp": Template("created_at")} if "created_at" in names else {}
    several = len(answers) > 1
    return Mapping(
        ratings=tuple(RatingColumns(literal(name), name if several else None) for name in answers),
        columns=fields,
        where=(Condition("was_cancelled", ("true",), drop=True),) if "was_cancelled" in names else (),
    )


LABEL_STUDIO = Platform("label-studio", _known_by, _read)
