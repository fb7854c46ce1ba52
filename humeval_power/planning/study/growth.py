"""Power by formula of studies like one that is there: of more or fewer workers, items, ratings per item.

Other sizes are computed as regular designs (`regular`), whose df is off by about a per cent where not everybody
rates everything, and further where ratings are not paired. So variance and df are taken in proportion to the study
that is there, whose own are exact: the curves go through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.designs import Design
from humeval_power.inference.study.formula import EffectPrecision
from humeval_power.parameters import Parameters
from humeval_power.planning.study.limits import (
    Ceiling,
    Growing,
    ceiling_with_items,
    ceiling_with_workers,
)
from humeval_power.planning.study.regular import RegularPrecision, Variances, powers, regular_precision
from humeval_power.rules import DecisionRule
from humeval_power.study_counts import StudyCounts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TARGET = 0.8
_POINTS = 25  # of a curve
_WORKERS, _ITEMS = 5, 10  # how many times as many are looked at
_FURTHER = 10  # and how many times as many as these, for where the power reaches the target
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class StudyLike:
    """A regular study that is there, with its exact precision, and the rule by which it decides."""

    parameters: Parameters
    counts: StudyCounts
    precision: EffectPrecision
    rule: DecisionRule

    @property
    def is_complete(self) -> bool:
        """Whether every worker rates every item."""
        return self.counts.paired and self.counts.ratings_per_item == self.counts.n_workers

    @property
    def workers_of_an_item(self) -> int:
        """How many different workers an item needs."""
        return self.counts.ratings_per_item * (1 if self.counts.paired else 2)

    def ratings_per_item(self, workers: Ints) -> Ints:
        """Those of studies of so many workers: all of them, or as many as there are now."""
        return workers if self.is_complete else np.full_like(workers, self.counts.ratings_per_item)

    def powers(self, workers: ArrayLike, items: ArrayLike) -> Floats:
        """Power of studies of so many workers and items, arrays that broadcast against each other."""
        m, n = np.broadcast_arrays(np.asarray(workers, np.int64), np.asarray(items, np.int64))
        documents = np.full(m.size, self.counts.n_documents)
        found = self._powers(m.ravel(), n.ravel(), self.ratings_per_item(m.ravel()), documents)
        return found.reshape(m.shape)

    def power_of(self, counts: StudyCounts) -> float:
        """Power of another size of the study."""
        sizes = (counts.n_workers, counts.n_items, counts.ratings_per_item, counts.n_documents)
        return float(self._powers(*(np.array([size]) for size in sizes))[0])

    def _powers(self, workers: Ints, items: Ints, ratings_per_item: Ints, documents: Ints) -> Floats:
        here = self.counts
        own = (here.n_workers, here.n_items, here.ratings_per_item, here.n_documents)
        columns = (workers, items, ratings_per_item, documents)
        m, n, k, d = (np.append(column, value) for column, value in zip(columns, own, strict=True))
        found = regular_precision(
            Variances.of(self.parameters),
            workers=m,
            items=n,
            ratings_per_item=k,
            paired=here.paired,
            documents=d,
        )
        exact = (self.precision.variance, self.precision.df)
        variance, df = (each[:-1] * (known / each[-1]) for each, known in zip(found, exact, strict=True))
        effect = self.parameters.difference
        return powers(
            abs(effect) if self.rule.alternative == "two-sided" else effect,
            RegularPrecision(variance, df),
            smallest=np.minimum(workers, np.where(documents > 0, documents, items)) - 1.0,
            rule=self.rule,
        )


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
    if not study.is_complete:
        most = counts.n_items * study.workers_of_an_item
    if study.rule.df != "normal" and counts.paired:
        ceiling = ceiling_with_workers(
            study.parameters,
            n_items=counts.n_items,
            ratings_per_item=None if study.is_complete else counts.ratings_per_item,
            n_documents=counts.n_documents,
            target=TARGET,
            rule=study.rule,
        )
    low = 2 if study.is_complete else max(2, study.workers_of_an_item)
    high = min(max(_WORKERS * counts.n_workers, 20), most)
    span = (low, counts.n_workers, high, most)
    return _grown("workers", span, lambda sizes: study.powers(sizes, counts.n_items), ceiling)


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
    if not study.is_complete:
        low = max(low, -(-counts.n_workers // study.workers_of_an_item))
    span = (low, counts.n_items, max(_ITEMS * counts.n_items, 50), _MOST)
    return _grown("items", span, lambda sizes: study.powers(counts.n_workers, sizes), ceiling)


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
