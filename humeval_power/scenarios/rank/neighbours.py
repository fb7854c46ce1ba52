"""Two neighbours on a leaderboard: how many battles, or items, tell them apart among all pairs of K systems."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import MOST_RANKED
from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.outcome_models import outcome_law
from humeval_power.roots import root_between
from humeval_power.scenarios.blocks import draw_in_blocks
from humeval_power.scenarios.compare.scores import NormalScores
from humeval_power.scenarios.computed import ComputedPower, normal_power
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.rank.battle_fits import fit_tables, moments

Floats = NDArray[np.float64]
_SMALL = 1e-6  # of an effect, where a slope is taken
_BLOCK = 256  # leaderboards that are fitted together


@dataclass(frozen=True)
class NeighbourBattles:
    """`n_battles` of `n_systems`, of which every two meet equally often and in both orders.

    `effect` is the share that prefers the better of two neighbours, ties counted half, minus 1/2; the other
    systems are between the two. `tie_share` is that of systems as strong (Davidson 1970). `design_effect` is the
    variance of differences over that of independent battles, which `rank battles` finds: so many times fewer are
    drawn.
    """

    n_battles: int
    _: KW_ONLY
    effect: float
    n_systems: int
    tie_share: float = 0.0
    design_effect: float = 1.0
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if not 2 <= self.n_systems <= MOST_RANKED:
            rule = f"A leaderboard here has 2 to {MOST_RANKED} systems; got {self.n_systems}."
            problems.append(Problem(rule, ""))
        if not 0 <= self.tie_share <= 0.9:
            problems.append(Problem(f"The share of ties must be 0 to 0.9; got {self.tie_share:g}.", ""))
        if not (math.isfinite(self.design_effect) and self.design_effect > 0):
            problems.append(Problem(f"The design effect must be above 0; got {self.design_effect:g}.", ""))
        if not 0 < self.alpha < 0.5:
            problems.append(Problem(f"alpha must lie between 0 and 0.5; got {self.alpha:g}.", ""))
        if not abs(self.effect) < 0.49:
            rule = f"The effect must lie within 0.49, or the better always wins; got {self.effect:g}."
            problems.append(Problem(rule, ""))
        if self.n_battles < 1:
            problems.append(Problem(f"There is at least one battle; got {self.n_battles}.", ""))
        if problems:
            raise InputError(problems)

    @property
    def true_effect(self) -> float:
        """Share that prefers the better neighbour, ties half, minus 1/2."""
        return self.effect

    def with_effect(self, effect: float) -> NeighbourBattles:
        """The same battles with another difference of the neighbours."""
        return replace(self, effect=effect)

    @property
    def critical(self) -> float:
        """What |z| of a pair must exceed: Holm's first step among all pairs."""
        return -float(special.ndtri(self.alpha / 2 / math.comb(self.n_systems, 2)))

    @cached_property
    def gap(self) -> float:
        """The difference of the neighbours' strengths, a logit."""
        if self.effect == 0:
            return 0.0
        size = root_between(lambda eta: self._preferred(eta) - 0.5 - abs(self.effect), 0.0, 40.0)
        return math.copysign(float(size), self.effect)

    @property
    def tie(self) -> float | None:
        """Davidson's parameter."""
        return None if self.tie_share == 0 else math.log(2 * self.tie_share / (1 - self.tie_share))

    def _preferred(self, eta: float) -> float:
        share = outcome_law(np.array([eta]), self.tie, "davidson").share[0]
        return float(share[0] + share[1] / 2)

    @cached_property
    def _strengths(self) -> Floats:
        value = np.zeros(self.n_systems)
        value[:2] = -self.gap / 2, self.gap / 2  # the second is the better where the effect is positive
        return value

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """Battles of each pair, of those that count as independent."""
        n_pairs, n = math.comb(self.n_systems, 2), round(self.n_battles / self.design_effect)
        return np.array([n // n_pairs + (place < n % n_pairs) for place in range(n_pairs)], dtype=np.int64)

    def standard_error(self) -> float:
        """Of the neighbours' difference, by the expected information."""
        K, with_ties = self.n_systems, self.tie is not None
        each = np.full(math.comb(K, 2), self.n_battles / self.design_effect / math.comb(K, 2))
        at = np.r_[(self._strengths - self._strengths[0])[1:], [self.tie] * with_ties].astype(np.float64)
        _, information = moments(at[None], K, each, with_ties=with_ties)
        return math.sqrt(float(np.linalg.inv(information[0])[0, 0]))

    def computed(self) -> ComputedPower:
        """By the normal law of the neighbours' strengths, corrected for all pairs."""
        error = self.standard_error()
        slope = (self._preferred(_SMALL) - 0.5) / _SMALL if self.gap == 0 else self.effect / self.gap
        level = 2 * float(special.ndtr(-self.critical))
        scaled = error * slope
        method = "normal law of the strengths with Holm's critical value"
        return normal_power(self.effect, null_sd=scaled, standard_error=scaled, alpha=level, method=method)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate leaderboards and fit each; one that gives no finite strengths is a failure."""
        return draw_in_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=_BLOCK)

    def _draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        K, value = self.n_systems, self._strengths
        points, ties = np.zeros((size, K)), np.zeros(size)
        end = 0
        for i in range(K - 1):
            start, end = end, end + K - 1 - i
            share = outcome_law(value[i] - value[i + 1 :], self.tie, "davidson").share
            met = rng.multinomial(self._counts[start:end, None], share[:, None], (K - 1 - i, size))
            won, tied, lost = np.moveaxis(met, 2, 0)
            points[:, i] += (won + tied / 2).sum(axis=0)
            points[:, i + 1 :] += (lost + tied / 2).T
            ties += tied.sum(axis=0)
        fits = fit_tables(points, ties, self._counts.astype(np.float64))
        z = fits.gap / fits.standard_error
        slope = self._preferred(_SMALL) - 0.5
        scale = slope / _SMALL if self.gap == 0 else self.effect / self.gap
        return Replicates(
            fits.gap * scale,
            fits.standard_error * scale,
            np.full(size, np.nan),
            np.minimum(2 * math.comb(self.n_systems, 2) * special.ndtr(-np.abs(z)), 1.0),
            np.where(fits.found, 0, 1).astype(np.int64),
            np.zeros((size, 0), dtype=np.bool_),
        )


@dataclass(frozen=True, eq=False)
class NeighbourScores(NormalScores):
    """The paired t test of two neighbours among `n_systems`; `alpha` is what all pairs at once leave for each."""

    n_systems: int = 2


def neighbour_scores(
    n_items: int, effect: float, *, sd: float, n_systems: int, alpha: float = 0.05
) -> NeighbourScores:
    """Two neighbours of a leaderboard by scores: the paired t test at the level of a pair among all pairs.

    Parameters
    ----------
    n_items : items that all systems answer; clusters, with the SD of their mean differences, if items come in any.
    effect : difference of the neighbours' means, in the metric's units.
    sd : SD of the items' differences of two systems.
    n_systems : on the leaderboard, as well known as each other.
    alpha : chance of any false statement about a pair.
    """
    if not 2 <= n_systems <= MOST_RANKED:
        raise InputError(f"A leaderboard here has 2 to {MOST_RANKED} systems; got {n_systems}.")
    if n_items < 2:
        raise InputError(f"At least 2 items are needed; got {n_items}.")
    level = alpha / math.comb(n_systems, 2)
    return NeighbourScores(n_items, effect, sd, alpha=level, n_systems=n_systems)
