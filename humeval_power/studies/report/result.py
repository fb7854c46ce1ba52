"""Forms as results: a checklist, a preregistration, a datasheet, each field with its state and source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar, Self

from humeval_power.safe_text import json_text
from humeval_power.saying.document import Document, Facts, Section
from humeval_power.saying.quantities import values
from humeval_power.saying.result import PARAMETERS_SCHEMA, UNKNOWN, Provenance, Record, Result, Source
from humeval_power.studies.report.fields import (
    Checklist,
    ChecklistItem,
    FormField,
    FormPage,
    how_filled,
    open_fields,
)
from humeval_power.studies.report.page_pictures import surface_picture

REPORT_SCHEMA = "humeval_power/report/1"


@dataclass(frozen=True, kw_only=True)
class Report(Result):
    """A form, filled. `strict`: the target is missed while fields are open."""

    schema: ClassVar[str] = REPORT_SCHEMA
    strict: bool = False
    provenance: Provenance = UNKNOWN

    @property
    def n_open(self) -> int:
        """Fields that only the authors can fill."""
        return 0

    @property
    def missed(self) -> str:
        is_missed = self.strict and self.n_open > 0
        return f"{self.n_open} of its fields are open (--strict)." if is_missed else ""

    def table_rows(self) -> Sequence[Record]:
        fields = self.content().get("fields")
        return fields if isinstance(fields, list) else super().table_rows()

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:
        """The same with what was typed and the names of the files that were read: a report is published, and
        from a digest of ratings few workers can be found by trying."""
        return super().with_command(command, tuple(Source(PurePath(one.name).name) for one in sources))

    def of_study(self, study: Mapping[str, Any]) -> Self:  # noqa: ARG002
        """The same: a report is published, and a study names files."""
        return self


@dataclass(frozen=True, kw_only=True)
class FormReport(Report):
    """A form of fields: ARR's checklist, a preregistration, the HEDS datasheet."""

    form: str
    page: FormPage

    @property
    def n_open(self) -> int:
        """Fields without an answer."""
        return len(open_fields(self.page.fields))

    def body(self) -> Document:
        return self.page.document()

    def content(self) -> Record:
        return {"form": self.form, **_of_fields(self.page.fields)}


@dataclass(frozen=True, kw_only=True)
class HedsReport(FormReport):
    """The HEDS datasheet; `elements` is the file that its web form reads."""

    endings: ClassVar[tuple[str, ...]] = (".json",)
    elements: Mapping[str, Any]

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        return json_text(json.dumps(self.elements, indent=1, ensure_ascii=False)) + "\n"

    def files(self) -> Mapping[str, str]:
        return {"heds.json": self.artefact(".json")}


@dataclass(frozen=True, kw_only=True)
class ChecklistReport(Report):
    """The recommendations of Card et al. (2020), filled; `surface` is drawn beside what is said of power."""

    form: ClassVar[str] = "card2020"
    checklist: Checklist
    surface: Mapping[str, Any] | None = None

    @property
    def n_open(self) -> int:
        """Items that only the authors can fill."""
        return self.checklist.n_open

    def body(self) -> Document:
        made = self.checklist
        return Document(
            made.title,
            lead=f"{how_filled([item.state for item in made.items])} Filled: known from the documents named. Open: "
            "only the authors can answer it. The items follow the recommendations of Card et al. (2020), section "
            "6.",
            caveats=made.caveats,
            sections=tuple(self._section(name) for name in made.sections),
            provenance=made.provenance,
        )

    def _section(self, name: str) -> Section:
        items = [item for item in self.checklist.items if item.section == name]
        drawn = [surface_picture(self.surface)] if self.surface else []
        pictures = drawn if any(item.number == "power" for item in items) else []
        return Section(name, (*pictures, *(item.field() for item in items)))

    def content(self) -> Record:
        return {
            "form": self.form,
            **_of_fields(self.checklist.items),
            "caveats": list(self.checklist.caveats),
        }


def _of_fields(fields: Sequence[FormField | ChecklistItem]) -> Record:
    """How many fields there are in which state, and every field."""
    states = [one.state for one in fields]
    return {
        "n_fields": len(states),
        "n_filled": states.count("filled"),
        "n_to_check": states.count("suggested"),
        "n_open": states.count("open"),
        "fields": [
            {
                "field": one.number,
                **values(one, "section", "criterion", "prompt"),
                "mark": "check" if one.state == "suggested" else one.state,
                **values(one, "answer", "source"),
            }
            for one in fields
        ],
    }


# The parameters of a study as a result: what the next study is planned from.

_ENVELOPE = ("schema", "versions", "command", "sources", "seed")


@dataclass(frozen=True, kw_only=True)
class ParametersReport(Report):
    """The parameters of a study, to plan the next one from."""

    schema: ClassVar[str] = PARAMETERS_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".json",)
    form: ClassVar[str] = "parameters"
    name: str
    exported: Mapping[str, Any]

    def body(self) -> Document:
        about, values = self.exported["library"], self.exported["parameters"]
        said = {"Summary": "summary", "Worth": "worth", "Paper": "paper", "Licence": "licence"}
        facts = [(label, about[key]) for label, key in said.items() if about.get(key)]
        shown = [(name, f"{value:.4g}") for name, value in values.items() if isinstance(value, int | float)]
        return Document(
            f"Parameters to plan the next study from: {self.name}",
            lead="These parameters are on a scale from 0 to 1, where 1 is best.",
            sections=(Section("", (Facts(tuple(facts)),)), Section("Parameters", (Facts(tuple(shown)),))),
        )

    def content(self) -> Record:
        return {name: value for name, value in self.exported.items() if name not in _ENVELOPE}

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        return json_text(json.dumps(self.exported, indent=2, ensure_ascii=False)) + "\n"

    def files(self) -> Mapping[str, str]:
        return {"parameters.json": self.artefact(".json")}
