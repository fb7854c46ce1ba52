"""What a confidence sequence over workers says, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.saying.answer_words import on_scale, possible_words
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Section
from humeval_power.saying.numbers import counted, interval_words, level_of
from humeval_power.saying.quantities import values
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.anytime import REFUSED, SequenceStep, price

_SHOWN = 12  # last steps of the table


@dataclass(frozen=True, kw_only=True)
class AnytimeResult(Result):
    """An interval that holds after every worker; `steps` are all of them, from the third worker on.

    narrowest_at, g : how many workers it is made for, and the spread of effects that this means
    """

    schema: ClassVar[str] = "humeval_power/looks_anytime/1"

    systems: tuple[str, str]
    scale: RatingScale
    source: str
    steps: tuple[SequenceStep, ...]
    narrowest_at: int
    g: float
    alpha: float
    provenance: Provenance = UNKNOWN

    @property
    def last(self) -> SequenceStep:
        """After the last worker."""
        return self.steps[-1]

    @property
    def excludes(self) -> bool:
        """Whether the interval excludes no difference."""
        return abs(self.last.estimate) > self.last.half_width

    @property
    def price(self) -> float:
        """Its width over that of a t interval that is looked at once."""
        return price(self.last.workers, self.g, self.alpha)

    def body(self) -> Document:
        """The interval, its price and its last steps."""
        (a, b), workers = self.systems, counted(self.last.workers, "worker")
        if math.isinf(self.last.half_width):
            result = f"{workers} are too few to say how {a} and {b} differ."
        else:
            better, worse = (b, a) if self.last.estimate > 0 else (a, b)
            said = f"No difference between {a} and {b} is shown after {workers}: {b} may be"
            if self.excludes:
                said = f"{better} is better than {worse} after {workers}: {b} is"
            reach = possible_words(self.last.interval, self.scale)
            result = f"{said} {reach} {on_scale(self.scale)} ({level_of(1 - self.alpha)} interval)."
        last_steps = table(
            self.steps[-_SHOWN:],
            {
                "workers": lambda step: str(step.workers),
                "estimate": lambda step: f"{step.estimate:.4f}",
                "interval": lambda step: (
                    "-" if math.isinf(step.half_width) else interval_words(*step.interval)
                ),
            },
        )
        return Document(
            "A sequence over workers",
            lead=f"{result} You may look after every worker, and go on for as long as you like.",
            sections=(
                Section("", (Facts(tuple(self._facts())),)),
                Section("After each worker", (last_steps,)),
                Section("Other units", (Paragraph(REFUSED),), is_detail=True),
            ),
        )

    def _facts(self) -> Iterator[Fact]:
        level, wide = level_of(1 - self.alpha), ""
        yield "Ratings", self.source
        yield "Interval", f"{level}, after all workers together; exact for normal means"
        yield "Made for", f"{self.narrowest_at} workers, where it is narrowest (g {self.g:.4g})"
        if math.isfinite(self.price):
            wide = f"{self.price:.2f} times as wide as a t interval looked at once; "
        yield (
            "Price",
            f"{wide}where one test finds a difference with power 0.80, the sequence does in 0.43 to 0.47 of "
            "studies, and planned looks in 0.76 to 0.79 (simulated)",
        )

    def content(self) -> Record:
        """Every step; an interval without ends is null."""
        steps = []
        for step in self.steps:
            interval = None if math.isinf(step.half_width) else list(step.interval)
            steps.append({**values(step, "workers", "estimate"), "interval": interval})
        return {
            "systems": list(self.systems),
            "excludes_no_difference": self.excludes,
            **values(self, "narrowest_at", "g", "alpha"),
            "price": None if math.isinf(self.price) else self.price,
            "steps": steps,
        }
