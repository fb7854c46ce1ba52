"""The smallest effect that a rating study finds, or the smallest margin that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.differences import Difference
from humeval_power.inference.study.formula import EffectPrecision
from humeval_power.planning.study.detectable import DetectableEffect
from humeval_power.planning.study.outlook import effect_curve
from humeval_power.planning.study.surface import Cell
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.records import MDE_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import PARITY, sought_words
from humeval_power.reporting.study.study_content import category_facts, study_content
from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class StudyDetectable(Result):
    """The smallest effect found with the power `target`, or the smallest margin shown with it.

    `analytic` is on [0, 1] and None where the formula does not describe the study, `precision` that of the
    design; `said` is the true difference at which a margin is sought.
    """

    schema: ClassVar[str] = MDE_SCHEMA

    cell: Cell
    target: float
    analytic: float | None
    simulated: DetectableEffect | None
    said: Difference
    precision: EffectPrecision | None = None
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    @property
    def _has_margin(self) -> bool:
        return self.cell.study.rule.margin is not None

    def body(self) -> Document:
        """The effect or margin in each way, the study, and what the answer does not mean."""
        found = "margin that this study shows" if self._has_margin else "effect that this study finds"
        blocks: list[Block] = [Facts(tuple(self._facts())), *map(Paragraph, self._notes())]
        if self.precision is not None and not self._has_margin:
            blocks.append(self._chart())
        return Document(
            f"The smallest {found}",
            lead=f"Effect: {self.said}" if self._has_margin else "",
            headline=tuple(self._answers()),
            sections=(Section("", tuple(blocks)),),
        )

    def _answers(self) -> Iterator[Fact]:
        if self.simulated is not None:
            label = "Margin" if self._has_margin else "MDE"
            yield label, self._shown(self.simulated.effect)
        if self.analytic is not None:
            yield "By formula", self._shown(self.analytic)

    def _facts(self) -> Iterator[Fact]:
        study = self.cell.study
        yield "Setting", self.cell.setting
        yield from category_facts(study.parameters)
        yield "Study", str(study.design)
        yield "Test", sought_words(study.rule) if self._has_margin else str(study.rule)
        at = f" at B - A = {study.true_effect:g}" if self._has_margin else ""
        yield "Target", f"power {self.target:g}{at}"
        if self.simulated is not None:
            failed = f"{self.simulated.n_simulations:,} simulated, {self.simulated.n_failed:,} failed"
            yield "Fits", f"{failed}; 95 % Monte Carlo interval {interval_words(*self.simulated.interval)}"

    def _notes(self) -> Iterator[str]:
        biggest = max(self.analytic or 0.0, self.simulated.effect if self.simulated else 0.0)
        if not self._has_margin:
            if biggest > 1:
                yield "An effect above 1 cannot exist: this study finds nothing that surely."
        elif biggest > 1:
            yield "A margin above 1 is the whole scale: this study shows nothing that surely."
        else:
            yield (
                "This is the smallest margin that the study can be expected to show. Which margin would matter "
                "is another question, and if it is smaller the study is too small."
            )
            if not self.cell.study.true_effect:
                yield "A true difference of 0 is optimistic; ask for another effect as well."
            yield PARITY

    def _shown(self, effect: float) -> str:
        text = f"{effect:.4f} on [0, 1]"
        if self.scale is not None:
            raw = abs(self.scale.effect_to_raw(effect))
            text += f", {raw:.4g} on the scale {self.scale.low:g} to {self.scale.high:g}"
        return text

    def _chart(self) -> Chart:
        """Power over the true difference, with both answers."""
        assert self.precision is not None
        assert self.analytic is not None
        rule, target = self.cell.study.rule, self.target
        curve = effect_curve(self.analytic, self.precision, rule)
        marks: list[Mark] = [
            Level(f"target {target:g}", target),
            Spot(f"by formula {self.analytic:.4f}", self.analytic, target),
        ]
        if self.simulated is not None and self.simulated.effect <= curve.effects[-1]:
            marks.append(
                Spot(f"simulated {self.simulated.effect:.4f}", self.simulated.effect, target, colour=2)
            )
        half = curve.powers[len(curve.powers) // 4]
        return Chart(
            "power",
            "What does this study find?",
            f"By formula a true difference of {self.analytic:.3g} with power {target:g}, half of it with "
            f"{half:.2f}.",
            Axis(f"True difference {self.said.direction} on [0, 1]", 0.0, curve.effects[-1]),
            Axis("Power", 0.0, 1.0),
            (Series("line", "this study by formula", curve.effects, curve.powers),),
            tuple(marks),
        )

    def content(self) -> Record:
        """The answers with what they were computed from."""
        record: Record = {
            "power": self.target,
            "analytic": self.analytic,
            "simulated": None if self.simulated is None else asdict(self.simulated),
            **study_content(self.cell),
        }
        if not self._has_margin:
            return record
        study = self.cell.study
        margin: Record = {
            "sought": "margin",
            "effect": study.true_effect,
            "rule": {**asdict(study.rule), "margin": None},
        }
        return {"understood": str(self.said), **record, **margin}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the design says of itself."""
        return tuple(self.cell.study.design.notes)
