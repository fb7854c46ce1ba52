"""The analysis of a study: what it decides, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from humeval_power.checking.rehearsed import lead_of, rehearsal_notices
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.rules import ComparisonFamily, DecisionRule, FamilyOfTests, claim
from humeval_power.saying.answer_words import decided_words, in_points_too, points_words, share_words
from humeval_power.saying.clustered_words import independence_record, independence_section
from humeval_power.saying.document import Block, Document, Facts, Paragraph, Points, Section
from humeval_power.saying.numbers import counted, interval_words, level_of, p_words
from humeval_power.saying.result import ANALYSIS_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import left_out_notice
from humeval_power.saying.rule_words import PARITY, margin_decision
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import (
    ComparisonRow,
    Deviation,
    LooksTaken,
    PowerAtInterest,
    analysis_content,
    comparison_row,
    family_words,
    looks_content,
    shown_by,
    systems_content,
)
from humeval_power.studies.analyze.findings import (
    CriterionFindings,
    check_remarks,
    findings_files,
    findings_frame,
)
from humeval_power.studies.analyze.result_conditions import (
    WithAndWithout,
    deviations_content,
    deviations_section,
    exclusion_content,
    exclusion_section,
    not_applied_remarks,
    study_independence,
)
from humeval_power.studies.analyze.result_ranking import Ranking, agreement_blocks, notes
from humeval_power.studies.fit.fit_blocks import (
    AnyFit,
    effect_section,
    fit_notes,
    further_sections,
    parameter_blocks,
    tested_words,
)
from humeval_power.studies.fit.fit_result import adjustment_sections, family_remarks
from humeval_power.studies.fit.intervals import Intervals
from humeval_power.studies.fit.many_systems import CorrectedP, SystemsAnalysis, recorrected
from humeval_power.studies.fit.ranks import SimulatedRanks
from humeval_power.studies.fit.wald import Adjustment, EffectTest
from humeval_power.studies.looks.repeated import RepeatedResult, at_the_end
from humeval_power.studies.looks.stagewise import StagewiseResult
from humeval_power.studies.looks.stopping_rule import boundary_words
from humeval_power.studies.monitor.dropping import DroppingMonitoring, best_sentence
from humeval_power.studies.monitor.followed import over_looks
from humeval_power.studies.monitor.result import (
    DECISIONS,
    drop_blocks,
    dropping_record,
    over_record,
    repeated_words,
    result_blocks,
)
from humeval_power.studies.monitor.step import rating_inference
from humeval_power.studies.monitor.systems import SystemsMonitoring
from humeval_power.studies.power.estimate import PowerEstimate

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.studies.analyze.diagnostics import Diagnostics, JointDiagnostics
    from humeval_power.studies.fit.over_pool import OverPool
    from humeval_power.studies.fit.wald import FamilyCheck


@dataclass(frozen=True, slots=True, eq=False)
class PairDetail:
    """What is known of one comparison by a fit of its own.

    `ranges` are the parameters' intervals, `size` the simulated size of the test where workers are few, `interest`
    the power at the difference that would matter, `adjustment` what documents and covariates change, `check` the
    test of the same ratings as categories, where it was asked for.
    """

    ranges: Intervals
    size: PowerEstimate | None = None
    interest: PowerAtInterest | None = None
    adjustment: Adjustment | None = None
    check: FamilyCheck | None = None


@dataclass(frozen=True, kw_only=True)
class AnalysisResult(Result):
    """The comparisons of a study, one of two systems and all that were asked for of several, held against the plan.

    `analysis` has the fits and tests, `agreement` is that of the workers. `deviations` are None without a plan;
    `plan` names its file and checksum. `exclusion` is what rules for leaving out workers changed, None without
    rules. `over_pool` is what it says of the pool that items were drawn from, None without one. `looks` are those
    that decided, None for one test at the end. `diagnostics` are None where they were not asked for, or there is
    nothing to diagnose. Of two systems there is the `detail` of their comparison; of several the simulated `ranks`,
    and the `order` of tables and pictures where it is not that of the means.
    """

    schema: ClassVar[str] = ANALYSIS_SCHEMA

    ratings: Ratings
    analysis: SystemsAnalysis
    agreement: Record
    detail: PairDetail | None = None
    ranks: SimulatedRanks | None = None
    order: tuple[str, ...] = ()
    diagnostics: Diagnostics | JointDiagnostics | None = None
    deviations: tuple[Deviation, ...] | None = None
    looks: LooksTaken | None = None
    plan: Record | None = None
    exclusion: WithAndWithout | None = None
    over_pool: OverPool | None = None
    provenance: Provenance = UNKNOWN

    @cached_property
    def ranking(self) -> Ranking | None:
        """What is said of several systems as a whole; None of two."""
        if self.ranks is None:
            return None
        diagnostics = cast("JointDiagnostics | None", self.diagnostics)
        return Ranking(self.ratings, self.analysis, self.ranks, self.order, diagnostics)

    @property
    def tests(self) -> FamilyOfTests | None:
        """Those that were corrected together; None for a single test."""
        tests = self.analysis.tests
        return tests if self.ranks is not None or tests.criteria else None

    @property
    def fitted(self) -> AnyFit:
        """The fit of two systems."""
        return cast(AnyFit, self.analysis.results[0].fit)

    @property
    def tested(self) -> EffectTest:
        """The test of two systems; of several the first."""
        return self.analysis.results[0].test

    @cached_property
    def sequential(self) -> StagewiseResult | RepeatedResult | None:
        """The inference about two systems that takes the looks into account, None for a study with one test."""
        if self.looks is None or self.ranks is not None:
            return None
        return rating_inference(self.looks.of_two)

    @cached_property
    def reported(self) -> EffectTest:
        """The test of two systems; of a study that its intervals stop by the interval that holds over all looks."""
        result = self.sequential
        if self.looks is None or not isinstance(result, RepeatedResult) or self.tested.reason:
            return self.tested
        shown = shown_by(self.looks, result)
        return replace(
            self.tested, p_value=result.p_value, interval=result.interval, significant=shown, p_values=()
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Rules that were not applied, looks that could not be checked, and what decides otherwise."""
        excluded = not_applied_remarks(None if self.exclusion is None else self.exclusion.exclusion)
        unchecked = () if self.looks is None else self.looks.unchecked
        return (
            *excluded,
            *check_remarks(self.analysis.check),
            *check_remarks(self.analysis.other_model),
            *(f"WARNING: {one.actual}." for one in unchecked),
            *self._family_remarks(),
        )

    def _family_remarks(self) -> tuple[str, ...]:
        check = None if self.detail is None else self.detail.check
        return family_remarks(self.ratings, self.tested, check)

    def p_values(self, by: Literal["", "check", "other_model"] = "") -> tuple[float, ...]:
        """The raw p-value of each comparison; or of a check, by the other variances or the other model, where there
        is one."""
        check = getattr(self.analysis, by) if by else None
        results = self.analysis.results if check is None or not check.results else check.results
        return tuple(one.test.p_value for one in results)

    def check_family(self, family: ComparisonFamily) -> None:
        """Refuse to be corrected by another family than several systems were compared by, or after looks.
        Raises InputError: another family, or a study with looks, whose boundaries decide alone."""
        if self.looks is not None and (self.ranks is not None or family.correction != "none"):
            raise InputError(
                f"{self.ratings.source}: a study with looks is decided by its boundaries; analyse it by itself."
            )
        if self.ranks is not None and self.analysis.family != family:
            raise InputError(
                f"{self.ratings.source}: the systems were compared by {self.analysis.family}, and are to be "
                f"corrected by {family}. Take one family for both."
            )

    def recorrected(self, tests: FamilyOfTests, corrected: CorrectedP) -> AnalysisResult:
        """The result with p-values that were corrected over a larger family of tests."""
        return replace(self, analysis=recorrected(self.analysis, tests, corrected))

    def named(self, criterion: str, order: tuple[str, ...]) -> AnalysisResult:
        """The result under a criterion, its systems in this order."""
        return replace(self, order=order, ratings=replace(self.ratings, criterion=criterion))

    @property
    def findings(self) -> CriterionFindings:
        """Of several systems a row for each, as the table, the picture, the record and the frame show it.
        Raises InputError: two systems, which have no ranking."""
        if self.ranking is None:
            raise InputError(
                "Two systems have one comparison and no ranking: see `decision` and `to_frame`."
            )
        return self.ranking.findings

    def findings_frame(self) -> pd.DataFrame:
        """The findings as a table: a row for each system."""
        return findings_frame([self.findings])

    def files(self) -> dict[str, str]:
        """The findings about several systems as a spreadsheet, and as a table for a paper."""
        ranking = self.ranking
        if ranking is None:
            return {}
        notices = rehearsal_notices(self.ratings.worker_names)
        return findings_files([ranking.findings], self.analysis.tests, notices=notices)

    @property
    def decision(self) -> str:
        """What is shown, in a sentence."""
        decided = self._decision_of_two() if self.ranking is None else self.ranking.decision
        return decided if self.over_pool is None else f"{decided} {self.over_pool.sentence}"

    @property
    def _corrected_p(self) -> float:
        return self.analysis.results[0].corrected_p

    @property
    def _is_significant(self) -> bool:
        """Whether the test of two systems is: after the correction, where it is one of several."""
        comparison = self.analysis.results[0]
        return comparison.test.significant if self.tests is None else comparison.significant

    def _decision_of_two(self) -> str:
        a, b = self.ratings.system_names
        tested, scale, rule = self.tested, self.ratings.scale, self.tested.rule
        if tested.reason:
            return f"Nothing is decided: {tested.reason}. Nothing is shown, and nothing is excluded."
        p, estimate, interval = p_words(tested.p_value), tested.estimate, tested.interval
        shown, level = self._is_significant, f"{level_of(rule.confidence)} interval"
        if self.tests is not None:
            p, level = f"{p_words(self._corrected_p)} {family_words(self.tests)}", f"uncorrected {level}"
        if rule.margin is not None and self.looks is not None and self.sequential is not None:
            rule = at_the_end(rule)  # by the interval of the looks, which has confidence 1 - alpha
            interval, shown = self.sequential.interval, shown_by(self.looks, self.sequential)
        elif rule.margin is not None and tested.significant and not shown:
            noun = claim(rule)
            return f"{noun[0].upper()}{noun[1:]} of {b} and {a} is not shown: {p}. {PARITY}"
        if rule.margin is not None:
            text = margin_decision(rule, (a, b), interval=interval, shown=shown, scale=scale)
            corrected = "" if self.tests is None else f" ({p}.)"
            return f"{text}{'' if self.deviations is not None else f' {PARITY}'}{corrected}"
        if self.looks is not None and self.sequential is not None:
            sequential = self.sequential
            p, estimate, interval = (
                f"{p_words(sequential.p_value)} over all looks",
                sequential.estimate,
                sequential.interval,
            )
            shown = shown_by(self.looks, sequential)
        ends = (estimate, *interval)
        return decided_words((a, b), ends, scale, rule.alternative, shown=shown, p=p, level=level)

    def body(self) -> Document:
        """The findings, what differs from the plan, what there is to mind, and in detail how it was found."""
        ranking, names = self.ranking, self.ratings.system_names
        criterion = f": {self.ratings.criterion}" if self.ratings.criterion else ""
        if ranking is None:
            assert self.detail is not None
            a, b = names
            title = f"Analysis of {a} and {b}{criterion}"
            findings = [
                Section(f"Effect {b} - {a}", tuple(self._effect(self.detail.interest))),
                *adjustment_sections(self.detail.adjustment, self.tested, self.ratings.scale),
            ]
            further = [*self._fit_sections(self.detail)]
            said = (
                *fit_notes(self.ratings, self.fitted, self.tested, self.detail.size),
                *self._family_remarks(),
            )
        else:
            title = f"Comparison of {counted(len(names), 'system')}{criterion}"
            differences, *further = ranking.detail_sections()
            findings = [Section("Findings", tuple(ranking.blocks()))]
            if self.looks is not None:
                findings.append(Section("Looks", tuple(self._looks_at_several(self.looks.of_several))))
            if ranking.is_long:
                further.insert(0, differences)
            else:
                findings.insert(1, replace(differences, is_detail=False))
            said = tuple(notes(self.analysis, ranking.pairs, ranking.called))
        sections = (
            *findings,
            *(() if self.over_pool is None else self.over_pool.section(self._names)),
            *exclusion_section((self.exclusion, self.rows)),
            *deviations_section(self.deviations),
            Section("Notes", (Points(said),) if said else ()),
            Section("Agreement of workers", tuple(agreement_blocks({"": self.agreement}))),
            independence_section(study_independence(self.ratings)),
            *further,
        )
        return Document(
            title,
            lead=lead_of(self.ratings.worker_names, self.decision),
            caveats=(*rehearsal_notices(self.ratings.worker_names), *left_out_notice(self.ratings.flow)),
            sections=tuple(each for each in sections if each.blocks),
        )

    def _fit_sections(self, detail: PairDetail) -> Iterator[Section]:
        parameters = parameter_blocks(self.ratings, self.fitted, detail.ranges)
        yield Section("Parameters", parameters, is_detail=True)
        yield from further_sections(self.ratings, self.fitted)
        if self.diagnostics is not None:
            from humeval_power.studies.analyze.result_diagnostics import diagnostic_blocks

            diagnostics = cast("Diagnostics", self.diagnostics)
            linear = [Paragraph(_LINEAR)] if self.tested.rule.is_latent else []
            blocks = (*linear, *diagnostic_blocks(diagnostics, self.ratings))
            yield Section("Diagnostics", blocks, is_detail=True)

    def _looks_at_several(self, state: SystemsMonitoring) -> Iterator[Block]:
        """What was shown of several systems when."""
        n, scale = len(state.looks), self._declared_scale
        yield Paragraph(f"{counted(n, 'look')} taken ({state.rule}). {DECISIONS[state.last.decision]}")
        if isinstance(state, DroppingMonitoring):
            yield Paragraph(best_sentence(state))
            yield from drop_blocks(state, scale)
        else:
            yield from result_blocks(over_looks(state), n, scale)

    def _effect(self, interest: PowerAtInterest | None) -> Iterator[Block]:
        if self.looks is not None and self.sequential is not None:
            yield Paragraph(self._looks_words(self.looks, self.sequential))
        fitted = self.fitted
        yield Paragraph(
            f"{self.ratings.source}: {fitted.n_ratings:,} ratings, {fitted.n_workers:,} workers, "
            f"{fitted.n_items:,} items."
        )
        effect = None if interest is None else interest.effect
        if self.reported is self.tested:
            yield from effect_section(self.ratings, fitted, self.tested, interest=effect).blocks
        else:
            yield from self._effect_over_looks(effect)
        if self.tests is not None and not self.tested.reason:
            yield Paragraph(
                f"Corrected {p_words(self._corrected_p)}, {family_words(self.tests)}; it decides. The p-value of "
                "the test, its interval and the picture are those of this criterion alone."
            )
        if interest is not None:
            said = _interest(interest, self.tested.rule, self.ratings.scale)
            least = min(map(abs, self.tested.interval))
            if self.reported is self.tested and self._is_significant and least < abs(interest.effect):
                matters = points_words(interest.effect, self.ratings.scale)
                said += f" The interval goes below {matters}: that the difference is as large is not shown."
            yield Paragraph(said)

    def _effect_over_looks(self, interest: float | None) -> Iterator[Block]:
        """The effect by the interval that holds over all looks, and the test that ignores them."""
        reported, plain, rule = self.reported, self.tested, self.tested.rule
        by_interval = replace(reported, rule=at_the_end(rule))
        alone = f"{level_of(rule.confidence)} interval {interval_words(*plain.interval)}"
        facts = (
            ("Test", f"{p_words(reported.p_value)} over all looks"),
            ("Rule", str(rule)),
            ("Without regard to the looks", f"{tested_words(plain)}; {alone}"),
        )
        for block in effect_section(self.ratings, self.fitted, by_interval, interest=interest).blocks:
            yield Facts(facts) if isinstance(block, Facts) else block

    @property
    def _declared_scale(self) -> RatingScale | None:
        """The scale, unless it was read off the ratings."""
        return self.ratings.scale if self.ratings.scale.source == "declared" else None

    def _looks_words(self, looks: LooksTaken, result: StagewiseResult | RepeatedResult) -> str:
        a, b = self.ratings.system_names
        scale, state = self._declared_scale, looks.of_two
        taken, last = f"{counted(len(state.looks), 'look')} taken", state.last
        if isinstance(result, RepeatedResult):
            return (
                f"{taken} ({state.rule_words}). {DECISIONS[last.decision]} "
                f"{repeated_words(result, (a, b), scale)}. Report these numbers: these hold at all looks together, "
                "those without regard to the looks do not."
            )
        level = f"{level_of(result.confidence)} interval {{}}"
        found = in_points_too(result.estimate, result.interval, scale, interval_is=level)
        passed = "passed its boundary" if looks.shown else "did not pass its boundary"
        return (
            f"{taken} ({boundary_words(state.rule.efficacy)}); the last one {passed} "
            f"({p_words(last.data.p_value)}, needed "
            f"{last.nominal:.5f}). Taking the looks into account (stage-wise ordering): "
            f"{p_words(result.p_value)}, median-unbiased estimate {found}. Report these; the plain ones below "
            "ignore that the study could have stopped earlier."
        )

    def content(self) -> Record:
        """The fits, the comparisons on [0, 1], and what only a finished study has."""
        detail, ranking, looks = self.detail, self.ranking, self.looks
        if ranking is not None:
            record = {
                **systems_content(self.ratings, self.analysis, agreement=self.agreement),
                **ranking.content(),
                **deviations_content(self.deviations, self.plan),
            }
            if looks is not None:
                state = looks.of_several
                record["looks"] = {
                    "ledger": Path(looks.ledger).name,
                    "rule": str(state.rule),
                    "correction": state.correction,
                    "decision": state.last.decision,
                    "looks": [asdict(look) for look in state.looks],
                    "inference": [over_record(one) for one in over_looks(state)],
                    **(dropping_record(state) if isinstance(state, DroppingMonitoring) else {}),
                }
        else:
            assert detail is not None
            sequential = None
            if looks is not None and self.sequential is not None:
                sequential = looks_content(looks, self.sequential)
            record = analysis_content(
                self.ratings,
                self.fitted,
                self.reported,
                plain=None if self.reported is self.tested else self.tested,
                size=detail.size,
                check=detail.check,
                interest=detail.interest,
                adjustment=detail.adjustment,
                deviations=self.deviations,
                agreement=self.agreement,
                plan=self.plan,
                corrected_p=None if self.tests is None else self._corrected_p,
                tests=self.tests,
                sequential=sequential,
            )
        independence = independence_record(study_independence(self.ratings))
        if self.over_pool is not None:
            record = {**record, "pool": self.over_pool.content(self._names)}
        return {**record, **exclusion_content(self.exclusion, self.rows), "independence": independence}

    @property
    def _names(self) -> tuple[str, ...]:
        """What the comparisons are called."""
        return tuple(f"{one.second} - {one.first}" for one in self.analysis.results)

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """Each comparison in short."""
        if self.reported is self.tested:
            return comparison_rows(self.ratings.criterion, self.analysis)
        a, b = self.ratings.system_names
        return (comparison_row(self.ratings.criterion, (a, b), self.reported, self.reported.p_value),)

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison: its estimate, standard error, interval, df and p-value."""
        import pandas as pd

        rows = [asdict(row) for row in self.rows]
        if self.tests is None:
            for row in rows:
                del row["corrected_p_value"], row["significant"]
        return pd.DataFrame(rows)


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


_LINEAR = (
    "Predictions, residuals and the effect without each worker are those of the linear mixed model of the same "
    "ratings on [0, 1]: a check of the data, beside the test of the categories."
)


_HARDLY = 1.01  # times that an estimate exaggerates, which is not worth a number


def _interest(interest: PowerAtInterest, rule: DecisionRule, scale: RatingScale) -> str:
    finds = "finds it" if rule.margin is None else f"shows {claim(rule)}"
    text = (
        f"If the true difference is {points_words(interest.effect, scale)}, a study of this design {finds} with "
        f"probability {interest.fitted:.2f} at these ratings' variances"
        + ("" if interest.planned is None else f", {interest.planned:.2f} at those the plan assumed")
        + ("." if interest.promised is None else f"; the plan said {interest.promised:.2f}.")
    )
    if rule.margin is None and math.isfinite(interest.type_m):
        exaggerates = f"{interest.type_m:.2f} times on average"
        if interest.type_m < _HARDLY:
            exaggerates = "by less than 1 % on average"
        text += (
            f" A significant result here would then exaggerate it {exaggerates}, and have the wrong sign in "
            f"{share_words(interest.type_s)} of such studies."
        )
    return text
