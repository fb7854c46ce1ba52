"""Boundaries for a study that is looked at several times, in information time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from scipy import special

from humeval_power.errors import InputError, refuse
from humeval_power.kernels.sequential import (
    START,
    Continuing,
    Exits,
    Floats,
    Interval,
    advance,
    exit_probabilities,
    probability_above,
    probability_below,
)
from humeval_power.roots import root_between
from humeval_power.studies.looks.stopping_rule import (
    BetaSpendingFutility,
    ConditionalPowerFutility,
    Efficacy,
    FixedLevels,
    PValueFutility,
    Spending,
    StoppingRule,
    WangTsiatis,
    conditional_power_bound,
    increments,
)

# The z-values of each family of boundaries, solved by recursive integration.

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


# Futility by spending beta: both boundaries at once (Pampallona, Tsiatis and Kim 2001).

_LARGEST_DRIFT = 40.0


def spend_both(
    rule: StoppingRule, futility: BetaSpendingFutility, shares: Sequence[float]
) -> tuple[list[float], list[float], float]:
    """z of success and of futility at each look, and the drift at which the power is 1 - beta.

    The last look has no futility: what is not significant there has spent what was left of beta. Raises
    InputError: binding futility with boundaries that are not of a spending function.
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
        low = -bound if two_sided else -math.inf
        below = probability_below(state, bound, information=share, drift=drift)
        return below - probability_below(state, low, information=share, drift=drift) - step

    if step <= 0:
        return -math.inf
    if excess(success) <= 0:
        return success
    return root_between(excess, 0.0 if two_sided else -40.0, success, xtol=1e-12)


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
    return min(1.0, float(bounds.exits(drift).above.sum()))  # the integration's error is of 1e-8


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
    refuse(problems)
    return [float(at) for at in information]
