"""Futility by spending beta: both boundaries at once (Pampallona, Tsiatis and Kim 2001)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humeval_power.errors import InputError
from humeval_power.inference.looks.boundary_values import crossing, efficacy_values, going_on
from humeval_power.inference.looks.futility import BetaSpendingFutility
from humeval_power.inference.looks.spending import increments
from humeval_power.inference.looks.stopping_rule import Spending, StoppingRule
from humeval_power.kernels.sequential import (
    START,
    Continuing,
    advance,
    probability_above,
    probability_below,
)
from humeval_power.roots import root_between

_LARGEST_DRIFT = 40.0


def spend_both(
    rule: StoppingRule, futility: BetaSpendingFutility, shares: Sequence[float]
) -> tuple[list[float], list[float], float]:
    """z of success and of futility at each look, and the drift at which the power is 1 - beta.

    The last look has no futility: what is not significant there has spent what was left of beta.

    Raises
    ------
    InputError
        Binding futility with boundaries that are not of a spending function.
    """
    if futility.binding and not isinstance(rule.efficacy, Spending):
        raise InputError("Binding beta spending needs a boundary that spends alpha (lan-demets-..., ...).")
    two_sided = rule.alternative == "two-sided"
    fixed = None
    if not futility.binding:
        none = [-math.inf] * len(shares)
        fixed = efficacy_values(
            rule.efficacy, shares, level=rule.side_level, two_sided=two_sided, futility=none
        )

    def shortfall(drift: float) -> float:
        return 1 - futility.beta - _at_drift(rule, futility, shares, fixed, drift)[2]

    if shortfall(_LARGEST_DRIFT) > 0:
        raise InputError(f"No study has the power {1 - futility.beta:g} with these boundaries.")
    drift = root_between(shortfall, 0.0, _LARGEST_DRIFT, xtol=1e-11)
    upper, lower, _ = _at_drift(rule, futility, shares, fixed, drift)
    return upper, [*lower[:-1], -math.inf], drift


def _at_drift(
    rule: StoppingRule,
    futility: BetaSpendingFutility,
    shares: Sequence[float],
    fixed: Sequence[float] | None,
    drift: float,
) -> tuple[list[float], list[float], float]:
    """Both boundaries, and the power with this drift."""
    two_sided = rule.alternative == "two-sided"
    alpha_steps = (
        increments(rule.efficacy.function, shares, rule.side_level)
        if isinstance(rule.efficacy, Spending)
        else [0.0] * len(shares)
    )
    beta_steps = increments(futility.function, shares, futility.beta)
    without, with_effect = START, START
    upper: list[float] = []
    lower: list[float] = []
    power = 0.0
    for look, share in enumerate(shares):
        success = crossing(without, alpha_steps[look], information=share) if fixed is None else fixed[look]
        upper.append(success)
        power += probability_above(with_effect, success, information=share, drift=drift)
        if look + 1 == len(shares):
            lower.append(-math.inf)
            continue
        bound = _wedge(with_effect, beta_steps[look], success, share, drift, two_sided=two_sided)
        lower.append(bound)
        intervals = going_on(success, bound, two_sided=two_sided)
        following = shares[look + 1]
        with_effect = advance(with_effect, intervals, information=share, drift=drift, following=following)
        without = advance(without, intervals, information=share, following=following)
    return upper, lower, power


def _wedge(
    state: Continuing, step: float, success: float, share: float, drift: float, *, two_sided: bool
) -> float:
    """The z (|z|) below which a share `step` of the studies with the effect stops; at most `success`."""

    def excess(bound: float) -> float:
        return _between(state, -bound if two_sided else -math.inf, bound, share, drift) - step

    if step <= 0:
        return -math.inf
    if excess(success) <= 0:
        return success
    return root_between(excess, 0.0 if two_sided else -40.0, success, xtol=1e-12)


def _between(state: Continuing, low: float, high: float, share: float, drift: float) -> float:
    below = probability_below(state, high, information=share, drift=drift)
    return below - probability_below(state, low, information=share, drift=drift)
