"""Sizes and effects of accuracy comparisons by normal approximation, as the literature has them."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy import special

from humeval_power.errors import InputError
from humeval_power.roots import root_between
from humeval_power.scenarios.accuracy.agreement import AssumedAgreement
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy

_SMALLEST = 1e-12


def connett_items(*, only_b: float, only_a: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Items that McNemar's test needs, not rounded; infinite without a difference.

    n = (z_a sqrt(d) + z_b sqrt(d - D^2))^2 / D^2 with d = only_b + only_a, D = only_b - only_a (Connett,
    Smith & McHugh 1987; the inverse of Duffy's 1984 power).
    """
    moved, difference = only_b + only_a, only_b - only_a
    if difference == 0:
        return math.inf
    z_alpha, z_beta = _normal(alpha, power)
    error = math.sqrt(max(moved - difference**2, 0.0))
    return (z_alpha * math.sqrt(moved) + z_beta * error) ** 2 / difference**2


def schlesselman_items(
    *, only_b: float, only_a: float, power: float = 0.8, alpha: float = 0.05
) -> tuple[float, float]:
    """Discordant items, and items in all, by Schlesselman's (1982) formula; not rounded."""
    share = only_b / (only_b + only_a)
    z_alpha, z_beta = _normal(alpha, power)
    root = z_alpha / 2 + z_beta * math.sqrt(share * (1 - share))
    discordant = (root / (share - 0.5)) ** 2 if share != 0.5 else math.inf
    return discordant, discordant / (only_b + only_a)


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
    z_alpha, z_beta = _normal(alpha, power)
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


def _normal(alpha: float, power: float) -> tuple[float, float]:
    if not 0 < alpha < power < 1:
        raise InputError(f"alpha and power must lie in order between 0 and 1; got {alpha:g} and {power:g}.")
    return -float(special.ndtri(alpha / 2)), float(special.ndtri(power))
