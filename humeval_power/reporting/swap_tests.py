"""What paired randomisation tests say, whatever is swapped."""

from __future__ import annotations

from humeval_power.reporting.document import Fact


def swap_facts(swaps: str, interval: tuple[float, float] | None) -> tuple[Fact, ...]:
    """How the p-value was found, and how far one that was drawn can be trusted."""
    test = ("Test", f"paired randomisation, {swaps}")
    if interval is None:
        return (test,)
    low, high = interval
    return test, ("", f"with endless swaps p lies between {low:.4g} and {high:.4g} (95 %)")
