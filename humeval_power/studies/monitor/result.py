"""What a look at a running study says, and its record."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.rules import claim
from humeval_power.saying.answer_words import points_words
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, interval_words, level_of, p_cell, p_words
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.looks.repeated import RepeatedResult, interval_of
from humeval_power.studies.monitor.dropping import DropPair, DroppingMonitoring, DropTaken, best_sentence
from humeval_power.studies.monitor.followed import AnyMonitoring, MonitoredPlan, over_looks
from humeval_power.studies.monitor.state import Decision, JudgementData, LookData, Monitoring, TakenLook
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
    from matplotlib.figure import Figure

AnyLook = TakenLook | TakenSystemsLook

# What a look shows, in words: of ratings of two systems, of independent judgements, and of several systems.

_STEPS = "The boundary decides, as it was planned; these looks do not use alpha to the last digit."
_PASSED_ALL_THE_SAME = f"the boundary was passed, although p is above alpha. {_STEPS}"
_NOT_PASSED_ALL_THE_SAME = f"the boundary was not passed, although p is at most alpha. {_STEPS}"


class LookWords(ABC):
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

    @abstractmethod
    def systems(self) -> str:
        """Which are compared."""

    @abstractmethod
    def answer(self, look: Any) -> str:
        """What is said after the decision: what is shown, and after how much."""

    @abstractmethod
    def found(self, look: Any) -> Iterator[Fact]:
        """What the look shows."""

    def result(self) -> list[Fact]:
        """What to report after the last look, where it is one fact."""
        return []

    @property
    def comparisons(self) -> tuple[Section, ...]:
        """Every comparison, where there are several."""
        return ()

    @abstractmethod
    def looks(self) -> Iterator[Block]:
        """All looks so far."""

    @abstractmethod
    def planned(self) -> Record:
        """What was planned beyond what every study has."""

    @abstractmethod
    def inference(self) -> Any:
        """What is reported of a study that has ended."""

    def errors(self) -> Record:
        """How often the looks so far err without a difference; of a rating study `looks study` simulates it."""
        return {}

    @abstractmethod
    def rows(self) -> list[Record]:
        """The looks as rows of a table."""


class DifferenceWords(LookWords):
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
        """A and B."""
        return " and ".join(self.plan.systems)

    def answer(self, look: TakenLook) -> str:
        """Who is better, and how far p is from its boundary."""
        a, b = self.plan.systems
        better, worse = (b, a) if look.data.estimate > 0 else (a, b)
        success = look.decision in ("stop-success", "end-success")
        shown = f" {better} is better than {worse}." if success else ""
        return f"{shown} After {self.seen(look)}, {_boundary(look)}."

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
        """A row for each, and the boundaries as a picture."""
        yield Table(
            ("look", self.unit, "information", "estimate", "p", "needed", "decision"),
            tuple(
                (
                    f"{look.number}{'' if look.planned else '*'}",
                    f"{self.size(look):,}",
                    f"{look.fraction:.3f}",
                    f"{self.shown(look):.4f}",
                    p_cell(look.data.p_value),
                    f"{look.nominal:.5f}",
                    look.decision,
                )
                for look in self.state.looks
            ),
        )
        yield Picture(
            "looks",
            self._figure,
            words="The boundaries of z against the planned information, and this study's way past them so far.",
        )

    def _figure(self) -> Figure:
        from humeval_power.studies.looks.figures import boundary_figure

        bounds = path_boundaries(self.state)
        path = [(look.fraction, look.data.z) for look in self.state.looks]
        return boundary_figure(bounds, information_shares=bounds.information, path=path)

    def planned(self) -> Record:
        """The information that was expected."""
        state = self.state
        return {"fractions": list(state.fractions), "maximum_information": state.maximum_information}

    def rows(self) -> list[Record]:
        """A row for each look."""
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
        """Ratings, workers, items, information."""
        return f"{LookWords.data(self, look)}; {self.known(look)}"

    def estimate(self, look: TakenLook) -> str:
        """The difference with its standard error and df."""
        data = look.data
        a, b = self.plan.systems
        found = f"{data.estimate:.4f} on [0, 1], SE {data.standard_error:.4f}, df {data.df:.1f}"
        scale = self.plan.scale
        if scale is not None:
            found = f"{scale.effect_to_raw(data.estimate):.4g} points; {found}"
        return f"{b} - {a} = {found}"

    def shown(self, look: TakenLook) -> float:
        """The difference on [0, 1]."""
        return look.data.estimate

    def answer(self, look: TakenLook) -> str:
        """Of a study that its intervals stop the interval of this look."""
        if self.state.stop_when is None:
            return super().answer(look)
        a, b = self.plan.systems
        words, test = "", self.state.test
        if look.decision in ("stop-success", "end-success"):
            better, worse = (b, a) if look.data.estimate > 0 else (a, b)
            words = f" {better} is better than {worse}."
            if test.margin is not None:
                words = f" Shown: {claim(test)} of {b} and {a}."
        return f"{words} After {self.seen(look)}, {b} - {a} lies {self._interval(look)}."

    def _interval(self, look: TakenLook) -> str:
        """'between 0.08 and 0.44 points, 0.02 to 0.11 on [0, 1] (...)'."""
        low, high = repeated_interval(look)
        level, scale = f"{level_of(1 - self.state.rule.alpha)}, at all looks together", self.plan.scale
        if scale is None:
            return f"between {low:.4f} and {high:.4f} on [0, 1] ({level})"
        ends = sorted(map(scale.effect_to_raw, (low, high)))
        return (
            f"between {ends[0]:.3g} and {ends[1]:.3g} points, {low:.4f} to {high:.4f} on [0, 1] ({level})"
        )

    def looks(self) -> Iterator[Block]:
        """A row for each; of a study that its intervals stop these too."""
        table, picture = super().looks()
        if self.state.stop_when is None or not isinstance(table, Table):
            yield from (table, picture)
            return
        rows = []
        for look in self.state.looks:
            low, high = repeated_interval(look)
            rows.append(
                (
                    f"{look.number}{'' if look.planned else '*'}",
                    f"{look.data.n_workers}" if isinstance(look.data, LookData) else "",
                    f"{look.data.estimate:.4f}",
                    interval_words(low, high),
                    f"{(high - low) / 2:.4f}",
                    look.decision,
                )
            )
        header = ("look", "workers", "estimate", "interval", "half-width", "decision")
        yield Table(header, tuple(rows), caption="by intervals that hold at every look together, on [0, 1]")
        yield picture

    def planned(self) -> Record:
        """The information that was expected; of a study that its intervals stop the reasons."""
        stop_when = self.state.stop_when
        return {
            **super().planned(),
            **({} if stop_when is None else {"stop_when": asdict(stop_when)}),
        }

    def inference(self) -> Any:
        """What takes the looks into account."""
        return asdict(rating_inference(self.state))

    def result(self) -> list[Fact]:
        """What takes the looks into account."""
        inference = rating_inference(self.state)
        a, b = self.plan.systems
        if isinstance(inference, RepeatedResult):
            return [("Result", repeated_words(inference, (a, b), self.plan.scale))]
        scale, points = self.plan.scale, ""
        if scale is not None:
            ends = sorted(map(scale.effect_to_raw, inference.interval))
            raw, plain = map(scale.effect_to_raw, (inference.estimate, inference.naive))
            points = f"; in points {raw:.3g} ({interval_words(*ends, digits=2)}), plain {plain:.3g}"
        said = (
            f"{b} - {a} = {inference.estimate:.4f} ({level_of(inference.confidence)} interval "
            f"{interval_words(*inference.interval)}), {p_words(inference.p_value)}, taking the looks into account "
            f"(stage-wise ordering; median-unbiased); the plain estimate is {inference.naive:.4f}{points}"
        )
        return [("Result", said)]

    def effect(self) -> str:
        """The difference of interest."""
        return f"the difference is {points_words(self.state.effect, self.plan.scale)} as planned"


def repeated_words(
    result: RepeatedResult, systems: tuple[str, str], scale: RatingScale | None = None
) -> str:
    """'new - baseline = 0.1124 (95 % interval 0.02 to 0.20 ...) ...', with the bias that the plan predicts."""
    a, b = systems
    points, unit, bias = "", "on [0, 1]", result.bias
    if scale is not None:
        raw, unit = scale.effect_to_raw(result.estimate), "points"
        ends = sorted(map(scale.effect_to_raw, result.interval))
        points = f"; in points {raw:.3g} ({interval_words(*ends, digits=2)})"
        bias = None if bias is None else scale.effect_to_raw(bias)
    said = (
        f"{b} - {a} = {result.estimate:.4f} ({level_of(result.confidence)} interval "
        f"{interval_words(*result.interval)}, which holds at all looks together, whatever ended the study), "
        f"{p_words(result.p_value)} over all looks{points}"
    )
    if bias is not None:
        said += (
            f". If the planned difference is true, an estimate at which a study ends so is off by {bias:+.3g} "
            f"{unit} on average, by the plan"
        )
    return said


@dataclass(frozen=True)
class JudgementWords(DifferenceWords):
    """Independent judgements."""

    state: Monitoring
    plan: JudgementPlan

    @property
    def unit(self) -> str:
        """Scores, judgements or items."""
        return self.plan.unit

    def size(self, look: TakenLook) -> int:
        """How many were in."""
        return _seen(look).n_judgements

    def planned_size(self) -> int:
        """How many there are at the end."""
        return self.plan.n

    def data(self, look: TakenLook) -> str:
        """Counts by system, and the information."""
        data = _seen(look)
        a, b = self.plan.systems
        parts = {
            "scores": f"{data.n_a:,} of {a}, {data.n_b:,} of {b}",
            "preference": f"{data.n_b:,} for {b}, {data.n_a:,} for {a}, {data.n_ties:,} ties",
            "accuracy": f"{data.n_b:,} that {b} alone got right, {data.n_a:,} that {a} alone did",
        }[self.plan.kind]
        return f"{self.seen(look)} ({parts}); {self.known(look)}"

    def estimate(self, look: TakenLook) -> str:
        """In the units of the test; of scores the difference of means too."""
        data = _seen(look)
        means = f"; means differ by {data.difference:+z.2f}" if self.plan.kind == "scores" else ""
        return (
            f"{self._name} = {self.shown(look):.4f}, SE {data.standard_error:.4f}{means}; {self.plan.test}"
        )

    def shown(self, look: TakenLook) -> float:
        """A share, or a difference of accuracy."""
        return look.data.estimate + self._shift

    def result(self) -> list[Fact]:
        """Stage-wise inference, exact for counts; and how often these looks err."""
        inference, shift = after_stopping(self.state, self.plan), self._shift
        how = "stage-wise ordering; median-unbiased"
        if self.plan.kind != "scores":
            how += "; exact, given how many judgements were decided"
        low, high = inference.interval
        said = (
            f"{self._name} = {inference.estimate + shift:.4f} ({level_of(inference.confidence)} interval "
            f"{interval_words(low + shift, high + shift)}), {p_words(inference.p_value)}, taking the looks into "
            f"account ({how}); the plain estimate is {inference.naive + shift:.4f}"
        )
        exactly = "" if self.plan.kind == "scores" else ", exactly"
        chance = false_positive_chance(self.state, self.plan)
        errors = f"without a difference these looks claim one in {100 * chance:.2f} % of studies{exactly}"
        facts = [("Result", said), ("Errors", f"{errors} (alpha {100 * self.plan.rule.alpha:g} %)")]
        passed = self.state.looks[-1].decision in ("stop-success", "end-success")
        if passed is not (inference.p_value <= self.plan.rule.alpha):
            facts.append(("", _PASSED_ALL_THE_SAME if passed else _NOT_PASSED_ALL_THE_SAME))
        return facts

    def inference(self) -> Any:
        """Stage-wise inference."""
        return asdict(after_stopping(self.state, self.plan))

    def effect(self) -> str:
        """The effect of interest, as it was planned."""
        study = self.plan.study
        if self.plan.kind == "scores":
            return f"means differ by {study.true_effect:g} points as planned"
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


def _seen(look: TakenLook) -> JudgementData:
    assert isinstance(look.data, JudgementData)
    return look.data


@dataclass(frozen=True)
class SystemsWords(LookWords):
    """A rating study of several systems, whose comparisons have boundaries of their own."""

    state: SystemsMonitoring
    plan: Plan

    def systems(self) -> str:
        """How many."""
        return f"{len(self.plan.systems)} systems"

    def answer(self, look: TakenSystemsLook) -> str:
        """How many comparisons are shown."""
        n = sum(at is not None for at in self.state.shown_at)
        of = f"{n} of {counted(len(look.pairs), 'comparison')}"
        return f" After {self.seen(look)}, {of} {'is' if n == 1 else 'are'} shown."

    def found(self, look: TakenSystemsLook) -> Iterator[Fact]:
        """What this look has shown."""
        new = [
            f"{one.second} is better than {one.first}"
            if one.estimate > 0
            else f"{one.first} is better than {one.second}"
            for one, pair in zip(look.data.pairs, look.pairs, strict=True)
            if pair.shown_at == look.number
        ]
        if new:
            yield "Shown now", "; ".join(new)

    @property
    def comparisons(self) -> tuple[Section, ...]:
        """At the last look; after the end over all of them."""
        last = self.state.looks[-1]
        at_look = Section("Comparisons at this look", (comparisons_table(last),))
        if not self.state.ended:
            return (at_look,)
        return at_look, Section("Result", tuple(result_blocks(over_looks(self.state), last.number)))

    def looks(self) -> Iterator[Block]:
        """A row for each."""
        rows = tuple(
            (
                f"{look.number}{'' if look.planned else '*'}",
                f"{look.data.n_ratings:,}",
                _range([pair.fraction for pair in look.pairs]),
                f"{sum(pair.shown_at is not None for pair in look.pairs)} of {len(look.pairs)}",
                look.decision,
            )
            for look in self.state.looks
        )
        yield Table(("look", "ratings", "information", "shown", "decision"), rows)

    def planned(self) -> Record:
        """How the error is shared, and the information that was expected of each comparison."""
        state = self.state
        return {
            "correction": state.correction,
            "comparisons": [
                {
                    "first": first,
                    "second": second,
                    "fractions": list(one.fractions),
                    "maximum_information": one.maximum_information,
                }
                for (first, second), one in zip(state.names, state.each, strict=True)
            ],
        }

    def inference(self) -> Any:
        """Each comparison over all looks."""
        return [over_record(one) for one in over_looks(self.state)]

    def rows(self) -> list[Record]:
        """A row for each look and comparison."""
        return [
            {"look": look.number, **asdict(data), **asdict(pair), "decision": look.decision}
            for look in self.state.looks
            for data, pair in zip(look.data.pairs, look.pairs, strict=True)
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
            by = [
                f"{one.second if one.first == name else one.first} ({p_words(one.p_value)}, needed {pair.drop:.5f})"
                for one, pair in self._compared(look)
                if name in (one.first, one.second)
                and (one.estimate > 0) is (one.first == name)
                and one.p_value <= pair.drop
            ]
            yield f"Dropped: {name}", f"beaten by {', '.join(by)}"
        if not look.dropped:
            yield "Dropped", "none"
        if not self.state.ended:
            yield (
                "Go on with",
                f"{', '.join(self.state.left)}: each new worker rates all of them on the same items",
            )

    @property
    def comparisons(self) -> tuple[Section, ...]:
        """Those that are left at the last look; after the end all of them."""
        last = self.state.taken[-1]
        rows = []
        for one, pair in self._compared(last):
            low, high = interval_of(one.estimate, one.standard_error, one.df, pair.interval)
            rows.append(
                (
                    f"{one.second} - {one.first}",
                    f"{one.estimate:.4f}",
                    interval_words(low, high),
                    f"{one.df:.1f}",
                    p_cell(one.p_value),
                    f"{pair.drop:.5f}",
                    f"{pair.nominal:.5f}",
                )
            )
        header = ("difference", "estimate", "interval", "df", "p", "drops at", "best at")
        table = Table(header, tuple(rows), caption=ON_UNIT)
        at_look = Section("Comparisons at this look", (Paragraph(TOGETHER), table))
        if not self.state.ended:
            return (at_look,)
        return at_look, Section("Result", tuple(drop_blocks(self.state)))

    def _compared(self, look: DropTaken) -> Iterator[tuple[PairData, DropPair]]:
        """The comparisons of those that were rated until a look."""
        left = self.state.left_before(look.number - 1)
        for one, pair in zip(look.data.pairs, look.pairs, strict=True):
            if one.first in left and one.second in left:
                assert isinstance(pair, DropPair)
                yield one, pair

    def looks(self) -> Iterator[Block]:
        """A row for each."""
        rows = tuple(
            (
                f"{look.number}{'' if look.planned else '*'}",
                f"{look.data.n_ratings:,}",
                _range([pair.fraction for _, pair in self._compared(look)]),
                ", ".join(look.dropped) or "-",
                str(len(self.state.left_before(look.number))),
                look.decision,
            )
            for look in self.state.taken
        )
        yield Table(("look", "ratings", "information", "dropped", "left", "decision"), rows)

    def planned(self) -> Record:
        """The same with what systems are dropped by."""
        state = self.state
        return {
            **super().planned(),
            "stop_when": asdict(state.stop_when),
            "interval_factor": state.interval_factor,
        }

    def errors(self) -> Record:
        """Who is left, who was dropped when, and who is the best."""
        return dropping_record(self.state)

    def rows(self) -> list[Record]:
        """A row for each look and comparison of systems that were still there."""
        return [
            {"look": look.number, **asdict(data), **asdict(pair), "decision": look.decision}
            for look in self.state.taken
            for data, pair in self._compared(look)
        ]


TOGETHER = (
    "The intervals of all pairs cover together, at every look and whatever was dropped. A system is dropped "
    "where p is at most what drops it and the other is better; one is the best where it beats all that are left."
)


def dropping_record(state: DroppingMonitoring) -> Record:
    """Who is left, who was dropped when, and who is the best."""
    return {
        "left": list(state.left),
        "dropped_at": {name: state.dropped_at(name) for name in state.systems},
        "best": state.best,
    }


def drop_blocks(state: DroppingMonitoring) -> Iterator[Block]:
    """What became of each system, and every comparison at its last look."""
    rows = []
    for name in state.systems:
        at = state.dropped_at(name)
        fate = "the best" if name == state.best else "left" if at is None else f"dropped at look {at}"
        rows.append((name, fate))
    yield Table(("system", ""), tuple(rows))
    yield from result_blocks(over_looks(state), len(state.looks))
    yield Paragraph(
        "Each comparison is that of the last look at which both systems were rated. Estimates of systems that were "
        "dropped are too low on average, of those that are left too high: no table of means is fair to both."
    )


def words_of(state: AnyMonitoring, plan: MonitoredPlan) -> LookWords:
    """The words for a study."""
    if isinstance(plan, JudgementPlan):
        assert isinstance(state, Monitoring)
        return JudgementWords(state, plan)
    if isinstance(state, DroppingMonitoring):
        return DroppingWords(state, plan)
    return SystemsWords(state, plan) if isinstance(state, SystemsMonitoring) else RatingWords(state, plan)


DECISIONS: dict[Decision, str] = {
    "continue": "Go on collecting.",
    "stop-success": "Stop: the boundary is passed.",
    "stop-equivalence": "Stop: the systems are equivalent, as the plan defines it.",
    "stop-half-width": "Stop: the interval is as narrow as the plan asks.",
    "stop-futility": "Stop for futility: it has become unlikely that anything will be shown.",
    "end-success": "The study has ended, and its boundary is passed.",
    "end-equivalence": "The study has ended: the systems are equivalent, as the plan defines it.",
    "end-half-width": "The study has ended: the interval is as narrow as the plan asks, and decides nothing else.",
    "end-some-shown": "The study has ended, and some of its boundaries are passed.",
    "end-nothing-shown": "The study has ended. Nothing is shown; that does not show that there is nothing.",
}
_ROUNDING = 1e-9
WHY_PUBLISH = (
    "who holds the secret can seal other looks anew; that no look is changed later is proved only by what others "
    "hold. For the preregistration:"
)


@dataclass(frozen=True, slots=True)
class Seal:
    """The end of a ledger's chain, and the statement of it that is worth publishing."""

    n_lines: int
    sha256: str
    statement: str


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
    seal: Seal | None = None
    notices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def look(self) -> AnyLook | None:
        """The last look, None before the first."""
        return self.state.looks[-1] if self.state.looks else None

    @property
    def _words(self) -> LookWords:
        return words_of(self.state, self.plan)

    def body(self) -> Document:
        """The decision, what it rests on, and all looks."""
        state, look, words = self.state, self.look, self._words
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

    def _facts(self, look: AnyLook) -> Iterator[Fact]:
        state, words = self.state, self._words
        if state.ended:
            yield from words.result()
        yield "Look", _which_look(state, look)
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
            yield "Publish", f"{WHY_PUBLISH} {self.seal.statement}"

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
                "effect": state.effect,
                "factor": state.factor,
                **words.planned(),
            },
            "systems": list(self.plan.systems),
            "inference": words.inference() if state.ended else None,
            **words.errors(),
            **({"about": self.about} if self.about else {}),
            "ledger": self.ledger,
            "seal": None if self.seal is None else asdict(self.seal),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each look that was taken; of several systems for each comparison at it."""
        import pandas as pd

        return pd.DataFrame(self._words.rows())


def _which_look(state: AnyMonitoring, look: AnyLook) -> str:
    """Which planned look it is, and when it was due."""
    if look.planned is None:
        return f"{look.number}, not planned"
    due = state.shares[look.planned - 1]
    when = "at" if look.data.share >= due - _ROUNDING else "due at"
    return f"{look.planned} of {len(state.shares)} planned, {when} {100 * due:.3g} % of the {state.unit}"


def _boundary(look: TakenLook) -> str:
    """Whether p passed is said in words: a small one is not printed to the digits of its boundary."""
    p = look.data.p_value
    passed = "passed" if p <= look.nominal else "not passed"
    text = f"{p_words(p)}; success needs p <= {look.nominal:.5f}: {passed}"
    if look.futility < 1:
        text += f"; futility is p > {look.futility:.3f}"
    return text


# Every comparison of several systems, at a look and over all of them.

OVER_LOOKS = (
    "p is corrected for all looks and comparisons: the smallest alpha at which the comparison would be shown. The "
    "intervals cover together, at every look and whatever stopped the study."
)
ON_UNIT = "Differences are on [0, 1]."


def comparisons_table(look: TakenSystemsLook) -> Table:
    """Every comparison at a look: its estimate, its p-value, what it needed."""
    rows = []
    for data, pair in zip(look.data.pairs, look.pairs, strict=True):
        earlier = pair.shown_at is not None and pair.shown_at < look.number
        futile = pair.shown_at is None and data.p_value > pair.futility
        state = "open" if pair.shown_at is None else f"shown at look {pair.shown_at}"
        rows.append(
            (
                f"{data.second} - {data.first}",
                f"{data.estimate:.4f}",
                f"{data.standard_error:.4f}",
                f"{data.df:.1f}",
                p_cell(data.p_value),
                "-" if earlier else f"{pair.nominal:.6f}",
                "futile" if futile else state,
            )
        )
    return Table(("difference", "estimate", "SE", "df", "p", "needed", ""), tuple(rows), caption=ON_UNIT)


def result_blocks(pairs: Sequence[PairOverLooks], n_looks: int) -> Iterator[Block]:
    """What to report of each comparison."""
    yield Paragraph(OVER_LOOKS)
    yield Table(
        ("difference", "estimate", "interval", "p over looks", "shown at"),
        tuple(
            (
                f"{one.second} - {one.first}",
                f"{one.estimate:.4f}",
                interval_words(*one.interval),
                p_cell(one.p_value),
                "not shown" if one.shown_at is None else f"look {one.shown_at} of {n_looks}",
            )
            for one in pairs
        ),
        caption=ON_UNIT,
    )


def over_record(one: PairOverLooks) -> Record:
    """A comparison over all looks as plain values; an interval without an end has null there."""
    ends = [None if math.isinf(end) else end for end in one.interval]
    return {**asdict(one), "interval": ends}


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low} to {high}"
