"""Detectable improvements as Card et al. (2020), Table 9, computed them, column by column."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.planning.accuracy.detectable import detectable_accuracy
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


@dataclass(frozen=True, slots=True)
class PublishedColumns:
    """The smallest improvements with power 0.8 at level 0.05, as shares; NaN where there is none.

    `binomial` for unpaired samples, `lachenbruch` with its bounds, `regression` with the agreement that a
    regression predicts. `regression_is_possible` says whether the accuracy of the baseline leaves room
    for the last: their computation does not ask.
    """

    binomial: float
    lachenbruch: float
    lachenbruch_lower: float
    lachenbruch_upper: float
    regression: float
    regression_is_possible: bool


def published_columns(
    n_items: int, *, baseline: float, agreement: Agreement, test: PairedTest = RECOMMENDED
) -> PublishedColumns:
    """Compute the columns for a test set.

    What the paper calls the exact unconditional test (Suissa & Shuster) in the regression column has, to
    the last digit shown, the power of the mid-p test: the two-sided rule of the function it used adds one
    point of the tail without its mirror image.
    """
    middle, least, most = (
        lachenbruch_effect(AssumedAgreement(assumed), n_items=n_items, baseline=baseline)
        for assumed in ("middle", "least", "most")
    )
    free = PairedAccuracy(
        n_items, difference=0.0, agreement=_WithoutBaseline(agreement, baseline), baseline=None, test=test
    )
    found = detectable_accuracy(free).effect
    limit = min(largest_difference(agreement, baseline=baseline), 1 - baseline)
    return PublishedColumns(
        binomial=unpaired_effect(n_items=n_items, baseline=baseline),
        lachenbruch=middle,
        lachenbruch_lower=most,
        lachenbruch_upper=least,
        regression=found,
        regression_is_possible=not math.isnan(found) and found <= limit,
    )
