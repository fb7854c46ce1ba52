"""Power of equivalence and non-inferiority where the systems differ by half of the margin.

Power at a true difference of 0 is optimistic: systems are seldom exactly alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.planning.analytic import EffectPrecision, power_at
from humeval_power.planning.power import PowerEstimate
from humeval_power.rules import DecisionRule


@dataclass(frozen=True, slots=True)
class HalfwayPower:
    """Power at the true difference `effect`, halfway to the margin; None where it was not computed that
    way."""

    effect: float
    analytic: float | None
    power: float | None = None
    interval: tuple[float, float] | None = None


def halfway_power(
    rule: DecisionRule, *, precision: EffectPrecision | None, simulated: PowerEstimate | None = None
) -> HalfwayPower | None:
    """Power halfway to the margin of a rule; None for a rule without a margin.

    precision : of the design, for the formula; simulated : studies with that true difference.
    """
    effect = rule.halfway
    if effect is None:
        return None
    return HalfwayPower(
        effect=effect,
        analytic=None if precision is None else power_at(effect, precision, rule=rule).power,
        power=None if simulated is None else simulated.power,
        interval=None if simulated is None else simulated.interval,
    )
