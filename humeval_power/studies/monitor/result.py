"""What a look at a running study says, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, interval_words, p_cell, p_words
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.state import (
    Decision,
    JudgementData,
    LookData,
    Monitoring,
    TakenLook,
    Watched,
)
from humeval_power.studies.monitor.step import after_stopping, false_positive_chance, path_boundaries
from humeval_power.studies.monitor.systems import (
    AnyMonitoring,
    Followed,
    PairOverLooks,
    SystemsMonitoring,
    TakenSystemsLook,
    over_looks,
)
from humeval_power.studies.plan.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# What a look shows, in words: of ratings, and of independent judgements.

_STEPS = "The boundary decides, as it was planned; these looks do not use alpha to the last digit."
_PASSED_ALL_THE_SAME = f"the boundary was passed, although p is above alpha. {_STEPS}"
_NOT_PASSED_ALL_THE_SAME = f"the boundary was not passed, although p is at most alpha. {_STEPS}"


class LookWords(Protocol):
    """What one kind of study says of its looks; `unit` names what is counted."""

    @property
    def unit(self) -> str:
        """Ratings, scores, judgements or items."""
        ...

    def size(self, look: TakenLook) -> int:
        """How many of them were in."""
        ...

    def planned_size(self) -> int:
        """How many there are at the planned end."""
        ...

    def data(self, look: TakenLook) -> str:
        """What was in."""
        ...

    def estimate(self, look: TakenLook) -> str:
        """What was found."""
        ...

    def shown(self, look: TakenLook) -> float:
        """The estimate as readers know it."""
        ...

    def result(self) -> list[Fact]:
        """What to report after the last look."""
        ...

    def effect(self) -> str:
        """The effect of interest."""
        ...


def words_of(state: Monitoring, plan: Followed) -> LookWords:
    """The words for a study."""
    return RatingWords(state, plan) if isinstance(plan, Plan) else JudgementWords(state, plan)


def _known(state: Monitoring, look: TakenLook) -> str:
    return f"{100 * look.data.information / state.maximum_information:.1f} % of the planned information"


@dataclass(frozen=True, slots=True)
class RatingWords:
    """A rating study."""

    state: Monitoring
    plan: Plan
    unit: str = "ratings"

    def size(self, look: TakenLook) -> int:
        """Ratings."""
        assert isinstance(look.data, LookData)
        return look.data.n_ratings

    def planned_size(self) -> int:
        """Ratings of the design."""
        return self.plan.design().n_ratings

    def data(self, look: TakenLook) -> str:
        """Ratings, workers, items, information."""
        data = look.data
        assert isinstance(data, LookData)
        return (
            f"{data.n_ratings:,} of {self.planned_size():,} ratings, {data.n_workers} workers, "
            f"{data.n_items} items; {_known(self.state, look)}"
        )

    def estimate(self, look: TakenLook) -> str:
        """The difference with its standard error and df."""
        data = look.data
        a, b = self.plan.systems
        return f"{b} - {a} = {data.estimate:.4f} on [0, 1], SE {data.standard_error:.4f}, df {data.df:.1f}"

    def shown(self, look: TakenLook) -> float:
        """The difference on [0, 1]."""
        return look.data.estimate

    def result(self) -> list[Fact]:
        """Stage-wise inference."""
        found = after_stopping(self.state, self.plan)
        a, b = self.plan.systems
        said = (
            f"{b} - {a} = {found.estimate:.4f} ({100 * found.confidence:g} % interval "
            f"{interval_words(*found.interval)}), {p_words(found.p_value)}, taking the looks into account "
            f"(stage-wise ordering; median-unbiased); the plain estimate is {found.naive:.4f}"
        )
        return [("Result", said)]

    def effect(self) -> str:
        """The difference of interest."""
        return f"the difference is {self.state.effect:g} as planned"


@dataclass(frozen=True, slots=True)
class JudgementWords:
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
        return f"{data.n_judgements:,} of {self.plan.n:,} {self.unit} ({parts}); {_known(self.state, look)}"

    def estimate(self, look: TakenLook) -> str:
        """In the units of the test; of scores the difference of means too."""
        data = _seen(look)
        means = f"; means differ by {data.difference:+.2f}" if self.plan.kind == "scores" else ""
        return (
            f"{self._name} = {self.shown(look):.4f}, SE {data.standard_error:.4f}{means}; {self.plan.test}"
        )

    def shown(self, look: TakenLook) -> float:
        """A share, or a difference of accuracy."""
        return look.data.estimate + self._shift

    def result(self) -> list[Fact]:
        """Stage-wise inference, exact for counts; and how often these looks err."""
        found, shift = after_stopping(self.state, self.plan), self._shift
        how = "stage-wise ordering; median-unbiased"
        if self.plan.kind != "scores":
            how += "; exact, given how many judgements were decided"
        low, high = found.interval
        said = (
            f"{self._name} = {found.estimate + shift:.4f} ({100 * found.confidence:g} % interval "
            f"{interval_words(low + shift, high + shift)}), {p_words(found.p_value)}, taking the looks into "
            f"account ({how}); the plain estimate is {found.naive + shift:.4f}"
        )
        exactly = "" if self.plan.kind == "scores" else ", exactly"
        chance = false_positive_chance(self.state, self.plan)
        errors = f"without a difference these looks claim one in {100 * chance:.2f} % of studies{exactly}"
        facts = [("Result", said), ("Errors", f"{errors} (alpha {100 * self.plan.rule.alpha:g} %)")]
        passed = self.state.looks[-1].decision in ("stop-success", "end-success")
        if passed is not (found.p_value <= self.plan.rule.alpha):
            facts.append(("", _PASSED_ALL_THE_SAME if passed else _NOT_PASSED_ALL_THE_SAME))
        return facts

    def effect(self) -> str:
        """The effect of interest, as it was planned."""
        study = self.plan.study
        if self.plan.kind == "scores":
            return f"means differ by {study.true_effect:g} points as planned"
        return f"it is {self.state.effect + self._shift:g} as planned"

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


DECISIONS: dict[Decision, str] = {
    "continue": "Go on collecting.",
    "stop-success": "Stop: the boundary is passed.",
    "stop-futility": "Stop for futility: it has become unlikely that anything will be shown.",
    "end-success": "The study has ended, and its boundary is passed.",
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


def no_look_yet(shares: Sequence[float], unit: str) -> Document:
    """The looks that are planned, before the first of them."""
    planned = ", ".join(f"{100 * share:.3g} %" for share in shares)
    return Document("No look was taken yet", lead=f"{len(shares)} planned, by {unit}: {planned}.")


@dataclass(frozen=True, kw_only=True)
class MonitorResult(Result):
    """The looks so far, and what the last one decided. `ledger` is its file, None where none is kept; `notices` say
    what the data of the last look are, where they are those of a rehearsal."""

    schema: ClassVar[str] = "humeval_power/monitor/2"

    state: Monitoring
    plan: Followed
    ledger: str | None = None
    seal: Seal | None = None
    notices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def look(self) -> TakenLook | None:
        """The last look, None before the first."""
        return self.state.looks[-1] if self.state.looks else None

    def body(self) -> Document:
        """The decision, what it rests on, and all looks."""
        state, look = self.state, self.look
        if look is None:
            return no_look_yet(state.shares, state.unit)
        a, b = self.plan.systems
        return Document(
            f"Look {look.number} at the study of {a} and {b}",
            lead=self._lead(look),
            caveats=self.notices,
            sections=(
                Section("", (Facts(tuple(self._facts(look))),)),
                Section(
                    "Looks",
                    (_table(state, self._words), Picture("looks", self._figure, words=_PICTURE_WORDS)),
                ),
            ),
        )

    def _lead(self, look: TakenLook) -> str:
        """What to do, and after how much."""
        words, (a, b) = self._words, self.plan.systems
        better, worse = (b, a) if look.data.estimate > 0 else (a, b)
        success = look.decision in ("stop-success", "end-success")
        shown = f" {better} is better than {worse}." if success else ""
        seen = f"{words.size(look):,} of {words.planned_size():,} {words.unit}"
        return f"{DECISIONS[look.decision]}{shown} After {seen}, {_boundary(look)}."

    def _facts(self, look: TakenLook) -> Iterator[Fact]:
        state, words = self.state, self._words
        if state.ended:
            yield from words.result()
        yield "Look", which_look(state, look.number, look.planned, look.data.share)
        yield "Data", words.data(look)
        yield "Estimate", words.estimate(look)
        if look.conditional_power:
            yield "Chances", _chances(words, look)
        yield from (("Remark", remark) for remark in look.remarks)
        if look.reason:
            yield "Reason", look.reason
        if not state.ended and state.next_planned is not None:
            yield "Left", _left(state, look, words, state.next_planned)
        if self.seal is not None:
            yield "Publish", f"{WHY_PUBLISH} {self.seal.statement}"

    @property
    def _words(self) -> LookWords:
        return words_of(self.state, self.plan)

    def _figure(self) -> Figure:
        from humeval_power.studies.looks.figures import boundary_figure

        bounds = path_boundaries(self.state)
        path = [(look.fraction, look.data.z) for look in self.state.looks]
        return boundary_figure(bounds, information_shares=bounds.information, path=path)

    def content(self) -> Record:
        """The looks and what was planned; `inference` is None while the study goes on."""
        state, look = self.state, self.look
        return {
            "decision": None if look is None else look.decision,
            "look": None if look is None else asdict(look),
            "looks": [asdict(each) for each in state.looks],
            "planned": {
                "by": state.unit,
                "shares": list(state.shares),
                "fractions": list(state.fractions),
                "rule": str(state.rule),
                "effect": state.effect,
                "maximum_information": state.maximum_information,
                "factor": state.factor,
            },
            "systems": list(self.plan.systems),
            "inference": asdict(after_stopping(state, self.plan)) if state.ended else None,
            **self._errors(),
            "ledger": self.ledger,
            "seal": None if self.seal is None else asdict(self.seal),
        }

    def _errors(self) -> Record:
        """How often the looks so far err without a difference; of a rating study `looks study` simulates it."""
        if not isinstance(self.plan, JudgementPlan) or not self.state.looks:
            return {}
        return {"false_positive_chance": false_positive_chance(self.state, self.plan)}

    def to_frame(self) -> pd.DataFrame:
        """A row for each look that was taken."""
        import pandas as pd

        rows: list[Record] = []
        for look in self.state.looks:
            row = asdict(look)
            chances = {f"power_if_{name}": value for name, value in row.pop("conditional_power").items()}
            rows.append({**row, **row.pop("data"), **chances, "remarks": "; ".join(row["remarks"])})
        return pd.DataFrame(rows).drop(columns="data", errors="ignore")


_PICTURE_WORDS = (
    "The boundaries of z against the planned information, and the way of this study past them so far."
)


def which_look(state: Watched, number: int, planned: int | None, share: float) -> str:
    """Which planned look it is, and when it was due."""
    if planned is None:
        return f"{number}, not planned"
    due = state.shares[planned - 1]
    when = "at" if share >= due - _ROUNDING else "due at"
    return f"{planned} of {len(state.shares)} planned, {when} {100 * due:.3g} % of the {state.unit}"


def _boundary(look: TakenLook) -> str:
    """Whether p passed is said in words: a small one is not printed to the digits of its boundary."""
    p = look.data.p_value
    passed = "passed" if p <= look.nominal else "not passed"
    text = f"{p_words(p)}; success needs p <= {look.nominal:.5f}: {passed}"
    if look.futility < 1:
        text += f"; futility is p > {look.futility:.3f}"
    return text


def _chances(words: LookWords, look: TakenLook) -> str:
    power = look.conditional_power
    return (
        f"of success at the end: {power['design']:.2f} if {words.effect()}, "
        f"{power['trend']:.2f} if it is as estimated, {power['null']:.2f} if there is none"
    )


def _left(state: Monitoring, look: TakenLook, words: LookWords, upcoming: int) -> str:
    share = state.shares[upcoming - 1]
    rest = max(words.planned_size() - words.size(look), 0)
    return (
        f"look {upcoming} is due at {100 * share:.3g} % of the {state.unit}; {rest:,} {words.unit} to the "
        "planned end"
    )


def _table(state: Monitoring, words: LookWords) -> Table:
    return Table(
        ("look", words.unit, "information", "estimate", "p", "needed", "decision"),
        tuple(
            (
                f"{look.number}{'' if look.planned else '*'}",
                f"{words.size(look):,}",
                f"{look.fraction:.3f}",
                f"{words.shown(look):.4f}",
                p_cell(look.data.p_value),
                f"{look.nominal:.5f}",
                look.decision,
            )
            for look in state.looks
        ),
    )


LEDGER_NAME = "humeval_power/look_ledger/"


SECRET_NAME = "humeval_power/secret/"


# What a look at a running study of several systems says, and its record.

OVER_LOOKS = (
    "p is corrected for all looks and comparisons: the smallest alpha at which the comparison would be shown. The "
    "intervals cover together, at every look and whatever stopped the study."
)


@dataclass(frozen=True, kw_only=True)
class SystemsMonitorResult(Result):
    """The looks so far at several systems, and what the last one decided; fields as of `MonitorResult`."""

    schema: ClassVar[str] = "humeval_power/monitor_systems/1"

    state: SystemsMonitoring
    plan: Plan
    ledger: str | None = None
    seal: Seal | None = None
    notices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def look(self) -> TakenSystemsLook | None:
        """The last look, None before the first."""
        return self.state.looks[-1] if self.state.looks else None

    def body(self) -> Document:
        """The decision, every comparison, and all looks."""
        state, look = self.state, self.look
        if look is None:
            return no_look_yet(state.shares, state.unit)
        sections = [
            Section("", (Facts(tuple(self._facts(look))),)),
            Section("Comparisons at this look", (comparisons_table(look),)),
        ]
        if state.ended:
            sections.append(Section("Result", tuple(result_blocks(over_looks(state), look.number))))
        sections.append(Section("Looks", (self._looks(),)))
        return Document(
            f"Look {look.number} at the study of {len(self.plan.systems)} systems",
            lead=self._lead(look),
            caveats=self.notices,
            sections=tuple(sections),
        )

    def _lead(self, look: TakenSystemsLook) -> str:
        """What to do, what is shown, and after how much."""
        n = sum(at is not None for at in self.state.shown_at)
        of = f"{n} of {counted(len(look.pairs), 'comparison')}"
        seen = f"{look.data.n_ratings:,} of {self.plan.design().n_ratings:,} ratings"
        return f"{DECISIONS[look.decision]} After {seen}, {of} {'is' if n == 1 else 'are'} shown."

    def _facts(self, look: TakenSystemsLook) -> Iterator[Fact]:
        state, data = self.state, look.data
        yield "Look", which_look(state, look.number, look.planned, data.share)
        yield "Data", f"{data.n_ratings:,} ratings, {data.n_workers} workers, {data.n_items} items"
        new = [
            _better(one)
            for one, pair in zip(data.pairs, look.pairs, strict=True)
            if pair.shown_at == look.number
        ]
        if new:
            yield "Shown now", "; ".join(new)
        yield from (("Remark", remark) for remark in look.remarks)
        if look.reason:
            yield "Reason", look.reason
        if not state.ended and state.next_planned is not None:
            share = state.shares[state.next_planned - 1]
            yield "Left", f"look {state.next_planned} is due at {100 * share:.3g} % of the {state.unit}"
        if self.seal is not None:
            yield "Publish", f"{WHY_PUBLISH} {self.seal.statement}"

    def _looks(self) -> Table:
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
        return Table(("look", "ratings", "information", "shown", "decision"), rows)

    def content(self) -> Record:
        """The looks and what was planned; `inference` is None while the study goes on."""
        state, look = self.state, self.look
        return {
            "decision": None if look is None else look.decision,
            "look": None if look is None else asdict(look),
            "looks": [asdict(each) for each in state.looks],
            "planned": {
                "by": state.unit,
                "shares": list(state.shares),
                "rule": str(state.rule),
                "correction": state.correction,
                "effect": state.effect,
                "factor": state.factor,
                "comparisons": [
                    {
                        "first": first,
                        "second": second,
                        "fractions": list(one.fractions),
                        "maximum_information": one.maximum_information,
                    }
                    for (first, second), one in zip(state.names, state.each, strict=True)
                ],
            },
            "systems": list(self.plan.systems),
            "inference": [over_record(one) for one in over_looks(state)] if state.ended else None,
            "ledger": self.ledger,
            "seal": None if self.seal is None else asdict(self.seal),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each look and comparison."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"look": look.number, **asdict(data), **asdict(pair), "decision": look.decision}
                for look in self.state.looks
                for data, pair in zip(look.data.pairs, look.pairs, strict=True)
            ]
        )


AnyMonitorResult = MonitorResult | SystemsMonitorResult


def monitor_result(state: AnyMonitoring, plan: Followed, **how: Any) -> AnyMonitorResult:
    """What the looks of a study say, of two systems or of several."""
    if isinstance(state, SystemsMonitoring):
        assert isinstance(plan, Plan)
        return SystemsMonitorResult(state=state, plan=plan, **how)
    return MonitorResult(state=state, plan=plan, **how)


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
    return Table(("difference", "estimate", "SE", "df", "p", "needed", ""), tuple(rows))


def result_blocks(found: Sequence[PairOverLooks], n_looks: int) -> Iterator[Block]:
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
            for one in found
        ),
    )


def over_record(one: PairOverLooks) -> Record:
    """A comparison over all looks as plain values; an interval without an end has null there."""
    ends = [None if math.isinf(end) else end for end in one.interval]
    return {**asdict(one), "interval": ends}


def _better(one: Any) -> str:
    better, worse = (one.second, one.first) if one.estimate > 0 else (one.first, one.second)
    return f"{better} is better than {worse}"


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low} to {high}"
