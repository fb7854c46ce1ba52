"""What would be, or was, published: the result of `release`. The bundle itself holds nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.reporting.document import Block, Document, Paragraph, Section, Table
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.release.bundle import Bundle
from humeval_power.reporting.release.rows import ReleaseRows
from humeval_power.reporting.result import UNKNOWN, Provenance, Result


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
