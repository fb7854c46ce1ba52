"""Designs: who rates which item under which system, and the generators of such assignments.

Deals that are even on both sides: edges of a bipartite graph in colours, each as often as the others at
every vertex.

Workers are on the left, items on the right, an edge is a rating or a sitting, its colour the system that is
rated, or the order in which systems are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import DesignKind as DesignKind
from humeval_power.errors import DesignError

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Levels = Sequence[Codes]


def equitable_colours(left: Levels, right: Levels, n_colours: int, rng: np.random.Generator) -> Codes:
    """A colour 0, 1, ... for each edge, shape (n_edges,).

    At every vertex, in every group, and between every two vertices, the counts of any two colours differ by at
    most one. Every bipartite graph has such colours (de Werra 1971). They are found by halving: a walk along
    the edges that changes colour at every step leaves both halves even at every vertex (Euler; Gabow 1976).

    Parameters
    ----------
    left, right : the vertex of each edge at either end, shape (n_edges,), then the group that the vertex is in,
        the group of groups, and so on. The same two vertices more than once are edges of their own.
    rng : which of the many solutions is found.
    """
    between = left[0] * (int(right[0].max(initial=0)) + 1) + right[0]
    ends = ((between, *left), (between, *right))
    colour = np.zeros(len(between), dtype=np.int64)
    _colour(np.arange(len(between)), ends, range(n_colours), colour, rng)
    return np.asarray(rng.permutation(n_colours)[colour])


def _colour(
    edges: Codes, ends: tuple[Levels, Levels], colours: range, codes: Codes, rng: np.random.Generator
) -> None:
    """Colour some edges: an even number of colours by halves, an odd one by mending."""
    n_colours = len(colours)
    here = (tuple(level[edges] for level in ends[0]), tuple(level[edges] for level in ends[1]))
    if n_colours == 1 or len(edges) == 0:
        codes[edges] = colours.start
    elif n_colours % 2 == 0:
        second = _halves(here, rng)
        middle = colours.start + n_colours // 2
        _colour(edges[~second], ends, range(colours.start, middle), codes, rng)
        _colour(edges[second], ends, range(middle, colours.stop), codes, rng)
    else:
        codes[edges] = colours.start + _mended(here, n_colours, rng)


def _mended(ends: tuple[Levels, Levels], n_colours: int, rng: np.random.Generator) -> Codes:
    """Colours that are even on the right are dealt anew, two at a time, until they are even everywhere.

    Every deal makes its two colours even in all groups, so the sum of squared counts falls whenever two
    colours differ by more than one somewhere, and the mending ends.
    """
    n_edges = len(ends[0][0])
    colour = np.empty(n_edges, dtype=np.int64)
    order = np.lexsort((rng.random(n_edges), *ends[1]))  # parallel edges stand together
    colour[order] = np.arange(n_edges) % n_colours
    groups = [np.unique(level, return_inverse=True)[1] for level in (*ends[0][1:], *ends[1][1:])]
    counts = [_counts(group, colour, n_colours) for group in groups]
    while True:
        first, second = max((_furthest_apart(count) for count in counts), key=lambda match: match[0])[1]
        if first == second:
            return colour
        either = np.flatnonzero((colour == first) | (colour == second))
        here = (tuple(level[either] for level in ends[0]), tuple(level[either] for level in ends[1]))
        colour[either] = np.where(_halves(here, rng), second, first)
        for group, count in zip(groups, counts, strict=True):
            for one in (first, second):
                count[:, one] = np.bincount(group[colour == one], minlength=len(count))


def _furthest_apart(count: Codes) -> tuple[int, tuple[int, int]]:
    """In how many groups the same two colours differ by more than one, and the two for which they are most;
    the same colour twice where there are none."""
    uneven = count[np.ptp(count, axis=1) > 1]
    apart = (np.abs(uneven[:, :, None] - uneven[:, None, :]) > 1).sum(axis=0)
    worst = int(apart.argmax())
    return int(apart.flat[worst]), (worst // count.shape[1], worst % count.shape[1])


def _counts(group: Codes, colour: Codes, n_colours: int) -> Codes:
    """How many edges of each colour each group has, shape (n_groups, n_colours)."""
    flat = np.bincount(group * n_colours + colour, minlength=(int(group.max()) + 1) * n_colours)
    return flat.reshape(-1, n_colours)


def _halves(ends: tuple[Levels, Levels], rng: np.random.Generator) -> Mask:
    """Which edges are in the second of two halves that differ by at most one in every group, shape (n_edges,).

    At either end the edges are paired off, parallel ones with each other first, then those of a vertex, then
    those of a group; the two of a pair get different halves. An edge has at most two partners, one at each
    end, so that the edges form paths and cycles, and those are even: a walk leaves its edges through the left
    end and the right end in turn. Which way a path or cycle is walked is drawn at random; the half is the end
    through which an edge is left.
    """
    partner = [_partners(levels, rng) for levels in ends]
    n = len(partner[0])
    # A step of a walk: edge e left through its left end is e, through its right end n + e.
    step = np.concatenate([partner[0] + n, partner[1]])
    last = np.concatenate([partner[0] < 0, partner[1] < 0])
    step[last] = np.flatnonzero(last)
    # The smallest number ahead is the same for all steps of a walk; a last step has the smallest of all.
    label = rng.permutation(2 * n) - 2 * n * last
    while True:
        ahead = np.minimum(label, label[step])
        if np.array_equal(ahead, label):
            return np.asarray(label[:n] > label[n:])
        label, step = ahead, step[step]


def _partners(levels: Levels, rng: np.random.Generator) -> Codes:
    """The edge that each is paired with at one end, level by level; -1 for the last of an odd number."""
    free = rng.permutation(len(levels[0]))
    partner = np.full(len(free), -1, dtype=np.int64)
    for level in levels:
        free = free[np.argsort(level[free], kind="stable")]
        group = level[free]
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1])) if len(free) else free
        place = np.arange(len(free)) - np.repeat(starts, np.diff(np.append(starts, len(free))))
        second = np.flatnonzero(place % 2 == 1)
        partner[free[second]] = free[second - 1]
        partner[free[second - 1]] = free[second]
        free = free[partner[free] < 0]
    return partner


DEFAULT_ASSIGNMENT_SEED = 0
_SYSTEMS = 1  # random numbers of their own for which system a worker gets


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """One row for each rating: integer codes of worker, item and system (of two, 0 is A and 1 is B), and of
    the document that the item is part of, where items come out of documents.

    Each array has shape (n_ratings,). The same (worker, item, system) more than once is a repeat.
    """

    worker: Codes
    item: Codes
    system: Codes
    document: Codes | None = None


@dataclass(frozen=True, eq=False)
class Design:
    """A study of two systems or more: its size, and the assignment of ratings to workers.

    `ratings_per_item` counts the ratings that an item gets under each system that it is shown
    under. `notes` states every rounding that building the design made necessary.

    `document_of_item` (n_items,) is the document that each item is part of; None where items stand
    alone, or where a table shows an item in more than one document. With `together` whoever rates an item of
    a document rates all of it.
    """

    kind: DesignKind
    n_workers: int
    n_items: int
    ratings_per_item: float
    n_repeats: int = 1
    notes: tuple[str, ...] = ()
    seed: int = DEFAULT_ASSIGNMENT_SEED
    explicit: Assignment | None = field(default=None, repr=False)
    n_documents: int = 0
    document_of_item: Codes | None = field(default=None, repr=False)
    together: bool = False
    n_systems: int = 2

    @cached_property
    def assignment(self) -> Assignment:
        """The ratings to collect, built on first use."""
        rows = _BUILDERS[self.kind](self) if self.explicit is None else self.explicit
        if self.document_of_item is None:
            return rows
        return replace(rows, document=self.document_of_item[rows.item])

    @property
    def items_per_document(self) -> float:
        """Mean number of items in a document; NaN without documents."""
        return self.n_items / self.n_documents if self.n_documents else math.nan

    @property
    def is_balanced(self) -> bool:
        """Whether the design is crossed, and its documents, if it has any, all have the same number of
        items: its strata then say everything."""
        if not self.is_crossed or not self.n_documents:
            return self.is_crossed
        if self.document_of_item is None:
            return False
        return len(np.unique(np.bincount(self.document_of_item, minlength=self.n_documents))) == 1

    @property
    def n_ratings(self) -> int:
        """Number of ratings over all systems."""
        if self.kind == "crossed":
            return self.n_systems * self.n_workers * self.n_items * self.n_repeats
        return len(self.assignment.worker)

    @property
    def is_crossed(self) -> bool:
        """Whether every worker rates every item under all systems equally often."""
        return self.kind == "crossed"

    @property
    def worker_loads(self) -> Codes:
        """Ratings that each worker gives, shape (n_workers,)."""
        return np.bincount(self.assignment.worker, minlength=self.n_workers)

    @property
    def items_in_words(self) -> str:
        """How many items there are, and out of how many documents."""
        documents = f" of {self.n_documents:,} documents" if self.n_documents else ""
        return f"{self.n_items:,} items{documents}"

    def __str__(self) -> str:
        documents = f" in {self.n_documents:,} documents" if self.n_documents else ""
        kind = "" if self.kind == "k-per-item" else f"{self.kind}: "
        return (
            f"{kind}{self.n_workers:,} workers x {self.n_items:,} items{documents} x {self.n_systems} "
            "systems, "
            f"{self.ratings_per_item:g} {'rating' if self.ratings_per_item == 1 else 'ratings'} per item and "
            f"system, {self.n_ratings:,} ratings"
        )


def crossed(n_workers: int, n_items: int, *, n_repeats: int = 1, n_systems: int = 2) -> Design:
    """Every worker rates every item under every system, `n_repeats` times.

    Examples
    --------
    >>> crossed(10, 60).n_ratings
    1200
    >>> crossed(10, 60, n_systems=8).n_ratings
    4800
    """
    _check_size(n_workers, n_items)
    _check_count("n_repeats", n_repeats, minimum=1)
    _check_count("n_systems", n_systems, minimum=2)
    ratings_per_item = n_workers * n_repeats
    return Design("crossed", n_workers, n_items, ratings_per_item, n_repeats, n_systems=n_systems)


def all_systems(n_systems: int) -> str:
    """'both systems', or 'all 8 systems'."""
    return "both systems" if n_systems == 2 else f"all {n_systems:,} systems"


def different_workers(paired: bool, n_systems: int) -> int:
    """How many workers an item needs for one rating under each system: unpaired, of more than two systems, a
    worker takes several where there are too few."""
    return 1 if paired or n_systems > 2 else 2


def k_per_item(
    n_workers: int,
    n_items: int,
    *,
    ratings_per_item: int,
    paired: bool = True,
    max_ratings_per_worker: int | None = None,
    seed: int = DEFAULT_ASSIGNMENT_SEED,
    n_systems: int = 2,
) -> Design:
    """Each item is rated by k of the workers under each system, with loads as equal as can be.

    Paired: the same k workers see all systems. Unpaired ('split'): other workers see the item under
    another system; of more than two systems, a worker sees as few outputs of an item as there are workers
    for, and of each system about as many. Which workers meet on an item is drawn at random from `seed`.

    Raises
    ------
    DesignError
        If k workers cannot be had, or if a worker would exceed `max_ratings_per_worker`.

    Examples
    --------
    >>> k_per_item(10, 60, ratings_per_item=3).n_ratings
    360
    >>> k_per_item(10, 60, ratings_per_item=3, n_systems=8).n_ratings
    1440
    """
    _check_size(n_workers, n_items)
    _check_count("ratings_per_item", ratings_per_item, minimum=1)
    _check_count("n_systems", n_systems, minimum=2)
    different = different_workers(paired, n_systems)
    needed = different * ratings_per_item
    if needed > n_workers:
        how = "" if different == 1 else " (unpaired: other workers for each system)"
        raise DesignError(
            f"{ratings_per_item} ratings per item and system need {needed} different workers{how}; "
            f"there are {n_workers}. Ask for fewer ratings per item or more workers."
        )
    in_a_sitting = n_systems if paired else 1
    dealt = n_items * ratings_per_item * n_systems // in_a_sitting
    _check_cap(n_workers, n_items, ratings_per_item, n_systems, cap=max_ratings_per_worker, paired=paired)
    if paired and ratings_per_item == n_workers:
        return crossed(n_workers, n_items, n_systems=n_systems)
    each = f" for {ratings_per_item} workers each" if paired and ratings_per_item > 1 else ""
    counted = f"{n_items} items{each}" if paired else f"{dealt} ratings"
    notes = _uneven_loads(n_workers, dealt, counted=counted, unit="item" if paired else "rating")
    if not paired and ratings_per_item * n_systems > n_workers:
        notes += (
            f"{n_workers} workers are fewer than the {ratings_per_item * n_systems} ratings of an item, so "
            "some see it under more than one system.",
        )
    kind: DesignKind = "k-per-item" if paired else "split"
    return Design(kind, n_workers, n_items, ratings_per_item, notes=notes, seed=seed, n_systems=n_systems)


def workers_nested(n_workers: int, n_items: int) -> Design:
    """Half of the workers rate every item under A, the other half every item under B."""
    _check_size(n_workers, n_items)
    _check_count("n_workers", n_workers, minimum=4)
    return Design(
        "workers-nested", n_workers, n_items, n_workers / 2, notes=_uneven_halves("workers", n_workers)
    )


def items_nested(n_workers: int, n_items: int) -> Design:
    """Every worker rates every item; half of the items exist under A only, the others under B."""
    _check_size(n_workers, n_items)
    _check_count("n_items", n_items, minimum=4)
    return Design("items-nested", n_workers, n_items, n_workers, notes=_uneven_halves("items", n_items))


def both_nested(n_workers: int, n_items: int) -> Design:
    """Half of the workers rate half of the items under A, the others the other half under B."""
    _check_size(n_workers, n_items)
    _check_count("n_workers", n_workers, minimum=4)
    _check_count("n_items", n_items, minimum=4)
    notes = _uneven_halves("workers", n_workers) + _uneven_halves("items", n_items)
    return Design("both-nested", n_workers, n_items, n_workers / 2, notes=notes)


def counterbalanced(n_workers: int, n_items: int) -> Design:
    """Each worker sees each item once: one half of the workers sees one half of the items under A
    and the rest under B, the other half of the workers the other way round."""
    _check_size(n_workers, n_items)
    _check_count("n_workers", n_workers, minimum=4)
    _check_count("n_items", n_items, minimum=4)
    notes = _uneven_halves("workers", n_workers) + _uneven_halves("items", n_items)
    return Design("counterbalanced", n_workers, n_items, n_workers / 2, notes=notes)


def from_table(
    worker: ArrayLike,
    item: ArrayLike,
    system: ArrayLike,
    *,
    document: ArrayLike | None = None,
    n_systems: int = 2,
) -> Design:
    """The design of ratings that exist or are planned row by row (codes 0, 1, ...; system below `n_systems`).

    A table in which every worker rates every item under every system equally often comes back as a
    crossed design. An item may be seen in several documents (sessions, say): then the rows keep them.
    """
    given = (worker, item, system) if document is None else (worker, item, system, document)
    rows = Assignment(*(np.asarray(codes, dtype=np.int64) for codes in given))
    if len({len(np.asarray(codes)) for codes in given}) > 1 or len(rows.worker) == 0:
        names = "worker, item and system" if document is None else "worker, item, system and document"
        raise DesignError(f"{names} must be columns of equal length, not empty.")
    if not np.array_equal(np.unique(rows.system), np.arange(n_systems)):
        wanted = "two systems, with the codes 0 and 1"
        if n_systems > 2:
            wanted = f"{n_systems} systems, with the codes 0 to {n_systems - 1}"
        raise DesignError(
            f"A design compares {wanted}; this table has the codes "
            f"{', '.join(map(str, np.unique(rows.system)[:5]))}."
        )
    n_workers, n_items = int(rows.worker.max()) + 1, int(rows.item.max()) + 1
    _check_size(n_workers, n_items)
    n_outputs = len(np.unique(rows.item * n_systems + rows.system))
    n_repeats = _repeats_of_each(rows, (n_workers, n_items, n_systems))
    nested = None if rows.document is None else _document_of_item(rows.item, rows.document, n_items)
    if n_repeats and (document is None or nested is not None):
        design = crossed(n_workers, n_items, n_repeats=n_repeats, n_systems=n_systems)
    else:
        per_output = len(rows.worker) / n_outputs
        design = Design("table", n_workers, n_items, per_output, explicit=rows, n_systems=n_systems)
    if rows.document is None:
        return design
    return replace(design, n_documents=int(rows.document.max()) + 1, document_of_item=nested)


def _repeats_of_each(rows: Assignment, shape: tuple[int, int, int]) -> int:
    """How often every worker rates every item under every system, 0 where that differs. Cells are counted only
    where the rows could fill all of them, so that memory grows with the rows."""
    n_repeats, rest = divmod(len(rows.worker), math.prod(shape))
    if not n_repeats or rest:
        return 0
    cells = np.bincount(np.ravel_multi_index((rows.worker, rows.item, rows.system), shape))
    return n_repeats if (cells == n_repeats).all() else 0


def with_documents(design: Design, n_documents: int, *, together: bool = False) -> Design:
    """The same design with its items taken, in order, out of `n_documents` documents of equal size; where
    the items do not divide, some documents have one more, and a note says so.

    together : whoever rates an item of a document rates all of it, where some workers rate each item; else
        its items are dealt one by one.

    Raises
    ------
    DesignError
        Fewer than 2 documents, or more than items.

    Examples
    --------
    >>> with_documents(crossed(10, 100), 10).items_per_document
    10.0
    """
    _check_count("n_documents", n_documents, minimum=2)
    if n_documents > design.n_items:
        raise DesignError(
            f"{design.n_items} items cannot come out of {n_documents} documents: a document has at least one "
            "item. Ask for fewer documents or more items."
        )
    each, rest = divmod(design.n_items, n_documents)
    sizes = np.full(n_documents, each)
    sizes[:rest] += 1
    notes = design.notes
    if rest:
        notes += (
            f"{design.n_items} items do not divide by {n_documents} documents: "
            f"{_shares('document', 'have', rest, n_documents, each, 'item')}.",
        )
    return replace(
        design,
        notes=notes,
        n_documents=n_documents,
        document_of_item=np.repeat(np.arange(n_documents, dtype=np.int64), sizes),
        together=together,
    )


def _document_of_item(item: Codes, document: Codes, n_items: int) -> Codes | None:
    """The document of each item (n_items,), or None if an item is seen in more than one."""
    lowest = np.full(n_items, np.iinfo(np.int64).max)
    highest = np.zeros(n_items, dtype=np.int64)
    np.minimum.at(lowest, item, document)
    np.maximum.at(highest, item, document)
    return highest if np.array_equal(lowest, highest) else None


def check_load(design: Design, max_ratings_per_worker: int | None) -> Design:
    """The same design, if no worker exceeds the limit."""
    if max_ratings_per_worker is not None:
        _check_count("max_ratings_per_worker", max_ratings_per_worker, minimum=1)
        heaviest = int(design.worker_loads.max())
        if heaviest > max_ratings_per_worker:
            raise DesignError(
                f"This design gives a worker {heaviest} ratings, above the limit of "
                f"{max_ratings_per_worker} (max_ratings_per_worker). Let fewer workers rate each item "
                "(ratings_per_item), or use "
                "fewer items."
            )
    return design


def _crossed_rows(design: Design) -> Assignment:
    worker, item, system, _ = np.indices(
        (design.n_workers, design.n_items, design.n_systems, design.n_repeats), dtype=np.int64
    ).reshape(4, -1)
    return Assignment(worker, item, system)


def _k_per_item_rows(design: Design) -> Assignment:
    k, K = int(design.ratings_per_item), design.n_systems
    chosen = _least_loaded(design, per_item=k)
    worker = np.repeat(chosen.ravel(), K)
    item = np.repeat(np.arange(design.n_items), K * k)
    system = np.tile(np.arange(K), design.n_items * k)
    return Assignment(worker, item, system)


def _split_rows(design: Design) -> Assignment:
    """The 2k workers of an item take turns: the one who has seen more of A sees B."""
    if design.n_systems > 2:
        return _spread_rows(design)
    k = int(design.ratings_per_item)
    chosen = _least_loaded(design, per_item=2 * k)
    surplus_of_a = np.zeros(design.n_workers, dtype=np.int64)
    worker = np.empty_like(chosen)
    for item, group in enumerate(chosen):
        order = group[np.argsort(surplus_of_a[group], kind="stable")]
        surplus_of_a[order[:k]] += 1
        surplus_of_a[order[k:]] -= 1
        worker[item] = order
    _exchange_sides(worker, surplus_of_a, k)
    system = np.tile(np.repeat(np.array([0, 1]), k), design.n_items)
    return Assignment(worker.ravel(), np.repeat(np.arange(design.n_items), 2 * k), system)


def _exchange_sides(worker: Codes, surplus_of_a: Codes, k: int) -> None:
    """Where somebody has seen a system three times more often than the other, let workers change sides of items
    along a chain that ends with one who has not seen too much of it, in place; worker : (n_items, 2 k), those who
    see A first. Surpluses add up to 0, so there is such a chain; two in a thousand small designs need it."""
    while (most := np.abs(surplus_of_a)).max() > 2:
        one = last = int(most.argmax())
        sign = int(np.sign(surplus_of_a[one]))
        side, other = (slice(0, k), slice(k, 2 * k)) if sign > 0 else (slice(k, 2 * k), slice(0, k))
        before: dict[int, tuple[int, int]] = {}
        queue = [one]
        while queue and sign * surplus_of_a[last := queue.pop(0)] > 0:
            for item in np.flatnonzero((worker[:, side] == last).any(axis=1)).tolist():
                for partner in worker[item, other].tolist():
                    if partner != one and partner not in before:
                        before[partner] = last, item
                        queue.append(partner)
        surplus_of_a[one] -= 2 * sign
        surplus_of_a[last] += 2 * sign
        while last != one:
            giver, item = before[last]
            here = worker[item] == giver
            worker[item][worker[item] == last], worker[item][here] = giver, last
            last = giver


def _spread_rows(design: Design) -> Assignment:
    """An item's outputs go to as many different workers as there are; each worker gets each system as often
    as the others, or once more."""
    m, K, k = design.n_workers, design.n_systems, int(design.ratings_per_item)
    each, rest = divmod(K * k, m)
    everyone = np.tile(np.arange(m), (design.n_items, each))
    group = np.concatenate([everyone, _least_loaded(design, per_item=rest)], axis=1)
    worker, item = group.ravel(), np.repeat(np.arange(design.n_items), K * k)
    _, sitting, size = np.unique(item * m + worker, return_inverse=True, return_counts=True)
    # of a worker's outputs that are the only ones of their item, and of the others, each system has its share
    left = (worker * (each + 2) + size[sitting], worker, np.zeros_like(worker))
    system = equitable_colours(left, (item,), K, np.random.default_rng((design.seed, _SYSTEMS)))
    order = np.lexsort((worker, system, item))
    return Assignment(worker[order], item[order], system[order])


def _least_loaded(design: Design, *, per_item: int) -> Codes:
    """Deal `per_item` different workers to each item, or to each document as a whole if its items stay
    together, always those with the least work so far, ties broken at random. Loads then never differ by
    more than an item, or a document. Shape (n_items, per_item)."""
    rng = np.random.default_rng(design.seed)
    load = np.zeros(design.n_workers)
    sizes = np.ones(design.n_items)
    if design.together and design.document_of_item is not None:
        sizes = np.bincount(design.document_of_item, minlength=design.n_documents).astype(np.float64)
    chosen = np.empty((len(sizes), per_item), dtype=np.int64)
    for dealt, size in enumerate(sizes):
        tie = rng.random(design.n_workers)
        idle = np.flatnonzero(load == load.min())  # loads are whole numbers: nobody else comes before these
        among = idle if len(idle) >= per_item else np.arange(design.n_workers)
        group = among[np.argpartition(load[among] + tie[among], per_item - 1)[:per_item]]
        load[group] += size
        chosen[dealt] = np.sort(group)
    return chosen if len(chosen) == design.n_items else chosen[design.document_of_item]


def _grid_rows(design: Design) -> Assignment:
    """Nested and counterbalanced designs: a worker meets an item under at most one system."""
    worker, item = np.indices((design.n_workers, design.n_items), dtype=np.int64).reshape(2, -1)
    worker_half = (worker >= (design.n_workers + 1) // 2).astype(np.int64)
    item_half = (item >= (design.n_items + 1) // 2).astype(np.int64)
    if design.kind == "workers-nested":
        return Assignment(worker, item, worker_half)
    if design.kind == "items-nested":
        return Assignment(worker, item, item_half)
    if design.kind == "counterbalanced":
        return Assignment(worker, item, worker_half ^ item_half)
    kept = worker_half == item_half
    return Assignment(worker[kept], item[kept], worker_half[kept])


_BUILDERS: dict[DesignKind, Callable[[Design], Assignment]] = {
    "crossed": _crossed_rows,
    "k-per-item": _k_per_item_rows,
    "split": _split_rows,
    "workers-nested": _grid_rows,
    "items-nested": _grid_rows,
    "both-nested": _grid_rows,
    "counterbalanced": _grid_rows,
}


def _check_count(name: str, value: int, *, minimum: int) -> None:
    if not isinstance(value, int | np.integer) or value < minimum:
        raise DesignError(f"{name} must be a whole number of at least {minimum}; got {value}.")


def _check_size(n_workers: int, n_items: int) -> None:
    for name, value in (("n_workers", n_workers), ("n_items", n_items)):
        if not isinstance(value, int | np.integer) or value < 2:
            raise DesignError(
                f"{name} must be a whole number of at least 2, because a variance cannot be estimated "
                f"from one; got {value}."
            )


def _check_cap(
    n_workers: int, n_items: int, ratings_per_item: int, n_systems: int, *, cap: int | None, paired: bool
) -> None:
    if cap is None:
        return
    _check_count("max_ratings_per_worker", cap, minimum=1)
    dealt = n_items * ratings_per_item
    heaviest = n_systems * -(-dealt // n_workers) if paired else -(-n_systems * dealt // n_workers)
    if heaviest > cap:
        if paired and cap < n_systems:
            raise DesignError(
                f"A worker who sees an item under {all_systems(n_systems)} gives {n_systems} ratings, above the "
                f"limit of {cap} (max_ratings_per_worker). Raise the limit, or use an unpaired design."
            )
        enough = -(-dealt // (cap // n_systems)) if paired else -(-n_systems * dealt // cap)
        raise DesignError(
            f"{n_items} items with {ratings_per_item} ratings per system give a worker {heaviest} "
            f"ratings, above the limit of {cap} (max_ratings_per_worker). "
            f"{enough} workers would do, or fewer items or ratings per item."
        )


def _uneven_loads(n_workers: int, dealt: int, *, counted: str, unit: str) -> tuple[str, ...]:
    each, rest = divmod(dealt, n_workers)
    if rest == 0:
        return ()
    return (
        f"{counted} do not divide by {n_workers} workers: {_shares('worker', 'get', rest, n_workers, each, unit)}.",
    )


def _shares(noun: str, verb: str, rest: int, n: int, each: int, unit: str) -> str:
    """'1 worker gets 6 items, 4 get 5': `rest` of `n` get one more than `each`."""
    third = {"get": "gets", "have": "has"}[verb]
    more = f"1 {noun} {third}" if rest == 1 else f"{rest} {noun}s {verb}"
    less = f"1 {third}" if n - rest == 1 else f"{n - rest} {verb}"
    return f"{more} {each + 1} {unit}{'s' if each else ''}, {less} {each}"


def _uneven_halves(noun: str, count: int) -> tuple[str, ...]:
    if count % 2 == 0:
        return ()
    return (f"{count} {noun} do not halve: {(count + 1) // 2} in one group, {count // 2} in the other.",)
