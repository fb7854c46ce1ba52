"""The fee rule of a platform, and the checks of amounts and shares that prices need too."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeVar, cast

from humeval_power.errors import InputError, Problem, field_problem, refuse

ChargedPer = Literal["assignment", "study"]
Record = TypeVar("Record")

ZERO = Decimal(0)
LARGEST_AMOUNT = Decimal(1_000_000_000)
MOST_DECIMALS = 12
_AMOUNT = f"must be a number from 0 to {LARGEST_AMOUNT:,} with at most {MOST_DECIMALS} decimals."
_SHARE = "must be a share from 0 to below 1, such as 0.2 for 20 %."


@dataclass(frozen=True, slots=True)
class PlatformFee:
    """What a platform adds to the reward of workers.

    share : of the reward. `extra_share` is added from `extra_from` assignments per HIT on.
    per_worker : fixed amount for each recruited worker.
    charged_per : 'assignment' rounds reward and fee of each assignment to the cent and knows a minimum;
        'study' takes the share of everything paid.
    date, source : since when the rule holds, or when it was read, and who says so.
    confirmed : False where the rule was not read from the platform itself; every cost then says so.
    """

    name: str
    _: KW_ONLY
    share: Decimal = ZERO
    minimum_per_assignment: Decimal = ZERO
    extra_share: Decimal = ZERO
    extra_from: int | None = None
    per_worker: Decimal = ZERO
    charged_per: ChargedPer = "study"
    date: datetime.date | None = None
    source: str = ""
    confirmed: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        problems = settle(
            self, shares=("share", "extra_share"), amounts=("minimum_per_assignment", "per_worker")
        )
        for name in ("name", "source", "note"):
            if not isinstance(getattr(self, name), str):
                problems.append(field_problem(name, getattr(self, name), "must be text."))
        if self.charged_per not in ("assignment", "study"):
            problems.append(
                field_problem("charged_per", self.charged_per, "must be 'assignment' or 'study'.")
            )
        if self.extra_from is not None and not is_whole(self.extra_from, 2):
            problems.append(
                field_problem("extra_from", self.extra_from, "must be a whole number of at least 2.")
            )
        if not isinstance(self.confirmed, bool):
            problems.append(field_problem("confirmed", self.confirmed, "must be true or false."))
        if self.date is not None and type(self.date) is not datetime.date:
            problems.append(field_problem("date", self.date, "must be a date such as 2015-07-22."))
        if not problems:
            problems = self._contradictions()
        refuse(problems)

    def _contradictions(self) -> list[Problem]:
        problems = []
        if (self.extra_from is None) != (self.extra_share == 0):
            rule = (
                "extra_share and extra_from need each other: how much more, and from how many assignments."
            )
            problems.append(Problem(rule, "Give both or neither."))
        if self.share + self.extra_share >= 1:
            problems.append(field_problem("extra_share", self.extra_share, "makes the fee 100 % or more."))
        by_assignment = self.minimum_per_assignment > 0 or self.extra_from is not None
        if by_assignment and self.charged_per == "study":
            rule = "a minimum or an extra share exists only where fees are charged per assignment."
            problems.append(field_problem("charged_per", "study", rule))
        return problems

    @property
    def is_prolific(self) -> bool:
        """Whether it is one of Prolific's, where everyone in a study gets the same reward."""
        return self.name.startswith("prolific")

    @property
    def caveat(self) -> str | None:
        """What to check before paying; None for a confirmed rule."""
        if self.confirmed:
            return None
        percent = f"{(self.share * 100).normalize():f} %"
        check = f"The fee of {self.name} ({percent}) is not confirmed: check it with the platform."
        return f"{check} {self.note}".strip()

    def as_dict(self) -> dict[str, object]:
        """The fields for a document: amounts and the date as text, what is unset as None."""
        return as_dict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> PlatformFee:
        """Read what `as_dict` writes, or a table of the fee file; every problem is reported at once."""
        read = dict(values)
        if isinstance(read.get("date"), str):
            with suppress(ValueError):  # the constructor refuses what is not a date
                read["date"] = datetime.date.fromisoformat(str(read["date"]))
        return build(cls, read, required=("name", "share"))


@dataclass(frozen=True, slots=True)
class LeastPay:
    """The least that a platform lets workers be paid, per hour, by currency; who says so, and when it was read."""

    per_hour: Mapping[str, Decimal]
    source: str
    date: datetime.date


def settle(record: object, *, shares: Sequence[str] = (), amounts: Sequence[str] = ()) -> list[Problem]:
    """Turn the named fields of a record under construction into exact decimals; the problems found.

    A float means the decimal number that it prints as, at most twelve decimals of it.
    """
    problems = []
    for name in (*shares, *amounts):
        value = getattr(record, name)
        number = _decimal(value)
        largest, rule = (Decimal(1), _SHARE) if name in shares else (LARGEST_AMOUNT, _AMOUNT)
        inside = number is not None and 0 <= number <= largest and not (name in shares and number == 1)
        if number is None or not inside or number != round(number, MOST_DECIMALS):
            problems.append(field_problem(name, value, rule))
        else:
            object.__setattr__(record, name, number)
    return problems


def _decimal(value: object) -> Decimal | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if isinstance(value, float) and abs(value) <= LARGEST_AMOUNT:
        shortened = round(number, MOST_DECIMALS)
        return shortened if shortened != number else number
    return number


def is_whole(value: object, least: int) -> bool:
    """Whether a value is a whole number of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def as_dict(record: Any) -> dict[str, object]:
    """The fields of a record for a document: amounts and dates as text."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {
        name: f"{value:f}" if isinstance(value, Decimal) else _as_json(value)
        for name, value in values.items()
    }


def _as_json(value: Any) -> object:
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value.as_dict() if isinstance(value, PlatformFee) else value


def build(
    kind: type[Record],
    values: Mapping[str, object],
    *,
    required: Sequence[str],
    problems: Sequence[Problem] = (),
) -> Record:
    """A record from the names that `as_dict` writes; names, values and the `problems` already found are
    reported at once."""
    known = [field.name for field in fields(cast(Any, kind))]
    result = list(problems)
    result += [
        Problem(f"{name!r} is not known; the names are {', '.join(known)}.", "")
        for name in values
        if name not in known
    ]
    result += [Problem(f"{name!r} is missing.", "") for name in required if name not in values]
    stand_ins: dict[str, Any] = dict.fromkeys(required, "0")
    try:
        record = kind(**{**stand_ins, **{name: values[name] for name in values if name in known}})
    except InputError as error:
        raise InputError([*result, *error.problems]) from None
    refuse(result)
    return record


NO_FEE = PlatformFee("none")
PROLIFIC_LEAST_PAY = LeastPay(
    {"GBP": Decimal("6.00"), "USD": Decimal("8.00")},
    "Prolific's help for researchers, 'Prolific's payment principles'",
    datetime.date(2026, 11, 22),
)
