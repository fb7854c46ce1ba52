"""Where a function of one number is zero, by Brent's (1973, ch. 4) method, without importing an optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import SupportsFloat

RELATIVE = 2.0**-50  # tolerance that leaves rounding its room: four times a double's precision
_MOST_STEPS = 100


def root_between(
    function: Callable[[float], SupportsFloat],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = RELATIVE,
) -> float:
    """A zero between two places at which the function has different signs, to within xtol + rtol x its size.

    Secants and inverse quadratics where they shrink the bracket fast enough, else halves: the steps of
    scipy.optimize.brentq, and so its digits.

    Raises
    ------
    ValueError
        The same sign at both ends, or a value that is none.
    RuntimeError
        No zero after a hundred steps.
    """

    def value(x: float) -> float:
        result = float(function(x))
        if math.isnan(result):
            raise ValueError(f"The function has no value at {x!r}.")
        return result

    before, here = float(low), float(high)
    at_before, at_here = value(before), value(here)
    if at_before == 0:
        return before
    if at_here == 0:
        return here
    if (at_before < 0) == (at_here < 0):
        raise ValueError(f"The function has the same sign at {low!r} and at {high!r}.")
    for _ in range(_MOST_STEPS):
        if (at_before < 0) != (at_here < 0):  # as at first
            other, at_other = before, at_before  # the end of the bracket with the sign that `here` has not
            last_step = step = here - before
        if abs(at_other) < abs(at_here):
            before, here, other = here, other, here
            at_before, at_here, at_other = at_here, at_other, at_here
        close = (xtol + rtol * abs(here)) / 2
        half = (other - here) / 2
        if at_here == 0 or abs(half) < close:
            return here
        proposed = math.inf
        if abs(last_step) > close and abs(at_here) < abs(at_before):
            if before == other:
                proposed = -at_here * (here - before) / (at_here - at_before)
            else:
                slope = (at_before - at_here) / (before - here)
                other_slope = (at_other - at_here) / (other - here)
                bend = other_slope * slope * (at_other - at_before)
                if bend != 0:
                    proposed = -at_here * (at_other * other_slope - at_before * slope) / bend
        if 2 * abs(proposed) < min(abs(last_step), 3 * abs(half) - close):
            last_step, step = step, proposed
        else:
            last_step = step = half
        before, at_before = here, at_here
        here += step if abs(step) > close else math.copysign(close, half)
        at_here = value(here)
    raise RuntimeError(f"No zero was found between {low!r} and {high!r} in {_MOST_STEPS} steps.")
