"""The mapping of an export as a TOML file: read, and written as a draft to be edited."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from humeval_power.checking.exports.mapping import (
    MQM_WEIGHTS,
    Condition,
    ErrorWeights,
    Mapping,
    RatingColumns,
    Template,
)
from humeval_power.errors import InputError, Problem
from humeval_power.files.file_bytes import read_toml, toml_values
from humeval_power.safe_text import toml_text
from humeval_power.saying.schemas import RecordSection, problems_of

_HINT = "Write a draft of it, and edit that: humeval-power import EXPORT --draft -o mapping.toml."

Texts = dict[str, str]
Numbers = dict[str, Annotated[float, Field(strict=False)]]


class ErrorsSection(RecordSection):
    """How errors are weighed; what is left out is as in MQM."""

    category: str = "category"
    severity: str = "severity"
    weights: Numbers = Field(default_factory=lambda: dict(MQM_WEIGHTS))


class MappingDocument(RecordSection):
    """What may stand in the file."""

    schema_: Literal["humeval_power/mapping/1"] = Field(alias="schema")
    platform: str | None = None
    ratings: str | list[str] | Texts = Field(default_factory=list)
    columns: Texts = Field(default_factory=dict)
    split: Texts = Field(default_factory=dict)
    slots: dict[str, Texts] = Field(default_factory=dict)
    words: Numbers = Field(default_factory=dict)
    missing: list[str] = Field(default_factory=list)
    keep_rows: dict[str, list[str]] = Field(default_factory=dict)
    drop_rows: dict[str, list[str]] = Field(default_factory=dict)
    checks: Texts = Field(default_factory=dict)
    keep: list[str] = Field(default_factory=list)
    errors: ErrorsSection | None = None

    def record(self) -> Mapping:
        problems: list[Problem] = []

        def made(field: str, text: str) -> Template:
            try:
                return Template(text)
            except InputError as error:
                problems.extend(replace(one, column=field) for one in error.problems)
                return _ANY

        ratings = tuple(RatingColumns(made("ratings", text), name) for name, text in self._ratings())
        columns = {part: made(f"columns.{part}", text) for part, text in self.columns.items()}
        split = {name: made(f"split.{name}", text) for name, text in self.split.items()}
        if problems:
            raise InputError(problems)
        return Mapping(
            ratings=ratings,
            columns=columns,
            split=split,
            slots=self.slots,
            words=self.words,
            missing=tuple(self.missing),
            where=tuple(
                Condition(column, tuple(values), drop)
                for rows, drop in ((self.keep_rows, False), (self.drop_rows, True))
                for column, values in rows.items()
            ),
            checks=self.checks,
            keep=tuple(self.keep),
            errors=None if self.errors is None else ErrorWeights(**self.errors.model_dump()),
        )

    def _ratings(self) -> list[tuple[str | None, str]]:
        """The templates of ratings, each with its criterion."""
        if isinstance(self.ratings, dict):
            return list(self.ratings.items())
        return [
            (None, text) for text in ([self.ratings] if isinstance(self.ratings, str) else self.ratings)
        ]


_ANY = Template("any")  # in the place of one that is none


def read_mapping(path: str | Path) -> tuple[Mapping, str | None]:
    """The mapping in a TOML file, and the platform that it names.
    Raises InputError: a file that is no such mapping: every problem at once."""
    return _mapping_of(read_toml(path, hint=_HINT), str(path))


def parsed_mapping(text: str, *, place: str) -> tuple[Mapping, str | None]:
    """The same of a text; `place` is what it is called in errors."""
    return _mapping_of(toml_values(text, place=place, hint=_HINT), place)


def _mapping_of(values: dict[str, Any], place: str) -> tuple[Mapping, str | None]:
    try:
        document = MappingDocument.model_validate(values)
    except ValidationError as error:
        raise InputError(problems_of(error, place, kind=MappingDocument)) from None
    return document.record(), document.platform


def mapping_text(mapping: Mapping, platform: str | None = None) -> str:
    """The file that `read_mapping` reads as this mapping, of this platform."""
    lines = ['schema = "humeval_power/mapping/1"']
    if platform is not None:
        lines.append(f"platform = {toml_text(platform)}")
    if mapping.ratings:
        texts_of = {one.criterion or "": one.template.text for one in mapping.ratings}
        is_one = all(one.criterion is None for one in mapping.ratings)
        every = _list_text(tuple(one.template.text for one in mapping.ratings))
        lines.append(f"ratings = {every if is_one else _inline_text(texts_of)}")
    for name, texts in (("missing", mapping.missing), ("keep", mapping.keep)):
        if texts:
            lines.append(f"{name} = {_list_text(texts)}")
    tables: dict[str, list[tuple[str, str]]] = {
        "columns": [(part, toml_text(one.text)) for part, one in mapping.columns.items()],
        "split": [(name, toml_text(one.text)) for name, one in mapping.split.items()],
        "slots": [(slot, _inline_text(parts)) for slot, parts in mapping.slots.items()],
        "words": [(word, repr(float(number))) for word, number in mapping.words.items()],
        "keep_rows": [(one.column, _list_text(one.values)) for one in mapping.where if not one.drop],
        "drop_rows": [(one.column, _list_text(one.values)) for one in mapping.where if one.drop],
        "checks": [(name, toml_text(right)) for name, right in mapping.checks.items()],
    }
    if (errors := mapping.errors) is not None:
        kinds = (("category", errors.category), ("severity", errors.severity))
        tables["errors"] = [(name, toml_text(column)) for name, column in kinds]
        tables["errors.weights"] = [(key, repr(float(weight))) for key, weight in errors.weights.items()]
    for title, rows in tables.items():
        if rows:
            lines += ["", f"[{title}]", *(f"{toml_text(name, key=True)} = {text}" for name, text in rows)]
    return "\n".join(lines) + "\n"


def _list_text(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(toml_text, texts))}]"


def _inline_text(texts: MappingType[str, str]) -> str:
    said = ", ".join(f"{toml_text(name, key=True)} = {toml_text(text)}" for name, text in texts.items())
    return f"{{ {said} }}"
