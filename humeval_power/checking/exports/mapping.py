"""What a person says about an export: where its ratings stand, and what its words mean.

Templates of names and texts, such as Answer.{slot} or {item}__{system}: what a column or a cell says.

A platform's export as one table of text, before anything is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.columns import close_to
from humeval_power.checking.rows import COLLECTED, ROW_INDEX, FlowStep
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import shell_word

FIELDS = ("worker", "item", "system", "criterion", "code")  # what a template may name a part of a rating by
SLOT = "slot"  # what only tells columns apart; in a text that is taken apart, the slot of the assignment
TOLD = (SLOT, "batch", "order", "document")  # what such a text may say besides
ASKED = "asked"  # the question that stands over a column beside its name
VALUE = "value"  # the rating itself, where the name of a marked column says it
_TOKEN = re.compile(r"(\{\{|\}\}|\{[^{}]*\})")


@dataclass(frozen=True)
class Template:
    """A text with parts in braces, each of one or more characters, as few as will do; {{ and }} are braces.
    Raises InputError: an unknown part, or one that stands twice or directly beside another."""

    text: str

    def __post_init__(self) -> None:
        known = (*FIELDS, *TOLD, VALUE)
        unknown = [part for part in self.parts if part not in known]
        if unknown:
            text = ", ".join(f"{{{name}}}" for name in known)
            raise InputError(f"{self.text!r}: {{{unknown[0]}}} is not known; there are {text}.")
        if len(set(self.parts)) < len(self.parts):
            raise InputError(f"{self.text!r}: a part may stand in it once.")
        if any(one[0] and other[0] for one, other in pairwise(self._tokens)):
            raise InputError(f"{self.text!r}: put something between two parts that tells where one ends.")

    @cached_property
    def _tokens(self) -> tuple[tuple[bool, str], ...]:
        """The pieces in their order: whether a piece is a part, and its name or text."""
        pieces = [piece for piece in _TOKEN.split(self.text) if piece]
        return tuple(
            (False, piece[0])
            if piece in ("{{", "}}")
            else (True, piece[1:-1])
            if _TOKEN.fullmatch(piece)
            else (False, piece)
            for piece in pieces
        )

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names in braces, in their order."""
        return tuple(text for is_part, text in self._tokens if is_part)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """With parts as short, and as long, as they can be."""
        short, long = (
            [f"(?P<{text}>{part})" if is_part else re.escape(text) for is_part, text in self._tokens]
            for part in (".+?", ".+")
        )
        return re.compile("".join(short), re.DOTALL), re.compile("".join(long), re.DOTALL)

    def match(self, text: str) -> dict[str, str] | None:
        """What each part is in a text, None where the text is not of this shape."""
        result = self._patterns[0].fullmatch(text)
        return None if result is None else result.groupdict()

    def is_ambiguous(self, text: str) -> bool:
        """Whether a text comes apart in more than one way."""
        short, long = (pattern.fullmatch(text) for pattern in self._patterns)
        return short is not None and long is not None and short.groups() != long.groups()

    def filled(self, parts: dict[str, str]) -> str:
        """The text with its parts put in; those that are not given stay in braces."""
        return "".join(
            parts.get(text, f"{{{text}}}") if is_part else text for is_part, text in self._tokens
        )


def literal(text: str) -> Template:
    """The template of one text, whatever braces stand in it."""
    return Template(text.replace("{", "{{").replace("}", "}}"))


def in_natural_order(names: Sequence[str]) -> list[str]:
    """Names with their numbers in order: Answer.2 before Answer.10."""
    return sorted(names, key=_natural)


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (0, int(piece), "") if piece.isdigit() else (1, 0, piece)
        for piece in re.split(r"(\d+)", name)
        if piece
    )


# Annotated errors as ratings: a row for each error, and minus the sum of its weights for each output.

RATING = "rating"  # the column that the sums are put in
# Freitag et al. (2021), Table 2; the first that fits counts.
MQM_WEIGHTS: MappingType[str, float] = MappingProxyType(
    {
        "no-error | *": 0.0,
        "no error | *": 0.0,
        "* | no-error": 0.0,
        "* | no error": 0.0,
        "non-translation* | *": 25.0,
        "fluency/punctuation* | minor": 0.1,
        "* | critical": 5.0,
        "* | major": 5.0,
        "* | minor": 1.0,
        "* | neutral": 0.0,
    }
)


@dataclass(frozen=True, slots=True)
class ErrorWeights:
    """How errors become a rating: minus the sum of their weights, so that higher is better.

    `category` and `severity` are columns. The keys of `weights` are 'category | severity' with * for any text, case
    apart; of those that fit, the first counts.
    Raises InputError: a key of another shape.
    """

    category: str = "category"
    severity: str = "severity"
    weights: MappingType[str, float] = field(default_factory=lambda: MQM_WEIGHTS)

    def __post_init__(self) -> None:
        wrong = [key for key in self.weights if len(key.split("|")) != 2]
        if wrong:
            raise InputError(
                f"{wrong[0]!r} is no kind of error: write 'category | severity', with * for any of them."
            )

    def weight_of(self, category: str, severity: str) -> float | None:
        """The weight of an error; None where no key fits."""
        said = (category.strip().casefold(), severity.strip().casefold())
        for key, weight in self.weights.items():
            patterns = (part.strip().casefold() for part in key.split("|"))
            if all(fnmatchcase(text, pattern) for text, pattern in zip(said, patterns, strict=True)):
                return weight
        return None

    def words(self) -> str:
        """What was weighed how, and by whom."""
        said = ", ".join(f"{key.replace(' | ', '/')} {weight:g}" for key, weight in self.weights.items())
        source = " (Freitag et al. 2021)" if dict(self.weights) == dict(MQM_WEIGHTS) else ""
        return f"A rating is minus the sum of the weights of its errors, so that higher is better: {said}{source}."


def summed_errors(
    frame: pd.DataFrame, errors: ErrorWeights, *, of: tuple[str, ...], source: str
) -> pd.DataFrame:
    """One row for each output and annotator, numbered by its first error, with the column RATING.

    frame : a row for each error, or for an output without any; cells are text.
    of : the columns that tell one output of one annotator from others.
    Raises InputError: columns that are not there, and errors that no weight is given for.
    """
    known = [str(name) for name in frame.columns]
    absent = [name for name in (errors.category, errors.severity) if name not in frame]
    if absent:
        raise InputError(
            [
                Problem(
                    f"there is no column {name!r}, which should tell errors.",
                    close_to(name, known),
                    place=source,
                )
                for name in absent
            ]
        )
    kinds = frame[[errors.category, errors.severity]].fillna("").astype(str)
    result = kinds.drop_duplicates()
    weights = {pair: errors.weight_of(*pair) for pair in result.itertuples(index=False, name=None)}
    problems = [
        Problem(
            f"no weight is given for an error of the category {pair[0]!r} and this severity.",
            "Give one in [errors.weights].",
            place=source,
            row=int(row),
            column=errors.severity,
            value=pair[1],
            has_value=True,
        )
        for row, pair in zip(result.index, result.itertuples(index=False, name=None), strict=True)
        if weights[pair] is None
    ]
    if problems:
        raise InputError(problems[:LISTED])
    table = pd.Series(weights, name=RATING, dtype=float).rename_axis(list(kinds.columns)).reset_index()
    weight = kinds.merge(table, how="left", on=list(kinds.columns))[RATING].to_numpy()
    groups = (
        frame.assign(**{RATING: weight})
        .reset_index(names=ROW_INDEX)
        .groupby(list(of), sort=False, dropna=False)
    )
    sums = groups[RATING].sum()
    summed = groups.first().drop(columns=RATING).reset_index().set_index(ROW_INDEX)
    summed[RATING] = [f"{-total + 0.0:.12g}" for total in sums]
    return summed


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
                "A mapping names the columns of the ratings (ratings = ...), or says what errors weigh ([errors]): "
                f"one of both; it has {'neither' if self.errors is None else 'both'}."
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


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """A platform's export as one table of text.

    `why` is what it was known by. `frame` has its cells as text, numbered by an index named 'row' as the file
    counts its rows. `questions` are those that stand over a column beside its name. `flow` are rows that
    are no answers by the format itself. `mapping` is all that the format says without the person; None where
    it says too little to read a rating. `people` marks a table of participants, without ratings, that is joined
    to the others on `person`. `path` is where it was read, to be named in commands. `templates` are
    the parts whose columns names tell, for a draft where there is no mapping.
    """

    frame: pd.DataFrame
    mapping: Mapping | None = None
    platform: str = ""
    why: str = ""
    source: str = ""
    questions: MappingType[str, str] = field(default_factory=dict)
    flow: tuple[FlowStep, ...] = ()
    notices: tuple[str, ...] = ()
    person: str | None = None
    people: bool = False
    path: str = ""
    templates: MappingType[str, Template] = field(default_factory=dict)

    @property
    def draft(self) -> str:
        """The command that drafts a mapping of it."""
        named = " --from table" if self.platform == "table" else ""
        return f"humeval-power import {shell_word(self.path or self.source)}{named} --draft -o mapping.toml"
