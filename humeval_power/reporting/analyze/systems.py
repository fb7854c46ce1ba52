"""Comparisons of several systems: what they show, and their record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.comparisons import ComparisonFamily, FamilyOfTests
from humeval_power.errors import InputError
from humeval_power.inference.study.many_systems import CorrectedP, SystemsAnalysis, recorrected
from humeval_power.inference.study.ranks import SimulatedRanks
from humeval_power.planning.analyze import Deviation, LooksTaken
from humeval_power.planning.monitor.systems import over_looks
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.analysis_content import systems_content
from humeval_power.reporting.analyze.deviations import deviations_content, deviations_section
from humeval_power.reporting.analyze.estimate_tellings import pair_rows
from humeval_power.reporting.analyze.exclusions import (
    WithAndWithout,
    exclusion_content,
    exclusion_section,
    not_applied_remarks,
)
from humeval_power.reporting.analyze.family import ComparisonRow, comparison_row, family_words
from humeval_power.reporting.analyze.findings import (
    CriterionFindings,
    criterion_findings,
    findings_content,
    findings_files,
    findings_frame,
    findings_table,
    findings_words,
    order_of,
    ranks_content,
)
from humeval_power.reporting.analyze.independence import (
    study_independence_content,
    study_independence_section,
)
from humeval_power.reporting.analyze.several import (
    MORE_PAIRS,
    MOST_PAIRS,
    agreement_blocks,
    correction_words,
    counts_words,
    differences_table,
    model_words,
    names_called,
    notes,
    ranks_table,
    rows_called,
    variance_notes,
)
from humeval_power.reporting.analyze.shown_pairs import ShownPair, shown_pairs
from humeval_power.reporting.analyze.units import Unit
from humeval_power.reporting.analyze.variances import check_remarks, model_remarks, system_sds
from humeval_power.reporting.document import Block, Document, Paragraph, Picture, Points, Section
from humeval_power.reporting.monitor.result import DECISIONS
from humeval_power.reporting.monitor.systems import result_blocks, systems_looks_content
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import ANALYSIS_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.row_flow import left_out_notice
from humeval_power.rules import claim

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

    from humeval_power.inference.analyze.joint_diagnostics import JointDiagnostics


@dataclass(frozen=True, kw_only=True)
class SystemsResult(Result):
    """All comparisons of the systems of a table that were asked for.

    `deviations` are those from the plan, None without one; `plan` names its file and checksum; `exclusion` what
    rules for leaving out workers changed, None without rules.
    `ranks` are simulated, `agreement` is that of the workers. `diagnostics` are None where they were not asked for
    or there is no joint fit. `order` is that of the systems in tables and pictures; empty for the order of their
    means, best first. `looks` are those that decided, None for one test at the end.
    """

    schema: ClassVar[str] = ANALYSIS_SCHEMA

    ratings: Ratings
    analysis: SystemsAnalysis
    ranks: SimulatedRanks
    agreement: Record
    diagnostics: JointDiagnostics | None = None
    order: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] | None = None
    plan: Record | None = None
    exclusion: WithAndWithout | None = None
    looks: LooksTaken | None = None
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings where the other kind of variances, or the other model, decides otherwise."""
        excluded = not_applied_remarks(None if self.exclusion is None else self.exclusion.exclusion)
        checks = (*check_remarks(self.analysis.check), *model_remarks(self.analysis.other_model))
        unchecked = () if self.looks is None else self.looks.unchecked
        return (*excluded, *checks, *(f"WARNING: {one.actual}." for one in unchecked))

    @property
    def p_values(self) -> tuple[float, ...]:
        """The raw p-value of each comparison."""
        return tuple(one.test.p_value for one in self.analysis.results)

    @property
    def check_p_values(self) -> tuple[float, ...]:
        """The same with the other kind of variances; without such a check, its own."""
        check = self.analysis.check
        return (
            tuple(one.test.p_value for one in check.results) if check and check.results else self.p_values
        )

    @property
    def other_p_values(self) -> tuple[float, ...]:
        """The same by the other model; without such a check, its own."""
        other = self.analysis.other_model
        return (
            tuple(one.test.p_value for one in other.results) if other and other.results else self.p_values
        )

    def check_family(self, family: ComparisonFamily) -> None:
        """Refuse to be corrected by another family than the comparisons were chosen by.

        Raises
        ------
        InputError
            Another family, or a study with looks.
        """
        if self.looks is not None:
            raise InputError(
                f"{self.ratings.source}: a study with looks is decided by its boundaries; analyse it by itself."
            )
        if self.analysis.family != family:
            raise InputError(
                f"{self.ratings.source}: the systems were compared by {self.analysis.family}, and are to be "
                f"corrected by {family}. Take one family for both."
            )

    def recorrected(self, tests: FamilyOfTests, corrected: CorrectedP) -> SystemsResult:
        """The result with p-values that were corrected over a larger family of tests."""
        return replace(self, analysis=recorrected(self.analysis, tests, corrected))

    @property
    def decision(self) -> str:
        """Which systems may be the best, or are better than the baseline, and how many differences are shown."""
        results, family, after = (
            self.analysis.results,
            self.analysis.family,
            family_words(self.analysis.tests),
        )
        shown = [one for one in results if one.significant]
        if results[0].test.rule.margin is not None:
            what = claim(results[0].test.rule)
            return f"{what[0].upper()}{what[1:]} is shown in {len(shown)} of {len(results)} comparisons {after}."
        if family.baseline is not None:
            better = sum((one.test.estimate > 0) == (one.first == family.baseline) for one in shown)
            are, worse = "is" if better == 1 else "are", len(shown) - better
            of = f"{better} of {counted(len(results), 'system')}"
            return f"{of} {are} shown to be better than {family.baseline}, {worse} to be worse, {after}."
        are = "is" if len(shown) == 1 else "are"
        differences = f"{len(shown)} of {counted(len(results), 'difference')} {are} shown {after}"
        rows = self.findings.rows
        if not self.findings.has_ranks:
            return f"{differences[0].upper()}{differences[1:]}."
        leader, n_first = order_of(self.analysis)[0], sum(row.rank_low == 1 for row in rows)
        if n_first == 1:
            return f"{leader} is the best of {len(rows)} systems; {differences}."
        of = f"{n_first} of" if n_first < len(rows) else "all"
        return f"{leader} leads, but {of} {len(rows)} systems may be the best; {differences}."

    @property
    def shown_order(self) -> tuple[str, ...]:
        """The systems in the order of tables and pictures."""
        known = set(self.ratings.system_names)
        return tuple(name for name in self.order if name in known) or order_of(self.analysis)

    @property
    def unit(self) -> Unit:
        """What differences and means are shown in; records hold [0, 1]."""
        return Unit(self.ratings.scale)

    @cached_property
    def findings(self) -> CriterionFindings:
        """A row for each system, as the table, the picture, the record and the frame show it."""
        return criterion_findings(self.ratings, self.analysis, self.ranks, self.shown_order)

    @cached_property
    def pairs(self) -> tuple[ShownPair, ...]:
        """The comparisons as they are shown."""
        return shown_pairs(self.analysis, self.unit, self.shown_order)

    def findings_frame(self) -> pd.DataFrame:
        """The findings as a table: a row for each system."""
        return findings_frame([self.findings])

    def files(self) -> dict[str, str]:
        """The findings as a spreadsheet, and as a table for a paper."""
        called = {name: name for name in self.shown_order}
        return findings_files(
            findings_table([self.findings], called=called),
            [self.findings],
            self.analysis.tests,
            notices=rehearsal_notices(self.ratings.worker_names),
        )

    def body(self) -> Document:
        """The findings, what there is to mind, and in detail each difference and how it was found."""
        criterion = f": {self.ratings.criterion}" if self.ratings.criterion else ""
        said = tuple(notes(self.analysis, self.pairs, self.called))
        differences, *further = self.detail_sections()
        sections = [
            Section("Findings", tuple(self._findings())),
            *self._looks(),
            *exclusion_section((self.exclusion, self.rows)),
            *deviations_section(self.deviations),
            *([Section("Notes", (Points(said),))] if said else []),
            Section("Agreement of workers", tuple(agreement_blocks({"": self.agreement}))),
            study_independence_section(self.ratings),
            *further,
        ]
        # where groups do not say them in short they are the findings; a few are shown in any case
        is_detail = bool(self.analysis.groups) and len(self.pairs) > MOST_PAIRS
        sections.insert(-len(further) if is_detail else 1, replace(differences, is_detail=is_detail))
        title = f"Comparison of {counted(self.ratings.n_systems, 'system')}{criterion}"
        return Document(
            title,
            lead=self.decision,
            caveats=(*rehearsal_notices(self.ratings.worker_names), *left_out_notice(self.ratings.flow)),
            sections=tuple(each for each in sections if each.blocks),
        )

    def _looks(self) -> Iterator[Section]:
        """What was shown when."""
        if self.looks is not None:
            state = self.looks.of_several
            n, decision = len(state.looks), DECISIONS[state.looks[-1].decision]
            said = Paragraph(f"{counted(n, 'look')} taken ({state.rule}). {decision}")
            yield Section("Looks", (said, *result_blocks(over_looks(state), n)))

    def detail_sections(self) -> Iterator[Section]:
        """What stands behind the findings: the differences first."""
        yield Section("Differences", tuple(self._differences()), is_detail=True)
        yield Section("Ranks", tuple(self._ranks()), is_detail=True)
        yield Section("How systems differ", tuple(self._variances()), is_detail=True)
        yield Section("Where ratings lie", tuple(self._ceiling()), is_detail=True)
        yield Section("Diagnostics", tuple(self._diagnostics()), is_detail=True)

    def _findings(self) -> Iterator[Block]:
        ratings, analysis = self.ratings, self.analysis
        yield Paragraph(
            f"{ratings.source}: {counts_words(ratings)}; {model_words(ratings, analysis)}; "
            f"{correction_words(analysis)}."
        )
        yield findings_table([self.findings], called=rows_called(self.called))
        yield Picture(
            "ranking",
            self._ranking,
            words="The mean of each system in the order of the table, with groups that tests do not tell apart.",
        )
        more = [f"{len(self.pairs)} differences: {MORE_PAIRS}."] if len(self.pairs) > MOST_PAIRS else []
        yield Points((*findings_words([self.findings], self.analysis.tests), *more))

    @property
    def called(self) -> dict[str, str]:
        """What systems are called in differences: where names are long, their numbers in the order."""
        return names_called(self.order or self.shown_order)

    def _differences(self) -> Iterator[Block]:
        yield Paragraph(f"Differences are {self.unit.words}.")
        yield differences_table(self.pairs, self.unit, self.called)
        yield Picture(
            "heat_map",
            self._heat_map,
            words="Differences of systems and their corrected p-values; the smaller p, the darker the cell.",
        )
        if any(not one.reason for one in self.pairs):
            yield pair_rows(self.pairs, self.unit).drawing(
                "intervals",
                title="How large are the differences?",
                words="The differences with their intervals, largest on top.",
                width=4.6,
            )

    def _ranks(self) -> Iterator[Block]:
        if self.findings.n_draws:
            yield ranks_table(self.findings, rows_called(self.called))

    def _variances(self) -> Iterator[Block]:
        fitted = self.analysis.joint
        if fitted is None:
            return
        yield Points(tuple(variance_notes(self.analysis)))
        if fitted.variances == "own":
            rows = rows_called(self.called)
            yield from system_sds(fitted, {name: rows[name] for name in self.shown_order})

    def _ceiling(self) -> Iterator[Block]:
        from humeval_power.reporting.analyze.ceiling_figure import MOST_SYSTEMS, ceiling_words

        if self.ratings.n_systems > MOST_SYSTEMS:
            return
        yield Paragraph(ceiling_words(self.ratings))
        words = "The share of each system's ratings at the best and at the worst end of the scale."
        yield Picture("ceiling", self._ceiling_figure, words=words)

    def _ceiling_figure(self) -> Figure:
        from humeval_power.reporting.analyze.ceiling_figure import ceiling_figure

        return ceiling_figure(self.ratings, width=4.6)[0]

    def _diagnostics(self) -> Iterator[Block]:
        if self.diagnostics is not None:
            from humeval_power.reporting.analyze.system_diagnostics import system_diagnostic_blocks

            yield from system_diagnostic_blocks(
                self.diagnostics, self.ratings, self.unit, self.shown_order, self.called
            )

    def _ranking(self) -> Figure:
        from humeval_power.reporting.analyze.ranking_figure import ranking_figure

        return ranking_figure([self.findings])

    def _heat_map(self) -> Figure:
        from humeval_power.reporting.analyze.heat_map import heat_map_figure

        return heat_map_figure(
            self.analysis, self.unit, self.shown_order, criterion=self.ratings.criterion
        )[0]

    def content(self) -> Record:
        """The findings, the comparisons on [0, 1], the means, the groups, the ranks and the model."""
        return {
            **systems_content(self.ratings, self.analysis, agreement=self.agreement),
            "findings": findings_content(self.findings),
            "ranks": ranks_content(self.ranks),
            "diagnostics": self._diagnostics_content(),
            **deviations_content(self.deviations, self.plan),
            **exclusion_content(self.exclusion, self.rows),
            **({} if self.looks is None else {"looks": systems_looks_content(self.looks)}),
            "independence": study_independence_content(self.ratings),
        }

    def _diagnostics_content(self) -> Record | None:
        if self.diagnostics is None:
            return None
        from humeval_power.reporting.analyze.system_diagnostics import diagnostics_content

        return diagnostics_content(self.diagnostics, self.ratings, self.unit)

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """Each comparison in short."""
        return comparison_rows(self.ratings.criterion, self.analysis)

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])


def comparison_rows(criterion: str | None, analysis: SystemsAnalysis) -> tuple[ComparisonRow, ...]:
    """Each comparison of an analysis in short."""
    return tuple(
        comparison_row(
            criterion,
            (one.first, one.second),
            one.test,
            one.corrected_p,
            interval=one.simultaneous_interval,
        )
        for one in analysis.results
    )
