"""`humeval-power parameters`: the library of parameters, its entries, and entries of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from humeval_power.api.library import entry, library
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.output import remark
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.formats.documents.reading import read_parameters, to_json
from humeval_power.interfaces.formats.study.parameter_library import read_library, shipped_library
from humeval_power.interfaces.writing.file_sets import update_file
from humeval_power.interfaces.writing.unfinished import finish_sets
from humeval_power.reporting.result import Result
from humeval_power.reporting.study.library_result import EntryResult, LibraryResult
from humeval_power.reporting.study.parameter_library import LibraryEntry, library_record, own_entry
from humeval_power.reporting.values import words
from humeval_power.safe_text import shell_command

Action = Literal["list", "show", "add"]
_WANTED = {
    "show": "the NAME of an entry; 'parameters list' has them",
    "add": "the FILE that 'fit -o' or 'report --form parameters' wrote",
}


@click.command("parameters", cls=Command)
@click.argument("action", type=click.Choice(["list", "show", "add"]))
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option("--library", "own", metavar="FILE", help="Your own library. [in the folder of your settings]")
@click.option(
    "--name", "entry_name", metavar="NAME", help="add: name of the entry. [its own, or that of FILE]"
)
@click.option("--summary", metavar="TEXT", default="", help="add: one line about the study.")
@click.option("--source", metavar="TEXT", default="", help="add: paper or study that it comes from.")
@click.option("--licence", metavar="TEXT", default="", help="add: licence of the ratings.")
@with_result(LibraryResult)
def command(
    action: Action,
    name: str | None,
    own: str | None,
    entry_name: str | None,
    summary: str,
    source: str,
    licence: str,
) -> Result:
    """Look up what is known of the variation in other studies.

    'list' names the entries, 'show NAME' tells one with its source and what
    it is worth, and 'show NAME -o parameters.json' writes it for 'power' and
    'plan'. 'add FILE' puts what 'fit -o', or 'report --form parameters -o',
    wrote into your own library, and shows it.
    """
    if action in _WANTED and name is None:
        raise click.UsageError(f"'{action}' needs {_WANTED[action]}.")
    if action == "list" and name is not None:
        raise click.UsageError(f"'list' takes no name; try: show {name}")
    if action != "add" and (entry_name or summary or source or licence):
        raise click.UsageError("--name, --summary, --source and --licence belong to 'add'.")
    place = Path(own) if own is not None else Path(click.get_app_dir("humeval-power")) / "library.json"
    if action == "add":
        texts = {"summary": summary, "paper": source, "licence": licence}
        force = bool(click.get_current_context().params["force"])
        return _add(str(name), place, entry_name, texts, force=force)
    finish_sets(place.parent, say=remark)
    entries = [*shipped_library(), *_own(place, named=own is not None)]
    if action == "list":
        return library(entries)
    return entry(str(name), entries, remarks=[_to_plan(str(name), own)])


def _to_plan(name: str, own: str | None) -> str:
    """The command that writes an entry for others to plan from."""
    place = [] if own is None else ["--library", own]
    words = ["humeval-power", "parameters", "show", name, *place, "-o", "parameters.json"]
    return f"To plan from it: {shell_command(words)}"


def _own(path: Path, *, named: bool) -> list[LibraryEntry]:
    """The user's entries; a library that was not asked for by name need not be there."""
    return read_library(path) if named or path.exists() else []


def _add(
    path: str, place: Path, chosen: str | None, texts: Mapping[str, str], *, force: bool
) -> EntryResult:
    _, document = read_parameters(path, allow_not_identified=True)
    name = chosen or _exported_name(document) or Path(path).stem
    if name in [each.name for each in shipped_library()]:
        raise InputError(f"An entry {name!r} comes with the package; choose another --name.")
    if place.exists() and place.samefile(path):
        raise InputError(f"{place} is the file to add from; choose another --library.")
    added = own_entry(document, name=name, **texts)

    def with_added() -> str:
        entries: Sequence[LibraryEntry] = _own(place, named=False)
        if name in [each.name for each in entries] and not force:
            raise InputError(f"{place} has an entry {name!r}. Choose another --name, or add --force.")
        # The file is the user's own list, and what was in it is kept.
        kept = [each for each in entries if each.name != name]
        return to_json(library_record([*kept, added]))

    update_file(place, with_added, say=remark)
    return entry(name, [added], remarks=[f"Added {name!r} to {place}"])


def _exported_name(document: Mapping[str, Any]) -> str | None:
    """The name under which a document was exported."""
    about = document.get("library")
    return words(about, "name") if isinstance(about, Mapping) else None
