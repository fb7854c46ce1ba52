"""Sections that several documents have, as pydantic models, and the records that they stand for.

A section that stands for a record of the package is built while it is checked, so what the record refuses
is a problem of the document like any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.latent import Family, Link
from humeval_power.rules import (
    DEFAULT_RULE,
    Alternative,
    Analysis,
    DecisionRule,
    DegreesOfFreedom,
    Estimator,
)
from humeval_power.scales import RatingScale, ScaleSource

# What pydantic finds in a document, in the words of this package: one problem for each finding.

Document = TypeVar("Document", bound=BaseModel)
IMPOSSIBLE = "impossible"  # the type of an error that carries problems of a record
_PATTERNS = {
    r"\S": "must not be blank.",
    r"^[0-9a-f]{64}$": "must be a SHA-256: 64 of the characters 0-9 and a-f.",
    r"^[0-9]+(\.[0-9]+)?$": 'must be an amount written as text, such as "0.12".',
    r"^[0-9]+\.[0-9]{2}$": 'must be an amount to the cent written as text, such as "583.20".',
    r"^[A-Z]{3}$": "must be three capital letters, such as USD.",
}
_RULES = {
    "missing": "is missing.",
    "finite_number": "must be a finite number.",
    "string_type": "must be text in quotes.",
    "int_type": "must be a whole number.",
    "int_from_float": "must be a whole number.",
    "float_type": "must be a number.",
    "bool_type": "must be true or false.",
    "dict_type": "must be an object, {...}.",
    "model_type": "must be an object, {...}.",
    "model_attributes_type": "must be an object, {...}.",
    "list_type": "must be a list, [...].",
    "tuple_type": "must be a list, [...].",
    "json_invalid": "holds text that is not Unicode.",
}
_LONGEST_VALUE = 80


def validated(kind: type[Document], values: Mapping[str, Any], place: str, *, remedy: str = "") -> Document:
    """A document of a kind, with every field checked.
    Raises InputError: every field that is impossible, at once; `place` is what errors call the document, `remedy`
    is said where a value is wrong."""
    try:
        return kind.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise InputError(problems_of(error, place, kind=kind, remedy=remedy)) from None


def problems_of(
    error: ValidationError, place: str, *, kind: type[BaseModel], remedy: str = ""
) -> list[Problem]:
    """Every finding in a document of a kind, each place once; `remedy` is said where a value is wrong."""
    problems: dict[tuple[object, ...], Problem] = {}
    for detail in error.errors():
        for problem in _problems(dict(detail), place, kind, remedy):
            problems.setdefault((problem.column, problem.rule), problem)
    return list(problems.values())


def _problems(detail: dict[str, Any], place: str, kind: type[BaseModel], remedy: str) -> list[Problem]:
    path = ".".join(map(str, detail["loc"]))
    if detail["type"] == IMPOSSIBLE:
        inner = detail["ctx"]["problems"] or (Problem(detail["ctx"]["reason"], ""),)
        return [_moved(problem, path, place, remedy) for problem in inner]
    if detail["type"] == "missing":
        return [Problem("is missing.", "Every field must be there.", place, column=path, noun="field")]
    if detail["type"] == "extra_forbidden":
        for name in detail["loc"][:-1]:
            field = kind.model_fields.get(str(name))
            kind = (field and _model_in(field.annotation)) or kind
        names = ", ".join(field.alias or name for name, field in kind.model_fields.items())
        return [Problem(f"is not known; the names here are {names}.", "", place, column=path, noun="field")]
    value = detail["input"]
    shown = not isinstance(value, dict | list) and len(str(value)) <= _LONGEST_VALUE
    return [
        Problem(_rule(detail), remedy, place, None, path or None, value if shown else None, shown, "field")
    ]


def _moved(problem: Problem, path: str, place: str, remedy: str) -> Problem:
    column = ".".join(filter(None, [path, problem.column])) or None
    said = problem.remedy or remedy
    return Problem(problem.rule, said, place, None, column, problem.value, problem.has_value, "field")


def _rule(detail: dict[str, Any]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _RULES:
        return _RULES[kind]
    if kind == "string_pattern_mismatch" and context["pattern"] in _PATTERNS:
        return _PATTERNS[context["pattern"]]
    text = str(detail["msg"])
    for start, ours in (("Input should be", "must be"), ("Tuple should", "must"), ("List should", "must")):
        text = text.replace(start, ours)
    return f"{text[:1].lower()}{text[1:]}."


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation such as 'Section | None' or 'list[Section]' is about."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = map(_model_in, getattr(annotation, "__args__", ()))
    return next((model for model in inner if model is not None), None)


class RecordSection(BaseModel):
    """A part of the document. `record` gives what it stands for."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _stands_for_something_possible(self) -> RecordSection:
        try:
            self.record()
        except HumevalPowerError as error:
            raise impossible(error) from None
        return self

    def record(self) -> object:
        """The record of the package that the section stands for; None where there is none."""
        return None


class ScaleSection(RecordSection):
    """The scale of the ratings."""

    low: float
    high: float
    points: Annotated[int, Field(ge=2)] | None = Field(description="null: continuous.")
    higher_is_better: bool
    source: ScaleSource

    def record(self) -> RatingScale:
        return RatingScale(**self.model_dump())


class RuleSection(RecordSection):
    """The test that decides."""

    estimator: Estimator
    df: DegreesOfFreedom
    alternative: Alternative
    alpha: float = Field(gt=0, lt=1, description="Of each side for 'non-inferior' and 'equivalent'.")
    analysis: Analysis
    family: Family = DEFAULT_RULE.family
    link: Link = DEFAULT_RULE.link
    margin: float | None = Field(
        description="Difference on [0, 1] for 'non-inferior' and 'equivalent', null for the others."
    )

    def record(self) -> DecisionRule:
        return DecisionRule(**self.model_dump())


def impossible(error: HumevalPowerError) -> PydanticCustomError:
    """An error of the package as a finding that keeps its problems."""
    problems = error.problems if isinstance(error, InputError) else ()
    return PydanticCustomError(IMPOSSIBLE, "{reason}", {"reason": str(error), "problems": problems})
