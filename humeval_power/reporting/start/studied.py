"""The study file that the answers of `start` lead to: the options of its commands, each said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humeval_power.errors import InputError
from humeval_power.reporting.start.rated import (
    ANALYSIS,
    ANSWERS,
    ASSIGNMENT,
    KEY,
    OPEN,
    PLAN,
    RATINGS,
    REHEARSAL,
)
from humeval_power.reporting.start.steps import PROGRAM, Step
from humeval_power.reporting.start.talk import RATED, Talk
from humeval_power.study import FIELDS
from humeval_power.study_text import study_text

_SEARCHED = ("workers", "items", "ratings-per-item", "documents")  # of `plan`: lists of them
_FILES = {
    "plan": PLAN,
    "assignment": [f"field/{ASSIGNMENT}"],
    "key": KEY,
    "rehearsal": REHEARSAL,
    "ratings": RATINGS,
    "findings": ANALYSIS,
    "answers": OPEN,
}
NOW = (
    ("power", "How often would a study of the size in [design] find that difference? Change it and see."),
    (
        "plan",
        "The cheapest study that finds it, proved and sealed in plan/. If it ends with 3, it says why.",
    ),
    ("assign", "Who rates what in which order; key.csv is yours alone."),
    ("simulate", "A rehearsal: made-up workers carry it out before real ones are paid."),
    ("analyze", "Decides the rehearsal, and the ratings once they are there."),
)
LATER = (
    (
        f"import {ANSWERS}",
        f"Brings what was answered ({ANSWERS}) together with who was asked what.",
    ),
    ("report", "The study on one page; report --template answers.toml asks what only you know."),
)


def study_of(talk: Talk, steps: Sequence[Step]) -> dict[str, Any]:
    """What the study file says, by the names of its fields.

    Raises
    ------
    InputError
        Judgements that are no ratings by people.
    """
    if talk.judgement not in RATED:
        raise InputError(
            "A study file is of ratings by people, in points or yes and no. Write the commands instead: "
            "-o start.sh."
        )
    found: dict[str, Any] = {}
    for step in steps:
        if step.command == ("analyze",) and talk.have != "results":
            continue
        if step.command in (("power",), ("plan",), ("analyze",)):
            found |= _fields(step)
    if talk.have == "results":
        return {**found, "ratings": talk.files[0], "findings": ANALYSIS, "answers": OPEN}
    if talk.have == "pilot":
        found = {name: value for name, value in found.items() if name not in ("parameters", "preset")}
        found["pilot"] = talk.files[0]
    elif "preset" in found:
        found["preset"] = ["typical"]  # of which 'plan' shows both ends
    return {**found, **_FILES}


def _fields(step: Step) -> dict[str, Any]:
    """The options of a command as fields of the study."""
    found: dict[str, Any] = {}
    for name, value in step.options:
        if name == "all-pairs":
            found["comparisons"] = "all-pairs"
            continue
        field = name.replace("-", "_")
        if step.command == ("plan",) and name in _SEARCHED:
            field = f"{field}_range"
        field = {"effect_of_interest": "effect", "effect_of_interest_raw": "effect_raw"}.get(field, field)
        if field in FIELDS:
            found[field] = _value(field, value)
    return found


def _value(field: str, typed: str | None) -> Any:
    """A value as the file says it: numbers without quotes, names as a list."""
    kind = FIELDS[field].kind
    if typed is None:
        return True
    if kind.is_number or field in ("systems", "preset", "criteria"):
        found = kind.read(typed)
        return list(found) if isinstance(found, tuple) else found
    return [typed] if kind.many else typed


def study_file(talk: Talk, steps: Sequence[Step]) -> str:
    """The text of the file, with what was assumed and not said."""
    values = study_of(talk, steps)
    assumed = {name: "assumed, since nobody said it." for name in values if _said_as(name) & talk.assumed}
    head = (
        f"# The study that '{PROGRAM} start' made of your answers: edit it, and every command reads it.\n"
    )
    return head + study_text(values, why=assumed)


_ANSWER: Mapping[str, str] = {"effect_raw": "difference", "effect": "difference", "fee": "raters"}


def _said_as(name: str) -> set[str]:
    """What the question was called that a field answers."""
    return {name.replace("_", "-"), _ANSWER.get(name, "")} - {""}
