"""The ledger of looks: lines that are only ever added, each sealed with the one before.

A line counts once it is sealed and on the disk; what a killed process left after the last sealed line never
counted, and goes when the next one is written. Any other file is left as it is. The file itself is the
lock, so that two processes take turns.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from humeval_power.asking.output import note
from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.errors import HumevalPowerError, InputError, Problem, refusal
from humeval_power.files.disk import lock_handle, sync_directory
from humeval_power.files.file_sets import write_files
from humeval_power.files.private_files import LEDGER_NAME, SECRET_NAME
from humeval_power.ratings import Ratings
from humeval_power.saying.result import json_ready
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.state import Observations

# The secret of a study: what its digests of ratings are made with, in a file that stays with the authors.

SECRET_SCHEMA = f"{SECRET_NAME}1"
_FORM = re.compile(rf"{re.escape(SECRET_SCHEMA)}[ \t]+([0-9a-f]{{64}})")
_LARGEST = 4096  # bytes of a file that can still be a secret
_FINGERPRINT = 16  # hex digits that tell secrets apart


@dataclass(frozen=True, slots=True)
class StudySecret:
    """A key of 256 bits, which no message shows."""

    key: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """What names this secret without telling anything of it."""
        return self.digest("fingerprint")[:_FINGERPRINT]

    def digest(self, message: str) -> str:
        """HMAC-SHA256 of a text, in hexadecimal."""
        return hmac.new(self.key, message.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def secret_path(ledger: str, secret: str | None) -> str:
    """The file with the secret: as typed, or beside the ledger."""
    place = Path(ledger)
    return secret or str(place.with_suffix(".secret") if place.name else place / ".secret")


def read_secret(path: str | Path) -> StudySecret | None:
    """The secret in a file; None where there is no file. Raises InputError: a file that cannot be read, or
    that holds no secret."""
    place = Path(path)
    try:
        if not stat.S_ISREG(place.stat().st_mode):
            raise refusal(
                "is not a file.", "Name the file with the study's secret: --secret FILE.", str(path)
            )
        with place.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror}.", "", str(path)) from None
    match = _FORM.fullmatch(content.decode("utf-8", "replace").removeprefix("\ufeff").strip())
    if match is None:
        rule = f"is no secret: it must be one line, '{SECRET_SCHEMA}' and 64 hexadecimal digits."
        raise refusal(rule, "Name another --secret; one is made where there is no file.", str(path))
    return StudySecret(bytes.fromhex(match[1]))


def kept_secret(path: str | Path) -> StudySecret:
    """The secret in a file; made, and on the disk as a whole when this returns, where there is none.

    It is never taken away again: another study may have begun to use it.
    """
    return read_secret(path) or _make(Path(path))


def readable_by_others(path: str | Path) -> bool:
    """Whether the file can be read by others than its owner."""
    try:
        return bool(Path(path).stat().st_mode & 0o044)
    except OSError:
        return False


def _make(path: Path) -> StudySecret:
    """A new secret, or another's, made at the same time. What a killed run leaves, the next one clears away."""
    secret = StudySecret(secrets.token_bytes(32))
    try:
        write_files({path: f"{SECRET_SCHEMA} {secret.key.hex()}\n"}, force=False, private={path})
    except HumevalPowerError as error:
        other = read_secret(path)
        if other is not None:
            return other
        remedy = "Name a place that can be written: --secret FILE."
        raise refusal(f"cannot be written: {error}", remedy, str(path)) from None
    return secret


# The lines of a ledger as bytes: each sealed with the one before, and what may follow the last of them.

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
_ENDING = re.compile(rb'"decision":"([es][a-z-]*)')  # stop-..., end-...
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_BROKEN = "the chain of looks is broken here."
_RESTORE = "Restore the ledger from a copy; it is what proves when the data were looked at."

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
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
    """What a file holds: sealed lines in its first `length` bytes, and a `torn` one after them, if there is more.

    `open_end`: the last of these bytes is no newline.
    """

    entries: tuple[LedgerEntry, ...]
    length: int
    open_end: bool
    torn: bytes = b""

    @property
    def torn_decision(self) -> str:
        """What ended the study, as far as the torn line says it; '' where it does not."""
        match = _ENDING.search(self.torn)
        return "" if match is None else match[1].decode()


def check_head(head: bytes, place: str) -> None:
    """Refuse a file that does not start as a ledger does. An empty file may become one. Raises InputError:
    any other file."""
    first = head.removeprefix(_BOM).lstrip(_BLANK).split(b"\n")[0]
    # An entry that was formatted anew or edited is still one, and gets the message of a changed line.
    is_entry = first.startswith(_START) or (first.startswith(b"{") and LEDGER_NAME.encode() in first)
    if head and not is_entry:
        rule = "is no ledger of looks: its first line is no entry of one. It was left as it is."
        raise refusal(rule, "Name another --ledger; one is made where there is no file.", place)


def read_lines(content: bytes, place: str) -> Lines:
    """The sealed lines of a ledger. A last line counts with and without its newline; blank ones do no harm.
    Raises InputError: another file, a ledger of another version, a line that was changed, is missing or there
    twice."""
    check_head(content[:HEAD_LENGTH], place)
    entries: list[LedgerEntry] = []
    position = 0
    pieces = content.split(b"\n")
    for row, piece in enumerate(pieces, start=1):
        text = (piece.removeprefix(_BOM) if row == 1 else piece).strip(_BLANK)
        if text:
            values = _json(text)
            if values is None and entries and row == len(pieces) and _begins_as_one(text):
                return Lines(tuple(entries), position, open_end=False, torn=text)
            entries.append(_next_entry(text, values, entries, place, row))
        position += len(piece) + 1
    return Lines(tuple(entries), len(content), open_end=bool(content) and not content.endswith(b"\n"))


def sealed_line(
    kind: str, content: Content, before: LedgerEntry | None, *, secret: StudySecret | None = None
) -> tuple[bytes, LedgerEntry]:
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
    return line, LedgerEntry(number, kind, plain, previous, seal, mac)


def check_secret_seals(entries: Sequence[LedgerEntry], secret: StudySecret, place: str) -> None:
    """Refuse lines that were sealed without the secret of the study, which the ledger names by its
    fingerprint.

    After a lost secret was replaced, the lines from there on are checked; the first of them seals what the
    ledger held before. Raises InputError: a line whose seal is not by the secret: it was changed, and the
    chain sealed anew.
    """
    begin = max((entry.number for entry in entries if entry.kind == "secret"), default=1)
    for entry in entries[begin - 1 :]:
        if not compare_digest(entry.hmac.encode(), _mac(secret, entry.sha256).encode()):
            rule = (
                f"line {entry.number} is not sealed with the secret of this study: it, or one before it, was "
                "changed, and the chain sealed anew."
            )
            raise refusal(rule, _RESTORE, place)


def _mac(secret: StudySecret, seal: str) -> str:
    return secret.digest(json.dumps(["line", seal]))


def _begins_as_one(text: bytes) -> bool:
    return text.startswith(_START) or _START.startswith(text)


def _next_entry(
    text: bytes, values: object, entries: list[LedgerEntry], place: str, row: int
) -> LedgerEntry:
    entry = _sealed_entry(text, values)
    before = entries[-1] if entries else None
    if entry is None:
        raise _unsealed(values, place, row, first=before is None)
    if before is not None and entry == before:
        rule = "this line is the one before it once more."
        raise refusal(rule, "Delete one of the two; nothing else is wrong up to here.", place, row)
    if entry.number != len(entries) + 1 or entry.previous != (before.sha256 if before else _NOTHING_BEFORE):
        raise refusal(f"a line is missing before this one: {_BROKEN}", _RESTORE, place, row)
    return entry


def _unsealed(values: object, place: str, row: int, *, first: bool) -> InputError:
    schema = values.get("schema") if isinstance(values, dict) else None
    if isinstance(schema, str) and schema.startswith(LEDGER_NAME) and schema != LEDGER_SCHEMA:
        rule = (
            f"is a ledger of another version of this program ({schema[:60]}; this one has {LEDGER_SCHEMA})."
        )
        return refusal(rule, "Finish that study with the version that began it.", place)
    if values is None and first:
        rule = (
            "the first line is cut off, so that no look was ever sealed here. The file was left as it is."
        )
        return refusal(rule, "Move it away, or name another --ledger, and take the look again.", place, row)
    return refusal(f"is not as it was written: {_BROKEN}", _RESTORE, place, row)


def _json(text: bytes) -> object:
    """The values of a line, None where it is no whole JSON."""
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return None


def _sealed_entry(text: bytes, values: object) -> LedgerEntry | None:
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
    return LedgerEntry(**{name: values[name] for name in _TYPES if name != "schema"})


def _seal(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(values).encode()).hexdigest()


def _canonical(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


_BLOCK = 1 << 20


class Ledger:
    """An open ledger that this process alone may extend; made by `open_ledger`."""

    def __init__(self, handle: int, lines: Lines, place: str) -> None:
        self._handle = handle
        self._entries = list(lines.entries)
        self._length = lines.length
        self._open_end = lines.open_end
        self._place = place
        self.is_torn = bool(lines.torn)

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The lines so far, first to last."""
        return tuple(self._entries)

    def append(self, kind: str, content: Content, *, secret: StudySecret | None = None) -> LedgerEntry:
        """Add a line; when this returns, it is on the disk."""
        return self.extend([(kind, content)], secret=secret)[0]

    def extend(
        self, added: Sequence[tuple[str, Content]], *, secret: StudySecret | None = None
    ) -> list[LedgerEntry]:
        """Add lines, all or none, sealed with the secret of the study; when this returns, they are on the
        disk. Raises InputError: the disk is full, for example. The ledger is as it was."""
        data = b"\n" if self._open_end else b""
        before = self._entries[-1] if self._entries else None
        entries = []
        for kind, content in added:
            line, before = sealed_line(kind, content, before, secret=secret)
            data += line
            entries.append(before)
        try:
            self._write(data)
        except OSError as error:
            rule = f"cannot be written: {error.strerror}. The look was not recorded."
            raise InputError([Problem(rule, "Make room, and take it again.", place=self._place)]) from None
        if self.is_torn:
            note(f"{self._place}: an unfinished line was dropped; it never counted as a look.")
        self._length += len(data)
        self._open_end = self.is_torn = False
        self._entries += entries
        return entries

    def _write(self, data: bytes) -> None:
        os.ftruncate(self._handle, self._length)  # what was torn
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except BaseException:
            os.ftruncate(self._handle, self._length)
            raise


@contextmanager
def open_ledger(path: str | Path) -> Iterator[Ledger]:
    """Lock the ledger, waiting for others, and give its lines; a missing file is made.

    A file that was made goes again if no line was added to it. Raises InputError: a file that is no ledger, a
    line that was changed or is missing, or an unfinished one that ended the study.
    """
    place = Path(os.path.realpath(path))  # a link stays a link
    try:
        handle, made = _locked(place, str(path))
    except OSError as error:
        raise _cannot(path, "opened", error) from None
    book: Ledger | None = None
    try:
        book = Ledger(handle, _lines(handle, str(path)), str(path))
        yield book
    finally:
        if made and (book is None or not book.entries):
            with suppress(OSError):
                place.unlink()
        os.close(handle)


def read_ledger(path: str | Path) -> tuple[LedgerEntry, ...]:
    """The lines of a ledger, without a lock; none where there is no file. Raises InputError: a file that
    cannot be read or is no ledger, a line that was changed or is missing, or an unfinished one that ended the
    study."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _cannot(path, "read", error) from None
    try:
        _check_regular(handle, str(path))
        return _lines(handle, str(path)).entries
    except OSError as error:
        raise _cannot(path, "read", error) from None
    finally:
        os.close(handle)


def _lines(handle: int, shown: str) -> Lines:
    lines = read_lines(_read(handle, shown), shown)
    if lines.torn_decision:
        rule = (
            f"its last line is unfinished, and was to record that the study ended ({lines.torn_decision}): no "
            "look may come after that."
        )
        raise refusal(rule, _RESTORE, shown)
    return lines


def _locked(place: Path, shown: str) -> tuple[int, bool]:
    """A handle of the file under that name, locked, and whether this made the file."""
    while True:
        handle, made = _opened(place)
        try:
            _check_regular(handle, shown)
            lock_handle(handle)
            if _is_there(handle, place):
                if made:
                    sync_directory(place.parent)
                return handle, made
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # while waiting, the one who made it took it away again


def _opened(place: Path) -> tuple[int, bool]:
    flags = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK
    try:
        return os.open(place, flags), False
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        return os.open(place, flags | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(place, flags), False


def _is_there(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(place))
    except FileNotFoundError:
        return False


def _check_regular(handle: int, place: str) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        rule = "is not a file that lines could be added to. It was left as it is."
        raise InputError([Problem(rule, "Name another --ledger.", place=place)])


def _read(handle: int, place: str) -> bytes:
    """All bytes of the file, if its first ones are those of a ledger."""
    os.lseek(handle, 0, os.SEEK_SET)
    parts = [os.read(handle, HEAD_LENGTH)]
    check_head(parts[0], place)
    while part := os.read(handle, _BLOCK):
        parts.append(part)
    return b"".join(parts)


def _cannot(path: str | Path, what: str, error: OSError) -> InputError:
    rule = f"cannot be {what}: {error.strerror}."
    return InputError([Problem(rule, "Name the ledger of this study: --ledger FILE.", place=str(path))])


# What a look saw, row by row: digests for the ledger, and names for messages.

_LENGTH = 16  # hex digits: 64 bits, so that even a million ratings do not collide


def row_digests(ratings: Ratings, systems: Sequence[str], secret: StudySecret) -> list[tuple[str, str]]:
    """A digest of each rating's place (worker, item, system, and which repeat) and one of its value, in the
    order of the ratings.

    systems : as the plan names them, in the order of those of the ratings: systems that change places between
    looks change every row.

    Repeats of a cell are numbered by their value, so that the order of rows does not matter.
    """
    raw = ratings.raw_rating
    digests = [("", "")] * ratings.n_ratings
    last, repeat = (-1, -1, -1), 0
    for row in np.lexsort((ratings.rating, ratings.system, ratings.item, ratings.worker)):
        cell = (int(ratings.worker[row]), int(ratings.item[row]), int(ratings.system[row]))
        repeat = repeat + 1 if cell == last else 0
        last = cell
        names = (ratings.worker_names[cell[0]], ratings.item_names[cell[1]], systems[cell[2]])
        place = secret.digest(json.dumps(["place", *names, repeat]))[:_LENGTH]
        digests[row] = (place, secret.digest(json.dumps(["value", place, f"{raw[row]:.10g}"]))[:_LENGTH])
    return digests


def observation_digests(
    seen: Observations, plan: JudgementPlan, secret: StudySecret
) -> list[tuple[str, str]]:
    """The same for independent judgements. Their place is the item, or the worker, and the system; where neither is
    known, judgements of the same value are counted, so that fewer of them than at an earlier look are noticed."""
    counted: Counter[tuple[str, ...]] = Counter()
    digests = []
    for row, value in enumerate(seen.value):
        system = "" if seen.is_b is None else plan.systems[int(seen.is_b[row])]
        worker, item = _known(seen, plan, row)
        text = f"{value:.10g}"
        names = (worker, item, system) if worker or item else (worker, item, system, text)
        place = secret.digest(json.dumps(["place", *names, counted[names]]))[:_LENGTH]
        counted[names] += 1
        digests.append((place, secret.digest(json.dumps(["value", place, text]))[:_LENGTH]))
    return digests


def _known(seen: Observations, plan: JudgementPlan, row: int) -> tuple[str, str]:
    """Names of the worker and the item; of right and wrong answers the item alone tells rows apart."""
    named = seen.worker is not None and plan.kind != "accuracy"
    worker = seen.worker[row] if named and seen.worker is not None else ""
    return worker, "" if seen.item is None else seen.item[row]


class LookRows(NamedTuple):
    """What the ledger asks of the data of a look: the scale or the test that it is read by, where it is from,
    what one row is called, digests of place and value for each, the name of a row, and what to say first."""

    by: RatingScale | str
    source: str
    noun: str
    digests: Callable[[StudySecret], list[tuple[str, str]]]
    named: Callable[[int], str]
    notices: tuple[str, ...] = ()


def rows_of_ratings(ratings: Ratings, systems: Sequence[str]) -> LookRows:
    """The rows of a table of ratings of the systems that the plan names so."""

    def named(row: int) -> str:
        return (
            f"worker {ratings.worker_names[ratings.worker[row]]!r}, item "
            f"{ratings.item_names[ratings.item[row]]!r}, system {ratings.system_names[ratings.system[row]]!r}"
        )

    return LookRows(
        ratings.scale,
        ratings.source,
        "rating",
        lambda secret: row_digests(ratings, systems, secret),
        named,
        rehearsal_notices(ratings.worker_names),
    )


def rows_of_observations(seen: Observations, plan: JudgementPlan) -> LookRows:
    """The rows of independent judgements."""

    def named(row: int) -> str:
        parts = [
            f"{what} {names[row]!r}"
            for what, names in (("worker", seen.worker), ("item", seen.item))
            if names is not None
        ]
        if seen.is_b is not None:
            parts.append(f"system {plan.systems[int(seen.is_b[row])]!r}")
        return ", ".join(parts)

    return LookRows(
        plan.test,
        seen.source,
        "judgement",
        lambda secret: observation_digests(seen, plan, secret),
        named,
        rehearsal_notices(seen.worker or ()),
    )
