"""Which outputs people rate, in words: strata, how many of each were drawn, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.checking.columns import listing
from humeval_power.choices import Allocation
from humeval_power.comparisons.judge.sampling import SamplePlan
from humeval_power.saying.document import Document, Fact, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, percent, significant
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table

RATE_THESE = (
    "Have these items rated, and no others in their place: an item that cannot be rated is left blank. 'judge "
    "estimate' takes the file by --sample."
)
ACTIVE_PRICE = (
    "This is more precise than strata only where the judge's doubt is right. A judge that is sure and noisy, of "
    "outputs that people are divided over, makes it less precise than labels of outputs drawn alike."
)
_HOW = {
    "proportional": "in proportion to its size",
    "neyman": "in proportion to its size times how the pilot's labels vary in it",
}


@dataclass(frozen=True, kw_only=True)
class JudgeSample(Result):
    """The items that were drawn, with their strata and probabilities."""

    schema: ClassVar[str] = "humeval_power/judge_sample/1"

    found: SamplePlan
    items: tuple[str, ...]
    judges: tuple[str, ...]
    contrast: str
    allocation: Allocation = "proportional"
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        plan = self.found
        drawn = f"{counted(len(plan.chosen), 'item')} of {len(self.items):,}"
        judges, make = "the judge's score", "makes"
        if len(self.judges) > 1:
            judges, make = f"the scores of {len(self.judges)} judges", "make"
        if plan.active:
            lead = f"{drawn} were drawn, with larger probabilities where the judge is less certain."
        elif len(plan.drawn) == 1:
            lead = f"{drawn} were drawn alike: {judges} {make} no strata."
        else:
            lead = (
                f"{drawn} were drawn from {len(plan.drawn)} strata by {judges}, of each stratum "
                f"{_HOW[self.allocation]}."
            )
        return Document(
            "Which outputs people rate",
            lead=lead,
            headline=tuple(self._facts()),
            sections=(
                Section("" if plan.active else "Strata", (self._table(),)),
                Section(
                    "How to use it",
                    (Paragraph(RATE_THESE), *((Paragraph(ACTIVE_PRICE),) if plan.active else ())),
                ),
            ),
        )

    def _facts(self) -> list[Fact]:
        plan = self.found
        facts: list[Fact] = [("For", self.contrast), ("Judges", listing(self.judges))]
        if math.isfinite(plan.explained) and len(plan.drawn) > 1:
            facts.append(
                (
                    "Strata",
                    f"take away {percent(plan.explained)} of what the scores vary: so much of what the judge's "
                    "squared correlation with people promises",
                )
            )
        return facts

    def _table(self) -> Table:
        plan = self.found
        chance = [plan.probability[plan.strata.code == place] for place in range(len(plan.drawn))]
        columns: dict[str, Callable[[int], str]] = {
            "stratum": lambda place: str(place + 1),
            "scores": lambda place: _range(plan.strata.low[place], plan.strata.high[place]),
            "items": lambda place: f"{plan.strata.size[place]:,}",
            "drawn": lambda place: f"{plan.drawn[place]:,}",
            "probability": lambda place: _range(float(chance[place].min()), float(chance[place].max())),
        }
        return table(range(len(plan.drawn)), columns)

    def content(self) -> Record:
        plan = self.found
        return {
            "contrast": self.contrast,
            "judges": list(self.judges),
            "allocation": None if plan.active else self.allocation,
            "active": plan.active,
            "items": len(self.items),
            "explained": plan.explained if math.isfinite(plan.explained) else None,
            "strata": [
                {
                    "stratum": place + 1,
                    "size": int(plan.strata.size[place]),
                    "drawn": int(plan.drawn[place]),
                    "low": _plain(plan.strata.low[place]),
                    "high": _plain(plan.strata.high[place]),
                }
                for place in range(len(plan.drawn))
            ],
            "rows": [
                {
                    "item": self.items[place],
                    "stratum": int(plan.strata.code[place]) + 1,
                    "probability": float(plan.probability[place]),
                    "stratum_size": int(plan.strata.size[plan.strata.code[place]]),
                    "sample_size": len(plan.chosen),
                }
                for place in plan.chosen.tolist()
            ],
        }


def _range(low: float, high: float) -> str:
    if math.isnan(low):
        return "none"
    return significant(low) if low == high else f"{significant(low)} to {significant(high)}"


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
