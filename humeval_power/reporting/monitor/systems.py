"""What a look at a running study of several systems says, and its record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.planning.analyze import LooksTaken
from humeval_power.planning.monitor.followed import AnyMonitoring, Followed
from humeval_power.planning.monitor.systems import (
    PairOverLooks,
    SystemsMonitoring,
    TakenSystemsLook,
    over_looks,
)
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.reporting.monitor.result import (
    DECISIONS,
    WHY_PUBLISH,
    MonitorResult,
    Seal,
    no_look_yet,
    which_look,
)
from humeval_power.reporting.numbers import counted, interval_words, p_cell
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

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


def systems_looks_content(looks: LooksTaken) -> Record:
    """The looks of a finished study of several systems, and what is reported of each comparison."""
    state = looks.of_several
    return {
        "ledger": Path(looks.ledger).name,
        "rule": str(state.rule),
        "correction": state.correction,
        "decision": state.looks[-1].decision,
        "looks": [asdict(look) for look in state.looks],
        "inference": [over_record(one) for one in over_looks(state)],
    }


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
