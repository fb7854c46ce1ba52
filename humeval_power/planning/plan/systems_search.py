"""Search over workers x items x ratings per item for a power that takes a while to compute.

Power among several systems takes too long to list that of a hundred thousand designs. Along a row, of designs that
differ in their items alone, more items lower neither the power nor the price: a bisection finds the first design
of a row that reaches a power, and one look tells whether any within a price does. A rough power, which is fast,
tells which rows are worth that look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.costs import CostModel, costs_of_counts
from humeval_power.planning.plan.candidates import SearchSpace, feasible_sizes, nothing_feasible
from humeval_power.planning.plan.goal_power import GoalPower
from humeval_power.planning.plan.planned_systems import PlannedSystems
from humeval_power.planning.study.regular import RegularPrecision, powers, regular_precision
from humeval_power.planning.study.systems_precision import systems_precision
from humeval_power.rules import DecisionRule
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import Goal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LEVELS = 16  # costs at which the front is looked at
_LOOKED_AT = 3  # of the rows that look best at a cost
_FAR: Mapping[Goal, float] = {"pair": 0.25, "any": 0.3, "all": 1.0, "best": 0.4, "first": 0.2}
"""In rough power: further below what was enough no row has reached what was asked for. By trial twice the most that
rows of equal power were apart; several goals need the df of more than one comparison, which it does not know."""
_SHORT_LIST = 12  # of the designs within a budget, those that are compared exactly,
_NEAR = 0.015  # if they differ no more than that by the fast answer
_LEAST = 1e-12  # power, of which a quantile is taken
_BEYOND = 1.7  # times the decision's cost, up to which the front goes


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Designs that differ in their items alone, which increase, out of as many documents: their prices in cents,
    and a rough power by which rows are told apart."""

    workers: int
    ratings_per_item: int
    paired: bool
    n_systems: int
    documents: int
    items: Ints
    cents: Ints
    rough: Floats

    def __len__(self) -> int:
        return len(self.items)

    def counts(self, place: int) -> StudyCounts:
        """The size of one design."""
        return StudyCounts(
            self.workers,
            int(self.items[place]),
            self.ratings_per_item,
            self.paired,
            n_documents=self.documents,
            n_systems=self.n_systems,
        )

    def affordable(self, cents: int) -> int:
        """Place of the largest design within a price; -1 where none is."""
        return int(np.searchsorted(self.cents, cents, side="right")) - 1


@dataclass(frozen=True, slots=True)
class Found:
    """A design with its price in cents and its power."""

    counts: StudyCounts
    cents: int
    power: float


def list_rows(
    space: SearchSpace, costs: CostModel, *, planned: PlannedSystems, rule: DecisionRule
) -> list[Row]:
    """Every design of the space that can be carried out, priced.

    Raises
    ------
    InputError
        A space without any feasible design (and why), or one too large to list.
    """
    rows = [row for paired in space.pairings for row in _rows(space, costs, paired, planned, rule)]
    if not rows:
        raise nothing_feasible(space, n_systems=planned.parameters.n_systems)
    return rows


def _rows(
    space: SearchSpace, costs: CostModel, paired: bool, planned: PlannedSystems, rule: DecisionRule
) -> Iterator[Row]:
    n_systems = planned.parameters.n_systems
    m, n, d, k, _ = feasible_sizes(space, paired, n_systems=n_systems)
    if len(m) == 0:
        return
    order = np.lexsort((n, d, k, m))
    m, n, k, d = m[order], n[order], k[order], d[order]
    cents = costs_of_counts(
        costs,
        n_workers=m,
        n_items=n,
        ratings_per_item=k,
        paired=paired,
        n_documents=d,
        n_systems=n_systems,
    )
    rough = _rough_power(m, n, k, d, paired, planned, rule)
    starts = np.flatnonzero(np.r_[True, (np.diff(m) != 0) | (np.diff(k) != 0) | (np.diff(d) != 0)])
    for start, end in zip(starts, [*starts[1:], len(m)], strict=True):
        part = slice(int(start), int(end))
        kept = np.unique(n[part], return_index=True)[1]
        sizes = int(m[start]), int(k[start]), paired, n_systems, int(d[start])
        yield Row(*sizes, n[part][kept], cents[part][kept], rough[part][kept])


def _rough_power(
    m: Ints, n: Ints, k: Ints, d: Ints, paired: bool, planned: PlannedSystems, rule: DecisionRule
) -> Floats:
    """Standard normal quantiles of the power of one pair at its share of alpha; of the highest mean, which
    needs no test, those of its being in front of one other."""
    pair = planned.pair
    precision = regular_precision(pair, workers=m, items=n, ratings_per_item=k, paired=paired, documents=d)
    effect = planned.parameters.stated_effect
    if planned.goal == "first":
        return np.asarray(effect / np.sqrt(precision.variance))
    df = precision.df * _more_df(m, n, k, paired, precision.df, planned)
    tested = replace(rule, alpha=rule.alpha / planned.n_tests)
    known = RegularPrecision(precision.variance, df)
    rough = powers(effect, known, smallest=np.minimum(m, np.where(d > 0, d, n)) - 1.0, rule=tested)
    return np.asarray(special.ndtri(np.clip(rough, _LEAST, 1 - _LEAST)))


def _more_df(m: Ints, n: Ints, k: Ints, paired: bool, df: Floats, planned: PlannedSystems) -> Floats:
    """How many times the df of a pair by itself the model of all systems has: as one design with as many workers
    does, the one in the middle of the list."""
    if planned.family.model == "pairwise":
        return np.ones(len(m))
    factor = np.empty(len(m))
    for workers in np.unique(m):
        alike = np.flatnonzero(m == workers)
        one = alike[len(alike) // 2]
        counts = StudyCounts(
            int(m[one]), int(n[one]), int(k[one]), paired, n_systems=planned.parameters.n_systems
        )
        known = systems_precision(planned.parameters, counts, planned.family)
        factor[alike] = float(np.median(known.df)) / df[one]
    return factor


def cheapest(rows: Sequence[Row], power: GoalPower, *, target: float) -> Found | None:
    """The cheapest design that reaches a power, the more powerful of equally cheap ones and then the one with
    fewer workers; None where none does.

    The most promising rows come first. Rows whose rough power is far below that of all that reached it are passed
    over.
    """
    far = _FAR[power.first.goal]
    best: Found | None = None
    promising = sorted(rows, key=lambda row: -float(row.rough[-1]))
    enough = float(promising[0].rough[-1])  # the least rough power that was enough, or might be
    for row in promising:
        last = len(row) - 1 if best is None else row.affordable(best.cents)
        if last < 0 or row.rough[last] < enough - far or not power.reaches(row.counts(last), target):
            continue
        place = _first(row, power, target, last)
        enough = min(enough, float(row.rough[place]))
        place = row.affordable(int(row.cents[place]))  # the most items for the same money
        found = _found(row, place, power)
        if best is None or _order(found) < _order(best):
            best = found
    return best


def _found(row: Row, place: int, power: GoalPower) -> Found:
    counts = row.counts(place)
    return Found(counts, int(row.cents[place]), power.exact(counts))


def _order(found: Found) -> tuple[int, float, int]:
    return found.cents, -round(found.power, 9), found.counts.n_workers


def _first(row: Row, power: GoalPower, target: float, last: int) -> int:
    """The first place of a row that reaches the power, which `last` does."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        reached = power.reaches(row.counts(middle), target)
        low, high = (low, middle) if reached else (middle + 1, high)
    return high


def most_powerful(
    rows: Sequence[Row], power: GoalPower, *, budget_cents: int | None = None
) -> Found | None:
    """The most powerful design within a budget, the cheaper of equals; None if none fits. Rows whose rough
    power is far below the highest are passed over."""
    places = [(row, len(row) - 1 if budget_cents is None else row.affordable(budget_cents)) for row in rows]
    within = [(row, place) for row, place in places if place >= 0]
    if not within:
        return None
    highest = max(float(row.rough[place]) for row, place in within)
    far = _FAR[power.first.goal]
    looked = [(row, place) for row, place in within if row.rough[place] >= highest - far]
    about = [power.about(row.counts(place)) for row, place in looked]
    best = sorted(zip(about, range(len(looked)), strict=True), reverse=True)[:_SHORT_LIST]
    found = [_found(*looked[number], power) for value, number in best if value >= best[0][0] - _NEAR]
    return min(found, key=lambda one: (-round(one.power, 9), one.cents))


def front(rows: Sequence[Row], power: GoalPower, *, decision: int) -> tuple[Found, ...]:
    """Designs that buy the most power for their cost, cheapest first, at about equal steps of cost up to a
    little beyond the decision's; of each cost those are looked at that a rough power puts first."""
    least, most = min(int(row.cents[0]) for row in rows), max(int(row.cents[-1]) for row in rows)
    levels = np.linspace(least, min(most, max(_BEYOND * decision, least)), _LEVELS)
    kept: list[Found] = []
    for row, place in dict.fromkeys(_best_for(rows, power, int(cents)) for cents in levels):
        found = _found(row, place, power)
        if not kept or found.power > kept[-1].power + 1e-9:
            kept.append(found)
    return tuple(kept)


def _best_for(rows: Sequence[Row], power: GoalPower, cents: int) -> tuple[Row, int]:
    places = ((row, row.affordable(cents)) for row in rows)
    within = [(row, place) for row, place in places if place >= 0]
    hopeful = sorted(within, key=lambda one: -float(one[0].rough[one[1]]))[:_LOOKED_AT]
    return max(hopeful, key=lambda one: power.about(one[0].counts(one[1])))
