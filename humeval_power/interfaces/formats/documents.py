"""Read and write the JSON documents of the package; what is read is checked, all problems at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.reporting.analysis_record import ANALYSIS_SCHEMA
from humeval_power.reporting.records import PARAMETERS_SCHEMA, POWER_SCHEMA, SURFACE_SCHEMA, json_ready
from humeval_power.safe_text import json_text


def to_json(document: Mapping[str, object]) -> str:
    """A document as text that ends with a newline; not a number becomes null."""
    return json_text(json.dumps(json_ready(document), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def read_document(path: str | Path, *, schema: str) -> dict[str, Any]:
    """Read a JSON object and check that it is of the kind and version asked for.

    Raises
    ------
    InputError
        A file that is missing, not JSON, or another kind of document.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise InputError([Problem(f"cannot be read: {reason}.", "", place=str(path))]) from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        rule = f"is not JSON: {error.msg} in line {error.lineno}."
        raise InputError([Problem(rule, _HINTS[schema], place=str(path))]) from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        shown = "no schema" if found is None else f"the schema {found!r}"
        rule = f"has {shown}; {schema!r} is needed."
        raise InputError([Problem(rule, _HINTS[schema], place=str(path))])
    return dict(document)


def read_parameters(
    path: str | Path, *, allow_not_identified: bool = False
) -> tuple[Parameters, dict[str, Any]]:
    """The seven parameters of a document that `fit -o` wrote, and the document.

    Raises
    ------
    InputError
        A missing or impossible parameter; or standard deviations that the fitted table could not tell
        apart, unless `allow_not_identified`.
    """
    document = read_document(path, schema=PARAMETERS_SCHEMA)
    return parameters_of(document, place=str(path), allow_not_identified=allow_not_identified), document


def parameters_of(
    document: Mapping[str, Any], *, place: str, allow_not_identified: bool = False
) -> Parameters:
    """The seven parameters of a document; refuses what `read_parameters` refuses."""
    values = document.get("parameters")
    if not isinstance(values, dict):
        raise InputError([Problem("has no 'parameters'.", _HINTS[PARAMETERS_SCHEMA], place=place)])
    try:
        parameters = Parameters.from_dict(values)
    except InputError as error:
        problems = [
            Problem(p.rule, p.remedy, place, p.row, p.column, p.value, p.has_value) for p in error.problems
        ]
        raise InputError(problems) from None
    unknown = [name for name in document.get("not_identified") or [] if name in PARAMETER_NAMES]
    if unknown and not allow_not_identified:
        raise InputError(
            [
                Problem(
                    f"{', '.join(unknown)} were not identified by the table they were fitted to: only "
                    f"{'; '.join(document.get('identified_combinations') or [])}. Another design would "
                    "split these sums in another way.",
                    "Plan with the same ratings per item and system and add --allow-not-identified, or "
                    "fit a pilot in which some items have two ratings or more.",
                    place=place,
                )
            ]
        )
    return parameters


_HINTS = {
    ANALYSIS_SCHEMA: "Write one with: humeval-power analyze RATINGS -o analysis.json",
    PARAMETERS_SCHEMA: "Write one with: humeval-power fit RATINGS -o parameters.json",
    SURFACE_SCHEMA: "Write one with: humeval-power surface ... -o DIRECTORY",
    POWER_SCHEMA: "Write one with: humeval-power power ... --json -o power.json",
}
