"""Comparisons by a corpus metric in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.reporting.questions.wording import Wording, higher, points

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario


def _words(scenario: Scenario) -> list[str]:
    from humeval_power.scenarios.corpus import CorpusStudy

    assert isinstance(scenario, CorpusStudy)
    flips = f"{scenario.n_flips:,} random flips" if scenario.test == "flips" else "normal distribution"
    return [
        f"{scenario.n_sentences:,} sentences, P0 = {scenario.zero_share:g}, b0 = {scenario.scale:g}",
        f"randomisation test ({flips}), alpha {scenario.alpha:g}; "
        f"SD of the difference {scenario.standard_error:.3g}",
    ]


def _said(scenario: Scenario) -> str:
    return f"B - A = {points(scenario.true_effect)} of the metric"


WORDING = Wording(
    "corpus",
    _words,
    "points",
    _said,
    finding=lambda scenario: (
        f"that B scores {points(abs(scenario.true_effect))} {higher(scenario.true_effect)} than A"
    ),
    sized=lambda _: "sentences",
)
