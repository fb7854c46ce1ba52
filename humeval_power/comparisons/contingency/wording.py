"""Comparisons by F1, MCC and the like in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording, higher

if TYPE_CHECKING:
    from humeval_power.comparisons.contingency.scenario import ContingencyStudy


def _words(scenario: ContingencyStudy) -> list[str]:
    from humeval_power.comparisons.contingency.scenario import DEFAULT_FLIPS

    flips = "exact p-values" if scenario.is_exact else f"{scenario.n_flips or DEFAULT_FLIPS:,} random swaps"
    return [
        f"{scenario.n_items:,} items of {len(scenario.tables.classes)} classes; the systems agree on "
        f"{100 * scenario.tables.agreement:.1f} %",
        f"{scenario.metric} of A {scenario.value_a:.4f}, of B {scenario.value_b:.4f}",
        f"randomisation test, alpha {scenario.alpha:g}, {flips}",
    ]


def _finding(scenario: ContingencyStudy) -> str:
    effect = scenario.true_effect
    return f"that the {scenario.metric} of B is {abs(effect):.4g} {higher(effect)} than that of A"


WORDING = Wording(
    "contingency",
    _words,
    said=lambda scenario: f"B - A = {scenario.true_effect:.4g} in {scenario.metric}",
    finding=_finding,
    sized="items",
)
