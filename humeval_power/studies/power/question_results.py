"""The answers to the four questions that every scenario answers: power, effect, size, surface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.saying.answer_words import of_hundred, share_words, simulated_words
from humeval_power.saying.chart import Axis, Chart, LaterChart, Level, Mark, Panels, Series, Spot
from humeval_power.saying.document import (
    QUANTITIES,
    Along,
    Block,
    Document,
    Drawn,
    Fact,
    Facts,
    Paragraph,
    Section,
    Table,
    known_rows,
    table,
)
from humeval_power.saying.numbers import POWER_LABEL, decimals, percent, power_words, share_decimals
from humeval_power.saying.quantities import values
from humeval_power.saying.result import NO_POWER, UNKNOWN, Provenance, Record, Result
from humeval_power.scenarios.contract import Scenario, is_computable
from humeval_power.studies.power.questions import Detectable, QuestionAnswer, RequiredN
from humeval_power.studies.power.wording import PLAIN, Wording, choose_curve_facets

# Power by formula around an answer, as a chart: what a page can show while one drags.

_POINTS = 41
_SAW = 100  # sizes up to which every size is drawn, because the power of an exact test is a saw


@dataclass(frozen=True, slots=True)
class Solution:
    """Where an answer lies, an effect or a size, and the power there; `target` is the one that was aimed at."""

    place: float
    power: float
    target: float | None = None
    is_size: bool = False


def computed_chart(
    power_of: Callable[[float], float | None], solution: Solution, *, label: str
) -> Chart | None:
    """Power by formula from nothing to twice where the answer lies, which is marked; None where there is no curve.

    power_of : the power at an effect, or a size; None where there can be none.
    label : what the axis of effects or sizes shows.
    """
    place, is_size = solution.place, solution.is_size
    count = max(round(2 * place) + 1, _POINTS) if is_size and place <= _SAW else _POINTS
    places = (step * 2 * place / (count - 1) for step in range(count))
    rounded = sorted({float(round(each)) if is_size else round(each, 12) for each in places})
    points = [(x, power) for x in rounded if (power := power_of(x)) is not None]
    if len(points) < 2:
        return None
    x, powers = zip(*points, strict=True)
    here = f"here: {place:{',.0f' if is_size else '.4g'}}, power {power_words(solution.power)}"
    marks: list[Mark] = [Spot(here, place, solution.power)]
    if solution.target is not None:
        marks.append(Level(f"target {solution.target:g}", solution.target))
    return Chart(
        name="power",
        title="How does power grow with the size?" if is_size else "Which effects are found how often?",
        words=f"Power by formula, from 0 to twice the answer, which is marked; {here}.",
        x=Axis(label, x[0], x[-1], is_whole=is_size),
        y=Axis(POWER_LABEL, 0, 1),
        series=(Series("line", "power by formula", x, powers),),
        marks=tuple(marks),
    )


def _curve(make: Callable[[float], Scenario], solution: Solution, *, label: str) -> tuple[Block, ...]:
    """The chart of the scenarios of effects, or of sizes; nothing where there is no formula."""

    def power_of(x: float) -> float | None:
        try:
            scenario = make(x)
            return scenario.computed().power if is_computable(scenario) else None
        except HumevalPowerError:
            return None

    chart = computed_chart(power_of, solution, label=label)
    return () if chart is None else (chart,)


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

    answer: QuestionAnswer

    def body(self) -> Document:
        """Power in each way, then what was asked."""
        scenario, computed, simulated = self.answer.scenario, self.answer.computed, self.answer.simulated
        facts = [("Effect", self.wording.effect(scenario)), *self.wording.study(scenario)]
        blocks: list[Block] = [Facts((*facts, *_how(self.answer)))]
        headline: list[Fact] = []
        if computed is not None:
            headline.append((f"Computed {POWER_LABEL.lower()}", power_words(computed.power)))
        if simulated is not None:
            power = power_words(simulated.power, simulated.interval)
            power = "none" if simulated.too_many_failed else power
            headline.append((f"Simulated {POWER_LABEL.lower()}", power))
        if computed is not None and scenario.true_effect:
            here = Solution(scenario.true_effect, computed.power)
            blocks += _curve(scenario.with_effect, here, label=self.wording.axis)
        return Document(
            "How often a comparison of this size finds this effect",
            lead=self._lead(),
            headline=tuple(headline),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self) -> str:
        computed, simulated = self.answer.computed, self.answer.simulated
        finds = f"would find {self.wording.found(self.answer.scenario)}"
        formula = "" if computed is None else of_hundred(computed.power)
        by = "Computed exactly" if computed is not None and computed.exact else "By formula"
        if simulated is None:
            return f"Of 100 such studies, {formula} {finds}. {by}."
        beside = f" {by} it would be {formula}." if formula else ""
        if simulated.too_many_failed:
            return (
                f"No power can be given: {percent(simulated.failure_rate)} of {simulated.n_simulations:,} "
                f"simulated studies could not be tested.{beside}"
            )
        between = simulated_words(simulated.n_simulations, simulated.interval)
        return f"Of 100 such studies, {of_hundred(simulated.power)} {finds}; {between}.{beside}"

    def content(self) -> Record:
        """Power as computed and as simulated."""
        answer = self.answer
        return {
            "understood": self.wording.effect(answer.scenario),
            "effect": answer.scenario.true_effect,
            "alpha": answer.scenario.alpha,
            "computed": None if answer.computed is None else asdict(answer.computed),
            "simulated": None
            if answer.simulated is None
            else values(
                answer.simulated,
                *("power", "interval", "rejection_rate", "type_m", "type_s", "mean_estimate"),
                *("n_simulations", "n_failed"),
            ),
            "given": dict(self.given),
        }

    @property
    def missed(self) -> str:
        """That no power is known, because too many of the simulated studies could not be tested."""
        simulated = self.answer.simulated
        return NO_POWER if simulated is not None and simulated.too_many_failed else ""


@dataclass(frozen=True, kw_only=True)
class DetectableResult(QuestionResult):
    """The smallest effect that a scenario finds with the target power."""

    question: ClassVar[str] = "mde"

    scenario: Scenario
    found: Detectable

    def body(self) -> Document:
        """The effect, then what was asked."""
        detectable = self.found
        scenario = self.scenario.with_effect(detectable.effect)
        headline = [("Smallest effect (MDE)", self.wording.shown(detectable.effect))]
        if detectable.interval is not None:
            ends = " to ".join(map(self.wording.shown, detectable.interval))
            headline.append(("Monte Carlo interval", f"{ends} (95 %)"))
        blocks: list[Block] = [Facts((*self.wording.study(scenario), ("Method", detectable.method)))]
        if detectable.by == "computed":
            here = Solution(detectable.effect, detectable.power, target=detectable.power)
            blocks += _curve(scenario.with_effect, here, label=self.wording.axis)
        return Document(
            "The smallest effect that a comparison of this size finds",
            lead=f"{of_hundred(detectable.power)} of 100 such studies find {self.wording.found(scenario)}; "
            "a smaller effect is found less often. "
            + ("By simulation." if detectable.by == "simulation" else "Computed; nothing was simulated."),
            headline=tuple(headline),
            sections=(Section("", tuple(blocks)),),
        )

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
        required = self.found
        shown = required.n or required.highest
        size = f"none up to {required.highest:,}" if required.n is None else f"n = {required.n:,}"
        power, scenario = power_words(required.power, required.interval), self.build(shown)
        facts = [("Effect", self.wording.effect(scenario)), *self.wording.study(scenario)]
        blocks: list[Block] = [Facts((*facts, ("Method", required.method)))]
        if required.by == "computed":
            here = Solution(shown, required.power, required.target, is_size=True)
            blocks += _curve(lambda n: self.build(round(n)), here, label="Size n")
        return Document(
            "The smallest size that finds this effect",
            lead=self._lead(scenario),
            headline=(("Size", size), (f"{POWER_LABEL} (target {required.target:g})", power)),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self, scenario: Scenario) -> str:
        required, sized = self.found, self.wording.sized
        studies = f"{of_hundred(required.power)} of 100 such studies"
        found = f"find {self.wording.found(scenario)}. "
        found += "Computed, not simulated." if required.by == "computed" else "By simulation."
        noun = sized if isinstance(sized, str) else sized(scenario)
        if required.n is None:
            size = f"number of {noun}" if noun else "size"
            most = f"{required.highest:,}"
            return f"No {size} up to {most} would do: with {most}, {studies} would {found}"
        size = f"{required.n:,} {noun}" if noun else f"n = {required.n:,}"
        return f"{size} would do: then {studies} {found}"

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
        found = self.found
        return "" if found.n else f"No size up to {found.highest:,} reaches the power {found.target:g}."


def _how(answer: QuestionAnswer) -> Iterator[Fact]:
    """How each power was found, and how wrong significant estimates are."""
    if answer.computed is not None:
        errors = _errors(answer.computed.type_m, answer.computed.type_s)
        yield "Computed", f"by {answer.computed.method}{errors}"
    estimate = answer.simulated
    if estimate is not None and estimate.too_many_failed:
        yield "Simulated", f"{estimate.n_simulations:,} studies"
    elif estimate is not None:
        failed = f", {estimate.n_failed:,} failed" if estimate.n_failed else ""
        errors = _errors(estimate.type_m, estimate.type_s)
        how = f"95 % Monte Carlo interval in brackets{errors}"
        yield "Simulated", f"{estimate.n_simulations:,} studies{failed}, {how}"


def _errors(type_m: float, type_s: float) -> str:
    if math.isnan(type_m):
        return ""
    wrong = f"{share_words(type_s)} have" if type_s else "none has"
    return (
        f"; significant estimates exaggerate {type_m:.2f} times (type M), {wrong} the wrong sign (type S)"
    )


_OWN_COLUMNS = (
    *("n", "effect", "power", "power_low", "power_high", "type_m", "type_s"),
    *("n_simulations", "n_failed", "method"),
)


@dataclass(frozen=True, kw_only=True)
class SurfaceResult(QuestionResult):
    """Power over many sizes and effects, a row for each."""

    question: ClassVar[str] = "surface"

    rows: tuple[dict[str, Any], ...]
    draw: Drawn = "power"
    along: Along | None = None

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns of what is assumed, of which there are several values."""
        return tuple(name for name in self.rows[0] if name not in _OWN_COLUMNS)

    def body(self) -> Document:
        """The table and its curves."""
        return Document(
            "Power over sizes and effects",
            lead=self._lead(),
            sections=(Section("", (self._table(), self._picture())),),
        )

    def _lead(self) -> str:
        known = [row for row in self.rows if not math.isnan(row["power"])]
        if not known:
            return "No power can be given: too many of the simulated studies could not be tested."
        low, high = (
            f"{of_hundred(row['power'])} (n = {row['n']:,}, effect {self.wording.shown(row['effect'])})"
            for row in (f(known, key=lambda row: row["power"]) for f in (min, max))
        )
        span = low if low == high else f"from {low} to {high}"
        simulated = any(row["n_simulations"] for row in known)
        how = (
            "'+-' is half the 95 % Monte Carlo interval of a simulated power" if simulated else "By formula"
        )
        return f"Of 100 such studies, {span} would find the effect. {how}."

    def _picture(self) -> Block:
        quantity = QUANTITIES[self.draw]
        try:
            facets = choose_curve_facets(known_rows(self.rows, self.draw), self.lists, self.along)
        except InputError as error:
            return Paragraph(f"No figure. {error}")
        against = "size" if facets.x == "n" else "effect"
        panels = f"; panels by {' and '.join(facets.panels)}" if facets.panels else ""
        words = f"{quantity.words} against the {against}, a line for each {facets.line_words}{panels}."

        def draw() -> Chart | Panels:
            from humeval_power.studies.power.figures import curve_chart

            how: dict[str, Any] = {"lists": self.lists, "draw": self.draw, "along": self.along}
            return curve_chart(self.rows, effect_label=self.wording.axis, words=words, **how)

        return LaterChart("surface", draw, words=words)

    def _table(self) -> Table:
        columns: dict[str, Callable[[Mapping[str, Any]], str]] = {}
        for name in self.lists:
            columns[name.replace("_", " ")] = f"{{{name}:g}}".format_map
        columns |= {
            "n": lambda row: f"{row['n']:,}",
            "effect": lambda row: self.wording.shown(row["effect"]),
            POWER_LABEL.lower(): lambda row: power_words(row["power"]),
            "+-": lambda row: (
                f"{(row['power_high'] - row['power_low']) / 2:.3f}" if row["n_simulations"] else ""
            ),
            "type M": lambda row: decimals(row["type_m"], 2),
            "type S": lambda row: share_decimals(row["type_s"], 3),
        }
        return table(self.rows, columns)

    def content(self) -> Record:
        """A row for each cell."""
        return {"rows": [dict(row) for row in self.rows], "given": dict(self.given)}
