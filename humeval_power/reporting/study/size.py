"""The fewest workers, items, documents or ratings per item that reach a target power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.choices import DEFAULT_SIMULATIONS
from humeval_power.differences import Difference
from humeval_power.planning.study.analytic import HalfwayPower
from humeval_power.planning.study.required import RequiredSize
from humeval_power.planning.study.strategies import TwoSystems
from humeval_power.planning.study.systems_goals import SystemsPower
from humeval_power.planning.study.systems_questions import SystemsSize
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.numbers import counted, interval_words, time_taken
from humeval_power.reporting.records import SIZE_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.reporting.study.several import (
    assumed_words,
    family_words,
    finds_words,
    goals_table,
    means_table,
    power_record,
    several_content,
)
from humeval_power.reporting.study.study_content import category_facts
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class StudySize(Result):
    """The smallest size found by formula and perhaps proved by simulation, or why there is none.

    `about` is what it was sought for; of several systems its design is not that of the answer.
    """

    schema: ClassVar[str] = SIZE_SCHEMA

    found: RequiredSize | SystemsSize
    about: TwoSystems | SystemsStudy
    said: Difference
    halfway: HalfwayPower | None = None
    setting: str = ""
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The size, its power, and what was asked."""
        finds = "finds this effect" if self.rule.margin is None else "shows what it claims"
        blocks: list[Block] = [Facts(tuple(self._facts()))]
        if self.rule.margin is not None:
            blocks.append(Paragraph(PARITY))
        about, found = self.about, self.found
        if isinstance(about, SystemsStudy) and isinstance(found, SystemsSize):
            finds = finds.replace("finds this effect", "reaches its goal")
            if found.counts is not None:
                blocks.insert(0, goals_table(about, found.analytic, found.simulated))
            blocks += [Paragraph(assumed_words(about)), means_table(about)]
        return Document(
            f"The smallest study that {finds}",
            lead=self._lead(),
            headline=tuple(self._answer()),
            sections=(Section("", tuple(blocks)),),
        )

    @property
    def rule(self) -> DecisionRule:
        """The test."""
        return self.about.rule

    @property
    def _by_formula(self) -> float | None:
        analytic = self.found.analytic
        return analytic.power if isinstance(analytic, SystemsPower) else analytic

    @property
    def _n_ratings(self) -> int:
        counts = self.found.counts
        assert counts is not None
        return counts.n_systems * counts.n_items * counts.ratings_per_item

    def _lead(self) -> str:
        found, counts = self.found, self.found.counts
        if counts is None:
            return found.reason
        number = {
            "workers": counted(counts.n_workers, "worker"),
            "items": counted(counts.n_items, "item"),
            "documents": counted(counts.n_documents, "document"),
            "ratings-per-item": f"{counted(counts.ratings_per_item, 'rating')} of each item",
        }[found.sought]
        shown = found.simulated
        assert self._by_formula is not None  # of a size that was found
        power = of_hundred(self._by_formula) if shown is None else of_hundred(shown.power, shown.interval)
        how = "by formula" if shown is None else f"by simulating {shown.n_simulations:,} studies"
        finds = finds_words(self.about, self.said, self.scale)
        return f"{number} would do: then, {how}, {power} of 100 such studies {finds}."

    def _answer(self) -> Iterator[Fact]:
        counts, simulated = self.found.counts, self.found.simulated
        if counts is None:
            yield "Size", "none"
            return
        yield "Workers", f"{counts.n_workers:,}"
        yield "Items", f"{counts.n_items:,}"
        if counts.n_documents:
            yield "Documents", f"{counts.n_documents:,}"
        yield "Ratings per item", f"{counts.ratings_per_item:,}"
        if simulated is not None:
            yield "Power", f"{simulated.power:.3f} ({interval_words(*simulated.interval, digits=3)})"
        elif self._by_formula is not None:
            yield "By formula", f"{self._by_formula:.3f}"

    def _facts(self) -> Iterator[Fact]:
        counts = self.found.counts
        yield "Effect", str(self.said)
        if self.rule.margin is not None:
            yield "Margin", margin_words(self.rule, self.scale)
        if self.setting:
            yield "Setting", self.setting
        about, goal = self.about, ""
        if isinstance(about, TwoSystems):
            yield from category_facts(about.parameters.with_difference(about.effect))
        else:
            yield "Tests", family_words(about.family, about.parameters.n_systems)
            goal = f", goal '{about.goal}'"
        yield "Test", str(self.rule)
        yield "Target", f"power {self.found.target:g}{goal}"
        if counts is not None:
            of = "both systems" if counts.n_systems == 2 else f"all {counts.n_systems} systems"
            yield "Ratings", f"{self._n_ratings:,} in {of}"
        if self.found.simulated is not None and self._by_formula is not None:
            yield "Formula", f"power {self._by_formula:.3f}"
            yield (
                "Proof",
                "beside the power its 95 % Monte Carlo interval; this is the smallest size whose interval does "
                "not stay below the target",
            )
        if isinstance(self.found, RequiredSize) and self.found.proof_seconds is not None:
            yield (
                "Proof",
                f"none: {DEFAULT_SIMULATIONS:,} simulated studies of this size take about "
                f"{time_taken(self.found.proof_seconds)}; --simulations {DEFAULT_SIMULATIONS} makes them",
            )
        if self.halfway is not None:
            yield "Halfway", halfway_words(self.halfway)

    def content(self) -> Record:
        """The size with what it was computed from."""
        counts, simulated = self.found.counts, self.found.simulated
        record: Record = {
            "understood": str(self.said),
            "sought": self.found.sought,
            "target_power": self.found.target,
            "effect": self.said.value,
            "reached": counts is not None,
            "reason": self.found.reason,
            "workers": counts.n_workers if counts else None,
            "items": counts.n_items if counts else None,
            "ratings_per_item": counts.ratings_per_item if counts else None,
            "n_ratings": self._n_ratings if counts else None,
            "analytic_power": self._by_formula,
            "power": simulated.power if simulated else None,
            "power_interval": list(simulated.interval) if simulated else None,
            "n_simulations": simulated.n_simulations if simulated else 0,
            "rule": asdict(self.rule),
            "parameters": self.about.parameters.as_dict(),
        }
        about, found = self.about, self.found
        if isinstance(about, SystemsStudy):
            record |= {"setting": self.setting, **several_content(about)}
            record["analytic"] = power_record(found.analytic, about)
            record["simulated"] = power_record(found.simulated, about)
        if counts is not None and counts.n_documents:
            record["documents"] = counts.n_documents
        if self.rule.margin is not None:
            record["halfway_to_margin"] = None if self.halfway is None else asdict(self.halfway)
        return record

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed of several systems."""
        return self.about.parameters.notes if isinstance(self.about, SystemsStudy) else ()

    @property
    def missed(self) -> str:
        """That no size reaches the target, or a simulation shows less."""
        found = self.found
        if found.counts is None:
            return "No size within the limits reaches the target."
        if (
            isinstance(found, SystemsSize)
            and found.simulated
            and found.simulated.interval[1] < found.target
        ):
            return "Simulated studies of the size by formula have less power than the target."
        return ""
