"""What is in a table of scores that no worker gave, and what to ask of it next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.reporting.compare.item_clusters import independence_of_table
from humeval_power.reporting.document import Document, Listing, Paragraph, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.numbers import counted, significant
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import shell_word


@dataclass(frozen=True, kw_only=True)
class ScoreCheckResult(Result):
    """Systems, items and scores of a table, by metric, and what was not independent."""

    schema: ClassVar[str] = "humeval_power/score_check/1"

    tables: tuple[ScoreTable, ...]
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed in reading the table."""
        said = dict.fromkeys(notice for table in self.tables for notice in table.notices)
        return tuple(f"{self.tables[0].source}: {notice}" for notice in said)

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return all(table.is_binary for table in self.tables)

    def body(self) -> Document:
        """The table in short, a row for each system, and the commands that follow."""
        first = self.tables[0]
        return Document(
            "A table of scores",
            lead=(
                f"This table can be compared: {counted(first.n_items, 'item')}, "
                f"{counted(len(first.systems), 'system')}. It has no column of workers, so that it is no rating "
                "study."
            ),
            sections=(
                *(Section(*self._scores(table)) for table in self.tables),
                independence_section(independence_of_table(first)),
                Section("What to do next", tuple(self._next())),
            ),
        )

    def _scores(self, table: ScoreTable) -> tuple[str, tuple[Table, ...]]:
        rows = tuple((str(row["system"]), *map(significant, _numbers(row))) for row in _rows(table))
        return f"Scores: {table.metric}", (Table(("system", "mean", "SD", "lowest", "highest"), rows),)

    def _next(self) -> Iterator[Paragraph | Listing]:
        first = self.tables[0]
        file = shell_word(first.source)
        named = next((each.column for each in first.suspects if each.column), None)
        cluster = "" if named is None else f" --cluster {shell_word(named)}"
        yield Paragraph(
            "Name the clusters if items of one are alike, and say what is asked before you look at differences:"
        )
        test = "accuracy test" if self.is_binary else "compare scores"
        question = "" if self.is_binary else " --question mean"
        score = (
            f" --score {shell_word(first.metric)}" if len(self.tables) > 1 and not self.is_binary else ""
        )
        yield Listing(f"humeval-power {test} {file}{score}{question}{cluster}")

    def content(self) -> Record:
        """Counts, and the scores of each system under each metric."""
        first = self.tables[0]
        return {
            "n_items": first.n_items,
            "systems": list(first.systems),
            "binary": self.is_binary,
            "rows": [row for table in self.tables for row in _rows(table)],
            "independence": independence_record(independence_of_table(first)),
        }


def _rows(table: ScoreTable) -> Iterator[Record]:
    for system in table.systems:
        scores = table.column(system)
        yield {
            "metric": table.metric,
            "system": system,
            "mean": float(scores.mean()),
            "sd": float(scores.std(ddof=1)),
            "lowest": float(scores.min()),
            "highest": float(scores.max()),
        }


def _numbers(row: Record) -> tuple[float, ...]:
    return tuple(value for value in row.values() if isinstance(value, float))
