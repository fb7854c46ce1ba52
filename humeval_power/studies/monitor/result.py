"""What a look at a running study says, and its record."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.rules import claim
from humeval_power.saying.answer_words import as_points, as_points_interval, in_points_too, points_words
from humeval_power.saying.chart import Chart, LaterChart
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, interval_words, level_of, p_cell, p_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.figures import boundary_chart
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.looks.repeated import RepeatedResult, interval_of
from humeval_power.studies.monitor.dropping import DroppingMonitoring, DropTaken, best_sentence
from humeval_power.studies.monitor.followed import AnyMonitoring, MonitoredPlan, over_looks
from humeval_power.studies.monitor.ledger_fields import LedgerSeal
from humeval_power.studies.monitor.state import Decision, Monitoring, TakenLook
from humeval_power.studies.monitor.step import (
    after_stopping,
    false_positive_chance,
    path_boundaries,
    rating_inference,
    repeated_interval,
)
from humeval_power.studies.monitor.systems import (
    PairData,
    PairOverLooks,
    SystemsMonitoring,
    TakenSystemsLook,
)
from humeval_power.studies.plan.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

AnyLook = TakenLook | TakenSystemsLook
Columns = dict[str, Callable[[Any], str]]

# What a look shows, in words: of ratings of two systems, of independent judgements, and of several systems.


class _Words:
    """What one kind of study says of its looks; this much the same of all that are counted in ratings."""

    state: Any
    plan: Any

    @property
    def unit(self) -> str:
        """What is counted: ratings, scores, judgements or items."""
        return "ratings"

    def size(self, look: Any) -> int:
        """How many of them were in."""
        return int(look.data.n_ratings)

    def planned_size(self) -> int:
        """How many there are at the planned end."""
        return int(self.plan.design().n_ratings)

    def seen(self, look: Any) -> str:
        """'120 of 480 ratings'."""
        return f"{self.size(look):,} of {self.planned_size():,} {self.unit}"

    def data(self, look: Any) -> str:
        """What was in."""
        return f"{self.seen(look)}, {look.data.n_workers} workers, {look.data.n_items} items"

    def result(self) -> list[Fact]:
        """What to report after the last look, where it is one fact."""
        return []

    @property
    def comparisons(self) -> tuple[Section, ...]:
        """Every comparison, where there are several."""
        return ()

    def errors(self) -> Record:
        """How often the looks so far err without a difference; of a rating study `looks study` simulates it."""
        return {}


class DifferenceWords(_Words, ABC):
    """A study of one difference, by its own boundaries."""

    state: Monitoring
    plan: MonitoredPlan

    @abstractmethod
    def estimate(self, look: TakenLook) -> str:
        """What was found."""

    @abstractmethod
    def shown(self, look: TakenLook) -> float:
        """The estimate as readers know it."""

    @abstractmethod
    def effect(self) -> str:
        """The effect of interest."""

    def systems(self) -> str:
        return " and ".join(self.plan.systems)

    def answer(self, look: TakenLook) -> str:
        """Who is better, and how far p is from its boundary; that p passed is said in words, as a small one is not
        printed to the digits of its boundary."""
        passed = "passed" if look.data.p_value <= look.nominal else "not passed"
        needed = f"{p_words(look.data.p_value)}; success needs p <= {look.nominal:.5f}: {passed}"
        futile = f"; futility is p > {look.futility:.3f}" if look.futility < 1 else ""
        return f"{self.winner(look)} After {self.seen(look)}, {needed}{futile}."

    def winner(self, look: TakenLook) -> str:
        """Who is better, where that is shown."""
        a, b = self.plan.systems
        return f" {_above(a, b, look.data.estimate)}." if look.decision in _SUCCESS else ""

    def found(self, look: TakenLook) -> Iterator[Fact]:
        """The estimate, and the chances of success."""
        yield "Estimate", self.estimate(look)
        if power := look.conditional_power:
            yield (
                "Chances",
                f"of success at the end, as these ratings are: {power['design']:.2f} if {self.effect()}, "
                f"{power['trend']:.2f} if it and its error stay as estimated, {power['null']:.2f} if there is none",
            )

    def known(self, look: TakenLook) -> str:
        """How much of the planned information there is."""
        share = look.data.information / self.state.maximum_information
        return f"{100 * share:.1f} % of the planned information"

    def looks(self) -> Iterator[Block]:
        yield self.table()
        words = (
            "The boundaries of z against the planned information, and this study's way past them so far."
        )

        def draw() -> Chart:
            bounds = path_boundaries(self.state)
            path = [(look.fraction, look.data.z) for look in self.state.looks]
            how: dict[str, Any] = {"path": path, "name": "looks", "words": words}
            return boundary_chart(bounds, information_shares=bounds.information, **how)

        yield LaterChart("looks", draw, words=words)

    def table(self) -> Table:
        """A row for each look."""
        scale = self.plan.scale if isinstance(self.plan, Plan) else None
        columns: Columns = {
            "look": _name,
            self.unit: lambda look: f"{self.size(look):,}",
            "information": lambda look: f"{look.fraction:.3f}",
            **_estimate(scale, self.shown),
            "p": lambda look: p_cell(look.data.p_value),
            "needed": lambda look: f"{look.nominal:.5f}",
            "decision": lambda look: look.decision,
        }
        return table(self.state.looks, columns)

    def planned(self) -> Record:
        return values(self.state, "fractions", "maximum_information")

    def rows(self) -> list[Record]:
        rows: list[Record] = []
        for look in self.state.looks:
            row = asdict(look)
            chances = {f"power_if_{name}": value for name, value in row.pop("conditional_power").items()}
            rows.append({**row, **row.pop("data"), **chances, "remarks": "; ".join(row["remarks"])})
        return [{name: value for name, value in row.items() if name != "data"} for row in rows]


@dataclass(frozen=True)
class RatingWords(DifferenceWords):
    """A rating study."""

    state: Monitoring
    plan: Plan

    def data(self, look: TakenLook) -> str:
        return f"{super().data(look)}; {self.known(look)}"

    def estimate(self, look: TakenLook) -> str:
        data, scale = look.data, self.plan.scale
        a, b = self.plan.systems
        points = "" if scale is None else f"{scale.effect_to_raw(data.estimate):.4g} points; "
        on_unit = f"{data.estimate:.4f} on [0, 1], SE {data.standard_error:.4f}, df {data.df:.1f}"
        return f"{b} - {a} = {points}{on_unit}"

    def shown(self, look: TakenLook) -> float:
        return look.data.estimate

    def winner(self, look: TakenLook) -> str:
        a, b = self.plan.systems
        words, test = super().winner(look), self.state.test
        return words if not words or test.margin is None else f" Shown: {claim(test)} of {b} and {a}."

    def answer(self, look: TakenLook) -> str:
        """Of a study that its intervals stop the interval of this look: ' After 12 of 16 workers, new - old lies
        between 0.080 and 0.440 points (95 %, at all looks together; on [0, 1] 0.0200 to 0.1100).'"""
        if self.state.stop_when is None:
            return super().answer(look)
        (a, b), scale, interval = self.plan.systems, self.plan.scale, repeated_interval(look)
        between = as_points_interval(interval, scale).replace(" to ", " and ")
        unit, beside = "on [0, 1]", ""
        if scale is not None:
            unit, beside = "points", f"; on [0, 1] {interval_words(*interval)}"
        level = f"{level_of(1 - self.state.rule.alpha)}, at all looks together"
        lies = f"{b} - {a} lies between {between} {unit} ({level}{beside})"
        return f"{self.winner(look)} After {self.seen(look)}, {lies}."

    def table(self) -> Table:
        """Of a study that its intervals stop the intervals."""
        if self.state.stop_when is None:
            return super().table()
        scale = self.plan.scale

        def half_width(look: TakenLook) -> str:
            low, high = repeated_interval(look)
            return as_points(abs(high - low) / 2, scale).removeprefix("-")

        columns: Columns = {
            "look": _name,
            "workers": lambda look: f"{look.data.n_workers}",
            **_estimate(scale, self.shown),
            "interval": lambda look: as_points_interval(repeated_interval(look), scale),
            "half-width": half_width,
            "decision": lambda look: look.decision,
        }
        unit = "on [0, 1]" if scale is None else "in points"
        return table(self.state.looks, columns, f"by intervals that hold at every look together, {unit}")

    def planned(self) -> Record:
        reasons = {} if self.state.stop_when is None else values(self.state, "stop_when")
        return {**super().planned(), **reasons}

    def inference(self) -> Any:
        return asdict(rating_inference(self.state))

    def result(self) -> list[Fact]:
        inference = rating_inference(self.state)
        (a, b), scale = self.plan.systems, self.plan.scale
        if isinstance(inference, RepeatedResult):
            return [("Result", repeated_words(inference, (a, b), scale))]
        level = f"{level_of(inference.confidence)} interval {{}}"
        found = in_points_too(inference.estimate, inference.interval, scale, interval_is=level)
        said = (
            f"{b} - {a} = {found}, {p_words(inference.p_value)}, taking the looks into account "
            f"(stage-wise ordering; median-unbiased); the plain estimate is {as_points(inference.naive, scale)}"
        )
        return [("Result", said)]

    def effect(self) -> str:
        return f"the difference is {points_words(self.state.effect, self.plan.scale)} as planned"


def repeated_words(
    result: RepeatedResult, systems: tuple[str, str], scale: RatingScale | None = None
) -> str:
    """'new - baseline = 0.450 points (95 % interval ...) ...', with the bias that the plan predicts."""
    a, b = systems
    level = f"{level_of(result.confidence)} interval {{}}"
    level += ", which holds at all looks together, whatever ended the study"
    found = in_points_too(result.estimate, result.interval, scale, interval_is=level)
    said = f"{b} - {a} = {found}, {p_words(result.p_value)} over all looks"
    if result.bias is None:
        return said
    off = f"{result.bias:+.3g} on [0, 1]"
    if scale is not None:
        off = f"{scale.effect_to_raw(result.bias):+.3g} points"
    return (
        f"{said}. If the planned difference is true, an estimate at which a study ends so is off by {off} on "
        "average, by the plan"
    )


@dataclass(frozen=True)
class JudgementWords(DifferenceWords):
    """Independent judgements."""

    state: Monitoring
    plan: JudgementPlan

    @property
    def unit(self) -> str:
        return self.plan.unit

    def size(self, look: Any) -> int:
        return int(look.data.n_judgements)

    def planned_size(self) -> int:
        return self.plan.n

    def data(self, look: Any) -> str:
        """Counts by system, and the information."""
        data = look.data
        a, b = self.plan.systems
        parts = {
            "scores": f"{data.n_a:,} of {a}, {data.n_b:,} of {b}",
            "preference": f"{data.n_b:,} for {b}, {data.n_a:,} for {a}, {data.n_ties:,} ties",
            "accuracy": f"{data.n_b:,} that {b} alone got right, {data.n_a:,} that {a} alone did",
        }[self.plan.kind]
        return f"{self.seen(look)} ({parts}); {self.known(look)}"

    def estimate(self, look: Any) -> str:
        """In the units of the test; of scores the difference of means too."""
        means = f"; means differ by {look.data.difference:+z.2f}" if self.plan.kind == "scores" else ""
        error = f"SE {look.data.standard_error:.4f}"
        return f"{self._name} = {self.shown(look):.4f}, {error}{means}; {self.plan.test}"

    def shown(self, look: TakenLook) -> float:
        """A share, or a difference of accuracy."""
        return look.data.estimate + self._shift

    def result(self) -> list[Fact]:
        """Stage-wise inference, exact for counts; and how often these looks err."""
        inference, shift = after_stopping(self.state, self.plan), self._shift
        is_exact, alpha = self.plan.kind != "scores", self.plan.rule.alpha
        how = "; exact, given how many judgements were decided" if is_exact else ""
        low, high = inference.interval
        said = (
            f"{self._name} = {inference.estimate + shift:.4f} ({level_of(inference.confidence)} interval "
            f"{interval_words(low + shift, high + shift)}), {p_words(inference.p_value)}, taking the looks into "
            f"account (stage-wise ordering; median-unbiased{how}); the plain estimate is "
            f"{inference.naive + shift:.4f}"
        )
        chance = 100 * false_positive_chance(self.state, self.plan)
        errors = (
            f"without a difference these looks claim one in {chance:.2f} % of studies"
            f"{', exactly' if is_exact else ''} (alpha {100 * alpha:g} %)"
        )
        facts = [("Result", said), ("Errors", errors)]
        passed = self.state.looks[-1].decision in _SUCCESS
        if passed is not (inference.p_value <= alpha):
            was = "was passed, although p is above" if passed else "was not passed, although p is at most"
            decides = (
                "The boundary decides, as it was planned; these looks do not use alpha to the last digit."
            )
            facts.append(("", f"the boundary {was} alpha. {decides}"))
        return facts

    def inference(self) -> Any:
        return asdict(after_stopping(self.state, self.plan))

    def effect(self) -> str:
        if self.plan.kind == "scores":
            return f"means differ by {self.plan.study.true_effect:g} points as planned"
        return f"it is {self.state.effect + self._shift:g} as planned"

    def errors(self) -> Record:
        """The chance of a false positive at the looks so far."""
        if not self.state.looks:
            return {}
        return {"false_positive_chance": false_positive_chance(self.state, self.plan)}

    @property
    def _shift(self) -> float:
        """Shares are shown as such, not as what they are above 1/2."""
        return 0.0 if self.plan.kind == "accuracy" else 0.5

    @property
    def _name(self) -> str:
        a, b = self.plan.systems
        if self.plan.kind == "scores":
            return f"P({b} scores higher than {a})"
        if self.plan.kind == "accuracy":
            return f"accuracy of {b} - {a}"
        kept = getattr(self.plan.study, "ties", "excluded") == "kept"
        return f"share that prefers {b}{', ties counted half' if kept else ' of those who prefer one'}"


@dataclass(frozen=True)
class SystemsWords(_Words):
    """A rating study of several systems, whose comparisons have boundaries of their own."""

    state: SystemsMonitoring
    plan: Plan

    def systems(self) -> str:
        return f"{len(self.plan.systems)} systems"

    def compared(self, look: TakenSystemsLook) -> list[tuple[PairData, Any]]:
        """The comparisons at a look, each with what it decided."""
        return list(zip(look.data.pairs, look.pairs, strict=True))

    def answer(self, look: TakenSystemsLook) -> str:
        """How many comparisons are shown."""
        n = sum(at is not None for at in self.state.shown_at)
        of = f"{n} of {counted(len(look.pairs), 'comparison')}"
        return f" After {self.seen(look)}, {of} {'is' if n == 1 else 'are'} shown."

    def found(self, look: TakenSystemsLook) -> Iterator[Fact]:
        """What this look has shown."""
        new = [
            _above(one.first, one.second, one.estimate)
            for one, pair in self.compared(look)
            if pair.shown_at == look.number
        ]
        if new:
            yield "Shown now", "; ".join(new)

    @property
    def comparisons(self) -> tuple[Section, ...]:
        """At the last look; after the end over all of them."""
        at_look = Section("Comparisons at this look", tuple(self.at_last_look()))
        return (at_look, Section("Result", tuple(self.over_all()))) if self.state.ended else (at_look,)

    def at_last_look(self) -> Iterator[Block]:
        """Every comparison at the last look: its estimate, its p-value, what it needed."""
        look, scale = self.state.looks[-1], self.plan.scale

        def needed(row: tuple[PairData, Any]) -> str:
            _, pair = row
            shown_before = pair.shown_at is not None and pair.shown_at < look.number
            return "-" if shown_before else f"{pair.nominal:.6f}"

        def state(row: tuple[PairData, Any]) -> str:
            data, pair = row
            if pair.shown_at is not None:
                return f"shown at look {pair.shown_at}"
            return "futile" if data.p_value > pair.futility else "open"

        columns: Columns = {
            **_difference(scale, _data_of),
            "SE": lambda row: as_points(row[0].standard_error, scale).removeprefix("-"),
            **_TEST,
            "needed": needed,
            "": state,
        }
        yield table(self.compared(look), columns, _unit_of_differences(scale))

    def over_all(self) -> Iterator[Block]:
        """What to report after the end."""
        return result_blocks(over_looks(self.state), len(self.state.looks), self.plan.scale)

    def looks(self) -> Iterator[Block]:
        def information(look: TakenSystemsLook) -> str:
            fractions = [pair.fraction for _, pair in self.compared(look)]
            low, high = f"{min(fractions):.3f}", f"{max(fractions):.3f}"
            return low if low == high else f"{low} to {high}"

        columns: Columns = {
            "look": _name,
            "ratings": lambda look: f"{look.data.n_ratings:,}",
            "information": information,
            **self.outcome(),
            "decision": lambda look: look.decision,
        }
        yield table(self.state.looks, columns)

    def outcome(self) -> Columns:
        """Columns of what looks decided."""

        def shown(look: TakenSystemsLook) -> str:
            return f"{sum(pair.shown_at is not None for pair in look.pairs)} of {len(look.pairs)}"

        return {"shown": shown}

    def planned(self) -> Record:
        state = self.state
        return {
            "correction": state.correction,
            "comparisons": [
                {"first": first, "second": second, **values(one, "fractions", "maximum_information")}
                for (first, second), one in zip(state.names, state.each, strict=True)
            ],
        }

    def inference(self) -> Any:
        return [over_record(one) for one in over_looks(self.state)]

    def rows(self) -> list[Record]:
        return [
            {"look": look.number, **asdict(data), **asdict(pair), "decision": look.decision}
            for look in self.state.looks
            for data, pair in self.compared(look)
        ]


@dataclass(frozen=True)
class DroppingWords(SystemsWords):
    """A rating study whose looks drop systems."""

    state: DroppingMonitoring

    def planned_size(self) -> int:
        """As many as there will be at the planned end, if no other system is dropped; after the end of all
        systems."""
        state, whole = self.state, self.plan.design().n_ratings
        if not state.looks or state.ended:
            return whole
        last = state.looks[-1]
        rest = max(1 - last.data.share, 0.0)
        return self.size(last) + round(rest * whole * len(state.left) / len(state.systems))

    def answer(self, look: TakenSystemsLook) -> str:
        """Who is the best, or who is left."""
        return f" {best_sentence(self.state)} {self.seen(look)} are in."

    def found(self, look: TakenSystemsLook) -> Iterator[Fact]:
        """Who is dropped, and by whom."""
        assert isinstance(look, DropTaken)
        for name in look.dropped:
            by = []
            for one, pair in self.compared(look):
                lower, higher = (one.first, one.second) if one.estimate > 0 else (one.second, one.first)
                if lower == name and one.p_value <= pair.drop:
                    by.append(f"{higher} ({p_words(one.p_value)}, needed {pair.drop:.5f})")
            yield f"Dropped: {name}", f"beaten by {', '.join(by)}"
        if not look.dropped:
            yield "Dropped", "none"
        if not self.state.ended:
            left = ", ".join(self.state.left)
            yield "Go on with", f"{left}: each new worker rates all of them on the same items"

    def at_last_look(self) -> Iterator[Block]:
        """Those that are left."""
        scale = self.plan.scale
        yield Paragraph(
            "The intervals of all pairs cover together, at every look and whatever was dropped. A system is "
            "dropped where p is at most what drops it and the other is better; one is the best where it beats all "
            "that are left."
        )

        def interval(row: tuple[PairData, Any]) -> str:
            one, pair = row
            ends = interval_of(one.estimate, one.standard_error, one.df, pair.interval)
            return as_points_interval(ends, scale)

        columns: Columns = {
            **_difference(scale, _data_of),
            "interval": interval,
            **_TEST,
            "drops at": lambda row: f"{row[1].drop:.5f}",
            "best at": lambda row: f"{row[1].nominal:.5f}",
        }
        yield table(self.compared(self.state.taken[-1]), columns, _unit_of_differences(scale))

    def over_all(self) -> Iterator[Block]:
        return drop_blocks(self.state, self.plan.scale)

    def compared(self, look: TakenSystemsLook) -> list[tuple[PairData, Any]]:
        """Of the systems that were rated until a look."""
        left = self.state.left_before(look.number - 1)
        return [(one, pair) for one, pair in super().compared(look) if {one.first, one.second} <= set(left)]

    def outcome(self) -> Columns:
        return {
            "dropped": lambda look: ", ".join(look.dropped) or "-",
            "left": lambda look: str(len(self.state.left_before(look.number))),
        }

    def planned(self) -> Record:
        return {**super().planned(), **values(self.state, "stop_when", "interval_factor")}

    def errors(self) -> Record:
        return dropping_record(self.state)


def dropping_record(state: DroppingMonitoring) -> Record:
    """Who is left, who was dropped when, and who is the best."""
    return {
        "left": list(state.left),
        "dropped_at": {name: state.dropped_at(name) for name in state.systems},
        "best": state.best,
    }


def drop_blocks(state: DroppingMonitoring, scale: RatingScale | None) -> Iterator[Block]:
    """What became of each system, and every comparison at its last look."""

    def fate(name: str) -> str:
        at = state.dropped_at(name)
        return "the best" if name == state.best else "left" if at is None else f"dropped at look {at}"

    yield table(state.systems, {"system": str, "": fate})
    yield from result_blocks(over_looks(state), len(state.looks), scale)
    yield Paragraph(
        "Each comparison is that of the last look at which both systems were rated. Estimates of systems that were "
        "dropped are too low on average, of those that are left too high: no table of means is fair to both."
    )


DECISIONS: dict[Decision, str] = {
    "continue": "Go on collecting.",
    "stop-success": "Stop: the boundary is passed.",
    "stop-equivalence": "Stop: the systems are equivalent, as the plan defines it.",
    "stop-half-width": "Stop: the interval is as narrow as the plan asks.",
    "stop-futility": "Stop for futility: it has become unlikely that anything will be shown.",
    "end-success": "The study has ended, and its boundary is passed.",
    "end-equivalence": "The study has ended: the systems are equivalent, as the plan defines it.",
    "end-half-width": "The study has ended: the interval is as narrow as the plan asks, and decides nothing else.",
    "end-some-shown": "The study has ended: some comparisons are shown, others are not.",
    "end-nothing-shown": "The study has ended. Nothing is shown; that does not show that there is nothing.",
}
_SUCCESS = ("stop-success", "end-success")
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class MonitorResult(Result):
    """The looks so far, and what the last one decided. `ledger` is its file, None where none is kept; `notices` say
    what the data of the last look are, where they are those of a rehearsal; `about` what it is about, where its
    items were drawn from a pool."""

    schema: ClassVar[str] = "humeval_power/monitor/2"

    state: AnyMonitoring
    plan: MonitoredPlan
    ledger: str | None = None
    about: str = ""
    seal: LedgerSeal | None = None
    notices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def look(self) -> AnyLook | None:
        """The last look, None before the first."""
        return self.state.looks[-1] if self.state.looks else None

    @property
    def _words(self) -> RatingWords | JudgementWords | SystemsWords:
        state, plan = self.state, self.plan
        if isinstance(plan, JudgementPlan):
            assert isinstance(state, Monitoring)
            return JudgementWords(state, plan)
        if isinstance(state, DroppingMonitoring):
            return DroppingWords(state, plan)
        return (
            SystemsWords(state, plan) if isinstance(state, SystemsMonitoring) else RatingWords(state, plan)
        )

    def body(self) -> Document:
        state, words = self.state, self._words
        look: Any = self.look
        if look is None:
            planned = ", ".join(f"{100 * share:.3g} %" for share in state.shares)
            lead = f"{len(state.shares)} planned, by {state.unit}: {planned}."
            return Document("No look was taken yet", lead=lead)
        return Document(
            f"Look {look.number} at the study of {words.systems()}",
            lead=f"{DECISIONS[look.decision]}{words.answer(look)}{self.about and f' {self.about}'}",
            caveats=self.notices,
            sections=(
                Section("", (Facts(tuple(self._facts(look))),)),
                *words.comparisons,
                Section("Looks", tuple(words.looks())),
            ),
        )

    def _facts(self, look: Any) -> Iterator[Fact]:
        state, words = self.state, self._words
        if state.ended:
            yield from words.result()
        which = f"{look.number}, not planned"
        if look.planned is not None:
            due, n = state.shares[look.planned - 1], len(state.shares)
            when = "at" if look.data.share >= due - _ROUNDING else "due at"
            which = f"{look.planned} of {n} planned, {when} {100 * due:.3g} % of the {state.unit}"
        yield "Look", which
        yield "Data", words.data(look)
        yield from words.found(look)
        yield from (("Remark", remark) for remark in look.remarks)
        if look.reason:
            yield "Reason", look.reason
        if not state.ended and state.next_planned is not None:
            share, rest = state.shares[state.next_planned - 1], words.planned_size() - words.size(look)
            yield (
                "Left",
                f"look {state.next_planned} is due at {100 * share:.3g} % of the {state.unit}; "
                f"{max(rest, 0):,} {words.unit} to the planned end",
            )
        if self.seal is not None:
            yield (
                "Publish",
                "who holds the secret can seal other looks anew; that no look is changed later is proved only by "
                f"what others hold. For the preregistration: {self.seal.statement}",
            )

    def content(self) -> Record:
        """The looks and what was planned; `inference` is None while the study goes on."""
        state, look, words = self.state, self.look, self._words
        return {
            "decision": None if look is None else look.decision,
            "look": None if look is None else asdict(look),
            "looks": [asdict(each) for each in state.looks],
            "planned": {
                "by": state.unit,
                "shares": list(state.shares),
                "rule": state.rule_words if isinstance(state, Monitoring) else str(state.rule),
                **values(state, "effect", "factor"),
                **words.planned(),
            },
            "systems": list(self.plan.systems),
            "inference": words.inference() if state.ended else None,
            **words.errors(),
            **({"about": self.about} if self.about else {}),
            **values(self, "ledger", "seal"),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each look that was taken; of several systems for each comparison at it."""
        import pandas as pd

        return pd.DataFrame(self._words.rows())


def _name(look: AnyLook) -> str:
    """Its number, with a star where it was not planned."""
    return f"{look.number}{'' if look.planned else '*'}"


def _above(a: str, b: str, difference: float) -> str:
    """'new is better than old', by the sign of B - A."""
    return f"{b} is better than {a}" if difference > 0 else f"{a} is better than {b}"


# Columns of tables, and what to report of each comparison of several systems.


def _unit_of_differences(scale: RatingScale | None) -> str:
    if scale is None:
        return "Differences are on [0, 1]."
    return f"Differences are in points of the scale {scale.low:g} to {scale.high:g}, and on [0, 1] beside."


def _estimate(scale: RatingScale | None, estimate_of: Callable[[Any], float]) -> Columns:
    """An estimate in points, and on [0, 1] beside it; there alone without a scale."""

    def on_unit(row: Any) -> str:
        return f"{estimate_of(row):.4f}"

    if scale is None:
        return {"estimate": on_unit}
    return {"points": lambda row: as_points(estimate_of(row), scale), "on [0, 1]": on_unit}


def _difference(scale: RatingScale | None, of: Callable[[Any], PairData | PairOverLooks]) -> Columns:
    """Of which two systems, and its estimate."""
    name: Columns = {"difference": lambda row: f"{of(row).second} - {of(row).first}"}
    return {**name, **_estimate(scale, lambda row: of(row).estimate)}


def _data_of(row: tuple[PairData, Any]) -> PairData:
    return row[0]


_TEST: Columns = {"df": lambda row: f"{row[0].df:.1f}", "p": lambda row: p_cell(row[0].p_value)}


def result_blocks(
    pairs: Sequence[PairOverLooks], n_looks: int, scale: RatingScale | None
) -> Iterator[Block]:
    """What to report of each comparison."""
    yield Paragraph(
        "p is corrected for all looks and comparisons: the smallest alpha at which the comparison would be shown. "
        "The intervals cover together, at every look and whatever stopped the study."
    )
    columns: Columns = {
        **_difference(scale, lambda one: one),
        "interval": lambda one: as_points_interval(one.interval, scale),
        "p over looks": lambda one: p_cell(one.p_value),
        "shown at": lambda one: (
            "not shown" if one.shown_at is None else f"look {one.shown_at} of {n_looks}"
        ),
    }
    yield table(pairs, columns, _unit_of_differences(scale))


def over_record(one: PairOverLooks) -> Record:
    """A comparison over all looks as plain values; an interval without an end has null there."""
    ends = [None if math.isinf(end) else end for end in one.interval]
    return {**asdict(one), "interval": ends}
