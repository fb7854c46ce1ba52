"""What to cite, as a result: entries of BibTeX, and what each work was used for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.references import Reference
from humeval_power.reporting.cite.bibtex import bibliography, entry
from humeval_power.reporting.document import Document, Listing, Section, Table
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result


@dataclass(frozen=True, kw_only=True)
class Citations(Result):
    """Works and what each was used for, the program first."""

    schema: ClassVar[str] = "humeval_power/citations/1"
    endings: ClassVar[tuple[str, ...]] = (".bib",)
    printed_as: ClassVar[str] = ".bib"
    uses: Mapping[Reference, str]
    provenance: Provenance = UNKNOWN

    @property
    def bibtex(self) -> str:
        """The entries."""
        return bibliography(self.uses)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The entries."""
        return self.bibtex

    def body(self) -> Document:
        """What was used for what, and the entries to copy."""
        rows = tuple((work.named, work.key, use) for work, use in self.uses.items())
        return Document(
            "What to cite",
            lead=f"{counted(len(rows), 'work')} to cite, with what each was used for.",
            sections=(
                Section("", (Table(("work", "key", "used for"), rows, in_words=True),)),
                Section("BibTeX", (Listing(self.bibtex.rstrip("\n")),)),
            ),
        )

    def content(self) -> Record:
        """Every work with its key, its entry and its use."""
        return {
            "rows": [
                {"work": work.named, "key": work.key, "used_for": use, "bibtex": entry(work)}
                for work, use in self.uses.items()
            ]
        }
