"""A look at a running study of several systems: each comparison by its own boundaries, levels in Holm's steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from humeval_power.errors import InputError, refusal
from humeval_power.inference.student_t import critical_value
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import Ratings
from humeval_power.rules import Correction
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.looks.systems_looks import adjusted_p, sequential_level, step_level
from humeval_power.studies.monitor.state import Decision, LookData, Monitoring, TakenLook, last_of
from humeval_power.studies.monitor.step import (
    REACHED,
    as_decided,
    boundary_place,
    collected_share,
    departures,
    level_at,
    look_boundaries,
    look_fraction,
    place_of,
    planned_shares,
    refuse_after_the_end,
    undecided,
)
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.power.formula import effect_precision
from humeval_power.systems import system_names


@dataclass(frozen=True, slots=True)
class PairData:
    """One comparison, second - first on [0, 1], by the ratings of a look; `information` as of `LookData`."""

    first: str
    second: str
    information: float
    estimate: float
    standard_error: float
    df: float
    p_value: float


@dataclass(frozen=True, slots=True)
class SystemsLookData:
    """What is in at a look at several systems; `share` and `final` as of `LookData`."""

    n_ratings: int
    n_workers: int
    n_items: int
    share: float
    pairs: tuple[PairData, ...]
    final: bool = False


@dataclass(frozen=True, slots=True)
class TakenPair:
    """What a look decided of one comparison: the share of its information at which the look counts, the level that
    its p-value had to reach in the last step it was tested in, the one above which it is futile (1: never), and the
    number of the look that has shown it, None where none has."""

    fraction: float
    nominal: float
    futility: float
    shown_at: int | None


@dataclass(frozen=True, slots=True)
class TakenSystemsLook:
    """A look that was taken at several systems; as `TakenLook`, with a decision for each comparison."""

    number: int
    planned: int | None
    data: SystemsLookData
    pairs: tuple[TakenPair, ...]
    decision: Decision
    reason: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SystemsMonitoring:
    """A study of several systems with looks: what was planned, and the looks so far.

    names : the comparisons (first, second), each second - first
    each : every comparison as it was planned, as if it were the only one
    """

    names: tuple[tuple[str, str], ...]
    each: tuple[Monitoring, ...]
    correction: Correction
    looks: tuple[TakenSystemsLook, ...] = ()

    @property
    def rule(self) -> StoppingRule:
        """The rule, with the alpha of all comparisons together."""
        return self.each[0].rule

    @property
    def unit(self) -> str:
        """What looks are counted by."""
        return self.each[0].unit

    @property
    def shares(self) -> tuple[float, ...]:
        """Planned shares of it."""
        return self.each[0].shares

    @property
    def effect(self) -> float:
        """The difference that the planned means are stated by."""
        return self.each[0].effect

    @property
    def factor(self) -> float:
        """By which all levels are multiplied."""
        return self.each[0].factor

    @property
    def independent(self) -> bool:
        """Ratings are not."""
        return False

    @property
    def last(self) -> TakenSystemsLook:
        """The last look; refused before the first."""
        return last_of(self.looks)

    @property
    def ended(self) -> bool:
        """Whether the study has come to its end, or was stopped."""
        return bool(self.looks) and self.looks[-1].decision != "continue"

    @property
    def next_planned(self) -> int | None:
        """Number of the next planned look, None after the last."""
        taken = max((look.planned or 0 for look in self.looks), default=0)
        return taken + 1 if taken < len(self.shares) else None

    @property
    def shown_at(self) -> tuple[int | None, ...]:
        """The number of the look that has shown each comparison."""
        return (
            tuple(pair.shown_at for pair in self.looks[-1].pairs)
            if self.looks
            else (None,) * len(self.each)
        )

    def of(self, place: int, *, alpha: float) -> Monitoring:
        """One comparison at a level, with the looks so far."""
        one = self.each[place]
        looks = tuple(
            TakenLook(
                number=look.number,
                planned=look.planned,
                data=pair_look(look.data, place),
                fraction=look.pairs[place].fraction,
                nominal=look.pairs[place].nominal,
                futility=look.pairs[place].futility,
                decision="continue",
                conditional_power={},
            )
            for look in self.looks
        )
        return replace(one, rule=replace(one.rule, alpha=alpha), looks=looks)

    def level(self, left: int) -> float:
        """The share of alpha of a comparison while `left` are not shown."""
        return step_level(self.rule.alpha, left, len(self.each), self.correction)


def systems_monitoring(plan: Plan) -> SystemsMonitoring:
    """A planned study of several systems before its first look. Raises InputError: a plan without looks."""
    from humeval_power.studies.looks.rating_looks import look_information

    schedule, many = plan.looks, plan.many
    assert many is not None
    if schedule is None:
        raise InputError(
            "The plan has no looks: it allows its tests once, at the end. Plan them beforehand: plan --looks."
        )
    design, parameters = plan.design(), many.parameters
    names = tuple(many.family.pairs(parameters.names))
    shares = planned_shares(design, schedule.looks)
    each = []
    for places in many.family.places(parameters.names):
        known = look_information(parameters.pair(*places), design, schedule.looks, places=places)
        each.append(
            Monitoring(
                rule=schedule.rule(plan.rule),
                unit=schedule.looks.kind,
                shares=shares,
                fractions=known.fractions,
                maximum_information=known.maximum,
                effect=plan.effect,
                factor=schedule.factor,
            )
        )
    return SystemsMonitoring(names, tuple(each), many.family.correction)


def as_planned(ratings: Ratings, plan: Plan) -> Ratings:
    """The ratings with their systems as the plan names them, in its order; letters stand for any names.
    Raises InputError: other systems than those of the plan."""
    wanted, there = plan.systems, ratings.system_names
    if wanted == system_names(len(wanted)) and len(there) == len(wanted) and not set(there) & set(wanted):
        return replace(ratings, system_names=wanted)
    if set(there) != set(wanted):
        rule = f"the plan is of {', '.join(wanted)}, and these are ratings of {', '.join(there)}."
        raise refusal(rule, "A look takes the ratings of all planned systems.", ratings.source)
    code = np.array([wanted.index(name) for name in there])
    return replace(ratings, system=code[ratings.system], system_names=wanted)


def systems_look_data(
    ratings: Ratings, plan: Plan, *, final: bool = False, pool: ItemPool | None = None
) -> SystemsLookData:
    """Test every comparison as the plan says.

    ratings : `as_planned`
    pool : that the rated items were drawn from, of which the ratings are (`of_pool`).

    Raises FitError: a comparison of which there is no test: the look is not taken; InputError: ratings
    without documents, where the plan has them.
    """
    from humeval_power.studies.fit.joint_comparison import compare_jointly
    from humeval_power.studies.fit.many_systems import compare_in_pairs, of_common_workers
    from humeval_power.studies.fit.over_pool import compare_over_pool

    many = plan.many
    assert many is not None
    plan.check_documents(ratings)

    def rated(first: str, second: str) -> Ratings:
        pair = ratings.pair(first, second)
        return of_common_workers(pair) if plan.drops_systems else pair

    if pool is not None:
        tests = {
            names: compare_over_pool(rated(*names), pool, plan.rule).of(plan.estimand)
            for names in many.family.pairs(plan.systems)
        }
    else:
        how: dict[str, Any] = {"rule": plan.rule, "family": many.family}
        comparison = (
            compare_in_pairs(ratings, common_workers=plan.drops_systems, **how)
            if many.family.model == "pairwise"
            else compare_jointly(ratings, **how)
        )
        tests = {(one.first, one.second): one.test for one in comparison.results}
    place = {name: code for code, name in enumerate(plan.systems)}
    pairs = []
    for (first, second), test in tests.items():
        if test.reason:
            raise undecided(f"{second} - {first}: {test.reason}")
        parameters = many.parameters.pair(place[first], place[second])
        known = effect_precision(parameters, rated(first, second).design())
        found = (test.estimate, test.standard_error, test.df, test.p_value)
        pairs.append(PairData(first, second, 1.0 / known.variance, *found))
    return SystemsLookData(
        n_ratings=ratings.n_ratings,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        share=collected_share(plan, ratings),
        pairs=tuple(pairs),
        final=final,
    )


def step_systems(
    state: SystemsMonitoring, data: SystemsLookData, *, unplanned: str = ""
) -> tuple[SystemsMonitoring, TakenSystemsLook]:
    """Take a look, as `step` of two systems does: the new state, and the look with its decisions. Raises
    InputError: what `step` refuses."""
    refuse_after_the_end(state, unplanned)
    planned, final, complete = place_of(state, data, unplanned)
    n, number = len(state.each), len(state.looks) + 1
    fractions = [
        look_fraction(state.of(place, alpha=state.rule.alpha), pair_look(data, place), complete=complete)
        for place in range(n)
    ]

    def levels(place: int, left: int) -> tuple[float, float]:
        one = state.of(place, alpha=state.level(left))
        bounds = look_boundaries(one, fractions[place], final=fractions[place] >= 1.0 - REACHED)
        at = boundary_place(one, complete, planned)
        return float(bounds.nominal[at]), 1.0 if final else min(float(bounds.futility_p[at]), 1.0)

    shown_at = list(state.shown_at)
    last = state.looks[-1].pairs if state.looks else ()
    tested = [(last[place].nominal, 1.0) if shown_at[place] else (0.0, 1.0) for place in range(n)]
    while True:
        open_ = [place for place in range(n) if shown_at[place] is None]
        for place in open_:
            tested[place] = levels(place, len(open_))
        new = [place for place in open_ if data.pairs[place].p_value <= tested[place][0]]
        for place in new:
            shown_at[place] = number
        if not new or state.correction != "holm":
            break
    left = [place for place in range(n) if shown_at[place] is None]
    if final:
        some: Decision = "end-nothing-shown" if len(left) == n else "end-some-shown"
        decision: Decision = some if left else "end-success"
    elif not left:
        decision = "stop-success"
    else:
        futile = all(data.pairs[place].p_value > tested[place][1] for place in left)
        decision = "stop-futility" if futile else "continue"
    look = TakenSystemsLook(
        number=number,
        planned=planned,
        data=data,
        pairs=tuple(TakenPair(fractions[place], *tested[place], shown_at[place]) for place in range(n)),
        decision=decision,
        reason=unplanned,
        remarks=tuple(departures(state, data, planned, final=final)),
    )
    return replace(state, looks=(*state.looks, look)), look


@dataclass(frozen=True, slots=True)
class PairOverLooks:
    """One comparison over all looks: the look that has shown it (None: none), its p-value corrected for looks and
    comparisons, and the interval that covers at every look together with those of the other comparisons."""

    first: str
    second: str
    estimate: float
    shown_at: int | None
    p_value: float
    interval: tuple[float, float]


@lru_cache(maxsize=8)
def over_systems_looks(state: SystemsMonitoring) -> tuple[PairOverLooks, ...]:
    """What to report of each comparison after the last look.

    The corrected p-value is the smallest alpha of all looks and comparisons together at which it would be
    shown. The interval is repeated (Jennison and Turnbull 1989) at the comparison's share of alpha while none
    is shown: it holds whatever stopped the study. One-sided rules have one end.
    """
    last, n, alpha = state.last, len(state.each), state.rule.alpha
    two_sided = state.rule.alternative == "two-sided"

    def level(place: int, look: int, alpha: float) -> float:
        """The nominal level of a comparison at a look that was taken (from 0), had it this alpha."""
        taken, before = state.looks[look], replace(state, looks=state.looks[:look])
        fraction = taken.pairs[place].fraction
        return level_at(before.of(place, alpha=alpha), alpha, fraction, taken.planned)

    def smallest(place: int, look: int) -> float:
        """The smallest alpha of its own at which a look has shown a comparison."""
        p_value = state.looks[look].data.pairs[place].p_value
        return sequential_level(lambda alpha: level(place, look, alpha), p_value)

    levels = [[smallest(place, look) for place in range(n)] for look in range(len(state.looks))]
    p_values = adjusted_p(np.array(levels), state.correction)
    pairs = []
    for place, (first, second) in enumerate(state.names):
        data, shown = last.data.pairs[place], state.shown_at[place]
        nominal = level(place, len(state.looks) - 1, state.level(n))
        reach = critical_value(data.df, nominal / 2 if two_sided else nominal) * data.standard_error
        interval = data.estimate - reach, data.estimate + reach if two_sided else math.inf
        p = as_decided(float(p_values[place]), alpha, shown=shown is not None)
        pairs.append(PairOverLooks(first, second, data.estimate, shown, p, interval))
    return tuple(pairs)


def pair_look(data: SystemsLookData, place: int) -> LookData:
    """The data of a look of one comparison alone."""
    pair = data.pairs[place]
    return LookData(
        n_ratings=data.n_ratings,
        n_workers=data.n_workers,
        n_items=data.n_items,
        share=data.share,
        information=pair.information,
        estimate=pair.estimate,
        standard_error=pair.standard_error,
        df=pair.df,
        p_value=pair.p_value,
        final=data.final,
    )
