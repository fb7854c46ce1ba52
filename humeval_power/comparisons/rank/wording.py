"""Two neighbours on a leaderboard, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.comparisons.rank.scenario import NeighbourBattles, NeighbourScores


def _words(scenario: NeighbourBattles | NeighbourScores) -> list[str]:
    """What is asked, for people."""
    from humeval_power.comparisons.rank.scenario import NeighbourScores

    if isinstance(scenario, NeighbourScores):
        return [
            f"{scenario.n:,} items that all {scenario.n_systems} systems answer; differences of an item have SD "
            f"{scenario.sd:.4g}",
            f"t test of the neighbours at alpha {scenario.alpha:.3g}: what all pairs at once leave for each",
        ]
    n_pairs = math.comb(scenario.n_systems, 2)
    lines = [
        f"{scenario.n_battles:,} battles of {scenario.n_systems} systems, {scenario.n_battles / n_pairs:.4g} "
        f"for each of {n_pairs:,} pairs, in both orders",
        f"{100 * scenario.tie_share:.4g} % ties of systems as strong; the other systems are between the two",
        f"all pairs at once, alpha {scenario.alpha:g}: |z| above {scenario.critical:.3f}",
    ]
    if scenario.design_effect != 1:
        lines.append(
            f"design effect {scenario.design_effect:.4g}: worth "
            f"{scenario.n_battles / scenario.design_effect:,.0f} independent battles"
        )
    return lines


def _said(scenario: NeighbourBattles | NeighbourScores) -> str:
    effect = scenario.true_effect
    if _is_scored(scenario):
        return f"neighbours differ by {effect:.4g} in the metric's units"
    return f"{effect:.4g}, that is {100 * (0.5 + effect):.4g} % prefer the better neighbour, ties half"


def _finding(scenario: NeighbourBattles | NeighbourScores) -> str:
    effect = abs(scenario.true_effect)
    differ = f"{100 * (0.5 + effect):.4g} % prefer it (ties counted half)"
    if _is_scored(scenario):
        differ = f"their mean scores differ by {effect:.4g}"
    return f"which of two neighbours is better if {differ}"


def _is_scored(scenario: NeighbourBattles | NeighbourScores) -> bool:
    from humeval_power.comparisons.rank.scenario import NeighbourScores

    return isinstance(scenario, NeighbourScores)


WORDING = Wording(
    "rank",
    _words,
    said=_said,
    finding=_finding,
    sized=lambda scenario: "items" if _is_scored(scenario) else "battles",
)
