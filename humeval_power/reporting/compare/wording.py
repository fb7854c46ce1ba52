"""Comparisons of scores before there are any, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.reporting.questions.wording import Wording, higher

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario


def _words(scenario: Scenario) -> list[str]:
    from humeval_power.scenarios.compare.scores import NormalScores

    assert isinstance(scenario, NormalScores)
    test = "paired t test" if scenario.test == "t" else "Wilcoxon signed-rank test"
    return [
        f"{scenario.n:,} items, differences with SD {scenario.sd:g}",
        f"{test}, {scenario.direction}, alpha {scenario.alpha:g}",
    ]


WORDING = Wording(
    "compare",
    _words,
    finding=lambda scenario: (
        f"that B scores {abs(scenario.true_effect):.4g} {higher(scenario.true_effect)} than A on average"
    ),
    sized=lambda _: "items",
)
