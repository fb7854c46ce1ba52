"""A tested difference of two systems in a sentence: what is shown, and what is still possible."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.saying.numbers import level_of, p_words, without_rounding


def three_digits(value: float) -> str:
    """A number in a sentence; its table has more digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class TestedDifference:
    """A tested difference B - A, to be said in a sentence; `systems` are A and B.

    `verbs` say what B does and did; `more` and `less` follow a number with its
    `unit`, for which `amount` may be said, and `ending` follows A. `claim` is what is
    shown, `hypothesis` what is not where that is no difference of either sign. An interval without two ends is left
    out.
    """

    systems: tuple[str, str]
    estimate: float
    interval: tuple[float, float]
    p_value: float
    shown: bool
    confidence: float
    verbs: tuple[str, str] = ("scores", "scored")
    more: str = "higher"
    less: str = "lower"
    ending: str = ""
    claim: str = "a difference"
    hypothesis: str = ""
    amount: str = ""
    unit: str = ""

    def __str__(self) -> str:
        a, b = self.systems
        p, is_known = p_words(self.p_value), all(map(math.isfinite, self.interval))
        if self.shown:
            reach = (
                f" ({level_of(self.confidence)} interval {self._range(is_short=True)})" if is_known else ""
            )
            amount = self.amount or self._amount(self.estimate)
            return (
                f"{b} {self.verbs[0]} {amount} than {a}{self.ending}{reach}: {self.claim} is shown ({p})."
            )
        nothing = (
            f"It is not shown that {self.hypothesis}"
            if self.hypothesis
            else f"No difference between {b} and {a} is shown"
        )
        amount = self.amount or "the same"
        if without_rounding(self.estimate):
            amount = f"{self.amount or self._amount(self.estimate)}{self.ending}"
        possible = f"; anything from {self._range()} is still possible" if is_known else ""
        return f"{nothing} ({p}): {b} {self.verbs[1]} {amount}{possible}."

    def _amount(self, value: float) -> str:
        return f"{three_digits(abs(value))}{self.unit} {self.more if value > 0 else self.less}"

    def _range(self, *, is_short: bool = False) -> str:
        """'0.01 lower to 0.03 higher', or '0.01 to 0.03 higher', without the last word where it was said before."""
        low, high = map(without_rounding, self.interval)
        if low < 0 < high:
            return f"{self._amount(low)} to {self._amount(high)}"
        near, far = sorted((low, high), key=abs)
        end = f"{three_digits(abs(far))}{self.unit}" if is_short else self._amount(far)
        return f"{three_digits(abs(near))} to {end}"
