"""The table of workers and items as a small grid of shades, ordered so that its pattern shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.structure import connected_parts
from humeval_power.ratings import Ratings

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
    def is_binned(self) -> bool:
        """Whether a cell is more than one worker with one item."""
        return len(self.worker_order) > len(self.workers_in_row) or len(self.item_order) > len(
            self.items_in_column
        )


def cell_map(ratings: Ratings) -> CellMap:
    """The grid of these ratings.

    Connected parts stand apart, largest first. Within a part those who rated the same items stand together, by
    reciprocal averaging (Hill, 1973, Journal of Ecology 61, 237-249); ties keep the order of the table.
    """
    n_workers, n_items, n_systems = ratings.n_workers, ratings.n_items, ratings.n_systems
    triples = np.unique((ratings.worker * n_items + ratings.item) * n_systems + ratings.system)
    worker, item = triples // (n_systems * n_items), triples // n_systems % n_items
    worker_order, item_order = _orders(worker, item, n_workers, n_items)
    row_of, in_row = _bins(worker_order, MOST_ROWS)
    column_of, in_column = _bins(item_order, MOST_COLUMNS)
    shape = (len(in_row), len(in_column))
    if shape == (n_workers, n_items) and n_systems == 2:
        levels = np.zeros(shape, dtype=np.int8)
        np.add.at(levels, (row_of[worker], column_of[item]), (triples % n_systems + 1).astype(np.int8))
        a, b = ratings.system_names
        of_two = (f"{a} only", f"{b} only", "both")
        return CellMap(levels, of_two, True, in_row, in_column, worker_order, item_order)
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (row_of[worker], column_of[item]), 1)
    whole = np.outer(in_row, in_column) * n_systems
    used, labels = _shaded(counts, whole)
    return CellMap(used, labels, False, in_row, in_column, worker_order, item_order)


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


def _used(levels: NDArray[np.int8], labels: tuple[str, ...]) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """The levels without those that do not occur."""
    occurs = [level for level in range(1, len(labels) + 1) if (levels == level).any()]
    new = np.zeros(len(labels) + 1, dtype=np.int8)
    new[occurs] = np.arange(1, len(occurs) + 1)
    return new[levels], tuple(labels[level - 1] for level in occurs)


def _shaded(counts: Codes, whole: Codes) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Up to four shades of the share that is rated, each a quarter of the largest share wide."""
    share = counts / whole
    levels = np.ceil(_SHADES * share / share.max() - 1e-9).astype(np.int8)
    labels = []
    for level in range(1, _SHADES + 1):
        inside = share[levels == level]
        labels.append(_share_words(float(inside.min()), float(inside.max())) if len(inside) else "")
    return _used(levels, tuple(labels))


def _share_words(low: float, high: float) -> str:
    ends = list(dict.fromkeys(f"{100 * share:.3g}" for share in (low, high)))
    return "all" if ends == ["100"] else f"{' to '.join(ends)} %"
