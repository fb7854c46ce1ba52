"""Looks as the lines of a ledger hold them, and a study's state from those lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.monitor.fields import check_entries
from humeval_power.interfaces.formats.monitor.lines import Entry
from humeval_power.planning.monitor.followed import AnyMonitoring
from humeval_power.planning.monitor.state import JudgementData, LookData, Monitoring, TakenLook
from humeval_power.planning.monitor.systems import (
    PairData,
    SystemsLookData,
    SystemsMonitoring,
    TakenPair,
    TakenSystemsLook,
)
from humeval_power.reporting.numbers import counted
from humeval_power.scales import RatingScale

Digests = Mapping[str, str]
_SHORT = 16  # digits by which a plan is told from others


@dataclass(frozen=True, slots=True)
class LedgerState:
    """A study as its ledger has it: the looks taken, every rating they saw, whether the plan was amended since
    the first of them, and the fingerprint of the secret that the ratings' digests were made with (None before
    the first look). `n_withdrawn` participants took their consent back after a look; `gone` are the places of their
    ratings that looks saw."""

    monitoring: AnyMonitoring
    rows: dict[str, str]
    amended: bool
    secret: str | None = None
    n_withdrawn: int = 0
    gone: frozenset[str] = frozenset()

    @property
    def withdrawal(self) -> str | None:
        """What to say of those who withdrew; None where nobody did."""
        if not self.n_withdrawn:
            return None
        who = counted(self.n_withdrawn, "participant")
        return f"{who} withdrew after a look: {counted(len(self.gone), 'rating')} that looks saw are gone."


@dataclass(frozen=True, slots=True)
class LedgerSeal:
    """The end of a ledger's chain. Who has `sha256` can tell later that no line up to it was changed."""

    n_lines: int
    sha256: str
    plan_sha256: str

    @property
    def statement(self) -> str:
        """A line for a preregistration."""
        lines = counted(self.n_lines, "line")
        plan = self.plan_sha256[:_SHORT]
        return f"Ledger of looks of the plan {plan}...: {lines}, the last with SHA-256 {self.sha256}"


def ledger_seal(entries: Sequence[Entry]) -> LedgerSeal | None:
    """The seal of the last line; None where there is none."""
    if not entries:
        return None
    return LedgerSeal(len(entries), entries[-1].sha256, str(entries[0].content.get("plan_sha256", "")))


def start_content(
    checksum: str, state: AnyMonitoring, by: RatingScale | str, secret: str
) -> dict[str, Any]:
    """The first line: which plan this ledger follows, on which scale (of independent judgements: by which
    test), and with which secret. `checksum` is the seal of the plan's file, `secret` a fingerprint."""
    return {
        "plan_sha256": checksum,
        "secret": secret,
        **({"test": by} if isinstance(by, str) else {"scale": [by.low, by.high]}),
        "rule": str(state.rule),
        "looks_by": state.unit,
        "shares": list(state.shares),
        **_information(state),
        "effect": state.effect,
        "factor": state.factor,
    }


def _information(state: AnyMonitoring) -> dict[str, Any]:
    """What was expected of the information, of several systems for each comparison."""
    if isinstance(state, Monitoring):
        return {"fractions": list(state.fractions), "maximum_information": state.maximum_information}
    comparisons = [
        {"first": first, "second": second, **_information(one)}
        for (first, second), one in zip(state.names, state.each, strict=True)
    ]
    return {"correction": state.correction, "comparisons": comparisons}


def secret_content(secret: str, *, reason: str, time: str) -> dict[str, Any]:
    """The line of a new secret, by its fingerprint, after the old one was lost."""
    return {"secret": secret, "reason": reason, "time": time}


def withdrawal_content(n_workers: int, places: Sequence[str], *, time: str) -> dict[str, Any]:
    """The line of participants who withdrew, with the places of their ratings that looks saw."""
    return {"n_workers": n_workers, "rows": sorted(places), "time": time}


def look_content(look: TakenLook | TakenSystemsLook, *, new_rows: Digests, time: str) -> dict[str, Any]:
    """A look's line: the look, digests of the ratings that it saw first, and when it was taken."""
    return {
        "look": {**asdict(look), "remarks": list(look.remarks)},
        "new_rows": dict(new_rows),
        "time": time,
    }


def state_of(
    entries: Sequence[Entry],
    planned: AnyMonitoring,
    checksum: str,
    *,
    place: str,
    by: RatingScale | str | None = None,
) -> LedgerState:
    """The state that the lines lead to. `by` is the scale of new ratings, or the test of judgements; None if there
    are none.

    Raises
    ------
    InputError
        A ledger of another plan or scale, or of this plan with other looks than it has now; a line with
        values that none can have.
    """
    if not entries:
        return LedgerState(planned, {}, amended=False)
    check_entries(entries, place=place)
    start = entries[0].content
    expected = start_content(start["plan_sha256"], planned, by or _by(start), start["secret"])
    different = [name for name in expected if not _alike(start.get(name), expected[name])]
    if planned.independent is not ("test" in start):
        different.append("test")
    if isinstance(planned, SystemsMonitoring) is not ("comparisons" in start):
        different.append("comparisons")
    if different:
        rule = f"was started for another plan (different: {', '.join(different)})."
        raise InputError([Problem(rule, "Name this study's own --ledger.", place=place)])
    looks: list[Any] = []
    rows: dict[str, str] = {}
    secret, n_withdrawn, gone = start["secret"], 0, frozenset[str]()
    for entry in entries[1:]:
        if entry.kind == "secret":
            secret, rows, gone = entry.content["secret"], {}, frozenset()
        elif entry.kind == "withdrawal":
            n_withdrawn += entry.content["n_workers"]
            gone |= frozenset(entry.content["rows"])
            rows = {place: value for place, value in rows.items() if place not in gone}
        else:
            looks.append(_look(entry.content["look"]))
            rows.update(entry.content["new_rows"])
    held: Any = planned  # of either kind, and so are the looks
    state: AnyMonitoring = replace(held, looks=tuple(looks))
    amended = start["plan_sha256"] != checksum
    return LedgerState(state, rows, amended, secret, n_withdrawn, gone)


def _by(start: Mapping[str, Any]) -> RatingScale | str:
    return str(start["test"]) if "test" in start else RatingScale(*start["scale"])


def _look(values: Mapping[str, Any]) -> TakenLook | TakenSystemsLook:
    remarks = tuple(values["remarks"])
    if "pairs" in values:
        pairs = tuple(PairData(**{**one, "df": _df(one["df"])}) for one in values["data"]["pairs"])
        of_systems = SystemsLookData(**{**values["data"], "pairs": pairs})
        taken = tuple(TakenPair(**one) for one in values["pairs"])
        return TakenSystemsLook(**{**values, "data": of_systems, "pairs": taken, "remarks": remarks})
    if "n_a" in values["data"]:
        seen = JudgementData(**values["data"])
        return TakenLook(**{**values, "data": seen, "remarks": remarks})
    data = LookData(**{**values["data"], "df": _df(values["data"]["df"])})
    return TakenLook(**{**values, "data": data, "remarks": remarks})


def _df(value: float | None) -> float:
    """JSON has no infinity: df of a normal test come back as null."""
    return float("inf") if value is None else value


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= 1e-9 * max(1.0, abs(float(other)))
    return one == other
