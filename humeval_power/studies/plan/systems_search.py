"""Search over workers x items x ratings per item for a power that takes a while to compute.

Power among several systems takes too long to list that of a hundred thousand designs. Along a row, of designs that
differ in their items alone, more items lower neither the power nor the price: a bisection finds the first design
of a row that reaches a power, and one look tells whether any within a price does. A rough power, which is fast,
tells which rows are worth that look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_SIMULATIONS
from humeval_power.costs import CostModel, cost_of, costs_of_counts
from humeval_power.designs import Design
from humeval_power.roots import root_between
from humeval_power.rules import DecisionRule
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import NO_LOSSES, Losses
from humeval_power.studies.looks.repeated import enough_workers
from humeval_power.studies.plan.candidates import (
    SearchSpace,
    feasible_sizes,
    nothing_feasible,
    what_is_left,
)
from humeval_power.studies.plan.plan import prove_systems
from humeval_power.studies.plan.planned_systems import (
    NOBODY_OUT,
    PlannedSystems,
    WorkersOut,
    expected_out,
    goal_power,
    scaled,
    with_looks,
    within_criterion,
)
from humeval_power.studies.plan.request import (
    Alone,
    Formulas,
    FrontPoint,
    Option,
    PlanRequest,
    WayName,
)
from humeval_power.studies.power.analytic import Ceiling, Growing
from humeval_power.studies.power.estimate import Progress, part_of
from humeval_power.studies.power.required import RegularPrecision, design_of, powers, regular_precision
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_goals import Truth
from humeval_power.studies.power.systems_power import counts_by_law
from humeval_power.studies.power.systems_precision import systems_precision
from humeval_power.studies.power.systems_study import simulate_systems, systems_workload
from humeval_power.study_counts import ExpectedCounts, StudyCounts
from humeval_power.systems import Goal

# The power of many designs of several systems: fast where it is far from what is asked, exact where it is
# near.

_LOG2_POINTS = 11  # of the fast answer: it is right to about 0.005
_DOUBT = 0.02  # within which of a target the exact answer decides
_PRECISION = 1e-3  # of the smallest difference, relative


@dataclass(frozen=True, slots=True, eq=False)
class GoalPower:
    """Power by formula of designs under each of `settings`; a design is judged by the first, or by all if
    `robust`. With `losses` a design is judged by what is expected to be left of it where the shares `out` of its
    workers are left out. Answers are kept."""

    settings: Mapping[str, PlannedSystems]
    rule: DecisionRule
    robust: bool = False
    losses: Losses = NO_LOSSES
    out: WorkersOut = NOBODY_OUT
    fast: dict[tuple[str, StudyCounts], float] = field(default_factory=dict)
    known: dict[tuple[str, StudyCounts], float] = field(default_factory=dict)

    @property
    def first(self) -> PlannedSystems:
        """The setting planned for."""
        return next(iter(self.settings.values()))

    def about(self, counts: StudyCounts) -> float:
        """The power that a design is judged by, right to about 0.005."""
        return min(self._about(name, counts) for name in self._judges)

    def exact(self, counts: StudyCounts) -> float:
        """The power that a design is judged by."""
        return min(self._exact(name, counts) for name in self._judges)

    def reaches(self, counts: StudyCounts, target: float) -> bool:
        """Whether a design has this power."""
        about = self.about(counts)
        return (self.exact(counts) if abs(about - target) <= _DOUBT else about) >= target

    def of_all(self, counts: StudyCounts) -> dict[str, float]:
        """Power under every setting."""
        return {name: self._exact(name, counts) for name in self.settings}

    def judged(self, counts: StudyCounts) -> str:
        """The setting that a design is judged by: the worst if robust, else the first."""
        return min(self._judges, key=lambda name: self._exact(name, counts))

    @property
    def _judges(self) -> list[str]:
        return list(self.settings) if self.robust else [next(iter(self.settings))]

    def _about(self, name: str, counts: StudyCounts) -> float:
        key = name, counts
        if key not in self.fast:
            planned, left = self._left(name, counts)
            precision = systems_precision(planned.parameters, left, planned.family)
            truth = Truth(planned.parameters, precision.pairs, within_criterion(planned, self.rule))
            result = counts_by_law(truth, precision, planned.family, log2_points=_LOG2_POINTS)
            share = result.of(planned.goal) / result.n
            self.fast[key] = with_looks(share, planned, left, self.rule)
        return self.fast[key]

    def _exact(self, name: str, counts: StudyCounts) -> float:
        key = name, counts
        if key not in self.known:
            self.known[key] = goal_power(*self._left(name, counts), self.rule)
        return self.known[key]

    def _left(self, name: str, counts: StudyCounts) -> tuple[PlannedSystems, StudyCounts | ExpectedCounts]:
        planned = self.settings[name]
        if self.losses == NO_LOSSES and self.out == NOBODY_OUT:
            return planned, counts
        workers, items, k = np.array([[counts.n_workers], [counts.n_items], [counts.ratings_per_item]])
        left = what_is_left(workers, items, k, self.losses, self.out)
        m, n, each = (float(size[0]) for size in left[:3])
        d = min(counts.n_documents, int(n))
        expected = ExpectedCounts(m, n, each, counts.paired, counts.n_repeats, d, counts.n_systems)
        return scaled(planned, left.effect_share), expected


def smallest_effect(
    planned: PlannedSystems, counts: StudyCounts, target: float, rule: DecisionRule
) -> float:
    """The smallest difference, the assumed means drawn apart or together in proportion, with which a design
    reaches a power by formula; under a rule with a margin the smallest margin with which it does for the assumed
    means. Infinite where none on [0, 1] does."""
    effect, margin = planned.parameters.stated_effect, rule.margin

    def above(size: float) -> float:
        if margin is None:
            return goal_power(scaled(planned, size / effect), counts, rule) - target
        return goal_power(planned, counts, replace(rule, margin=size)) - target

    if above(1.0) < 0:
        return float("inf")
    least = effect * _PRECISION if margin is None else abs(effect) + margin * _PRECISION
    return root_between(above, least, 1.0, rtol=_PRECISION, xtol=least) if above(least) < 0 else 0.0


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


def list_rows(
    space: SearchSpace, costs: CostModel, *, planned: PlannedSystems, rule: DecisionRule
) -> list[Row]:
    """Every design of the space that can be carried out, priced. Raises InputError: a space without any
    feasible design (and why), or one too large to list."""
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


def cheapest(rows: Sequence[Row], power: GoalPower, *, target: float) -> FrontPoint | None:
    """The cheapest design that reaches a power, the more powerful of equally cheap ones and then the one with
    fewer workers; None where none does.

    The most promising rows come first. Rows whose rough power is far below that of all that reached it are passed
    over.
    """
    far = _FAR[power.first.goal]
    best: FrontPoint | None = None
    promising = sorted(rows, key=lambda row: -float(row.rough[-1]))
    enough = float(promising[0].rough[-1])  # the least rough power that was enough, or might be
    for row in promising:
        last = len(row) - 1 if best is None else row.affordable(best.cents)
        if last < 0 or row.rough[last] < enough - far or not power.reaches(row.counts(last), target):
            continue
        place = _first(row, power, target, last)
        enough = min(enough, float(row.rough[place]))
        place = row.affordable(int(row.cents[place]))  # the most items for the same money
        result = _design_at(row, place, power)
        if best is None or _order(result) < _order(best):
            best = result
    return best


def _design_at(row: Row, place: int, power: GoalPower) -> FrontPoint:
    counts = row.counts(place)
    return FrontPoint(counts, Decimal(int(row.cents[place])) / 100, power.exact(counts))


def _order(priced: FrontPoint) -> tuple[int, float, int]:
    return priced.cents, -round(priced.power, 9), priced.counts.n_workers


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
) -> FrontPoint | None:
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
    designs = [_design_at(*looked[number], power) for value, number in best if value >= best[0][0] - _NEAR]
    return min(designs, key=lambda one: (-round(one.power, 9), one.cents))


def front(rows: Sequence[Row], power: GoalPower, *, decision: int) -> tuple[FrontPoint, ...]:
    """Designs that buy the most power for their cost, cheapest first, at about equal steps of cost up to a
    little beyond the decision's; of each cost those are looked at that a rough power puts first."""
    least, most = min(int(row.cents[0]) for row in rows), max(int(row.cents[-1]) for row in rows)
    levels = np.linspace(least, min(most, max(_BEYOND * decision, least)), _LEVELS)
    kept: list[FrontPoint] = []
    for row, place in dict.fromkeys(_best_for(rows, power, int(cents)) for cents in levels):
        result = _design_at(row, place, power)
        if not kept or result.power > kept[-1].power + 1e-9:
            kept.append(result)
    return tuple(kept)


def _best_for(rows: Sequence[Row], power: GoalPower, cents: int) -> tuple[Row, int]:
    places = ((row, row.affordable(cents)) for row in rows)
    within = [(row, place) for row, place in places if place >= 0]
    hopeful = sorted(within, key=lambda one: -float(one[0].rough[one[1]]))[:_LOOKED_AT]
    return max(hopeful, key=lambda one: power.about(one[0].counts(one[1])))


# What holds a design of several systems back, and what would do where the target is out of reach.

ENDLESS = 1_000_000  # items or workers that stand for a number without end


def endless_items(counts: StudyCounts) -> StudyCounts:
    """The same workers on more items than there are, every one of them on each."""
    return replace(counts, n_items=ENDLESS, ratings_per_item=counts.n_workers, paired=True)


def endless_workers(counts: StudyCounts) -> StudyCounts:
    """The same items with a worker for each rating; with all of more workers than there are, where all rate
    every item."""
    if counts.is_complete:
        return replace(counts, n_workers=ENDLESS, ratings_per_item=ENDLESS)
    return replace(counts, n_workers=counts.n_items * counts.ratings_per_item, paired=True)


def endless_both(counts: StudyCounts) -> StudyCounts:
    """All of more workers than there are on more items of the same documents than there are."""
    return replace(counts, n_workers=ENDLESS, n_items=ENDLESS, ratings_per_item=ENDLESS, paired=True)


def systems_ceilings(
    planned: PlannedSystems, counts: StudyCounts, *, target: float, rule: DecisionRule
) -> tuple[Ceiling, ...]:
    """What endless items, endless workers, and where there are documents both, make of a study of these systems."""
    grown: list[tuple[Growing, StudyCounts]] = [
        ("items", endless_items(counts)),
        ("workers", endless_workers(counts)),
    ]
    if counts.n_documents:
        grown.append(("items and workers", endless_both(counts)))
    return tuple(
        Ceiling(
            grows,
            goal_power(planned, of, rule),
            target,
            partial(smallest_effect, planned, of, target, rule),
        )
        for grows, of in grown
    )


# From parameters of several systems, prices and limits to one design: found by formula, proved by
# simulation.

_MOST_PROOFS = 3  # designs tried by simulation before the last one stands
MOST_FITTED, LEAST_FITTED = 400, 100  # studies of a proof, where each has to be fitted,
_FITTED_RATINGS = (
    40_000_000  # and ratings in all these fits, of which one of each pair has two systems' of them
)
_FITTED_SECONDS = 30.0  # of a proof whose tables are fitted one after the other, about
_LEAST_RAISE = 0.01  # of the power asked of the formula, where simulation says that it promised too much


@dataclass(slots=True, eq=False)
class RowSearch:
    """The search for a plan of several systems, or of several criteria: designs along rows, and their proofs."""

    request: PlanRequest
    rows: list[Row]
    power: GoalPower
    n_simulations: int | None
    seed: int
    n_jobs: int
    progress: Progress | None
    alone: tuple[Alone, ...] = ()
    done: int = 0
    chosen: FrontPoint = field(init=False)

    @classmethod
    def of(
        cls,
        request: PlanRequest,
        *,
        n_simulations: int | None,
        seed: int,
        n_jobs: int,
        progress: Progress | None,
        only: str | None = None,
    ) -> RowSearch:
        """n_simulations : of a proof. [the usual number; where each study has to be fitted `fitted_simulations`]
        only : the one setting that is looked at. [all]"""
        assert request.many is not None
        planned = {name: one for name, one in request.many.items() if only in (None, name)}
        first = next(iter(planned.values()))
        space = request.space
        if request.looks is not None and request.looks.drop_systems:
            workers = enough_workers(space.workers, request.looks.looks, "drop_systems")
            space = replace(space, workers=workers, pairings=(True,))
        rows = list_rows(space, request.costs, planned=first, rule=request.rule)
        out = NOBODY_OUT
        if not isinstance(request.exclusion, QualityControl):
            out = expected_out(request.exclusion)
        power = GoalPower(planned, request.rule, request.robust, request.losses, out)
        search = cls(request, rows, power, n_simulations, seed, n_jobs, progress)
        if only is None and len(planned) > 1:
            how: dict[str, Any] = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
            each = {name: cls.of(request, only=name, progress=None, **how) for name in planned}
            found = []
            for place, (name, one) in enumerate(each.items()):
                found.append(one._alone(name))
                if (tell := part_of(progress, place, len(each) + _MOST_PROOFS)) is not None:
                    tell(DEFAULT_SIMULATIONS, DEFAULT_SIMULATIONS)
            search.alone = tuple(found)
        return search

    def _alone(self, name: str) -> Alone:
        largest = most_powerful(self.rows, self.power, budget_cents=self.request.limit)
        best = 0.0 if largest is None else largest.power
        result = None
        if best >= self.request.target:
            result = cheapest(self.rows, self.power, target=self.request.target)
        return self.request.alone(name, best, result)

    def first(self, ahead: object) -> Option:  # noqa: ARG002  its work is told by its progress alone
        """The design to prove first, proved."""
        result = None if self.request.spend_budget else self._cheapest(self.request.target)
        self.chosen = result or self._largest()
        return self._prove(self.chosen.counts)

    def dearer(self, option: Option) -> Option | None:
        """The cheapest design with as much more power by formula as simulation found missing, proved; None where
        nothing is missing, or no such design was found."""
        if self.done >= _MOST_PROOFS or not self.request.falls_short(option):
            return None
        assert option.simulated is not None
        missing = self.request.target - option.simulated.power
        result = self._cheapest(self.chosen.power + max(_LEAST_RAISE, missing))
        if result is None or result.counts == self.chosen.counts:
            return None
        self.chosen = result
        return self._prove(result.counts)

    def ways(self, option: Option) -> Iterator[tuple[WayName, Option | None]]:
        """Designs by the ways to spend the money, None where a way is closed."""

        def said(one: FrontPoint | None) -> Option | None:
            if one is None:
                return None
            return option if one.counts == option.counts else self.other(one.counts)

        cheap = self._cheapest(self.request.target)
        if cheap is not None and not self.request.spend_budget:
            cheap = self.chosen  # which was proved to do it
        yield "cheapest", said(cheap)
        is_safe = cheap is not None and cheap.power >= self.request.safer_power
        yield "safer", said(cheap if is_safe else self._cheapest(self.request.safer_power))
        if self.request.limit is not None:
            yield "all the budget", said(self._largest())

    def other(self, counts: StudyCounts) -> Option:
        """The design with its price and its power by formula."""
        return Option(counts, cost_of(counts, self.request.costs), self.power.of_all(counts))

    def front(self) -> tuple[FrontPoint, ...]:
        """Designs that no others beat in both cost and power."""
        decision = max(self.chosen.cents, self.request.limit or 0)
        return front(self.rows, self.power, decision=decision)

    @property
    def n_candidates(self) -> int:
        """How many designs there are to choose from."""
        return sum(map(len, self.rows))

    def cheapest_price(self) -> Decimal | None:
        """Price of the cheapest design that reaches the target, whatever the budget."""
        result = cheapest(self.rows, self.power, target=self.request.target)
        return None if result is None else result.cost

    def formulas(self, name: str) -> Formulas:
        """What formulas say of designs under this setting."""
        planned, target, rule = self.power.settings[name], self.request.target, self.request.rule
        return Formulas(
            power=lambda counts: goal_power(planned, counts, rule),
            reaches=lambda counts: self.power.reaches(counts, target),
            smallest=lambda counts: smallest_effect(planned, counts, target, rule),
            ceilings=lambda counts: systems_ceilings(planned, counts, target=target, rule=rule),
        )

    def pair_study(self, option: Option) -> RatingStudy:
        """The study of the two systems that the goal is about, for whom rules leave out."""
        settings = next(iter(self.request.settings.values()))
        return self.request.study(replace(option.counts, n_systems=2), settings)

    def _cheapest(self, target: float) -> FrontPoint | None:
        """The cheapest design of this power, None where the limits or the budget have none."""
        result = cheapest(self.rows, self.power, target=target) if target > 0 else None
        limit = self.request.limit
        return None if result is not None and limit is not None and result.cents > limit else result

    def _largest(self) -> FrontPoint:
        """The most powerful design, within the budget where there is one."""
        best = most_powerful(self.rows, self.power, budget_cents=self.request.limit)
        if best is None:
            raise self.request.too_dear(min(int(row.cents[0]) for row in self.rows))
        return best

    def _prove(self, counts: StudyCounts) -> Option:
        """The design with its price, its power by formula and by simulation."""
        request = self.request
        design = design_of(counts, max_ratings_per_worker=request.space.max_ratings_per_worker)
        planned = self.power.settings[self.power.judged(counts)]
        usual = DEFAULT_SIMULATIONS
        if not design.is_balanced or request.losses != NO_LOSSES:
            usual = fitted_simulations(planned, design, request.rule, losses=request.losses)
        before = len(self.alone)  # each of which was searched for
        part = part_of(self.progress, before + self.done, before + _MOST_PROOFS)
        self.done += 1
        how: dict[str, Any] = {
            "n_simulations": self.n_simulations or usual,
            "seed": self.seed,
            "n_jobs": self.n_jobs,
        }
        if planned.looks is not None:
            result = prove_systems(planned, design, planned.looks, request.rule, costs=request.costs, **how)
            return replace(self.other(counts), simulated=result.simulated, sequential=result)
        simulated = simulate_systems(
            planned.parameters,
            design,
            planned.family,
            within_criterion(planned, request.rule),
            goal=planned.goal,
            losses=request.losses,
            exclusion="none" if request.control else request.exclusion,
            progress=part,
            **how,
        )
        return replace(self.other(counts), simulated=simulated)


def fitted_simulations(
    planned: PlannedSystems, design: Design, rule: DecisionRule, *, losses: Losses = NO_LOSSES
) -> int:
    """How many studies prove a design of which each has to be fitted: fewer of large ones, in hundreds."""
    n_systems = planned.parameters.n_systems
    each = design.n_ratings
    if planned.family.model == "pairwise":
        each = len(planned.family.pairs(planned.parameters.names)) * 2 * design.n_ratings // n_systems
    affordable = _FITTED_RATINGS / each
    if design.n_documents or losses != NO_LOSSES:  # one after the other takes far longer than all together
        one = systems_workload(
            planned.parameters, design, planned.family, rule, n_simulations=1, one_by_one=losses.loses_rows
        )
        affordable = min(affordable, _FITTED_SECONDS / one.seconds)
    return min(max(100 * round(affordable / 100), LEAST_FITTED), MOST_FITTED)
