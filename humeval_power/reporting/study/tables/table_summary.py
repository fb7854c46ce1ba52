"""What is in a table of ratings: counts, use of the scale, and the design, as one record."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import codes_in
from humeval_power.checking.structure import cell_sizes, connected_parts, n_systems_seen
from humeval_power.ratings import Ratings

Codes = NDArray[np.int64]


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
    return TableSummary(
        n_ratings=ratings.n_ratings,
        n_workers=n_workers,
        n_items=n_items,
        n_systems=n_systems,
        share_at_low=float(np.mean(raw <= ratings.scale.low + tolerance)),
        share_at_high=float(np.mean(raw >= ratings.scale.high - tolerance)),
        n_values=len(np.unique(ratings.rating)),
        ratings_per_worker=spread(np.bincount(worker)),
        ratings_per_item_and_system=spread(_positive(np.bincount(item * n_systems + system))),
        share_paired=float(np.mean(seen_in_pair > 1)),
        n_repeats=ratings.n_ratings - len(cell_sizes(worker, item, system)),
        n_items_one_system=int((seen_by_item == 1).sum()),
        n_workers_one_system=int((seen_by_worker == 1).sum()),
        n_parts=connected_parts(worker, item, n_workers=n_workers, n_items=n_items)[0],
        systems=tuple(_system_summary(ratings, raw, code) for code in range(n_systems)),
    )


def spread(counts: Codes) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _positive(counts: Codes) -> Codes:
    return counts[counts > 0]


def _system_summary(ratings: Ratings, raw: NDArray[np.float64], code: int) -> SystemSummary:
    rows = ratings.system == code
    return SystemSummary(
        system=ratings.system_names[code],
        n_ratings=int(rows.sum()),
        n_workers=len(codes_in(ratings.worker[rows])),
        n_items=len(codes_in(ratings.item[rows])),
        mean=float(raw[rows].mean()),
    )
