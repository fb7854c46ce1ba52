"""The answers to the four questions that every scenario answers: power, effect, size, surface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.questions import Answer, Detectable, RequiredN
from humeval_power.reporting.answer_words import of_hundred, share_words
from humeval_power.reporting.document import Block, Document, Fact, Facts, Section
from humeval_power.reporting.numbers import interval_words, percent
from humeval_power.reporting.questions.curve_chart import Found, computed_chart, scenario_power
from humeval_power.reporting.questions.wording import PLAIN, Wording
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import NO_POWER, UNKNOWN, Provenance, Result
from humeval_power.scenarios.contract import Scenario


@dataclass(frozen=True, kw_only=True)
class QuestionResult(Result):
    """What all four have: how the scenario is put into words, and what the user said of it."""

    question: ClassVar[str]

    wording: Wording = PLAIN
    given: Mapping[str, object] = field(default_factory=dict)
    provenance: Provenance = UNKNOWN

    @property
    def schema(self) -> str:  # type: ignore[override]  # each kind of scenario has its own
        """The schema of the record, named after the scenario and the question."""
        return f"humeval_power/{self.wording.name}_{self.question}/1"


@dataclass(frozen=True, kw_only=True)
class PowerResult(QuestionResult):
    """How often a scenario's effect is found: computed, simulated, or both."""

    question: ClassVar[str] = "power"

    answer: Answer

    def body(self) -> Document:
        """Power in each way, then what was asked."""
        scenario = self.answer.scenario
        asked = [("Effect", self.wording.effect(scenario)), *self.wording.study(scenario)]
        blocks: list[Block] = [Facts((*asked, *_how(self.answer)))]
        if self.answer.computed is not None and scenario.true_effect:
            here = Found(scenario.true_effect, self.answer.computed.power)
            blocks += _curve(scenario.with_effect, here, label=self.wording.axis)
        return Document(
            "How often a comparison of this size finds this effect",
            lead=self._lead(),
            headline=tuple(_powers(self.answer)),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self) -> str:
        computed, simulated = self.answer.computed, self.answer.simulated
        found = f"would find {self.wording.found(self.answer.scenario)}"
        formula = "" if computed is None else of_hundred(computed.power)
        if simulated is None:
            return f"Of 100 such studies, {formula} {found}. By formula; no simulation was asked for."
        beside = f" By formula it would be {formula}." if formula else ""
        if simulated.too_many_failed:
            return (
                f"No power can be given: {percent(simulated.failure_rate)} of {simulated.n_simulations:,} "
                f"simulated studies could not be tested.{beside}"
            )
        power = of_hundred(simulated.power, simulated.interval)
        return f"Of 100 such studies, {power} {found}; {simulated.n_simulations:,} studies were simulated.{beside}"

    def content(self) -> Record:
        """Power as computed and as simulated."""
        answer = self.answer
        return {
            "understood": self.wording.effect(answer.scenario),
            "effect": answer.scenario.true_effect,
            "alpha": answer.scenario.alpha,
            "computed": None if answer.computed is None else asdict(answer.computed),
            "simulated": None if answer.simulated is None else _simulated(answer.simulated),
            "given": dict(self.given),
        }

    @property
    def missed(self) -> str:
        """That no power is known, because too many of the simulated studies could not be tested."""
        return (
            NO_POWER if self.answer.simulated is not None and self.answer.simulated.too_many_failed else ""
        )


@dataclass(frozen=True, kw_only=True)
class DetectableResult(QuestionResult):
    """The smallest effect that a scenario finds with the target power."""

    question: ClassVar[str] = "mde"

    scenario: Scenario
    found: Detectable

    def body(self) -> Document:
        """The effect, then what was asked."""
        found = self.found
        scenario = self.scenario.with_effect(found.effect)
        how, simulated = ("Method", found.method), found.by == "simulation"
        blocks: list[Block] = [Facts((*self.wording.study(scenario), how))]
        if found.by == "computed":
            here = Found(found.effect, found.power, target=found.power)
            blocks += _curve(scenario.with_effect, here, label=self.wording.axis)
        return Document(
            "The smallest effect that a comparison of this size finds",
            lead=f"{of_hundred(found.power)} of 100 such studies find {self.wording.found(scenario)}; a smaller "
            f"effect is found less often. {'By simulation' if simulated else 'By formula; nothing was simulated'}.",
            headline=(
                ("Smallest effect (MDE)", self.wording.shown(found.effect)),
                *self._interval(),
            ),
            sections=(Section("", tuple(blocks)),),
        )

    def _interval(self) -> Iterator[Fact]:
        if self.found.interval is not None:
            low, high = map(self.wording.shown, self.found.interval)
            yield "Monte Carlo interval", f"{low} to {high} (95 %)"

    def content(self) -> Record:
        """The effect found, and how."""
        return {"found": [asdict(self.found)], "given": dict(self.given)}


@dataclass(frozen=True, kw_only=True)
class RequiredResult(QuestionResult):
    """The smallest size that finds an effect with the target power; `build` makes the scenario of a size."""

    question: ClassVar[str] = "size"

    found: RequiredN
    build: Callable[[int], Scenario]

    def body(self) -> Document:
        """The size, then what was asked."""
        found = self.found
        shown = found.n or found.highest
        size = f"none up to {found.highest:,}" if found.n is None else f"n = {found.n:,}"
        scenario = self.build(shown)
        asked = [("Effect", self.wording.effect(scenario)), *self.wording.study(scenario)]
        blocks: list[Block] = [Facts((*asked, ("Method", found.method)))]
        if found.by == "computed":
            here = Found(shown, found.power, found.target, is_size=True)
            blocks += _curve(lambda n: self.build(round(n)), here, label="Size n")
        return Document(
            "The smallest size that finds this effect",
            lead=self._lead(scenario),
            headline=(("Size", size), (f"Power (target {found.target:g})", self._power())),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self, scenario: Scenario) -> str:
        found, find = self.found, self.wording.found(scenario)
        power, method = of_hundred(found.power), "formula" if found.by == "computed" else "simulation"
        sized = self.wording.sized
        noun = sized if isinstance(sized, str) else sized(scenario)
        if found.n is None:
            size = f"number of {noun}" if noun else "size"
            return (
                f"No {size} up to {found.highest:,} would do: with {found.highest:,}, {power} of 100 such studies "
                f"would find {find}. By {method}."
            )
        size = f"{found.n:,} {noun}" if noun else f"n = {found.n:,}"
        return f"{size} would do: then {power} of 100 such studies find {find}. By {method}."

    def _power(self) -> str:
        """That at the size found, or at the largest."""
        interval = self.found.interval
        reach = (
            ""
            if interval is None
            else f" (95 % Monte Carlo interval {interval_words(*interval, digits=3)})"
        )
        return f"{self.found.power:.4f}{reach}"

    def content(self) -> Record:
        """The size found; `n` is None where the largest size searched does not reach the target."""
        shown = self.build(self.found.n or self.found.highest)
        return {
            "understood": self.wording.effect(shown),
            "found": asdict(self.found),
            "given": dict(self.given),
        }

    @property
    def missed(self) -> str:
        """That no size up to the largest reaches the target."""
        return (
            ""
            if self.found.n
            else f"No size up to {self.found.highest:,} reaches the power {self.found.target:g}."
        )


def _curve(make: Callable[[float], Scenario], found: Found, *, label: str) -> tuple[Block, ...]:
    """Power by formula around the answer: where it is, and the power there."""
    chart = computed_chart(lambda x: scenario_power(make, x), found, label=label)
    return () if chart is None else (chart,)


def _powers(answer: Answer) -> Iterator[Fact]:
    """The powers, each with its label."""
    if answer.computed is not None:
        yield "Computed power", f"{answer.computed.power:.4f}"
    simulated = answer.simulated
    if simulated is not None and simulated.too_many_failed:
        yield "Simulated power", "none"
    elif simulated is not None:
        reach = interval_words(*simulated.interval, digits=3)
        yield "Simulated power", f"{simulated.power:.4f} ({reach})"


def _how(answer: Answer) -> Iterator[Fact]:
    """How each power was found, and how wrong significant estimates are."""
    if answer.computed is not None:
        errors = _errors(answer.computed.type_m, answer.computed.type_s)
        yield "Computed", f"by {answer.computed.method}{errors}"
    if answer.simulated is not None:
        yield "Simulated", _simulated_words(answer.simulated)


def _simulated_words(estimate: PowerEstimate) -> str:
    if estimate.too_many_failed:
        return f"{estimate.n_simulations:,} studies"
    failed = f", {estimate.n_failed:,} failed" if estimate.n_failed else ""
    errors = _errors(estimate.type_m, estimate.type_s)
    return f"{estimate.n_simulations:,} studies{failed}, 95 % Monte Carlo interval in brackets{errors}"


def _errors(type_m: float, type_s: float) -> str:
    if math.isnan(type_m):
        return ""
    wrong = f"{share_words(type_s)} have" if type_s else "none has"
    return (
        f"; significant estimates exaggerate {type_m:.2f} times (type M), {wrong} the wrong sign (type S)"
    )


def _simulated(estimate: PowerEstimate) -> Record:
    return {
        "power": estimate.power,
        "interval": list(estimate.interval),
        "rejection_rate": estimate.rejection_rate,
        "type_m": estimate.type_m,
        "type_s": estimate.type_s,
        "mean_estimate": estimate.mean_estimate,
        "n_simulations": estimate.n_simulations,
        "n_failed": estimate.n_failed,
    }
