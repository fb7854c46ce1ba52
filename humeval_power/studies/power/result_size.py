"""The smallest study that reaches a target power, and the smallest effect that a study finds with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import ClassVar

from humeval_power.assumptions import Assumptions
from humeval_power.choices import DEFAULT_SIMULATIONS
from humeval_power.costs import Cost
from humeval_power.designs import all_systems
from humeval_power.differences import Difference
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import (
    axis_unit,
    better_words,
    enough_work_words,
    of_hundred,
    on_scale,
    points_words,
    spread_words,
)
from humeval_power.saying.chart import Chart, LaterChart, Mark, Spot
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.saying.numbers import BY_FORMULA, POWER_LABEL, counted, power_words, time_taken
from humeval_power.saying.quantities import NO_SIZE, Quantity, QuantityResult
from humeval_power.saying.result import MDE_SCHEMA, SIZE_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.rule_words import (
    ENOUGH_WORKERS,
    PARITY,
    halfway_words,
    is_too_bold,
    margin_words,
    sought_words,
)
from humeval_power.scales import RatingScale
from humeval_power.studies.power.analytic import DetectableEffect, HalfwayPower
from humeval_power.studies.power.assurance import PowerSpread, power_spread
from humeval_power.studies.power.charts import effect_chart, target_line
from humeval_power.studies.power.formula import EffectPrecision
from humeval_power.studies.power.outlook import effect_curve
from humeval_power.studies.power.required import RequiredSize, design_of
from humeval_power.studies.power.result_several import (
    assumed_words,
    family_words,
    finds_words,
    goals_chart,
    goals_table,
    means_table,
    power_record,
    several_content,
)
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.strategies import Cell, TwoSystems
from humeval_power.studies.power.study_content import (
    category_facts,
    setting_words,
    study_content,
    study_facts,
    study_notes,
)
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SimulatedDifference, SystemsStudy


@dataclass(frozen=True, kw_only=True)
class StudySize(QuantityResult):
    """The smallest size found by formula and perhaps proved by simulation, or why there is none.

    `about` is what it was sought for; of several systems its design is not that of the answer. `priced` is what it
    costs, where prices were said, `least_each` how many ratings each worker of a budget was to give, `assumed` all
    that may be assumed of the variances.
    """

    schema: ClassVar[str] = SIZE_SCHEMA

    found: RequiredSize
    about: TwoSystems | SystemsStudy
    said: Difference
    halfway: HalfwayPower | None = None
    setting: str = ""
    scale: RatingScale | None = None
    priced: Cost | None = None
    least_each: int = 0
    assumed: Assumptions | None = None
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The size, its power, and what was asked."""
        finds = "finds this effect" if self.rule.margin is None else "shows what it claims"
        blocks: list[Block] = [Facts(self.facts())]
        if self.rule.margin is not None:
            blocks.append(Paragraph(PARITY))
        about, result = self.about, self.found
        if isinstance(about, SystemsStudy):
            finds = finds.replace("finds this effect", "reaches its goal")
            if result.counts is not None:
                formula, proof = (
                    one if isinstance(one, SystemsPower) else None
                    for one in (result.analytic, result.simulated)
                )
                blocks.insert(0, goals_table(about, formula, proof, self.scale))
            blocks += [Paragraph(assumed_words(about)), means_table(about)]
        return Document(
            f"The {'cheapest' if result.sought == 'budget' else 'smallest'} study that {finds}",
            lead=self._lead(),
            headline=self.facts(first=True),
            sections=(Section("", tuple(blocks)),),
        )

    @property
    def rule(self) -> DecisionRule:
        """The test."""
        return self.about.rule

    @property
    def enough_workers(self) -> int:
        """How many workers to take where the test rejects too often with those that would do; else 0."""
        counts = self.found.counts
        is_bold = counts is not None and is_too_bold(self.rule, counts.n_workers)
        return ENOUGH_WORKERS[self.rule.df] if is_bold else 0

    @property
    def _by_formula(self) -> float | None:
        analytic = self.found.analytic
        return analytic.power if isinstance(analytic, SystemsPower) else analytic

    @cached_property
    def spread(self) -> PowerSpread | None:
        """The power of the size by formula under all that may be assumed; None where that is chosen."""
        counts, about = self.found.counts, self.about
        if counts is None or self.assumed is None:
            return None
        if isinstance(about, SystemsStudy):
            return power_spread(replace(about, design=design_of(counts)), self.assumed)
        there = about.parameters.with_difference(about.effect)
        return power_spread(RatingStudy(there, design_of(counts), rule=about.rule), self.assumed)

    def _lead(self) -> str:
        size, counts = self.found, self.found.counts
        if counts is None:
            is_said = size.reason.startswith(("No ", "Even "))
            return size.reason if is_said else f"No number of {size.sought} will do. {size.reason}"
        if self.priced is not None and size.sought == "budget":
            workers, items = counted(counts.n_workers, "worker"), counted(counts.n_items, "item")
            enough_work = (
                "" if counts.ratings_of_a_worker < self.least_each else enough_work_words(self.least_each)
            )
            answer = f"{self.priced} would do, for {workers} and {items}: {self._then()}"
            return f"{answer} {enough_work}".rstrip()
        number = {
            "workers": counted(counts.n_workers, "worker"),
            "items": counted(counts.n_items, "item"),
            "documents": counted(counts.n_documents, "document"),
            "ratings-per-item": f"{counted(counts.ratings_per_item, 'rating')} of each output",
        }[size.sought]
        shown = self.found.simulated
        short = shown is not None and shown.power < self.found.target
        enough = "would do, as far as the simulation can tell" if short else "would do"
        return f"{number} {enough}: {self._then()}"

    def _then(self) -> str:
        shown = self.found.simulated
        assert self._by_formula is not None  # of a size that was found
        power = of_hundred(self._by_formula) if shown is None else of_hundred(shown.power, shown.interval)
        how = "by formula" if shown is None else f"by simulating {shown.n_simulations:,} studies"
        finds = finds_words(self.about, self.said, self.scale)
        then = f"then, {how}, {power} of 100 such studies {finds}."
        if enough := self.enough_workers:
            then += f" With fewer than {enough} workers the test rejects more often than it says: take {enough}."
        return " ".join([then, *(() if self.spread is None else spread_words(**asdict(self.spread)))])

    def quantities(self) -> Iterator[Quantity]:
        """The size and its power, then what it was computed from."""
        about, result, rule = self.about, self.found, self.rule
        counts, shown, formula = result.counts, result.simulated, self._by_formula
        yield Quantity("", NO_SIZE[0], NO_SIZE[1] if counts is None else None, is_first=True)
        if self.priced is not None:
            yield Quantity(
                "cost", "Cost", float(self.priced.total), lambda _: str(self.priced), is_first=True
            )
            yield Quantity("currency", value=self.priced.currency)
        yield Quantity("workers", "Workers", counts and counts.n_workers, ",", is_first=True)
        yield Quantity("items", "Items", counts and counts.n_items, ",", is_first=True)
        if counts is not None and counts.n_documents:
            yield Quantity("documents", "Documents", counts.n_documents, ",", is_first=True)
        yield Quantity(
            "ratings_per_item", "Ratings per output", counts and counts.ratings_per_item, ",", is_first=True
        )
        power = None if counts is None or shown is None else power_words(shown.power, shown.interval)
        yield Quantity("", POWER_LABEL, power, is_first=True)
        alone = formula if counts is not None and shown is None else None
        yield Quantity("", BY_FORMULA, alone, power_words, is_first=True)
        if self.spread is not None:
            yield Quantity("spread", value=asdict(self.spread))
        yield Quantity("understood", "Effect", str(self.said))
        yield Quantity("", "Margin", None if rule.margin is None else margin_words(rule, self.scale))
        yield Quantity("", "Setting", setting_words(self.setting) or None)
        goal = ""
        if isinstance(about, TwoSystems):
            for label, words in category_facts(about.parameters.with_difference(about.effect)):
                yield Quantity("", label, words)
        else:
            goal = f", goal '{about.goal}'"
            yield Quantity("", "Tests", family_words(about.family, about.parameters.n_systems))
        yield Quantity("", "Test", str(rule))
        yield Quantity("target_power", "Target", result.target, lambda target: f"power {target:g}{goal}")
        n_systems = 2 if counts is None else counts.n_systems
        n_ratings = counts and n_systems * counts.n_items * counts.ratings_per_item
        yield Quantity("n_ratings", "Ratings", n_ratings, lambda n: f"{n:,} in {all_systems(n_systems)}")
        proof, time = None, result.proof_seconds
        if shown is not None and formula is not None:
            proof = (
                "by simulation: the smallest size whose power may be the target (95 % Monte Carlo interval)"
            )
        elif time is not None:
            proof = (
                f"not by simulation: {DEFAULT_SIMULATIONS:,} studies of this size take about {time_taken(time)}; "
                f"--simulations {DEFAULT_SIMULATIONS} draws them"
            )
        label = "Formula" if proof and shown is not None else ""
        yield Quantity("analytic_power", label, formula, lambda value: f"power {power_words(value)}")
        yield Quantity("", "Checked", proof)
        yield Quantity("", "Halfway", self.halfway, halfway_words)
        yield Quantity("sought", value=result.sought)
        yield Quantity("effect", value=self.said.value)
        yield Quantity("reached", value=counts is not None)
        yield Quantity("reason", value=result.reason)
        yield Quantity("power", value=shown and shown.power)
        yield Quantity("power_interval", value=shown and list(shown.interval))
        yield Quantity("n_simulations", value=shown.n_simulations if shown else 0)
        yield Quantity("rule", value=asdict(rule))
        yield Quantity("parameters", value=about.parameters.as_dict())
        if rule.margin is not None:
            yield Quantity("halfway_to_margin", value=self.halfway and asdict(self.halfway))
        if isinstance(about, SystemsStudy):
            yield Quantity("setting", value=self.setting)
            yield Quantity("analytic", value=power_record(result.analytic, about))
            yield Quantity("simulated", value=power_record(shown, about))
            yield from (Quantity(key, value=value) for key, value in several_content(about).items())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed of several systems."""
        return self.about.parameters.notes if isinstance(self.about, SystemsStudy) else ()

    @property
    def missed(self) -> str:
        """That no size reaches the target, or a simulation shows less."""
        size = self.found
        if size.counts is None:
            return "No size within the limits reaches the target."
        shown = size.simulated if isinstance(self.about, SystemsStudy) else None
        if shown is not None and shown.interval[1] < size.target:
            return "Simulated studies of the size by formula have less power than the target."
        return ""


# The smallest effect that a study finds, or the smallest margin that it shows.


@dataclass(frozen=True, kw_only=True)
class StudyDetectable(Result):
    """The smallest effect found with the power `target`, or the smallest margin shown with it.

    `analytic` is on [0, 1] and None where the formula does not describe the study, `precision` that of the
    design; `said` is the true difference at which a margin is sought. Of several systems both are the difference by
    which their true means are stated, infinite where none on [0, 1] is enough. `assumed` is all that may be
    assumed of the variances.
    """

    schema: ClassVar[str] = MDE_SCHEMA

    cell: Cell
    target: float
    analytic: float | None
    simulated: DetectableEffect | SimulatedDifference | None
    said: Difference
    precision: EffectPrecision | None = None
    scale: RatingScale | None = None
    assumed: Assumptions | None = None
    provenance: Provenance = UNKNOWN

    @property
    def _has_margin(self) -> bool:
        return self.cell.study.rule.margin is not None

    def body(self) -> Document:
        """The effect or margin in each way, the study, and what the answer does not mean."""
        meaning = "margin that this study shows" if self._has_margin else "effect that this study finds"
        study, label = self.cell.study, "Smallest margin" if self._has_margin else "Smallest effect"
        answers = [] if self.simulated is None else [(label, self._shown(self.simulated.effect))]
        answers += [] if self.analytic is None else [(BY_FORMULA, self._shown(self.analytic))]
        blocks: list[Block] = [Facts(tuple(self._facts()))]
        if self._has_margin:
            matters = "Which margin would matter is another question, and if it is smaller the study is too small."
            blocks.append(Paragraph(matters))
            if not study.true_effect:
                zero = "A true difference of 0 is optimistic; ask for another effect as well."
                blocks.append(Paragraph(zero))
            blocks.append(Paragraph(PARITY))
        if self.precision is not None and not self._has_margin:
            blocks.append(self._chart())
        if isinstance(study, SystemsStudy):
            blocks += self._of_several(study)
        spread = () if self.spread is None else spread_words(**asdict(self.spread))
        return Document(
            f"The smallest {meaning}",
            lead=" ".join([self._lead(), *spread]),
            headline=tuple(answers),
            sections=(Section("", tuple(blocks)),),
        )

    def _of_several(self, study: SystemsStudy) -> Iterator[Block]:
        """Every goal at the answer, and what was assumed."""
        simulated, analytic = self.simulated, self.analytic
        reached = simulated.power if isinstance(simulated, SimulatedDifference) else None
        if math.isfinite(self._smallest_effect):
            by_formula = study.by_formula() if analytic is not None else None
            yield Paragraph("Every goal at this difference:")
            yield goals_table(study, by_formula, reached, self.scale)
            if by_formula is not None:
                words = "How many of 100 such studies reach each goal, by formula; the answer is marked."
                yield LaterChart(
                    "power",
                    lambda: goals_chart(study, by_formula, target=self.target, scale=self.scale),
                    words=words,
                )
        yield Paragraph(assumed_words(study))
        yield means_table(study)

    @property
    def _smallest_effect(self) -> float:
        result = self.analytic if self.simulated is None else self.simulated.effect
        assert result is not None
        return result

    @cached_property
    def spread(self) -> PowerSpread | None:
        """The power to find it by formula under all that may be assumed; None where that is chosen."""
        study = self.cell.study
        if self.analytic is None or self.assumed is None or self._has_margin:
            return None
        return power_spread(study.with_effect(self.analytic), self.assumed) if self.analytic < 1 else None

    def _lead(self) -> str:
        study, simulated = self.cell.study, self.simulated
        result = self._smallest_effect
        hundred = f"{of_hundred(self.target)} of 100 such studies"
        how = "by formula"
        if isinstance(simulated, SimulatedDifference):
            how = f"by simulating {simulated.power.n_simulations:,} studies"
        elif simulated is not None:
            width = 1.0 if self.scale is None else self.scale.width
            reach = " to ".join(f"{end * width:.3g}" for end in simulated.interval)
            how = f"by simulating {simulated.n_simulations:,} studies (95 % interval {reach})"
        truth = f"if {better_words(study.true_effect, self.scale, self.said.systems)}"
        if result > 1 and self._has_margin:
            return f"No margin on the scale is so wide that {hundred} show it, {truth}; {how}."
        if result > 1:
            them = "reach their goal" if isinstance(study, SystemsStudy) else "find it"
            return f"No difference on the scale is so large that {hundred} {them}; {how}."
        size = f"{result:.3g} {on_scale(None)}"
        if self.scale is not None:
            size = points_words(result, self.scale, digits=3)
        if isinstance(study, SystemsStudy):
            goal = finds_words(study, replace(self.said, value=result), self.scale)
            if study.goal == "pair":  # which names the difference
                return f"{hundred} {goal}, {how}; a smaller difference is found less often."
            return f"The smallest difference is {size}: then {hundred} {goal}, {how}."
        if self._has_margin:
            return f"The smallest margin that {hundred} show, {truth}, is {size}, {how}."
        return f"The smallest difference that {hundred} find is {size}, {how}."

    def _facts(self) -> Iterator[Fact]:
        study, rule = self.cell.study, self.cell.study.rule
        yield from study_facts(self.cell, sought_words(rule) if self._has_margin else None)
        at = f" at {self.said}" if self._has_margin else ""
        if isinstance(study, SystemsStudy):
            at = f", goal '{study.goal}'; all true differences in proportion"
        yield "Target", f"power {self.target:g}{at}"
        if self.simulated is not None:
            result = self.simulated
            drawn = result.power if isinstance(result, SimulatedDifference) else result
            yield "Fits", f"{drawn.n_simulations:,} simulated, {drawn.n_failed:,} failed"

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
        curve = effect_curve(self.analytic, self.precision, self.cell.study.rule)
        factor, target = axis_unit(self.scale)[0], self.target
        at = factor * self.analytic
        marks: list[Mark] = [target_line(target), Spot(f"by formula {at:.4g}", at, target)]
        if self.simulated is not None and self.simulated.effect <= curve.effects[-1]:
            proved = factor * self.simulated.effect
            marks.append(Spot(f"simulated {proved:.4g}", proved, target, colour=2))
        return effect_chart(
            curve,
            self.analytic,
            marks,
            title="What does this study find?",
            direction=self.said.direction,
            scale=self.scale,
            power=target,
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
        if self.spread is not None:
            record["spread"] = asdict(self.spread)
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
