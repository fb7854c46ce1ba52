"""Detectable improvements as Card et al. (2020), Table 9, computed them, column by column."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.errors import InputError
from humeval_power.planning.accuracy.detectable import PRIORS, DetectableAccuracy, detectable_accuracy
from humeval_power.planning.accuracy.formulas import lachenbruch_effect, unpaired_effect
from humeval_power.scenarios.accuracy.agreement import Agreement, AssumedAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy, largest_difference


@dataclass(frozen=True, slots=True)
class _WithoutBaseline:
    """An agreement predicted from a baseline that then sets no limit to who is right on what."""

    agreement: Agreement
    baseline: float

    @property
    def label(self) -> str:
        """In words."""
        return self.agreement.label

    @property
    def needs_baseline(self) -> bool:
        """It has it."""
        return False

    def disagreement(self, baseline: float, difference: float) -> float:  # noqa: ARG002
        """As predicted from the baseline held."""
        return self.agreement.disagreement(self.baseline, difference)


def published_by_prior(
    n_items: int,
    *,
    baseline: float,
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> dict[str, DetectableAccuracy]:
    """The smallest improvements in their columns, by how the agreement is guessed; NaN where there is none.

    'unpaired' is their binomial, 'middle' Lachenbruch's with 'most' as its lower and 'least' as its upper end,
    'glue' and 'squad' the regression. Their computation does not ask whether the accuracies leave room for an
    improvement: `largest` is what they do, and the power there is not computed.

    What the paper calls the exact unconditional test (Suissa & Shuster) in the regression column has, to
    the last digit shown, the power of the mid-p test: the two-sided rule of the function it used adds one
    point of the tail without its mirror image.
    """
    if not alpha < power < 1:
        raise InputError(f"A target power must lie between alpha and 1; got {power:g}.")

    def regression(agreement: Agreement, limit: float) -> float:
        if limit <= 0:  # fewer than no items would differ
            return math.nan
        free = _WithoutBaseline(agreement, baseline)
        scenario = PairedAccuracy(
            n_items, difference=0.0, agreement=free, baseline=None, test=test, alpha=alpha
        )
        return detectable_accuracy(scenario, power=power).effect

    def lachenbruch(agreement: AssumedAgreement) -> float:
        return lachenbruch_effect(agreement, n_items=n_items, baseline=baseline, power=power, alpha=alpha)

    unpaired = unpaired_effect(n_items=n_items, baseline=baseline, power=power, alpha=alpha)
    found = {"unpaired": DetectableAccuracy(unpaired, 1 - baseline, math.nan)}
    for name, agreement in PRIORS.items():
        limit = min(largest_difference(agreement, baseline=baseline), 1 - baseline)
        effect = (
            lachenbruch(agreement)
            if isinstance(agreement, AssumedAgreement)
            else regression(agreement, limit)
        )
        found[name] = DetectableAccuracy(effect, limit, math.nan)
    return found
