"""`humeval-power more parameters`: the library of parameters, its entries, and entries of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.command_groups import in_terminal
from humeval_power.asking.declared import Calls, Declaration, Page, Part
from humeval_power.asking.expressions import Call, call
from humeval_power.asking.form import Next
from humeval_power.asking.output import note, remark
from humeval_power.asking.vocabulary import ENTRIES, LICENCE
from humeval_power.comparisons.questions import Subject
from humeval_power.errors import InputError
from humeval_power.fields import own, text
from humeval_power.safe_text import shell_command
from humeval_power.saying.values import words

if TYPE_CHECKING:
    from humeval_power.studies.power.parameter_library import LibraryEntry

_A_STUDY = {"workers": "20", "items": "100", "ratings-per-item": "3", "effect": "0.1"}
_FIRST = "pplm-fluency-gradient"
_LIBRARY = own(
    text("FILE"),
    "Your own library. [in the folder of your settings]",
    "Your own library",
    page_help="Beside what comes with the package.",
    option="library",
)


def _place(given: TypedValues) -> Path:
    """Where the user's own library is."""
    named: str | None = given["own"]
    return Path(click.get_app_dir("humeval-power")) / "library.json" if named is None else Path(named)


def _library(given: TypedValues, calls: Calls) -> Call:
    """What comes along, and the user's own entries, in the folder of their settings where no file is named."""
    place = _place(given)
    if isinstance(calls, Caller):
        from humeval_power.files.disk import finish_sets

        finish_sets(place.parent, say=remark)
    return call("hp.library", *([str(place)] if given["own"] is not None or place.exists() else []))


def _list(given: TypedValues, calls: Calls) -> None:
    calls.let("result", _library(given, calls))


def _show(given: TypedValues, calls: Calls) -> None:
    result: Any = calls.let("result", _library(given, calls).method("entry", given["entry"]))
    if isinstance(calls, Caller) and result.entry.plannable:
        place = [] if given["own"] is None else ["--library", given["own"]]
        show = [
            "humeval-power",
            *in_terminal(["parameters", "show", given["entry"]]),
            *place,
            "-o",
            "parameters.json",
        ]
        note(f"To plan from it: {shell_command(show)}")


def _add(given: TypedValues, calls: Calls) -> None:
    from humeval_power.files.documents.reading import read_parameters
    from humeval_power.files.file_sets import update_file
    from humeval_power.studies.power.files import read_library
    from humeval_power.studies.power.parameter_library import EntryResult, own_entry

    path, place = given["file"], _place(given)
    _, document = read_parameters(path, allow_not_identified=True)
    name = given["name"] or _exported_name(document) or Path(path).stem
    if name in ENTRIES:
        raise InputError(f"An entry {name!r} comes with the package; choose another --name.")
    if place.exists() and place.samefile(path):
        raise InputError(f"{place} is the file to add from; choose another --library.")
    texts = {"summary": given["summary"], "paper": given["source"], "licence": given["licence"]}
    made = own_entry(document, name=name, **{text: said or "" for text, said in texts.items()})

    def with_added() -> str:
        entries: Sequence[LibraryEntry] = read_library(place) if place.exists() else []
        if name in [each.name for each in entries] and not given["force"]:
            raise InputError(f"{place} has an entry {name!r}. Choose another --name, or add --force.")
        from humeval_power.files.documents.reading import to_json
        from humeval_power.studies.power.parameter_library import library_record

        # The file is the user's own list, and what was in it is kept.
        kept = [each for each in entries if each.name != name]
        return to_json(library_record([*kept, made]))

    update_file(place, with_added, say=remark)
    note(f"Added {name!r} to {place}")
    result: Any = EntryResult(entry=made)
    calls.let("result", result)


def _exported_name(document: Mapping[str, Any]) -> str | None:
    """The name under which a document was exported."""
    about = document.get("library")
    return words(about, "name") if isinstance(about, Mapping) else None


SUBJECT = Subject(
    "parameters",
    """Look up what is known of the variation in other studies.

    'list' names the entries, 'show NAME' tells one with its source and what
    it is worth, and 'show NAME -o parameters.json' writes it for 'power' and
    'plan'. 'add FILE' puts what 'fit -o', or 'report --form parameters -o',
    wrote into your own library, and shows it.
    """,
    (
        Declaration(
            ("parameters", "list"),
            "Name the entries, with what varies in them and what they can be used for.",
            {"own": _LIBRARY},
            _list,
            Page(
                "What other studies found",
                "How much workers and items differed elsewhere: to plan from, where there is no pilot yet.",
                (Part("Where to look", ("own",)),),
                (Next(("parameters", "show"), "One of them", sets={"entry": _FIRST}),),
                "plan",
            ),
        ),
        Declaration(
            ("parameters", "show"),
            """Tell an entry with its source and what it is worth.

            'show NAME -o parameters.json' writes it for 'power' and 'plan'.
            """,
            {
                "entry": own(text("NAME"), "", "Study", start=_FIRST, words=ENTRIES, needed=True),
                "own": _LIBRARY,
            },
            _show,
            Page(
                "One other study",
                "Where these figures come from and what they are worth.",
                (Part("The study", ("entry", "own")),),
                (
                    Next(
                        ("power",), "Plan from it", ("scale",), {"parameters": "record.json"}, sets=_A_STUDY
                    ),
                ),
                "plan",
            ),
            arguments=("entry",),
        ),
        Declaration(
            ("parameters", "add"),
            """Put parameters into your own library, and show them.

            FILE is what 'fit -o', or 'report --form parameters -o', wrote.
            """,
            {
                "file": own(text("FILE"), "", needed=True),
                "own": _LIBRARY,
                "name": own(text("NAME"), "Name of the entry. [its own, or that of FILE]"),
                "summary": own(text("TEXT"), "One line about the study."),
                "source": own(text("TEXT"), "Paper or study that it comes from."),
                "licence": LICENCE,
            },
            _add,
            arguments=("file",),
            no_program="writes your own library, which the command alone does.",
        ),
    ),
)
command = SUBJECT.command()
