"""The library of parameters and its entries: what they say, and the documents that are planned from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.document import Document, Facts, Paragraph, Section, Table
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.records import PARAMETERS_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.parameter_library import (
    LIBRARY_SCHEMA,
    LibraryEntry,
    find_entry,
    parameters_document,
    upper_worker_slope,
)

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

_CONFIDENCE = 0.8
_LIMIT = f"{100 * _CONFIDENCE:.0f} % upper limit"
_ABOUT = (
    "worker, item: SD of a worker's and of an item's own difference between the systems; upper: "
    f"{_LIMIT} of the worker's, to plan from where there are few; noise: SD of a single rating; all on [0, 1]. "
    "'partly known': some SDs could not be told apart."
)


@dataclass(frozen=True, kw_only=True)
class LibraryResult(Result):
    """The entries of a library."""

    schema: ClassVar[str] = LIBRARY_SCHEMA

    entries: tuple[LibraryEntry, ...]
    provenance: Provenance = UNKNOWN

    def entry(self, name: str) -> EntryResult:
        """The entry of a name, with its source and what it is worth.

        Raises
        ------
        InputError
            No entry of that name.
        """
        return EntryResult(entry=find_entry(name, self.entries))

    def body(self) -> Document:
        """The entries as a table."""
        header = ("entry", "worker", "upper", "item", "noise", "workers", "use")
        table = Table(header, tuple(map(_row, self.entries)))
        return Document(
            "Parameters of other studies",
            lead=f"{sum(each.use == 'plan' for each in self.entries)} of {len(self.entries)} entries can be "
            "planned from; take one whose study is like yours.",
            sections=(Section("", (table,)), Section("", (Paragraph(_ABOUT),))),
        )

    def content(self) -> Record:
        """The entries, whole."""
        return {"entries": [each.as_dict() for each in self.entries]}

    def to_frame(self) -> pd.DataFrame:
        """A row for each entry: its parameters on [0, 1], workers, use and licence."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "entry": each.name,
                    **({} if each.parameters is None else _values(each)),
                    "workers": (each.document or {}).get("n_workers"),
                    "use": each.use,
                    "licence": each.licence,
                }
                for each in self.entries
            ]
        )


@dataclass(frozen=True, kw_only=True)
class EntryResult(Result):
    """One entry; its record is the document of parameters, which names its source under `library`."""

    schema: ClassVar[str] = PARAMETERS_SCHEMA

    entry: LibraryEntry
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The figures, the source, and what they are worth."""
        entry = self.entry
        facts = (
            *_study(entry.document or {}),
            ("Worker", entry.worker),
            ("Item", entry.item),
            ("Paper", entry.paper),
            ("Data", entry.data),
            ("Licence", entry.licence),
            ("Worth", entry.worth),
            ("Note", entry.caveat),
        )
        figures = _figures(entry) if entry.plannable else _published(entry.published)
        return Document(
            entry.name,
            lead=entry.summary,
            sections=(figures, Section("", (Facts(tuple(fact for fact in facts if fact[1])),))),
        )

    def content(self) -> Record:
        """The document of parameters; how the fit itself came about stands under `library`.

        Raises
        ------
        InputError
            An entry that nothing can be planned from.
        """
        document = parameters_document(self.entry)
        fitted = {name: document.pop(name) for name in ("command", "versions") if name in document}
        document.pop("schema")
        about = document["library"]
        assert isinstance(about, dict)
        return {**document, "library": {**about, **fitted}}

    def to_frame(self) -> pd.DataFrame:
        """One row: the parameters on [0, 1]."""
        import pandas as pd

        return pd.DataFrame([{} if self.entry.parameters is None else _values(self.entry)])


def _values(entry: LibraryEntry) -> dict[str, float]:
    """The parameters that the entry knows."""
    return {
        name: getattr(entry.parameters, name)
        for name in PARAMETER_NAMES
        if name not in entry.not_identified
    }


def _row(entry: LibraryEntry) -> tuple[str, ...]:
    parameters = entry.parameters
    figures = ["-"] * 4
    if parameters is not None:
        limit = upper_worker_slope(entry, _CONFIDENCE)
        worker, item, residual = (
            "?" if name in entry.not_identified else f"{getattr(parameters.recoded(), name):.3f}"
            for name in ("sd_worker_slope", "sd_item_slope", "sd_residual")
        )
        figures = [worker, "?" if limit is None else f"{limit:.3f}", item, residual]
    workers = (entry.document or {}).get("n_workers", "-")
    return (entry.name, *figures, f"{workers}", entry.use)


def _figures(entry: LibraryEntry) -> Section:
    document, parameters = entry.document or {}, entry.parameters
    assert parameters is not None
    intervals = document.get("intervals") or {}
    rows = tuple(
        (
            name,
            f"{getattr(parameters, name):.4f}",
            "not identified" if name in entry.not_identified else _interval(intervals.get(name)),
        )
        for name in PARAMETER_NAMES
    )
    a, b = parameters.coding
    facts = [("Coding", f"x = {a:g} for A, {b:g} for B")]
    limit = upper_worker_slope(entry, _CONFIDENCE)
    if limit is not None:
        facts.append((_LIMIT, f"{limit:.4f}, of sd_worker_slope"))
    if document.get("identified_combinations"):
        facts.append(("Known", "; ".join(document["identified_combinations"])))
    return Section("Parameters", (Table(("", "on [0, 1]", "95 % interval"), rows), Facts(tuple(facts))))


def _interval(interval: object) -> str:
    if not isinstance(interval, list | tuple) or None in interval:
        return "-"
    return interval_words(*interval)


def _study(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not document:
        return
    a, b = (document.get("systems") or ["A", "B"])[:2]
    parts = [f"{b} against {a}"]
    if document.get("criterion_name"):
        parts.append(f"criterion {document['criterion_name']!r}")
    scale = document.get("scale") or {}
    if scale:
        parts.append(f"scale {scale['low']:g} to {scale['high']:g}")
    parts += [
        f"{document[f'n_{noun}']:,} {noun}"
        for noun in ("ratings", "workers", "items")
        if document.get(f"n_{noun}") is not None
    ]
    if document.get("boundary"):
        parts.append(f"estimated as zero: {', '.join(document['boundary'])}")
    yield "Study", "; ".join(parts)


def _published(published: Mapping[str, Any]) -> Section:
    facts = []
    for label, values in published.items():
        shown = f"{values}"
        if isinstance(values, Mapping):
            shown = ", ".join(
                f"{name} {value:g}" if isinstance(value, float | int) else f"{name} {value}"
                for name, value in values.items()
            )
        facts.append((label, shown))
    return Section("As published", (Facts(tuple(facts)),))
