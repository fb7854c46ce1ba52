"""Looks that are rehearsed stay out of the ledger of the study itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from humeval_power.checking.rehearsed import RECORD_SCHEMA, is_rehearsed
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.contents import RECORD
from humeval_power.interfaces.formats.json_text import read_json
from humeval_power.interfaces.formats.monitor.ledger import ledger_path


def refuse_rehearsed(workers: Iterable[str], plan: str, ledger: str, *, source: str) -> None:
    """Refuse what workers of a rehearsal said where its look would stand in the ledger of the study: beside its
    plan.

    A copy of the plan in the folder of a rehearsal is none of the study.

    Raises
    ------
    InputError
        Such ratings for that ledger.
    """
    if not is_rehearsed(workers):
        return
    usual = ledger_path(plan, None)
    if Path(ledger).resolve() == Path(usual).resolve() and not _holds_rehearsal(Path(plan).parent):
        rule = f"these ratings were drawn in a rehearsal, and {usual} is the ledger of the study itself."
        remedy = "Give the rehearsal a ledger of its own: --ledger rehearsal.jsonl."
        raise InputError([Problem(rule, remedy, place=source)])


def _holds_rehearsal(folder: Path) -> bool:
    """Whether a folder is one that a rehearsal was written to."""
    try:
        record = read_json(str(folder / RECORD), hint="")
    except InputError:
        return False
    return isinstance(record, dict) and record.get("schema") == RECORD_SCHEMA
