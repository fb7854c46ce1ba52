"""Comparisons of accuracy in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.comparisons.accuracy.agreement import AssumedAgreement, KnownAgreement
from humeval_power.studies.power.wording import Wording, accuracy_words, right_on

if TYPE_CHECKING:
    from humeval_power.comparisons.accuracy.counts import UnpairedAccuracy
    from humeval_power.comparisons.accuracy.paired import PairedAccuracy


def _words(scenario: PairedAccuracy | UnpairedAccuracy) -> list[str]:
    """What is compared, for people."""
    from humeval_power.comparisons.accuracy.counts import UnpairedAccuracy

    if isinstance(scenario, UnpairedAccuracy):
        return [
            f"{scenario.n_items:,} items for each system, other ones for B than for A",
            f"test of two proportions, two-sided, alpha {scenario.alpha:g}",
            f"accuracy of A {scenario.baseline:.4g}, of B {scenario.other:.4g}",
        ]
    lines = [
        f"{scenario.n_items:,} items, answered by both systems",
        f"McNemar's test ({scenario.test}), two-sided, alpha {scenario.alpha:g}",
        f"agreement {1 - scenario.disagreement:.4g}: {scenario.agreement.label}",
        f"B alone right on {100 * scenario.only_b:.4g} % of the items, A alone on "
        f"{100 * max(scenario.only_a, 0.0):.4g} %",
    ]
    if not isinstance(scenario.agreement, KnownAgreement) and scenario.difference:
        least, most = (
            replace(scenario, agreement=AssumedAgreement(assumed)).computed().power
            for assumed in ("least", "most")
        )
        lines.append(f"power {least:.3f} at the least possible agreement, {most:.3f} at the most")
    return lines


WORDING = Wording(
    "accuracy",
    _words,
    said=lambda scenario: accuracy_words(scenario.true_effect),
    finding=lambda scenario: right_on(scenario.true_effect),
    sized=lambda scenario: "items" if hasattr(scenario, "agreement") else "items for each system",
)
