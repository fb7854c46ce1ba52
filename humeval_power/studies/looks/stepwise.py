"""Several comparisons tested over looks: each by boundaries of its own, whose levels move in Holm's steps.

While `left` of m comparisons are not shown, each is tested by the boundaries of the rule at alpha / left, spent
over its own information. One that is shown stays so, and its share of alpha passes to the others, which are tested
again at the same look (Maurer and Bretz 2013; Ye, Li, Liu and Yao 2013). The chance of any false claim is at most
alpha whatever is true of the comparisons and however they are correlated, for z-values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.families import Correction
from humeval_power.roots import root_between
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.stopping_rule import FixedLevels, StoppingRule

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_LEAST_LEVEL = 1e-9  # below which a p-value over the looks is not told from 0
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class StepwiseBoundaries:
    """Levels of several comparisons at looks. `rule` has the alpha of all of them together.

    information : shares of the planned information at the looks, for each comparison
    nominal, futility_p : p at or below which a comparison is shown, and above which it is futile, shape (looks,
        comparisons, comparisons); the last axis counts the comparisons not yet shown, from 1
    calibration : factor by which simulation has corrected the nominal levels
    """

    rule: StoppingRule
    correction: Correction
    information: tuple[tuple[float, ...], ...]
    nominal: Floats
    futility_p: Floats
    calibration: float = 1.0

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.nominal)

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons."""
        return len(self.information)

    def scaled(self, factor: float) -> StepwiseBoundaries:
        """The same with nominal levels multiplied by `factor`; futility is kept where it does not meet them."""
        nominal = np.minimum(self.nominal * factor, 1.0)
        futility = np.maximum(self.futility_p, nominal)
        return replace(self, nominal=nominal, futility_p=futility, calibration=self.calibration * factor)

    def first(self, place: int) -> Floats:
        """The levels of a comparison while none is shown, shape (looks,)."""
        return np.asarray(self.nominal[:, place, -1])


def check_stepwise(rule: StoppingRule, correction: Correction) -> None:
    """Refuse what several comparisons have no boundaries for. Raises InputError: levels given look by look,
    futility that binds, or a correction that is not one of p-values alone."""
    if isinstance(rule.efficacy, FixedLevels):
        raise InputError(
            "Levels given look by look belong to one comparison: they say nothing about the levels that others "
            "get when one is shown. Take a boundary that is solved for every share of alpha: a spending function."
        )
    if rule.binding:
        raise InputError(
            "Futility cannot bind among several comparisons: whether the study stops depends on all of them, so no "
            "boundary of one can count on it."
        )
    if correction == "max-t":
        raise InputError(
            "max-t has no boundaries over looks: t statistics whose degrees of freedom grow have no known joint "
            "law. Take holm, which needs none."
        )
    if correction == "bh":
        raise InputError(
            "The false discovery rate (bh) is not spent over looks: a comparison shown early changes what the rate "
            "of the others is. Take holm."
        )


def step_level(alpha: float, left: int, n_comparisons: int, correction: Correction) -> float:
    """The level of a comparison while `left` of all are not shown."""
    return alpha / _divisor(correction, left, n_comparisons)


def _divisor(correction: Correction, left: int, n_comparisons: int) -> int:
    """By what a comparison's level is divided while `left` of all are not shown."""
    if correction == "none":
        return 1
    if correction == "holm":
        return left
    if correction == "bonferroni":
        return n_comparisons
    if correction == "max-t" or correction == "bh":  # `check_stepwise` says why
        raise InputError(f"{correction} has no levels over looks.")
    assert_never(correction)


def stepwise_boundaries(
    rule: StoppingRule,
    information: Sequence[Sequence[float]],
    *,
    correction: Correction = "holm",
    drifts: Sequence[float] | None = None,
) -> StepwiseBoundaries:
    """Boundaries of several comparisons.

    Parameters
    ----------
    rule : with the alpha of all comparisons together.
    information : shares of the planned information at the looks, for each comparison.
    drifts : planned effect over its standard error at full information, for each; for conditional power.

    Raises
    ------
    InputError
        Information that does not increase, or what several comparisons have no boundaries for.
    """
    check_stepwise(rule, correction)
    n, n_looks = len(information), len(information[0])
    nominal, futility = np.empty((2, n_looks, n, n))
    for place, shares in enumerate(information):
        drift = None if drifts is None else drifts[place]
        for left in range(1, n + 1):
            bounds = one_of_several(rule, shares, left, n, correction, drift=drift)
            nominal[:, place, left - 1], futility[:, place, left - 1] = bounds.nominal, bounds.futility_p
    return StepwiseBoundaries(
        rule,
        correction,
        tuple(tuple(shares) for shares in information),
        np.minimum.accumulate(nominal, axis=2),  # more comparisons left never have higher levels
        futility,
    )


def one_of_several(
    rule: StoppingRule,
    shares: Sequence[float],
    left: int,
    n_comparisons: int,
    correction: Correction,
    *,
    drift: float | None = None,
) -> Boundaries:
    """The boundaries of one comparison while `left` of all are not shown."""
    level = step_level(rule.alpha, left, n_comparisons, correction)
    return boundaries(replace(rule, alpha=level), shares, drift=drift)


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """How studies went through their looks: the look at which each ended (from 0), shape (n,), and that at which
    each comparison was shown, shape (n, comparisons), the number of looks where it never was."""

    look: NDArray[np.int64]
    shown_at: NDArray[np.int64]
    n_looks: int

    @property
    def shown(self) -> Flags:
        """Which comparisons were shown, shape (n, comparisons)."""
        return np.asarray(self.shown_at < self.n_looks)


def walk(p_values: Floats, bounds: StepwiseBoundaries) -> Walked:
    """Test the comparisons of studies look by look until each is shown or futile.

    p_values : shape (n, looks, comparisons); a missing one shows nothing
    """
    n, n_looks, n_pairs = p_values.shape
    shown_at = np.full((n, n_pairs), n_looks)
    look = np.full(n, n_looks - 1)
    going_on = np.ones(n, dtype=bool)
    for at in range(n_looks):
        p = p_values[:, at]
        shown_at[show(p, shown_at < n_looks, bounds.nominal[at]) & going_on[:, None]] = at
        open_ = shown_at == n_looks
        limit = bounds.futility_p[at].T[np.maximum(open_.sum(axis=1), 1) - 1]
        ended = going_on & ~(open_ & ~(p > limit)).any(axis=1)
        look[ended] = at
        going_on &= ~ended
    return Walked(look, shown_at, n_looks)


def show(p_values: Floats, before: Flags, nominal: Floats) -> Flags:
    """Which comparisons are newly shown at one look, after as many steps as it takes.

    p_values, before : shape (n, comparisons): those of the look, and what earlier looks have shown
    nominal : shape (comparisons, comparisons left)
    """
    shown = before.copy()
    while True:
        left = (~shown).sum(axis=1)
        new = ~shown & (p_values <= nominal.T[np.maximum(left, 1) - 1])
        if not new.any():
            return np.asarray(shown & ~before)
        shown |= new


def sequential_level(level_at: Callable[[float], float], p_value: float) -> float:
    """The smallest alpha at which the boundaries of one comparison are passed by this p-value at a look: its p over
    the looks up to there (Liu and Anderson 2008), were there no other comparison and no earlier look passed.

    level_at : the nominal level of the look for an alpha, rising with it
    """

    def excess(log_alpha: float) -> float:
        return math.log(max(level_at(math.exp(log_alpha)), _SMALLEST) / max(p_value, _SMALLEST))

    low, high = math.log(_LEAST_LEVEL), math.log(1 - 1e-6)
    if not p_value <= 1 or excess(high) < 0:
        return 1.0
    return _LEAST_LEVEL if excess(low) >= 0 else math.exp(root_between(excess, low, high, xtol=1e-6))


def adjusted_p(levels: Floats, correction: Correction) -> Floats:
    """The smallest alpha of all comparisons together at which each is shown, shape (comparisons,).

    levels : `sequential_level` of each comparison at each look, shape (looks, comparisons)
    """
    n_looks, n = levels.shape
    factors = sorted({_divisor(correction, left, n) for left in range(1, n + 1)})
    result = np.ones(n)
    for alpha in sorted(
        {min(float(level * factor), 1.0) for level in levels.ravel() for factor in factors}, reverse=True
    ):
        shown = np.zeros((1, n), dtype=bool)
        share = np.array([step_level(alpha, left, n, correction) for left in range(1, n + 1)])
        nominal = np.repeat(share[None, :], n, axis=0) * (1 + 1e-9)
        for look in range(n_looks):
            shown |= show(levels[look][None, :], shown, nominal)
        if not shown.any():
            break
        result[shown[0]] = alpha
    return result
