"""The parameters of a study as a result: what the next study is planned from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from humeval_power.reporting.document import Document, Facts, Section
from humeval_power.reporting.records import PARAMETERS_SCHEMA, Record
from humeval_power.reporting.report.result import Report
from humeval_power.safe_text import json_text

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
        """What the figures are worth, and the figures."""
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
        """The document that a plan is made from."""
        return {name: value for name, value in self.exported.items() if name not in _ENVELOPE}

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The document with the command and versions that it was fitted with."""
        return json_text(json.dumps(self.exported, indent=2, ensure_ascii=False)) + "\n"

    def files(self) -> Mapping[str, str]:
        """The document."""
        return {"parameters.json": self.artefact(".json")}
