"""`humeval-power parameters`: the library of parameters, its entries, and entries of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.api.library import entry as one_entry
from humeval_power.api.library import library
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.output import remark
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.python_code.expressions import Call, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed
from humeval_power.interfaces.writing.file_sets import update_file
from humeval_power.interfaces.writing.unfinished import finish_sets
from humeval_power.reporting.values import words
from humeval_power.safe_text import shell_command

if TYPE_CHECKING:
    from humeval_power.reporting.study.library_result import EntryResult, LibraryResult
    from humeval_power.reporting.study.parameter_library import LibraryEntry


_library_option = click.option(
    "--library", "own", metavar="FILE", help="Your own library. [in the folder of your settings]"
)


def _write_list(typed: Typed, source: Source) -> None:
    """The library of parameters, as a program."""
    source.let("result", _library_call(typed))


def _write_entry(typed: Typed, source: Source) -> None:
    """One entry of the library, as a program."""
    source.let("result", _library_call(typed).method("entry", typed["entry"]))


def _library_call(typed: Typed) -> Call:
    """What comes along, and the user's own entries, in the folder of their settings where no file is named."""
    own: str | None = typed["own"]
    usual = _place(None)
    if own is None and usual.exists():
        own = str(usual)
    return call("hp.library", *((own,) if own is not None else ()))


@click.group("parameters")
def command() -> None:
    """Look up what is known of the variation in other studies.

    'list' names the entries, 'show NAME' tells one with its source and what
    it is worth, and 'show NAME -o parameters.json' writes it for 'power' and
    'plan'. 'add FILE' puts what 'fit -o', or 'report --form parameters -o',
    wrote into your own library, and shows it.
    """


@command.command("list", cls=Command, program=_write_list)
@_library_option
@with_result()
def listed(own: str | None) -> LibraryResult:
    """Name the entries, with what varies in them and what they can be used for."""
    return library(_entries(own))


@command.command("show", cls=Command, program=_write_entry)
@click.argument("entry", metavar="NAME")
@_library_option
@with_result()
def shown(entry: str, own: str | None) -> EntryResult:
    """Tell an entry with its source and what it is worth.

    'show NAME -o parameters.json' writes it for 'power' and 'plan'.
    """
    from humeval_power.reporting.study.parameter_library import find_entry

    entries = _entries(own)
    return one_entry(entry, entries, remarks=_to_plan(find_entry(entry, entries), own))


@command.command("add", cls=Command, no_program="writes your own library, which the command alone does.")
@click.argument("file", metavar="FILE")
@_library_option
@click.option("--name", metavar="NAME", help="Name of the entry. [its own, or that of FILE]")
@click.option("--summary", metavar="TEXT", default="", help="One line about the study.")
@click.option("--source", metavar="TEXT", default="", help="Paper or study that it comes from.")
@click.option("--licence", metavar="TEXT", default="", help="Licence of the ratings.")
@with_result()
def added(
    file: str, own: str | None, name: str | None, summary: str, source: str, licence: str
) -> EntryResult:
    """Put parameters into your own library, and show them.

    FILE is what 'fit -o', or 'report --form parameters -o', wrote.
    """
    texts = {"summary": summary, "paper": source, "licence": licence}
    force = bool(click.get_current_context().params["force"])
    return _add(file, _place(own), name, texts, force=force)


def _place(own: str | None) -> Path:
    """Where the user's own library is."""
    return Path(own) if own is not None else Path(click.get_app_dir("humeval-power")) / "library.json"


def _entries(own: str | None) -> list[LibraryEntry]:
    """The shipped entries and the user's own."""
    from humeval_power.interfaces.formats.study.parameter_library import shipped_library

    place = _place(own)
    finish_sets(place.parent, say=remark)
    return [*shipped_library(), *_own(place, named=own is not None)]


def _to_plan(entry: LibraryEntry, own: str | None) -> list[str]:
    """The command that writes an entry for others to plan from, where one can."""
    if not entry.plannable:
        return []
    place = [] if own is None else ["--library", own]
    words = ["humeval-power", "parameters", "show", entry.name, *place, "-o", "parameters.json"]
    return [f"To plan from it: {shell_command(words)}"]


def _own(path: Path, *, named: bool) -> list[LibraryEntry]:
    """The user's entries; a library that was not asked for by name need not be there."""
    from humeval_power.interfaces.formats.study.parameter_library import read_library

    return read_library(path) if named or path.exists() else []


def _add(
    path: str, place: Path, chosen: str | None, texts: Mapping[str, str], *, force: bool
) -> EntryResult:
    from humeval_power.interfaces.formats.documents.reading import read_parameters
    from humeval_power.interfaces.formats.study.parameter_library import shipped_library
    from humeval_power.reporting.study.parameter_library import own_entry

    _, document = read_parameters(path, allow_not_identified=True)
    name = chosen or _exported_name(document) or Path(path).stem
    if name in [each.name for each in shipped_library()]:
        raise InputError(f"An entry {name!r} comes with the package; choose another --name.")
    if place.exists() and place.samefile(path):
        raise InputError(f"{place} is the file to add from; choose another --library.")
    made = own_entry(document, name=name, **texts)

    def with_added() -> str:
        entries: Sequence[LibraryEntry] = _own(place, named=False)
        if name in [each.name for each in entries] and not force:
            raise InputError(f"{place} has an entry {name!r}. Choose another --name, or add --force.")
        from humeval_power.interfaces.formats.documents.reading import to_json
        from humeval_power.reporting.study.parameter_library import library_record

        # The file is the user's own list, and what was in it is kept.
        kept = [each for each in entries if each.name != name]
        return to_json(library_record([*kept, made]))

    update_file(place, with_added, say=remark)
    return one_entry(name, [made], remarks=[f"Added {name!r} to {place}"])


def _exported_name(document: Mapping[str, Any]) -> str | None:
    """The name under which a document was exported."""
    about = document.get("library")
    return words(about, "name") if isinstance(about, Mapping) else None
