"""Which column of a table is the worker, the item, the system, the rating and the criterion."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import shell_word

Role = Literal["worker", "item", "system", "rating", "criterion"]
ROLES: tuple[Role, ...] = ("worker", "item", "system", "rating", "criterion")
OPTIONS: dict[Role, str] = {
    "worker": "--worker",
    "item": "--item",
    "system": "--system",
    "rating": "--rating",
    "criterion": "--criterion-column",
}
# Compared without case, blanks and punctuation, with and without a final "id" or "name".
SYNONYMS: dict[Role, set[str]] = {
    "worker": {
        "annotator",
        "assessor",
        "coder",
        "evaluator",
        "judge",
        "listener",
        "participant",
        "rater",
        "reviewer",
        "subject",
        "user",
        "viewer",
    },
    "item": {
        "context",
        "document",
        "example",
        "instance",
        "passage",
        "prompt",
        "seg",
        "segment",
        "sentence",
        "source",
        "stimulus",
    },
    "system": {"condition", "generator", "method", "model", "sys", "treatment", "variant"},
    "rating": {"grade", "judgement", "judgment", "score", "stars", "value"},
    "criterion": {"aspect", "attribute", "criteria", "dimension", "qualitycriterion", "scalename"},
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role, and what was assumed in finding it."""

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


def find_columns(
    columns: Sequence[str],
    *,
    named: dict[Role, str | None],
    source: str,
) -> Columns:
    """The column of each role: as named by the user, else of that very name, else the only synonym.

    Raises
    ------
    InputError
        Columns that are missing, ambiguous, doubled, or named for two roles; all at once.
    """
    found: dict[Role, str] = {}
    problems: list[Problem] = []
    notices: list[str] = []
    for role in ROLES:
        name = named.get(role)
        if name is not None and name in columns:
            found[role] = name
        elif name is not None:
            problems.append(_unknown(name, role, columns, source))
        elif role in columns:
            found[role] = role
    absent: list[Role] = []
    for role in ROLES:
        if role in found or named.get(role) is not None:
            continue
        candidates = [name for name in columns if name not in found.values() and _means(name, role)]
        if len(candidates) == 1:
            found[role] = candidates[0]
            notices.append(f"Column {candidates[0]!r} is read as the {role}.")
        elif candidates:
            problems.append(_ambiguous(role, candidates, source))
        elif role != "criterion":
            absent.append(role)
    if absent:
        problems.append(_absent(absent, columns, source))
    problems += _shared(found, source) + _doubled(found, columns, source)
    if problems:
        raise InputError(problems)
    return Columns(
        found["worker"],
        found["item"],
        found["system"],
        found["rating"],
        found.get("criterion"),
        tuple(notices),
    )


def close_to(name: str, known: Sequence[str]) -> str:
    """A sentence that offers the nearest known names, or all of them if none is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7) or [
        other for other in known if other.casefold() == name.casefold()
    ]
    return f"Did you mean {near[0]!r}?" if near else f"There are: {listing(known)}."


def listing(names: Sequence[str], *, limit: int = 20) -> str:
    """Names in one line, shortened where there are many."""
    shown = ", ".join(shortened(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, and {len(names) - limit:,} more"


def shortened(text: str, *, width: int = 40) -> str:
    """Text on one line of at most `width` characters: ids are sometimes whole passages."""
    line = " ".join(text.split()) if "\n" in text or len(text) > width else text
    return line if len(line) <= width else line[: width - 3] + "..."


def _means(column: str, role: Role) -> bool:
    word = "".join(letter for letter in column.casefold() if letter.isalnum())
    stems = {word, word.removesuffix("id"), word.removesuffix("name")}
    return any(stem == role or stem in SYNONYMS[role] for stem in stems)


def _unknown(name: str, role: Role, columns: Sequence[str], source: str) -> Problem:
    return Problem(
        rule=f"there is no column {name!r}, which {OPTIONS[role]} names.",
        remedy=close_to(name, columns).replace("There are", "The columns are"),
        place=source,
    )


def _ambiguous(role: Role, candidates: Sequence[str], source: str) -> Problem:
    return Problem(
        rule=f"several columns could be the {role}: {listing(candidates)}.",
        remedy=f"Say which: {OPTIONS[role]} {shell_word(candidates[0])}",
        place=source,
    )


def _absent(roles: Sequence[Role], columns: Sequence[str], source: str) -> Problem:
    options = " ".join(f"{OPTIONS[role]} COLUMN" for role in roles)
    return Problem(
        rule=f"no column was found for: {', '.join(roles)}. The columns are: {listing(columns)}.",
        remedy=f"Name the right ones: {options}",
        place=source,
    )


def _shared(found: dict[Role, str], source: str) -> list[Problem]:
    roles_of: dict[str, list[str]] = {}
    for role, column in found.items():
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


def _doubled(found: dict[Role, str], columns: Sequence[str], source: str) -> list[Problem]:
    return [
        Problem(rule="two columns bear this name.", remedy="Rename one of them.", place=source, column=name)
        for name in dict.fromkeys(found.values())
        if list(columns).count(name) > 1
    ]
