"""Search over workers x items x ratings per item for a power that takes a while to compute.

Power among several systems takes too long to list that of a hundred thousand designs. Along a row, of designs that
differ in their items alone, more items lower neither the power nor the price: a bisection finds the first design
of a row that reaches a power, and one look tells whether any within a price does. A rough power, which is fast,
tells which rows are worth that look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_SIMULATIONS
from humeval_power.costs import CostModel, cost_of, costs_of_counts, money, split_advice
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.roots import root_between
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import of_hundred, points_words
from humeval_power.simulation.losses import NO_LOSSES, Losses
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.studies.looks.repeated import enough_workers
from humeval_power.studies.plan.candidates import (
    SearchSpace,
    feasible_sizes,
    nothing_feasible,
    what_is_left,
)
from humeval_power.studies.plan.plan import prove_systems
from humeval_power.studies.plan.planned_rules import (
    NOBODY_OUT,
    PlannedRules,
    WorkersOut,
    expected_out,
    planned_rules,
)
from humeval_power.studies.plan.planned_systems import (
    PlannedSystems,
    goal_power,
    scaled,
    with_looks,
    within_criterion,
)
from humeval_power.studies.plan.request import (
    Alone,
    FrontPoint,
    Option,
    PlanRequest,
    PlanResult,
    Way,
    WayName,
)
from humeval_power.studies.power.analytic import Ceiling, Growing
from humeval_power.studies.power.bottleneck import Bottleneck, enough_documents, one_document_more
from humeval_power.studies.power.estimate import Progress, part_of
from humeval_power.studies.power.questions import smallest_true
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
            self.fast[key] = _fast_power(*self._left(name, counts), self.rule)
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


def _fast_power(planned: PlannedSystems, counts: StudyCounts | ExpectedCounts, rule: DecisionRule) -> float:
    precision = systems_precision(planned.parameters, counts, planned.family)
    truth = Truth(planned.parameters, precision.pairs, within_criterion(planned, rule))
    result = counts_by_law(truth, precision, planned.family, log2_points=_LOG2_POINTS)
    return with_looks(result.of(planned.goal) / result.n, planned, counts, rule)


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


@dataclass(frozen=True, slots=True)
class PricedDesign:
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


def cheapest(rows: Sequence[Row], power: GoalPower, *, target: float) -> PricedDesign | None:
    """The cheapest design that reaches a power, the more powerful of equally cheap ones and then the one with
    fewer workers; None where none does.

    The most promising rows come first. Rows whose rough power is far below that of all that reached it are passed
    over.
    """
    far = _FAR[power.first.goal]
    best: PricedDesign | None = None
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


def _design_at(row: Row, place: int, power: GoalPower) -> PricedDesign:
    counts = row.counts(place)
    return PricedDesign(counts, int(row.cents[place]), power.exact(counts))


def _order(priced: PricedDesign) -> tuple[int, float, int]:
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
) -> PricedDesign | None:
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


def front(rows: Sequence[Row], power: GoalPower, *, decision: int) -> tuple[PricedDesign, ...]:
    """Designs that buy the most power for their cost, cheapest first, at about equal steps of cost up to a
    little beyond the decision's; of each cost those are looked at that a rough power puts first."""
    least, most = min(int(row.cents[0]) for row in rows), max(int(row.cents[-1]) for row in rows)
    levels = np.linspace(least, min(most, max(_BEYOND * decision, least)), _LEVELS)
    kept: list[PricedDesign] = []
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
_MOST_WORKERS = 5000


def systems_bottleneck(
    planned: PlannedSystems, counts: StudyCounts, *, target: float, rule: DecisionRule
) -> Bottleneck:
    """Look one step around a design, by formula."""

    def power_of(other: StudyCounts) -> float:
        return goal_power(planned, other, rule)

    power = power_of(counts)
    k = counts.ratings_per_item
    complete = counts.paired and k == counts.n_workers
    worker = replace(counts, n_workers=counts.n_workers + 1, ratings_per_item=k + 1 if complete else k)
    items = replace(counts, n_items=counts.n_items + max(1, counts.n_items // 10))
    fits = k + 1 <= counts.n_workers
    return Bottleneck(
        power=power,
        more_workers=power_of(worker) - power,
        more_items=power_of(items) - power,
        more_ratings=power_of(replace(counts, ratings_per_item=k + 1)) - power if fits else None,
        with_endless_items=_ceiling("items", planned, endless_items(counts), target, rule),
        with_endless_workers=_ceiling("workers", planned, endless_workers(counts), target, rule),
        more_documents=power_of(one_document_more(counts)) - power if counts.n_documents else None,
        with_endless_both=_ceiling("items and workers", planned, endless_both(counts), target, rule)
        if counts.n_documents
        else None,
    )


def endless_items(counts: StudyCounts) -> StudyCounts:
    """The same workers on more items than there are, every one of them on each."""
    return replace(counts, n_items=ENDLESS, ratings_per_item=counts.n_workers, paired=True)


def endless_workers(counts: StudyCounts) -> StudyCounts:
    """The same items with a worker for each rating; with all of more workers than there are, where all rate
    every item."""
    if counts.paired and counts.ratings_per_item == counts.n_workers:
        return replace(counts, n_workers=ENDLESS, ratings_per_item=ENDLESS)
    return replace(counts, n_workers=counts.n_items * counts.ratings_per_item, paired=True)


def endless_both(counts: StudyCounts) -> StudyCounts:
    """All of more workers than there are on more items of the same documents than there are."""
    return replace(counts, n_workers=ENDLESS, n_items=ENDLESS, ratings_per_item=ENDLESS, paired=True)


def _ceiling(
    grows: Growing, planned: PlannedSystems, counts: StudyCounts, target: float, rule: DecisionRule
) -> Ceiling:
    power = goal_power(planned, counts, rule)
    return Ceiling(grows, power, smallest_effect(planned, counts, target, rule), target)


def what_systems_would_do(
    request: PlanRequest, best: StudyCounts, rows: Sequence[Row], power: GoalPower
) -> tuple[str, tuple[str, ...]]:
    """Why the target is not reached, and each change that would reach it alone."""
    target, rule, costs = request.target, request.rule, request.costs
    reached = power.exact(best)
    planned = power.settings[power.judged(best)]
    what, size = ("difference", request.effect) if rule.margin is None else ("margin", rule.margin)
    scale = request.assumed.scale
    ways = []
    reaching = None if request.budget is None else cheapest(rows, power, target=target)
    if request.budget is not None and reaching is not None:
        reason = (
            f"With {money(request.budget, costs.currency)} {of_hundred(reached)} of 100 such studies reach their "
            f"goal, not {of_hundred(target)}."
        )
        ways.append(f"a budget of {money(Decimal(reaching.cents) / 100, costs.currency)}")
    else:
        reason = (
            f"No design within these limits is enough: with the best {of_hundred(reached)} of 100 such studies "
            f"reach their goal for a {what} of {points_words(size, scale)}, by formula, not {of_hundred(target)}."
        )
    smallest = smallest_effect(planned, best, target, rule)
    if smallest <= 1:
        smaller = points_words(smallest, scale, digits=3)
        ways.append(f"a {what} of {smaller} instead of {points_words(size, scale)}, with this design")
    enough = _enough_workers(best, lambda counts: power.reaches(counts, target))
    if enough is not None and enough.n_workers > best.n_workers:
        ways.append(
            f"{enough.n_workers} workers with {enough.n_items} items and "
            f"{enough.ratings_per_item} ratings per item ({cost_of(enough, costs)})"
        )
    if best.n_documents:
        documents = enough_documents(best, lambda counts: power.reaches(counts, target))
        if documents is not None and documents.n_documents > best.n_documents:
            ways.append(
                f"{documents.n_documents} documents of {best.n_items // best.n_documents} items "
                f"({cost_of(documents, costs)})"
            )
    return reason, tuple(ways)


def _enough_workers(best: StudyCounts, reaches: Callable[[StudyCounts], bool]) -> StudyCounts | None:
    complete = best.paired and best.ratings_per_item == best.n_workers

    def wider(m: int) -> StudyCounts:
        return replace(best, n_workers=m, ratings_per_item=m if complete else best.ratings_per_item)

    most = _MOST_WORKERS
    if not complete:
        most = min(most, best.n_items * best.ratings_per_item * (1 if best.paired else best.n_systems))
    smallest = smallest_true(lambda m: reaches(wider(m)), best.n_workers, most)
    return None if smallest is None else wider(smallest)


# From parameters of several systems, prices and limits to one design: found by formula, proved by
# simulation.

_MOST_PROOFS = 3  # designs tried by simulation before the last one stands
MOST_FITTED, LEAST_FITTED = 400, 100  # studies of a proof, where each has to be fitted,
_FITTED_RATINGS = (
    40_000_000  # and ratings in all these fits, of which one of each pair has two systems' of them
)
_FITTED_SECONDS = 30.0  # of a proof whose tables are fitted one after the other, about
_LEAST_RAISE = 0.01  # of the power asked of the formula, where simulation says that it promised too much


def make_systems_plan(
    request: PlanRequest,
    *,
    n_simulations: int | None,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> PlanResult:
    """Search the space by formula, then prove the winner with its real assignment.

    n_simulations : of a proof. [the usual number; where each study has to be fitted `fitted_simulations`]

    Raises
    ------
    InputError
        No design within the limits, or none within the budget.
    """
    assert request.many is not None
    alone = tuple[Alone, ...]()
    if len(request.many.settings) > 1:
        alone = tuple(_Search.of(request, only=name).alone(name) for name in request.many.settings)
    search = _Search.of(request)
    run = _SystemsProofs(request, search.power, n_simulations, seed, n_jobs, progress)
    chosen = search.choose()
    option = run.prove(chosen.counts)
    for _ in range(_MOST_PROOFS - 1):
        dearer = search.raised(chosen, option) if _falls_short(request, option) else None
        if dearer is None:
            break
        chosen, option = dearer, run.prove(dearer.counts)
    designs = [(name, None if one is None else one.counts) for name, one in search.ways(chosen)]
    if request.beside is not None:
        designs.append(("yours", request.beside))
    ways = tuple(
        Way.of(name, None if counts is None else option if counts == chosen.counts else run.priced(counts))
        for name, counts in designs
    )
    planned = search.power.settings[search.power.judged(chosen.counts)]
    reached = chosen.power >= request.target - 1e-12 and not _falls_short(request, option)
    if request.losses != NO_LOSSES and option.simulated is not None:
        reached = option.simulated.interval[1] >= request.target
    reason, would_do = "", tuple[str, ...]()
    if not reached:
        reason, would_do = what_systems_would_do(request, chosen.counts, search.rows, search.power)
    return PlanResult(
        request=request,
        chosen=option,
        ways=ways,
        front=tuple(
            FrontPoint(point.counts, Decimal(point.cents) / 100, point.power)
            for point in front(search.rows, search.power, decision=max(chosen.cents, search.limit or 0))
        ),
        reached=reached,
        reason=reason,
        would_do=would_do,
        bottleneck=systems_bottleneck(planned, chosen.counts, target=request.target, rule=request.rule),
        assurance=None,
        split=split_advice(chosen.counts, request.costs),
        n_candidates=sum(map(len, search.rows)),
        alone=alone,
        rules=_rules(request, chosen.counts, seed),
    )


def _rules(request: PlanRequest, counts: StudyCounts, seed: int) -> PlannedRules | None:
    """The rules, and whom they leave out, told by the two systems that the goal is about."""
    if request.control is None:
        return None
    pair = design_of(replace(counts, n_systems=2))
    settings = next(iter(request.settings.values()))
    study = RatingStudy(settings, pair, rule=request.rule, losses=request.losses, exclusion=request.control)
    return planned_rules(study, None, seed=seed)


@dataclass(frozen=True, slots=True)
class _Search:
    """The rows of a request, and the power by which they are searched."""

    request: PlanRequest
    rows: list[Row]
    power: GoalPower

    @classmethod
    def of(cls, request: PlanRequest, *, only: str | None = None) -> _Search:
        """only : the one setting that is looked at. [all]"""
        many = request.many
        assert many is not None
        planned = {name: many.planned(name) for name in many.settings if only in (None, name)}
        first = next(iter(planned.values()))
        space = request.space
        if request.looks is not None and request.looks.drop_systems:
            workers = enough_workers(space.workers, request.looks.looks, "drop_systems")
            space = replace(space, workers=workers, pairings=(True,))
        rows = list_rows(space, request.costs, planned=first, rule=request.rule)
        out = NOBODY_OUT
        if not isinstance(request.exclusion, QualityControl):
            out = expected_out(request.exclusion)
        return cls(request, rows, GoalPower(planned, request.rule, request.robust, request.losses, out))

    def choose(self) -> PricedDesign:
        """The design to prove first."""
        result = None if self.request.spend_budget else self.cheapest(self.request.target)
        return result or self.largest()

    def cheapest(self, target: float) -> PricedDesign | None:
        """The cheapest design of this power, None where the limits or the budget have none."""
        result = cheapest(self.rows, self.power, target=target) if target > 0 else None
        is_beyond = result is not None and self.limit is not None and result.cents > self.limit
        return None if is_beyond else result

    def largest(self) -> PricedDesign:
        """The most powerful design, within the budget where there is one."""
        best = most_powerful(self.rows, self.power, budget_cents=self.limit)
        if best is None:
            least = Decimal(min(int(row.cents[0]) for row in self.rows)) / 100
            raise InputError(
                f"No design within a budget of {self.request.budget}: within these limits the cheapest costs "
                f"{least:.2f}."
            )
        return best

    @property
    def limit(self) -> int | None:
        """The budget in cents."""
        return None if self.request.budget is None else int(self.request.budget * 100)

    def raised(self, chosen: PricedDesign, option: Option) -> PricedDesign | None:
        """The cheapest design with as much more power by formula as simulation found missing."""
        assert option.simulated is not None
        missing = self.request.target - option.simulated.power
        result = self.cheapest(chosen.power + max(_LEAST_RAISE, missing))
        return None if result is None or result.counts == chosen.counts else result

    def ways(self, chosen: PricedDesign) -> Iterator[tuple[WayName, PricedDesign | None]]:
        """Designs by the ways to spend the money, None where a way is closed."""
        cheap = self.cheapest(self.request.target)
        if cheap is not None and not self.request.spend_budget:
            cheap = chosen  # which was proved to do it
        yield "cheapest", cheap
        is_safe = cheap is not None and cheap.power >= self.request.safer_power
        yield "safer", cheap if is_safe else self.cheapest(self.request.safer_power)
        if self.limit is not None:
            yield "all the budget", self.largest()

    def alone(self, name: str) -> Alone:
        """What the setting asks for if nothing else is assumed."""
        largest = most_powerful(self.rows, self.power, budget_cents=self.limit)
        best = 0.0 if largest is None else largest.power
        result = None
        if best >= self.request.target:
            result = cheapest(self.rows, self.power, target=self.request.target)
        if result is None:
            return Alone(name, None, None, best)
        return Alone(name, result.counts, Decimal(result.cents) / 100, best)


@dataclass(slots=True)
class _SystemsProofs:
    """Simulations of designs that the formula found, one after the other."""

    request: PlanRequest
    power: GoalPower
    n_simulations: int | None
    seed: int
    n_jobs: int
    progress: Progress | None
    done: int = 0

    def prove(self, counts: StudyCounts) -> Option:
        """The design with its price, its power by formula and by simulation."""
        request = self.request
        design = design_of(counts, max_ratings_per_worker=request.space.max_ratings_per_worker)
        planned = self.power.settings[self.power.judged(counts)]
        usual = DEFAULT_SIMULATIONS
        if not design.is_balanced or request.losses != NO_LOSSES:
            usual = fitted_simulations(planned, design, request.rule, losses=request.losses)
        part = part_of(self.progress, self.done, _MOST_PROOFS)
        self.done += 1
        if planned.looks is not None:
            result = prove_systems(
                planned,
                design,
                planned.looks,
                request.rule,
                costs=request.costs,
                n_simulations=self.n_simulations or usual,
                seed=self.seed,
                n_jobs=self.n_jobs,
            )
            return replace(self.priced(counts), simulated=result.simulated, sequential=result)
        simulated = simulate_systems(
            planned.parameters,
            design,
            planned.family,
            within_criterion(planned, request.rule),
            goal=planned.goal,
            losses=request.losses,
            exclusion="none" if request.control else request.exclusion,
            n_simulations=self.n_simulations or usual,
            seed=self.seed,
            n_jobs=self.n_jobs,
            progress=part,
        )
        return replace(self.priced(counts), simulated=simulated)

    def priced(self, counts: StudyCounts) -> Option:
        """The design with its price and its power by formula."""
        return Option(counts, cost_of(counts, self.request.costs), self.power.of_all(counts))


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


def _falls_short(request: PlanRequest, option: Option) -> bool:
    """Whether simulation contradicts a promise of the formula, beyond Monte Carlo error."""
    assert option.simulated is not None
    return not request.spend_budget and not option.simulated.interval[1] >= request.target
