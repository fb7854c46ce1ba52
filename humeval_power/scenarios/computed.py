"""Power of a test whose estimate is normal and whose null standard deviation is another than its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from humeval_power.scenarios.contract import Scenario


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
    """Whether the scenario knows its power without simulation; where a formula holds for some scenarios of a
    kind only, they say so by `has_formula`."""
    return hasattr(scenario, "computed") and getattr(scenario, "has_formula", True)


def normal_power(
    difference: float, *, null_sd: float, standard_error: float, alpha: float, method: str
) -> ComputedPower:
    """Power of a test that compares |estimate| with z null_sd, the estimate being normal around the truth.

    Under an alternative the two standard deviations differ: swapping adds the squared mean effect.
    """
    from scipy.special import ndtr, ndtri

    truth, gap = abs(difference), -float(ndtri(alpha / 2)) * null_sd
    if standard_error == 0:
        surely = float(truth > 0 and truth >= gap)
        unknown = math.nan
        type_m, type_s = (1.0, 0.0) if surely else (unknown, unknown)
        return ComputedPower(surely, surely, type_m, type_s, method, exact=False)
    high, low = (truth - gap) / standard_error, (-truth - gap) / standard_error
    right, wrong = float(ndtr(high)), float(ndtr(low))
    density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
    size = truth * (right - wrong) + standard_error * density
    found = right + wrong
    has_errors = truth > 0 and found > 0
    return ComputedPower(
        power=right,
        rejection_rate=found,
        type_m=size / (found * truth) if has_errors else math.nan,
        type_s=wrong / found if has_errors else math.nan,
        method=method,
        exact=False,
    )
