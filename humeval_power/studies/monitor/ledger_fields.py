"""What each field of a ledger's lines must be: a good chain shows that a line is as it was written, not that it
was written well.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from humeval_power.errors import InputError, Problem
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import json_ready
from humeval_power.scales import RatingScale
from humeval_power.studies.monitor.dropping import DropPair, DroppingMonitoring, DropTaken
from humeval_power.studies.monitor.files import LedgerEntry
from humeval_power.studies.monitor.followed import AnyMonitoring
from humeval_power.studies.monitor.state import Decision, JudgementData, LookData, Monitoring, TakenLook
from humeval_power.studies.monitor.systems import (
    PairData,
    SystemsLookData,
    SystemsMonitoring,
    TakenPair,
    TakenSystemsLook,
)

_REMEDY = "Another program wrote this ledger, or it was changed and sealed anew: restore it from a copy."
_SHOWN = 60  # characters of a wrong value


class Rule(NamedTuple):
    """What a value must be, as a test and in words."""

    holds: Callable[[Any], bool]
    words: str


Rules = Mapping[str, "Rule | Rules"]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _between(low: float, high: float, *, open_low: bool = False) -> Rule:
    start = "above" if open_low else "from"
    end = "" if math.isinf(high) else f" {'and at most' if open_low else 'to'} {high:g}"

    def holds(value: object) -> bool:
        return (
            _is_number(value)
            and low <= float(value) <= high  # type: ignore[arg-type]
            and not (open_low and value == low)
        )

    return Rule(holds, f"must be a number {start} {low:g}{end}.")


def _digits(length: int) -> Rule:
    form = re.compile(rf"[0-9a-f]{{{length}}}")
    return Rule(
        lambda value: isinstance(value, str) and bool(form.fullmatch(value)),
        f"must be {length} hexadecimal digits.",
    )


def _count(lowest: int) -> Rule:
    return Rule(
        lambda value: type(value) is int and lowest <= value < 10**12,
        f"must be a whole number from {lowest}.",
    )


def _or_null(rule: Rule) -> Rule:
    return Rule(lambda value: value is None or rule.holds(value), rule.words[:-1] + ", or null.")


def _list(holds: Callable[[Any], bool], of: str) -> Rule:
    return Rule(
        lambda value: isinstance(value, list) and all(map(holds, value)), f"must be a list of {of}."
    )


def _list_of(fields: Mapping[str, Rule]) -> Rule:
    """A list of objects with these fields."""

    def holds(one: object) -> bool:
        return (
            isinstance(one, dict)
            and set(one) == set(fields)
            and all(rule.holds(one[name]) for name, rule in fields.items())
        )

    return _list(holds, f"objects with right {', '.join(fields)}")


_NUMBER = Rule(_is_number, "must be a number.")
_POSITIVE = _between(0.0, math.inf, open_low=True)
_SHARE = _between(0.0, 1.0, open_low=True)
_PROBABILITY = _between(0.0, 1.0)
_TEXT = Rule(lambda value: isinstance(value, str), "must be text.")
_SHARES = Rule(
    lambda value: (
        isinstance(value, list)
        and bool(value)
        and all(map(_SHARE.holds, value))
        and all(one < two for one, two in itertools.pairwise(value))
    ),
    "must be a list of increasing shares, at most 1.",
)
_SCALE = Rule(
    lambda value: (
        isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] < value[1]
    ),
    "must be two numbers, the lower one first.",
)
_DIGEST_PAIRS = Rule(
    lambda value: isinstance(value, dict) and all(map(_digits(16).holds, [*value, *value.values()])),
    "must name a digest of 16 hexadecimal digits for each digest of a place.",
)

START: Rules = {
    "plan_sha256": _digits(64),
    "secret": _digits(16),
    "scale": _SCALE,
    "rule": _TEXT,
    "looks_by": _TEXT,
    "shares": _SHARES,
    "fractions": _SHARES,
    "maximum_information": _POSITIVE,
    "effect": _NUMBER,
    "factor": _POSITIVE,
}
_OF_SYSTEMS = {"first": _TEXT, "second": _TEXT}
START_SYSTEMS: Rules = {
    **{name: rule for name, rule in START.items() if name not in ("fractions", "maximum_information")},
    "correction": _TEXT,
    "comparisons": _list_of({**_OF_SYSTEMS, "fractions": _SHARES, "maximum_information": _POSITIVE}),
}
START_DROPPING: Rules = {**START_SYSTEMS, "stop_when": _TEXT, "interval_factor": _POSITIVE}
START_OBSERVATIONS: Rules = {
    **{name: rule for name, rule in START.items() if name != "scale"},
    "test": _TEXT,
}
NEW_SECRET: Rules = {"secret": _digits(16), "reason": _TEXT, "time": _TEXT}
_DIGESTS = _list(_digits(16).holds, "digests of 16 hexadecimal digits")
CELLS: Rules = {
    "n_ratings": _count(1),
    "n_new_workers": _count(0),
    "rule": _TEXT,
    "counts": Rule(
        lambda value: isinstance(value, dict) and all(map(_count(0).holds, value.values())),
        "must name whole numbers from 0.",
    ),
    "before": _digits(16),
    "added": _digits(16),
    "time": _TEXT,
}
WITHDRAWAL: Rules = {"n_workers": _count(1), "rows": _DIGESTS, "time": _TEXT}
_FINAL = Rule(lambda value: isinstance(value, bool), "must be true or false.")
_TAKEN: Rules = {
    "number": _count(1),
    "planned": _or_null(_count(1)),
    "fraction": _SHARE,
    "nominal": _PROBABILITY,
    "futility": _PROBABILITY,
    "decision": Rule(
        lambda value: isinstance(value, str) and value in get_args(Decision),
        f"must be one of {', '.join(get_args(Decision))}.",
    ),
    "conditional_power": Rule(
        lambda value: (
            isinstance(value, dict)
            and (not value or set(value) == {"design", "trend", "null"})
            and all(map(_PROBABILITY.holds, value.values()))
        ),
        "must be empty, or three numbers from 0 to 1: design, trend and null.",
    ),
    "reason": _TEXT,
    "remarks": _list(_TEXT.holds, "texts"),
}
_ESTIMATE: Mapping[str, Rule] = {
    "information": _POSITIVE,
    "estimate": _NUMBER,
    "standard_error": _POSITIVE,
    "p_value": _PROBABILITY,
}
_FOUND: Rules = {"share": _POSITIVE, **_ESTIMATE, "final": _FINAL}
_SIZES: Rules = {name: _count(1) for name in ("n_ratings", "n_workers", "n_items")}
_SEEN: Rules = {"new_rows": _DIGEST_PAIRS, "time": _TEXT}
LOOK: Rules = {
    "look": {
        **_TAKEN,
        "fraction": _POSITIVE,  # more workers than planned are more information where intervals stop the study
        "data": {**_FOUND, **_SIZES, "df": _or_null(_POSITIVE)},
    },
    **_SEEN,
}
_POOL: Rules = {"pool": _digits(64)}  # of a look at items that were drawn from one
_OF_PAIR: Mapping[str, Rule] = {
    "fraction": _SHARE,
    "nominal": _PROBABILITY,
    "futility": _PROBABILITY,
    "shown_at": _or_null(_count(1)),
}
LOOK_SYSTEMS: Rules = {
    "look": {
        **{name: _TAKEN[name] for name in ("number", "planned", "decision", "reason", "remarks")},
        "pairs": _list_of(_OF_PAIR),
        "data": {
            **_SIZES,
            "share": _POSITIVE,
            "final": _FINAL,
            "pairs": _list_of({**_OF_SYSTEMS, **_ESTIMATE, "df": _or_null(_POSITIVE)}),
        },
    },
    **_SEEN,
}
_LOOK_OF_SYSTEMS = LOOK_SYSTEMS["look"]
assert not isinstance(_LOOK_OF_SYSTEMS, Rule)
LOOK_DROPPING: Rules = {
    **LOOK_SYSTEMS,
    "look": {
        **_LOOK_OF_SYSTEMS,
        "pairs": _list_of({**_OF_PAIR, "drop": _PROBABILITY, "interval": _PROBABILITY}),
        "dropped": _list(_TEXT.holds, "names"),
        "best": _or_null(_TEXT),
    },
}
LOOK_OBSERVATIONS: Rules = {
    "look": {
        **_TAKEN,
        "fraction": _POSITIVE,  # more judgements than planned are more information
        "data": {
            **_FOUND,
            **{name: _count(0) for name in ("n_a", "n_b", "n_ties")},
            "difference": _NUMBER,
        },
    },
    **_SEEN,
}
_OF_RATINGS: Mapping[str, Rules] = {
    "start": START,
    "secret": NEW_SECRET,
    "look": LOOK,
    "withdrawal": WITHDRAWAL,
    "cells": CELLS,
}
LedgerKind = Literal["ratings", "systems", "dropping", "observations"]
_OF_KIND: Mapping[LedgerKind, Mapping[str, Rules]] = {
    "ratings": _OF_RATINGS,
    "systems": {**_OF_RATINGS, "start": START_SYSTEMS, "look": LOOK_SYSTEMS},
    "dropping": {**_OF_RATINGS, "start": START_DROPPING, "look": LOOK_DROPPING},
    "observations": {"start": START_OBSERVATIONS, "secret": NEW_SECRET, "look": LOOK_OBSERVATIONS},
}


def kind_of(start: Mapping[str, Any]) -> LedgerKind:
    """What a ledger with this first line is of."""
    if "test" in start:
        return "observations"
    if "interval_factor" in start:
        return "dropping"
    return "systems" if "comparisons" in start else "ratings"


def check_entries(entries: Sequence[LedgerEntry], *, place: str) -> None:
    """Check every field of every line. Raises InputError: all fields that are missing, unknown or of a wrong
    kind, and lines in an impossible order."""
    problems = []
    looks = 0
    of_kind = _OF_KIND[kind_of(entries[0].content) if entries else "ratings"]
    for entry in entries:
        rules = of_kind.get(entry.kind)
        if rules is None or (entry.kind == "start") is not (entry.number == 1):
            rule = "must be start in the first line, and look, secret, withdrawal or cells in the others."
            problems.append(_problem(place, entry, "kind", entry.kind, rule))
            continue
        wrong = _wrong(entry.content, _with_pool(rules, entry.content), "")
        problems += [_problem(place, entry, *one) for one in wrong]
        if entry.kind == "look" and not wrong:
            looks += 1
            if entry.content["look"]["number"] != looks:
                rule = f"must be {looks}: looks count from 1."
                problems.append(
                    _problem(place, entry, "look.number", entry.content["look"]["number"], rule)
                )
    if problems:
        raise InputError(problems)


def check_content(
    kind: str, content: Mapping[str, object], *, place: str, ledger: LedgerKind = "ratings"
) -> None:
    """Check a line before it is written: what could not be read back must not be sealed. `ledger` says what
    it is of. Raises InputError: fields that no line can have."""
    remedy = "Nothing was recorded. Look at the ratings: humeval-power fit."
    wrong = _wrong(json_ready(content), _with_pool(_OF_KIND[ledger][kind], content), "")
    if wrong:
        raise InputError(
            [Problem(rule, remedy, place, None, name, value, has_value=True) for name, value, rule in wrong]
        )


def _with_pool(rules: Rules, content: Mapping[str, object]) -> Rules:
    """The rules of a line, of a look with those of its pool where it has one."""
    return {**rules, **_POOL} if "look" in rules and "pool" in content else rules


def _wrong(values: object, rules: Rules, at: str) -> list[tuple[str, object, str]]:
    """Field, value and rule of each that is wrong."""
    if not isinstance(values, dict):
        return [(at.rstrip("."), values, "must be an object with fields.")]
    wrong: list[tuple[str, object, str]] = []
    for name, rule in rules.items():
        if name not in values:
            wrong.append((at + name, None, "is missing."))
        elif isinstance(rule, Rule):
            if not rule.holds(values[name]):
                wrong.append((at + name, values[name], rule.words))
        else:
            wrong += _wrong(values[name], rule, f"{at}{name}.")
    wrong += [
        (at + name, values[name], "is no field of such a line.") for name in values if name not in rules
    ]
    return wrong


def _problem(place: str, entry: LedgerEntry, name: str, value: object, rule: str) -> Problem:
    text = repr(value)
    shown = value if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return Problem(rule, _REMEDY, place, entry.number, name, shown, has_value=rule != "is missing.")


# Looks as the lines of a ledger hold them, and a study's state from those lines.

Digests = Mapping[str, str]
_SHORT = 16  # digits by which a plan is told from others


@dataclass(frozen=True, slots=True)
class LedgerState:
    """A study as its ledger has it: the looks taken, every rating they saw, whether the plan was amended since
    the first of them, and the fingerprint of the secret that the ratings' digests were made with (None before
    the first look). `n_withdrawn` participants took their consent back after a look; `gone` are the places of their
    ratings that looks saw. `n_added` ratings were added to the assignment by counts, for `n_new_workers` new
    workers among others. `pool` is the digest of the pool that the last look's items were drawn from."""

    monitoring: AnyMonitoring
    rows: dict[str, str]
    amended: bool
    secret: str | None = None
    n_withdrawn: int = 0
    gone: frozenset[str] = frozenset()
    n_added: int = 0
    n_new_workers: int = 0
    pool: str | None = None

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """What became other than planned between looks: of what, what was planned, what is."""
        gone, added = self.withdrawal, self.addition
        return (
            *((("participants", "all whom the looks saw", gone),) if gone else ()),
            *((("assignment", "as it was made", added),) if added else ()),
        )

    @property
    def addition(self) -> str | None:
        """What to say of ratings that were added; None where none was."""
        if not self.n_added:
            return None
        new = f", some of new workers ({self.n_new_workers:,})" if self.n_new_workers else ""
        return f"{counted(self.n_added, 'rating')} added by counts of who rated what, not by what was rated{new}."

    @property
    def withdrawal(self) -> str | None:
        """What to say of those who withdrew; None where nobody did."""
        if not self.n_withdrawn:
            return None
        who = counted(self.n_withdrawn, "participant")
        return f"{who} withdrew after a look: {counted(len(self.gone), 'rating')} that looks saw are gone."


@dataclass(frozen=True, slots=True)
class LedgerSeal:
    """The end of a ledger's chain. Who has `sha256` can tell later that no line up to it was changed; `statement`
    is a line for a preregistration."""

    n_lines: int
    sha256: str
    statement: str


def ledger_seal(entries: Sequence[LedgerEntry]) -> LedgerSeal | None:
    """The seal of the last line; None where there is none."""
    if not entries:
        return None
    n, last = len(entries), entries[-1].sha256
    plan = str(entries[0].content.get("plan_sha256", ""))[:_SHORT]
    said = f"Ledger of looks of the plan {plan}...: {counted(n, 'line')}, the last with SHA-256 {last}"
    return LedgerSeal(n, last, said)


def start_content(
    checksum: str, state: AnyMonitoring, by: RatingScale | str, secret: str
) -> dict[str, Any]:
    """The first line: which plan this ledger follows, on which scale (of independent judgements: by which
    test), and with which secret. `checksum` is the seal of the plan's file, `secret` a fingerprint."""
    return {
        "plan_sha256": checksum,
        "secret": secret,
        **({"test": by} if isinstance(by, str) else {"scale": [by.low, by.high]}),
        "rule": state.rule_words if isinstance(state, Monitoring) else str(state.rule),
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
    several: dict[str, Any] = {"correction": state.correction, "comparisons": comparisons}
    if isinstance(state, DroppingMonitoring):
        several |= {"stop_when": str(state.stop_when), "interval_factor": state.interval_factor}
    return several


def withdrawal_content(n_workers: int, places: Sequence[str], *, time: str) -> dict[str, Any]:
    """The line of participants who withdrew, with the places of their ratings that looks saw."""
    return {"n_workers": n_workers, "rows": sorted(places), "time": time}


def cells_content(
    n_ratings: int,
    n_new_workers: int,
    counts: Mapping[str, int],
    *,
    rule: str,
    before: str,
    added: str,
    time: str,
) -> dict[str, Any]:
    """The line of ratings added by counts: how many and why, with digests of the cells before and added."""
    return {
        "n_ratings": n_ratings,
        "n_new_workers": n_new_workers,
        "rule": rule,
        "counts": dict(counts),
        "before": before,
        "added": added,
        "time": time,
    }


def look_content(
    look: TakenLook | TakenSystemsLook, *, new_rows: Digests, time: str, pool: str | None = None
) -> dict[str, Any]:
    """A look's line: the look, digests of the ratings that it saw first, when it was taken, and a digest of the
    pool of its items."""
    return {
        "look": {
            **asdict(look),
            "remarks": list(look.remarks),
            **({"dropped": list(look.dropped)} if isinstance(look, DropTaken) else {}),
        },
        "new_rows": dict(new_rows),
        "time": time,
        **({} if pool is None else {"pool": pool}),
    }


def state_of(
    entries: Sequence[LedgerEntry],
    planned: AnyMonitoring,
    checksum: str,
    *,
    place: str,
    by: RatingScale | str | None = None,
) -> LedgerState:
    """The state that the lines lead to. `by` is the scale of new ratings, or the test of judgements; None if
    there are none. Raises InputError: a ledger of another plan or scale, or of this plan with other looks
    than it has now; a line with values that none can have."""
    if not entries:
        return LedgerState(planned, {}, amended=False)
    check_entries(entries, place=place)
    start = entries[0].content
    if by is None:
        by = str(start["test"]) if "test" in start else RatingScale(*start["scale"])
    expected = start_content(start["plan_sha256"], planned, by, start["secret"])
    different = [name for name in expected if not _alike(start.get(name), expected[name])]
    if planned.independent is not ("test" in start):
        different.append("test")
    if isinstance(planned, SystemsMonitoring) is not ("comparisons" in start):
        different.append("comparisons")
    if isinstance(planned, DroppingMonitoring) is not ("interval_factor" in start):
        different.append("interval_factor")
    if different:
        rule = f"was started for another plan (different: {', '.join(different)})."
        raise InputError([Problem(rule, "Name this study's own --ledger.", place=place)])
    looks: list[Any] = []
    rows: dict[str, str] = {}
    secret, n_withdrawn, gone = start["secret"], 0, frozenset[str]()
    n_added = n_new = 0
    pool: str | None = None
    for entry in entries[1:]:
        if entry.kind == "secret":
            secret, rows, gone = entry.content["secret"], {}, frozenset()
        elif entry.kind == "withdrawal":
            n_withdrawn += entry.content["n_workers"]
            gone |= frozenset(entry.content["rows"])
            rows = {place: value for place, value in rows.items() if place not in gone}
        elif entry.kind == "cells":
            n_added += entry.content["n_ratings"]
            n_new += entry.content["n_new_workers"]
        elif entry.kind == "look":
            looks.append(_look(entry.content["look"]))
            rows.update(entry.content["new_rows"])
            pool = entry.content.get("pool")
    held: Any = planned  # of either kind, and so are the looks
    state: AnyMonitoring = replace(held, looks=tuple(looks))
    amended = start["plan_sha256"] != checksum
    return LedgerState(state, rows, amended, secret, n_withdrawn, gone, n_added, n_new, pool)


def _look(values: Mapping[str, Any]) -> TakenLook | TakenSystemsLook:
    plain = {**values, "remarks": tuple(values["remarks"])}
    if "pairs" in values:
        pairs = tuple(PairData(**_with_df(one)) for one in values["data"]["pairs"])
        data = SystemsLookData(**{**values["data"], "pairs": pairs})
        if "dropped" in values:
            decided = tuple(DropPair(**one) for one in values["pairs"])
            dropped = tuple(values["dropped"])
            return DropTaken(**{**plain, "data": data, "pairs": decided, "dropped": dropped})
        taken = tuple(TakenPair(**one) for one in values["pairs"])
        return TakenSystemsLook(**{**plain, "data": data, "pairs": taken})
    if "n_a" in values["data"]:
        return TakenLook(**{**plain, "data": JudgementData(**values["data"])})
    return TakenLook(**{**plain, "data": LookData(**_with_df(values["data"]))})


def _with_df(data: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: df of a normal test come back as null."""
    return {**data, "df": math.inf if data["df"] is None else data["df"]}


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= 1e-9 * max(1.0, abs(float(other)))
    return one == other
