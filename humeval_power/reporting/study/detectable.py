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
from humeval_power.reporting.answer_words import better_words, of_hundred, on_scale, points_words
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
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
            lead=self._lead(),
            headline=tuple(self._answers()),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self) -> str:
        study, simulated = self.cell.study, self.simulated
        found = self.analytic if simulated is None else simulated.effect
        assert found is not None
        hundred = f"{of_hundred(self.target)} of 100 such studies"
        how = "by formula"
        if simulated is not None:
            width = 1.0 if self.scale is None else self.scale.width
            reach = " to ".join(f"{end * width:.3g}" for end in simulated.interval)
            how = f"by simulating {simulated.n_simulations:,} studies (95 % interval {reach})"
        truth = f"if {better_words(study.true_effect, self.scale, self.said.systems)}"
        if found > 1 and self._has_margin:
            return f"No margin on the scale is so wide that {hundred} show it, {truth}; {how}."
        if found > 1:
            return f"No difference on the scale is so large that {hundred} find it; {how}."
        size = f"{found:.3g} {on_scale(None)}"
        if self.scale is not None:
            size = f"{points_words(found, self.scale, digits=3)} ({found:.3g} of the scale)"
        if self._has_margin:
            return f"The smallest margin that {hundred} show, {truth}, is {size}, {how}."
        return f"The smallest difference that {hundred} find is {size}, {how}."

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
        at = f" at {self.said}" if self._has_margin else ""
        yield "Target", f"power {self.target:g}{at}"
        if self.simulated is not None:
            yield "Fits", f"{self.simulated.n_simulations:,} simulated, {self.simulated.n_failed:,} failed"

    def _notes(self) -> Iterator[str]:
        if self._has_margin:
            yield "Which margin would matter is another question, and if it is smaller the study is too small."
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
