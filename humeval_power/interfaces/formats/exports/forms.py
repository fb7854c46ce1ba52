"""Answers to a Google Form: a row for each submission, a column for each question and each row of a grid."""

from __future__ import annotations

import re
from collections.abc import Sequence

from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping, RatingColumns
from humeval_power.checking.exports.templates import Template, literal
from humeval_power.interfaces.formats.exports.guess import slot_templates
from humeval_power.interfaces.formats.exports.platform import Platform
from humeval_power.interfaces.formats.exports.raw import RawExport

_TIME = "Timestamp"
_WORKERS = ("Email Address", "Username")
_GRID = re.compile(r"(?P<question>.+) \[(?P<row>.+)\]", re.DOTALL)


def _known_by(found: RawExport) -> str | None:
    names = found.columns
    if len(names) < 2 or names[0] != _TIME:
        return None
    if any(name in names for name in _WORKERS):
        return f"its first columns are {_TIME} and {next(name for name in _WORKERS if name in names)}"
    grids = [name for name in names if _GRID.fullmatch(name)]
    return f"it begins with {_TIME} and has rows of a grid in brackets" if grids else None


def _read(found: RawExport, why: str) -> Export:
    worker = next((name for name in _WORKERS if name in found.columns), None)
    return Export(
        platform="google-forms",
        why=why,
        source=found.source,
        frame=found.table,
        mapping=_mapping(found.columns, worker),
        notices=found.notices,
        person=worker,
    )


def _mapping(names: Sequence[str], worker: str | None) -> Mapping | None:
    """Grids are slots by their rows; else questions that differ in a number."""
    asked = [name for name in names if name not in (_TIME, *_WORKERS)]
    grids = dict.fromkeys(found["question"] for name in asked if (found := _GRID.fullmatch(name)))
    templates = [f"{literal(question).text} [{{slot}}]" for question in grids]
    templates = templates or [text for text in slot_templates(asked) if "{slot}" in text]
    if not templates:
        return None
    told = {"timestamp": Template(_TIME)} | ({} if worker is None else {"worker": Template(worker)})
    several = len(templates) > 1
    return Mapping(
        ratings=tuple(
            RatingColumns(Template(text), text.replace("{slot}", "").strip(" []") if several else None)
            for text in templates
        ),
        columns=told,
    )


FORMS = Platform("google-forms", "Google Forms", _known_by, _read, weak=True)
