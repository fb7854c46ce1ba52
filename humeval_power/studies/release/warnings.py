"""What to look at before a bundle is published: ids of persons, workers, homes, and what could not be searched."""

from __future__ import annotations

import csv
import gzip
import html
import io
import ipaddress
import json
import re
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from humeval_power.checking.columns import bare, shortened
from humeval_power.errors import InputError
from humeval_power.extras import require_extra
from humeval_power.files.private_files import private_kind
from humeval_power.studies.field.form import SHORT_KEY, personal_ids
from humeval_power.studies.release.rows import ReleaseRows

# The texts in a file of any kind, each with its place: lines, cells, values, and what archives hold.

MOST_BYTES = 200_000_000  # unpacked, of one archive
_TAG = re.compile(r"<[^>]*>")
_SHEETS = ("xl/worksheets/", "xl/sharedstrings", "xl/styles", "xl/theme")  # read as cells, or no text


class Piece(NamedTuple):
    """A text and where it stands in its file, such as \"line 3\"."""

    place: str
    text: str


class Texts(NamedTuple):
    """All texts of a file, the bytes that they stand in, and the parts that could not be read ('': all of it)."""

    pieces: list[Piece]
    raw: list[bytes]
    unread: list[str]


def document_texts(name: str, content: bytes) -> Texts:
    """Take a file apart as far as it is text, a table, JSON, a workbook, or an archive of such."""
    if content.startswith(b"PK\x03\x04"):
        return _archive(content)
    if content.startswith(b"\x1f\x8b"):
        unpacked = _gunzipped(content)
        if unpacked is None or unpacked.startswith((b"\x1f\x8b", b"PK\x03\x04")):
            return Texts([], [content], [""])
        inner = document_texts(re.sub(r"\.gz$", "", name, flags=re.IGNORECASE), unpacked)
        return inner._replace(raw=[content, *inner.raw])
    text = _decoded(content)
    if text is None:
        return Texts([], [content], [""])
    return Texts(_pieces(name, text), [content], [])


def _decoded(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig"] if b"\0" in content else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if "\0" in text or content.startswith((b"%PDF", b"PAR1")) else text
    return None


def _pieces(name: str, text: str) -> list[Piece]:
    ending = name.rpartition(".")[2].casefold()
    if ending in ("csv", "tsv"):
        try:
            return list(_cells(text, "\t" if ending == "tsv" else None))
        except csv.Error:
            pass
    try:
        return list(_values(json.loads(text), "$"))
    except (ValueError, RecursionError):
        pass
    pieces = []
    for number, line in enumerate(text.splitlines(), start=1):
        pieces.append(Piece(f"line {number}", line))
        if line.lstrip().startswith("{") and "\\u" in line:
            try:
                pieces += list(_values(json.loads(line), f"line {number}: $"))
            except (ValueError, RecursionError):
                continue
    return pieces


def _cells(text: str, delimiter: str | None) -> Iterator[Piece]:
    first = text.split("\n", 1)[0]
    delimiter = delimiter or max(",;\t", key=first.count)
    header: list[str] = []
    for row, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1):
        header = header or cells
        for column, cell in enumerate(cells):
            named = repr(header[column]) if column < len(header) else str(column + 1)
            yield Piece("the header" if row == 1 else f"row {row}, column {named}", cell)


def _values(value: Any, at: str) -> Iterator[Piece]:
    """Keys, texts and whole numbers of a JSON document; of decimals no part is an id."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield Piece(f"{at}, a key", key)
            yield from _values(part, f"{at}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _values(part, f"{at}[{number}]")
    elif isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield Piece(at, str(value))


def _gunzipped(content: bytes) -> bytes | None:
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return unpacked if len(unpacked) <= MOST_BYTES else None


def _archive(content: bytes) -> Texts:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                return Texts([], [content], [""])
            members = {one.filename: archive.read(one) for one in archive.infolist() if not one.is_dir()}
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ):
        return Texts([], [content], [""])
    texts = Texts([], [content, *members.values()], [])
    cells = _workbook(content) if "xl/workbook.xml" in members else None
    texts.pieces.extend(cells or ())
    for name, inside in members.items():
        texts.pieces.append(Piece(f"the name of {name}", name))
        if cells is not None and name.casefold().startswith(_SHEETS):
            continue
        text = None if inside.startswith((b"PK\x03\x04", b"\x1f\x8b")) else _decoded(inside)
        if text is None:
            texts.unread.append(name)
        elif inside.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") and name.endswith((".xml", ".rels")):
            # One word may be split over several elements, or several words stand in one each.
            texts.pieces.extend(
                Piece(name, html.unescape(_TAG.sub(between, text))) for between in ("", " ")
            )
        else:
            texts.pieces.extend(
                Piece(f"{name}, {piece.place}", piece.text) for piece in _pieces(name, text)
            )
    return texts


def _workbook(content: bytes) -> list[Piece] | None:
    """The cells, comments and names of the sheets of a workbook; None where it cannot be read."""
    require_extra("excel", wanted_for="Looking for what must not be published in an Excel workbook")
    import openpyxl

    pieces = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # remarks on styles do not matter
            book = openpyxl.load_workbook(io.BytesIO(content))
        for sheet in book.worksheets:
            pieces.append(Piece("the name of a sheet", sheet.title))
            for row in sheet.iter_rows():
                for cell in row:
                    at = f"sheet {sheet.title!r}, cell {cell.coordinate}"
                    if isinstance(cell.value, str | int) and not isinstance(cell.value, bool):
                        pieces.append(Piece(at, str(cell.value)))
                    if cell.comment is not None:
                        pieces.append(
                            Piece(f"{at}, its comment", f"{cell.comment.author} {cell.comment.text}")
                        )
    except Exception:
        return None
    return pieces


# Columns and texts that tell of a person without being an id: addresses of computers, places, times,
# names.

_NAMES: dict[str, frozenset[str]] = {
    "IP addresses": frozenset({"ipaddress", "ip", "ipaddr", "clientip", "remoteip", "userip"}),
    "where people were": frozenset(
        {
            *(
                "locationlatitude",
                "locationlongitude",
                "latitude",
                "longitude",
                "lat",
                "lon",
                "lng",
                "long",
            ),
            *("geolocation", "coordinates", "gps", "zip", "zipcode", "postcode", "postalcode", "city"),
            *("address", "street", "homeaddress", "location"),
        }
    ),
    "names of people": frozenset(
        {
            *("recipientlastname", "recipientfirstname", "firstname", "lastname", "surname", "givenname"),
            *("familyname", "fullname", "nickname", "username", "participantname", "workername"),
        }
    ),
    "e-mail addresses or telephone numbers": frozenset(
        {
            *("recipientemail", "email", "emailaddress", "mail", "useremail", "phone", "phonenumber"),
            *("telephone", "mobile", "mobilenumber"),
        }
    ),
    "dates of birth": frozenset({"dateofbirth", "birthdate", "birthday", "dob", "yearofbirth"}),
    "ids of persons or of their work on a platform": frozenset(
        {
            *("responseid", "externalreference", "externaldatareference", "prolificpid", "prolificid"),
            *("sessionid", "participantid", "workerid", "assignmentid", "submissionid", "mturkid"),
            *("annotatorid", "deviceid", "fingerprint", "cookie", "completioncode", "userid"),
        }
    ),
    "the programs and devices of people": frozenset(
        {"useragent", "browser", "browserversion", "operatingsystem", "resolution", "userlanguage"}
    ),
}
_TIMES_OF_TOOLS = frozenset(
    {
        *("startdate", "enddate", "recordeddate", "accepttime", "submittime", "startedat", "completedat"),
        *("reviewedat", "archivedat", "autoapprovaltime", "approvaltime", "rejectiontime", "creationtime"),
    }
)
_TIMES = _TIMES_OF_TOOLS | {
    *("timestamp", "date", "datetime", "time", "created", "createdat", "updatedat", "started", "ended"),
    *("starttime", "endtime", "submitted", "submittedat", "submissiontime", "day", "recordedat"),
}
TIMES = "times, by which people can be found again"
_AMBIGUOUS = {"lat", "lon", "long", "city", "address", "street", "location", "ip", "cookie", "resolution"}
_NO_SECTION = 20  # numbers of sections and versions are smaller
_TIME = re.compile(
    r"\d{4}-\d\d?-\d\d?[T ]+\d\d?:\d\d|\d{4}/\d\d?/\d\d?,? \d\d?:\d\d|\d\d?[./-]\d\d?[./-]\d{2,4},? \d\d?:\d\d"
    r"|\w{3} \w{3} +\d\d? \d\d:\d\d"
)
_PLACE = re.compile(r"\(?-?\d{1,2}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}\)?")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w.:])"
)


def named_as_personal(name: str, *, in_a_document: bool = False) -> str | None:
    """What a column of this name holds of people; None where its name says nothing of them. In a document a name
    counts only where it can hardly be anything else."""
    word = bare(name)
    if word in (_TIMES_OF_TOOLS if in_a_document else _TIMES):
        return TIMES
    if in_a_document and word in _AMBIGUOUS:
        return None
    return next((what for what, names in _NAMES.items() if word in names), None)


def ip_address(text: str) -> str | None:
    """The first IP address in a text, of version 4 or 6; numbers of sections and versions such as 3.2.2.1 are none,
    unless the text is nothing else."""
    for match in _ADDRESS.findall(text):
        try:
            address = ipaddress.ip_address(match)
        except ValueError:
            continue
        if address.is_loopback or address.is_unspecified:
            continue
        parts = [part for part in re.split("[.:]", match) if part]
        is_telling = sum(int(part) >= _NO_SECTION for part in parts) > 1 if "." in match else len(parts) > 2
        if is_telling or ("." in match and text.strip() == match):
            return str(match)
    return None


def personal_values(values: Sequence[str]) -> dict[str, list[str]]:
    """The different values of a column that tell of people, by what they are; times and places where half of them
    or more are such."""
    texts = [value for value in values if value.strip()]
    by_kind = {"an IP address": [value for value in texts if ip_address(value) is not None]}
    for what, pattern in (("a time", _TIME), ("a place on the map", _PLACE)):
        those = [value for value in texts if pattern.match(value.strip())]
        by_kind[what] = those if 2 * len(those) >= len(texts) else []
    return {what: those for what, those in by_kind.items() if those}


# Worker ids that stand as whole words in what is to be published, in whatever case.

TELLING = 6  # characters from which an id that turns up elsewhere is hardly there by chance
_WORD = re.compile(r"[^\W_]+")
_NUMBER_BEFORE = re.compile(r"\d[.,]$")
_NUMBER_AFTER = re.compile(r"^[.,]\d")
# Scripts written without spaces: Thai, Lao, Khmer, kana and Chinese characters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class _Sought(NamedTuple):
    folded: str
    offset: int  # of its first word
    name: str


class IdSearch:
    """Finds the ids among `names` in texts: as whole words, in any case, in any form of Unicode."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_word: dict[str, list[_Sought]] = {}
        self._anywhere: list[_Sought] = []
        for name in names:
            folded = _folded(name).strip()
            first = _WORD.search(folded)
            if not folded:
                continue
            if first is None or _UNSPACED.search(folded):
                self._anywhere.append(_Sought(folded, 0, name))
            else:
                self._by_word.setdefault(first[0], []).append(_Sought(folded, first.start(), name))

    def found(self, text: str) -> set[str]:
        """The ids in a text."""
        folded = _folded(text)
        ids = {sought.name for sought in self._anywhere if sought.folded in folded}
        for word in _WORD.finditer(folded):
            for sought in self._by_word.get(word[0], ()):
                if _stands(sought, folded, word.start() - sought.offset):
                    ids.add(sought.name)
        return ids


def is_telling(name: str) -> bool:
    """Whether an id is too long to stand somewhere by chance."""
    return len(name.strip()) >= TELLING


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _stands(sought: _Sought, text: str, start: int) -> bool:
    if start < 0 or not text.startswith(sought.folded, start):
        return False
    before, after = text[max(0, start - 2) : start], text[start + len(sought.folded) :][:2]
    if sought.folded.isdecimal() and (_NUMBER_BEFORE.search(before) or _NUMBER_AFTER.search(after)):
        return False  # a part of 0.17 or 1,700
    return not (after[:1].isalnum() and sought.folded[-1].isalnum()) and not (
        before[-1:].isalnum() and sought.folded[0].isalnum()
    )


_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[\w.-]+")
_TOP_CELL = re.compile(r", cell [A-Z]+1$")
_SEPARATOR = re.compile(r"[,;\t|]")
_MOST_PLACES = 3
_PRIVATE = {
    "ledger": "is a ledger of looks: leave it out, and publish the last hash, as 'monitor --status' prints it.",
    "secret": "is the secret of a study: who has it can find out who gave which rating. Leave it out.",
}


def refuse_private(documents: Mapping[str, bytes], key: str) -> None:
    """Refuse ledgers and secrets, also inside archives, whatever they are called.

    Raises InputError: all of them at once.
    """
    problems = []
    for name, content in documents.items():
        for raw in document_texts(name, content).raw:
            kind = private_kind(raw)
            if len(key) >= SHORT_KEY and key.encode("utf-8", "surrogateescape") in raw:
                kind = "secret"
            if kind is not None:
                problems.append(f"{name} {_PRIVATE[kind]}")
                break
    if problems:
        raise InputError("\n".join(problems))


def column_warnings(
    columns: Mapping[str, list[str]], rows: ReleaseRows, search: IdSearch, checked: Collection[str]
) -> list[str]:
    """Columns that are kept and hold, or seem by their names to hold, ids of persons or what else tells of them."""
    warnings = []
    for column, values in columns.items():
        if column in ("worker", "rating"):
            continue
        shown = rows.original[column]
        ids = personal_ids(sorted(set(values)))
        for kind, results in ids.items():
            warnings.append(
                f"column {shown!r}: {count(len(results), 'value')} with what looks like {kind}, such as "
                f"{shortened(results[0])!r}. {_remedy(column)}"
            )
        if not {column, shown} & set(checked):
            warnings += _telling_of_people(column, shown, values, by_name=column in rows.extra and not ids)
        by_value = {value: those for value in set(values) if (those := search.found(value))}
        hits = Hits()
        for row, value in zip(rows.row_numbers, values, strict=True) if by_value else ():
            if value in by_value:
                hits.add(by_value[value], f"row {row}")
        warnings += hits.warnings(f"column {shown!r}", "cell", _remedy(column), checked, (shown, column))
    return warnings


def _telling_of_people(column: str, shown: str, values: list[str], *, by_name: bool) -> list[str]:
    """What a column holds of people besides ids: by its values, else by its name."""
    remedy = f"{_remedy(column)} Or, if it is not of people, add --checked {_quoted(shown)}."
    by_value = [
        f"column {shown!r}: {count(len(results), 'value')} with what looks like {kind}, such as "
        f"{shortened(results[0])!r}. {remedy}"
        for kind, results in personal_values(sorted(set(values))).items()
    ]
    named = named_as_personal(shown) if by_name and not by_value else None
    if named is not None and any(value.strip() for value in values):
        return [f"column {shown!r}: by its name it holds {named}. {remedy}"]
    return by_value


def document_warnings(
    documents: Mapping[str, bytes], search: IdSearch, checked: Collection[str]
) -> list[str]:
    """Files that name workers, hold personal ids or tell a home directory; and those not searched."""
    warnings = []
    for name, content in documents.items():
        texts = document_texts(name, content)
        if texts.unread and name not in checked:
            what = (
                "is"
                if texts.unread == [""]
                else f"holds {', '.join(texts.unread[:_MOST_PLACES])}, which is"
            )
            warnings.append(
                f"{name} {what} not text and was not searched for ids; look at it, and add "
                f"--checked {name} if it is fine."
            )
        hits = Hits()
        for piece in texts.pieces:
            hits.add(search.found(piece.text), piece.place)
        warnings += hits.warnings(name, "place", "Take them out.", checked, (name,))
        warnings += _personal(name, texts.pieces, search)
        if name not in checked:
            warnings += _columns_of_people(name, texts.pieces)
    return warnings


def name_warnings(
    names: Mapping[str, Iterable[str]], search: IdSearch, checked: Collection[str]
) -> list[str]:
    """Names of columns, files and the like that hold the id of a worker. `names` by what they are names of."""
    warnings = []
    for what, those in names.items():
        hits = Hits()
        for name in sorted(set(those) - set(checked)):
            hits.add(search.found(name), repr(shortened(name)))
        warnings += hits.warnings(f"the {what}", "name", "Rename them.", checked, ("names",))
    return warnings


def count(number: int, noun: str) -> str:
    """'1 file', '1,200 files'."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


@dataclass(slots=True)
class Hits:
    """Ids that were found in one column or file: sure ones, and those that may be there by chance."""

    telling: dict[str, list[str]] = field(default_factory=dict)
    short: dict[str, list[str]] = field(default_factory=dict)
    n_telling: int = 0
    n_short: int = 0

    def add(self, ids: Collection[str], place: str) -> None:
        """Note the ids of one place."""
        of_kind = [name for name in ids if is_telling(name)]
        self.n_telling += bool(of_kind)
        self.n_short += len(of_kind) < len(ids)
        for name in ids:
            self._places(name).append(place)

    def warnings(
        self, where: str, noun: str, remedy: str, checked: Collection[str], names: Collection[str]
    ) -> list[str]:
        """At most one sentence for each kind, however many places there are."""
        result = []
        if self.telling:
            result.append(
                f"{where}: {count(self.n_telling, noun)} with the ids of {count(len(self.telling), 'worker')}: "
                f"{_examples(self.telling)}. {remedy}"
            )
        if self.short and not set(names) & set(checked):
            name = next(iter(names))
            result.append(
                f"{where}: {count(self.n_short, noun)} with a word that is also a worker's id: "
                f"{_examples(self.short)}. Ids under {TELLING} characters may be there by chance: look. "
                f"{remedy} Or, if it is fine, add --checked {_quoted(name)}."
            )
        return result

    def _places(self, name: str) -> list[str]:
        return (self.telling if is_telling(name) else self.short).setdefault(name, [])


def _examples(values: Mapping[str, list[str]]) -> str:
    """The ids that are rarest first: a word that stands everywhere is the likeliest to be none."""
    names = sorted(values, key=lambda name: (len(values[name]), name))
    shown = [f"{shortened(name)!r} ({values[name][0]})" for name in names[:_MOST_PLACES]]
    return ", ".join(shown) + (", ..." if len(names) > _MOST_PLACES else "")


def _personal(name: str, pieces: list[Piece], search: IdSearch) -> list[str]:
    warnings = []
    words = {word for piece in pieces for word in piece.text.split()}
    rest = [word for word in words if not search.found(word)]
    for kind, values in personal_ids(sorted(rest)).items():
        warnings.append(f"{name} holds what looks like {kind}: {shortened(values[0])!r}.")
    home = next(filter(None, (_HOME.search(piece.text) for piece in pieces)), None)
    if home:
        warnings.append(f"{name} names a home directory, {home[0]!r}: it may tell who you are.")
    return warnings


def _columns_of_people(name: str, pieces: list[Piece]) -> list[str]:
    """Columns and fields of a file that by their names tell of people, and IP addresses in it."""
    remedy = f"Take it out. Or, if it is fine, add --checked {_quoted(name)}."
    named: dict[str, list[str]] = {}
    for piece in pieces:
        for heading in _headings(piece):
            kind = named_as_personal(heading, in_a_document=True)
            if kind is not None and heading not in named.setdefault(kind, []):
                named[kind].append(heading)
    warnings = [
        f"{name} has {', '.join(map(repr, headings[:_MOST_PLACES]))}, by the name {kind}. {remedy}"
        for kind, headings in named.items()
    ]
    result = next(((piece, ip) for piece in pieces if (ip := ip_address(piece.text)) is not None), None)
    if result is not None:
        piece, address = result
        warnings.append(
            f"{name} holds what looks like an IP address: {address!r} ({piece.place}). {remedy}"
        )
    return warnings


def _headings(piece: Piece) -> list[str]:
    """The names of columns or fields in a text of a file."""
    if piece.place.endswith(("the header", ", a key")) or _TOP_CELL.search(piece.place):
        return [piece.text]
    if not re.search(r"line \d+$", piece.place):
        return []
    named = re.findall(r'"([^"\\]{1,60})"\s*:', piece.text)
    return named or (_SEPARATOR.split(piece.text) if piece.place.endswith("line 1") else [])


def _remedy(column: str) -> str:
    if column in ("item", "system"):
        return f"Add --pseudonymise-{column}s."
    return "Rename it." if column == "criterion" else "Leave this column out."


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w./-]+", name) else f"'{name}'"
