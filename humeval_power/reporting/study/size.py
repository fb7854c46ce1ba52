"""The fewest workers, items, documents or ratings per item that reach a target power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.choices import DEFAULT_SIMULATIONS
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.planning.study.analytic import HalfwayPower
from humeval_power.planning.study.required import RequiredSize
from humeval_power.reporting.answer_words import found_words, of_hundred
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.numbers import counted, interval_words, time_taken
from humeval_power.reporting.records import SIZE_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.reporting.study.study_content import category_facts
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class StudySize(Result):
    """The smallest size found by formula and perhaps proved by simulation, or why there is none."""

    schema: ClassVar[str] = SIZE_SCHEMA

    found: RequiredSize
    parameters: Parameters
    said: Difference
    rule: DecisionRule
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
        return Document(
            f"The smallest study that {finds}",
            lead=self._lead(),
            headline=tuple(self._answer()),
            sections=(Section("", tuple(blocks)),),
        )

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
        power = of_hundred(found.analytic) if shown is None else of_hundred(shown.power, shown.interval)
        how = "by formula" if shown is None else f"by simulating {shown.n_simulations:,} studies"
        finds = found_words(self.said, self.rule, self.scale)
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
        else:
            yield "By formula", f"{self.found.analytic:.3f}"

    def _facts(self) -> Iterator[Fact]:
        counts = self.found.counts
        yield "Effect", str(self.said)
        if self.rule.margin is not None:
            yield "Margin", margin_words(self.rule, self.scale)
        if self.setting:
            yield "Setting", self.setting
        yield from category_facts(self.parameters.with_difference(self.said.value))
        yield "Test", str(self.rule)
        yield "Target", f"power {self.found.target:g}"
        if counts is not None:
            yield "Ratings", f"{2 * counts.n_items * counts.ratings_per_item:,} in both systems"
        if self.found.simulated is not None:
            yield "Formula", f"power {self.found.analytic:.3f}"
            yield (
                "Proof",
                "beside the power its 95 % Monte Carlo interval; this is the smallest size whose interval does "
                "not stay below the target",
            )
        if self.found.proof_seconds is not None:
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
            "n_ratings": 2 * counts.n_items * counts.ratings_per_item if counts else None,
            "analytic_power": self.found.analytic,
            "power": simulated.power if simulated else None,
            "power_interval": list(simulated.interval) if simulated else None,
            "n_simulations": simulated.n_simulations if simulated else 0,
            "rule": asdict(self.rule),
            "parameters": self.parameters.as_dict(),
        }
        if counts is not None and counts.n_documents:
            record["documents"] = counts.n_documents
        if self.rule.margin is not None:
            record["halfway_to_margin"] = None if self.halfway is None else asdict(self.halfway)
        return record

    @property
    def missed(self) -> str:
        """That no size reaches the target."""
        return "No size within the limits reaches the target." if self.found.counts is None else ""
