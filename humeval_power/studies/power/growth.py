"""Power by formula of studies like one that is there: of more or fewer workers, items, ratings per item.

Other sizes are computed as regular designs (`regular`), whose df is off by about a per cent where not everybody
rates everything, and further where ratings are not paired. So variance and df are taken in proportion to the study
that is there, whose own are exact: the curves go through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.costs import Cost, CostModel, cost_of, costs_of_counts, least_of_a_worker
from humeval_power.designs import Design
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.analytic import Ceiling, Growing, ceiling_with_items, ceiling_with_workers
from humeval_power.studies.power.formula import EffectPrecision
from humeval_power.studies.power.required import RegularPrecision, powers, regular_precision
from humeval_power.study_counts import StudyCounts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TARGET = 0.8
_POINTS = 25  # of a curve
_WORKERS, _ITEMS = 5, 10  # how many times as many are looked at
_FURTHER = 10  # and how many times as many as these, for where the power reaches the target
_MOST = 100_000


class OtherSizes(Protocol):
    """A regular study that is there, whose other sizes have a power by formula."""

    @property
    def counts(self) -> StudyCounts:
        """Of the study that is there."""

    def powers(self, workers: Ints, items: Ints) -> Floats:
        """Power of studies of so many workers and items."""


def workers_of_an_item(counts: StudyCounts) -> int:
    """How many different workers an item needs."""
    return counts.ratings_per_item * (1 if counts.paired else 2)


def all_or_now(counts: StudyCounts, workers: Ints) -> Ints:
    """Those of studies of so many workers: all of them, or as many as there are now."""
    return workers if counts.is_complete else np.full_like(workers, counts.ratings_per_item)


@dataclass(frozen=True, slots=True)
class StudyLike:
    """A regular study that is there, with its exact precision, and the rule by which it decides."""

    parameters: Parameters
    counts: StudyCounts
    precision: EffectPrecision
    rule: DecisionRule

    def powers(
        self,
        workers: ArrayLike,
        items: ArrayLike,
        *,
        ratings_per_item: int | None = None,
        documents: int | None = None,
    ) -> Floats:
        """Power of studies of so many workers and items, arrays that broadcast against each other; of the others as
        many as there are now, where nothing is said."""
        here = self.counts
        m, n = np.broadcast_arrays(np.asarray(workers, np.int64), np.asarray(items, np.int64))
        k = all_or_now(here, m) if ratings_per_item is None else np.full_like(m, ratings_per_item)
        d = np.full_like(m, here.n_documents if documents is None else documents)
        own = (here.n_workers, here.n_items, here.ratings_per_item, here.n_documents)
        with_own = [np.append(column, value) for column, value in zip((m, n, k, d), own, strict=True)]
        precision = regular_precision(
            self.parameters,
            workers=with_own[0],
            items=with_own[1],
            ratings_per_item=with_own[2],
            paired=here.paired,
            documents=with_own[3],
        )
        exact = (self.precision.variance, self.precision.df)
        variance, df = (
            (each[:-1] * (known / each[-1])).reshape(m.shape)
            for each, known in zip(precision, exact, strict=True)
        )
        effect = self.parameters.difference
        return powers(
            abs(effect) if self.rule.alternative == "two-sided" else effect,
            RegularPrecision(variance, df),
            smallest=np.minimum(m, np.where(d > 0, d, n)) - 1.0,
            rule=self.rule,
        )

    def power_of(self, counts: StudyCounts) -> float:
        """Power of another size of the study."""
        k, documents = counts.ratings_per_item, counts.n_documents
        return float(self.powers(counts.n_workers, counts.n_items, ratings_per_item=k, documents=documents))


def counts_of(design: Design) -> StudyCounts | None:
    """The counts that say all of a regular design; None for others, and where ratings are repeated."""
    if design.kind not in ("crossed", "k-per-item", "split") or design.n_repeats > 1:
        return None
    return StudyCounts(
        design.n_workers,
        design.n_items,
        int(design.ratings_per_item),
        design.kind != "split",
        n_documents=design.n_documents,
        n_systems=design.n_systems,
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """Power over one size with the others as they are: at `sizes`, without end (`ceiling`, None where that is not
    known), and the fewest that reach the target, None where none of the sizes looked at does."""

    grows: Growing
    sizes: tuple[int, ...]
    powers: tuple[float, ...]
    ceiling: Ceiling | None
    enough: int | None


def growth_of_workers(study: StudyLike) -> Growth:
    """Power over the number of workers, up to five times as many as now or to where it reaches the target, if that
    is not too far, and no further than there is work."""
    counts = study.counts
    ceiling, most = None, _MOST
    if not study.counts.is_complete:
        most = counts.n_items * workers_of_an_item(study.counts)
    if study.rule.df != "normal" and counts.paired:
        ceiling = ceiling_with_workers(
            study.parameters,
            n_items=counts.n_items,
            ratings_per_item=None if study.counts.is_complete else counts.ratings_per_item,
            n_documents=counts.n_documents,
            target=TARGET,
            rule=study.rule,
        )
    low = 2 if study.counts.is_complete else max(2, workers_of_an_item(study.counts))
    high = min(max(_WORKERS * counts.n_workers, 20), most)
    span = (low, counts.n_workers, high, most)
    return _grown("workers", span, partial(study.powers, items=counts.n_items), ceiling)


def growth_of_items(study: StudyLike) -> Growth:
    """Power over the number of items, up to ten times as many as now, out of as many documents."""
    counts = study.counts
    ceiling = None
    if study.rule.df != "normal" and counts.paired:
        ceiling = ceiling_with_items(
            study.parameters,
            n_workers=counts.n_workers,
            n_documents=counts.n_documents,
            target=TARGET,
            rule=study.rule,
        )
    low = max(2, counts.n_documents)
    if not study.counts.is_complete:
        low = max(low, -(-counts.n_workers // workers_of_an_item(study.counts)))
    span = (low, counts.n_items, max(_ITEMS * counts.n_items, 50), _MOST)
    return _grown("items", span, partial(study.powers, counts.n_workers), ceiling)


def _grown(
    grows: Growing,
    span: tuple[int, int, int, int],
    power_of: Callable[[Ints], Floats],
    ceiling: Ceiling | None,
) -> Growth:
    """The curve from the lowest size over the one that is there to the highest, or on to the target; `span` are
    these three and the most that there can be."""
    low, here, high, most = span
    sizes = _sizes(low, here, high)
    power = power_of(sizes)
    enough = _enough(sizes, power, power_of)
    if enough is None and high < most and (ceiling is None or ceiling.reachable):
        further = _sizes(high, high, min(_FURTHER * high, most))
        enough = _enough(further, power_of(further), power_of)
        if enough is not None:
            sizes = _sizes(low, here, min(enough + enough // 4, most))
            power = power_of(sizes)
    return Growth(grows, tuple(sizes.tolist()), tuple(power.tolist()), ceiling, enough)


def _sizes(low: int, here: int, high: int) -> Ints:
    """Whole numbers from low to high that grow by the same factor, and the one that is there."""
    high = max(high, here, low + 1)
    spread = np.geomspace(low, high, _POINTS).round().astype(np.int64)
    return np.unique(np.append(spread, min(max(here, low), high)))


def _enough(sizes: Ints, power: Floats, power_of: Callable[[Ints], Floats]) -> int | None:
    """The smallest size that reaches the target, between two of a curve that rises: there every tenth is looked at,
    then every one."""
    reaching = np.flatnonzero(power >= TARGET)
    if not len(reaching):
        return None
    place = int(reaching[0])
    low, high = int(sizes[max(place - 1, 0)]), int(sizes[place])
    while high - low > 1:
        step = max((high - low) // 16, 1)
        between = np.append(np.arange(low + step, high, step), high)
        first = int(np.argmax(power_of(between) >= TARGET))
        low, high = low if first == 0 else int(between[first - 1]), int(between[first])
    return high


# What a study costs against what its power is: designs of every cost, and designs that cost the same.

_SUMS, _LEAST, _MOST_SPENDING = (
    20,
    0.05,
    20.0,
)  # sums that are looked at, in times of the present cost or the budget
_CLOSE = 8  # sums about the target
_WORKERS_SPENDING, _TIMES = (
    24,
    25,
)  # numbers of workers that share a sum, up to so many times as many as now
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
class CostCurve:
    """Cost against power around a study. `unit` is a currency, or 'ratings' where nothing says what they cost.

    `cost` is that of the study; `budget` what may be spent, None where nothing was said. `front` are the designs
    that no other looked at beats in cost and power, as far as each worker has enough to rate; `more_workers` and
    `more_items` are those of the two curves of
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
) -> CostCurve:
    """Look around a study whose growth is known, at the prices of `costs`; else ratings are counted."""
    counts = study.counts
    here = float(prices(study, np.array([counts.n_workers]), np.array([counts.n_items]), costs)[0])
    limit = None if budget is None else float(budget)
    grown = (_of_growth(study, workers, costs), _of_growth(study, items, costs))
    return CostCurve(
        unit="ratings" if costs is None else costs.currency,
        cost=here,
        budget=limit,
        front=_front(study, grown, costs, max(here, limit or 0.0)),
        more_workers=grown[0],
        more_items=grown[1],
        splits=splits_of(study, np.array(workers.sizes), costs, here if limit is None else limit),
        priced=None if costs is None else cost_of(counts, costs),
    )


def prices(study: OtherSizes, workers: Ints, items: Ints, costs: CostModel | None) -> Floats:
    """What studies of so many workers and items cost, in units of the currency; else how many ratings they are."""
    counts = study.counts
    k = all_or_now(study.counts, workers)
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
    result = _best_of_sums(study, costs, near * np.geomspace(_LEAST, _MOST_SPENDING, _SUMS))
    reaching = np.flatnonzero(np.array(result.power) >= TARGET)
    if len(reaching) and reaching[0] > 0:
        ends = (result.cost[reaching[0] - 1], result.cost[reaching[0]])
        result = _joined(result, _best_of_sums(study, costs, np.linspace(*ends, _CLOSE)))
    every = _joined(result, *grown)
    sizes = np.array(every.workers), np.array(every.items)
    practical = np.flatnonzero(_ratings_each(study, *sizes) >= least_of_a_worker(costs))
    return _unbeaten(_taken(every, practical if len(practical) else np.arange(len(every))))


def _best_of_sums(study: StudyLike, costs: CostModel | None, sums: Floats) -> Designs:
    """For each sum the most powerful design that it buys, of numbers of workers that grow by the same factor; to
    within an item, as costs are taken to rise in proportion to the items."""
    low = 2 if study.counts.is_complete else max(2, workers_of_an_item(study.counts))
    high = _TIMES * max(study.counts.n_workers, low)
    m = np.geomspace(low, high, _WORKERS_SPENDING).round().astype(np.int64)
    least, counts = least_of_a_worker(costs), study.counts
    if least and not study.counts.is_complete:  # also as many workers as have just enough to rate
        bought = _CostLine.of(study, np.array([low]), costs).items(sums)
        enough = counts.n_systems * bought * counts.ratings_per_item // least
        m = np.append(m, enough.clip(low, high))
    m = np.unique(m)
    line = _CostLine.of(study, m, costs)
    items = line.items(sums[:, None])  # (sums, workers)
    workers = np.broadcast_to(m, items.shape)
    possible = (line.at_least <= sums[:, None]) & _possible(study, workers, items)
    possible &= _ratings_each(study, workers, items) >= least
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
    return _taken(designs, order[power[order] > before + 1e-9])


def _taken(designs: Designs, places: Ints) -> Designs:
    return Designs(*(tuple(column[place] for place in places.tolist()) for column in designs.columns))


def _ratings_each(study: OtherSizes, workers: Ints, items: Ints) -> Floats:
    """How many ratings a worker gives, on average."""
    given = study.counts.n_systems * items * all_or_now(study.counts, workers)
    return np.asarray(given / workers)


@dataclass(frozen=True, slots=True, eq=False)
class _CostLine:
    """What studies of so many workers cost, in proportion to their items: `at_least` for the `least` items."""

    least: Ints
    at_least: Floats
    slope: Floats

    @classmethod
    def of(cls, study: OtherSizes, workers: Ints, costs: CostModel | None) -> _CostLine:
        least = np.full_like(workers, max(2, study.counts.n_documents))
        most = np.full_like(workers, _MOST_ITEMS)
        at_least, at_most = (prices(study, workers, items, costs) for items in (least, most))
        return cls(least, at_least, np.maximum((at_most - at_least) / (most - least), _TINY))

    def items(self, limits: ArrayLike) -> Ints:
        """As many items as the sums buy."""
        more = np.floor((np.asarray(limits) - self.at_least) / self.slope + _TINY)
        return np.asarray(self.least + np.clip(more, 0, _MOST_ITEMS).astype(np.int64))


def splits_of(study: OtherSizes, m: Ints, costs: CostModel | None, limit: float) -> Designs:
    """As many items as the sum buys, for each number `m` of workers who have enough to rate. Where costs rise in
    steps the first guess may be too many, and is brought down until it is paid for."""
    line = _CostLine.of(study, m, costs)
    n = line.items(limit)
    cost = prices(study, m, n, costs)
    for _ in range(_CORRECTIONS):
        over = np.maximum(np.ceil((cost - limit) / line.slope), 1).astype(np.int64)
        n = np.where(cost > limit, np.maximum(n - over, line.least), n)
        cost = prices(study, m, n, costs)
    fits = (cost <= limit) & _possible(study, m, n)
    practical = fits & (_ratings_each(study, m, n) >= least_of_a_worker(costs))
    fits = practical if practical.any() else fits
    m, n, cost = m[fits], n[fits], cost[fits]
    return _designs(study, m, n, cost, study.powers(m, n) if len(m) else cost)


def _possible(study: OtherSizes, workers: Ints, items: Ints) -> NDArray[np.bool_]:
    """Whether there is a rating for every worker, and a worker for every rating of an item."""
    if study.counts.is_complete:
        return np.ones(workers.shape, dtype=bool)
    needed = workers_of_an_item(study.counts)
    return np.asarray((workers >= needed) & (workers <= items * needed))


def _designs(study: OtherSizes, m: Ints, n: Ints, cost: Floats, power: Floats) -> Designs:
    columns = (m, n, all_or_now(study.counts, m), cost, power)
    return Designs(*(tuple(column.tolist()) for column in columns))
