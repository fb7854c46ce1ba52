"""What a true effect can be, by what is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from humeval_power.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class EffectRange:
    """What a true effect can be, `rule` says why, and `remedy` what was perhaps meant."""

    low: float
    high: float
    rule: str
    remedy: str = ""

    def check(self, effects: Iterable[float], *, name: str = "--effect") -> None:
        """Refuse every effect that cannot exist, by the name of its option."""
        problems = []
        for effect in effects:
            if not math.isfinite(effect):
                problems.append(Problem("must be a finite number.", "", name, value=effect, has_value=True))
            elif not self.low <= effect <= self.high:
                problems.append(Problem(self.rule, self.remedy, name, value=effect, has_value=True))
        if problems:
            raise InputError(problems)


def any_number(_given: Any) -> EffectRange:
    """The range of an effect whose units only the user knows."""
    return EffectRange(-math.inf, math.inf, "")


PREFERENCES = EffectRange(
    -0.5,
    0.5,
    "the share that prefers B, minus 1/2, lies between -0.5 and 0.5.",
    "If 65 % prefer B the effect is 0.15.",
)
ACCURACIES = EffectRange(
    -1.0,
    1.0,
    "accuracies are shares, so that their difference lies between -1 and 1.",
    "Points of a hundred are hundredths: 2 points are 0.02.",
)


def score_range(mean: float, low: float, high: float) -> EffectRange:
    """Where the difference of mean scores can lie if A's mean is `mean` on a scale."""
    return EffectRange(
        low - mean,
        high - mean,
        f"the mean of B must lie inside the scale too: with a mean of A of {mean:g} on {low:g} to {high:g} the "
        f"difference B - A lies between {low - mean:g} and {high - mean:g} points.",
        "The effect is in points of the scale.",
    )
