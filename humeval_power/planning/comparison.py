"""Do the formula and the simulation agree?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from humeval_power.planning.analytic import AnalyticPower
    from humeval_power.planning.power import PowerEstimate

Method = Literal["analytic", "simulate", "both"]
TOLERANCE = 0.02  # what the t law may be off beyond Monte Carlo error before it is called out


def disagree(analytic: AnalyticPower, simulated: PowerEstimate) -> bool:
    """Whether the two powers differ by more than Monte Carlo error and 0.02."""
    low, high = simulated.interval
    return not low - TOLERANCE <= analytic.power <= high + TOLERANCE
