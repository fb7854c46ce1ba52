"""Analyses of several criteria of one table, corrected by one family of tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.rehearsed import lead_of, rehearsal_notices
from humeval_power.rules import ComparisonFamily, FamilyOfTests, claim
from humeval_power.safe_text import file_stems
from humeval_power.saying.answer_words import estimated_words
from humeval_power.saying.document import Document, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, in_words, p_cell
from humeval_power.saying.result import ANALYSES_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import left_out_notice
from humeval_power.studies.analyze.family import (
    ComparisonRow,
    Deviation,
    ShownPair,
    Unit,
    family_record,
    family_words,
)
from humeval_power.studies.analyze.findings import (
    WARNING,
    CriterionFindings,
    common_order,
    findings_files,
    findings_frame,
)
from humeval_power.studies.analyze.result import AnalysisResult
from humeval_power.studies.analyze.result_conditions import TITLE as EXCLUSION_TITLE
from humeval_power.studies.analyze.result_conditions import (
    WithAndWithout,
    deviations_content,
    deviations_section,
    exclusion_section,
)
from humeval_power.studies.analyze.result_ranking import (
    MOST_PAIRS,
    Ranking,
    once_or_by_criterion,
    several_sections,
)

if TYPE_CHECKING:
    import pandas as pd

_MOST_NAMED = 4  # systems that may be the best, by their names


@dataclass(frozen=True, kw_only=True)
class CriteriaResult(Result):
    """The analysis of each criterion by its name, each with the p-values of the family of tests.

    `deviations` are those of the tests and the criteria from the plan, None without one.
    """

    schema: ClassVar[str] = ANALYSES_SCHEMA

    results: Mapping[str, AnalysisResult]
    family: ComparisonFamily
    deviations: tuple[Deviation, ...] | None = None
    provenance: Provenance = UNKNOWN

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """Each comparison under each criterion in short."""
        return tuple(
            replace(row, criterion=name) for name, result in self.results.items() for row in result.rows
        )

    @property
    def tests(self) -> FamilyOfTests:
        """The tests of all criteria: one family, or where it says so one for each criterion."""
        return FamilyOfTests(self.family, len(self.rows), tuple(self.results))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of every criterion, each once; a warning about several systems says under which."""
        return tuple(
            dict.fromkeys(
                each.replace(WARNING, f"{WARNING}{name}: ", 1) if name in self.systems else each
                for name, result in self.results.items()
                for each in result.remarks
            )
        )

    @cached_property
    def in_order(self) -> Mapping[str, AnalysisResult]:
        """The results with the names of their criteria, several systems in one order: that under the first."""
        order = common_order([one.analysis for one in self.results.values() if one.ranks is not None])
        return {
            name: one if one.ranks is None else one.named(name, order) for name, one in self.results.items()
        }

    @cached_property
    def systems(self) -> Mapping[str, Ranking]:
        """What is said of several systems as a whole, by criterion."""
        return {name: one.ranking for name, one in self.in_order.items() if one.ranking is not None}

    @property
    def findings(self) -> tuple[CriterionFindings, ...]:
        """The findings under each criterion, in one order of the systems."""
        return tuple(one.findings for one in self.systems.values())

    def findings_frame(self) -> pd.DataFrame:
        """The findings as a table: a row for each system under each criterion."""
        return findings_frame(self.findings)

    def files(self) -> dict[str, str]:
        """The findings as a spreadsheet, and as a table for a paper; nothing where two systems are compared."""
        if not self.systems:
            return {}
        return findings_files(self.findings, self.tests, notices=rehearsal_notices(self._workers))

    @property
    def _workers(self) -> tuple[str, ...]:
        return tuple(worker for one in self.results.values() for worker in one.ratings.worker_names)

    def body(self) -> Document:
        """The findings under all criteria, then each comparison and the analysis of each criterion."""
        n = len(self.results)
        stems = file_stems(list(self.results), nameless="criterion")
        left_out = {name: left_out_notice(one.ratings.flow) for name, one in self.results.items()}
        exclusions: list[tuple[WithAndWithout | None, Sequence[ComparisonRow]]] = []
        for name, result in self.results.items():
            of = result.exclusion
            if of is not None:
                of = replace(of, without=tuple(replace(row, criterion=name) for row in of.without))
            exclusions.append((of, [replace(row, criterion=name) for row in result.rows]))
        in_short = len(self.systems) == n and all(one.analysis.groups for one in self.systems.values())
        is_detail = in_short and len(self.rows) > MOST_PAIRS
        parts = [
            section
            for (name, result), stem in zip(self.results.items(), stems, strict=True)
            for section in _sections(name, stem, self.in_order[name])
        ]
        return Document(
            f"Analysis of {'1 criterion' if n == 1 else f'{n} criteria'}",
            lead=lead_of(self._workers, self._lead()),
            caveats=(*rehearsal_notices(self._workers), *once_or_by_criterion(left_out)),
            sections=(
                *several_sections(
                    self.systems, self.tests, {name: self.results[name].agreement for name in self.systems}
                ),
                *exclusion_section(*exclusions),
                *self._deviations(),
                Section("All comparisons", (self._table(),), is_detail=is_detail),
                *parts,
            ),
        )

    def _deviations(self) -> Iterator[Section]:
        """Those of the tests and the criteria, and those of each criterion, each once."""
        if self.deviations is None:
            return
        everywhere = [set(one.deviations or ()) for one in self.results.values()]
        common = set.intersection(*everywhere)
        deviations = [*self.deviations]
        for name, result in self.results.items():
            for one in result.deviations or ():
                said = one if one in common else replace(one, what=f"{name}: {one.what}")
                if said not in deviations:
                    deviations.append(said)
        yield from deviations_section(tuple(deviations))

    def _lead(self) -> str:
        """Who is better under which criteria, by how much, or that none is shown to be."""
        rule, rows = next(iter(self.results.values())).tested.rule, self.rows
        shown, after = [row for row in rows if row.significant], family_words(self.tests)
        if self.systems:
            are = "is" if len(shown) == 1 else "are"
            differences = f"{len(shown)} of {counted(len(rows), 'difference')} {are} shown {after}"
            said = "; ".join([*self._best(), differences])
            return f"{'U' + said[1:] if said.startswith('under ') else said}."
        names = [str(row.criterion) for row in shown]
        if rule.margin is not None:
            what = claim(rule)
            return f"{what[0].upper()}{what[1:]} is shown under {self._of_all(names, 'none of them')}, {after}."
        first, second = rows[0].first, rows[0].second
        sentences: list[str] = []
        for better, worse, sign in ((second, first, 1), (first, second, -1)):
            by = {
                str(row.criterion): estimated_words(
                    row.estimate, self.results[str(row.criterion)].ratings.scale
                )
                for row in shown
                if sign * row.estimate > 0
            }
            corrected = "" if sentences else f", {after}"
            if len(by) == 1:
                [(name, size)] = by.items()
                sentences.append(f"{better} is better than {worse} by {size} under {name}{corrected}.")
            elif by:
                points = ", ".join(f"{name} by {size}" for name, size in by.items())
                under = self._of_all(list(by))
                sentences.append(f"{better} is better than {worse} under {under}{corrected}: {points}.")
        if not sentences:
            under = next(iter(self.results)) if len(self.results) == 1 else "any criterion"
            return f"No difference between {first} and {second} is shown under {under}, {after}."
        if left := [name for name in self.results if name not in names]:
            sentences.append(f"No difference is shown under {in_words(left)}.")
        return " ".join(sentences)

    def _of_all(self, some: Sequence[str], none: str = "") -> str:
        """'all 3 criteria', '2 of 3 criteria', 'fluency', or `none`."""
        n = len(self.results)
        if len(some) == n > 1:
            return "both criteria" if n == 2 else f"all {n} criteria"
        return f"{len(some)} of {n} criteria" if len(some) > 1 else in_words(some) or none

    def _best(self) -> Iterator[str]:
        """Which of several systems are, or may be, the best, or are better than a baseline, under which criteria;
        nothing where neither was asked."""
        of: dict[tuple[str, ...], list[str]] = {}
        for name, ranking in self.systems.items():
            of.setdefault(ranking.stand_out, []).append(name)
        baseline = self.family.baseline
        for systems, names in sorted(of.items(), key=lambda group: (len(group[0]) > 1, -len(group[1]))):
            n = len(self.systems[names[0]].findings.rows)
            under = f"under {self._of_all(names) if len(names) == len(self.results) else in_words(names)}"
            if systems and baseline:
                are = "is" if len(systems) == 1 else "are"
                yield f"{in_words(systems)} {are} better than {baseline} {under}"
            elif len(systems) == 1:
                yield f"{systems[0]} is the best of {n} systems {under}"
            elif systems:
                few = f"whether {in_words(systems, last='or')}"
                which = (
                    few if len(systems) <= _MOST_NAMED else f"which of {len(systems)} of the {n} systems"
                )
                yield f"{under} it is open {which} is the best"

    def _table(self) -> Table:
        rows, units = [], {}
        for name, result in self.results.items():
            unit = Unit(result.ratings.scale)
            units[name] = unit.words
            pairs: Sequence[ShownPair] = self.systems[name].pairs if name in self.systems else ()
            pairs = pairs or [
                ShownPair(
                    one.second,
                    one.first,
                    unit.difference(one.estimate),
                    unit.difference_interval(one.low, one.high),
                    one.df,
                    one.p_value,
                    one.corrected_p_value,
                    bool(one.significant),
                    reason="",
                )
                for one in result.rows
            ]
            rows += [
                (
                    name,
                    f"{one.left} - {one.right}",
                    unit.shown(one.estimate, more=1),
                    "none" if one.reason else unit.interval(*one.interval, more=1),
                    p_cell(one.p_value),
                    p_cell(one.corrected_p) + (" *" if one.significant else ""),
                )
                for one in pairs
            ]
        words = set(units.values())
        caption = "; ".join(f"of {name} {unit}" for name, unit in units.items())
        return Table(
            ("criterion", "difference", "estimate", "interval", "p", "corrected"),
            tuple(rows),
            caption=f"Differences are {words.pop() if len(words) == 1 else caption}.",
        )

    def content(self) -> Record:
        """The analysis of each criterion, and the family of all their tests."""
        return {
            "criteria": [
                {"schema": one.schema, **one.content(), "criterion_name": name}
                for name, one in self.in_order.items()
            ],
            "family_of_tests": family_record(self.tests),
            **deviations_content(self.deviations, None),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison under each criterion."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])


def _sections(name: str, stem: str, result: AnalysisResult) -> Iterator[Section]:
    """The sections of one criterion, with its name before each title and each picture; of several systems those of
    details, as the findings stand above."""
    if result.ranking is not None:
        sections: tuple[Section, ...] = tuple(result.ranking.detail_sections())
    else:
        document = result.body()
        yield Section(name, (Paragraph(document.lead),))
        sections = tuple(one for one in document.sections if one.title != EXCLUSION_TITLE)
    for section in sections:
        blocks = tuple(
            block.named(f"{stem}-{block.name}") if isinstance(block, Picture) else block
            for block in section.blocks
        )
        yield replace(section, title=f"{name}: {section.title}", blocks=blocks)
