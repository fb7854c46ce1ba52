"""Looks as the lines of a ledger hold them, and a study's state from those lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.look_ledger import Entry
from humeval_power.planning.monitoring_state import LookData, Monitoring, TakenLook
from humeval_power.scales import RatingScale

Digests = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LedgerState:
    """A study as its ledger has it: the looks taken, every rating they saw, and whether the plan was amended
    since the first of them."""

    monitoring: Monitoring
    rows: dict[str, str]
    amended: bool


def start_content(checksum: str, state: Monitoring, scale: RatingScale) -> dict[str, Any]:
    """The first line: which plan this ledger follows, and on which scale. `checksum` is the seal of
    plan.json."""
    return {
        "plan_sha256": checksum,
        "scale": [scale.low, scale.high],
        "rule": str(state.rule),
        "looks_by": state.unit,
        "shares": list(state.shares),
        "fractions": list(state.fractions),
        "maximum_information": state.maximum_information,
        "effect": state.effect,
        "factor": state.factor,
    }


def look_content(
    look: TakenLook, *, new_rows: Digests, data_sha256: str | None, time: str
) -> dict[str, Any]:
    """A look's line: the look, digests of the ratings that it saw first, and when it was taken."""
    return {
        "look": {**asdict(look), "remarks": list(look.remarks)},
        "new_rows": dict(new_rows),
        "data_sha256": data_sha256,
        "time": time,
    }


def state_of(
    entries: Sequence[Entry],
    planned: Monitoring,
    checksum: str,
    *,
    place: str,
    scale: RatingScale | None = None,
) -> LedgerState:
    """The state that the lines lead to. `scale` is that of new ratings, None if there are none.

    Raises
    ------
    InputError
        A ledger of another plan or scale, or of this plan with other looks than it has now.
    """
    if not entries:
        return LedgerState(planned, {}, amended=False)
    start = entries[0].content
    low, high = start.get("scale", (0.0, 1.0))
    expected = start_content(start.get("plan_sha256", ""), planned, scale or RatingScale(low, high))
    different = [name for name in expected if not _alike(start.get(name), expected[name])]
    if entries[0].kind != "start" or different:
        what = ", ".join(different) or "no start"
        rule = f"was started for another plan (different: {what})."
        raise InputError([Problem(rule, "Name this study's own --ledger.", place=place)])
    looks, rows = [], {}
    for entry in entries[1:]:
        looks.append(_look(entry.content["look"]))
        rows.update(entry.content["new_rows"])
    return LedgerState(replace(planned, looks=tuple(looks)), rows, amended=start["plan_sha256"] != checksum)


def _look(values: Mapping[str, Any]) -> TakenLook:
    data = {name: _number(value) for name, value in values["data"].items()}
    return TakenLook(**{**values, "data": LookData(**data), "remarks": tuple(values["remarks"])})


def _number(value: Any) -> Any:
    """JSON has no infinity: df of a normal test come back as null."""
    return float("inf") if value is None else value


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= 1e-9 * max(1.0, abs(float(other)))
    return one == other
