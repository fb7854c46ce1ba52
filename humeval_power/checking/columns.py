"""Which column of a table is what: one manner for every kind of table."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from humeval_power.errors import InputError, Problem, refuse
from humeval_power.safe_text import shell_word

_NEAR = 0.75  # how alike a name must be to be offered
ITEM_NUMBERS = ("id", "index", "no", "nr", "number", "nummer", "#")
"""What a column of numbers is often called that stand for items, where no name says item."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column to look for.

    names : what it may be called, without regard to case, blanks and punctuation; the first is the one to
        tell people, and a column of just that name goes before all others.
    option : the option that names it; '' where there is none.
    required : whether it must be there.
    is_id : whether a name may go on with "id" or "name".
    """

    names: tuple[str, ...]
    option: str = ""
    required: bool = True
    is_id: bool = False

    @property
    def name(self) -> str:
        """What people are told that it is."""
        return self.names[0]

    def fits(self, column: str) -> bool:
        """Whether a column may be this one by its name."""
        word = bare(column)
        stems = {word.removesuffix("id"), word.removesuffix("name")} - {""} if self.is_id else set()
        return not (stems | {word}).isdisjoint(map(bare, self.names))


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns that were found, by what they are, and what was assumed in finding them."""

    of: Mapping[str, str]
    notices: tuple[str, ...]


def find_columns(
    columns: Iterable[object],
    wanted: Sequence[Column],
    *,
    source: str,
    named: Mapping[str, str | None] | None = None,
    taken: Collection[str] = (),
) -> ColumnRoles:
    """The columns that are wanted, each as the user names it, else of that very name, else the only one whose
    name fits. Of two that fit none is taken.

    columns : the names of all; named : what the user calls some, by the first name of a wanted one; taken :
        columns that are something else, and are not looked at for names that only fit.
    Raises InputError: columns that are missing, ambiguous, doubled, or named twice; all at once.
    """
    known, named = [str(column) for column in columns], named or {}
    result: dict[str, str] = {}
    problems: list[Problem] = []
    for column in wanted:
        name = named.get(column.name)
        if name is not None and name not in known:
            problems.append(unknown_column(name, known, column.option, source))
        elif (name or column.name) in known:
            result[column.name] = name or column.name
    notices: list[str] = []
    absent: list[Column] = []
    for column in wanted:
        if column.name in result or named.get(column.name) is not None:
            continue
        free = [name for name in known if name not in result.values() and name not in taken]
        fitting = [name for name in free if column.fits(name)]
        if len(fitting) == 1:
            result[column.name] = fitting[0]
            notices.append(f"Column {fitting[0]!r} is read as the {column.name}.")
        elif fitting:
            problems.append(_ambiguous(column, fitting, source))
        elif column.required:
            absent.append(column)
    if absent:
        problems.append(
            _absent(absent, [name for name in known if name not in result.values()], known, source)
        )
    problems += _shared(result, source) + _doubled(result, known, source)
    refuse(problems)
    return ColumnRoles(result, tuple(notices))


def named_column(name: str, columns: Iterable[object], *, option: str, source: str) -> str:
    """A column that an option names, if it is there. Raises InputError: it is not."""
    known = [str(column) for column in columns]
    if name not in known:
        raise InputError([unknown_column(name, known, option, source)])
    return name


def bare(name: str) -> str:
    """A name without case, blanks and punctuation."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def close_to(name: str, known: Sequence[str]) -> str:
    """A sentence that offers the nearest known names, or all of them if none is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7) or [
        other for other in known if other.casefold() == name.casefold()
    ]
    return f"Did you mean {near[0]!r}?" if near else f"There are: {listing(known)}."


def absent_names(
    wanted: Iterable[str], known: Sequence[str], noun: str, *, place: str | None = None
) -> list[Problem]:
    """The names that are asked for and are not there, each with the nearest that is."""
    return [
        Problem(f"there is no {noun} {shortened(name)!r}.", close_to(name, known), place)
        for name in wanted
        if name not in known
    ]


def listing(names: Sequence[str], *, limit: int = 20) -> str:
    """Names in one line, shortened where there are many."""
    shown = ", ".join(shortened(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, and {len(names) - limit:,} more"


def shortened(text: str, *, width: int = 40) -> str:
    """Text on one line of at most `width` characters: ids are sometimes whole passages."""
    line = " ".join(text.split()) if "\n" in text or len(text) > width else text
    return line if len(line) <= width else line[: width - 3] + "..."


def unknown_column(name: str, columns: Sequence[str], option: str, source: str) -> Problem:
    """That an option names a column that is not there."""
    return Problem(
        rule=f"there is no column {name!r}, which {option} names.",
        remedy=close_to(name, columns).replace("There are", "The columns are"),
        place=source,
    )


def _ambiguous(column: Column, candidates: Sequence[str], source: str) -> Problem:
    rename = f"Rename all but one, or call the right one {column.name!r}."
    return Problem(
        rule=f"several columns could be the {column.name}: {listing(candidates)}.",
        remedy=f"Say which: {column.option} {shell_word(candidates[0])}" if column.option else rename,
        place=source,
    )


def _absent(absent: Sequence[Column], free: Sequence[str], known: Sequence[str], source: str) -> Problem:
    remedies = [each for column in absent for each in _near(column, free)]
    if options := [f"{column.option} COLUMN" for column in absent if column.option]:
        remedies.append(f"Name the right ones: {' '.join(options)}")
    remedies += [
        f"Name one {column.name}{f' (or {listing(column.names[1:])})' if column.names[1:] else ''}."
        for column in absent
        if not column.option
    ]
    names = ", ".join(column.name for column in absent)
    rule = f"no column was found for: {names}. The columns are: {listing(known)}."
    return Problem(rule=rule, remedy=" ".join(remedies), place=source)


def _near(column: Column, free: Sequence[str]) -> list[str]:
    """A sentence that asks whether a column with nearly one of the names is it."""
    words = {bare(name): name for name in free}
    near = [
        words[word]
        for name in column.names
        for word in difflib.get_close_matches(bare(name), words, n=1, cutoff=_NEAR)
    ]
    return [f"Is {near[0]!r} the {column.name}?"] if near else []


def _shared(values: Mapping[str, str], source: str) -> list[Problem]:
    roles_of: dict[str, list[str]] = {}
    for role, column in values.items():
        roles_of.setdefault(column, []).append(role)
    return [
        Problem(
            rule=f"one column cannot be {' and '.join(roles)} at once.",
            remedy="Name a different column for each.",
            place=source,
            column=column,
        )
        for column, roles in roles_of.items()
        if len(roles) > 1
    ]


def _doubled(values: Mapping[str, str], columns: Sequence[str], source: str) -> list[Problem]:
    return [
        Problem(rule="two columns bear this name.", remedy="Rename one of them.", place=source, column=name)
        for name in dict.fromkeys(values.values())
        if list(columns).count(name) > 1
    ]


# Which column of a table of ratings is the worker, the item, the system, the rating and the criterion.

Role = Literal["worker", "item", "system", "rating", "criterion"]
ROLES: dict[Role, Column] = {
    "worker": Column(
        (
            *("worker", "annotator", "assessor", "coder", "evaluator", "judge", "listener", "participant"),
            *("rater", "reviewer", "subject", "user", "viewer"),
        ),
        option="--worker",
        is_id=True,
    ),
    "item": Column(
        (
            *("item", "context", "document", "example", "instance", "passage", "prompt", "seg", "segment"),
            *("sentence", "source", "stimulus"),
        ),
        option="--item",
        is_id=True,
    ),
    "system": Column(
        ("system", "condition", "generator", "method", "model", "sys", "treatment", "variant"),
        option="--system",
        is_id=True,
    ),
    "rating": Column(
        ("rating", "grade", "judgement", "judgment", "score", "stars", "value"), option="--rating"
    ),
    "criterion": Column(
        ("criterion", "aspect", "attribute", "criteria", "dimension", "qualitycriterion", "scalename"),
        option="--criterion-column",
        required=False,
        is_id=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role in a table of ratings, and what was assumed in finding it."""

    worker: str
    item: str
    system: str
    rating: str
    criterion: str | None
    notices: tuple[str, ...]

    def of_role(self) -> dict[Role, str]:
        """The column of each role that has one."""
        names = (self.worker, self.item, self.system, self.rating, self.criterion)
        return {role: name for role, name in zip(ROLES, names, strict=True) if name is not None}


def find_roles(
    columns: Sequence[str],
    *,
    named: Mapping[Role, str | None],
    source: str,
    taken: Collection[str] = (),
) -> Columns:
    """The columns of a table of ratings; those `taken` are none unless they are named.
    Raises InputError: as `find_columns`."""
    names = {str(role): name for role, name in named.items()}
    result = find_columns(columns, list(ROLES.values()), named=names, source=source, taken=taken)
    of = result.of
    return Columns(
        of["worker"], of["item"], of["system"], of["rating"], of.get("criterion"), result.notices
    )
