"""Reasons to stop because significance has become unlikely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.looks.spending import ObrienFlemingSpending, SpendingFunction

Future = Literal["design", "trend", "null"]


@dataclass(frozen=True, slots=True)
class PValueFutility:
    """Stop at a look, but the last, if p is above a limit: Wei, Kocmi and Federmann's (2022) rule is 0.5.

    Not binding unless `binding`: the boundaries of success are computed as if nobody stopped for futility,
    so that ignoring the rule does no harm.
    """

    above: float = 0.5
    binding: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.above < 1:
            raise InputError(f"The p-value of futility must lie between 0 and 1; got {self.above:g}.")

    def __str__(self) -> str:
        return f"p:{self.above:g}{':binding' if self.binding else ''}"


@dataclass(frozen=True, slots=True)
class ConditionalPowerFutility:
    """Stop if the chance of significance at the last look has fallen below a limit.

    The future effect is the one planned for ('design'), the one seen so far ('trend') or none ('null');
    the chance is that of passing the last boundary, and ignores looks between. Never binding.
    """

    below: float = 0.2
    under: Future = "design"

    def __post_init__(self) -> None:
        if not 0 < self.below < 1:
            raise InputError(f"A limit of conditional power must lie between 0 and 1; got {self.below:g}.")

    @property
    def binding(self) -> bool:
        """Never."""
        return False

    def __str__(self) -> str:
        return f"conditional-power:{self.below:g}:{self.under}"


@dataclass(frozen=True, slots=True)
class BetaSpendingFutility:
    """Spend the chance of missing the planned effect, `beta`, over the looks.

    The looks then fix the drift (planned effect over its standard error at the last look) at which the
    power is 1 - beta: the largest information has to be made large enough for it.
    """

    beta: float = 0.2
    function: SpendingFunction = ObrienFlemingSpending()  # noqa: RUF009  a frozen value
    binding: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.beta < 1:
            raise InputError(f"beta must lie between 0 and 1; got {self.beta:g}.")

    def __str__(self) -> str:
        return f"beta:{self.beta:g}:{self.function}{':binding' if self.binding else ''}"


Futility = PValueFutility | ConditionalPowerFutility | BetaSpendingFutility


def conditional_power(
    z: float, share: float, *, critical: float, under: Future = "design", drift: float = 0.0
) -> float:
    """Probability of Z >= `critical` at full information, given Z = `z` at a share of it below 1.

    drift : planned effect over its standard error at full information; used under 'design' alone
    Source: the B-values of Lan and Wittes (1988).
    """
    future = {"design": drift, "trend": z / math.sqrt(share), "null": 0.0}[under]
    reach = z * math.sqrt(share) + future * (1 - share) - critical
    return float(special.ndtr(reach / math.sqrt(1 - share)))


def conditional_power_bound(
    share: float, *, below: float, critical: float, under: Future = "design", drift: float = 0.0
) -> float:
    """The z at which the conditional power is `below`: a smaller one means futility."""
    reach = critical + float(special.ndtri(below)) * math.sqrt(1 - share)
    if under == "trend":
        return reach * math.sqrt(share)
    future = drift if under == "design" else 0.0
    return (reach - future * (1 - share)) / math.sqrt(share)
