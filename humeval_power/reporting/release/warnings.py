"""What to look at before a bundle is published: ids of persons, workers, homes, and what could not be searched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.reporting.release.document_texts import Piece, document_texts
from humeval_power.reporting.release.personal_columns import ip_address, named_as_personal, personal_values
from humeval_power.reporting.release.private_files import private_kind
from humeval_power.reporting.release.pseudonyms import SHORT_KEY, personal_ids
from humeval_power.reporting.release.rows import ReleaseRows
from humeval_power.reporting.release.worker_ids import TELLING, IdSearch, is_telling

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

    Raises
    ------
    InputError
        All of them at once.
    """
    found = []
    for name, content in documents.items():
        for raw in document_texts(name, content).raw:
            kind = private_kind(raw)
            if len(key) >= SHORT_KEY and key.encode("utf-8", "surrogateescape") in raw:
                kind = "secret"
            if kind is not None:
                found.append(f"{name} {_PRIVATE[kind]}")
                break
    if found:
        raise InputError("\n".join(found))


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
        for kind, found in ids.items():
            warnings.append(
                f"column {shown!r}: {count(len(found), 'value')} with what looks like {kind}, such as "
                f"{shortened(found[0])!r}. {_remedy(column)}"
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
        f"column {shown!r}: {count(len(found), 'value')} with what looks like {kind}, such as "
        f"{shortened(found[0])!r}. {remedy}"
        for kind, found in personal_values(sorted(set(values))).items()
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
        found = []
        if self.telling:
            found.append(
                f"{where}: {count(self.n_telling, noun)} with the ids of {count(len(self.telling), 'worker')}: "
                f"{_examples(self.telling)}. {remedy}"
            )
        if self.short and not set(names) & set(checked):
            name = next(iter(names))
            found.append(
                f"{where}: {count(self.n_short, noun)} with a word that is also a worker's id: "
                f"{_examples(self.short)}. Ids under {TELLING} characters may be there by chance: look. "
                f"{remedy} Or, if it is fine, add --checked {_quoted(name)}."
            )
        return found

    def _places(self, name: str) -> list[str]:
        return (self.telling if is_telling(name) else self.short).setdefault(name, [])


def _examples(found: Mapping[str, list[str]]) -> str:
    """The ids that are rarest first: a word that stands everywhere is the likeliest to be none."""
    names = sorted(found, key=lambda name: (len(found[name]), name))
    shown = [f"{shortened(name)!r} ({found[name][0]})" for name in names[:_MOST_PLACES]]
    return ", ".join(shown) + (", ..." if len(names) > _MOST_PLACES else "")


def _personal(name: str, pieces: list[Piece], search: IdSearch) -> list[str]:
    warnings = []
    words = {word for piece in pieces for word in piece.text.split()}
    rest = [word for word in words if not search.found(word)]
    for kind, found in personal_ids(sorted(rest)).items():
        warnings.append(f"{name} holds what looks like {kind}: {shortened(found[0])!r}.")
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
    found = next(((piece, ip) for piece in pieces if (ip := ip_address(piece.text)) is not None), None)
    if found is not None:
        piece, address = found
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
