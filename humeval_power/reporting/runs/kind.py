"""Which kind of runs a table holds: what is said of it, and the record."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.runs.kinds import RunsReading
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.reporting.document import Document, Fact, Facts, Points, Section
from humeval_power.reporting.independence import (
    Independence,
    assumed_items,
    independence_record,
    independence_section,
)
from humeval_power.reporting.numbers import counted, p_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.runs_parameters import RunsKind

MEANING: dict[RunsKind, str] = {
    "nested": "generations of each item's answer; run 1 of an item has nothing in common with run 1 of another. "
    "Items are the sample: more generations only make each item's mean more precise.",
    "crossed": "prompts or seeds, the same ones for all items and systems. They are a sample too, as raters "
    "are: with few of them no number of items makes up for it.",
}
_LAYOUTS = {
    "own labels": "items have labels of their own",
    "shared labels": "the same words under every item",
    "shared numbers": "the same numbers under every item",
}


@dataclass(frozen=True, kw_only=True)
class RunsKindResult(Result):
    """What a table says of its runs."""

    schema: ClassVar[str] = "humeval_power/runs_check/1"

    table: RunTable
    reading: RunsReading
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed in reading the table."""
        return tuple(f"{self.table.source}: {notice}" for notice in self.table.notices)

    def body(self) -> Document:
        """The answer, why, and what each of the kinds means."""
        return Document(
            "Are the runs nested in items, or crossed with them?",
            lead=self._lead(),
            caveats=contradictions(self.reading, self.reading.kind),
            sections=(
                Section("What the table shows", (Facts(tuple(reading_facts(self.table, self.reading))),)),
                Section(
                    "What the two kinds are",
                    (Points(tuple(f"{kind.capitalize()}: {text}" for kind, text in MEANING.items())),),
                ),
                independence_section(self._items()),
            ),
        )

    def _items(self) -> tuple[Independence, ...]:
        return (assumed_items(self.table.n_items, self.table.suspects),)

    def _lead(self) -> str:
        kind = self.reading.kind
        if kind is None:
            return ask(self.reading)
        return (
            f"Runs ({self.reading.column}) are read as {kind}: {reason(self.reading)}. If they are not, say "
            f"'runs test --{other(kind)}'."
        )

    def content(self) -> Record:
        """Kind, evidence, counts."""
        table = self.table
        return {
            "systems": list(table.system_names),
            **asdict(self.reading),
            "looks_shared": self.reading.looks_shared,
            "n_scores": len(table.score),
            "binary": table.is_binary,
            "contradictions": list(contradictions(self.reading, self.reading.kind)),
            "independence": independence_record(self._items()),
        }


def other(kind: RunsKind) -> RunsKind:
    """The kind that it is not."""
    return "crossed" if kind == "nested" else "nested"


def reason(reading: RunsReading) -> str:
    """Why runs are of a kind, in half a sentence."""
    layout = _LAYOUTS[reading.layout]
    if reading.named is not None and reading.kind == reading.named:
        return f"the column is called {reading.column!r}, with {layout}"
    return f"{layout} (column {reading.column!r})"


def ask(reading: RunsReading) -> str:
    """What to decide where the table does not say."""
    if reading.layout == "own labels":
        why = (
            f"column {reading.column!r} sounds like prompts or seeds, but only {reading.n_complete:,} of "
            f"{reading.n_items:,} items have all its labels"
        )
    else:
        why = f"column {reading.column!r} holds {_LAYOUTS[reading.layout]}, which both kinds may have"
    return (
        f"The table does not say which kind its runs are: {why}. If each item was answered anew, say --nested; if "
        "a label means one prompt or seed for all items, say --crossed."
    )


def reading_facts(table: RunTable, reading: RunsReading) -> list[Fact]:
    """Counts and evidence."""
    low, high = reading.runs
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    facts = [
        ("Scores", f"{len(table.score):,} of {table.n_items:,} items by {table.n_systems} systems"),
        (
            "Runs",
            f"{each} of an item by a system; {counted(reading.n_labels, 'label')} in column {reading.column!r}",
        ),
        ("Labels", f"{_LAYOUTS[reading.layout]} ({reading.n_complete:,} items have all of them)"),
    ]
    if not math.isnan(reading.p_level):
        facts.append(("Do labels differ in level?", p_words(reading.p_level)))
    if not math.isnan(reading.p_slope):
        facts.append(("Do labels favour a system?", p_words(reading.p_slope)))
    return facts


def contradictions(reading: RunsReading, kind: RunsKind | None) -> tuple[str, ...]:
    """What the scores or labels say against a kind; nothing where all agrees."""
    if kind == "nested" and reading.looks_shared:
        return (
            "Runs of one label differ from those of others over all items, which generations of their own would "
            "not: the labels seem to stand for prompts or seeds. If they do, say --crossed; as nested runs the "
            "interval is too short.",
        )
    if kind == "crossed" and reading.layout == "own labels":
        return (
            f"Only {reading.n_complete:,} of {reading.n_items:,} items have all {reading.n_labels:,} labels: if "
            "items have runs of their own, say --nested.",
        )
    return ()
