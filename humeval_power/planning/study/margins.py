"""Power to show equivalence by two one-sided tests, and the smallest margin that can be shown."""

from __future__ import annotations

from humeval_power.inference.equivalence_power import equivalence_power
from humeval_power.roots import root_between


def smallest_equivalence_margin(
    effect: float, standard_error: float, df: float, *, critical: float, power: float
) -> float:
    """Smallest margin within which a study shows equivalence with probability `power` where the true
    difference is `effect`; arguments as in `equivalence_power`."""

    def shortfall(margin: float) -> float:
        found = equivalence_power(effect, standard_error, df, margin=margin, critical=critical)
        return float(found) - power

    least = abs(effect)
    most = least + 4 * critical * standard_error
    while shortfall(most) < 0:
        most = least + 2 * (most - least)
    return root_between(shortfall, least, most, xtol=1e-12)
