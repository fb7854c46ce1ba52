"""Who rated what: how workers and items meet in a table of ratings, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.checking.structure import connected_parts
from humeval_power.reporting.document import Block, Points
from humeval_power.reporting.drawing import Drawing
from humeval_power.reporting.numbers import counted, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.study.tables.cell_map import cell_map
from humeval_power.reporting.study.tables.table_summary import Spread, spread

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

    from humeval_power.ratings import Ratings

Codes = NDArray[np.int64]
Kind = Literal["complete", "blocks", "parts", "connected"]
Pairing = Literal["one system", "all systems", "some", "none"]
TITLE = "Who rated which items?"
_MOST_PAIRS = 3_000  # workers of whom each pair is looked at
_DENSE_UP_TO = 1_000_000  # cells, rated or not, of a table that is multiplied as it stands
_MOST_PARTS = 20  # parts told one by one


@dataclass(frozen=True, slots=True)
class Part:
    """Workers and items that ratings connect with each other and with nobody else."""

    n_workers: int
    n_items: int
    n_cells: int
    workers: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether each of its workers rated each of its items."""
        return self.n_cells == self.n_workers * self.n_items


@dataclass(frozen=True, slots=True)
class WhoRatedWhat:
    """How workers and items meet. A cell is a worker with an item, whatever the system.

    `n_cells` are rated at all; in `n_several` of them the worker rated two systems or more, in `n_all` every
    system of the table. `items_shared` is how many items two workers both rated, over all pairs of workers; None
    for one worker and where there are more than 3,000. `parts` stand largest first.
    """

    n_workers: int
    n_items: int
    n_systems: int
    n_cells: int
    n_several: int
    n_all: int
    items_per_worker: Spread
    workers_per_item: Spread
    items_shared: Spread | None
    parts: tuple[Part, ...]

    @property
    def share(self) -> float:
        """The share of all worker-item cells that is rated."""
        return self.n_cells / (self.n_workers * self.n_items)

    @property
    def kind(self) -> Kind:
        """Complete; blocks: parts that are each complete; parts; or all connected, not complete."""
        if len(self.parts) > 1:
            return "blocks" if all(part.is_complete for part in self.parts) else "parts"
        return "complete" if self.parts[0].is_complete else "connected"

    @property
    def pairing(self) -> Pairing:
        """Whether a worker who rated an item rated it under all systems, under some, or under one alone."""
        if self.n_systems == 1:
            return "one system"
        if self.n_all == self.n_cells:
            return "all systems"
        return "some" if self.n_several else "none"

    def content(self) -> Record:
        """The same for a record, parts after the twentieth only counted."""
        return {
            "kind": self.kind,
            "pairing": self.pairing,
            "n_cells": self.n_cells,
            "share_of_cells": self.share,
            "cells_with_several_systems": self.n_several,
            "cells_with_all_systems": self.n_all,
            "items_per_worker": asdict(self.items_per_worker),
            "workers_per_item": asdict(self.workers_per_item),
            "items_shared_by_two_workers": None if self.items_shared is None else asdict(self.items_shared),
            "n_parts": len(self.parts),
            "parts": [
                {"n_workers": part.n_workers, "n_items": part.n_items, "n_cells": part.n_cells}
                for part in self.parts[:_MOST_PARTS]
            ],
        }

    def words(self) -> Iterator[str]:
        """What the pattern is, and what it means for an analysis."""
        yield _cells_words(self)
        yield from _pairing_words(self)
        yield from _parts_words(self)
        yield from _shared_words(self)


def who_rated_what(ratings: Ratings) -> WhoRatedWhat:
    """How the workers and items of the ratings meet."""
    n_workers, n_items, n_systems = ratings.n_workers, ratings.n_items, ratings.n_systems
    pairs, seen = np.unique(_cells(ratings) // n_systems, return_counts=True)
    worker, item = pairs // n_items, pairs % n_items
    return WhoRatedWhat(
        n_workers=n_workers,
        n_items=n_items,
        n_systems=n_systems,
        n_cells=len(pairs),
        n_several=int((seen > 1).sum()),
        n_all=int((seen == n_systems).sum()),
        items_per_worker=spread(np.bincount(worker, minlength=n_workers)),
        workers_per_item=spread(np.bincount(item, minlength=n_items)),
        items_shared=_items_shared(worker, item, n_workers, n_items),
        parts=_parts(ratings, worker, item),
    )


def same_assignment(one: Ratings, other: Ratings) -> bool:
    """Whether the same workers rated the same items under the same systems."""
    return (
        one.worker_names == other.worker_names
        and one.item_names == other.item_names
        and one.system_names == other.system_names
        and bool(np.array_equal(_cells(one), _cells(other)))
    )


def _cells(ratings: Ratings) -> Codes:
    """The numbers of the cells that are rated, in order."""
    return np.unique((ratings.worker * ratings.n_items + ratings.item) * ratings.n_systems + ratings.system)


def who_rated_what_blocks(
    ratings: Ratings, found: WhoRatedWhat, name: str = "assignment"
) -> tuple[Block, ...]:
    """Its words, and the picture of it, whose file has that name."""

    def draw() -> Figure:
        from humeval_power.reporting.study.tables.assignment_figure import assignment_figure

        return assignment_figure(cell_map(ratings), ratings.worker_names)

    def svg() -> str:
        from humeval_power.reporting.study.tables.assignment_svg import assignment_svg

        return assignment_svg(cell_map(ratings), ratings.worker_names, TITLE, words)

    words = "A row for each worker, a column for each item; those who rated the same items stand together."
    drawing = Drawing(name, draw, svg, title=TITLE, words=words)
    return Points(tuple(found.words())), drawing


def _items_shared(worker: Codes, item: Codes, n_workers: int, n_items: int) -> Spread | None:
    if not 1 < n_workers <= _MOST_PAIRS:
        return None
    if n_workers * n_items <= _DENSE_UP_TO:
        dense = np.zeros((n_workers, n_items))
        dense[worker, item] = 1.0
        shared = (dense @ dense.T).astype(np.int64)
    else:
        from scipy.sparse import csr_array

        ones = np.ones(len(worker), dtype=np.int64)
        met = csr_array((ones, (worker, item)), shape=(n_workers, n_items))
        shared = (met @ met.T).toarray()
    return spread(shared[np.triu_indices(n_workers, k=1)])


def _parts(ratings: Ratings, worker: Codes, item: Codes) -> tuple[Part, ...]:
    """Largest first; of equal ones the one whose worker comes first in the table."""
    n_workers, n_items = ratings.n_workers, ratings.n_items
    n_parts, label = connected_parts(worker, item, n_workers=n_workers, n_items=n_items)
    workers = np.bincount(label[:n_workers], minlength=n_parts)
    items = np.bincount(label[n_workers:], minlength=n_parts)
    cells = np.bincount(label[worker], minlength=n_parts)
    members: list[list[str]] = [[] for _ in range(n_parts)]
    for code, part in enumerate(label[:n_workers].tolist()):
        members[part].append(ratings.worker_names[code])
    order = sorted(range(n_parts), key=lambda part: -int(cells[part]))
    return tuple(Part(int(workers[p]), int(items[p]), int(cells[p]), tuple(members[p])) for p in order)


def _cells_words(found: WhoRatedWhat) -> str:
    if found.kind == "complete":
        return (
            f"Complete: each of the {counted(found.n_workers, 'worker')} rated each of the "
            f"{counted(found.n_items, 'item')}."
        )
    return (
        f"{found.n_cells:,} of the {found.n_workers * found.n_items:,} pairs of a worker and an item are rated "
        f"({percent(found.share)}): "
        f"{_of(found.workers_per_item, 'worker')} an item, {_of(found.items_per_worker, 'item')} a worker."
    )


def _of(counts: Spread, noun: str) -> str:
    """'3 workers', or '2 to 5 workers (median 3)'."""
    if counts.minimum == counts.maximum:
        return counted(counts.minimum, noun)
    return f"{counts.minimum:,} to {counts.maximum:,} {noun}s (median {counts.median:,g})"


def _pairing_words(found: WhoRatedWhat) -> Iterator[str]:
    both = "both systems" if found.n_systems == 2 else f"all {found.n_systems:,} systems"
    if found.pairing == "all systems":
        yield f"Paired: a worker who rated an item rated it under {both}."
    elif found.pairing == "none":
        yield (
            "Not paired: nobody rated an item under more than one system, so that differences between systems "
            "also hold those between workers."
        )
    elif found.pairing == "some":
        several = "two systems or more" if found.n_systems > 2 else both
        all_of = f", in {found.n_all:,} under {both}" if found.n_systems > 2 else ""
        yield (
            f"Partly paired: in {found.n_several:,} of {found.n_cells:,} pairs the worker rated the item under "
            f"{several}{all_of}."
        )


def _parts_words(found: WhoRatedWhat) -> Iterator[str]:
    if len(found.parts) == 1:
        if found.kind != "complete":
            yield "All workers and items are connected by ratings."
        return
    sizes = {(part.n_workers, part.n_items) for part in found.parts}
    n_workers, n_items = found.parts[0].n_workers, found.parts[0].n_items
    size = f"{counted(n_workers, 'worker')} and {counted(n_items, 'item')}"
    each = f"of {size} each" if len(sizes) == 1 else f"the largest of {size}"
    whole = ", each complete" if found.kind == "blocks" else ""
    yield (
        f"{len(found.parts):,} parts that share no worker and no item, {each}{whole}: strict workers of "
        "one part cannot be told from its hard items, and nobody can be held against a worker of another part."
    )
    small = [name for part in found.parts if part.n_workers == 1 for name in part.workers]
    if small and found.parts[0].n_workers > 1:
        yield f"Alone with their items: {listing(small, limit=5)}."


def _shared_words(found: WhoRatedWhat) -> Iterator[str]:
    shared = found.items_shared
    if shared is None or found.kind == "complete":
        return
    if not shared.maximum:
        yield "No two workers rated the same item: how far they agree cannot be told."
    else:
        yield f"Two workers share {_of(shared, 'item')}, on which their agreement rests."
