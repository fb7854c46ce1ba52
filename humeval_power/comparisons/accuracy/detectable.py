"""The smallest improvement of accuracy that a test set can show, and the bounds of it without a prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import special

from humeval_power.choices import RECOMMENDED, PairedTest, Prior
from humeval_power.comparisons.accuracy.agreement import OVERLAP, AgreementSource, AssumedAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy, largest_difference
from humeval_power.comparisons.accuracy.unpaired import UnpairedAccuracy
from humeval_power.errors import InputError
from humeval_power.roots import root_between

_GRID = 32  # larger effects that must be found too


@dataclass(frozen=True, slots=True)
class DetectableAccuracy:
    """The smallest improvement found with the target power, NaN where no possible one is.

    `largest` is the largest possible improvement and `best_power` the power at that.
    """

    effect: float
    largest: float
    best_power: float

    @property
    def is_possible(self) -> bool:
        """Whether some possible improvement is found with the target power."""
        return not math.isnan(self.effect)


def detectable_accuracy(
    scenario: PairedAccuracy | UnpairedAccuracy, *, power: float = 0.8
) -> DetectableAccuracy:
    """Smallest improvement with the target power; every larger one on a grid has it too.

    The power of a test set of a given size is smooth in the improvement, so that few evaluations are
    enough; the saw-tooth of exact tests shows when the size changes.
    """
    if not scenario.alpha < power < 1:
        raise InputError(f"A target power must lie between alpha and 1; got {power:g}.")
    if isinstance(scenario, PairedAccuracy):
        largest = largest_difference(scenario.agreement, baseline=scenario.baseline)
    else:
        largest = 1 - scenario.baseline

    def lacking(effect: float) -> float:
        return power - replace(scenario, difference=effect).computed().power

    if largest <= 0:
        return DetectableAccuracy(math.nan, 0.0, math.nan)
    missing = lacking(largest)
    if missing > 0:
        return DetectableAccuracy(math.nan, largest, power - missing)
    grid = largest * np.linspace(0.0, 1.0, _GRID + 1)[1:] ** 2  # denser where small effects are
    last = next((place for place in reversed(range(_GRID)) if lacking(float(grid[place])) > 0), -1)
    low, high = float(grid[last]) if last >= 0 else largest * 1e-9, float(grid[last + 1])
    solution = high if lacking(low) <= 0 else root_between(lacking, low, high, xtol=1e-9)
    return DetectableAccuracy(solution, largest, power - missing)


PRIORS: Mapping[Prior, AgreementSource] = {
    "glue": OVERLAP["glue"],
    "squad": OVERLAP["squad"],
    "middle": AssumedAgreement("middle"),
    "least": AssumedAgreement("least"),
    "most": AssumedAgreement("most"),
}


def detectable_by_prior(
    n_items: int,
    *,
    baseline: float,
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> dict[Prior, DetectableAccuracy]:
    """The smallest improvement under each way of guessing how often the systems do alike: 'least' and
    'most' agreement are the bounds."""
    detectable: dict[Prior, DetectableAccuracy] = {}
    for name, agreement in PRIORS.items():
        if largest_difference(agreement, baseline=baseline) <= 0:
            detectable[name] = DetectableAccuracy(math.nan, 0.0, math.nan)
            continue
        scenario = PairedAccuracy(
            n_items, difference=0.0, agreement=agreement, baseline=baseline, test=test, alpha=alpha
        )
        detectable[name] = detectable_accuracy(scenario, power=power)
    return detectable


# Sizes and effects of accuracy comparisons by normal approximation, as the literature has them.

_SMALLEST = 1e-12


def lachenbruch_items(
    agreement: AssumedAgreement,
    *,
    baseline: float,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """Items needed without a prior on the agreement, not rounded (Lachenbruch 1992).

    n = (z_a + z_b)^2 / (4 (1/2 - s)^2 d): d is the share of discordant items that the accuracies allow at
    most, at least or half-way between, and s the part of them that A alone gets right.
    """
    if difference == 0:
        return math.inf
    moved = agreement.disagreement(baseline, difference)
    share = (moved - difference) / (2 * moved)
    if not 0 < alpha < power < 1:
        raise InputError(f"alpha and power must lie in order between 0 and 1; got {alpha:g} and {power:g}.")
    z_alpha, z_beta = -float(special.ndtri(alpha / 2)), float(special.ndtri(power))
    return (z_alpha + z_beta) ** 2 / (4 * (0.5 - share) ** 2 * moved)


def lachenbruch_effect(
    agreement: AssumedAgreement, *, n_items: int, baseline: float, power: float = 0.8, alpha: float = 0.05
) -> float:
    """The improvement for which `lachenbruch_items` gives `n_items`; NaN where none below 100 % does."""
    room = 1.0 - baseline

    def excess(difference: float) -> float:
        needed = lachenbruch_items(
            agreement, baseline=baseline, difference=difference, power=power, alpha=alpha
        )
        return math.log(needed / n_items)

    return _root(excess, room)


def unpaired_effect(*, n_items: int, baseline: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The improvement that two samples of `n_items` find by the normal approximation of two proportions;
    NaN where none below 100 % is found."""

    def lacking(difference: float) -> float:
        return (
            power
            - UnpairedAccuracy(n_items, difference, baseline=baseline, alpha=alpha).approximated().power
        )

    return _root(lacking, 1.0 - baseline)


def _root(lacking_at: Callable[[float], float], room: float) -> float:
    """Where a decreasing function of the improvement passes 0; NaN if it does not within the room."""
    if room <= 2 * _SMALLEST or lacking_at(room - _SMALLEST) > 0:
        return math.nan
    return root_between(lacking_at, _SMALLEST, room - _SMALLEST, xtol=1e-12)


# Detectable improvements as Card et al. (2020), Table 9, computed them, column by column.


@dataclass(frozen=True, slots=True)
class _WithoutBaseline:
    """An agreement predicted from a baseline that then sets no limit to who is right on what."""

    agreement: AgreementSource
    baseline: float
    needs_baseline: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """In words."""
        return self.agreement.label

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

    def regression(agreement: AgreementSource, limit: float) -> float:
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
    effects = {"unpaired": DetectableAccuracy(unpaired, 1 - baseline, math.nan)}
    for name, agreement in PRIORS.items():
        limit = min(largest_difference(agreement, baseline=baseline), 1 - baseline)
        effect = (
            lachenbruch(agreement)
            if isinstance(agreement, AssumedAgreement)
            else regression(agreement, limit)
        )
        effects[name] = DetectableAccuracy(effect, limit, math.nan)
    return effects
