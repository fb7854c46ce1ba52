"""An anonymised bundle to publish: the files of a release as values, and what to look at before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.reporting.pseudonyms import (
    SHORT_KEY,
    keyed_order,
    named_in,
    personal_ids,
    pseudonyms,
)
from humeval_power.reporting.release_rows import ReleaseRows
from humeval_power.reporting.release_text import Contents, readme
from humeval_power.safe_text import csv_text, formula_safe, json_text

RATINGS, README, SUMS = "ratings.csv", "README.md", "SHA256SUMS"
OWN_FILES = (RATINGS, README, SUMS)
PSEUDONYMISED = ("worker", "item", "system")
_TELLING = 6  # characters from which an id that turns up elsewhere is hardly there by chance
_SEALED = "humeval_power/plan/"  # a plan that was changed could not be read back
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[\w.-]+")


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
) -> Bundle:
    """The files of a release: ratings with pseudonyms in an order of their own, README and checksums.

    Parameters
    ----------
    key : the secret that pseudonyms and order are made with; the same key gives the same ones.
    pseudonymise : 'item', 'system' or both, besides the workers.
    documents : other files of the bundle by name. Worker ids in the notices of JSON documents are replaced.
    licence : as the authors say; None leaves it open, in the README too.

    Raises
    ------
    InputError
        A document with the name of a file of the bundle, or an empty key.
    """
    if not key:
        raise InputError("The key is empty.")
    if set(documents or {}) & set(OWN_FILES):
        raise InputError(f"The bundle writes {', '.join(OWN_FILES)} itself; rename the included file.")
    hidden = ("worker", *(kind for kind in PSEUDONYMISED[1:] if kind in pseudonymise))
    mapping = {kind: pseudonyms(rows.names(kind), key=key, kind=kind) for kind in hidden}
    columns = {
        name: [mapping[name][value] for value in values] if name in mapping else values
        for name, values in rows.columns.items()
    }
    workers = rows.names("worker")
    attached = {
        name: _without_workers(content, mapping["worker"]) for name, content in (documents or {}).items()
    }
    table, n_formulas = _ratings_csv(columns, rows.n_ratings, key)
    files = {RATINGS: table, **attached}
    contents = Contents(tuple(hidden), tuple(attached), n_formulas, licence)
    files[README] = readme(rows, contents).encode()
    warnings = [
        *_weak_key(key),
        *_personal_columns(columns, rows, workers),
        *_telling_documents(attached, workers),
        *_no_licence(licence),
    ]
    files[SUMS] = checksums(files).encode()
    return Bundle(files, tuple(warnings), n_formulas)


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
    changed = {
        name: sum(formula_safe(value) != value for value in values) for name, values in columns.items()
    }
    order = keyed_order(n_ratings, key=key)
    text = csv_text(list(columns), ([values[row] for values in columns.values()] for row in order))
    return text.encode(), {name: count for name, count in changed.items() if count}


def _without_workers(content: bytes, mapping: Mapping[str, str]) -> bytes:
    """A JSON document with pseudonyms in its notices, which end in lists of workers; others as they are."""
    try:
        document = json.loads(content)
    except (ValueError, UnicodeDecodeError):
        return content
    notices = document.get("notices") if isinstance(document, dict) else None
    if not isinstance(notices, list) or str(document.get("schema")).startswith(_SEALED):
        return content
    told = [_renamed(notice, mapping) if isinstance(notice, str) else notice for notice in notices]
    if told == notices:
        return content
    text = json.dumps({**document, "notices": told}, indent=2, ensure_ascii=False)
    return (json_text(text) + "\n").encode()


def _renamed(notice: str, mapping: Mapping[str, str]) -> str:
    head, colon, tail = notice.partition(": ")
    if not colon or "worker" not in head:
        return notice
    shown = {shortened(name): pseudonym for name, pseudonym in mapping.items()}
    wanted = "|".join(map(re.escape, sorted(shown, key=len, reverse=True)))
    names = re.compile(rf"(?:(?<=^)|(?<=, )|(?<=and ))(?:{wanted})(?=, |\.$)")
    return head + colon + names.sub(lambda found: shown[found[0]], tail)


def _weak_key(key: str) -> list[str]:
    if len(key) >= SHORT_KEY:
        return []
    return [
        f"the key has {len(key)} characters and may be guessed; who guesses it can find out which worker is "
        f"which by trying known ids. Take {SHORT_KEY} or more, or let --key-file make one."
    ]


def _personal_columns(columns: Mapping[str, list[str]], rows: ReleaseRows, workers: list[str]) -> list[str]:
    """Cells that are kept and look like, or hold, the id of a person."""
    telling = [name for name in workers if len(name) >= _TELLING]
    warnings = []
    for column, values in columns.items():
        if column in ("worker", "rating"):
            continue
        different = sorted(set(values))
        for kind, found in personal_ids(different).items():
            warnings.append(
                f"column {rows.original[column]!r}: {_count(len(found), 'value')} with what looks like "
                f"{kind}, such as {shortened(found[0])!r}. {_remedy(column)}"
            )
        holding = [value for value in different if named_in(value, telling)]
        if holding:
            warnings.append(
                f"column {rows.original[column]!r}: {_count(len(holding), 'value')} with the id of a worker, "
                f"such as {shortened(holding[0])!r}. {_remedy(column)}"
            )
    return warnings


def _remedy(column: str) -> str:
    if column in ("item", "system"):
        return f"Add --pseudonymise-{column}s."
    return "Rename it." if column == "criterion" else "Leave this column out."


def _telling_documents(documents: Mapping[str, bytes], workers: list[str]) -> list[str]:
    """Text files that name workers, hold personal ids or tell a home directory."""
    telling = [name for name in workers if len(name) >= _TELLING]
    warnings = []
    for name, content in documents.items():
        try:
            text = content.decode()
        except UnicodeDecodeError:
            warnings.append(f"{name} is not text and was not searched for ids; look at it.")
            continue
        named = named_in(text, telling)
        if named:
            shown = shortened(named[0])
            warnings.append(f"{name} holds the ids of {_count(len(named), 'worker')}, such as {shown!r}.")
        rest = [word for word in set(text.split()) if word.strip(".,;:()'\"[]{}") not in named]
        for kind, found in personal_ids(sorted(rest)).items():
            warnings.append(f"{name} holds what looks like {kind}: {shortened(found[0])!r}.")
        home = _HOME.search(text)
        if home:
            warnings.append(f"{name} names a home directory, {home[0]!r}: it may tell who you are.")
    return warnings


def _no_licence(licence: str | None) -> list[str]:
    if licence:
        return []
    return [
        "no licence is given, and without one nobody may reuse the ratings. Say which: --licence 'CC BY 4.0'."
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
