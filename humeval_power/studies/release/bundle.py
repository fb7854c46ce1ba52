"""An anonymised bundle to publish: the files of a release as values, and what to look at before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.checking.columns import close_to, shortened
from humeval_power.errors import InputError
from humeval_power.safe_text import columns_csv, formula_safe, json_text
from humeval_power.saying.document import Block, Document, Paragraph, Section, Table
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.studies.field.form import SHORT_KEY, keyed_order, pseudonyms
from humeval_power.studies.release.rows import Contents, ReleaseRows, readme
from humeval_power.studies.release.warnings import (
    IdSearch,
    column_warnings,
    document_warnings,
    name_warnings,
    refuse_private,
)

if TYPE_CHECKING:
    from humeval_power.studies.release.rows import ReleaseRows


RATINGS, README, SUMS = "ratings.csv", "README.md", "SHA256SUMS"
OWN_FILES = (RATINGS, README, SUMS)
PSEUDONYMISED = ("worker", "item", "system")
_OURS = "humeval_power/"
_SEALED = "humeval_power/plan/"  # a plan that was changed could not be read back


@dataclass(frozen=True, slots=True)
class Bundle:
    """The bytes of each file by name, and what should be looked at before they are published.

    `n_formulas` counts by column the cells that a spreadsheet would have run and that got an apostrophe.
    """

    files: Mapping[str, bytes]
    warnings: tuple[str, ...]
    n_formulas: Mapping[str, int]


def release_bundle(
    rows: ReleaseRows,
    *,
    key: str,
    pseudonymise: Collection[str] = (),
    documents: Mapping[str, bytes] | None = None,
    licence: str | None = None,
    checked: Collection[str] = (),
) -> Bundle:
    """The files of a release: ratings with pseudonyms in an order of their own, README and checksums.

    key : the secret that pseudonyms and order are made with; the same key gives the same ones.
    pseudonymise : 'item', 'system' or both, besides the workers.
    documents : other files of the bundle by name. Worker ids in the notices of JSON documents are replaced.
    licence : as the authors say; None leaves it open, in the README too.
    checked : columns and files in which short ids, or parts that cannot be searched, were found to be fine;
        'names' for names of columns and files.

    Raises InputError: a document with the name of a file of the bundle, one that is a ledger or a secret, or an
    empty key.
    """
    if not key:
        raise InputError("The key is empty.")
    if set(documents or {}) & set(OWN_FILES):
        raise InputError(f"The bundle writes {', '.join(OWN_FILES)} itself; rename the included file.")
    refuse_private(documents or {}, key)
    _check_checked(checked, rows, documents or {})
    hidden = ("worker", *(kind for kind in PSEUDONYMISED[1:] if kind in pseudonymise))
    mapping = {kind: pseudonyms(rows.names(kind), key=key, kind=kind) for kind in hidden}
    columns = {
        name: [mapping[name][value] for value in values] if name in mapping else values
        for name, values in rows.columns.items()
    }
    search = IdSearch(rows.names("worker"))
    attached = {
        name: _without_workers(content, mapping["worker"]) for name, content in (documents or {}).items()
    }
    table, n_formulas = _ratings_csv(columns, rows.n_ratings, key)
    files = {RATINGS: table, **attached}
    contents = Contents(tuple(hidden), tuple(attached), n_formulas, licence)
    files[README] = readme(rows, contents).encode()
    warnings = [
        *_weak_key(key),
        *column_warnings(columns, rows, search, checked),
        *document_warnings(attached, search, checked),
        *name_warnings(_names(rows, attached), search, checked),
        *_no_licence(licence),
    ]
    files[SUMS] = checksums(files).encode()
    return Bundle(files, tuple(warnings), n_formulas)


def _names(rows: ReleaseRows, attached: Mapping[str, bytes]) -> dict[str, list[str]]:
    """What the bundle names besides the cells of its table."""
    return {
        "names of files": list(attached),
        "names of columns, which README.md lists": [*rows.original.values(), *rows.left_out],
        "reasons in README.md why rows were left out": [step.reason for step in rows.flow],
    }


def _check_checked(checked: Collection[str], rows: ReleaseRows, documents: Mapping[str, bytes]) -> None:
    known = {"names", *rows.columns, *rows.original.values(), *documents}
    unknown = sorted(set(checked) - known)
    if unknown:
        remedy = close_to(unknown[0], sorted(known))
        raise InputError(
            f"--checked names {unknown[0]!r}, which is no column or file of this bundle. {remedy}"
        )


def checksums(files: Mapping[str, bytes]) -> str:
    """The digests of files as `sha256sum --check` reads them, sorted by name."""
    return "".join(_sum_line(name, files[name]) for name in sorted(files))


def _sum_line(name: str, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    if not re.search(r"[\\\n\r]", name):
        return f"{digest}  {name}\n"
    # A line with such a name starts with a backslash: the way of GNU coreutils.
    return f"\\{digest}  " + name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") + "\n"


def _ratings_csv(
    columns: Mapping[str, list[str]], n_ratings: int, key: str
) -> tuple[bytes, dict[str, int]]:
    changed = {name: _n_guarded(values) for name, values in columns.items()}
    order = keyed_order(n_ratings, key=key)
    text = columns_csv(
        {name: np.array(values, dtype=object)[order].tolist() for name, values in columns.items()}
    )
    return text.encode(), {name: count for name, count in changed.items() if count}


def _n_guarded(values: list[str]) -> int:
    """How many cells of a column a spreadsheet would run."""
    guarded = {value for value in set(values) if formula_safe(value) != value}
    return sum(value in guarded for value in values) if guarded else 0


def _without_workers(content: bytes, mapping: Mapping[str, str]) -> bytes:
    """A JSON document with pseudonyms in its notices, which end in lists of workers, and without a digest of the
    ratings, from which few workers can be found by trying; others as they are."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(document, dict) or str(document.get("schema")).startswith(_SEALED):
        return content
    changed = dict(document)
    notices, data = document.get("notices"), document.get("data")
    if isinstance(notices, list):
        changed["notices"] = [
            _renamed(notice, mapping) if isinstance(notice, str) else notice for notice in notices
        ]
    if str(document.get("schema")).startswith(_OURS):
        if isinstance(data, dict):
            changed["data"] = {name: value for name, value in data.items() if name != "sha256"}
        if isinstance(document.get("sources"), list):
            changed["sources"] = [_without_digest(source) for source in document["sources"]]
    if changed == document:
        return content
    return (json_text(json.dumps(changed, indent=2, ensure_ascii=False)) + "\n").encode()


def _without_digest(source: object) -> object:
    """What a record was made from, by its name: neither its folders nor a digest that ids could be tried on."""
    if not isinstance(source, dict):
        return source
    return {**source, "name": PurePath(str(source.get("name"))).name, "sha256": None}


def _renamed(notice: str, mapping: Mapping[str, str]) -> str:
    head, colon, tail = notice.partition(": ")
    if not colon or "worker" not in head:
        return notice
    shown = {shortened(name): pseudonym for name, pseudonym in mapping.items()}
    wanted = "|".join(map(re.escape, sorted(shown, key=len, reverse=True)))
    names = re.compile(rf"(?:(?<=^)|(?<=, )|(?<=and ))(?:{wanted})(?=, |\.$)")
    return head + colon + names.sub(lambda result: shown[result[0]], tail)


def _weak_key(key: str) -> list[str]:
    if len(key) >= SHORT_KEY:
        return []
    return [
        f"the key has {len(key)} characters and may be guessed; who guesses it can find out which worker is "
        f"which by trying known ids. Take {SHORT_KEY} or more, or let --secret make one."
    ]


def _no_licence(licence: str | None) -> list[str]:
    if licence:
        return []
    return [
        "no licence is given, and without one nobody may reuse the ratings. Say which: --licence 'CC BY 4.0'."
    ]


# What would be, or was, published: the result of `release`. The bundle itself holds nothing of it.


@dataclass(frozen=True, kw_only=True)
class ReleaseResult(Result):
    """An anonymised bundle; `folder` is where it was written, '' where it was not.

    `key_file` holds the key, `key_is_new` whether it was made for this bundle; `strict`: with a warning the
    bundle is not to be written.
    """

    schema: ClassVar[str] = "humeval_power/release/1"

    rows: ReleaseRows
    bundle: Bundle
    strict: bool = False
    folder: str = ""
    key_file: str = ""
    key_is_new: bool = False
    provenance: Provenance = UNKNOWN

    @property
    def missed(self) -> str:
        """That there is a warning, where that was asked."""
        return "The bundle has warnings (--strict)." if self.strict and bool(self.bundle.warnings) else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to look at before anything is published."""
        stopped = ("Nothing was written.",) if self.target_missed else ()
        return (*(f"WARNING: {text}" for text in self.bundle.warnings), *stopped)

    def files(self) -> Mapping[str, str | bytes]:
        """The bundle: nothing is added to what will be published."""
        return self.bundle.files

    def body(self) -> Document:
        """Which columns and files, what stays behind, and where the key is."""
        rows = self.rows
        done = (
            f"released to {self.folder}" if self.folder else "would be released; name a directory for them"
        )
        said = (
            f"{counted(rows.n_ratings, 'rating')} of {counted(len(rows.names('worker')), 'worker')} {done}."
        )
        return Document(
            f"Release of {rows.source}",
            lead=said,
            sections=(Section("Columns", tuple(self._columns())), Section("Files", tuple(self._files()))),
        )

    def _columns(self) -> Iterator[Block]:
        names, changed = self.rows.columns, self.bundle.n_formulas
        yield Table(
            ("column", "different values", "apostrophes"),
            tuple((name, f"{len(self.rows.names(name)):,}", f"{changed.get(name, 0):,}") for name in names),
        )
        if changed:
            yield Paragraph("Apostrophes: before cells that a spreadsheet would run as formulas.")
        if self.rows.left_out:
            yield Paragraph(f"Left out: {', '.join(self.rows.left_out)}.")

    def _files(self) -> Iterator[Block]:
        yield Paragraph(f"{', '.join(sorted(self.bundle.files))}.")
        if self.key_file:
            verb = "The key was written to" if self.key_is_new else "The key was taken from"
            yield Paragraph(f"{verb} {self.key_file}: keep it, and do not publish it.")

    def content(self) -> Record:
        """Counts by column, the files, and the warnings."""
        return {
            "folder": self.folder or None,
            "n_ratings": self.rows.n_ratings,
            "rows": [
                {
                    "column": name,
                    "n_values": len(self.rows.names(name)),
                    "n_apostrophes": self.bundle.n_formulas.get(name, 0),
                }
                for name in self.rows.columns
            ],
            "left_out": list(self.rows.left_out),
            "files": sorted(self.bundle.files),
            "warnings": list(self.bundle.warnings),
        }


def release(
    rows: ReleaseRows,
    *,
    key: str,
    pseudonymise: Collection[str] = (),
    documents: Mapping[str, bytes] | None = None,
    licence: str | None = None,
    checked: Collection[str] = (),
    strict: bool = False,
) -> ReleaseResult:
    """Give workers pseudonyms and rows an order that only the key can undo; write nothing.

    Parameters
    ----------
    rows : as `release_rows` takes them from a table.
    key : the secret that pseudonyms and order are made with; the same key gives the same ones.
    pseudonymise : 'item', 'system' or both, besides the workers.
    documents : other files of the bundle by name. Records lose the digests of what they were made from, and
        get pseudonyms where their notices name workers.
    licence : as the authors say; None leaves it open.
    checked : columns and files in which what looks like an id was found to be fine; 'names' for names of
        columns and files.
    strict : whether a warning means that the bundle is not to be written.

    Returns
    -------
    ReleaseResult
        `files` are the bundle, by name; `remarks` what to look at before it is published.

    Raises
    ------
    InputError
        A document with the name of a file of the bundle, one that is a ledger or a secret, or an empty key.
    """

    bundle = release_bundle(
        rows, key=key, pseudonymise=pseudonymise, documents=documents, licence=licence, checked=checked
    )
    return ReleaseResult(rows=rows, bundle=bundle, strict=strict)
