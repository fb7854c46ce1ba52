"""The columns of a table that say more of a rating than worker, item and system: its document, its covariates,
and the order in which the systems were shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.checking.cells import (
    Cells,
    Codes,
    Ids,
    Location,
    Mask,
    blank_id_problems,
    cell_problems,
    read_cells,
    read_ids,
    read_numbers,
    variant_problems,
)
from humeval_power.checking.columns import close_to, listing
from humeval_power.checking.covariates import Covariate, categorical, follows, numeric, order, places
from humeval_power.errors import Problem

if TYPE_CHECKING:
    import pandas as pd


MOST_CATEGORIES = 20  # more are ids, not categories
_ONE_OF_TWO = {"a": 0, "afirst": 0, "ab": 0, "b": 1, "bfirst": 1, "ba": 1}


@dataclass(frozen=True, slots=True)
class StructureNames:
    """The columns that the user names; None and () for none."""

    document: str | None = None
    covariates: tuple[str, ...] = ()
    order: str | None = None

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Every column with the option that names it."""
        named = [("--document", self.document), *(("--covariate", name) for name in self.covariates)]
        return tuple((option, name) for option, name in (*named, ("--order-column", self.order)) if name)

    @property
    def taken(self) -> frozenset[str]:
        """The columns that are none of the roles found by name."""
        return frozenset(name for _, name in self.options)


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What these columns hold; `code` of documents is that of every row of the table, -1 where blank."""

    document: Ids | None
    covariates: tuple[Covariate, ...]


def name_problems(names: StructureNames, columns: Sequence[str], *, source: str) -> list[Problem]:
    """Columns that are not there, or are named twice."""
    problems = [
        Problem(
            f"there is no column {name!r}, which {option} names.",
            close_to(name, columns).replace("There are", "The columns are"),
            place=source,
        )
        for option, name in names.options
        if name not in columns
    ]
    every = [name for _, name in names.options]
    for name in dict.fromkeys(every):
        if every.count(name) > 1:
            options = " and ".join(option for option, one in names.options if one == name)
            problems.append(
                Problem(f"it is named twice: {options}.", "Name it once.", place=source, column=name)
            )
    return problems


def role_problems(names: StructureNames, of_role: Mapping[str, str], *, source: str) -> list[Problem]:
    """Columns that are a worker, an item, a system or a rating already."""
    role_of = {column: role for role, column in of_role.items()}
    return [
        Problem(
            f"it is the {role_of[name]}, and cannot be what {option} names as well.",
            f"Leave {option} out, or name another column; --{role_of[name]} COLUMN names the {role_of[name]}.",
            place=source,
            column=name,
        )
        for option, name in names.options
        if name in role_of
    ]


def read_structure(
    table: pd.DataFrame,
    names: StructureNames,
    *,
    kept: Mask,
    system: Ids,
    pair: tuple[str, str] | None,
    rows: Codes,
    missing: Collection[str],
    source: str,
) -> tuple[Structure, list[Problem]]:
    """The named columns of the rows that are `kept` (n,), and what is wrong with them.

    Covariates have the rows of the whole table, and are coded anew for those that are analysed. Rows are
    numbered by `rows` (n,); `pair` are A and B where the user named them.
    """
    problems: list[Problem] = []
    document = None
    if names.document is not None:
        at = Location(source, names.document, rows)
        document = read_ids(read_cells(table[names.document]))
        problems += blank_id_problems(document, kept, role="document", at=at)
        problems += variant_problems(document, kept, role="document", at=at)
        present = np.unique(document.code[kept])
        if len(present) == 1 and present[0] >= 0:
            rule = "there is only one document; at least 2 are needed to see how much documents differ."
            remedy = "Is this the right column? Leave --document out if all items are of one."
            problems.append(Problem(rule, remedy, place=source, column=names.document))
    found: list[Covariate] = []
    for name in names.covariates:
        at = Location(source, name, rows)
        covariate, wrong = _covariate(read_cells(table[name]), kept, missing=missing, at=at)
        found += [] if covariate is None else [covariate]
        problems += wrong
    if names.order is not None:
        at = Location(source, names.order, rows)
        covariate, wrong = _order(read_cells(table[names.order]), kept, system=system, pair=pair, at=at)
        found += [] if covariate is None else [covariate]
        problems += wrong
    return Structure(document, tuple(found)), problems


def _covariate(
    cells: Cells, kept: Mask, *, missing: Collection[str], at: Location
) -> tuple[Covariate | None, list[Problem]]:
    numbers = read_numbers(cells, missing=missing)
    problems = cell_problems(
        kept & numbers.missing,
        cells,
        at=at,
        rule="this covariate is missing, but there is a rating.",
        remedy="Fill it in, delete the row, or leave the covariate out: the fit needs one for each rating.",
    )
    is_number = np.isfinite(numbers.value)
    if (kept & is_number).sum() * 2 >= (kept & ~numbers.missing).sum():
        problems += cell_problems(
            kept & ~is_number & ~numbers.missing,
            cells,
            at=at,
            rule="a covariate is a number in every row or a word in every row; most rows of this one are numbers.",
            remedy="Correct the cell; if the numbers are names of categories, write them as words.",
        )
        return (None if problems else numeric(at.column, np.nan_to_num(numbers.value))), problems
    ids = read_ids(cells)
    problems += variant_problems(ids, kept, role="category", at=at)
    present = np.unique(ids.code[kept & (ids.code >= 0)])
    if len(present) > MOST_CATEGORIES:
        examples = listing([ids.names[code] for code in present], limit=3)
        rule = (
            f"it has {len(present):,} categories ({examples}); a covariate has at most {MOST_CATEGORIES}."
        )
        remedy = "Is it an id? --document COLUMN is for documents, sessions or blocks."
        problems.append(Problem(rule, remedy, place=at.source, column=at.column))
    return (None if problems else categorical(at.column, ids.code, ids.names)), problems


def _order(
    cells: Cells, kept: Mask, *, system: Ids, pair: tuple[str, str] | None, at: Location
) -> tuple[Covariate | None, list[Problem]]:
    """The place of each rated output: its own, or told by the system that was shown first. With more than two
    systems in the table there may be as many places; they are a number then."""
    most = len(system.names)
    numbered = [_place(text.strip(), most) for text in cells.texts]
    if max((place or 0 for place in numbered), default=0) > 2:
        return _places(cells, numbered, kept, system=system, at=at)
    present = [system.names[code] for code in np.unique(system.code[kept & (system.code >= 0)])]
    two = pair or (tuple(present) if len(present) == 2 else None)
    own = [_meaning(text.strip(), system.names, two) for text in cells.texts]
    known = np.array([meaning is not None for meaning in own])
    problems = cell_problems(
        kept & ~known[cells.code],
        cells,
        at=at,
        rule="the order is the place of the rated output, 1 or 2, or the system that was shown first.",
        remedy=f"Write 1, 2, A, B or a system: {listing(system.names, limit=3)}. For places beyond {most} take "
        "--covariate COLUMN.",
    )
    if problems:
        return None, problems
    place = np.array([meaning[0] if meaning else 1.0 for meaning in own])[cells.code]
    first = np.array([meaning[1] if meaning else -1 for meaning in own])[cells.code]
    place = np.where(first < 0, place, np.where(first == system.code, 1.0, 2.0))
    return order(at.column, place, system.code), problems


def _places(
    cells: Cells, numbered: Sequence[int | None], kept: Mask, *, system: Ids, at: Location
) -> tuple[Covariate | None, list[Problem]]:
    """More than two places: every cell is one, and none could be a system as well."""
    most = len(system.names)
    if {cells.texts[code].strip() for code in np.unique(cells.code[kept])} <= set(system.names):
        rule = "systems are named by numbers: its cells may be places, or the system that was shown first."
        remedy = "Give the systems names that are no numbers, such as s1."
        return None, [Problem(rule, remedy, place=at.source, column=at.column)]
    known = np.array([place is not None for place in numbered])
    problems = cell_problems(
        kept & ~known[cells.code],
        cells,
        at=at,
        rule=f"the order is the place of the rated output, a whole number from 1 to {most}: there are {most} "
        "systems.",
        remedy="Correct the cell; or take --covariate COLUMN if the number is a position in the session.",
    )
    if problems:
        return None, problems
    return places(at.column, np.array([float(place or 1) for place in numbered])[cells.code]), problems


def _place(text: str, most: int) -> int | None:
    """A whole number from 1 to the number of systems, None for anything else."""
    digits = text.removesuffix(".0")
    return int(digits) if digits.isascii() and digits.isdigit() and 1 <= int(digits) <= most else None


def _meaning(text: str, systems: Sequence[str], pair: Sequence[str] | None) -> tuple[float, int] | None:
    """The place that a cell says, or NaN and the code of the system that was first; None for neither."""
    if text in systems:
        return np.nan, list(systems).index(text)
    if text.removesuffix(".0") in ("1", "2"):
        return float(text), -1
    bare = "".join(letter for letter in text.casefold() if letter.isalnum())
    if pair is not None and bare in _ONE_OF_TWO:
        return np.nan, list(systems).index(pair[_ONE_OF_TWO[bare]])
    return None


def coding_problems(covariates: Sequence[Covariate], system: Codes, *, source: str) -> list[Problem]:
    """Covariates that never change, that follow from the system, or from each other, among these ratings."""
    n_systems = int(system.max()) + 1
    base = [np.ones(len(system)), *((system == code).astype(np.float64) for code in range(1, n_systems))]
    problems: list[Problem] = []
    names: list[str] = []
    known = np.column_stack(base)
    for one in covariates:
        rule, remedy = "", f"Leave it out: {_option(one)} is for what varies from rating to rating."
        if np.ptp(one.raw) == 0:
            rule = f"it is {_first_value(one)} in every analysed row, so that it explains nothing."
        elif any(follows(column, np.column_stack(base)) for column in one.values.T):
            rule = "it follows from the system: what it does cannot be told from what the system does."
            remedy = (
                "Leave it out. If one system was always shown first or to other workers, no analysis can "
                "separate the two."
            )
        elif any(follows(column, known) for column in one.values.T):
            rule = f"it follows from the system and {listing(names)}: its part cannot be told from theirs."
            remedy = f"Leave one of them out: {_option(one)} is for what the others do not say."
        if rule:
            problems.append(Problem(rule, remedy, place=source, column=one.name))
            continue
        known, names = np.column_stack([known, one.values]), [*names, one.name]
    return problems


def _option(covariate: Covariate) -> str:
    return "--order-column" if covariate.kind in ("order", "place") else "--covariate"


def _first_value(covariate: Covariate) -> str:
    value = covariate.raw[0]
    return repr(covariate.levels[0]) if covariate.levels else f"{value:g}"


def told(
    document: Codes | None, names: StructureNames, item: Codes, covariates: Sequence[Covariate]
) -> list[str]:
    """What was assumed in reading these columns."""
    lines = [] if document is None else [_nesting(document, str(names.document), item)]
    for one in covariates:
        if one.kind == "numeric":
            lines.append(
                f"Covariate {one.name!r} is a number: centred at its mean {one.center:.6g}, and its "
                f"effect is that of one SD ({one.scale:.4g}) more."
            )
        elif one.kind == "categorical":
            counts = np.bincount(one.raw.astype(np.int64), minlength=len(one.levels))
            each = [f"{level} ({count:,})" for level, count in zip(one.levels, counts, strict=True)]
            lines.append(f"Covariate {one.name!r} has categories, coded to sum to zero: {listing(each)}.")
        elif one.kind == "place":
            lines.append(
                f"Column {one.name!r} is the order: places 1 to {one.raw.max():.0f} of an item's outputs, as a "
                "number; its effect is that of one place later, the same at every place."
            )
        else:
            first = f"{int((one.raw == 1).sum()):,} ratings are of the output shown first"
            lines.append(
                f"Column {one.name!r} is the order: {first}, {int((one.raw == 2).sum()):,} of the second."
            )
    return lines


def _nesting(document: Codes, column: str, item: Codes) -> str:
    """How items lie in documents."""
    n_documents, n_items = int(document.max()) + 1, int(item.max()) + 1
    together = np.unique(item * np.int64(n_documents) + document)
    documents_of = np.bincount(together // n_documents, minlength=n_items)
    items_of = np.bincount(together % n_documents, minlength=n_documents)
    head = f"Column {column!r} is the document: {n_documents:,} documents with "
    fewest, most = items_of.min(), items_of.max()
    sizes = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    head += f"{sizes} {'item' if most == 1 else 'items'} each"
    several = int((documents_of > 1).sum())
    if several == 0:
        if most == 1:
            return (
                f"WARNING: {head}; every item is a document of its own, and the two cannot be told apart."
            )
        return f"{head}; every item is in one document (nested)."
    loud = "WARNING: " if several == n_items else ""
    return (
        f"{loud}{head}; {several:,} of {n_items:,} items occur in several documents (crossed). If the items are "
        "counted anew in each document, give every item an id of its own."
    )
