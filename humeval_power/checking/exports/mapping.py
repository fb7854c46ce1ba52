"""What a person says about an export: where its ratings stand, and what its words mean."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from types import MappingProxyType

from humeval_power.checking.collected import COLLECTED
from humeval_power.checking.exports.errors import ErrorWeights
from humeval_power.checking.exports.templates import FIELDS, SLOT, TOLD, VALUE, Template
from humeval_power.errors import InputError

OPTIONAL = (
    "time_s",
    "status",
    "timestamp",
    "batch",
    "place",
)  # what is kept beside a rating where it is there
EXTRAS = (*OPTIONAL, *(name for name in COLLECTED if name not in (*FIELDS, *OPTIONAL)))
NOTHING: MappingType[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The columns that hold ratings: a template of their names; `criterion` is None where the name tells it or
    there is one alone. With {value} in it, a column is named by a rating and a cell that is not blank gives it."""

    template: Template
    criterion: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A column whose cells decide which rows stay: those with one of `values`, or all others if `drop`."""

    column: str
    values: tuple[str, ...]
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """Where the parts of a rating stand in an export; nothing in it is guessed from the ratings.

    `columns` are templates of columns for worker, item, system, criterion and EXTRAS, or code in the place of item
    and system; {slot} in one is what it is in the column of the rating. `split` takes the text of a column apart,
    or of a part that `columns` gives, of the slot, or of the question over the column ('asked').
    `slots` say what a slot is where no column does: {"3": {"item": "s02", "system": "A"}}. `words` are numbers
    for answers in words, `missing` answers that are no rating. `checks` are questions with their right answers.
    `keep` are columns that go into the table as they are. `errors` says how rows that are errors become ratings,
    which are then no columns.
    """

    ratings: tuple[RatingColumns, ...] = ()
    columns: MappingType[str, Template] = field(default_factory=dict)
    split: MappingType[str, Template] = field(default_factory=dict)
    slots: MappingType[str, MappingType[str, str]] = field(default_factory=dict)
    words: MappingType[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    checks: MappingType[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    errors: ErrorWeights | None = None

    def __post_init__(self) -> None:
        problems = []
        if bool(self.ratings) == (self.errors is not None):
            problems.append(
                "A mapping names the columns of the ratings, or says what errors weigh: one of both."
            )
        known = (*FIELDS, *EXTRAS)
        problems += [
            f"{name!r} is no part of a rating; there are {', '.join(known)}."
            for name in self.columns
            if name not in known
        ]
        for part, template in self.columns.items():
            if wrong := [one for one in template.parts if one != SLOT]:
                problems.append(f"{part}: only {{slot}} may stand in a column's name, not {{{wrong[0]}}}.")
        for name, template in self.split.items():
            if VALUE in template.parts or not template.parts:
                wanted = ", ".join(f"{{{one}}}" for one in (*FIELDS, *TOLD))
                problems.append(f"{name}: a text is taken apart into {wanted}.")
        for name, parts in self.slots.items():
            problems += [
                f"slot {name!r}: {one!r} is none of {', '.join(FIELDS)}."
                for one in parts
                if one not in FIELDS
            ]
        if problems:
            raise InputError(" ".join(problems))
