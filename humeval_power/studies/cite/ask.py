"""`humeval-power more cite`: what to cite, as BibTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.declared import Calls, Declaration
from humeval_power.asking.expressions import call
from humeval_power.asking.output import RECORD
from humeval_power.errors import InputError, Problem
from humeval_power.fields import flag, own, text

_OURS = "humeval_power/"
_REMEDY = "Give what 'fit', 'analyze', 'plan' or another command wrote as .json, or its folder."


def _cite(given: TypedValues, calls: Calls) -> None:
    records = [record for path in given["files"] for record in _records(path)]
    calls.let("result", call("hp.cite", *records, everything=given["everything"]))


def _records(path: str) -> list[dict[str, Any]]:
    """The record of a file, or those of a folder.

    Raises InputError: a file that is no record of this package, or a folder without one.
    """
    from humeval_power.files.file_bytes import read_object

    folder = Path(path)
    if not folder.is_dir():
        document = read_object(path)
        if not _is_record(document):
            raise InputError([Problem("is no record of this program.", _REMEDY, place=path)])
        return [document]
    inner = [folder / RECORD] if (folder / RECORD).is_file() else sorted(folder.glob("*.json"))
    records = [one for file in inner if _is_record(one := read_object(file))]
    if not records:
        raise InputError([Problem("holds no record of this program.", _REMEDY, place=path)])
    return records


def _is_record(values: dict[str, Any]) -> bool:
    is_form = any(str(name).startswith("heds-") for name in values)
    return is_form or str(values.get("schema", "")).startswith(_OURS)


DECLARED = Declaration(
    ("cite",),
    """Print what to cite as BibTeX: this program, and the methods you used.

    FILE is a record that a command wrote, such as parameters.json,
    analysis.json, plan.json or power.json, or the folder of a command or a
    study; what it says was done decides which works are cited, and above each
    entry stands what the work was used for. -o refs.bib writes the entries.
    """,
    {
        "files": own(text("[FILE]...", many=True), ""),
        "everything": own(flag(), "Everything that the package can cite.", option="all", usual=False),
    },
    _cite,
    arguments=("files",),
    endings=(".bib",),
    no_program="finds the records in files and folders; hp.cite takes records.",
)
command = DECLARED.command()
