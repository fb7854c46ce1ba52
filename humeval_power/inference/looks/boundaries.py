"""Boundaries for a study that is looked at several times, in information time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from scipy import special

from humeval_power.errors import InputError, Problem
from humeval_power.inference.looks.beta_spending import spend_both
from humeval_power.inference.looks.boundary_values import efficacy_values
from humeval_power.inference.looks.futility import (
    BetaSpendingFutility,
    ConditionalPowerFutility,
    PValueFutility,
    conditional_power_bound,
)
from humeval_power.inference.looks.stopping_rule import Spending, StoppingRule, WangTsiatis
from humeval_power.kernels.sequential import Exits, Floats, Interval, exit_probabilities
from humeval_power.roots import root_between

_CLOSEST = 1e-4  # growth of information below which two looks are one


@dataclass(frozen=True, eq=False)
class Boundaries:
    """What a study must show at each look to stop. One entry a look in every tuple.

    `information` is in any unit, usually shares of the planned one. `efficacy` are values of |z| (of z, if
    one-sided) at which the study stops as significant; it stops for futility at a |z| (z) below `futility`,
    which is -infinity where it never does. p-values of any test are compared with the nominal levels
    instead: they are the same boundaries for tests whose p-values are not those of a z.
    """

    rule: StoppingRule
    information: tuple[float, ...]
    efficacy: tuple[float, ...]
    futility: tuple[float, ...]
    calibration: float = 1.0  # factor by which simulation has corrected the nominal levels

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.information)

    @property
    def two_sided(self) -> bool:
        """Whether a difference in either direction counts."""
        return self.rule.alternative == "two-sided"

    @property
    def shares(self) -> tuple[float, ...]:
        """Information as shares of that at the last look."""
        return tuple(at / self.information[-1] for at in self.information)

    def at_looks(self, places: Sequence[int]) -> Boundaries:
        """Those of some of the looks alone, by their index: the others are not taken."""
        chosen = [
            tuple(part[place] for place in places)
            for part in (self.information, self.efficacy, self.futility)
        ]
        return replace(self, information=chosen[0], efficacy=chosen[1], futility=chosen[2])

    @property
    def nominal(self) -> Floats:
        """p at or below which each look stops as significant, shape (K,); two-sided if the rule is."""
        return self._p(np.array(self.efficacy))

    @property
    def futility_p(self) -> Floats:
        """p above which each look stops for futility, shape (K,); 1 or more where it never does."""
        z = np.array(self.futility)
        return np.where(np.isneginf(z), np.inf, self._p(z))

    @cached_property
    def spent(self) -> Floats:
        """Chance of a false positive by each look, shape (K,): exact for z-values, futility ignored unless
        it is binding."""
        exits = self.exits(0.0, with_futility=self.rule.binding)
        return np.cumsum(exits.above + (exits.below if self.two_sided else 0.0))

    def exits(self, drift: float, *, with_futility: bool = True) -> Exits:
        """Chances of stopping at each look for z-values with mean drift x sqrt(information / the last).

        `above` is a positive effect; `below` is a negative one, or futility if the rule is one-sided;
        `inside` is futility of a two-sided rule. A study that ends without significance is in none.
        """
        upper = list(self.efficacy)
        bound = self.futility if with_futility else (-math.inf,) * self.n_looks
        if not self.two_sided:
            return exit_probabilities(self.shares, lower=list(bound), upper=upper, drift=drift)
        gap: list[Interval] = [(-value, value) for value in bound]
        lower = [-value for value in upper]
        return exit_probabilities(self.shares, lower=lower, upper=upper, gap=gap, drift=drift)

    def scaled(self, factor: float) -> Boundaries:
        """The same shape with nominal levels multiplied by `factor`; futility is kept where it does not
        meet the boundary of success."""
        z = self._z(np.minimum(self.nominal * factor, 1.0))
        futility = tuple(min(low, high) for low, high in zip(self.futility, z, strict=True))
        return Boundaries(
            self.rule, self.information, tuple(map(float, z)), futility, self.calibration * factor
        )

    def _p(self, z: Floats) -> Floats:
        return np.asarray((2.0 if self.two_sided else 1.0) * special.ndtr(-z))

    def _z(self, p: Floats) -> Floats:
        return np.asarray(-special.ndtri(p / (2.0 if self.two_sided else 1.0)))


def boundaries(
    rule: StoppingRule, information: Sequence[float], *, drift: float | None = None
) -> Boundaries:
    """Boundaries at looks with the given information.

    Parameters
    ----------
    information : shares of the planned information, strictly increasing. For a spending rule the last may be
        below 1: the looks so far of a study that goes on; at 1 (or above) everything is spent. For other
        rules only the ratios to the last matter.
    drift : planned effect over its standard error at full information; needed for conditional power under
        the design.

    Raises
    ------
    InputError
        Information that does not increase; futility with one look, or without the drift it needs; a
        number of fixed levels that is not that of the looks.
    """
    return _solved(rule, tuple(_checked(rule, information, drift)), drift)


@lru_cache(maxsize=256)
def _solved(rule: StoppingRule, shares: tuple[float, ...], drift: float | None) -> Boundaries:
    """The recursive integrations, which every look of every study of a plan asks for again."""
    if isinstance(rule.futility, BetaSpendingFutility):
        upper, lower, _ = spend_both(rule, rule.futility, shares)
        return Boundaries(rule, shares, tuple(upper), tuple(lower))
    two_sided = rule.alternative == "two-sided"
    lower = _p_value_wedge(rule, shares)
    counted_upon = lower if rule.binding else [-math.inf] * len(shares)
    upper = efficacy_values(
        rule.efficacy, shares, level=rule.side_level, two_sided=two_sided, futility=counted_upon
    )
    if isinstance(rule.futility, ConditionalPowerFutility):
        lower = _conditional_wedge(rule.futility, shares, upper[-1], drift or 0.0, two_sided=two_sided)
    lower = [min(low, high) for low, high in zip(lower, upper, strict=True)]
    return Boundaries(rule, shares, tuple(upper), tuple(lower))


def required_drift(bounds: Boundaries, *, power: float) -> float:
    """The drift, planned effect over its standard error at the last look, that gives this power.

    Its square over that of a study with one look is the inflation of the largest information.
    """
    return root_between(lambda drift: success(bounds, drift) - power, 0.0, 40.0, xtol=1e-11)


def inflation(bounds: Boundaries, *, power: float = 0.8) -> float:
    """How much more information the last look needs for a power than a study with one look, for z-values."""
    one = boundaries(replace(bounds.rule, efficacy=WangTsiatis(), futility=None), (1.0,))
    return (required_drift(bounds, power=power) / required_drift(one, power=power)) ** 2


def success(bounds: Boundaries, drift: float) -> float:
    """Chance of stopping as significant in the direction of a positive effect, for z-values."""
    return float(bounds.exits(drift).above.sum())


def expected_share(bounds: Boundaries, drift: float) -> float:
    """Mean information at stopping as a share of the largest, for z-values."""
    exits = bounds.exits(drift)
    leaving = (exits.above + exits.below + exits.inside)[:-1]
    return float(1.0 - leaving @ (1.0 - np.array(bounds.shares[:-1])))


def false_positive_rate(
    nominal: Sequence[float], information: Sequence[float], *, two_sided: bool
) -> float:
    """Chance that z-values without an effect pass any of these nominal levels: what a boundary made for
    other information, or none (0.05 at each look), really does."""
    z = [float(value) for value in -special.ndtri(np.array(nominal) / (2.0 if two_sided else 1.0))]
    lower = [-value if two_sided else -math.inf for value in z]
    exits = exit_probabilities(information, lower=lower, upper=z)
    return float(exits.above.sum() + (exits.below.sum() if two_sided else 0.0))


def _p_value_wedge(rule: StoppingRule, shares: Sequence[float]) -> list[float]:
    """z below which p is above the limit, at every look but the end: a spending rule can stop short of it."""
    if not isinstance(rule.futility, PValueFutility):
        return [-math.inf] * len(shares)
    tail = rule.futility.above / (2.0 if rule.alternative == "two-sided" else 1.0)
    wedge = [float(-special.ndtri(tail))] * len(shares)
    if not (isinstance(rule.efficacy, Spending) and shares[-1] < 1 - _CLOSEST):
        wedge[-1] = -math.inf
    return wedge


def _conditional_wedge(
    futility: ConditionalPowerFutility,
    shares: Sequence[float],
    critical: float,
    drift: float,
    *,
    two_sided: bool,
) -> list[float]:
    values = []
    for share in shares[:-1]:
        value = conditional_power_bound(
            share, below=futility.below, critical=critical, under=futility.under, drift=drift
        )
        values.append(-math.inf if two_sided and value <= 0 else value)
    return [*values, -math.inf]


def _checked(rule: StoppingRule, information: Sequence[float], drift: float | None) -> list[float]:
    problems = []
    if not information or not all(math.isfinite(at) and at > 0 for at in information):
        problems.append(f"Information must be positive at every look; got {list(information)}.")
    elif any(after - before < _CLOSEST * after for before, after in pairwise(information)):
        problems.append(
            "Information must grow from look to look by at least a hundredth of a per cent; got "
            f"{', '.join(f'{at:g}' for at in information)}. Leave out a look that adds nothing."
        )
    goes_on = isinstance(rule.efficacy, Spending) and bool(information) and information[-1] < 1 - _CLOSEST
    if rule.futility is not None and len(information) == 1 and not goes_on:
        problems.append("Futility needs at least two looks: with one there is nothing left to save.")
    by_design = isinstance(rule.futility, ConditionalPowerFutility) and rule.futility.under == "design"
    if by_design and (drift is None or not drift > 0):
        problems.append("Conditional power under the design needs the planned effect (a positive drift).")
    if isinstance(rule.futility, BetaSpendingFutility | ConditionalPowerFutility) and (
        not information or information[-1] < 1 - _CLOSEST
    ):
        problems.append("Futility that looks ahead needs information up to 1, the planned one.")
    if problems:
        raise InputError([Problem(rule=problem, remedy="") for problem in problems])
    return [float(at) for at in information]
