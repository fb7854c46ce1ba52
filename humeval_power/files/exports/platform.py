"""What a reader of a platform's export is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from humeval_power.checking.columns import ROLES, Role, bare
from humeval_power.checking.exports.mapping import (
    EXTRAS,
    FIELDS,
    Export,
    Mapping,
    RatingColumns,
    Template,
    literal,
)
from humeval_power.choices import TITLES, PlatformName
from humeval_power.files.exports.raw import RawExport


@dataclass(frozen=True, slots=True)
class Platform:
    """A format: its name, why a file is of it (None: it is not), and its reader; what every export says of its file
    is added to what that gives.

    One that fits many files is `only_named`: it is taken where a person says so. One that people's own tables
    resemble is `weak`: it is taken where the table does not read as ratings by itself.
    """

    name: PlatformName
    known_by: Callable[[RawExport], str | None]
    parts: Callable[[RawExport], Export]
    only_named: bool = False
    weak: bool = False

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]

    def read(self, raw: RawExport, why: str) -> Export:
        """An export that is known by this."""
        export = self.parts(raw)
        notices = (*raw.notices, *export.notices)
        return replace(export, platform=self.name, why=why, source=raw.source, notices=notices)


def columns_named(export: RawExport, wanted: Sequence[str]) -> bool:
    """Whether a table has all of these columns."""
    return set(wanted) <= set(export.columns)


# What the names of an export's columns say by themselves.

_NUMBER = re.compile(r"\d+")
_SEPARATORS = ("__", "::", "|", "#", "/")


def part_column(names: Sequence[str], part: Role) -> str | None:
    """The one column that is called like a part of a rating, or the one of just that name; else None. A document is
    an item where nothing else is."""
    fitting = [name for name in names if ROLES[part].fits(name)]
    fitting = [name for name in fitting if not is_document(name)] or fitting
    if part == "item" and not fitting:
        fitting = [name for name in names if is_document(name)]
    exact = [name for name in fitting if bare(name) in (part, f"{part}id", f"{part}name")]
    chosen = exact if len(exact) == 1 else fitting
    return chosen[0] if len(chosen) == 1 else None


def part_columns(names: Sequence[str], *parts: Role) -> dict[str, Template]:
    """The columns of these parts, as far as their names tell, and beside an item's that of its document."""
    columns: dict[str, str | None] = {part: part_column(names, part) for part in parts}
    documents = [name for name in names if is_document(name) and name not in columns.values()]
    if columns.get("item") is not None and len(documents) == 1:
        columns["document"] = documents[0]
    return {part: literal(name) for part, name in columns.items() if name is not None}


def is_document(name: str) -> bool:
    """Whether a column is called a document."""
    return bare(name) in ("doc", "docid", "docname", "document", "documentid", "documentname")


def slot_templates(names: Sequence[str]) -> list[str]:
    """Names that differ in their last number alone as one template with {slot}; single ones as they are."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[_with_slot(name)].append(name)
    return [made if len(those) > 1 else literal(those[0]).text for made, those in alike.items()]


def _with_slot(name: str) -> str:
    numbers = list(_NUMBER.finditer(name))
    if not numbers:
        return literal(name).text
    before, after = name[: numbers[-1].start()], name[numbers[-1].end() :]
    return f"{literal(before).text}{{slot}}{literal(after).text}"


def split_of(ids: pd.Series) -> Template | None:
    """How ids that hold item and system come apart: all of them by the same mark, once; else None."""
    texts = [str(text) for text in ids.dropna().unique()]
    for mark in _SEPARATORS:
        if texts and all(text.count(mark) == 1 and not text.startswith(mark) for text in texts):
            return Template(f"{{item}}{mark}{{system}}")
    return None


def plain(value: object) -> str:
    """A value of JSON as the text of a cell; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# A table of answers under our own names of columns: what a form of ours gives back, or what `import`
# wrote.

_ALWAYS = ("worker", "code", "rating")


def _known_by(export: RawExport) -> str | None:
    return f"its columns are {', '.join(_ALWAYS)}" if columns_named(export, _ALWAYS) else None


def _read(export: RawExport) -> Export:
    fields = {part: Template(part) for part in (*FIELDS, *EXTRAS) if part in export.columns}
    return Export(
        frame=export.table,
        mapping=Mapping(ratings=(RatingColumns(Template("rating")),), columns=fields),
        person="worker",
    )


COLLECTED = Platform("collected", _known_by, _read, weak=True)
