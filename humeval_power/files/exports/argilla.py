"""Records of Argilla 2, flattened: for each question parallel lists of responses, users and states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingType
from typing import Any

import pandas as pd

from humeval_power.checking.exports.mapping import Condition, Export, Mapping, RatingColumns, Template
from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError, Problem
from humeval_power.files.exports.json_parts import JsonParts, frame_of
from humeval_power.files.exports.platform import Platform, part_columns, plain
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.file_bytes import parse_json

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"


def _known_by(export: RawExport) -> str | None:
    if not export.is_json:
        return None
    questions = [name for one in _first(export) for name in _questions(one)]
    return f"its records have {questions[0]}{_USERS}" if questions else None


def _first(export: RawExport) -> Sequence[MappingType[str, Any]]:
    """The records that the format is told from; of a file of one a line the first, without reading all of it."""
    if export.head.startswith("["):
        return (
            [one for one in export.json if isinstance(one, dict)] if isinstance(export.json, list) else ()
        )
    line = export.text.lstrip().split("\n", 1)[0]
    try:
        record = parse_json(line, place=export.source)
    except InputError:
        return ()
    return [record] if isinstance(record, dict) else ()


def _questions(record: MappingType[str, Any]) -> list[str]:
    return [name.removesuffix(_USERS) for name in record if name.endswith(_USERS)]


def _records(export: RawExport, parts: JsonParts) -> Iterator[tuple[int, MappingType[str, Any]]]:
    if export.head.startswith("["):
        yield from parts.records_of(export.json)
        return
    lines = [line for line in enumerate(export.text.split("\n"), start=1) if line[1].strip()]
    for number, line in lines:
        yield number, parts.object_of(parse_json(line, place=export.source, row=number), row=number)


def _read(export: RawExport) -> Export:
    parts = JsonParts(export.source)
    records = list(_records(export, parts))
    questions = list(dict.fromkeys(name for _, one in records for name in _questions(one)))
    rows = list(_rows(records, questions, parts))
    parts.refuse()
    answered = {number for number, _ in rows}
    frame = frame_of(rows, source=export.source)
    flow = [FlowStep("read", len(records), f"records, with {len(rows):,} responses")]
    if len(answered) < len(records):
        flow.append(FlowStep("dropped", len(records) - len(answered), "records without a response"))
    return Export(
        frame=frame,
        mapping=_mapping(frame, questions),
        flow=tuple(flow),
        person="user",
    )


def _rows(
    records: Sequence[tuple[int, MappingType[str, Any]]], questions: Sequence[str], parts: JsonParts
) -> Iterator[tuple[int, dict[str, str]]]:
    """A row for each response to each question; suggestions of machines are no responses."""
    for number, record in records:
        about = {
            name: plain(value)
            for name, value in record.items()
            if not any(name.startswith(f"{question}.") for question in questions)
            and not isinstance(value, list | dict)
        }
        for question in questions:
            answers, users, states = (
                parts.list_of(record.get(f"{question}{what}"), row=number, field=f"{question}{what}")
                for what in (_RESPONSES, _USERS, _STATUS)
            )
            if not len(answers) == len(users) == len(states):
                rule = "the lists of responses, users and states differ in length."
                remedy = "Export the records once more."
                parts.problems.append(Problem(rule, remedy, parts.source, number, question))
                continue
            for answer, user, status in zip(answers, users, states, strict=True):
                yield (
                    number,
                    {
                        **about,
                        "user": parts.text_of(user, row=number, field=f"{question}{_USERS}"),
                        "response_status": parts.text_of(status, row=number, field=f"{question}{_STATUS}"),
                        "question": question,
                        "response": plain(answer),
                    },
                )


def _mapping(frame: pd.DataFrame, questions: Sequence[str]) -> Mapping | None:
    names = [
        str(name) for name in frame.columns if name not in ("user", "question", "response", "id", "text")
    ]
    fields = {"worker": Template("user"), **part_columns(names, "item", "system")}
    if len(questions) > 1:
        fields["criterion"] = Template("question")
    return Mapping(
        ratings=(RatingColumns(Template("response")),),
        columns=fields,
        where=(Condition("response_status", ("submitted",)),),
    )


ARGILLA = Platform("argilla", _known_by, _read)
