"""The analysis of a study of two systems: what it decides, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.comparisons import ComparisonFamily, FamilyOfTests
from humeval_power.errors import InputError
from humeval_power.inference.looks.stagewise import StagewiseResult, stagewise_inference
from humeval_power.inference.study.adjustment import Adjustment
from humeval_power.inference.study.intervals import Intervals
from humeval_power.inference.study.many_systems import CorrectedP
from humeval_power.inference.study.wald import EffectTest
from humeval_power.planning.analyze import Deviation, LooksTaken, PowerAtInterest
from humeval_power.planning.monitor.step import estimates, taken_boundaries
from humeval_power.planning.power import PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.analysis_content import analysis_content, looks_content
from humeval_power.reporting.analyze.deviations import deviations_section
from humeval_power.reporting.analyze.exclusions import (
    WithAndWithout,
    exclusion_content,
    exclusion_section,
)
from humeval_power.reporting.analyze.family import ComparisonRow, comparison_row, family_words
from humeval_power.reporting.analyze.independence import (
    study_independence_content,
    study_independence_section,
)
from humeval_power.reporting.answer_words import (
    estimated_words,
    interval_in_points,
    on_scale,
    possible_words,
    share_words,
)
from humeval_power.reporting.document import Block, Document, Paragraph, Points, Section, Table
from humeval_power.reporting.numbers import counted, interval_words, p_words
from humeval_power.reporting.records import ANALYSIS_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.row_flow import left_out_notice
from humeval_power.reporting.rule_words import PARITY, margin_decision
from humeval_power.reporting.study.fits.adjustment import adjustment_sections
from humeval_power.reporting.study.fits.family_words import family_remarks
from humeval_power.reporting.study.fits.fit_blocks import (
    AnyFit,
    effect_section,
    fit_notes,
    further_sections,
    parameter_blocks,
)
from humeval_power.rules import DecisionRule, claim

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

    from humeval_power.inference.analyze.diagnostics import Diagnostics
    from humeval_power.inference.study.family_check import FamilyCheck


@dataclass(frozen=True, kw_only=True)
class AnalysisResult(Result):
    """The fit and the test of two systems, held against the plan.

    `ranges` are the parameters' intervals, `size` the simulated size of the test where workers are few,
    `interest` the power at the difference that would matter, `deviations` None without a plan. `plan` names the
    plan's file and checksum. `check` is the test of the same ratings as categories, where it was asked for.
    `exclusion` is what rules for leaving out workers changed, None without rules.
    `diagnostics` are None where they were not asked for, or there is no test. `corrected_p` is the p-value after
    the correction of a family of `tests`, of which this is one, and then decides; both are None for a single test.
    """

    schema: ClassVar[str] = ANALYSIS_SCHEMA

    ratings: Ratings
    fitted: AnyFit
    tested: EffectTest
    ranges: Intervals
    agreement: Record
    size: PowerEstimate | None = None
    interest: PowerAtInterest | None = None
    deviations: tuple[Deviation, ...] | None = None
    looks: LooksTaken | None = None
    plan: Record | None = None
    diagnostics: Diagnostics | None = None
    adjustment: Adjustment | None = None
    check: FamilyCheck | None = None
    exclusion: WithAndWithout | None = None
    corrected_p: float | None = None
    tests: FamilyOfTests | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @cached_property
    def sequential(self) -> StagewiseResult | None:
        """The inference that takes the looks into account, None for a study with one test."""
        if self.looks is None:
            return None
        return stagewise_inference(estimates(self.looks.of_two), taken_boundaries(self.looks.of_two))

    @property
    def p_values(self) -> tuple[float, ...]:
        """The one raw p-value."""
        return (self.tested.p_value,)

    @property
    def check_p_values(self) -> tuple[float, ...]:
        """The same: two systems have no check by other variances."""
        return self.p_values

    @property
    def other_p_values(self) -> tuple[float, ...]:
        """Its own: there is no other model of two systems."""
        return self.p_values

    def check_family(self, family: ComparisonFamily) -> None:
        """Refuse to be one of several tests after looks, whose boundaries decide alone.

        Raises
        ------
        InputError
            A study with looks.
        """
        if self.looks is not None and family.correction != "none":
            raise InputError(
                f"{self.ratings.source}: a study with looks is decided by its boundaries; analyse it by itself."
            )

    def recorrected(self, tests: FamilyOfTests, corrected: CorrectedP) -> AnalysisResult:
        """The result as one of several tests, with the p-value that was corrected over them."""
        return replace(self, tests=tests, corrected_p=corrected.p_values[0])

    @property
    def significant(self) -> bool:
        """Whether the test is significant: after the correction, where it is one of several."""
        if self.corrected_p is None:
            return self.tested.significant
        return self.corrected_p <= self.tested.rule.alpha

    @property
    def decision(self) -> str:
        """What is shown, in a sentence."""
        (a, b), tested, scale, rule = (
            self.ratings.system_names,
            self.tested,
            self.ratings.scale,
            self.tested.rule,
        )
        if tested.reason:
            return f"Nothing is decided: {tested.reason}. Nothing is shown, and nothing is excluded."
        p, estimate, interval = p_words(tested.p_value), tested.estimate, tested.interval
        shown, level = self.significant, f"{100 * rule.confidence:g} % interval"
        if self.tests is not None and self.corrected_p is not None:
            p, level = f"{p_words(self.corrected_p)} {family_words(self.tests)}", f"uncorrected {level}"
        if rule.margin is not None:
            if tested.significant and not shown:
                noun = claim(rule)
                return f"{noun[0].upper()}{noun[1:]} of {b} and {a} is not shown: {p}. {PARITY}"
            text = margin_decision(rule, (a, b), interval=interval, shown=shown, scale=scale)
            corrected = "" if self.corrected_p is None else f" ({p}.)"
            return f"{text}{'' if self.deviations is not None else f' {PARITY}'}{corrected}"
        if self.looks is not None and self.sequential is not None:
            found = self.sequential
            p, estimate, interval = (
                f"{p_words(found.p_value)} over all looks",
                found.estimate,
                found.interval,
            )
            shown = self.looks.shown
        if shown:
            better, worse = (b, a) if estimate > 0 else (a, b)
            reach = interval_in_points(interval if estimate > 0 else (-interval[1], -interval[0]), scale)
            return (
                f"{better} is better than {worse} by {estimated_words(estimate, scale)} {on_scale(scale)} "
                f"({level} {reach}; {p})."
            )
        nothing = f"No difference is shown between {a} and {b}"
        if rule.alternative == "greater":
            nothing = f"{b} is not shown to be better than {a}"
        return f"{nothing} ({p}): {b} may be {possible_words(interval, scale)} {on_scale(scale)} ({level})."

    def body(self) -> Document:
        """The decision, the effect, what differs from the plan, and what there is to mind."""
        a, b = self.ratings.system_names
        criterion = f": {self.ratings.criterion}" if self.ratings.criterion else ""
        notes = (
            *fit_notes(self.ratings, self.fitted, self.tested, self.size),
            *(family_remarks(self.ratings, self.tested, self.check) if self.check is not None else ()),
        )
        parameters = parameter_blocks(self.ratings, self.fitted, self.ranges)
        sections = [
            Section(f"Effect {b} - {a}", tuple(self._effect())),
            *adjustment_sections(self.adjustment, self.tested, self.ratings.scale),
            *exclusion_section((self.exclusion, self.rows)),
            *deviations_section(self.deviations),
            *([Section("Notes", (Points(notes),))] if notes else []),
            Section("Agreement of workers", (_agreement(self.agreement),)),
            study_independence_section(self.ratings),
            Section("Parameters", parameters, is_detail=True),
            *further_sections(self.ratings, self.fitted),
        ]
        if self.diagnostics is not None:
            from humeval_power.reporting.analyze.diagnostics import diagnostic_blocks

            linear = [Paragraph(_LINEAR)] if self.tested.rule.is_latent else []
            blocks = (*linear, *diagnostic_blocks(self.diagnostics, self.ratings))
            sections.append(Section("Diagnostics", blocks, is_detail=True))
        return Document(
            f"Analysis of {a} and {b}{criterion}",
            lead=self.decision,
            caveats=(*rehearsal_notices(self.ratings.worker_names), *left_out_notice(self.ratings.flow)),
            sections=tuple(sections),
        )

    def _effect(self) -> Iterator[Block]:
        if self.looks is not None and self.sequential is not None:
            yield Paragraph(_looks(self.looks, self.sequential))
        fitted = self.fitted
        yield Paragraph(
            f"{self.ratings.source}: {fitted.n_ratings:,} ratings, {fitted.n_workers:,} workers, "
            f"{fitted.n_items:,} items."
        )
        interest = self.interest
        effect = None if interest is None else interest.effect
        yield from effect_section(self.ratings, fitted, self.tested, interest=effect).blocks
        if self.tests is not None and self.corrected_p is not None and not self.tested.reason:
            yield Paragraph(
                f"Corrected {p_words(self.corrected_p)}, {family_words(self.tests)}; it decides. The p-value of "
                "the test, its interval and the picture are those of this criterion alone."
            )
        if interest is not None:
            yield Paragraph(_interest(interest, self.tested.rule))

    def content(self) -> Record:
        """All that is kept of a fit, and what only a finished study has."""
        record = analysis_content(
            self.ratings,
            self.fitted,
            self.tested,
            size=self.size,
            check=self.check,
            interest=self.interest,
            deviations=self.deviations,
            agreement=self.agreement,
            plan=self.plan,
            adjustment=self.adjustment,
            corrected_p=self.corrected_p,
            tests=self.tests,
            sequential=None
            if self.looks is None or self.sequential is None
            else looks_content(self.looks, self.sequential),
        )
        independence = study_independence_content(self.ratings)
        return {**record, **exclusion_content(self.exclusion, self.rows), "independence": independence}

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """The comparison in short; a single test needs no correction."""
        p = self.tested.p_value if self.corrected_p is None else self.corrected_p
        a, b = self.ratings.system_names
        return (comparison_row(self.ratings.criterion, (a, b), self.tested, p),)

    def to_frame(self) -> pd.DataFrame:
        """One row: the comparison with its estimate, standard error, interval, df and p-value."""
        import pandas as pd

        row = asdict(self.rows[0])
        if self.corrected_p is None:
            del row["corrected_p_value"], row["significant"]
        return pd.DataFrame([row])


_LINEAR = (
    "Predictions, residuals and the effect without each worker are those of the linear mixed model of the same "
    "ratings on [0, 1]: a check of the data, beside the test of the categories."
)


def _agreement(agreement: Record) -> Block:
    """Agreement overall, in a row for each measure that is defined."""
    rows = []
    for one in cast(list[dict[str, Any]], agreement["between"]):
        if one["value"] is not None and " within " not in one["measure"]:
            low, high = one["interval"] or (math.nan, math.nan)
            reach = "" if math.isnan(low + high) else interval_words(low, high, digits=2)
            rows.append((one["measure"], f"{one['value']:.2f}", reach))
    if not rows:
        return Paragraph("Not defined for this table.")
    return Table(("measure", "value", "95 % interval"), tuple(rows))


def _interest(interest: PowerAtInterest, rule: DecisionRule) -> str:
    finds = "finds it" if rule.margin is None else f"shows {claim(rule)}"
    told = (
        f"If the true difference is {interest.effect:g}, a study of this design {finds} with probability "
        f"{interest.fitted:.2f} at these ratings' variances"
        + ("" if interest.planned is None else f", {interest.planned:.2f} at those the plan assumed")
        + ("." if interest.promised is None else f"; the plan promised {interest.promised:.2f}.")
    )
    if rule.margin is None and math.isfinite(interest.type_m):
        told += (
            f" A significant result here would then exaggerate it {interest.type_m:.2f} times on average, and "
            f"have the wrong sign in {share_words(interest.type_s)} of such studies."
        )
    return told


def _looks(looks: LooksTaken, found: StagewiseResult) -> str:
    last = looks.of_two.looks[-1]
    return (
        f"{counted(len(looks.state.looks), 'look')} taken ({looks.state.rule.efficacy}); the last one "
        f"{'passed its boundary' if looks.shown else 'did not pass its boundary'} "
        f"({p_words(last.data.p_value)}, needed {last.nominal:.5f}). "
        "Taking the looks into account (stage-wise ordering): "
        f"{p_words(found.p_value)}, median-unbiased estimate {found.estimate:.4f}, "
        f"{100 * found.confidence:g} % interval {interval_words(*found.interval)}. "
        "Report these; the plain ones below ignore that the study could have stopped earlier."
    )
