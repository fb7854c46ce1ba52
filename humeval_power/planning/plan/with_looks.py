"""Designs with looks: their power by formula and by simulation, and what they are expected to take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from humeval_power.costs import CostModel
from humeval_power.parameters import Parameters
from humeval_power.planning.power import PowerEstimate, estimate_power
from humeval_power.planning.study.designs_of import design_of
from humeval_power.rules import DecisionRule
from humeval_power.study_counts import StudyCounts

if TYPE_CHECKING:
    from humeval_power.designs import Design
    from humeval_power.planning.looks.how_many import LooksChoice
    from humeval_power.planning.looks.rating_looks import LookPlan
    from humeval_power.planning.looks.schedule import LookSchedule
    from humeval_power.planning.looks.systems_looks import SystemsLookPlan
    from humeval_power.planning.plan.plan import LookExpectation
    from humeval_power.planning.plan.planned_systems import PlannedSystems
    from humeval_power.planning.study.systems_goals import SystemsPower
    from humeval_power.scenarios.looks.looks import Looks
    from humeval_power.scenarios.looks.ratings import RatingLooks


@dataclass(frozen=True, eq=False)
class SequentialOption:
    """A design with its looks: simulated power of the whole procedure, and what it is expected to take."""

    plan: LookPlan | SystemsLookPlan
    simulated: PowerEstimate | SystemsPower
    expected: LookExpectation
    choices: tuple[LooksChoice, ...]

    def calibrated(self, wish: LookSchedule) -> LookSchedule:
        """The looks as a plan holds them, with the factor that calibration found."""
        found = self.plan.calibration
        return wish if found is None else replace(wish, factor=found.used)


def prove_systems(
    planned: PlannedSystems,
    design: Design,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> SequentialOption:
    """The same for several systems, every comparison refitted at every look."""
    from humeval_power.planning.looks.systems_looks import hardest_place, plan_systems_looks
    from humeval_power.planning.plan.plan import LookExpectation
    from humeval_power.scenarios.looks.systems import SystemsLooks

    study = SystemsLooks(planned.parameters, design, wish.looks, planned.family, rule)
    found = plan_systems_looks(
        study, wish.rule(rule), place=hardest_place(study), cost=costs, seed=seed, n_jobs=n_jobs
    )
    effect = planned.parameters.stated_effect
    with_effect, without = found.at(
        [effect, 0.0], goal=planned.goal, n_simulations=n_simulations, n_jobs=n_jobs
    )
    return SequentialOption(
        plan=found,
        simulated=with_effect.found,
        expected=LookExpectation(
            ratings_if_effect=with_effect.expected_size,
            ratings_if_none=without.expected_size,
            cost_if_effect=with_effect.expected_cost,
            cost_if_none=without.expected_cost,
        ),
        choices=(),
    )


def rating_looks(
    parameters: Parameters, counts: StudyCounts, looks: Looks, rule: DecisionRule
) -> RatingLooks:
    """The study of these counts as it grows."""
    from humeval_power.scenarios.looks.ratings import RatingLooks

    return RatingLooks(parameters, design_of(counts), looks, rule)


def formula_power(
    parameters: Parameters, counts: StudyCounts, wish: LookSchedule, rule: DecisionRule
) -> float:
    """Power with looks by formula: what few workers cost from the t test, what looks cost from z's."""
    from humeval_power.inference.looks.boundaries import boundaries
    from humeval_power.inference.study.formula import power_at
    from humeval_power.planning.looks.rating_looks import look_rows
    from humeval_power.planning.looks.schedule import power_with_looks

    study = rating_looks(parameters, counts, wish.looks, rule)
    rows = look_rows(study)
    drift = abs(study.true_effect) / rows[-1].precision.standard_error
    bounds = boundaries(wish.rule(rule), [row.information_share for row in rows], drift=drift)
    fixed = power_at(study.true_effect, rows[-1].precision, rule=rule).power
    return power_with_looks(fixed, bounds)


def prove(
    parameters: Parameters,
    counts: StudyCounts,
    wish: LookSchedule,
    rule: DecisionRule,
    *,
    costs: CostModel | None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> SequentialOption:
    """Simulate the whole procedure, refitted at every look, with the effect and without."""
    from humeval_power.planning.looks.how_many import compare_numbers_of_looks
    from humeval_power.planning.looks.rating_looks import plan_looks
    from humeval_power.planning.plan.plan import LookExpectation
    from humeval_power.scenarios.looks.replicates import SequentialStudy

    study = rating_looks(parameters, counts, wish.looks, rule)
    found = plan_looks(study, wish.rule(rule), cost=costs, seed=seed, n_jobs=n_jobs)
    simulated = estimate_power(
        SequentialStudy(study, found.bounds), n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
    )
    with_effect, without = found.at([study.true_effect, 0.0], n_jobs=n_jobs)
    return SequentialOption(
        plan=found,
        simulated=simulated,
        expected=LookExpectation(
            ratings_if_effect=with_effect.expected_size,
            ratings_if_none=without.expected_size,
            cost_if_effect=with_effect.expected_cost,
            cost_if_none=without.expected_cost,
        ),
        choices=tuple(compare_numbers_of_looks(study, wish.rule(rule))),
    )
