"""Whether a judge prefers its own family, long outputs or a place, and how well it agrees with people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.checking.columns import shortened
from humeval_power.comparisons.judge.ceiling import NAME, JudgeCeiling, OwnFamilyBias
from humeval_power.comparisons.judge.check import LEAST_TWICE
from humeval_power.comparisons.judge.means import JackknifeEstimate
from humeval_power.comparisons.judge.quality import Favour
from humeval_power.comparisons.judge.result_answers import JudgedResult
from humeval_power.comparisons.judge.surface import LengthBias, PositionBias
from humeval_power.saying.chart import interval_chart
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Fact, Paragraph, Section
from humeval_power.saying.numbers import (
    counted,
    decimals,
    interval_words,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import flat, table

_CORRECTED = (
    "Plain means of the judge's scores carry this bias in full. 'judge estimate' does not: it corrects the judge "
    "by the humans' values, within the same systems."
)
_SAME_SCALE = (
    "Judge and humans are taken to use the same scale: a point of one is a point of the other. Such a distortion "
    "is no preference: a judge that errs alike everywhere distorts a difference of systems whose rates differ. "
    "Whether it favours a family among outputs that people value alike is asked without --same-scale, where some "
    "outputs have two ratings."
)
_SYSTEMS = Independence(
    "judges",
    "assumed",
    "The test is about these systems and this judge. That systems differ in how much a judge likes them, "
    "whatever their family, is asked apart, by all choices of as many systems.",
)
_LOW = 0.5


def bias_warning(bias: OwnFamilyBias) -> str:
    """What an estimate warns of, under the name of the bias; '' where there is none to tell."""
    if not bias.is_found:
        return ""
    own, p = ", ".join(map(shortened, bias.own)), p_words(bias.bias.p_value)
    said = (
        f"{NAME}: the judge scores {own} higher than the humans' values make one expect, by "
        f"{significant(bias.in_human_units.estimate)} in their units ({p})."
    )
    if bias.slope is None:
        by = significant(bias.bias.estimate)
        said = f"The judge distorts the difference of {own} from the others by {by} ({p})."
    return f"{said} The estimate with the judge is corrected for it; plain means of its scores are not."


@dataclass(frozen=True, kw_only=True)
class JudgeBias(JudgedResult):
    """The bias in units of the judge and of the humans, and what each system gets beyond its human values."""

    schema: ClassVar[str] = "humeval_power/judge_bias/1"

    found: OwnFamilyBias

    def answer(self) -> Document:
        bias, human = self.found, self.found.in_human_units
        picture = interval_chart(
            "bias",
            [("own family", human.estimate, human.interval)],
            axis="Bias in units of the humans",
            title=NAME,
            words="The judge's bias towards its own family with its interval.",
        )
        systems = table(
            bias.systems,
            {
                "system": lambda one: shortened(one.system),
                "family": lambda one: "own" if one.is_own else "other",
                "outputs": lambda one: f"{one.n_outputs:,}",
                "judge": lambda one: significant(one.judge),
                "humans": lambda one: significant(one.human),
                "excess": lambda one: significant(one.excess),
            },
            "Means of judge and humans, less those of all outputs; excess: what the judge gives beyond the humans' "
            "values, in their units.",
        )
        slope = _SAME_SCALE
        if bias.slope is not None:
            slope = (
                f"A point of the humans' scale is {significant(bias.slope.estimate)} of the judge's "
                f"({significant_interval(*bias.slope.interval)}), found within systems and freed of the noise of "
                f"the ratings (reliability of the human means {decimals(bias.reliability, 2)})."
            )
        return Document(
            NAME,
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=(
                Section("Each system", (systems, picture)),
                Section("What it means", (Paragraph(_CORRECTED), Paragraph(slope))),
            ),
        )

    def _lead(self) -> str:
        result, own = self.found, ", ".join(map(shortened, self.found.own))
        bias, p = result.in_human_units.estimate, p_words(result.bias.p_value)
        if result.slope is None:
            shown = result.bias.p_value <= 1 - result.confidence
            said = (
                f"The judge {'distorts' if shown else 'is not shown to distort'} the difference of {own} from the "
                f"others ({p}): by {significant(bias)} on the common scale."
            )
        else:
            amount = f"{significant(abs(bias))} {'more' if bias > 0 else 'less'}"
            said = (
                f"{'The judge' if result.is_found else 'It is not shown that the judge'} favours its own family, "
                f"{own} ({p}): it scores them {amount} than the humans' values make one expect, in their units."
            )
        return (
            f"{said} Judged beside {counted(len(result.systems) - len(result.own), 'other system')} on "
            f"{counted(result.n_items, 'item')} with human values."
        )

    def _interval(self, one: JackknifeEstimate) -> str:
        return f"{level_of(self.found.confidence)} interval {significant_interval(*one.interval)}"

    def _facts(self) -> Iterator[Fact]:
        bias, human, judge = self.found, self.found.in_human_units, self.found.bias
        yield "Bias", f"{significant(human.estimate)} in units of the humans, {self._interval(human)}"
        yield (
            "The test",
            f"{significant(judge.estimate)} in units of the judge, {self._interval(judge)}, "
            f"{p_words(judge.p_value)}",
        )
        if math.isfinite(bias.p_systems):
            yield (
                "Among systems",
                f"{p_words(bias.p_systems)}: how often {counted(len(bias.own), 'system')} chosen blindly "
                f"would show as much ({bias.n_choices:,} choices)",
            )

    def _caveats(self) -> Iterator[str]:
        bias = self.found
        if bias.slope is not None and bias.reliability < _LOW:
            yield (
                f"The human means are noisy (reliability {decimals(bias.reliability, 2)}): the slope of the "
                "judge on them rests on a large correction."
            )
        if bias.n_choices < 20:
            yield (
                f"With {counted(len(bias.systems), 'system')} nothing can be said of families beyond these "
                f"systems: the p-value among systems is {1 / bias.n_choices:.2g} at least."
            )

    def independence(self) -> tuple[Independence, ...]:
        return (*self.answers, _SYSTEMS)

    def entries(self) -> Record:
        bias, slope = self.found, "same-scale" if self.found.slope is None else "errors-in-variables"
        sizes = {"own": len(bias.own), "k": len(bias.systems), "items": bias.n_items}
        return {"model": "own-family", "slope": slope, **sizes}

    def paper(self) -> tuple[str, ...]:
        bias, own, one = self.found, ", ".join(map(shortened, self.found.own)), self.found.in_human_units
        said = (
            f"The judge's preference for its own family ({own}), its scores against what the human values of "
            f"{bias.n_items:,} items make one expect, was {significant(one.estimate)} in units of the humans"
        )
        if bias.slope is None:
            one = bias.bias
            said = (
                f"The judge distorted the difference of {own} from other systems by {significant(one.estimate)} "
                "on the common scale"
            )
        return (
            f"{said} ({self._interval(one)}, {p_words(bias.bias.p_value)}, jackknife over {self.errors_by}).",
        )

    def numbers(self) -> Record:
        bias = self.found
        return {"name": NAME, **asdict(bias), "is_found": bias.is_found, "cluster": self.cluster}

    def table_rows(self) -> list[Record]:
        return [asdict(one) for one in self.found.systems]


# How well a judge agrees with people, beside the ceiling that people set for each other.

_HOW = (
    "Each worker is left out in turn, and the mean of the others is the reference, for that worker and for the "
    "judge. People are noisy, so that even a perfect judge does not reach 1: the ceiling is what it would reach "
    "with the mean of the others, if all workers are alike in how well they agree. The judge's share of it is "
    "its correlation with what people would say without noise."
)
_NO_PROOF = (
    "A judge that agrees as well as a person may still be biased towards a system: means of its scores say nothing "
    "certain, 'judge estimate' corrects them, and 'judge bias' looks for a preference for its own family."
)

_WORKERS = Independence(
    "workers",
    "assumed",
    "The workers count as given: intervals are about other items, not about other workers, who may agree more or "
    "less.",
)


@dataclass(frozen=True, kw_only=True)
class JudgeAgreement(JudgedResult):
    """The correlations, with jackknife intervals, and those of each worker; `others` are further judges."""

    schema: ClassVar[str] = "humeval_power/judge_agreement/2"

    found: JudgeCeiling
    judge: str = "judge"
    others: tuple[tuple[str, JudgeCeiling], ...] = ()

    @property
    def _named(self) -> tuple[tuple[str, str, JackknifeEstimate], ...]:
        ceiling = self.found
        return (
            ("judge", "the judge with people", ceiling.judge),
            ("human", "a person with the others", ceiling.human),
            ("ceiling", "ceiling, a perfect judge", ceiling.ceiling),
            ("difference", "judge less person", ceiling.difference),
            ("share", "judge's share of the ceiling", ceiling.share),
        )

    def answer(self) -> Document:
        ceiling = self.found
        picture = interval_chart(
            "correlations",
            [
                (name, one.estimate, one.interval)
                for _, name, one in self._named[:3]
                if math.isfinite(one.estimate)
            ],
            axis="Correlation with the mean of the others",
            title="The judge, a person and the ceiling",
            words="The correlation of the judge, of a person and of a perfect judge with the mean of the others.",
            null=None,
        )
        correlations = table(
            self._named,
            {
                "": lambda row: row[1],
                "estimate": lambda row: decimals(row[2].estimate, 3),
                "SE": lambda row: decimals(row[2].standard_error, 3),
                f"{level_of(ceiling.confidence)} interval": lambda row: _ends(row[2]),
            },
        )
        judges = table(
            ((self.judge, ceiling), *self.others),
            {
                "judge": lambda row: shortened(row[0]),
                "correlation": lambda row: _cell(row[1].judge),
                "of the ceiling": lambda row: f"{decimals(100 * row[1].share.estimate, 0)} %",
                "less a person": lambda row: decimals(row[1].difference.estimate, 3),
                "p": lambda row: p_cell(row[1].difference.p_value),
            },
            f"What stands above is of {shortened(self.judge)}.",
        )
        workers = table(
            ceiling.workers,
            {
                "left out": lambda one: shortened(one.worker),
                "outputs": lambda one: f"{one.n_outputs:,}",
                "worker": lambda one: decimals(one.human, 3),
                "judge": lambda one: decimals(one.judge, 3),
            },
            "Correlations with the mean of the others.",
        )
        return Document(
            "A judge beside people who judge each other",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=(
                Section("Correlations", (correlations, picture)),
                *((Section("Each judge", (judges,)),) if self.others else ()),
                Section("Each worker", (workers,), is_detail=len(ceiling.workers) > 30),
                Section("How to read it", (Paragraph(_HOW), Paragraph(_NO_PROOF))),
            ),
        )

    def _facts(self) -> Iterator[Fact]:
        ceiling, n_workers = self.found, len(self.found.workers)
        of_outputs = ceiling.of == "outputs"
        yield (
            "Agreement" if of_outputs else f"Agreement about {ceiling.of}",
            f"{counted(ceiling.n_outputs, 'output' if of_outputs else 'difference')} of "
            f"{counted(ceiling.n_items, 'item')}, {n_workers} workers, {ceiling.others:.3g} others in the "
            "reference on average",
        )
        yield "The judge", f"correlation {_cell(ceiling.judge)} with the mean of the others"
        yield "A person", f"correlation {_cell(ceiling.human)} with the mean of the others"
        best = "none: people do not agree with each other"
        if math.isfinite(ceiling.ceiling.estimate):
            share = decimals(100 * ceiling.share.estimate, 0)
            best = f"{decimals(ceiling.ceiling.estimate, 3)} for a perfect judge; this one reaches {share} % of it"
        yield "Ceiling", best
        yield (
            "Difference",
            f"judge less person {_cell(ceiling.difference)}, {p_words(ceiling.difference.p_value)}; the "
            f"judge agrees better than {ceiling.n_beaten} of {counted(n_workers, 'worker')}",
        )

    def _lead(self) -> str:
        difference = self.found.difference
        judge, human = (decimals(one.estimate, 3) for one in (self.found.judge, self.found.human))
        if difference.p_value <= 1 - self.found.confidence:
            return (
                f"The judge agrees {'better' if difference.estimate > 0 else 'worse'} with people than a person "
                f"does: correlation {judge} against {human} with the mean of the others "
                f"({p_words(difference.p_value)})."
            )
        return (
            "It is not shown that the judge agrees better or worse with people than a person does "
            f"({p_words(difference.p_value)}): its correlation with the mean of the others is {judge}, a person's "
            f"{human}."
        )

    def _caveats(self) -> Iterator[str]:
        if not self.found.human.interval[0] > 0:
            yield "People hardly agree with each other: no ceiling can be told, and little is meant by agreeing."
        if left_out := self.found.left_out:
            yield f"{counted(len(left_out), 'worker')} share too few outputs with others and are left out."

    def independence(self) -> tuple[Independence, ...]:
        return (*self.answers, _WORKERS)

    def entries(self) -> Record:
        return {"model": "leave-one-out", "workers": len(self.found.workers), "items": self.found.n_items}

    def paper(self) -> tuple[str, ...]:
        ceiling = self.found
        return (
            f"Leaving out each of {len(ceiling.workers)} workers in turn, the judge correlated "
            f"{decimals(ceiling.judge.estimate, 3)} with the mean of the others ({_ends(ceiling.judge)}), a worker "
            f"{decimals(ceiling.human.estimate, 3)} ({_ends(ceiling.human)}; difference "
            f"{decimals(ceiling.difference.estimate, 3)}, {p_words(ceiling.difference.p_value)}); a perfect judge "
            f"would reach {decimals(ceiling.ceiling.estimate, 3)}. {level_of(ceiling.confidence)} intervals by the "
            f"jackknife over {self.errors_by}.",
        )

    def numbers(self) -> Record:
        others = [{"name": name, **asdict(one), "n_beaten": one.n_beaten} for name, one in self.others]
        own = {**asdict(self.found), "n_beaten": self.found.n_beaten}
        return {**own, "name": self.judge, "other_judges": others, "cluster": self.cluster}

    def table_rows(self) -> list[Record]:
        return [{"of": key, **flat(one)} for key, _, one in self._named]


def _ends(one: JackknifeEstimate) -> str:
    return interval_words(*one.interval, digits=3)


def _cell(one: JackknifeEstimate) -> str:
    return f"{decimals(one.estimate, 3)} ({_ends(one)})"


# What a judge gives for length and for the place in which an output was shown.

_QUESTIONS = (
    "What length distorts, plain means of the judge carry in full, and correction by labels takes away; it is "
    "asked where judge and people score on one scale. It is no favour: where long outputs are better, a judge that "
    "errs alike everywhere shows it. What the judge favours among outputs that people value alike is what it gives "
    "for length itself: its scores on length and on what one person says, with another person's rating in the "
    "place of the truth (two-stage least squares, errors by items or their clusters)."
)
_PLACES = (
    "Pairs whose verdict is the same in both orders say nothing of a place; of the others as many should go to the "
    "first as to the second (exact sign test). A judge that is shown every pair in both orders, with its verdicts "
    "averaged, is free of the shift."
)
_RATERS = Independence(
    "workers",
    "assumed",
    "What people value is what these raters do: others may like length otherwise, which is not in these intervals.",
)


@dataclass(frozen=True, kw_only=True)
class JudgeLength(JudgedResult):
    """Both questions about length."""

    schema: ClassVar[str] = "humeval_power/judge_length/1"

    found: LengthBias

    @property
    def _named(self) -> tuple[tuple[str, Favour], ...]:
        questions = (
            ("distorts, judge less people", self.found.distortion),
            ("favours, among outputs valued alike", self.found.favour),
        )
        return tuple((name, one) for name, one in questions if one is not None)

    def answer(self) -> Document:
        found = self.found
        columns: dict[str, Callable[[tuple[str, Favour]], str]] = {
            "question": lambda row: row[0],
            "for an SD of length": lambda row: significant(row[1].estimate),
            f"{level_of(found.confidence)} interval": lambda row: significant_interval(*row[1].interval),
            "outputs": lambda row: f"{row[1].n:,}",
            "p": lambda row: p_cell(row[1].p_value),
        }
        outputs = f"{found.n_outputs:,} of {counted(found.n_items, 'item')} with score, value and length"
        return Document(
            "Length and the judge",
            lead=self._lead(),
            headline=(("Outputs", outputs), ("Length", f"SD {significant(found.sd)}")),
            sections=(
                *((Section("Two questions", (table(self._named, columns),)),) if self._named else ()),
                Section("What it means", (Paragraph(_QUESTIONS),)),
            ),
        )

    def _lead(self) -> str:
        favour, n = self.found.favour, self.found.n_twice
        if favour is None:
            why = f"the ratings of {n:,} outputs by two people do not tell good outputs from bad ones."
            if n < LEAST_TWICE:
                why = (
                    f"{n:,} outputs have ratings of two people, and {LEAST_TWICE} are needed, since one rating is "
                    "noisy."
                )
            return f"Whether the judge favours length among outputs that people value alike cannot be told: {why}"
        p = p_words(favour.p_value)
        if favour.p_value > 1 - self.found.confidence:
            return (
                "It is not shown that the judge goes by length among outputs that people value alike "
                f"({p}): {significant(favour.estimate)} of its points for an SD of length."
            )
        which = "longer" if favour.estimate > 0 else "shorter"
        return (
            f"The judge favours {which} outputs among those that people value alike ({p}): by "
            f"{significant(abs(favour.estimate))} of its points for an SD of length."
        )

    def independence(self) -> tuple[Independence, ...]:
        return (*self.answers, _RATERS)

    def entries(self) -> Record:
        found = self.found
        return {
            "model": "length-2sls",
            "n": found.n_outputs,
            "twice": found.n_twice,
            "items": found.n_items,
        }

    def numbers(self) -> Record:
        return {**asdict(self.found), "cluster": self.cluster}

    def table_rows(self) -> list[Record]:
        return [{"question": name, **asdict(one)} for name, one in self._named]


@dataclass(frozen=True, kw_only=True)
class JudgePosition(Result):
    """How often a judge's verdicts follow the place."""

    schema: ClassVar[str] = "humeval_power/judge_position/1"

    found: PositionBias
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        found, p = self.found, p_words(self.found.p_value)
        follow = found.first + found.second
        reach = (
            f"{level_of(found.confidence)} interval of the shift {significant_interval(*found.interval)}"
        )
        share = percent(follow / found.n_pairs)
        changed = f"{share} of {found.n_pairs:,} pairs change their verdict with the order"
        place, count = ("first", found.first) if found.first > found.second else ("second", found.second)
        if not follow:
            lead = f"No verdict of {found.n_pairs:,} pairs depends on the order ({reach})."
        elif found.p_value > 1 - found.confidence:
            lead = (
                f"{changed}, to neither place more than chance has it ({found.first:,} to the first, "
                f"{found.second:,} to the second; {p})."
            )
        else:
            most = f"{count:,} of {follow:,} to the {place}"
            lead = f"The judge favours what is shown {place} ({p}): {changed}, {most}."
        facts = [
            ("Pairs", f"{found.n_pairs:,} judged in both orders, {found.one_order:,} in one and left out"),
            ("Same verdict", f"{found.same:,}"),
            ("To the first", f"{found.first:,}"),
            ("To the second", f"{found.second:,}"),
        ]
        if math.isfinite(found.interval[0]):
            facts.append(("Shift", f"{significant(found.shift)} of a verdict to the first, {reach}"))
        return Document(
            "The place in which an output is shown",
            lead=lead,
            headline=tuple(facts),
            sections=(Section("What it means", (Paragraph(_PLACES),)),),
        )

    def content(self) -> Record:
        return {**asdict(self.found), "pairs": self.found.n_pairs}
