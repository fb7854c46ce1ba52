"""Comparisons of scores before there are any, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.comparisons.scores.scenario import NormalScores


def _words(scenario: NormalScores) -> list[str]:
    test = "paired t test" if scenario.test == "t" else "Wilcoxon signed-rank test"
    return [
        f"{scenario.n:,} items, differences with SD {scenario.sd:g}",
        f"{test}, {scenario.alternative}, alpha {scenario.alpha:g}",
    ]


WORDING = Wording("compare", _words, verb="scores", ending=" on average", sized="items")
