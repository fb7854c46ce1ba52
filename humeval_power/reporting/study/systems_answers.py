"""The smallest difference among several systems that a study finds, and the smallest study that finds one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.planning.study.systems_questions import SimulatedDifference, SystemsSize
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import of_hundred, on_scale, points_words
from humeval_power.reporting.chart import LaterChart
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.systems_charts import goals_chart
from humeval_power.reporting.study.systems_words import (
    assumed_words,
    family_words,
    goal_words,
    goals_table,
    means_table,
    power_record,
    reached_words,
    study_facts,
    study_record,
)
from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class SystemsDetectable(Result):
    """The smallest stated difference with which a study reaches its goal with the power `target`.

    `study` is at the smallest difference, or at its own where there is none. `analytic` is None where no formula
    describes the study, and infinite where no difference on [0, 1] is found that surely.
    """

    schema: ClassVar[str] = "humeval_power/systems-mde/1"

    study: SystemsStudy
    target: float
    analytic: float | None
    simulated: SimulatedDifference | None
    was_simulated: bool = True
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The difference in each way, the study, and all goals there."""
        study = self.study
        blocks: list[Block] = [Facts((*study_facts(study), *self._facts()))]
        reached = self.simulated.power if self.simulated is not None else None
        by_formula = (
            study.by_formula() if self.analytic is not None and math.isfinite(self.analytic) else None
        )
        if reached is not None or by_formula is not None:
            blocks.append(Paragraph("Every goal at this difference:"))
            blocks.append(goals_table(study, by_formula, reached))
        if by_formula is not None:
            words = "Power of every goal by formula around the answer, which is marked."
            drawn = LaterChart(
                "power", lambda: goals_chart(study, by_formula, target=self.target), words=words
            )
            blocks.append(drawn)
        blocks.append(Paragraph(assumed_words(study)))
        return Document(
            f"The smallest difference that this study of {study.parameters.n_systems} systems finds",
            lead=self._lead(),
            headline=tuple(self._answers()),
            sections=(
                Section("", tuple(blocks)),
                Section("True means", (means_table(study),), is_detail=True),
            ),
        )

    def _lead(self) -> str:
        study, simulated = self.study, self.simulated
        found = simulated.effect if simulated is not None else math.inf
        how = "by simulation"
        if not self.was_simulated and self.analytic is not None:
            found, how = self.analytic, "by formula"
        hundred = f"{of_hundred(self.target)} of 100 such studies"
        if math.isinf(found):
            return f"No difference on the scale is so large that {hundred} reach the goal, {how}."
        size = f"{points_words(found, self.scale, digits=3)} {on_scale(self.scale)}"
        goal = goal_words(study.goal, found, margin=study.rule.margin is not None)
        return f"The smallest difference is {size}: then, {how}, in {hundred} {goal}."

    def _answers(self) -> Iterator[Fact]:
        if self.simulated is not None:
            yield "MDE", self._shown(self.simulated.effect)
        elif self.was_simulated:
            yield "MDE", "none on [0, 1]"
        if self.analytic is not None:
            yield "By formula", self._shown(self.analytic)

    def _shown(self, effect: float) -> str:
        if math.isinf(effect):
            return "none on [0, 1]"
        text = f"{effect:.4f} on [0, 1]"
        if self.scale is not None:
            raw = abs(self.scale.effect_to_raw(effect))
            text += f", {raw:.4g} on the scale {self.scale.low:g} to {self.scale.high:g}"
        return text

    def _facts(self) -> Iterator[Fact]:
        yield (
            "Target",
            f"power {self.target:g}, goal '{self.study.goal}'; all true differences in proportion",
        )
        if self.simulated is not None:
            found = self.simulated.power
            failed = f"{found.n_simulations:,} simulated, {found.n_failed:,} failed"
            yield "Fits", f"{failed}; power there {interval_words(*found.interval, digits=3)} (95 %)"

    def content(self) -> Record:
        """The answers with what they were computed from."""
        names = self.study.parameters.names
        simulated: Record | None = None
        if self.simulated is not None:
            simulated = {
                "effect": self.simulated.effect,
                "power": power_record(self.simulated.power, names),
            }
        return {
            "target": self.target,
            "analytic": self.analytic,
            "simulated": simulated,
            **study_record(self.study),
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, and what the design says of itself."""
        return (*self.study.parameters.notes, *self.study.design.notes)

    @property
    def missed(self) -> str:
        """That no difference on [0, 1] is found that surely."""
        return (
            "No difference on [0, 1] is found that surely."
            if self.was_simulated and self.simulated is None
            else ""
        )


@dataclass(frozen=True, kw_only=True)
class SystemsSizeResult(Result):
    """The smallest study of several systems that reaches its goal; `found.counts` is None where none does.

    `study` is that of the answer, or of no size where there is none.
    """

    schema: ClassVar[str] = "humeval_power/systems-size/1"

    study: SystemsStudy
    found: SystemsSize
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The size, its power for every goal, and what was assumed."""
        study, found = self.study, self.found
        words = found.sought.replace("-", " ")
        if found.counts is None:
            tests = Facts((("Tests", family_words(study.family, study.parameters.n_systems)),))
            return Document(
                f"No number of {words} will do",
                lead=f"{found.reason} The goal '{study.goal}' was to be reached with power {found.target:g}.",
                sections=(Section("", (tests, Paragraph(assumed_words(study)))),),
            )
        blocks = (goals_table(study, found.analytic, found.simulated), Facts(tuple(self._facts())))
        return Document(
            f"The fewest {words} for {study.parameters.n_systems} systems",
            lead=f"{self._size:,} {words.replace('per', 'of each')} would do. "
            + reached_words(study, found.analytic, found.simulated),
            headline=((words.capitalize(), f"{self._size:,}"), *self._powers()),
            sections=(
                Section("", blocks),
                Section("", (Paragraph(assumed_words(study)),)),
                Section("True means", (means_table(study),), is_detail=True),
            ),
        )

    @property
    def _size(self) -> int:
        counts = self.found.counts
        assert counts is not None
        sizes = {
            "workers": counts.n_workers,
            "items": counts.n_items,
            "documents": counts.n_documents,
        }
        return sizes.get(self.found.sought, counts.ratings_per_item)

    def _powers(self) -> Iterator[Fact]:
        simulated, analytic = self.found.simulated, self.found.analytic
        if simulated is not None:
            yield "Power", f"{simulated.power:.3f} ({interval_words(*simulated.interval, digits=3)})"
        if analytic is not None:
            yield "By formula", f"{analytic.power:.3f}"

    def _facts(self) -> Iterator[Fact]:
        yield "Target", f"power {self.found.target:g}, goal '{self.study.goal}'"
        yield from study_facts(self.study)
        simulated = self.found.simulated
        if simulated is not None:
            failed = f"{simulated.n_simulations:,} simulated, {simulated.n_failed:,} failed"
            yield "Fits", f"{failed}; beside each share its 95 % Monte Carlo interval"

    def content(self) -> Record:
        """The answer with what it was computed from."""
        found, names = self.found, self.study.parameters.names
        record: Record = {
            "sought": found.sought,
            "target": found.target,
            "found": None if found.counts is None else self._size,
            "counts": None if found.counts is None else asdict(found.counts),
            "reason": found.reason or None,
            "analytic": power_record(found.analytic, names),
            "simulated": power_record(found.simulated, names),
            **study_record(self.study),
        }
        if found.counts is None:
            for name in ("workers", "items", "ratings_per_item", "n_ratings", "design"):
                del record[name]
        return record

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, and what the design says of itself."""
        return self.study.parameters.notes

    @property
    def missed(self) -> str:
        """That no size will do, or a simulation shows less than the target."""
        simulated = self.found.simulated
        if simulated is None:
            return "No size within the limits reaches the target." if self.found.counts is None else ""
        reached = simulated.interval[1] >= self.found.target
        return (
            "" if reached else "Simulated studies of the size by formula have less power than the target."
        )
