"""Who rated what: how workers and items meet in a table of ratings, in numbers and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import codes_in
from humeval_power.checking.columns import listing
from humeval_power.checking.structure import cell_sizes, connected_parts, n_systems_seen
from humeval_power.designs import all_systems
from humeval_power.ratings import Ratings
from humeval_power.saying.chart import Axis, Chart, LaterChart, Series
from humeval_power.saying.document import Block, Points, Table
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record

# The table of workers and items as a small grid of shades, ordered so that its pattern shows.

MOST_ROWS, MOST_COLUMNS = 48, 96  # of the grid; more workers or items are put together
_SHADES = 4  # of shares, beside none
_ROUNDS = 40
_NOTHING = 1e-12
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CellMap:
    """A grid of levels (rows, columns): 0 is not rated, `labels[level - 1]` says what another one is.

    Rows are workers and columns items, so many of them each where there are more than fit: `workers_in_row` and
    `items_in_column` count them. `worker_order` and `item_order` are codes from the first row or column on. With
    `is_pair` a level is one of A alone, B alone, both; else a shade of how much is rated.
    """

    levels: NDArray[np.int8]
    labels: tuple[str, ...]
    is_pair: bool
    workers_in_row: Codes
    items_in_column: Codes
    worker_order: Codes
    item_order: Codes

    @property
    def shown(self) -> tuple[int, ...]:
        """The levels that some cell has."""
        return tuple(level for level in range(1, len(self.labels) + 1) if (self.levels == level).any())

    @property
    def is_binned(self) -> bool:
        """Whether a cell is more than one worker with one item."""
        return bool(self.workers_in_row.max() > 1 or self.items_in_column.max() > 1)

    @property
    def axis_words(self) -> tuple[str, str]:
        """What the rows and the columns are: '40 workers', '5,000 items, 52 to 53 a column'."""
        of_rows = self._axis(len(self.worker_order), "workers", "row", self.workers_in_row)
        return of_rows, self._axis(len(self.item_order), "items", "column", self.items_in_column)

    @staticmethod
    def _axis(n: int, noun: str, line: str, in_each: Codes) -> str:
        low, high = int(in_each.min()), int(in_each.max())
        several = f", {low:,}{'' if low == high else f' to {high:,}'} a {line}" if high > 1 else ""
        return f"{n:,} {noun}{several}"


def cell_map(ratings: Ratings) -> CellMap:
    """The grid of these ratings."""
    sizes = (ratings.n_workers, ratings.n_items)
    return grid_of(ratings.worker, ratings.item, ratings.system, sizes, ratings.system_names)


def grid_of(
    worker: Codes, item: Codes, system: Codes, sizes: tuple[int, int], system_names: tuple[str, ...]
) -> CellMap:
    """The grid of who rates what, from codes of shape (n,); `sizes` are all workers and all items.

    Connected parts stand apart, largest first. Within a part those who rated the same items stand together, by
    reciprocal averaging (Hill, 1973, Journal of Ecology 61, 237-249); ties keep the order of the table.
    """
    (n_workers, n_items), n_systems = sizes, len(system_names)
    triples = np.unique((worker * n_items + item) * n_systems + system)
    worker, item = triples // (n_systems * n_items), triples // n_systems % n_items
    worker_order, item_order = _orders(worker, item, n_workers, n_items)
    row_of, in_row = _bins(worker_order, MOST_ROWS)
    column_of, in_column = _bins(item_order, MOST_COLUMNS)
    shape = (len(in_row), len(in_column))
    if shape == (n_workers, n_items) and n_systems == 2:
        levels = np.zeros(shape, dtype=np.int8)
        np.add.at(levels, (row_of[worker], column_of[item]), (triples % n_systems + 1).astype(np.int8))
        a, b = system_names
        of_two = (f"{a} only", f"{b} only", "both")
        return CellMap(levels, of_two, True, in_row, in_column, worker_order, item_order)
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (row_of[worker], column_of[item]), 1)
    levels, labels = _shaded(counts / (np.outer(in_row, in_column) * n_systems))
    return CellMap(levels, labels, False, in_row, in_column, worker_order, item_order)


def _orders(worker: Codes, item: Codes, n_workers: int, n_items: int) -> tuple[Codes, Codes]:
    n_parts, part = connected_parts(worker, item, n_workers=n_workers, n_items=n_items)
    cells = np.unique(worker * n_items + item)
    size_of = np.bincount(part[cells // n_items], minlength=n_parts)
    scores = _averages(cells // n_items, cells % n_items, part[n_workers:])
    orders = [
        np.lexsort((score, of, -size_of[of]))
        for score, of in zip(scores, (part[:n_workers], part[n_workers:]), strict=True)
    ]
    return orders[0], orders[1]


def _averages(worker: Codes, item: Codes, item_part: Codes) -> tuple[Floats, Floats]:
    """Scores of workers and items, each the average of those it meets, after so many rounds: near the first axis of
    a correspondence analysis of each part; all 0 where everybody meets everything."""
    per_worker, per_item = np.bincount(worker), np.bincount(item)
    in_part = np.bincount(item_part, weights=per_item)
    scores = np.arange(len(per_item), dtype=np.float64)
    of_workers = np.zeros(len(per_worker))
    for _ in range(_ROUNDS):
        scores -= (np.bincount(item_part, weights=scores * per_item) / in_part)[item_part]
        largest = np.zeros(len(in_part))
        np.maximum.at(largest, item_part, np.abs(scores))
        scores = np.divide(scores, largest[item_part], where=largest[item_part] > _NOTHING, out=0 * scores)
        of_workers = np.bincount(worker, weights=scores[item]) / per_worker
        scores = np.bincount(item, weights=of_workers[worker]) / per_item
    return of_workers.round(9), scores.round(9)


def _bins(order: Codes, most: int) -> tuple[Codes, Codes]:
    """The row or column of each level, and how many levels each holds: as even as they go."""
    n = len(order)
    n_bins = min(n, most)
    place = np.arange(n) * n_bins // n
    bin_of = np.empty(n, dtype=np.int64)
    bin_of[order] = place
    return bin_of, np.bincount(place, minlength=n_bins)


def _shaded(share: Floats) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Up to four shades of the share that is rated, each a quarter of the largest share wide; those that occur."""
    quarter = np.ceil(_SHADES * share / share.max() - 1e-9).astype(np.int8)
    levels, labels = np.zeros_like(quarter), []
    for each in range(1, _SHADES + 1):
        inside = share[quarter == each]
        if len(inside):
            ends = list(dict.fromkeys(f"{100 * end:.3g}" for end in (inside.min(), inside.max())))
            labels.append("all" if ends == ["100"] else f"{' to '.join(ends)} %")
            levels[quarter == each] = len(labels)
    return levels, tuple(labels)


# Who rated what as a chart: the cells of a level are a series, neighbours in a row put together.

_MOST_NAMES = 24  # workers whose names stand at their rows
_STRENGTHS = (0.28, 0.5, 0.75, 1.0)  # how much of a colour, of how much is rated
_TWO = (1, 2, 0)  # colours of A alone, B alone, both


def assignment_chart(
    grid: CellMap, worker_names: tuple[str, ...], name: str, title: str, words: str
) -> Chart:
    """A row for each worker or group of workers, a column for each item or group of items."""
    n_rows, n_columns = grid.levels.shape
    named = n_rows <= _MOST_NAMES and not grid.is_binned
    names = tuple(worker_names[code] for code in grid.worker_order) if named else ("",) * n_rows
    workers, items = grid.axis_words
    cells = [np.argwhere(grid.levels == level) for level in grid.shown]
    counts = zip(grid.shown, cells, strict=True)
    return Chart(
        name,
        title,
        words,
        Axis(f"Rows: {workers}; columns: {items}", 0, n_columns, places=()),
        Axis("", 0, n_rows, names=names),
        tuple(_cells_of(grid, level) for level in grid.shown),
        numbers=Table(
            ("", f"of {n_rows * n_columns:,} cells"),
            tuple((grid.labels[level - 1], f"{len(of):,}") for level, of in counts),
        ),
    )


def _cells_of(grid: CellMap, level: int) -> Series:
    """The cells of a level: one for each run in a row."""
    runs = []
    for row, line in enumerate(grid.levels == level):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
        runs += [(float(row), *map(float, ends)) for ends in zip(edges[::2], edges[1::2], strict=True)]
    y, low, high = zip(*runs, strict=True)
    colour = _TWO[level - 1] if grid.is_pair else 0
    strength = 1.0 if grid.is_pair else _STRENGTHS[len(_STRENGTHS) - len(grid.labels) + level - 1]
    label = grid.labels[level - 1]
    return Series("cells", label, y=y, low=low, high=high, colour=colour, strength=strength)


# What is in a table of ratings: counts, use of the scale, and the design, as one record.


@dataclass(frozen=True, slots=True)
class Spread:
    """Smallest, median and largest of some counts."""

    minimum: int
    median: float
    maximum: int


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """One system: its ratings, how many workers and items they come from, and their raw mean."""

    system: str
    n_ratings: int
    n_workers: int
    n_items: int
    mean: float


@dataclass(frozen=True, slots=True)
class TableSummary:
    """Counts and shares that describe the ratings analysed.

    `share_at_low` and `share_at_high` are the shares of ratings at the ends of the raw scale.
    `share_paired` is the share of worker-item pairs in which the worker rated at least two systems.
    `n_items_one_system` and `n_workers_one_system` count those that go with one system only.
    `n_parts` counts the groups of workers and items that share no rating: 1 is connected.
    """

    n_ratings: int
    n_workers: int
    n_items: int
    n_systems: int
    share_at_low: float
    share_at_high: float
    n_values: int
    ratings_per_worker: Spread
    ratings_per_item_and_system: Spread
    share_paired: float
    n_repeats: int
    n_items_one_system: int
    n_workers_one_system: int
    n_parts: int
    systems: tuple[SystemSummary, ...]

    def as_dict(self) -> dict[str, object]:
        """The fields as plain values, ready for JSON."""
        return asdict(self)


def summarise_table(ratings: Ratings) -> TableSummary:
    """Describe the ratings: sizes, use of the scale, and who rated what."""
    raw = ratings.raw_rating
    tolerance = 1e-9 * ratings.scale.width
    worker, item, system = ratings.worker, ratings.item, ratings.system
    n_workers, n_items, n_systems = ratings.n_workers, ratings.n_items, ratings.n_systems
    _, pair = np.unique(worker * n_items + item, return_inverse=True)
    n_pairs = int(pair.max()) + 1
    seen_in_pair = n_systems_seen(pair, system, n_levels=n_pairs, n_systems=n_systems)
    seen_by_item = n_systems_seen(item, system, n_levels=n_items, n_systems=n_systems)
    seen_by_worker = n_systems_seen(worker, system, n_levels=n_workers, n_systems=n_systems)
    per_output = np.bincount(item * n_systems + system)
    return TableSummary(
        n_ratings=ratings.n_ratings,
        n_workers=n_workers,
        n_items=n_items,
        n_systems=n_systems,
        share_at_low=float(np.mean(raw <= ratings.scale.low + tolerance)),
        share_at_high=float(np.mean(raw >= ratings.scale.high - tolerance)),
        n_values=len(np.unique(ratings.rating)),
        ratings_per_worker=spread(np.bincount(worker)),
        ratings_per_item_and_system=spread(per_output[per_output > 0]),
        share_paired=float(np.mean(seen_in_pair > 1)),
        n_repeats=ratings.n_ratings - len(cell_sizes(worker, item, system)),
        n_items_one_system=int((seen_by_item == 1).sum()),
        n_workers_one_system=int((seen_by_worker == 1).sum()),
        n_parts=connected_parts(worker, item, n_workers=n_workers, n_items=n_items)[0],
        systems=tuple(_system_summary(ratings, raw, code) for code in range(n_systems)),
    )


def spread(counts: Codes) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _system_summary(ratings: Ratings, raw: NDArray[np.float64], code: int) -> SystemSummary:
    rows = ratings.system == code
    return SystemSummary(
        system=ratings.system_names[code],
        n_ratings=int(rows.sum()),
        n_workers=len(codes_in(ratings.worker[rows])),
        n_items=len(codes_in(ratings.item[rows])),
        mean=float(raw[rows].mean()),
    )


Kind = Literal["complete", "blocks", "parts", "connected"]
Pairing = Literal["one system", "all systems", "some", "none"]
TITLE = "Who rated which items?"
_MOST_PAIRS = 3_000  # workers of whom each pair is looked at
_DENSE_UP_TO = 1_000_000  # cells, rated or not, of a table that is multiplied as it stands
_MOST_PARTS = 20  # parts told one by one


@dataclass(frozen=True, slots=True)
class ConnectedPart:
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
    parts: tuple[ConnectedPart, ...]

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
            **values(self, "kind", "pairing", "n_cells"),
            "share_of_cells": self.share,
            "cells_with_several_systems": self.n_several,
            "cells_with_all_systems": self.n_all,
            **values(self, "items_per_worker", "workers_per_item"),
            "items_shared_by_two_workers": self.items_shared and asdict(self.items_shared),
            "n_parts": len(self.parts),
            "parts": [values(part, "n_workers", "n_items", "n_cells") for part in self.parts[:_MOST_PARTS]],
        }

    def words(self) -> Iterator[str]:
        """What the pattern is, and what it means for an analysis."""
        workers, items = counted(self.n_workers, "worker"), counted(self.n_items, "item")
        if self.kind == "complete":
            yield f"Complete: each of the {workers} rated each of the {items}."
        else:
            yield (
                f"{self.n_cells:,} of the {self.n_workers * self.n_items:,} pairs of a worker and an item are "
                f"rated ({percent(self.share)}): {_of(self.workers_per_item, 'worker')} an item, "
                f"{_of(self.items_per_worker, 'item')} a worker."
            )
        yield from self._pairing_words()
        yield from self._parts_words()
        shared = self.items_shared
        if shared is None or self.kind == "complete":
            return
        if not shared.maximum:
            yield "No two workers rated the same item: how far they agree cannot be told."
        else:
            yield f"Any two workers share {_of(shared, 'item')}, on which their agreement rests."

    def _pairing_words(self) -> Iterator[str]:
        both = all_systems(self.n_systems)
        if self.pairing == "all systems":
            yield f"Paired: a worker who rated an item rated it under {both}."
        elif self.pairing == "none":
            yield (
                "Not paired: nobody rated an item under more than one system, so that differences between systems "
                "also hold those between workers."
            )
        elif self.pairing == "some":
            several = "two systems or more" if self.n_systems > 2 else both
            all_of = f", in {self.n_all:,} under {both}" if self.n_systems > 2 else ""
            yield (
                f"Partly paired: in {self.n_several:,} of {self.n_cells:,} pairs the worker rated the item under "
                f"{several}{all_of}."
            )

    def _parts_words(self) -> Iterator[str]:
        largest = self.parts[0]
        if len(self.parts) == 1:
            if self.kind != "complete":
                yield "All workers and items are connected by ratings."
            return
        sizes = {(part.n_workers, part.n_items) for part in self.parts}
        size = f"{counted(largest.n_workers, 'worker')} and {counted(largest.n_items, 'item')}"
        each = f"of {size} each" if len(sizes) == 1 else f"the largest of {size}"
        whole = ", each complete" if self.kind == "blocks" else ""
        yield (
            f"{len(self.parts):,} parts that share no worker and no item, {each}{whole}: strict workers of "
            "one part cannot be told from its hard items, and nobody can be held against a worker of another part."
        )
        small = [name for part in self.parts if part.n_workers == 1 for name in part.workers]
        if small and largest.n_workers > 1:
            yield f"Alone with their items: {listing(small, limit=5)}."


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
    ratings: Ratings, cells: WhoRatedWhat, name: str = "assignment"
) -> tuple[Block, ...]:
    """Its words, and the picture of it, whose file has that name."""
    words = "A row for each worker, a column for each item; those who rated the same items stand together."
    drawing = who_rates_what(lambda: cell_map(ratings), ratings.worker_names, name, (TITLE, words))
    return Points(tuple(cells.words())), drawing


def who_rates_what(
    grid: Callable[[], CellMap], worker_names: tuple[str, ...], name: str, said: tuple[str, str]
) -> LaterChart:
    """The picture of a grid, whose file has that name; `said` are its title and its words."""
    title, words = said
    return LaterChart(name, lambda: assignment_chart(grid(), worker_names, name, title, words), words=words)


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


def _parts(ratings: Ratings, worker: Codes, item: Codes) -> tuple[ConnectedPart, ...]:
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
    return tuple(
        ConnectedPart(int(workers[p]), int(items[p]), int(cells[p]), tuple(members[p])) for p in order
    )


def _of(counts: Spread, noun: str) -> str:
    """'3 workers', or '2 to 5 workers (median 3)'."""
    if counts.minimum == counts.maximum:
        return counted(counts.minimum, noun)
    return f"{counts.minimum:,} to {counts.maximum:,} {noun}s (median {counts.median:,g})"
