"""Annotations of Potato: the folder with a state of each annotator, one such state, or its table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from pathlib import Path
from typing import Any

import pandas as pd

from humeval_power.checking.exports.mapping import Export, Mapping, RatingColumns, Template, literal
from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.exports.json_parts import JsonParts, frame_of
from humeval_power.files.exports.platform import Platform, columns_named, part_columns, split_of
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.file_bytes import read_object
from humeval_power.safe_text import shell_word

_STATE = "user_state.json"
_LABELS = "instance_id_to_label_to_value"
_ITEM, _USER = "instance_id", "user_id"
_LEVELS = 3  # folders above annotation_output/exports/csv/annotations.csv
_ON = ("true", "on", "1.0")
_POINT = re.compile(r"(?:scale_)?(-?\d+(?:\.\d+)?)")
_MARKED = re.compile(r"(?P<schema>.+)\.(?P<scale>scale_|)(?P<value>-?\d+(?:\.\d+)?)")


def _known_by(export: RawExport) -> str | None:
    if export.is_folder:
        return f"its folders hold {_STATE}" if _states(export.path) else None
    if _is_state(export):
        return f"it has {_LABELS}"
    return f"its columns are {_ITEM} and {_USER}" if columns_named(export, (_ITEM, _USER)) else None


def _is_state(export: RawExport) -> bool:
    """Whether a file is the state of one annotator, as it lies in such a folder."""
    return export.head[:1] == "{" and f'"{_LABELS}"' in export.text


def _states(folder: Path) -> list[Path]:
    """The states of the annotators, in the order of their names."""
    return sorted([*folder.glob(f"*/{_STATE}"), *folder.glob(f"annotation_output/*/{_STATE}")])


def _read(export: RawExport) -> Export:
    if export.is_folder:
        frame = _of_folder(export.path)
    elif _is_state(export):
        rows = _of_state(read_object(export.path), place=export.source)
        frame = frame_of(list(enumerate(rows, start=1)), source=export.source)
    else:
        _refuse_stale(export)
        frame = _with_answers(export.table)
    are_states = export.is_folder or _is_state(export)
    flow = (FlowStep("read", len(frame), "items of an annotator"),) if are_states else ()
    return Export(
        frame=frame,
        mapping=_mapping(frame),
        flow=flow,
        person=_USER,
    )


def _refuse_stale(export: RawExport) -> None:
    """Refuse an export that lacks answers of the states beside it: Potato writes some once, and never again.
    Raises InputError: such an export."""
    folders = export.path.resolve().parents[:_LEVELS] if export.path.is_file() else ()
    folder = next((one for one in folders if _states(one)), None)
    if folder is None:
        return
    answered = _of_folder(folder)
    has_answer = (answered.drop(columns=[_ITEM, _USER]) != "").any(axis=1)
    there = set(zip(export.table[_ITEM], export.table[_USER], strict=True))
    known = set(zip(answered[_ITEM][has_answer], answered[_USER][has_answer], strict=True))
    if known - there:
        rule = f"lacks {len(known - there):,} of the {len(known):,} answers in {folder.name}: it is an old export."
        raise refusal(rule, f"Read that folder: {shell_word(str(folder))}.", export.source)


def _of_folder(folder: Path) -> pd.DataFrame:
    rows: list[dict[str, str]] = []
    problems: list[Problem] = []
    for path in _states(folder):
        try:
            rows += _of_state(read_object(path), place=str(path))
        except InputError as error:
            problems += error.problems
    refuse(problems)
    return frame_of(list(enumerate(rows, start=1)), source=folder.name)


def _of_state(state: MappingType[str, Any], *, place: str) -> list[dict[str, str]]:
    labels = state.get(_LABELS)
    if not isinstance(labels, dict) or not isinstance(state.get(_USER), str):
        rule = f"is no state of an annotator: it has no {_USER} with {_LABELS}."
        raise refusal(rule, "Is this Potato's annotation_output?", place=place)
    rows = []
    parts = JsonParts(place)
    for item, given in labels.items():
        row = {_ITEM: str(item), _USER: state[_USER]}
        for schema, name, value in _labels(given, parts, field=f"{_LABELS}.{item}"):
            said = _said(name, parts.text_of(value, row=None, field=f"{_LABELS}.{item}.{schema}"))
            if said:
                row[schema] = f"{row[schema]}; {said}" if schema in row else said
        rows.append(row)
    parts.refuse()
    return rows


def _labels(given: Any, parts: JsonParts, *, field: str) -> Iterator[tuple[str, str, Any]]:
    """Schema, label and value: pairs of {schema, name} and value, or {schema: {label: value}}."""
    if isinstance(given, dict):
        for schema, labels in given.items():
            named = parts.object_of(labels, row=None, field=f"{field}.{schema}")
            yield from ((schema, name, value) for name, value in named.items())
        return
    for pair in parts.list_of(given, row=None, field=field):
        label, value, *_ = [*parts.list_of(pair, row=None, field=field), None, None]
        named = parts.object_of(label, row=None, field=field)
        schema, name = (
            parts.text_of(named.get(part), row=None, field=f"{field}.{part}") for part in ("schema", "name")
        )
        yield schema, name, value


def _said(name: str, value: str) -> str:
    """The answer: the point of a scale that was marked, else the value, else the label that was chosen."""
    if value == "" or value.casefold() == "false":
        return ""
    if point := _POINT.fullmatch(name):
        return point[1]
    return name if value.casefold() in (*_ON, name.casefold()) else value


def _mapping(frame: pd.DataFrame) -> Mapping | None:
    names = [str(name) for name in frame.columns if name not in (_ITEM, _USER)]
    fields = {"worker": Template(_USER), **part_columns(names, "item", "system")}
    answers = [name for name in names if name not in {one.text for one in fields.values()}]
    templates = [(name, literal(name)) for name in answers if "." not in name]
    if not templates:
        return None
    several = len(templates) > 1
    ratings = [RatingColumns(template, name if several else None) for name, template in templates]
    if "item" in fields:
        return Mapping(ratings=tuple(ratings), columns=fields)
    split = split_of(frame[_ITEM])
    if split is None:
        return Mapping(ratings=tuple(ratings), columns={**fields, "item": Template(_ITEM)})
    return Mapping(ratings=tuple(ratings), columns=fields, split={_ITEM: split})


def _with_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with a column for each label, and the answers to each question besides, as newer tables have them."""
    labels = [(name, label) for name in map(str, frame.columns) if (label := _MARKED.fullmatch(name))]
    apart = {  # whose columns hold values of their own, which are no marks
        label["schema"]
        for name, label in labels
        if not label["scale"] and not _is_mark(frame[name], label["value"])
    }
    answers: dict[str, pd.Series] = {}
    for name, label in labels:
        schema = label["schema"]
        if schema in apart or schema in frame:
            continue
        cells = frame[name].fillna("").astype(str).str.strip()
        marked = pd.Series(label["value"], index=frame.index).where(
            ~cells.str.casefold().isin(("", "false")), ""
        )
        before = answers.get(schema)
        answers[schema] = marked if before is None else (before + "; " + marked).str.strip("; ")
    return frame.assign(**answers)


def _is_mark(column: pd.Series, label: str) -> bool:
    """Whether a column named by a label holds this label and nothing else: it was chosen where it stands."""
    return set(column.fillna("").astype(str).str.strip()) <= {"", label}


POTATO = Platform("potato", _known_by, _read, weak=True)
