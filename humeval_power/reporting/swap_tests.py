"""What paired randomisation tests say, whatever is swapped."""

from __future__ import annotations

from humeval_power.reporting.document import Fact
from humeval_power.reporting.numbers import p_words


def verdict(difference: str, p_value: float, alpha: float) -> str:
    """The answer in a sentence: 'B - A = +1.20 BLEU; p = 0.021, significant at 0.05.'"""
    judged = "significant" if p_value <= alpha else "not significant"
    return f"B - A = {difference}; {p_words(p_value)}, {judged} at {alpha:g}."


def swap_facts(swaps: str, interval: tuple[float, float] | None) -> tuple[Fact, ...]:
    """How the p-value was found, and how far one that was drawn can be trusted."""
    test = ("Test", f"paired randomisation, {swaps}")
    if interval is None:
        return (test,)
    low, high = interval
    return test, ("", f"with endless swaps p lies between {low:.4g} and {high:.4g} (95 %)")
