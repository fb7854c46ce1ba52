"""What a look at a running study says, and its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.after_stopping import after_stopping, false_positive_chance
from humeval_power.planning.monitor.followed import Followed
from humeval_power.planning.monitor.state import Decision, Monitoring, TakenLook, Watched
from humeval_power.planning.monitor.step import path_boundaries
from humeval_power.reporting.document import Document, Fact, Facts, Picture, Section, Table
from humeval_power.reporting.monitor.words import LookWords, words_of
from humeval_power.reporting.numbers import p_cell, p_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

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
        from humeval_power.reporting.looks.figures import boundary_figure

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
