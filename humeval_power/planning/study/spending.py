"""What a study costs against what its power is: designs of every cost, and designs that cost the same."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.costs import Cost, CostModel, cost_of, costs_of_counts
from humeval_power.planning.study.growth import TARGET, Growth, StudyLike

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_SUMS, _LEAST, _MOST = 20, 0.05, 20.0  # sums that are looked at, in times of the present cost or the budget
_CLOSE = 8  # sums about the target
_WORKERS, _TIMES = 24, 25  # numbers of workers that share a sum, up to so many times as many as now
_MOST_ITEMS = 100_000
_TINY = 1e-6
_CORRECTIONS = 3


@dataclass(frozen=True, slots=True)
class Designs:
    """Designs one by one: workers, items, ratings per item, what they cost and their power by formula."""

    workers: tuple[int, ...]
    items: tuple[int, ...]
    ratings_per_item: tuple[int, ...]
    cost: tuple[float, ...]
    power: tuple[float, ...]

    @property
    def columns(self) -> tuple[tuple[Any, ...], ...]:
        """The fields in their order."""
        return self.workers, self.items, self.ratings_per_item, self.cost, self.power

    def __len__(self) -> int:
        return len(self.workers)

    @property
    def best(self) -> int:
        """The place of the most powerful; of equals the first."""
        return int(np.argmax(np.round(self.power, 9)))


@dataclass(frozen=True, slots=True)
class Spending:
    """Cost against power around a study. `unit` is a currency, or 'ratings' where nothing says what they cost.

    `cost` is that of the study; `budget` what may be spent, None where nothing was said. `front` are the designs
    that no other looked at beats in cost and power; `more_workers` and `more_items` are those of the two curves of
    growth. `splits` share the same sum between workers and items: the budget, or what the study costs.
    """

    unit: str
    cost: float
    budget: float | None
    front: Designs
    more_workers: Designs
    more_items: Designs
    splits: Designs
    priced: Cost | None = None

    @property
    def sum(self) -> float:
        """What is shared between workers and items in `splits`."""
        return self.cost if self.budget is None else self.budget


def spending_of(
    study: StudyLike,
    workers: Growth,
    items: Growth,
    *,
    costs: CostModel | None = None,
    budget: Decimal | None = None,
) -> Spending:
    """Look around a study whose growth is known, at the prices of `costs`; else ratings are counted."""
    counts = study.counts
    here = float(prices(study, np.array([counts.n_workers]), np.array([counts.n_items]), costs)[0])
    limit = None if budget is None else float(budget)
    grown = (_of_growth(study, workers, costs), _of_growth(study, items, costs))
    return Spending(
        unit="ratings" if costs is None else costs.currency,
        cost=here,
        budget=limit,
        front=_front(study, grown, costs, max(here, limit or 0.0)),
        more_workers=grown[0],
        more_items=grown[1],
        splits=_splits(study, workers, costs, here if limit is None else limit),
        priced=None if costs is None else cost_of(counts, costs),
    )


def prices(study: StudyLike, workers: Ints, items: Ints, costs: CostModel | None) -> Floats:
    """What studies of so many workers and items cost, in units of the currency; else how many ratings they are."""
    counts = study.counts
    k = study.ratings_per_item(workers)
    if costs is None:
        return np.asarray(counts.n_systems * items * k, dtype=np.float64)
    cents = costs_of_counts(
        costs,
        n_workers=workers,
        n_items=items,
        ratings_per_item=k,
        paired=counts.paired,
        n_documents=counts.n_documents,
        n_systems=counts.n_systems,
    )
    return cents / 100


def _of_growth(study: StudyLike, growth: Growth, costs: CostModel | None) -> Designs:
    grown = np.array(growth.sizes)
    counts = study.counts
    m = grown if growth.grows == "workers" else np.full_like(grown, counts.n_workers)
    n = grown if growth.grows == "items" else np.full_like(grown, counts.n_items)
    return _designs(study, m, n, prices(study, m, n, costs), np.array(growth.powers))


def _front(
    study: StudyLike, grown: tuple[Designs, Designs], costs: CostModel | None, near: float
) -> Designs:
    """The best split of each of many sums, cheapest first: spread from little to much, and close to each other
    where the target is reached."""
    found = _best_of_sums(study, costs, near * np.geomspace(_LEAST, _MOST, _SUMS))
    reaching = np.flatnonzero(np.array(found.power) >= TARGET)
    if len(reaching) and reaching[0] > 0:
        ends = (found.cost[reaching[0] - 1], found.cost[reaching[0]])
        found = _joined(found, _best_of_sums(study, costs, np.linspace(*ends, _CLOSE)))
    return _unbeaten(_joined(found, *grown))


def _best_of_sums(study: StudyLike, costs: CostModel | None, sums: Floats) -> Designs:
    """For each sum the most powerful design that it buys, of numbers of workers that grow by the same factor; to
    within an item, as costs are taken to rise in proportion to the items."""
    low = 2 if study.is_complete else max(2, study.workers_of_an_item)
    high = _TIMES * max(study.counts.n_workers, low)
    m = np.unique(np.geomspace(low, high, _WORKERS).round().astype(np.int64))
    line = _CostLine.of(study, m, costs)
    items = line.items(sums[:, None])  # (sums, workers)
    workers = np.broadcast_to(m, items.shape)
    possible = (line.at_least <= sums[:, None]) & _possible(study, workers, items)
    power = np.where(possible, study.powers(workers, items), -1.0)
    best = power.argmax(axis=1)
    row = np.flatnonzero(power.max(axis=1) >= 0)
    m, n = workers[row, best[row]], items[row, best[row]]
    return _designs(study, m, n, prices(study, m, n, costs), power[row, best[row]])


def _joined(*designs: Designs) -> Designs:
    return Designs(*(sum(columns, ()) for columns in zip(*(one.columns for one in designs), strict=True)))


def _unbeaten(designs: Designs) -> Designs:
    """Those that no cheaper one beats, cheapest first."""
    cost, power = np.array(designs.cost), np.array(designs.power)
    order = np.lexsort((-power, cost))
    before = np.concatenate([[-np.inf], np.maximum.accumulate(power[order])[:-1]])
    kept = order[power[order] > before + 1e-9].tolist()
    return Designs(*(tuple(column[place] for place in kept) for column in designs.columns))


@dataclass(frozen=True, slots=True, eq=False)
class _CostLine:
    """What studies of so many workers cost, in proportion to their items: `at_least` for the `least` items."""

    least: Ints
    at_least: Floats
    slope: Floats

    @classmethod
    def of(cls, study: StudyLike, workers: Ints, costs: CostModel | None) -> _CostLine:
        least = np.full_like(workers, max(2, study.counts.n_documents))
        most = np.full_like(workers, _MOST_ITEMS)
        at_least, at_most = (prices(study, workers, items, costs) for items in (least, most))
        return cls(least, at_least, np.maximum((at_most - at_least) / (most - least), _TINY))

    def items(self, limits: ArrayLike) -> Ints:
        """As many items as the sums buy."""
        more = np.floor((np.asarray(limits) - self.at_least) / self.slope + _TINY)
        return np.asarray(self.least + np.clip(more, 0, _MOST_ITEMS).astype(np.int64))


def _splits(study: StudyLike, workers: Growth, costs: CostModel | None, limit: float) -> Designs:
    """As many items as the sum buys, for each number of workers. Where costs rise in steps the first guess may be
    too many, and is brought down until it is paid for."""
    m = np.array(workers.sizes)
    line = _CostLine.of(study, m, costs)
    n = line.items(limit)
    cost = prices(study, m, n, costs)
    for _ in range(_CORRECTIONS):
        over = np.maximum(np.ceil((cost - limit) / line.slope), 1).astype(np.int64)
        n = np.where(cost > limit, np.maximum(n - over, line.least), n)
        cost = prices(study, m, n, costs)
    fits = (cost <= limit) & _possible(study, m, n)
    m, n, cost = m[fits], n[fits], cost[fits]
    return _designs(study, m, n, cost, study.powers(m, n) if len(m) else cost)


def _possible(study: StudyLike, workers: Ints, items: Ints) -> NDArray[np.bool_]:
    """Whether there is a rating for every worker, and a worker for every rating of an item."""
    if study.is_complete:
        return np.ones(workers.shape, dtype=bool)
    needed = study.workers_of_an_item
    return np.asarray((workers >= needed) & (workers <= items * needed))


def _designs(study: StudyLike, m: Ints, n: Ints, cost: Floats, power: Floats) -> Designs:
    columns = (m, n, study.ratings_per_item(m), cost, power)
    return Designs(*(tuple(column.tolist()) for column in columns))
