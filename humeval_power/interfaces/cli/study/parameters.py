"""Entries of the library of parameters in words and numbers for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.options import result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, remark, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import read_parameters, to_json
from humeval_power.interfaces.formats.study.parameter_library import read_library, shipped_library
from humeval_power.interfaces.writing.file_sets import update_file
from humeval_power.interfaces.writing.unfinished import finish_sets
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.study.parameter_library import (
    LibraryEntry,
    find_entry,
    library_record,
    own_entry,
    parameters_document,
    upper_worker_slope,
)
from humeval_power.reporting.values import words
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


Action = Literal["list", "show", "add"]
_WANTED = {
    "show": "the NAME of an entry; 'parameters list' has them",
    "add": "the FILE that 'fit -o' or 'report --form parameters' wrote",
}


@click.command("parameters", cls=Command)
@click.argument("action", type=click.Choice(["list", "show", "add"]))
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option("--library", metavar="FILE", help="Your own library. [in the folder of your settings]")
@click.option(
    "--name", "entry_name", metavar="NAME", help="add: name of the entry. [its own, or that of FILE]"
)
@click.option("--summary", metavar="TEXT", default="", help="add: one line about the study.")
@click.option("--source", metavar="TEXT", default="", help="add: paper or study that it comes from.")
@click.option("--licence", metavar="TEXT", default="", help="add: licence of the ratings.")
@result_options
def command(
    action: Action,
    name: str | None,
    library: str | None,
    entry_name: str | None,
    summary: str,
    source: str,
    licence: str,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Look up what is known of the variation in other studies.

    'list' names the entries, 'show NAME' tells one with its source and what
    it is worth, and 'show NAME --json -o parameters.json' writes it for
    'power' and 'plan'. 'add FILE' puts what 'fit -o', or 'report --form
    parameters -o', wrote into your own library.
    """
    if action in _WANTED and name is None:
        raise click.UsageError(f"'{action}' needs {_WANTED[action]}.")
    if action == "list" and name is not None:
        raise click.UsageError(f"'list' takes no name; try: show {name}")
    if action != "add" and (entry_name or summary or source or licence):
        raise click.UsageError("--name, --summary, --source and --licence belong to 'add'.")
    if action == "add" and (output is not None or as_json):
        raise click.UsageError(
            "'add' writes to --library; --output and --json belong to 'list' and 'show'."
        )
    if output is not None and output != "-":
        refuse_to_overwrite([output], force=force)
    own = (
        Path(library) if library is not None else Path(click.get_app_dir("humeval-power")) / "library.json"
    )
    if action == "add":
        # Click has seen to it that there is a name.
        path = str(name)
        _add(path, own, entry_name, summary, source, licence, force=force)
        return
    finish_sets(own.parent, say=remark)
    entries = [*shipped_library(), *_own(own, named=library is not None)]
    if action == "list":
        text = to_json(library_record(entries)) if as_json else list_text(entries)
    else:
        entry = find_entry(str(name), entries)
        text = to_json(parameters_document(entry)) if as_json else entry_text(entry, library=library)
    emit(text, output=output, force=force)


def _own(path: Path, *, named: bool) -> list[LibraryEntry]:
    """The user's entries; a library that was not asked for by name need not be there."""
    return read_library(path) if named or path.exists() else []


def _add(
    path: str, library: Path, chosen: str | None, summary: str, source: str, licence: str, *, force: bool
) -> None:
    _, document = read_parameters(path, allow_not_identified=True)
    name = chosen or _exported_name(document) or Path(path).stem
    if name in [entry.name for entry in shipped_library()]:
        raise InputError(f"An entry {name!r} comes with the package; choose another --name.")
    added = own_entry(document, name=name, summary=summary, paper=source, licence=licence)

    def with_added() -> str:
        entries = _own(library, named=False)
        if name in [entry.name for entry in entries] and not force:
            raise InputError(f"{library} has an entry {name!r}. Choose another --name, or add --force.")
        # The file is the user's own list, and what was in it is kept.
        kept = [entry for entry in entries if entry.name != name]
        return to_json(library_record([*kept, added]))

    _refuse_same_file(path, library)
    update_file(library, with_added, say=remark)
    note(f"Added {name!r} to {library}")


def _refuse_same_file(path: str, library: Path) -> None:
    if library.exists() and library.samefile(path):
        raise InputError(f"{library} is the file to add from; choose another --library.")


def _exported_name(document: Mapping[str, Any]) -> str | None:
    """The name under which a document was exported."""
    about = document.get("library")
    return words(about, "name") if isinstance(about, Mapping) else None
