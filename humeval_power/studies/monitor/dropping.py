"""A look at a running study whose looks drop systems: who leaves, who is left, and whether one is the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.studies.looks.dropping import CLAIM, drop_alpha, drop_look, interval_alpha, top_group
from humeval_power.studies.looks.repeated import FEWEST_WORKERS, StopWhen, half_widths, interval_of
from humeval_power.studies.looks.systems_looks import sequential_level
from humeval_power.studies.monitor.state import Decision
from humeval_power.studies.monitor.step import (
    as_decided,
    departures,
    level_at,
    look_fraction,
    place_of,
    refuse_after_the_end,
)
from humeval_power.studies.monitor.systems import (
    PairData,
    PairOverLooks,
    SystemsLookData,
    SystemsMonitoring,
    TakenPair,
    TakenSystemsLook,
    pair_look,
    systems_monitoring,
)
from humeval_power.studies.plan.plan import Plan

_SAME = 1e-6  # of the standard error: the ratings of a dropped system are as they were


@dataclass(frozen=True, slots=True)
class DropPair(TakenPair):
    """What a look decided of one comparison: `nominal` is the level of a claim, `drop` that of a drop, and
    `interval` that of the intervals that cover together; `shown_at` the look at which that interval has first
    excluded 0. Of a system that was dropped before, all is as it was at its last look."""

    drop: float
    interval: float


@dataclass(frozen=True, slots=True)
class DropTaken(TakenSystemsLook):
    """A look that was taken; `dropped` are the systems that it dropped, `best` the one that it named."""

    dropped: tuple[str, ...] = ()
    best: str | None = None


@dataclass(frozen=True, slots=True)
class DroppingMonitoring(SystemsMonitoring):
    """A study whose looks drop systems: what was planned, and the looks so far."""

    systems: tuple[str, ...] = ()
    stop_when: StopWhen = CLAIM
    interval_factor: float = 1.0

    @property
    def taken(self) -> tuple[DropTaken, ...]:
        """The looks so far."""
        return tuple(look for look in self.looks if isinstance(look, DropTaken))

    def left_before(self, look: int) -> tuple[str, ...]:
        """The systems that are rated until a look (from 0)."""
        gone = {name for one in self.taken[:look] for name in one.dropped}
        return tuple(name for name in self.systems if name not in gone)

    @property
    def left(self) -> tuple[str, ...]:
        """The systems that are left."""
        return self.left_before(len(self.looks))

    @property
    def best(self) -> str | None:
        """The system that was named."""
        return self.taken[-1].best if self.looks else None

    def dropped_at(self, name: str) -> int | None:
        """The number of the look that dropped a system."""
        return next((look.number for look in self.taken if name in look.dropped), None)

    def last_look(self, place: int) -> int:
        """The last look (from 0) that a comparison was decided at."""
        numbers = [self.dropped_at(name) or len(self.looks) for name in self.names[place]]
        return min(numbers) - 1


def dropping_monitoring(plan: Plan) -> DroppingMonitoring:
    """A planned study before its first look. Raises InputError: a plan without looks."""
    of_systems = systems_monitoring(plan)
    assert plan.looks is not None
    return DroppingMonitoring(
        **{field.name: getattr(of_systems, field.name) for field in fields(of_systems)},
        systems=plan.systems,
        stop_when=plan.looks.stop_when or CLAIM,
        interval_factor=plan.looks.interval_factor,
    )


def step_dropping(
    state: DroppingMonitoring, data: SystemsLookData, *, unplanned: str = ""
) -> tuple[DroppingMonitoring, DropTaken]:
    """Take a look, as `step` of two systems does: the new state, and the look with its decisions. Raises
    InputError: what `step` refuses."""
    refuse_after_the_end(state, unplanned)
    if data.n_workers < FEWEST_WORKERS:
        raise InputError(
            f"{data.n_workers} workers are too few to drop a system by: it needs {FEWEST_WORKERS}. Collect more "
            "first; nothing was recorded."
        )
    planned, final, complete = place_of(state, data, unplanned)
    number, left, alpha, n = len(state.looks) + 1, state.left, state.rule.alpha, len(state.systems)
    last = state.looks[-1] if state.looks else None
    code = {name: place for place, name in enumerate(state.systems)}
    pairs: list[DropPair] = []
    kept: list[PairData] = []
    remarks = departures(state, data, planned, final=final)
    rated_on = set()
    for place, seen in enumerate(data.pairs):
        if last is not None and not {seen.first, seen.second} <= set(left):
            then, taken = last.data.pairs[place], last.pairs[place]
            assert isinstance(taken, DropPair)
            if abs(seen.estimate - then.estimate) > _SAME * then.standard_error:
                rated_on |= {seen.first, seen.second} - set(left)
            kept.append(then)
            pairs.append(taken)
            continue
        one = state.of(place, alpha=alpha)
        fraction = look_fraction(one, pair_look(data, place), complete=complete)
        claim = level_at(one, alpha, fraction, planned)
        drop = level_at(one, drop_alpha(alpha, n), fraction, planned)
        wide = replace(one, factor=state.interval_factor)
        interval = level_at(wide, interval_alpha(alpha, n), fraction, planned)
        shown = None if last is None else last.pairs[place].shown_at
        if shown is None and seen.p_value <= interval:
            shown = number
        kept.append(seen)
        pairs.append(DropPair(fraction, claim, 1.0, shown, drop, interval))
    if rated_on:
        named = ", ".join(name for name in state.systems if name in rated_on)
        remarks.append(f"ratings of {named} came or changed after it was dropped; they are not used")
    estimate, error, df, p_value = (
        np.array([[getattr(one, name) for one in kept]])
        for name in ("estimate", "standard_error", "df", "p_value")
    )
    drops, claims, intervals = (
        np.array([getattr(one, name) for one in pairs]) for name in ("drop", "nominal", "interval")
    )
    there = np.array([[name in left for name in state.systems]])
    places = tuple((code[first], code[second]) for first, second in state.names)
    found = drop_look(estimate, p_value, drops, claims, places, there)
    best = None if found.best[0] < 0 else state.systems[found.best[0]]
    dropped = tuple(name for name in left if not found.left[0, code[name]])
    decision: Decision = "continue"
    half = half_widths(error, df, intervals)
    if best is not None:
        decision = "end-success" if final else "stop-success"
    elif top_group(estimate, half, places, found.left, state.stop_when)[0]:
        near = replace(state.stop_when, half_width=None)
        if top_group(estimate, half, places, found.left, near)[0]:
            decision = "end-equivalence" if final else "stop-equivalence"
        else:
            decision = "end-half-width" if final else "stop-half-width"
    elif final:
        decision = "end-nothing-shown" if found.left[0].all() else "end-some-shown"
    look = DropTaken(
        number=number,
        planned=planned,
        data=replace(data, pairs=tuple(kept)),
        pairs=tuple(pairs),
        decision=decision,
        reason=unplanned,
        remarks=tuple(remarks),
        dropped=dropped,
        best=best,
    )
    return replace(state, looks=(*state.looks, look)), look


# After the last look.


@lru_cache(maxsize=8)
def over_dropping_looks(state: DroppingMonitoring) -> tuple[PairOverLooks, ...]:
    """What to report of each comparison: its estimate and interval at the last look at which both systems
    were rated, where they cover together with those of all pairs and looks, whatever was dropped; and the
    smallest alpha at which such an interval has excluded 0."""
    _ = state.last  # there must be one
    result = []
    for place, (first, second) in enumerate(state.names):
        until = state.last_look(place)
        look = state.taken[until]
        data, pair = look.data.pairs[place], look.pairs[place]
        assert isinstance(pair, DropPair)
        interval = interval_of(data.estimate, data.standard_error, data.df, pair.interval)
        p = min(_corrected(state, place, at) for at in range(until + 1))
        p = as_decided(p, state.rule.alpha, shown=pair.shown_at is not None)
        result.append(PairOverLooks(first, second, data.estimate, pair.shown_at, p, interval))
    return tuple(result)


def _corrected(state: DroppingMonitoring, place: int, at: int) -> float:
    """The smallest alpha of all pairs and looks together at which the interval of a look excludes 0."""
    from scipy import stats

    before = replace(state, looks=state.looks[:at])
    one = replace(before.of(place, alpha=state.rule.alpha), factor=state.interval_factor)
    taken = state.looks[at]
    fraction, p_value = taken.pairs[place].fraction, taken.data.pairs[place].p_value
    level = sequential_level(lambda alpha: level_at(one, alpha, fraction, taken.planned), p_value)
    z = -float(special.ndtri(level / 2))
    return min(float(stats.studentized_range.sf(z * math.sqrt(2), len(state.systems), np.inf)), 1.0)


def planned_ratings(state: DroppingMonitoring, sizes: Sequence[int]) -> int:
    """Ratings that the plan has for the looks that were taken, without those of dropped systems.

    sizes : of the whole study at each planned look.
    """
    total, before = 0.0, 0
    for at, look in enumerate(state.taken):
        reached = sizes[(look.planned or len(sizes)) - 1]
        total += (reached - before) * len(state.left_before(at)) / len(state.systems)
        before = reached
    return round(total)


def best_sentence(state: DroppingMonitoring) -> str:
    """Who is the best, or among whom the best is."""
    confidence, left = f"with {100 * (1 - state.rule.alpha):g} % confidence", ", ".join(state.left)
    of = f"{len(state.systems)} systems"
    if state.best is not None:
        return f"{state.best} is shown to be the best of {of}."
    last = state.looks[-1].decision
    if last.endswith(("equivalence", "half-width")):
        like = (
            "as good as each other within the margin"
            if last.endswith("equivalence")
            else "told apart no further"
        )
        return f"The top group is {left}, {like}: {confidence} the best is in it."
    return f"{len(state.left)} of {of} are left: {left}; {confidence} the best is one of them."
