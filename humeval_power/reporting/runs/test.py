"""Systems compared by repeated runs: what is said of them, and the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.runs.comparison import RunsComparison, RunsRule
from humeval_power.inference.runs.kinds import RunsReading
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.inference.runs.testing import RunsComparisons
from humeval_power.reporting.document import Block, Document, Facts, Paragraph, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.interval_chart import interval_chart
from humeval_power.reporting.numbers import decimals, p_cell, significant, significant_interval
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.runs.doubts import answers, caveats
from humeval_power.reporting.runs.kind import contradictions
from humeval_power.reporting.runs.paper import for_a_paper, signature
from humeval_power.reporting.runs.words import (
    more_words,
    pair_facts,
    parts_table,
    read_as,
    runs_table,
    verdict,
)

_SHOWN = {
    "two-sided": "a difference",
    "greater": "that the later system scores higher",
    "equivalent": "equivalence within the margin",
    "non-inferior": "non-inferiority within the margin",
}
RUNS_SCHEMA = "humeval_power/runs_test/1"


@dataclass(frozen=True, kw_only=True)
class RunsTestResult(Result):
    """Two systems or more compared by repeated runs; the effect is B - A, A being the first of a pair."""

    schema: ClassVar[str] = RUNS_SCHEMA

    table: RunTable
    reading: RunsReading
    rule: RunsRule
    found: RunsComparisons
    said: bool
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed in reading the table, and columns that look like clusters."""
        of_file = f"{self.table.source}: " if self.table.source else ""
        told = [f"{of_file}{notice}" for notice in self.table.notices]
        return (*told, *(suspect.sentence() for suspect in self.table.suspects))

    @property
    def only(self) -> RunsComparison | None:
        """The comparison of two systems; None where there are more."""
        return self.found.pairs[0] if len(self.found.pairs) == 1 else None

    def body(self) -> Document:
        """The test, where its error comes from, what more runs would buy, and what was not independent."""
        only = self.only
        return Document(
            f"Systems compared over several runs ({self.table.run_column})"
            if only is None
            else f"{only.systems[1]} compared with {only.systems[0]}",
            lead=self._overview() if only is None else verdict(only),
            caveats=(
                *contradictions(self.reading, self.rule.kind),
                *caveats(self.found.pairs),
            ),
            sections=tuple(self._sections()),
            provenance=tuple(("Scores", notice) for notice in self.table.notices),
            signature=self.signature,
        )

    def _overview(self) -> str:
        found, n = sum(self.found.significant), len(self.found.pairs)
        return (
            f"In {found} of {n} pairs {_SHOWN[self.rule.alternative]} is shown (alpha "
            f"{self.rule.alpha:g}, corrected by Holm)."
        )

    def _sections(self) -> Iterator[Section]:
        how = Paragraph(read_as(self.table, self.reading, self.rule, said=self.said))
        if self.only is None:
            yield Section("All pairs", (self._pairs(), self._picture()))
            yield Section("How the runs were read", (how,))
        else:
            yield Section(
                "The test", (Facts(tuple(pair_facts(self.only, self.table))), self._picture(), how)
            )
        for pair in self.found.pairs:
            if pair.parts:
                yield self._error(pair)
        yield independence_section(answers(self.table, self.found.pairs, self.rule))
        if self.only is not None and not self.only.reason:
            yield Section("For a paper", (Paragraph(for_a_paper(self.only, self.table)),), is_detail=True)

    def _error(self, pair: RunsComparison) -> Section:
        title = "Where the error comes from"
        if self.only is None:
            title += f": {pair.systems[0]}, {pair.systems[1]}"
        blocks: list[Block] = [parts_table(pair)]
        if pair.more_runs:
            blocks += [runs_table(pair, self.table), Paragraph(more_words(pair, self.table))]
        return Section(title, tuple(blocks), is_detail=self.only is None)

    def _pairs(self) -> Table:
        rows = tuple(
            (
                f"{pair.systems[1]} - {pair.systems[0]}",
                significant(pair.estimate),
                significant_interval(*pair.interval),
                decimals(pair.df, 1),
                p_cell(pair.p_value),
                p_cell(adjusted),
            )
            for pair, adjusted in zip(self.found.pairs, self.found.p_adjusted, strict=True)
        )
        level = f"{100 * (1 - self._tail):g} % interval"
        header = ("systems", "difference", level, "df", "p", "p (Holm)")
        return Table(header, rows, caption="Each interval is that of its pair alone.")

    @property
    def _tail(self) -> float:
        return self.rule.alpha if self.rule.alternative == "two-sided" else 2 * self.rule.alpha

    def _picture(self) -> Block:
        effects = [
            (f"{pair.systems[1]} - {pair.systems[0]}", pair.estimate, pair.interval)
            for pair in self.found.pairs
            if not pair.reason
        ]
        if not effects:
            return Paragraph("There is no interval to show.")
        return interval_chart(
            "differences",
            effects,
            axis=f"difference of {self.table.metric}",
            title="How large are the differences?",
            words=f"Differences with {100 * (1 - self._tail):g} % intervals, about 0.",
        )

    @property
    def signature(self) -> str:
        """What was tested, in one line."""
        return signature(self.table, self.rule, self.found.pairs, versions()["humeval-power"])

    def content(self) -> Record:
        """Each pair with its test, its error's parts, and the parameters that planning reads."""
        only = self.only
        return {
            "systems": list(self.table.system_names),
            "metric": self.table.metric,
            "run_column": self.table.run_column,
            "kind": self.rule.kind,
            "kind_was_said": self.said,
            "family": self.rule.family,
            "alternative": self.rule.alternative,
            "margin": self.rule.margin,
            "alpha": self.rule.alpha,
            "parameters": None if only is None or only.parameters is None else only.parameters.as_dict(),
            "rows": self._rows(),
            "comparisons": [_comparison(pair) for pair in self.found.pairs],
            "contradictions": list(contradictions(self.reading, self.rule.kind)),
            "independence": independence_record(answers(self.table, self.found.pairs, self.rule)),
            "signature": self.signature,
            "notices": list(self.table.notices),
        }

    def _rows(self) -> list[Record]:
        pairs = zip(self.found.pairs, self.found.p_adjusted, strict=True)
        return [_row(pair, adjusted) for pair, adjusted in pairs]


def _row(pair: RunsComparison, adjusted: float) -> Record:
    return {
        "first": pair.systems[0],
        "second": pair.systems[1],
        "n_items": pair.n_items,
        "estimate": pair.estimate,
        "standard_error": pair.standard_error,
        "df": pair.df,
        "low": pair.interval[0],
        "high": pair.interval[1],
        "p_value": pair.p_value,
        "p_adjusted": adjusted,
        "significant": bool(adjusted <= pair.rule.alpha),
    }


def _comparison(pair: RunsComparison) -> Record:
    return {
        "systems": list(pair.systems),
        "means": list(pair.means),
        "reason": pair.reason,
        "n_scores": pair.n_scores,
        "runs": list(pair.runs),
        "n_labels": pair.n_labels,
        "error_parts": [asdict(part) for part in pair.parts],
        "removable_share": pair.removable,
        "more_runs": [asdict(each) for each in pair.more_runs],
        "parameters": None if pair.parameters is None else pair.parameters.as_dict(),
        "at_zero": list(pair.at_zero),
        "odds_ratio": None if pair.odds_ratio is None else list(pair.odds_ratio),
        "these_runs_alone": {
            "estimate": pair.items.estimate,
            "standard_error": pair.items.standard_error,
            "df": pair.items.df,
            "p_value": pair.items.p_value(),
        },
        "remarks": list(pair.remarks),
    }
