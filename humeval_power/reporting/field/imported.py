"""Exports that were imported: the ratings, what left on the way, and what was read as what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.collected import KINDS, read_kinds
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.imported import Imported
from humeval_power.reporting.document import Block, Document, Facts, Listing, Section, Table
from humeval_power.reporting.field.draft import draft_text
from humeval_power.reporting.field.workers import with_pseudonyms
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import IMPORT_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.row_flow import export_record, left_out_notice
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:
    import pandas as pd

_STEPS = {"read": "read", "dropped": "left out", "analysed": "ratings"}
_IDS = ("worker", "item", "system", "criterion")
_DIGITS = 12  # of computed columns; ratings are text


@dataclass(frozen=True, kw_only=True)
class ImportResult(Result):
    """Ratings out of exports. With a `secret` the table has pseudonyms of the workers."""

    schema: ClassVar[str] = IMPORT_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv", ".toml")

    table: Imported
    secret: str | None = field(default=None, repr=False)
    provenance: Provenance = UNKNOWN

    @cached_property
    def _frame(self) -> pd.DataFrame:
        frame = self.table.frame
        return frame if self.secret is None else with_pseudonyms(frame, self.secret)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What each file was taken for, and what was noticed in reading it."""
        said = []
        for export, _ in self.table.of:
            said.append(f"{export.source} is read as {export.platform}: {export.why}.")
            said += [f"{export.source}: {notice}" for notice in export.notices]
        said += [f"{one.source} is joined by the worker: {one.why}." for one in self.table.people]
        if self.table.is_coded:
            said.append("Outputs are named by their codes; the key of the assignment says what they are.")
        return (*said, *self.table.notices)

    def body(self) -> Document:
        """How many ratings of whom, and the flow."""
        return Document(
            f"{counted(self._kinds.get('rating', len(self._frame)), self._unit)} imported",
            lead=" ".join(self._lead()),
            sections=(
                Section("", (Facts(tuple(self._counts())),)),
                Section("What was left out, and why", tuple(self._flows())),
            ),
        )

    def _lead(self) -> Iterator[str]:
        found = [counted(self._different(name), name) for name in _IDS[:3] if name in self._frame]
        yield f"The table has {', '.join(found[:-1])} and {found[-1]}."
        for one in self.table.flows:
            yield from left_out_notice(one.flow)

    @property
    def _unit(self) -> str:
        """What a row of the table is."""
        return "rating" if "rating" in self._frame else "preference"

    def _counts(self) -> Iterator[tuple[str, str]]:
        if "criterion" in self._frame:
            yield "Criteria", f"{self._different('criterion'):,}"
        for kind in KINDS[1:]:
            if self._kinds:
                yield f"{kind.capitalize()}s", f"{self._kinds[kind]:,}, which no analysis takes as ratings"
        if self.table.n_withdrawn:
            yield (
                "Withdrew",
                f"{counted(self.table.n_withdrawn, 'participant')}; nothing of them is in the table",
            )
        if self.secret is None:
            yield "Worker ids", "as in the export"
        else:
            yield "Worker ids", "pseudonyms, by a secret key"

    def _different(self, name: str) -> int:
        """How many different ids a column has; of an attention check's item and system it is blank."""
        cells = self._frame[name]
        return int(cells[cells.notna() & (cells.astype(str).str.strip() != "")].nunique())

    @cached_property
    def _kinds(self) -> dict[str, int]:
        """How many answers there are of each kind; nothing where kinds are not known."""
        kinds = read_kinds(self._frame)
        if kinds is None:
            return {}
        found = self._frame["kind"].astype(str).str.strip()
        return {kind: int((found == kind).sum()) for kind in KINDS}

    def _flows(self) -> Iterator[Block]:
        for one in self.table.flows:
            rows = tuple((_STEPS[step.step], f"{step.rows:,}", step.reason) for step in one.flow)
            yield Table((one.source, "number", "what"), rows)

    def content(self) -> Record:
        """Counts and the flow of each export; no ratings, and no id of a worker. `n_ratings` are all rows of the
        table."""
        return {
            "n_ratings": len(self._frame),
            **({"n_of_kind": dict(self._kinds)} if self._kinds else {}),
            **{f"n_{name}s": self._different(name) for name in _IDS if name in self._frame},
            "columns": list(map(str, self._frame.columns)),
            "pseudonyms": self.secret is not None,
            "n_withdrawn": self.table.n_withdrawn,
            "exports": [
                {**export_record(flow), "columns_read": list(table.used)}
                for flow, (_, table) in zip(self.table.flows, self.table.of, strict=True)
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """The ratings, one a row."""
        return self._frame.reset_index(drop=True)

    def artefact(self, ending: str) -> str:
        """The ratings as CSV, or the mapping as TOML."""
        if ending == ".toml":
            first, _ = self.table.of[0]
            return draft_text(replace(first, mapping=self.table.mapping or first.mapping))
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings and the mapping, beside the page."""
        return {"ratings.csv": self.artefact(".csv"), "mapping.toml": self.artefact(".toml")}


@dataclass(frozen=True, kw_only=True)
class DraftResult(Result):
    """A draft of the mapping of an export."""

    schema: ClassVar[str] = "humeval_power/import_draft/1"
    endings: ClassVar[tuple[str, ...]] = (".toml",)

    export: Export
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The draft as it would stand in a file."""
        return Document(
            f"A mapping for {self.export.source}",
            lead="Say what is missing, and import with it.",
            sections=(Section("", (Listing(draft_text(self.export)),)),),
        )

    def content(self) -> Record:
        """What the export was taken for, and its columns."""
        return {
            "source": self.export.source,
            "platform": self.export.platform,
            "known_by": self.export.why,
            "columns": list(map(str, self.export.frame.columns)),
            "draft": draft_text(self.export),
        }

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The draft as TOML."""
        return draft_text(self.export)
