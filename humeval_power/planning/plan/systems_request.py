"""What a plan of several systems, or of several criteria, is asked to find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humeval_power.comparisons import ComparisonFamily
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.planning.looks.schedule import LookSchedule
    from humeval_power.planning.plan.planned_systems import PlannedSystems


@dataclass(frozen=True, slots=True)
class SystemsRequest:
    """Several systems, or several criteria, that are planned for together.

    settings : what is assumed of them, by the names of the other assumptions, with the means assumed.
    family, goal, criteria, looks : as of `PlannedSystems`.
    """

    settings: Mapping[str, SystemsParameters]
    family: ComparisonFamily
    goal: Goal
    criteria: tuple[str, ...] = ()
    looks: LookSchedule | None = None

    @property
    def n_systems(self) -> int:
        """How many systems are compared."""
        return len(next(iter(self.settings.values())).names)

    def planned(self, name: str) -> PlannedSystems:
        """What a plan for the setting of a name decides."""
        from humeval_power.planning.plan.planned_systems import PlannedSystems

        others = tuple((one, values) for one, values in self.settings.items() if one != name)
        return PlannedSystems(
            self.settings[name], self.family, self.goal, self.criteria, others=others, looks=self.looks
        )
