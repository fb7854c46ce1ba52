"""Read and write the JSON documents of the package; what is read is checked, all problems at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from humeval_power.errors import refusal
from humeval_power.files.file_bytes import read_json
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.safe_text import json_text
from humeval_power.saying.result import (
    ANALYSES_SCHEMA,
    ANALYSIS_SCHEMA,
    IMPORT_SCHEMA,
    PARAMETERS_SCHEMA,
    POWER_SCHEMA,
    SURFACE_SCHEMA,
    json_ready,
)

if TYPE_CHECKING:
    from pydantic import BaseModel


def to_json(document: Mapping[str, object]) -> str:
    """A document as text that ends with a newline; not a number becomes null."""
    return json_text(json.dumps(json_ready(document), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def read_document(path: str | Path, *, schema: str) -> dict[str, Any]:
    """Read a document of the kind and version asked for, and check every field that is known.
    Raises InputError: a file that is missing or not JSON; or what `checked_document` refuses."""
    return checked_document(read_json(path, hint=KINDS[schema].hint), schema=schema, place=str(path))


def checked_document(value: object, *, schema: str, place: str) -> dict[str, Any]:
    """A document that has been read, if it is of the kind asked for and agrees with itself.
    Raises InputError: another kind of document; or every field that breaks a rule, with its path, value and
    rule."""
    stated = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(value, dict) or stated != schema:
        shown = "no schema" if stated is None else f"the schema {stated!r}"
        rule = f"has {shown}; {schema!r} is needed."
        raise refusal(rule, KINDS[schema].hint, place=place)
    from humeval_power.saying.schemas import validated

    validated(KINDS[schema].model, value, place, remedy=_RESTORE)
    return value


def read_parameters(
    path: str | Path, *, allow_not_identified: bool = False
) -> tuple[Parameters, dict[str, Any]]:
    """The seven parameters of a document that `fit -o` wrote, and the document.
    Raises InputError: a missing or impossible parameter; or standard deviations that the fitted table could not
    tell apart, unless `allow_not_identified`."""
    document = read_document(path, schema=PARAMETERS_SCHEMA)
    return parameters_of(document, place=str(path), allow_not_identified=allow_not_identified), document


def parameters_of(
    document: Mapping[str, Any], *, place: str, allow_not_identified: bool = False
) -> Parameters:
    """The seven parameters of a document that has been checked, unless its table could not tell them apart."""
    parameters = Parameters.from_dict(document["parameters"])
    unknown = [name for name in document.get("not_identified") or [] if name in PARAMETER_NAMES]
    if unknown and not allow_not_identified:
        raise refusal(
            f"{', '.join(unknown)} were not identified by the table they were fitted to: only "
            f"{'; '.join(document.get('identified_combinations') or [])}. Another design would "
            "split these sums in another way.",
            "Plan with the same ratings per item and system and add --allow-not-identified, or "
            "fit a pilot in which some items have two ratings or more.",
            place=place,
        )
    return parameters


_RESTORE = "Write the file again, or undo the change."


# The kinds of document that are read back: what a report calls each, what writes it, what it is checked by.
#
# pydantic is imported when a document is checked, not before: commands start without it.


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """A kind of document; `written_by` is a command, `as_class` the name of its model."""

    source: Literal["parameters", "analysis", "surface", "power", "imported"]
    written_by: str
    as_class: str

    @property
    def hint(self) -> str:
        """How to come by one."""
        return f"Write one with: humeval-power {self.written_by}"

    @property
    def model(self) -> type[BaseModel]:
        """What a document of this kind is checked by."""
        from humeval_power.files.documents import models

        model: type[BaseModel] = getattr(models, self.as_class)
        return model


_ANALYZE = "analyze RATINGS -o analysis.json"
KINDS: Mapping[str, DocumentKind] = {
    PARAMETERS_SCHEMA: DocumentKind("parameters", "fit RATINGS -o parameters.json", "ParametersDocument"),
    ANALYSIS_SCHEMA: DocumentKind("analysis", _ANALYZE, "AnalysisDocument"),
    ANALYSES_SCHEMA: DocumentKind("analysis", _ANALYZE, "AnalysesDocument"),
    SURFACE_SCHEMA: DocumentKind("surface", "surface ... -o DIRECTORY", "SurfaceDocument"),
    POWER_SCHEMA: DocumentKind("power", "power ... --json -o power.json", "PowerDocument"),
    IMPORT_SCHEMA: DocumentKind("imported", "import EXPORT --json -o import.json", "ImportDocument"),
}
