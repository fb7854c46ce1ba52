"""Spending functions: how much of an error probability may be used up by the time a share of the information is in.

A spending function takes the share t of the planned information (0 to 1) and the whole error `level`, and
returns the error spent by t. It does not fall, and spends `level` at t = 1 (Lan and DeMets 1983). For a
two-sided test it is applied to alpha / 2 on each side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scipy import special

from humeval_power.errors import InputError

SpendingFunction = Callable[[float, float], float]


@dataclass(frozen=True, slots=True)
class ObrienFlemingSpending:
    """Lan and DeMets' (1983) function in the manner of O'Brien and Fleming: almost nothing early."""

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: 2 - 2 Phi(z / sqrt t), z the normal quantile with level / 2 above it."""
        return float(2 * special.ndtr(special.ndtri(level / 2) / math.sqrt(t))) if t > 0 else 0.0

    def __str__(self) -> str:
        return "lan-demets-obrien-fleming"


@dataclass(frozen=True, slots=True)
class PocockSpending:
    """Lan and DeMets' (1983) function in the manner of Pocock: much early."""

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level log(1 + (e - 1) t)."""
        return level * math.log1p((math.e - 1) * t)

    def __str__(self) -> str:
        return "lan-demets-pocock"


@dataclass(frozen=True, slots=True)
class HwangShihDeCani:
    """Hwang, Shih and DeCani's (1990) family: near O'Brien-Fleming at -4, near Pocock at 1, linear at 0."""

    gamma: float = -4.0

    def __post_init__(self) -> None:
        if not -40 <= self.gamma <= 40:
            raise InputError(
                f"The parameter of Hwang, Shih and DeCani must lie in -40 to 40; got {self.gamma:g}."
            )

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level (1 - exp(-gamma t)) / (1 - exp(-gamma))."""
        if self.gamma == 0:
            return level * t
        return level * math.expm1(-self.gamma * t) / math.expm1(-self.gamma)

    def __str__(self) -> str:
        return f"hwang-shih-decani:{self.gamma:g}"


@dataclass(frozen=True, slots=True)
class PowerSpending:
    """Kim and DeMets' (1987) family level t^rho."""

    rho: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.rho <= 50:
            raise InputError(f"The power of Kim and DeMets must lie between 0 and 50; got {self.rho:g}.")

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level t^rho."""
        return float(level * t**self.rho)

    def __str__(self) -> str:
        return f"kim-demets:{self.rho:g}"


@dataclass(frozen=True, slots=True)
class TabulatedSpending:
    """Any spending function: shares of the error spent by given shares of the information, joined by
    straight lines from (0, 0) to (1, 1)."""

    times: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        times, shares = (0.0, *self.times), (0.0, *self.shares)
        rising = all(a < b for a, b in pairwise(times))
        never_falling = all(a <= b for a, b in pairwise(shares))
        if (
            len(times) != len(shares)
            or not rising
            or not never_falling
            or (times[-1], shares[-1]) != (1, 1)
        ):
            raise InputError(
                "A table of spending needs increasing shares of information, shares of the error that do not "
                f"fall, and 1 for both at the end; got {list(self.times)} and {list(self.shares)}."
            )

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t, by linear interpolation."""
        left_time, left_share = 0.0, 0.0
        for time, share in zip(self.times, self.shares, strict=True):
            if t <= time:
                return level * (left_share + (share - left_share) * (t - left_time) / (time - left_time))
            left_time, left_share = time, share
        return level

    def __str__(self) -> str:
        pairs = zip(self.times, self.shares, strict=True)
        return "table:" + ",".join(f"{time:g}={share:g}" for time, share in pairs)


def increments(function: SpendingFunction, shares: Sequence[float], level: float) -> list[float]:
    """Error that each look may spend, for shares of information in increasing order; beyond 1 counts as 1.

    Raises
    ------
    InputError
        A function that falls, or spends more than `level`.
    """
    spent = [function(min(share, 1.0), level) for share in shares]
    steps = [after - before for before, after in pairwise([0.0, *spent])]
    if min(steps) < -1e-12 or spent[-1] > level * (1 + 1e-9):
        raise InputError(
            f"A spending function must not fall and must end at {level:g}; it gave "
            f"{', '.join(f'{value:.5g}' for value in spent)}."
        )
    return [max(step, 0.0) for step in steps]
