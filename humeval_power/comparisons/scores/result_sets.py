"""Two systems on several data sets, or by several metrics: on how many of them B is better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.scores.all_pairs import Replicability
from humeval_power.comparisons.scores.comparison import PairComparison
from humeval_power.comparisons.scores.effect_sizes import EffectSize
from humeval_power.comparisons.scores.result import (
    compared,
    independence_of_sets,
    independence_of_table,
    notices_of,
    origin,
    pair_record,
    pair_row,
)
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.safe_text import shell_word
from humeval_power.saying.chart import interval_chart
from humeval_power.saying.clustered_words import independence_record, independence_section
from humeval_power.saying.document import Document, Listing, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, p_cell, significant
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result

_HOW = {"bonferroni": "Bonferroni, any dependence", "fisher": "Fisher, independent sets"}


@dataclass(frozen=True, kw_only=True)
class SetsResult(Result):
    """One pair of systems on each of `names`, and how many of them replicate the effect."""

    schema: ClassVar[str] = "humeval_power/compare_sets/2"

    names: tuple[str, ...]
    comparisons: tuple[PairComparison, ...]
    found: Replicability
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the scores."""
        return notices_of(*(one.table for one in self.comparisons))

    def body(self) -> Document:
        """The count with its confidence, then each set."""
        found, first = self.found, self.comparisons[0]
        a, b = first.names
        direction = "higher" if first.request.settings.alternative == "greater" else "lower"
        named = ", ".join(self.names[place] for place in found.named) or "none"
        return Document(
            f"{compared(first.table)} on {len(self.names)} sets",
            lead=f"{b} scores {direction} than {a} in at least {found.count} of {len(self.names)} sets, with "
            f"confidence {100 * (1 - found.alpha):g} %."
            if found.count
            else f"In none of {len(self.names)} sets is it shown that {b} scores {direction} than {a} (confidence "
            f"{100 * (1 - found.alpha):g} %).",
            sections=(
                Section(
                    "",
                    (
                        self._table(),
                        Paragraph(
                            f"{first.test.label}, one-sided; {_HOW[found.combination]} (Dror et al. 2017). "
                            f"One by one (Holm): {named}."
                        ),
                        *self._pictures(),
                    ),
                ),
                independence_section(independence_of_sets(self.names, self.comparisons)),
            ),
            provenance=origin(*(one.table for one in self.comparisons)),
        )

    def _table(self) -> Table:
        counts = all(one.data.is_binary for one in self.comparisons)
        rows = tuple(
            (
                name,
                f"{one.test.n:,}",
                *((f"{one.data.n_helped:,} : {one.data.n_hurt:,}",) if counts else ()),
                significant(one.test.estimate),
                p_cell(one.test.p_value),
                p_cell(holm),
            )
            for name, one, holm in zip(self.names, self.comparisons, self.found.holm_p, strict=True)
        )
        changed = ("helped : hurt",) if counts else ()
        return Table(
            ("set", "n", *changed, self.comparisons[0].test.estimand.split()[0], "p", "Holm p"), rows
        )

    def _pictures(self) -> tuple[Picture, ...]:
        """Cohen's d, which alone can be compared between metrics; none where a set has no spread."""
        effects = [_cohens_d(one) for one in self.comparisons]
        if None in effects:
            return ()
        confidence = self.comparisons[0].request.settings.confidence
        return (
            interval_chart(
                "effects",
                [
                    (name, each.value, (each.low, each.high))
                    for name, each in zip(self.names, effects, strict=True)
                    if each is not None
                ],
                axis="Cohen's d of B - A",
                title="How large is the effect in each set?",
                words=f"Cohen's d of B - A in each set, with its {100 * confidence:g} % interval, about 0.",
            ),
        )

    def content(self) -> Record:
        """The count, and the record of each set."""
        return {
            "names": list(self.names),
            "replicability": {
                **asdict(self.found),
                "named": [self.names[place] for place in self.found.named],
            },
            "comparisons": [pair_record(one) for one in self.comparisons],
            "independence": independence_record(independence_of_sets(self.names, self.comparisons)),
        }

    def table_rows(self) -> list[Record]:
        """A row for each set."""
        return [
            {"set": name, **pair_row(one.table.systems, one.test), "holm_p_value": holm}
            for name, one, holm in zip(self.names, self.comparisons, self.found.holm_p, strict=True)
        ]


def _cohens_d(comparison: PairComparison) -> EffectSize | None:
    return next((one for one in comparison.effects if one.name == "cohens_d"), None)


# What is in a table of scores that no worker gave, and what to ask of it next.


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
        test = "compare accuracy test" if self.is_binary else "compare scores"
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
