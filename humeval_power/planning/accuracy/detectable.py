"""The smallest improvement of accuracy that a test set can show, and the bounds of it without a prior."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.choices import RECOMMENDED, PairedTest, Prior
from humeval_power.errors import InputError
from humeval_power.roots import root_between
from humeval_power.scenarios.accuracy.agreement import OVERLAP, Agreement, AssumedAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy, largest_difference
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy

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
    found = high if lacking(low) <= 0 else root_between(lacking, low, high, xtol=1e-9)
    return DetectableAccuracy(found, largest, power - missing)


PRIORS: Mapping[Prior, Agreement] = {
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
    found: dict[Prior, DetectableAccuracy] = {}
    for name, agreement in PRIORS.items():
        if largest_difference(agreement, baseline=baseline) <= 0:
            found[name] = DetectableAccuracy(math.nan, 0.0, math.nan)
            continue
        scenario = PairedAccuracy(
            n_items, difference=0.0, agreement=agreement, baseline=baseline, test=test, alpha=alpha
        )
        found[name] = detectable_accuracy(scenario, power=power)
    return found
