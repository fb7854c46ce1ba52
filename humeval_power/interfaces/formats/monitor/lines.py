"""The lines of a ledger as bytes: each sealed with the one before, and what may follow the last of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.monitor.secret import StudySecret
from humeval_power.reporting.monitor.result import LEDGER_NAME
from humeval_power.reporting.records import json_ready

LEDGER_SCHEMA = f"{LEDGER_NAME}3"
HEAD_LENGTH = 4096  # bytes from which a ledger is told from another file
_NOTHING_BEFORE = "0" * 64
_TYPES = {
    "schema": str,
    "number": int,
    "previous": str,
    "kind": str,
    "content": dict,
    "sha256": str,
    "hmac": str,
}
_SEALS = ("sha256", "hmac")  # of the values of a line, which are all the others
_START = b'{"content":{'
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_BROKEN = "the chain of looks is broken here."
_RESTORE = "Restore the ledger from a copy; it is what proves when the data were looked at."

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `number` counts from 1, `sha256` seals the line and, through `previous`, all before. `hmac` seals
    the same with the secret of the study, which nobody can do without it; '' where there was none."""

    number: int
    kind: str
    content: dict[str, Any]
    previous: str
    sha256: str
    hmac: str


@dataclass(frozen=True, slots=True)
class Lines:
    """What a file holds: sealed lines in its first `length` bytes, and a torn one after them, if there is more.

    `open_end`: the last of these bytes is no newline.
    """

    entries: tuple[Entry, ...]
    length: int
    open_end: bool


def check_head(head: bytes, place: str) -> None:
    """Refuse a file that does not start as a ledger does. An empty file may become one.

    Raises
    ------
    InputError
        Any other file.
    """
    first = head.removeprefix(_BOM).lstrip(_BLANK).split(b"\n")[0]
    # An entry that was formatted anew or edited is still one, and gets the message of a changed line.
    is_entry = first.startswith(_START) or (first.startswith(b"{") and LEDGER_NAME.encode() in first)
    if head and not is_entry:
        rule = "is no ledger of looks: its first line is no entry of one. It was left as it is."
        raise _refuse(rule, "Name another --ledger; one is made where there is no file.", place)


def read_lines(content: bytes, place: str) -> Lines:
    """The sealed lines of a ledger. A last line counts with and without its newline; blank ones do no harm.

    Raises
    ------
    InputError
        Another file, a ledger of another version, a line that was changed, is missing or there twice.
    """
    check_head(content[:HEAD_LENGTH], place)
    entries: list[Entry] = []
    position = 0
    pieces = content.split(b"\n")
    for row, piece in enumerate(pieces, start=1):
        text = (piece.removeprefix(_BOM) if row == 1 else piece).strip(_BLANK)
        if text:
            values = _json(text)
            if values is None and entries and row == len(pieces) and _begins_as_one(text):
                return Lines(tuple(entries), position, open_end=False)
            entries.append(_next_entry(text, values, entries, place, row))
        position += len(piece) + 1
    return Lines(tuple(entries), len(content), open_end=bool(content) and not content.endswith(b"\n"))


def sealed_line(
    kind: str, content: Content, before: Entry | None, *, secret: StudySecret | None = None
) -> tuple[bytes, Entry]:
    """A new line, with its newline, and the entry that it holds; sealed with the secret of the study too."""
    plain: Any = json_ready(dict(content))
    number = 1 if before is None else before.number + 1
    previous = _NOTHING_BEFORE if before is None else before.sha256
    values = {
        "schema": LEDGER_SCHEMA,
        "number": number,
        "previous": previous,
        "kind": kind,
        "content": plain,
    }
    seal = _seal(values)
    mac = "" if secret is None else _mac(secret, seal)
    line = _canonical({**values, "sha256": seal, "hmac": mac}).encode() + b"\n"
    return line, Entry(number, kind, plain, previous, seal, mac)


def check_secret_seals(entries: Sequence[Entry], secret: StudySecret, place: str) -> None:
    """Refuse lines that were sealed without the secret of the study, which the ledger names by its fingerprint.

    After a lost secret was replaced, the lines from there on are checked; the first of them seals what the ledger
    held before.

    Raises
    ------
    InputError
        A line whose seal is not by the secret: it was changed, and the chain sealed anew.
    """
    begin = max((entry.number for entry in entries if entry.kind == "secret"), default=1)
    for entry in entries[begin - 1 :]:
        if not compare_digest(entry.hmac.encode(), _mac(secret, entry.sha256).encode()):
            rule = (
                f"line {entry.number} is not sealed with the secret of this study: it, or one before it, was "
                "changed, and the chain sealed anew."
            )
            raise _refuse(rule, _RESTORE, place)


def _mac(secret: StudySecret, seal: str) -> str:
    return secret.digest(json.dumps(["line", seal]))


def _begins_as_one(text: bytes) -> bool:
    return text.startswith(_START) or _START.startswith(text)


def _next_entry(text: bytes, values: object, entries: list[Entry], place: str, row: int) -> Entry:
    entry = _sealed_entry(text, values)
    if entry is None:
        raise _unsealed(values, place, row, first=not entries)
    before = entries[-1] if entries else None
    if before is not None and entry == before:
        rule = "this line is the one before it once more."
        raise _refuse(rule, "Delete one of the two; nothing else is wrong up to here.", place, row)
    if entry.number != len(entries) + 1 or entry.previous != (before.sha256 if before else _NOTHING_BEFORE):
        raise _refuse(f"a line is missing before this one: {_BROKEN}", _RESTORE, place, row)
    return entry


def _unsealed(values: object, place: str, row: int, *, first: bool) -> InputError:
    schema = values.get("schema") if isinstance(values, dict) else None
    if isinstance(schema, str) and schema.startswith(LEDGER_NAME) and schema != LEDGER_SCHEMA:
        rule = (
            f"is a ledger of another version of this program ({schema[:60]}; this one has {LEDGER_SCHEMA})."
        )
        return _refuse(rule, "Finish that study with the version that began it.", place)
    if values is None and first:
        rule = (
            "the first line is cut off, so that no look was ever sealed here. The file was left as it is."
        )
        return _refuse(rule, "Move it away, or name another --ledger, and take the look again.", place, row)
    return _refuse(f"is not as it was written: {_BROKEN}", _RESTORE, place, row)


def _json(text: bytes) -> object:
    """The values of a line, None where it is no whole JSON."""
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return None


def _sealed_entry(text: bytes, values: object) -> Entry | None:
    if not isinstance(values, dict) or set(values) != set(_TYPES):
        return None
    if any(type(values[name]) is not kind for name, kind in _TYPES.items()):
        return None
    unsealed = {name: value for name, value in values.items() if name not in _SEALS}
    try:
        whole = values["schema"] == LEDGER_SCHEMA and _seal(unsealed) == values["sha256"]
        if not whole or _canonical(values).encode() != text:
            return None
    except (ValueError, RecursionError):  # infinities, lone surrogates, endless nesting
        return None
    return Entry(**{name: values[name] for name in _TYPES if name != "schema"})


def _seal(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(values).encode()).hexdigest()


def _canonical(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _refuse(rule: str, remedy: str, place: str, row: int | None = None) -> InputError:
    return InputError([Problem(rule, remedy, place=place, row=row)])
