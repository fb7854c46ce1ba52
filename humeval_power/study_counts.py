"""The size of a study in counts, and the units of work that it is made of.

A unit of work is what one worker does in one sitting; as many different workers do it as the item gets
ratings under each system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design
from humeval_power.errors import InputError, field_problem
from humeval_power.fees import is_whole

Group: TypeAlias = tuple[int, int, int]  # units of work, different workers on each, ratings by each of them


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """The size of a study, enough to price it without building its assignment.

    `ratings_per_item` is per system, each by another worker; `paired` means that the same workers rate
    an item under all systems; with `n_repeats` they do so several times. `n_documents` is how many
    documents the items come out of, 0 where they stand alone.
    """

    n_workers: int
    n_items: int
    ratings_per_item: int
    paired: bool = True
    n_repeats: int = 1
    n_documents: int = 0
    n_systems: int = 2

    @property
    def is_complete(self) -> bool:
        """Whether every worker rates every item."""
        return self.paired and self.ratings_per_item == self.n_workers

    @property
    def ratings_of_a_worker(self) -> float:
        """How many ratings a worker gives, on average."""
        ratings = self.n_systems * self.n_items * self.ratings_per_item * self.n_repeats
        return ratings / self.n_workers

    def __post_init__(self) -> None:
        names = ("n_workers", "n_items", "ratings_per_item", "n_repeats")
        rule = "must be a whole number of at least 1."
        bad = [name for name in names if not is_whole(getattr(self, name), 1)]
        if bad:
            raise InputError([field_problem(name, getattr(self, name), rule) for name in bad])
        if not is_whole(self.n_systems, 2):
            rule = "must be a whole number of at least 2."
            raise InputError([field_problem("n_systems", self.n_systems, rule)])
        if self.n_documents != 0 and not (
            is_whole(self.n_documents, 2) and self.n_documents <= self.n_items
        ):
            rule = f"must be 0, or a whole number from 2 to the number of items, {self.n_items}."
            raise InputError([field_problem("n_documents", self.n_documents, rule)])


class ExpectedCounts(NamedTuple):
    """What is expected to be left of a study after losses: its `StudyCounts`, on average."""

    n_workers: float
    n_items: float
    ratings_per_item: float
    paired: bool
    n_repeats: int
    n_documents: int
    n_systems: int


@dataclass(frozen=True, slots=True)
class Documents:
    """How many documents items come out of: a number of them, or so many items each; neither where the
    items stand alone."""

    number: int | None = None
    items_each: int | None = None

    def __post_init__(self) -> None:
        if self.number is not None and self.items_each is not None:
            raise InputError("Give the number of documents or the items of each, not both.")
        for name, value, least in (("number", self.number, 2), ("items_each", self.items_each, 1)):
            if value is not None and not is_whole(value, least):
                rule = f"must be a whole number of at least {least}."
                raise InputError([field_problem(name, value, rule)])

    def of(self, n_items: int) -> int:
        """The number of documents of so many items, 0 without any; the last may have fewer items.

        Raises
        ------
        InputError
            So many items each that all are in one document.
        """
        if self.items_each is not None:
            if self.items_each >= n_items > 0:
                raise InputError(
                    f"items_per_document must leave two documents at least; {self.items_each:,} puts all "
                    f"{n_items:,} items into one."
                )
            return -(-n_items // self.items_each)
        return self.number or 0


NO_DOCUMENTS = Documents()


def units_of_work(study: Design | StudyCounts) -> tuple[int, list[Group]]:
    """Number of outputs (an item under a system), and the groups of equal units of work in a study.

    A unit is an item under all systems where all workers who rate one rate all, otherwise an output.
    """
    k, K = int(study.ratings_per_item), study.n_systems
    if isinstance(study, StudyCounts):
        units, in_a_unit = (1, K) if study.paired else (K, 1)
        return K * study.n_items, [(study.n_items * study.n_repeats * units, k, in_a_unit)]
    if study.kind == "crossed":
        return K * study.n_items, [(study.n_items * study.n_repeats, study.n_workers, K)]
    if study.kind == "k-per-item":
        return K * study.n_items, [(study.n_items, k, K)]
    if study.kind == "split":
        return K * study.n_items, [(K * study.n_items, k, 1)]
    return _units_of_rows(study)


def _units_of_rows(design: Design) -> tuple[int, list[Group]]:
    rows, K = design.assignment, design.n_systems
    output = K * rows.item + rows.system
    meeting = rows.worker * design.n_items + rows.item
    in_a = rows.system == 0
    first = np.sort(meeting[in_a])
    paired = all(np.array_equal(first, np.sort(meeting[rows.system == other])) for other in range(1, K))
    unit = rows.item[in_a] if paired else output
    worker = rows.worker[in_a] if paired else rows.worker
    sittings, times = np.unique(unit * design.n_workers + worker, return_counts=True)
    groups: dict[int, int] = {}
    for repeat in range(int(times.max())):  # a worker takes a HIT once, so a repeat is another HIT
        on_unit = np.bincount(sittings[times > repeat] // design.n_workers)
        for k, n_units in zip(*np.unique(on_unit[on_unit > 0], return_counts=True), strict=True):
            groups[int(k)] = groups.get(int(k), 0) + int(n_units)
    in_a_unit = K if paired else 1
    return len(np.unique(output)), [(n_units, k, in_a_unit) for k, n_units in sorted(groups.items())]


def share_of(rate: float, loads: NDArray[np.int64]) -> NDArray[np.int64]:
    """A share of each load: the nearest whole number, at least one where there is a rate and a load."""
    if rate == 0:
        return np.zeros_like(loads)
    nearest = np.floor(rate * loads + 0.5).astype(np.int64)
    return np.asarray(np.minimum(np.maximum(nearest, 1), loads))
