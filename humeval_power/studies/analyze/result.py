"""The analysis of a study of two systems: what it decides, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.errors import InputError
from humeval_power.exclusions import rule_words
from humeval_power.families import ComparisonFamily, FamilyOfTests
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import decided_words, share_words
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.clustered_words import Independence, independence_record, independence_section
from humeval_power.saying.document import Block, Document, Drawing, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, interval_words, p_cell, p_words
from humeval_power.saying.result import ANALYSIS_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import left_out_notice
from humeval_power.saying.rule_words import PARITY, margin_decision
from humeval_power.studies.analyze.against_plan import Deviation, LooksTaken, PowerAtInterest
from humeval_power.studies.analyze.family import (
    ComparisonRow,
    analysis_content,
    comparison_row,
    family_words,
    looks_content,
)
from humeval_power.studies.field.exclusion_words import rule_lines
from humeval_power.studies.field.worker_quality import WorkerExclusion
from humeval_power.studies.fit.fit_blocks import (
    AnyFit,
    effect_section,
    fit_notes,
    further_sections,
    parameter_blocks,
)
from humeval_power.studies.fit.fit_result import adjustment_sections, family_remarks
from humeval_power.studies.fit.intervals import Intervals
from humeval_power.studies.fit.many_systems import CorrectedP
from humeval_power.studies.fit.wald import Adjustment, EffectTest
from humeval_power.studies.looks.stagewise import StagewiseResult, stagewise_inference
from humeval_power.studies.monitor.step import estimates, taken_boundaries
from humeval_power.studies.power.estimate import PowerEstimate

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.studies.analyze.diagnostics import Diagnostics
    from humeval_power.studies.fit.latent_effects import FamilyCheck


# What differs from a plan, in words and as a record.


def deviations_section(deviations: Sequence[Deviation] | None) -> Iterator[Section]:
    """Each deviation, or that there is none; nothing without a plan."""
    if deviations is None:
        return
    found = tuple(f"{one.what}: planned {one.planned}; found {one.actual}" for one in deviations)
    yield Section("Deviations from the plan", (Points(found) if found else Paragraph("None."),))


def deviations_content(deviations: Sequence[Deviation] | None, plan: Record | None) -> Record:
    """The same for a record, with the plan that was followed; nothing without one."""
    if deviations is None:
        return {}
    followed = {} if plan is None else {"plan": plan}
    return {"deviations": [asdict(one) for one in deviations], **followed}


# The result with and without the workers whom rules leave out: counts, and the effect with its interval.

SEALED = "These rules were sealed in the plan."
NOT_SEALED = (
    "NOT SEALED: these rules were in no plan before the ratings were seen, so that they may "
    "follow the result."
)
TITLE = "With and without the workers left out"
_MOST_SHOWN = 30  # comparisons in text


@dataclass(frozen=True, slots=True, eq=False)
class WithAndWithout:
    """What rules for leaving out workers changed.

    `workers` and `ratings` are numbers (with the rules, without them). `without` are the comparisons of the same
    analysis of all workers, in the order of the comparisons that lead; their p-values are not corrected.
    """

    exclusion: WorkerExclusion
    workers: tuple[int, int]
    ratings: tuple[int, int]
    without: tuple[ComparisonRow, ...]

    @classmethod
    def of(
        cls, exclusion: WorkerExclusion, kept: Ratings, whole: Ratings, without: Sequence[ComparisonRow]
    ) -> WithAndWithout:
        """Of the ratings that stay and of all."""
        return cls(
            exclusion,
            (kept.n_workers, whole.n_workers),
            (kept.n_ratings, whole.n_ratings),
            tuple(without),
        )


def exclusion_section(
    *parts: tuple[WithAndWithout | None, Sequence[ComparisonRow]],
) -> Iterator[Section]:
    """What each rule does, and every comparison both ways; nothing without rules.

    parts : what the rules changed, and the comparisons that lead; of each criterion where there are several.
    """
    known = [(found, rows) for found, rows in parts if found is not None]
    if known:
        yield Section(TITLE, tuple(_blocks(known)))


def _blocks(parts: Sequence[tuple[WithAndWithout, Sequence[ComparisonRow]]]) -> Iterator[Block]:
    first = parts[0][0]
    yield Paragraph(f"{counts_sentence(first)} {SEALED if first.exclusion.sealed else NOT_SEALED}")
    yield Points(tuple(rule_lines(first.exclusion)))
    lines = [
        (one, other, found) for found, rows in parts for one, other in zip(rows, found.without, strict=True)
    ]
    yield _one_table(*lines[0]) if len(lines) == 1 else _several_table(lines[:_MOST_SHOWN])
    yield _drawing(lines[:_MOST_SHOWN])
    if len(lines) > _MOST_SHOWN:
        yield Paragraph(f"The other {len(lines) - _MOST_SHOWN:,} comparisons stand in the record.")
    several = " These p-values are not corrected for several tests." if len(lines) > 1 else ""
    yield Paragraph(f"The first of each two lines is the result.{several}")


def counts_sentence(found: WithAndWithout) -> str:
    """'The rules leave out 2 of 12 workers (120 of 720 ratings).'"""
    workers, ratings = found.workers[1] - found.workers[0], found.ratings[1] - found.ratings[0]
    if not workers:
        return f"The rules leave out none of {counted(found.workers[1], 'worker')}."
    return (
        f"The rules leave out {workers:,} of {counted(found.workers[1], 'worker')} ({ratings:,} of "
        f"{counted(found.ratings[1], 'rating')})."
    )


def _drawing(lines: Sequence[tuple[ComparisonRow, ComparisonRow, WithAndWithout]]) -> Drawing:
    """Each comparison with the rules, and below it without."""
    rows = EstimateRows(
        tuple(
            EstimateRow(_named(row) if not without else "", row.estimate, row.low, row.high, without)
            for one, other, _ in lines
            for row, without in ((one, False), (other, True))
        ),
        nouns="comparisons",
        x_label="Difference on [0, 1]",
        usual_label="with the rules: the result",
        marked_label="without: all workers",
        is_ordered=False,
    )
    return rows.drawing(
        "exclusions",
        title="What do the rules change?",
        words="Each difference with its interval, with the rules and below it without them.",
        width=4.6,
        has_numbers=False,
    )


def _one_table(one: ComparisonRow, other: ComparisonRow, found: WithAndWithout) -> Table:
    """One comparison both ways, with its counts."""
    rows = [
        (name, f"{found.workers[place]:,}", f"{found.ratings[place]:,}", *_effect(row))
        for place, (name, row) in enumerate((("with the rules", one), ("without", other)))
    ]
    heads = (f"{one.second} - {one.first}", "workers", "ratings", "estimate", "interval", "p")
    return Table(heads, tuple(rows))


def _several_table(lines: Sequence[tuple[ComparisonRow, ComparisonRow, WithAndWithout]]) -> Table:
    """Comparisons both ways."""
    rows = [
        (_named(row), name, *_effect(row))
        for one, other, _ in lines
        for name, row in (("with", one), ("without", other))
    ]
    return Table(("comparison", "rules", "estimate", "interval", "p"), tuple(rows))


def _named(row: ComparisonRow) -> str:
    criterion = f"{row.criterion}: " if row.criterion else ""
    return f"{criterion}{row.second} - {row.first}"


def _effect(row: ComparisonRow) -> tuple[str, str, str]:
    return f"{row.estimate:+.4f}", interval_words(row.low, row.high), p_cell(row.p_value)


def exclusion_content(found: WithAndWithout | None, rows: Sequence[ComparisonRow]) -> Record:
    """The same for a record; nothing without rules."""
    if found is None:
        return {}
    exclusion, names = found.exclusion, ("with_rules", "without_rules")
    return {
        "worker_exclusion": {
            "rules": str(exclusion.rules),
            "sealed": exclusion.sealed,
            "by_rule": [
                {
                    "rule": one.name,
                    "limit": one.limit,
                    "words": rule_words(one.name, one.limit),
                    "applied": not one.missing_columns,
                    "missing_columns": list(one.missing_columns),
                    "workers": int(one.broken.sum()),
                    "unknown": int(one.unknown.sum()),
                }
                for one in exclusion.outcomes
            ],
            "workers": dict(zip(names, found.workers, strict=True)),
            "ratings": dict(zip(names, found.ratings, strict=True)),
            "comparisons": [
                {
                    "criterion": one.criterion,
                    "first": one.first,
                    "second": one.second,
                    **{
                        name: {
                            "estimate": row.estimate,
                            "interval": [row.low, row.high],
                            "p_value": row.p_value,
                        }
                        for name, row in zip(names, (one, other), strict=True)
                    },
                }
                for one, other in zip(rows, found.without, strict=True)
            ],
        }
    }


def exclusion_deviations(exclusion: WorkerExclusion | None, planned: str) -> tuple[Deviation, ...]:
    """Rules that were not applied, and rules that the plan does not have."""
    if exclusion is None:
        return ()
    found = [
        Deviation(
            "rule for leaving out workers",
            f"{one.name}={one.limit:g}",
            f"not applied: the table has no column {' and '.join(one.missing_columns)}",
        )
        for one in exclusion.not_applied
        if exclusion.sealed
    ]
    if not exclusion.sealed:
        found.append(Deviation("rules for leaving out workers", planned or "none", str(exclusion.rules)))
    return tuple(found)


def not_applied_remarks(exclusion: WorkerExclusion | None) -> tuple[str, ...]:
    """A warning for each rule that the table lacks columns for."""
    if exclusion is None:
        return ()
    return tuple(
        f"WARNING: the rule {one.name}={one.limit:g} was not applied, for the table has no column "
        f"{' and '.join(map(repr, one.missing_columns))}."
        for one in exclusion.not_applied
    )


# What was not independent in a study of ratings, and whether its model knows.


def study_independence(ratings: Ratings) -> tuple[Independence, ...]:
    """What ratings share: workers and items always, documents where they are named."""
    return tuple(_answers(ratings))


def study_independence_section(ratings: Ratings) -> Section:
    """The same as a section."""
    return independence_section(study_independence(ratings))


def study_independence_content(ratings: Ratings) -> list[Record]:
    """The same as plain values."""
    return independence_record(study_independence(ratings))


def _answers(ratings: Ratings) -> Iterator[Independence]:
    workers, items = counted(ratings.n_workers, "worker"), counted(ratings.n_items, "item")
    yield Independence(
        "workers",
        "accounted",
        f"Ratings of one worker are alike, and so are those of one item. The model knows {workers} and {items}, "
        "with their levels and with how they differ between systems.",
    )
    if ratings.n_documents:
        yield Independence(
            "items",
            "accounted",
            f"Items of one document are alike. The model knows {counted(ratings.n_documents, 'document')}.",
        )
    else:
        yield Independence(
            "items",
            "assumed",
            "Items count as independent of each other. Where several are sentences of one document, or turns of "
            "one dialogue, they are not: name the column by --document.",
        )


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
        ends = (estimate, *interval)
        return decided_words((a, b), ends, scale, rule.alternative, shown=shown, p=p, level=level)

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
            from humeval_power.studies.analyze.result_diagnostics import diagnostic_blocks

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
