"""From parameters of several systems, prices and limits to one design: found by formula, proved by simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from humeval_power.costs import cost_of, split_advice
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.planning.plan.goal_power import GoalPower
from humeval_power.planning.plan.planned_rules import PlannedRules, planned_rules
from humeval_power.planning.plan.planned_systems import PlannedSystems, within_criterion
from humeval_power.planning.plan.request import (
    Alone,
    FrontPoint,
    Option,
    PlanRequest,
    PlanResult,
    Way,
    WayName,
)
from humeval_power.planning.plan.systems_limits import systems_bottleneck, what_systems_would_do
from humeval_power.planning.plan.systems_search import (
    Found,
    Row,
    cheapest,
    front,
    list_rows,
    most_powerful,
)
from humeval_power.planning.plan.with_looks import prove_systems
from humeval_power.planning.plan.workers_out import NOBODY_OUT, expected_out
from humeval_power.planning.power import DEFAULT_SIMULATIONS, Progress, part_of
from humeval_power.planning.study.designs_of import design_of
from humeval_power.planning.study.systems_simulation import simulate_systems
from humeval_power.planning.study.systems_workload import systems_workload
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.study import RatingStudy
from humeval_power.simulation.losses import NO_LOSSES, Losses
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.study_counts import StudyCounts

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
    run = _Proofs(request, search.power, n_simulations, seed, n_jobs, progress)
    chosen = search.choose()
    option = run.prove(chosen.counts)
    for _ in range(_MOST_PROOFS - 1):
        dearer = search.raised(chosen, option) if _falls_short(request, option) else None
        if dearer is None:
            break
        chosen, option = dearer, run.prove(dearer.counts)
    ways = tuple(
        Way(name, None if found is None else option if found == chosen else run.priced(found.counts))
        for name, found in search.ways(chosen)
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
        rows = list_rows(request.space, request.costs, planned=first, rule=request.rule)
        out = NOBODY_OUT
        if not isinstance(request.exclusion, QualityControl):
            out = expected_out(request.exclusion)
        return cls(request, rows, GoalPower(planned, request.rule, request.robust, request.losses, out))

    def choose(self) -> Found:
        """The design to prove first."""
        found = None if self.request.spend_budget else self.cheapest(self.request.target)
        return found or self.largest()

    def cheapest(self, target: float) -> Found | None:
        """The cheapest design of this power, None where the limits or the budget have none."""
        found = cheapest(self.rows, self.power, target=target) if target > 0 else None
        is_beyond = found is not None and self.limit is not None and found.cents > self.limit
        return None if is_beyond else found

    def largest(self) -> Found:
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

    def raised(self, chosen: Found, option: Option) -> Found | None:
        """The cheapest design with as much more power by formula as simulation found missing."""
        assert option.simulated is not None
        missing = self.request.target - option.simulated.power
        found = self.cheapest(chosen.power + max(_LEAST_RAISE, missing))
        return None if found is None or found.counts == chosen.counts else found

    def ways(self, chosen: Found) -> Iterator[tuple[WayName, Found | None]]:
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
        found = None
        if best >= self.request.target:
            found = cheapest(self.rows, self.power, target=self.request.target)
        if found is None:
            return Alone(name, None, None, best)
        return Alone(name, found.counts, Decimal(found.cents) / 100, best)


@dataclass(slots=True)
class _Proofs:
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
            found = prove_systems(
                planned,
                design,
                planned.looks,
                request.rule,
                costs=request.costs,
                n_simulations=self.n_simulations or usual,
                seed=self.seed,
                n_jobs=self.n_jobs,
            )
            return replace(self.priced(counts), simulated=found.simulated, sequential=found)
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
