"""A planned study of several systems: what is assumed of them, who rates what, and what counts as success."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

from humeval_power.comparisons import DEFAULT_FAMILY, ComparisonFamily
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, Progress
from humeval_power.planning.study.systems_goals import LOG2_POINTS, SystemsPower
from humeval_power.planning.workload import Workload
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.losses import NO_LOSSES, Exclusion, Losses
from humeval_power.simulation.quality_control import QualityControl, own_rows
from humeval_power.simulation.study import Response
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.inference.study.systems_replication import SystemsReplication


@dataclass(frozen=True, eq=False)
class SystemsStudy:
    """Systems with what is assumed of them, a design, and how the study decides.

    `family` are the tests made together, their model and correction; `goal` what its power counts; `setting` the
    name of what is assumed; `losses` and `exclusion` what happens to its ratings, which no formula knows.
    """

    parameters: SystemsParameters
    design: Design
    _: KW_ONLY
    family: ComparisonFamily = DEFAULT_FAMILY
    rule: DecisionRule = DEFAULT_RULE
    goal: Goal = "pair"
    response: Response = "gaussian"
    points: int | None = None
    setting: str = ""
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"

    @property
    def has_formula(self) -> bool:
        """Whether a formula describes the study."""
        from humeval_power.planning.study.systems_power import has_formula

        return self.response == "gaussian" and has_formula(self.family, self.rule)

    @property
    def effect(self) -> float:
        """The difference by which the true means are stated."""
        return self.parameters.stated_effect

    @property
    def true_effect(self) -> float:
        """The same, by the name that it has in a study of two."""
        return self.effect

    def with_effect(self, effect: float) -> SystemsStudy:
        """The same study with all true differences in proportion, so that the stated one is `effect`.

        Raises
        ------
        InputError
            Means that are all equal: there is nothing to stretch.
        """
        means, stated = self.parameters.means, self.effect
        if stated == 0:
            raise InputError("These means are all equal: give a pattern and an effect, or other means.")
        centre = math.fsum(means) / len(means)
        moved = tuple(centre + (mean - centre) * effect / stated for mean in means)
        return replace(self, parameters=replace(self.parameters, means=moved, effect=effect))

    def by_formula(self, *, log2_points: int = LOG2_POINTS) -> SystemsPower:
        """The power of every goal, where `has_formula`; of fewer points for curves."""
        from humeval_power.planning.study.systems_power import systems_formula

        return systems_formula(
            self.parameters, self.design, self.family, self.rule, self.goal, log2_points=log2_points
        )

    def simulated(
        self,
        *,
        n_simulations: int = DEFAULT_SIMULATIONS,
        precision: float | None = None,
        seed: int = DEFAULT_SEED,
        n_jobs: int = 1,
        progress: Progress | None = None,
    ) -> SystemsPower:
        """The same by simulation, with the real assignment."""
        from humeval_power.planning.study.systems_simulation import simulate_systems

        return simulate_systems(
            self.parameters,
            self.design,
            self.family,
            self.rule,
            goal=self.goal,
            n_simulations=n_simulations,
            precision=precision,
            seed=seed,
            n_jobs=n_jobs,
            response=self.response,
            points=self.points,
            losses=self.losses,
            exclusion=self.exclusion,
            progress=progress,
        )

    @property
    def replication(self) -> SystemsReplication:
        """How the studies are simulated and fitted, of the comparisons of the family."""
        from humeval_power.inference.study.systems_replication import SystemsReplication
        from humeval_power.planning.study.systems_precision import system_pairs

        return SystemsReplication(
            self.parameters,
            self.design,
            self.family,
            system_pairs(self.parameters, self.family),
            self.rule,
            self.response,
            self.points,
            self.losses,
            self.exclusion,
        )

    def workload(self, *, n_simulations: int, n_jobs: int = 1) -> Workload:
        """How long simulated studies take, about."""
        from humeval_power.planning.study.systems_workload import systems_workload

        return systems_workload(
            self.parameters,
            self.design,
            self.family,
            self.rule,
            n_simulations=n_simulations,
            n_jobs=n_jobs,
            one_by_one=own_rows(self.losses, self.exclusion),
        )
