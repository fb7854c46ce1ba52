"""`humeval-power parameters`: list, show and add entries of the library of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.options import result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, remark
from humeval_power.interfaces.cli.parameters_text import entry_text, list_text
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.formats.documents import read_parameters, to_json
from humeval_power.interfaces.formats.parameter_library import read_library, shipped_library
from humeval_power.interfaces.writing.file_sets import update_file
from humeval_power.interfaces.writing.unfinished import finish_sets
from humeval_power.reporting.document_values import words
from humeval_power.reporting.parameter_library import (
    LibraryEntry,
    find_entry,
    library_record,
    own_entry,
    parameters_document,
)

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
