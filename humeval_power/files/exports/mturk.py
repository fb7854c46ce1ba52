"""Batch results of Mechanical Turk: a row for each assignment, with all items of its HIT in columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.exports.mapping import Export, Mapping, RatingColumns, Template
from humeval_power.errors import InputError, Problem
from humeval_power.files.exports.platform import Platform, columns_named, is_document, plain, slot_templates
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.file_bytes import refuse_large_table

_TOGETHER = "Answer.taskAnswers"  # all answers of an assignment, as one JSON
_ALWAYS = ("HITId", "AssignmentId", "WorkerId")
_KEPT = {
    "time_s": "WorkTimeInSeconds",
    "status": "AssignmentStatus",
    "timestamp": "SubmitTime",
    "batch": "HITId",
}
_ITEM = ("item", "id", "itemid", "segment", "doc", "document", "source", "context", "prompt", "text")
_SYSTEM = ("system", "sys", "systemid", "model", "condition", "method")


def _known_by(export: RawExport) -> str | None:
    if not columns_named(export, _ALWAYS):
        return None
    return (
        f"its columns are {', '.join(_ALWAYS)}" if any(_is_answer(one) for one in export.columns) else None
    )


def _read(export: RawExport) -> Export:
    frame = export.table
    if _TOGETHER in frame:
        frame = _apart(frame, export.source)
    return Export(
        frame=frame,
        mapping=_mapping([str(name) for name in frame.columns]),
        person="WorkerId",
    )


def _apart(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """The table with a column for each answer in the place of the one that holds all, where pages answer so."""
    answers: list[dict[str, str]] = []
    problems = []
    for row, text in zip(frame.index, frame[_TOGETHER], strict=True):
        try:
            answers.append(dict(_answers(_of_page(text) if str(text).strip() else {}, "Answer")))
        except (ValueError, RecursionError):
            rule = "is no JSON of answers."
            problems.append(Problem(rule, "Is the file whole?", source, row=int(row), column=_TOGETHER))
    if problems:
        raise InputError(problems[:LISTED])
    names = dict.fromkeys(name for one in answers for name in one)
    refuse_large_table(len(frame), len(frame.columns) + len(names), place=source)
    cells = {name: [one.get(name, "") for one in answers] for name in names if name not in frame}
    return pd.concat(
        [frame.drop(columns=_TOGETHER), pd.DataFrame(cells, index=frame.index, dtype=str)], axis=1
    )


def _of_page(text: str) -> object:
    """What a page answered: an object, or a list of such; a ValueError for anything else."""
    document = json.loads(text)
    if not isinstance(document, dict | list):
        raise ValueError(text)
    return document


def _answers(value: object, name: str) -> Iterator[tuple[str, str]]:
    """The answers in a JSON by the names that their columns have where a page keeps them apart."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _answers(inside, f"{name}.{key}")
    elif isinstance(value, list):
        for inside in value:
            yield from _answers(inside, name)
    else:
        yield name, plain(value)


def _mapping(columns: Sequence[str]) -> Mapping | None:
    """What the names of the columns tell: answers with a number are slots, and the inputs with it their item and
    system."""
    answers = slot_templates([name for name in columns if _is_answer(name)])
    if not answers:
        return None
    inputs = slot_templates([name for name in columns if name.startswith("Input.")])
    fields = {"worker": Template("WorkerId")}
    for part, names in (("item", _ITEM), ("system", _SYSTEM)):
        fitting = [one for one in inputs if _bare(one) in names]
        if fitting:
            fields[part] = Template(min(fitting, key=lambda one: names.index(_bare(one))))
    documents = [one for one in inputs if is_document(_bare(one)) and Template(one) not in fields.values()]
    if "item" in fields and len(documents) == 1:
        fields["document"] = Template(documents[0])
    fields |= {part: Template(name) for part, name in _KEPT.items() if name in columns}
    one_criterion = len(answers) == 1
    ratings = tuple(RatingColumns(Template(one), None if one_criterion else _bare(one)) for one in answers)
    return Mapping(ratings=ratings, columns=fields)


def _is_answer(name: str) -> bool:
    return name.startswith("Answer.")


def _bare(template: str) -> str:
    """The word of a column's name: 'item' of Input.item{slot}."""
    word = template.split(".", 1)[-1].replace("{slot}", "")
    return "".join(letter for letter in word.casefold() if letter.isalnum())


MTURK = Platform("mturk", _known_by, _read)
