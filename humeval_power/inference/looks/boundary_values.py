"""The z-values of each family of boundaries, solved by recursive integration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.looks.spending import increments
from humeval_power.inference.looks.stopping_rule import (
    Efficacy,
    FixedLevels,
    Spending,
    WangTsiatis,
)
from humeval_power.kernels.sequential import (
    START,
    Continuing,
    Interval,
    advance,
    exit_probabilities,
    probability_above,
)
from humeval_power.roots import root_between

_LARGEST = 37.0  # beyond this z a normal tail is no longer a number
_SMALLEST_STEP = 1e-300


def efficacy_values(
    efficacy: Efficacy, shares: Sequence[float], *, level: float, two_sided: bool, futility: Sequence[float]
) -> list[float]:
    """z at which each look stops as significant.

    shares : information of each look over the planned one
    level : error of one side
    futility : z (|z|) below which a look stops, counted upon; -infinity where nothing is
    """
    if isinstance(efficacy, Spending):
        return _spent(increments(efficacy.function, shares, level), shares, two_sided, futility)
    if isinstance(efficacy, FixedLevels):
        return _fixed(efficacy, len(shares), two_sided)
    if isinstance(efficacy, WangTsiatis):
        shape = [(share / shares[-1]) ** (efficacy.delta - 0.5) for share in shares]

        def of(constant: float) -> list[float]:
            return [constant * factor for factor in shape]
    else:
        early = [efficacy.early] * (len(shares) - 1)

        def of(constant: float) -> list[float]:
            return [*early, constant]

    def excess(constant: float) -> float:
        return _error(of(constant), shares, two_sided, futility) - level

    if excess(_LARGEST) > 0:
        raise InputError(
            f"An early boundary of {getattr(efficacy, 'early', math.nan):g} spends more than the whole error; "
            "choose a larger one."
        )
    low = 0.0 if two_sided else -_LARGEST
    return of(root_between(excess, low, _LARGEST, xtol=1e-12))


def going_on(success: float, futility: float, *, two_sided: bool) -> list[Interval]:
    """Where Z must lie for a study to go on."""
    if not two_sided:
        return [(futility, success)]
    if futility <= 0:
        return [(-success, success)]
    return [(-success, -futility), (futility, success)]


def crossing(state: Continuing, error: float, *, information: float, drift: float = 0.0) -> float:
    """The z that is passed with probability `error` by a study still going on; infinite for no error."""
    if error < _SMALLEST_STEP:
        return math.inf

    def excess(bound: float) -> float:
        return probability_above(state, bound, information=information, drift=drift) - error

    if excess(-_LARGEST) <= 0:
        return -math.inf
    return root_between(excess, -_LARGEST, _LARGEST, xtol=1e-13)


def _spent(
    steps: Sequence[float], shares: Sequence[float], two_sided: bool, futility: Sequence[float]
) -> list[float]:
    state, values = START, []
    for look, (step, share) in enumerate(zip(steps, shares, strict=True)):
        values.append(crossing(state, step, information=share))
        if look + 1 < len(shares):
            intervals = going_on(values[-1], futility[look], two_sided=two_sided)
            state = advance(state, intervals, information=share, following=shares[look + 1])
    return values


def _fixed(efficacy: FixedLevels, n_looks: int, two_sided: bool) -> list[float]:
    if len(efficacy.levels) != n_looks:
        raise InputError(f"{len(efficacy.levels)} nominal levels were given for {n_looks} looks.")
    levels = np.array(efficacy.levels) / (2.0 if two_sided else 1.0)
    return [float(value) for value in -special.ndtri(levels)]


def _error(
    upper: Sequence[float], shares: Sequence[float], two_sided: bool, futility: Sequence[float]
) -> float:
    if not two_sided:
        return float(exit_probabilities(shares, lower=futility, upper=upper).above.sum())
    gap = [(-value, value) for value in futility]
    exits = exit_probabilities(shares, lower=[-value for value in upper], upper=upper, gap=gap)
    return float(exits.above.sum())
