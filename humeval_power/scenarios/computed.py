"""Scenarios whose power is known without simulation: by enumeration, or by a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeGuard

from humeval_power.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class ComputedPower:
    """Power of a scenario as it follows from its probabilities.

    `power` is the probability of a significant effect with the sign of the true one (positive if that is
    zero), `rejection_rate` with either sign; `type_m` the mean of |estimate| / |true effect| and `type_s`
    the share with the wrong sign, both over significant results and NaN without an effect. `method` says
    in words how they were found, `exact` whether that is exact.
    """

    power: float
    rejection_rate: float
    type_m: float
    type_s: float
    method: str
    exact: bool


class Computable(Scenario, Protocol):
    """A scenario that knows its power."""

    def computed(self) -> ComputedPower:
        """Power, Type M and Type S without simulation."""
        ...


def is_computable(scenario: Scenario) -> TypeGuard[Computable]:
    """Whether the scenario knows its power without simulation."""
    return hasattr(scenario, "computed")
