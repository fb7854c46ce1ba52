"""Entries of the library of parameters in words and numbers for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humeval_power.checking.columns import shortened
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text_table import text_table
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.parameter_library import LibraryEntry, upper_worker_slope
from humeval_power.safe_text import shell_word

_CONFIDENCE = 0.8


def list_text(entries: Sequence[LibraryEntry]) -> str:
    """The entries as a table, at most 80 characters wide."""
    header = ["entry", "worker", "upper", "item", "noise", "workers", "use"]
    rows = [_row(entry) for entry in entries]
    return "\n\n".join(
        [
            text_table(header, rows, indent=""),
            wrapped(
                "worker, item: SD of a worker's and of an item's own difference between the systems; upper: "
                f"{100 * _CONFIDENCE:.0f} % upper limit of the worker's, to plan from where there are few; noise: "
                "SD of a single rating; all on [0, 1]. 'partly known': some SDs could not be told apart."
            ),
        ]
    )


def _row(entry: LibraryEntry) -> list[str]:
    parameters = entry.parameters
    figures = ["-"] * 4
    if parameters is not None:
        limit = upper_worker_slope(entry, _CONFIDENCE)
        worker, item, residual = (
            "?" if name in entry.not_identified else f"{getattr(parameters.recoded(), name):.3f}"
            for name in ("sd_worker_slope", "sd_item_slope", "sd_residual")
        )
        figures = [worker, "?" if limit is None else f"{limit:.3f}", item, residual]
    workers = (entry.document or {}).get("n_workers", "-")
    return [shortened(entry.name), *figures, f"{workers}", entry.use]


def entry_text(entry: LibraryEntry, *, library: str | None = None) -> str:
    """One entry with its source, what it is worth and how to plan from it; library : as the user named it."""
    parts = [wrapped(f"{entry.name}: {entry.summary}")]
    if entry.document is not None:
        parts += [_figures(entry), _study(entry.document)]
    else:
        parts.append(_published(entry.published))
    facts = [
        ("Worker", entry.worker),
        ("Item", entry.item),
        ("Paper", entry.paper),
        ("Data", entry.data),
        ("Licence", entry.licence),
        ("Worth", entry.worth),
        ("Note", entry.caveat),
    ]
    parts.append("\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts if text))
    if entry.plannable:
        name = shell_word(entry.name)
        place = "" if library is None else f" --library {shell_word(library)}"
        further = " --allow-not-identified" if entry.not_identified else ""
        parts.append(
            f"Plan from it:\n  humeval-power parameters show {name}{place} --json -o parameters.json\n"
            f"  humeval-power power --parameters parameters.json{further} ..."
        )
    return "\n\n".join(part for part in parts if part)


def _figures(entry: LibraryEntry) -> str:
    parameters = entry.parameters
    assert parameters is not None
    assert entry.document is not None
    intervals = entry.document.get("intervals") or {}
    rows = []
    for name in PARAMETER_NAMES:
        interval = intervals.get(name)
        unknown = name in entry.not_identified
        shown = "not identified" if unknown else _interval(interval)
        rows.append([name, f"{getattr(parameters, name):.4f}", shown])
    a, b = parameters.coding
    text = text_table(["parameter", "on [0, 1]", "95 % interval"], rows)
    text += f"\n  coding: x = {a:g} for A, {b:g} for B"
    limit = upper_worker_slope(entry, _CONFIDENCE)
    if limit is not None:
        text += f"\n  upper {100 * _CONFIDENCE:.0f} % limit of sd_worker_slope: {limit:.4f}"
    combinations = entry.document.get("identified_combinations") or []
    if combinations:
        text += "\n" + wrapped(f"known: {'; '.join(combinations)}", bullet="  ")
    return text


def _interval(interval: object) -> str:
    if not isinstance(interval, list | tuple) or None in interval:
        return "-"
    return f"{interval[0]:.4f} to {interval[1]:.4f}"


def _study(document: Mapping[str, Any]) -> str:
    systems = document.get("systems") or ["A", "B"]
    scale = document.get("scale") or {}
    parts = [f"A is {systems[0]!r}, B is {systems[1]!r}"]
    if document.get("criterion_name"):
        parts.append(f"criterion {document['criterion_name']!r}")
    if scale:
        parts.append(f"scale {scale['low']:g} to {scale['high']:g}")
    parts += [f"{document[f'n_{noun}']:,} {noun}" for noun in ("ratings", "workers", "items")
              if document.get(f"n_{noun}") is not None]  # fmt: skip
    boundary = document.get("boundary") or []
    if boundary:
        parts.append(f"estimated as zero: {', '.join(boundary)}")
    return wrapped("; ".join(parts), bullet="Study    ")


def _published(published: Mapping[str, Any]) -> str:
    lines = []
    for label, values in published.items():
        shown = values
        if isinstance(values, Mapping):
            shown = ", ".join(f"{name} {value:g}" if isinstance(value, float | int) else f"{name} {value}"
                              for name, value in values.items())  # fmt: skip
        lines.append(wrapped(f"{label}: {shown}", bullet="  "))
    return "As published\n" + "\n".join(lines) if lines else ""
