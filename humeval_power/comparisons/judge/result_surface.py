"""What a judge gives for length and for the place in which an output was shown, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.judge.check import LEAST_TWICE
from humeval_power.comparisons.judge.quality import Favour
from humeval_power.comparisons.judge.surface import LengthBias, PositionBias
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Fact, Paragraph, Section
from humeval_power.saying.numbers import (
    counted,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import PaperResult, signature, table

_QUESTIONS = (
    "What length distorts, plain means of the judge carry in full, and correction by labels takes away; it is "
    "asked where judge and people score on one scale. It is no favour: where long outputs are better, a judge that "
    "errs alike everywhere shows it. What the judge favours among outputs that people value alike is what it gives "
    "for length itself: its scores on length and on what one person says, with another person's rating in the "
    "place of the truth (two-stage least squares, errors by items or their clusters)."
)
_NOT_TOLD = "Whether the judge favours length among outputs that people value alike cannot be told: {why}"
_TOO_FEW = (
    f"{{n}} outputs have ratings of two people, and {LEAST_TWICE} are needed, since one rating is noisy."
)
_NOT_APART = "the ratings of {n} outputs by two people do not tell good outputs from bad ones."


_RATERS = Independence(
    "workers",
    "assumed",
    "What people value is what these raters do: others may like length otherwise, which is not in these intervals.",
)


@dataclass(frozen=True, kw_only=True)
class JudgeLength(PaperResult):
    """Both questions about length."""

    schema: ClassVar[str] = "humeval_power/judge_length/1"

    found: LengthBias
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    remarks: tuple[str, ...] = ()

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
        facts = (
            (
                "Outputs",
                f"{found.n_outputs:,} of {counted(found.n_items, 'item')} with score, value and length",
            ),
            ("Length", f"SD {significant(found.sd)}"),
        )
        return Document(
            "Length and the judge",
            lead=self._lead(),
            headline=facts,
            sections=(
                *((Section("Two questions", (table(self._named, columns),)),) if self._named else ()),
                Section("What it means", (Paragraph(_QUESTIONS),)),
            ),
        )

    def _lead(self) -> str:
        favour = self.found.favour
        if favour is None:
            n = self.found.n_twice
            return _NOT_TOLD.format(why=(_TOO_FEW if n < LEAST_TWICE else _NOT_APART).format(n=f"{n:,}"))
        shown = favour.p_value <= 1 - self.found.confidence
        if not shown:
            return (
                "It is not shown that the judge goes by length among outputs that people value alike "
                f"({p_words(favour.p_value)}): {significant(favour.estimate)} of its points for an SD of length."
            )
        which = "longer" if favour.estimate > 0 else "shorter"
        return (
            f"The judge favours {which} outputs among those that people value alike ({p_words(favour.p_value)}): "
            f"by {significant(abs(favour.estimate))} of its points for an SD of length."
        )

    def independence(self) -> tuple[Independence, ...]:
        return (*self.answers, _RATERS)

    @property
    def signature(self) -> str:
        found = self.found
        return signature(
            model="length-2sls",
            n=found.n_outputs,
            twice=found.n_twice,
            items=found.n_items,
            cluster=(self.cluster, found.n_clusters),
            confidence=found.confidence,
        )

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
        return Document(
            "The place in which an output is shown",
            lead=self._lead(),
            headline=tuple(self._facts()),
            sections=(
                Section(
                    "What it means",
                    (
                        Paragraph(
                            "Pairs whose verdict is the same in both orders say nothing of a place; of the others "
                            "as many should go to the first as to the second (exact sign test). A judge that is "
                            "shown every pair in both orders, with its verdicts averaged, is free of the shift."
                        ),
                    ),
                ),
            ),
        )

    def _lead(self) -> str:
        found = self.found
        follow = found.first + found.second
        if not follow:
            return f"No verdict of {found.n_pairs:,} pairs depends on the order ({self._reach()})."
        share = percent(follow / found.n_pairs)
        if found.p_value > 1 - found.confidence:
            return (
                f"{share} of {found.n_pairs:,} pairs change their verdict with the order, to neither place more "
                f"than chance has it ({found.first:,} to the first, {found.second:,} to the second; "
                f"{p_words(found.p_value)})."
            )
        place, count = ("first", found.first) if found.first > found.second else ("second", found.second)
        return (
            f"The judge favours what is shown {place} ({p_words(found.p_value)}): {share} of {found.n_pairs:,} "
            f"pairs change their verdict with the order, {count:,} of {follow:,} to the {place}."
        )

    def _reach(self) -> str:
        low, high = self.found.interval
        return f"{level_of(self.found.confidence)} interval of the shift {significant_interval(low, high)}"

    def _facts(self) -> Iterator[Fact]:
        found = self.found
        yield "Pairs", f"{found.n_pairs:,} judged in both orders, {found.one_order:,} in one and left out"
        yield "Same verdict", f"{found.same:,}"
        yield "To the first", f"{found.first:,}"
        yield "To the second", f"{found.second:,}"
        if math.isfinite(found.interval[0]):
            yield "Shift", f"{significant(found.shift)} of a verdict to the first, {self._reach()}"

    def content(self) -> Record:
        return {**asdict(self.found), "pairs": self.found.n_pairs}
