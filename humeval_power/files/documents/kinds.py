"""The kinds of document that are read back: what a report calls each, what writes it, what it is checked by.

pydantic is imported when a document is checked, not before: commands start without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from humeval_power.saying.result import (
    ANALYSES_SCHEMA,
    ANALYSIS_SCHEMA,
    IMPORT_SCHEMA,
    PARAMETERS_SCHEMA,
    POWER_SCHEMA,
    SURFACE_SCHEMA,
)

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """A kind of document; `written_by` is a command, `in_module` and `as_class` the place of its model."""

    source: Literal["parameters", "analysis", "surface", "power", "imported"]
    written_by: str
    in_module: Literal["analysis_models", "models", "power_models"]
    as_class: str

    @property
    def hint(self) -> str:
        """How to come by one."""
        return f"Write one with: humeval-power {self.written_by}"

    @property
    def model(self) -> type[BaseModel]:
        """What a document of this kind is checked by."""
        module = import_module(f"humeval_power.files.documents.{self.in_module}")
        model: type[BaseModel] = getattr(module, self.as_class)
        return model


_ANALYZE = "analyze RATINGS -o analysis.json"
KINDS: Mapping[str, DocumentKind] = {
    PARAMETERS_SCHEMA: DocumentKind(
        "parameters", "fit RATINGS -o parameters.json", "models", "ParametersDocument"
    ),
    ANALYSIS_SCHEMA: DocumentKind("analysis", _ANALYZE, "analysis_models", "Analysis"),
    ANALYSES_SCHEMA: DocumentKind("analysis", _ANALYZE, "analysis_models", "Analyses"),
    SURFACE_SCHEMA: DocumentKind("surface", "surface ... -o DIRECTORY", "power_models", "SurfaceDocument"),
    POWER_SCHEMA: DocumentKind("power", "power ... --json -o power.json", "power_models", "PowerDocument"),
    IMPORT_SCHEMA: DocumentKind(
        "imported", "import EXPORT --json -o import.json", "models", "ImportDocument"
    ),
}
