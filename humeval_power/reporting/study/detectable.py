"""The smallest effect that a study finds, or the smallest margin that it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from humeval_power.differences import Difference
from humeval_power.inference.study.formula import EffectPrecision
from humeval_power.planning.study.detectable import DetectableEffect
from humeval_power.planning.study.outlook import effect_curve
from humeval_power.planning.study.surface import Cell
from humeval_power.planning.study.systems_questions import SimulatedDifference
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import better_words, of_hundred, on_scale, points_words
from humeval_power.reporting.chart import Axis, Chart, LaterChart, Level, Mark, Series, Spot
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.records import MDE_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import PARITY, sought_words
from humeval_power.reporting.study.several import (
    assumed_words,
    family_words,
    finds_words,
    goals_chart,
    goals_table,
    means_table,
    power_record,
)
from humeval_power.reporting.study.study_content import category_facts, study_content, study_notes
from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class StudyDetectable(Result):
    """The smallest effect found with the power `target`, or the smallest margin shown with it.

    `analytic` is on [0, 1] and None where the formula does not describe the study, `precision` that of the
    design; `said` is the true difference at which a margin is sought. Of several systems both are the difference by
    which their true means are stated, infinite where none on [0, 1] is enough.
    """

    schema: ClassVar[str] = MDE_SCHEMA

    cell: Cell
    target: float
    analytic: float | None
    simulated: DetectableEffect | SimulatedDifference | None
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
        study = self.cell.study
        if isinstance(study, SystemsStudy):
            blocks += self._of_several(study)
        return Document(
            f"The smallest {found}",
            lead=self._lead(),
            headline=tuple(self._answers()),
            sections=(Section("", tuple(blocks)),),
        )

    def _of_several(self, study: SystemsStudy) -> Iterator[Block]:
        """Every goal at the answer, and what was assumed."""
        simulated, analytic = self.simulated, self.analytic
        reached = simulated.power if isinstance(simulated, SimulatedDifference) else None
        if math.isfinite(self._found):
            by_formula = study.by_formula() if analytic is not None else None
            yield Paragraph("Every goal at this difference:")
            yield goals_table(study, by_formula, reached)
            if by_formula is not None:
                words = "Power of every goal by formula around the answer, which is marked."
                yield LaterChart(
                    "power", lambda: goals_chart(study, by_formula, target=self.target), words=words
                )
        yield Paragraph(assumed_words(study))
        yield means_table(study)

    @property
    def _found(self) -> float:
        found = self.analytic if self.simulated is None else self.simulated.effect
        assert found is not None
        return found

    def _lead(self) -> str:
        study, simulated = self.cell.study, self.simulated
        found = self._found
        hundred = f"{of_hundred(self.target)} of 100 such studies"
        how = "by formula"
        if isinstance(simulated, SimulatedDifference):
            how = f"by simulating {simulated.power.n_simulations:,} studies"
        elif simulated is not None:
            width = 1.0 if self.scale is None else self.scale.width
            reach = " to ".join(f"{end * width:.3g}" for end in simulated.interval)
            how = f"by simulating {simulated.n_simulations:,} studies (95 % interval {reach})"
        truth = f"if {better_words(study.true_effect, self.scale, self.said.systems)}"
        if found > 1 and self._has_margin:
            return f"No margin on the scale is so wide that {hundred} show it, {truth}; {how}."
        if found > 1:
            them = "reach their goal" if isinstance(study, SystemsStudy) else "find it"
            return f"No difference on the scale is so large that {hundred} {them}; {how}."
        size = f"{found:.3g} {on_scale(None)}"
        if self.scale is not None:
            size = f"{points_words(found, self.scale, digits=3)} ({found:.3g} of the scale)"
        if isinstance(study, SystemsStudy):
            goal = finds_words(study, replace(self.said, value=found), self.scale)
            return f"The smallest difference is {size}: then {hundred} {goal}, {how}."
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
        if self.cell.setting:
            yield "Setting", self.cell.setting
        yield from category_facts(study.parameters)
        yield "Study", str(study.design)
        if isinstance(study, SystemsStudy):
            yield "Tests", family_words(study.family, study.parameters.n_systems)
        yield "Test", sought_words(study.rule) if self._has_margin else str(study.rule)
        at = f" at {self.said}" if self._has_margin else ""
        if isinstance(study, SystemsStudy):
            at = f", goal '{study.goal}'; all true differences in proportion"
        yield "Target", f"power {self.target:g}{at}"
        if self.simulated is not None:
            found = self.simulated
            drawn = found.power if isinstance(found, SimulatedDifference) else found
            yield "Fits", f"{drawn.n_simulations:,} simulated, {drawn.n_failed:,} failed"

    def _notes(self) -> Iterator[str]:
        if self._has_margin:
            yield "Which margin would matter is another question, and if it is smaller the study is too small."
            if not self.cell.study.true_effect:
                yield "A true difference of 0 is optimistic; ask for another effect as well."
            yield PARITY

    def _shown(self, effect: float) -> str:
        if math.isinf(effect):
            return "none on [0, 1]"
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
        study, simulated = self.cell.study, self.simulated
        drawn: Record | None = None
        if isinstance(simulated, SimulatedDifference):
            assert isinstance(study, SystemsStudy)
            drawn = {**(power_record(simulated.power, study) or {}), "effect": simulated.effect}
        elif simulated is not None:
            drawn = asdict(simulated)
        record: Record = {
            "power": self.target,
            "analytic": self.analytic,
            "simulated": drawn,
            **study_content(self.cell),
        }
        if not self._has_margin:
            return record
        margin: Record = {
            "sought": "margin",
            "effect": study.true_effect,
            "rule": {**asdict(study.rule), "margin": None},
        }
        return {"understood": str(self.said), **record, **margin}

    @property
    def missed(self) -> str:
        """That no difference on [0, 1] is found that surely."""
        none = self.simulated is not None and math.isinf(self.simulated.effect)
        return "No difference on [0, 1] is found that surely." if none else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, and what the design says of itself."""
        return study_notes(self.cell.study)
