"""A study as parameters that others can plan from: what `fit` writes, with the source of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humeval_power.errors import InputError
from humeval_power.reporting.document_values import words
from humeval_power.reporting.parameter_library import own_entry, parameters_document
from humeval_power.reporting.records import PARAMETERS_SCHEMA, Record

# Neither notices, which can name workers, nor what only the analysis of this one study needs.
EXPORTED = (
    "parameters",
    "standard_errors",
    "intervals",
    "uncertainty",
    "estimator",
    "engine",
    "effect",
    "criterion",
    "n_ratings",
    "n_workers",
    "n_items",
    "design",
    "ratings_per_item",
    "converged",
    "message",
    "boundary",
    "not_identified",
    "identified_combinations",
    "scale",
    "systems",
    "criterion_name",
    "flow",
    "data",
    "versions",
    "command",
)
LONGEST_NAME = 28  # what the list of a library has room for


def library_export(study: Mapping[str, Any], texts: Mapping[str, str], *, name: str) -> Record:
    """The parameters of a study that was fitted or analysed, for `power`, `plan` and `parameters add`.

    texts : the authors' answers; 'title', 'paper', 'data_link' and 'licence' are used.

    Raises
    ------
    InputError
        There is no fit of two systems, or it did not converge.
    """
    if not isinstance(study.get("parameters"), Mapping):
        raise InputError(
            "There are no parameters to export: give --parameters or --analysis of a study of two systems."
        )
    if study.get("converged") is False:
        raise InputError("The fit did not converge; nobody can plan from its parameters.")
    document = {
        "schema": PARAMETERS_SCHEMA,
        **{field: study[field] for field in EXPORTED if field in study},
    }
    entry = own_entry(
        document,
        name=name,
        summary=texts.get("title", ""),
        paper=texts.get("paper", ""),
        data=texts.get("data_link", ""),
        licence=texts.get("licence", ""),
    )
    return parameters_document(entry)


def entry_name(study: Mapping[str, Any], fallback: str) -> str:
    """A name for the entry, such as 'pilot-fluency', by the table of ratings and the criterion."""
    data = study.get("data")
    source = (words(data, "source") if isinstance(data, Mapping) else None) or fallback
    stem = source.rsplit("/", 1)[-1].partition(".")[0]
    said = "-".join(filter(None, [stem, words(study, "criterion_name")]))
    plain = "-".join("".join(c if c.isalnum() else " " for c in said).lower().split())
    return plain[:LONGEST_NAME].strip("-") or "study"
