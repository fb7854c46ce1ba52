"""What the pattern of who rated what means for the analysis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    Cells,
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
from humeval_power.checking.columns import listing, unknown_column
from humeval_power.errors import Problem

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int64]
_MARKS = ("__", "::", "|", "#", "/", ":", "_", "-")  # between a document and a system in one name
STRAIGHT_LINE = 10  # ratings after which giving always the same one is worth a word


def n_systems_seen(level: Codes, system: Codes, *, n_levels: int, n_systems: int) -> Codes:
    """Number of different systems that each worker or item goes with, shape (n_levels,)."""
    count = np.bincount(level * n_systems + system, minlength=n_levels * n_systems)
    seen: Codes = (count.reshape(n_levels, n_systems) > 0).sum(axis=1)
    return seen


def cell_sizes(worker: Codes, item: Codes, system: Codes) -> Codes:
    """Number of ratings in each worker x item x system cell that occurs."""
    n_items, n_systems = int(item.max()) + 1, int(system.max()) + 1
    sizes: Codes = np.unique((worker * n_items + item) * n_systems + system, return_counts=True)[1]
    return sizes


def connected_parts(worker: Codes, item: Codes, *, n_workers: int, n_items: int) -> tuple[int, Codes]:
    """The parts that ratings connect: how many, and that of each worker, then of each item; counted in the order of
    their first workers, parts without one last."""
    part = np.arange(n_workers + n_items)
    while True:  # a part joins the first one that it touches, then the one which that has joined
        before = part.copy()
        first = np.minimum(part[worker], part[n_workers + item])
        for ends in (worker, n_workers + item):
            np.minimum.at(part, before[ends], first)
        part = part[part]
        if np.array_equal(part, before):
            break
    parts, code = np.unique(part, return_inverse=True)
    return len(parts), code


def structure_notices(
    worker: Codes,
    item: Codes,
    system: Codes,
    rating: NDArray[np.float64],
    *,
    worker_names: Sequence[str],
    n_items: int,
    n_systems: int,
    compares_systems: bool = True,
) -> list[str]:
    """Repeats, workers who always say the same, and of a comparison items and workers of one system only."""
    notices = _repeats(worker, item, system, worker_names)
    if compares_systems and n_systems == 1:
        notices.append("WARNING: there is only one system, so there is nothing to compare.")
    elif compares_systems:
        items_seen = n_systems_seen(item, system, n_levels=n_items, n_systems=n_systems)
        notices += _nested_items(int((items_seen == 1).sum()), n_items)
        workers_seen = n_systems_seen(worker, system, n_levels=len(worker_names), n_systems=n_systems)
        notices += _one_system_workers(np.flatnonzero(workers_seen == 1), worker_names)
    return notices + _straight_liners(worker, rating, worker_names)


def systems_apart(
    system: Codes, item: Codes, names: Sequence[str], documents: Mapping[str, tuple[Codes, Sequence[str]]]
) -> str | None:
    """Ask whether names of documents are part of those of systems; None where nothing suggests it.

    system, item : (n,) codes of the rows. documents : the columns that may be documents, the likeliest first: codes
        (n,) and names. A system is then in one document only, and shares no item with those of others, or its name
        has the document's. Without such a column the systems lie in groups that share no item.
    """
    present = np.unique(system)
    for column, (document, labels) in documents.items():
        of_system = np.unique(system * len(labels) + document) % len(labels)
        if len(of_system) != len(present) or len(np.unique(of_system)) < 2:
            continue
        known, groups = [names[code] for code in present], [labels[code] for code in of_system]
        n_pairs = len(np.unique(item * (int(document.max()) + 1) + document))
        if n_pairs == len(np.unique(item)) or _split(known, groups):
            where = f"Each system is rated in one document of its own (column {column!r})"
            return _apart(where, known, groups)
    compact = np.searchsorted(present, system)
    _, part = connected_parts(compact, item, n_workers=len(present), n_items=int(item.max()) + 1)
    of_system = part[: len(present)]
    n_parts = len(np.unique(of_system))
    if not 2 <= n_parts < len(present):
        return None
    where = f"The systems lie in {n_parts:,} groups that share no item"
    return _apart(where, [names[code] for code in present], [str(code) for code in of_system])


def _apart(where: str, names: Sequence[str], groups: Sequence[str]) -> str:
    """What is found, what that may mean, and the way out."""
    listed = [
        f"({listing([name for name, group in zip(names, groups, strict=True) if group == one], limit=3)})"
        for one in list(dict.fromkeys(groups))[:4]
    ]
    more = "" if len(set(groups)) == len(listed) else ", ..."
    template = _split(names, groups)
    return (
        f"{where}: {', '.join(listed)}{more}. Is the document's name part of the system's name? "
        "Then take it off: humeval-power import FILE --draft -o mapping.toml, in it under "
        f'[split] "system" = "{template or "{document}#{system}"}", and import with --map mapping.toml.'
    )


def _split(names: Sequence[str], groups: Sequence[str]) -> str | None:
    """How names come apart into a document, which is the same in a group, and a system, which occurs in several."""
    for mark in _MARKS:
        if any(name.count(mark) != 1 for name in names):
            continue
        halves = [name.split(mark) for name in names]
        for at, template in ((0, f"{{document}}{mark}{{system}}"), (1, f"{{system}}{mark}{{document}}")):
            documents, systems = [half[at] for half in halves], [half[1 - at] for half in halves]
            n = len(set(documents))
            fits = n == len(set(groups)) == len(set(zip(documents, groups, strict=True)))
            if fits and n > 1 and len(set(systems)) < len(names):
                return template
    return None


def _repeats(worker: Codes, item: Codes, system: Codes, worker_names: Sequence[str]) -> list[str]:
    n_items, n_systems = int(item.max()) + 1, int(system.max()) + 1
    cells, sizes = np.unique((worker * n_items + item) * n_systems + system, return_counts=True)
    repeated = int((sizes > 1).sum())
    if repeated == 0:
        return []
    by = np.unique(cells[sizes > 1] // (n_items * n_systems))
    one = f", all by {worker_names[by[0]]!r}" if len(by) == 1 < len(worker_names) else ""
    return [
        f"{repeated:,} of {len(sizes):,} worker x item x system cells hold more than one rating "
        f"(up to {sizes.max():,}){one}. They are kept as repeats; if they are copies of one rating, "
        "remove them."
    ]


def _nested_items(n_nested: int, n_items: int) -> list[str]:
    if n_nested == 0:
        return []
    if n_nested == n_items:
        return [
            "WARNING: every item belongs to one system only, so no item compares the systems. An item's "
            "own difference between systems (sd_item_slope) cannot be estimated. If the items come "
            "from shared prompts or sources, name that column with --item."
        ]
    loud = "WARNING: " if n_nested > n_items / 2 else ""
    advice = " If a column of prompts or sources crosses the systems, name it with --item." if loud else ""
    return [
        f"{loud}{n_nested:,} of {n_items:,} items were rated under one system only. They say nothing about "
        f"how the difference between systems varies from item to item.{advice}"
    ]


def _one_system_workers(workers: Codes, names: Sequence[str]) -> list[str]:
    if len(workers) == 0:
        return []
    if len(workers) == len(names):
        return [
            "WARNING: every worker rated one system only, so no worker compares the systems. A worker's "
            "own difference between systems (sd_worker_slope) cannot be estimated."
        ]
    shown = listing([names[int(worker)] for worker in workers], limit=5)
    return [f"{len(workers):,} of {len(names):,} workers rated one system only: {shown}."]


def _straight_liners(worker: Codes, rating: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    lowest = np.full(len(names), np.inf)
    highest = np.full(len(names), -np.inf)
    np.minimum.at(lowest, worker, rating)
    np.maximum.at(highest, worker, rating)
    load = np.bincount(worker, minlength=len(names))
    same = np.flatnonzero((lowest == highest) & (load >= STRAIGHT_LINE))
    if len(same) == 0:
        return []
    shown = listing([names[int(code)] for code in same], limit=5)
    verb = "worker gave" if len(same) == 1 else "workers gave"
    return [f"{len(same):,} {verb} the same rating every time, {STRAIGHT_LINE} times or more: {shown}."]


# Covariates of ratings: numbers, categories and the order of showing, coded as columns of fixed effects.

Floats = NDArray[np.float64]
CovariateKind = Literal["numeric", "categorical", "order", "place"]

_SAME = 1e-9  # what rounding leaves of a column that follows from others, relative to its size


@dataclass(frozen=True, slots=True, eq=False)
class Covariate:
    """What a column says of each rating, and the columns it has in the model.

    raw : (n_ratings,), the number, the code of the category, or the place (1, 2, ...) of the rated output:
        of two places the kind is 'order', of more 'place'.
    levels : the names of categories, in the order of their codes; () for the others.
    values : (n_ratings, k), the columns of the model, and `labels` (k,) what each coefficient is.
    center, scale : of a number or a place, values = (raw - center) / scale; its coefficient is for one
        `scale` more. 0 and 1 for the others.
    reference : the category whose column is left out, being minus the sum of the others; of two, the one
        that the other is compared with. '' where there is none.
    """

    name: str
    kind: CovariateKind
    raw: Floats
    values: Floats
    labels: tuple[str, ...]
    levels: tuple[str, ...] = ()
    center: float = 0.0
    scale: float = 1.0
    reference: str = ""

    @property
    def contrasts(self) -> tuple[tuple[str, Floats], ...]:
        """What to tell of a covariate: names and weights (k,) of its coefficients. Of three categories or more
        each one's distance from their mean, the reference's too."""
        k = len(self.labels)
        rows = tuple(zip(self.labels, np.eye(k), strict=True))
        if self.kind != "categorical" or k == 1:
            return rows
        return (*rows, (f"{self.name}: {self.reference}", -np.ones(k)))

    def of_rows(self, kept: NDArray[np.bool_], system: Codes) -> Covariate:
        """The same covariate of some ratings, coded anew; `system` (n_ratings,) are the new codes of all."""
        raw = self.raw[kept]
        if self.kind == "numeric":
            return numeric(self.name, raw)
        if self.kind == "categorical":
            codes, code = np.unique(raw.astype(np.int64), return_inverse=True)
            return categorical(self.name, code, [self.levels[one] for one in codes])
        if self.kind == "place":
            return places(self.name, raw)
        return order(self.name, raw, system[kept])


def numeric(name: str, value: Floats) -> Covariate:
    """A number, in standard deviations from its mean."""
    center, scale = float(value.mean()), float(value.std())
    values = ((value - center) / (scale if scale > 0 else 1.0))[:, None]
    label = f"{name}, per SD ({scale:.4g})"
    return Covariate(name, "numeric", value, values, (label,), center=center, scale=scale)


def categorical(name: str, code: Codes, levels: Sequence[str]) -> Covariate:
    """Categories whose coefficients sum to zero; of two the difference of the second and the first."""
    raw, names = code.astype(np.float64), tuple(levels)
    if len(names) == 2:
        label = f"{name}: {names[1]} - {names[0]}"
        return Covariate(
            name, "categorical", raw, (raw - 0.5)[:, None], (label,), names, reference=names[0]
        )
    values = (code[:, None] == np.arange(len(names) - 1)).astype(np.float64)
    values[code == len(names) - 1] = -1.0
    labels = tuple(f"{name}: {level}" for level in names[:-1])
    return Covariate(name, "categorical", raw, values, labels, names, reference=names[-1])


def order(name: str, place: Floats, system: Codes) -> Covariate:
    """The place of each rated output, 1 or 2: a period effect, and what the first leaves behind.

    With two systems the sum of a pair's ratings differs between the orders by as much as A leaves more
    behind than B does (Grizzle 1965): the difference A first - B first is the carry-over, as far as this
    table can tell one from the other effects. The effect of the system is that over both orders alike.
    """
    period = place - 1.5
    alone = Covariate(name, "order", place, period[:, None], (f"{name}: second - first",))
    if int(system.max(initial=0)) != 1:
        return alone
    carried = 2.0 * period * (system - 0.5)
    if follows(carried, np.column_stack([np.ones(len(place)), system - 0.5, period])):
        return alone
    labels = (f"{name}: second - first", f"{name}: A first - B first (carry-over)")
    return Covariate(name, "order", place, np.column_stack([period, carried]), labels)


def places(name: str, place: Floats) -> Covariate:
    """The place of each rated output among more than two, 1, 2, ...: a linear effect, of one place later."""
    center = float(place.mean())
    label = f"{name}: each place later"
    return Covariate(name, "place", place, (place - center)[:, None], (label,), center=center)


def follows(column: Floats, others: Floats) -> bool:
    """Whether a column is a linear combination of others (n, k), as far as rounding lets tell."""
    size = float(np.linalg.norm(column))
    if size == 0.0:
        return True
    lengths = np.linalg.norm(others, axis=0)
    scaled = others / np.where(lengths > 0, lengths, 1.0)
    left = column - scaled @ np.linalg.lstsq(scaled, column, rcond=1e-10)[0]
    return bool(np.linalg.norm(left) <= _SAME * size)


# The columns of a table that say more of a rating than worker, item and system: its document, its
# covariates, and the order in which the systems were shown.

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
        unknown_column(name, columns, option, source)
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
    covariates: list[Covariate] = []
    for name in names.covariates:
        at = Location(source, name, rows)
        covariate, wrong = _covariate(read_cells(table[name]), kept, missing=missing, at=at)
        covariates += [] if covariate is None else [covariate]
        problems += wrong
    if names.order is not None:
        at = Location(source, names.order, rows)
        covariate, wrong = _order(read_cells(table[names.order]), kept, system=system, pair=pair, at=at)
        covariates += [] if covariate is None else [covariate]
        problems += wrong
    return Structure(document, tuple(covariates)), problems


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
        option = "--order-column" if one.kind in ("order", "place") else "--covariate"
        rule, remedy = "", f"Leave it out: {option} is for what varies from rating to rating."
        if np.ptp(one.raw) == 0:
            only = repr(one.levels[0]) if one.levels else f"{one.raw[0]:g}"
            rule = f"it is {only} in every analysed row, so that it explains nothing."
        elif any(follows(column, np.column_stack(base)) for column in one.values.T):
            rule = "it follows from the system: what it does cannot be told from what the system does."
            remedy = (
                "Leave it out. If one system was always shown first or to other workers, no analysis can "
                "separate the two."
            )
        elif any(follows(column, known) for column in one.values.T):
            rule = f"it follows from the system and {listing(names)}: its part cannot be told from theirs."
            remedy = f"Leave one of them out: {option} is for what the others do not say."
        if rule:
            problems.append(Problem(rule, remedy, place=source, column=one.name))
            continue
        known, names = np.column_stack([known, one.values]), [*names, one.name]
    return problems


def assumed_in_reading(
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
