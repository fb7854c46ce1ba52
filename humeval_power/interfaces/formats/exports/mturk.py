"""Batch results of Mechanical Turk: a row for each assignment, with all items of its HIT in columns."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping, RatingColumns
from humeval_power.checking.exports.templates import Template
from humeval_power.interfaces.formats.exports.guess import slot_templates
from humeval_power.interfaces.formats.exports.platform import Platform, columns_named
from humeval_power.interfaces.formats.exports.raw import RawExport

_ALWAYS = ("HITId", "AssignmentId", "WorkerId")
_KEPT = {
    "time_s": "WorkTimeInSeconds",
    "status": "AssignmentStatus",
    "timestamp": "SubmitTime",
    "batch": "HITId",
}
_ITEM = ("item", "id", "itemid", "segment", "doc", "document", "source", "context", "prompt", "text")
_SYSTEM = ("system", "sys", "systemid", "model", "condition", "method")


def _known_by(found: RawExport) -> str | None:
    if not columns_named(found, _ALWAYS):
        return None
    return (
        f"its columns are {', '.join(_ALWAYS)}" if any(_is_answer(one) for one in found.columns) else None
    )


def _read(found: RawExport, why: str) -> Export:
    return Export(
        platform="mturk",
        why=why,
        source=found.source,
        frame=found.table,
        mapping=_mapping(found.columns),
        notices=found.notices,
        person="WorkerId",
    )


def _mapping(columns: Sequence[str]) -> Mapping | None:
    """What the names of the columns tell: answers with a number are slots, and the inputs with it their item and
    system."""
    answers = slot_templates([name for name in columns if _is_answer(name)])
    if not answers:
        return None
    inputs = slot_templates([name for name in columns if name.startswith("Input.")])
    told = {"worker": Template("WorkerId")}
    for part, names in (("item", _ITEM), ("system", _SYSTEM)):
        fitting = [one for one in inputs if _bare(one) in names]
        if fitting:
            told[part] = Template(min(fitting, key=lambda one: names.index(_bare(one))))
    told |= {part: Template(name) for part, name in _KEPT.items() if name in columns}
    one_criterion = len(answers) == 1
    ratings = tuple(RatingColumns(Template(one), None if one_criterion else _bare(one)) for one in answers)
    return Mapping(ratings=ratings, columns=told)


def _is_answer(name: str) -> bool:
    return name.startswith("Answer.")


def _bare(template: str) -> str:
    """The word of a column's name: 'item' of Input.item{slot}."""
    word = template.split(".", 1)[-1].replace("{slot}", "")
    return "".join(letter for letter in word.casefold() if letter.isalnum())


MTURK = Platform("mturk", "Mechanical Turk", _known_by, _read)
