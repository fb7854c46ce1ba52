"""What every kind of study says of itself, and the one place that tells the kinds apart."""

from __future__ import annotations

from typing import Protocol

from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.report.facts.pair import PairWords
from humeval_power.reporting.report.facts.record import StudyFacts
from humeval_power.reporting.report.facts.several import SystemsWords
from humeval_power.reporting.report.power_answers import Answer


class StudyWords(Protocol):
    """The facts of a study in words, for any form; None, or nothing, where they are not known."""

    def systems(self) -> Answer | None:
        """Which systems were compared, and what a difference is."""

    def scores(self) -> str | None:
        """How ratings become the numbers that are reported."""

    def measures(self) -> str | None:
        """What effects are given, and how they are tested."""

    def test(self) -> str | None:
        """The model and its test, or the family of its tests."""

    def paper_test(self) -> str | None:
        """The same as sentences of a paper."""

    def effect(self) -> Answer | None:
        """Estimates with intervals and tests."""

    def parameters(self) -> Answer | None:
        """The estimated parameters, for planning later studies."""

    def estimates(self) -> str | None:
        """The same in a line."""

    def findings(self) -> list[str | None]:
        """The result as sentences of a paper; empty without one."""

    def decided(self) -> str:
        """What the study shows, in a sentence or two."""

    def headline(self) -> tuple[Fact, ...]:
        """The numbers that a page begins with."""

    def tables(self) -> tuple[Table, ...]:
        """The results."""

    def compared(self) -> str:
        """Which systems the tables are of."""

    def caption(self) -> str:
        """What the tables are on."""


def words_of(facts: StudyFacts) -> StudyWords:
    """The words for the facts."""
    if facts.family is not None and facts.is_of_several:
        return SystemsWords(facts, facts.family)
    return PairWords(facts)
