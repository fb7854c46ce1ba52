"""What counts as success where several systems are compared, counted over studies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.replication import MOST_FAILURES
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.studies.power.systems_precision import Pairs

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LOG2_POINTS = 13  # of the points of a law, their logarithm
_SAME = 1e-9  # of differences between means that were stated as equal


@dataclass(frozen=True)
class Truth:
    """What is true of systems, and which of it the comparisons of a family can find under a rule."""

    parameters: SystemsParameters
    pairs: Pairs
    rule: DecisionRule

    @cached_property
    def difference(self) -> Floats:
        """True differences second - first, (pairs,); those within rounding of 0 are 0."""
        means = np.array(self.parameters.means)
        first, second = np.array(self.pairs).T
        result = means[second] - means[first]
        return np.where(np.abs(result) < _SAME, 0.0, result)

    @cached_property
    def real(self) -> Flags:
        """The pairs of which a rule's claim is true, (pairs,); the claim of the others is false."""
        return np.array([self.rule.can_show(float(one)) for one in self.difference])

    @cached_property
    def sought(self) -> Flags:
        """Of the pairs whose claim is true those whose difference is nearest to that of the pattern, (pairs,)."""
        if not self.real.any():
            return self.real
        off = np.abs(np.abs(self.difference) - abs(self.parameters.stated_effect))
        return np.asarray(self.real & (off <= off[self.real].min() + _SAME))

    @cached_property
    def leader(self) -> int | None:
        """The truly best system, where it is one and a test of differences compares it with every other; None
        otherwise."""
        if len(self.parameters.best) > 1 or self.rule.margin is not None:
            return None
        best = self.parameters.best[0]
        mine = [pair for pair in self.pairs if best in pair]
        one_sided = self.rule.alternative == "greater"
        if len(mine) < self.parameters.n_systems - 1 or (
            one_sided and any(best == first for first, _ in mine)
        ):
            return None
        return best

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """The comparison of two systems, (K, K); -1 where there is none."""
        place = np.full((self.parameters.n_systems,) * 2, -1)
        for number, (first, second) in enumerate(self.pairs):
            place[first, second] = place[second, first] = number
        return place

    @property
    def has_groups(self) -> bool:
        """Whether tests of differences compare any two systems, so that those not told apart form groups."""
        K = self.parameters.n_systems
        return self.rule.alternative == "two-sided" and len(self.pairs) == K * (K - 1) // 2

    @property
    def has_ranking(self) -> bool:
        """Whether some system is truly better than another."""
        return len(self.parameters.best) < self.parameters.n_systems


@dataclass(frozen=True, slots=True, eq=False)
class GoalCounts:
    """Counts over `n` studies; those of separate portions add up. What cannot be is NaN.

    `each` (pairs,) counts comparisons found rightly: with the right sign, or where nothing is to be found at all;
    of all that are significant, `significant` (pairs,), `size` sums up |estimate| and `opposite` counts those with
    the sign that is not true; `boundary` (pairs,) counts fits with a variance estimated as zero. `pair` is the mean
    of `each` over the sought ones. `false` counts studies with a claim that is not true of that pair, `wrong` those
    with a difference of the wrong sign, `group` sums up the systems that no test tells from the highest.
    """

    n: int
    each: Floats
    significant: Floats
    size: Floats
    opposite: Floats
    boundary: Floats
    pair: float
    any_pair: float
    all_pairs: float
    best: float
    first: float
    false: float
    wrong: float
    group: float

    def __add__(self, other: GoalCounts) -> GoalCounts:
        return GoalCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def of(self, goal: Goal) -> float:
        """Of the studies, how many reach a goal; NaN where none could."""
        counted = {"pair": self.pair, "any": self.any_pair, "all": self.all_pairs}
        return (counted | {"best": self.best, "first": self.first})[goal]


def count_goals(
    truth: Truth, means: Floats, difference: Floats, rejected: Flags, boundary: Flags | None = None
) -> GoalCounts:
    """Count over studies: estimated means (n, K) and differences (n, pairs), which comparisons show their claim
    (n, pairs), and which fits estimate a variance as zero."""
    from humeval_power.kernels.joint.systems_law import count_found

    two_sided = truth.rule.alternative == "two-sided"
    best = np.isin(np.arange(truth.parameters.n_systems), truth.parameters.best)
    totals, each = np.zeros(8), np.zeros(len(truth.pairs))
    count_found(
        np.ascontiguousarray(means), np.ascontiguousarray(difference), rejected, np.sign(truth.difference),
        truth.real, truth.sought, two_sided, truth.column, truth.has_groups,
        -1 if truth.leader is None else truth.leader, best, totals, each,
    )  # fmt: skip
    of_pairs = (
        rejected.sum(axis=0).astype(float),
        np.einsum("ij,ij->j", np.abs(difference), rejected),
        (rejected & (difference * np.sign(truth.difference) < 0)).sum(axis=0).astype(float),
    )
    zero = np.full_like(each, math.nan)
    if boundary is not None:
        zero = np.broadcast_to(boundary, rejected.shape).sum(axis=0).astype(float)
    some = truth.real.any()
    defined: tuple[object, ...] = (
        *(truth.sought.any(), some, some, truth.leader is not None, truth.has_ranking),
        *(not truth.real.all(), two_sided and some, truth.has_groups),
    )
    shares = np.where(np.array(defined, dtype=bool), totals, math.nan).tolist()
    return GoalCounts(len(means), each, *of_pairs, zero, *shares)


@dataclass(frozen=True, slots=True)
class BestMargin:
    """Hsu's (1984) comparison of the truly best system with the best of the others, on average over studies.

    `estimate` is its mean less the highest of the others; `interval` (at most 0, at least 0) has confidence 1 -
    alpha for all systems at once, whichever is best. `shown` is the share of studies that show it to be the best:
    all of the others then lie below it by more than their reach.
    """

    estimate: float
    interval: tuple[float, float]
    shown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsPower:
    """How often a study of several systems finds what is true of them.

    `shares` has the probability of every goal, NaN of one that cannot be reached; `power` is that of `goal`.
    'pair': a comparison whose true difference is that of the pattern is found, each counted alike; 'any', 'all':
    at least one, or every one of the true differences; 'best': the true best system is found above every
    other; 'first': it has the highest estimated mean. Found means significant after the correction, with
    the right sign; under a rule with a margin its claim is shown, and any and all are of the claims that are true.

    `per_comparison` are those of each of `pairs`; `false_claim` is the probability of a claim that is not true of
    its pair (the family-wise error), `wrong_sign` that of a significant difference with the wrong sign,
    `top_group` the expected number of systems that no test tells from the highest. `standard_error` and `df`
    are those by formula. `type_m_of` and `type_s_of` say of each comparison how far significant estimates
    exaggerate and how many have the wrong sign, `type_m` and `type_s` of all that the goal 'pair' is about; NaN
    without a difference, and with a margin. `boundary_rate_of` and `boundary_rate` are the shares of fits, of each
    comparison and of all, that estimate a variance as zero; NaN by formula. Where studies were simulated
    `n_simulations` counts them and `n_failed` those without a fit, which count as having found nothing; where more
    than 20 % failed there is no power (NaN). `best_margin` is simulated, for one truly best system.
    """

    goal: Goal
    pairs: Pairs
    shares: dict[Goal, float]
    per_comparison: tuple[float, ...]
    false_claim: float
    wrong_sign: float
    top_group: float
    standard_error: tuple[float, ...]
    df: tuple[float, ...]
    type_m_of: tuple[float, ...]
    type_s_of: tuple[float, ...]
    type_m: float
    type_s: float
    boundary_rate_of: tuple[float, ...] = ()
    boundary_rate: float = math.nan
    n_simulations: int = 0
    n_failed: int = 0
    best_margin: BestMargin | None = None

    @property
    def failure_rate(self) -> float:
        """Share of simulated studies without a fit."""
        return self.n_failed / self.n_simulations if self.n_simulations else 0.0

    @property
    def too_many_failed(self) -> bool:
        """Whether so many fits failed that no power is given."""
        return self.failure_rate > MOST_FAILURES

    @property
    def power(self) -> float:
        """The probability of the goal."""
        return self.shares[self.goal]

    @property
    def interval(self) -> tuple[float, float]:
        """Monte Carlo interval of the power, 95 %; NaN for a formula."""
        return self.interval_of(self.power)

    def interval_of(self, share: float) -> tuple[float, float]:
        """Wilson interval of a simulated share, 95 %; NaN for a formula. For a mean over pairs it is on the wide
        side, as pairs of one study share its luck but not all of it."""
        if not self.n_simulations or math.isnan(share):
            return math.nan, math.nan
        return wilson_interval(round(share * self.n_simulations), self.n_simulations)
