"""The power of many designs of several systems: fast where it is far from what is asked, exact where it is near."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from humeval_power.planning.plan.candidates import what_is_left
from humeval_power.planning.plan.planned_systems import (
    PlannedSystems,
    goal_power,
    scaled,
    with_looks,
    within_criterion,
)
from humeval_power.planning.plan.workers_out import NOBODY_OUT, WorkersOut
from humeval_power.planning.study.systems_goals import Truth
from humeval_power.planning.study.systems_law import counts_by_law
from humeval_power.planning.study.systems_precision import systems_precision
from humeval_power.roots import root_between
from humeval_power.rules import DecisionRule
from humeval_power.simulation.losses import NO_LOSSES, Losses
from humeval_power.study_counts import ExpectedCounts, StudyCounts

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
    found = counts_by_law(truth, precision, planned.family, log2_points=_LOG2_POINTS)
    return with_looks(found.of(planned.goal) / found.n, planned, counts, rule)


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
