"""Two neighbours on a leaderboard: how many battles, or items, tell them apart among all pairs of K systems."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import MOST_RANKED
from humeval_power.comparisons.rank.bradley_terry import outcome_law
from humeval_power.comparisons.scores.scenario import NormalScores
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.roots import root_between
from humeval_power.scenarios.contract import ComputedPower, Replicates, draw_in_blocks, normal_power

# Strengths of many simulated leaderboards at once, from each system's points and the ties.

Floats = NDArray[np.float64]
_STEPS, _PRECISION, _ENDLESS = 60, 1e-8, 20.0
_RIDGE = 1e-10
_TOGETHER = 2_000_000  # numbers of leaderboards x pairs


@dataclass(frozen=True, slots=True, eq=False)
class BattleFits:
    """Of each leaderboard: how much stronger the second system is than the first, its standard error, and whether
    there is a highest likelihood; NaN where there is none."""

    gap: Floats
    standard_error: Floats
    found: NDArray[np.bool_]


def fit_tables(points: Floats, ties: Floats, battles: Floats) -> BattleFits:
    """Fit Davidson's model; without any tie in all of them, Bradley and Terry's. points : (leaderboards, K),
    wins and half the ties of each system. ties : (leaderboards,). battles : (pairs,) of each two systems, in
    the order of `triu_indices`."""
    with_ties = bool(ties.any())
    size = max(1, _TOGETHER // len(battles))
    parts = [
        _fit(points[start : start + size], ties[start : start + size], battles, with_ties=with_ties)
        for start in range(0, len(points), size)
    ]
    return BattleFits(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in parts[0].__slots__)
    )


def _fit(points: Floats, ties: Floats, battles: Floats, *, with_ties: bool) -> BattleFits:
    """Newton's steps in the strengths of systems 1 to K - 1 over that of system 0, and ln(tie)."""
    n, K = points.shape
    at = np.zeros((n, K - 1 + with_ties))
    if with_ties:
        share = np.clip(ties / battles.sum(), 0.01, 0.9)
        at[:, -1] = np.log(2 * share / (1 - share))
    wanted = np.column_stack([points[:, 1:], ties]) if with_ties else points[:, 1:]
    values = np.zeros(n, dtype=np.bool_)
    for _ in range(_STEPS):
        expected, information = moments(at, K, battles, with_ties=with_ties)
        information += _RIDGE * np.eye(at.shape[1])
        step = np.linalg.solve(information, (wanted - expected)[..., None])[..., 0]
        step = np.clip(step, -2.0, 2.0)
        at = np.clip(at + step, -2 * _ENDLESS, 2 * _ENDLESS)
        values = np.abs(step).max(axis=1) < _PRECISION
        if values.all():
            break
    values &= np.abs(at[:, : K - 1]).max(axis=1) < _ENDLESS
    neighbour = np.zeros((at.shape[1], 1))
    neighbour[0] = 1.0
    variance = np.linalg.solve(information, np.broadcast_to(neighbour, (n, *neighbour.shape)))[:, 0, 0]
    values &= variance < _ENDLESS**2  # some systems never met
    gap = np.where(values, at[:, 0], np.nan)
    return BattleFits(gap, np.where(values, np.sqrt(np.maximum(variance, 1e-300)), np.nan), values)


def moments(at: Floats, n_systems: int, battles: Floats, *, with_ties: bool) -> tuple[Floats, Floats]:
    """Means of the points of systems 1 to K - 1 and of the ties at parameters (leaderboards, p), and their
    covariances, which are the expected information, (leaderboards, p, p)."""
    n, K = len(at), n_systems
    first, second = np.triu_indices(K, 1)
    strengths = np.column_stack([np.zeros(n), at[:, : K - 1]])
    odds = np.exp((strengths[:, first] - strengths[:, second]) / 2)
    tie = np.exp(at[:, -1:]) if with_ties else 0.0
    total = odds + 1 / odds + tie
    won, tied = odds / total, tie / total
    ahead = won + tied / 2  # the points of the first; its eta has the derivative ahead - 1/2
    cells = np.zeros((n, K, K))
    cells[:, first, second] = battles * ahead
    cells[:, second, first] = battles * (1 - ahead)
    means = cells.sum(axis=2)
    cells[:, first, second] = battles * (won + tied / 4 - ahead**2)
    cells[:, second, first] = cells[:, first, second]
    every = np.arange(K)
    own = cells.sum(axis=2)
    np.negative(cells, out=cells)
    cells[:, every, every] = own
    if not with_ties:
        return means[:, 1:], cells[:, 1:, 1:]
    both = battles * tied * (0.5 - ahead)
    across = np.zeros((n, K, K))
    across[:, first, second] = both
    across[:, second, first] = -both
    p = K
    information = np.empty((n, p, p))
    information[:, :-1, :-1] = cells[:, 1:, 1:]
    information[:, -1, :-1] = information[:, :-1, -1] = across.sum(axis=2)[:, 1:]
    information[:, -1, -1] = (battles * tied * (1 - tied)).sum(axis=1)
    return np.column_stack([means[:, 1:], (battles * tied).sum(axis=1)]), information


_SMALL = 1e-6  # of an effect, where a slope is taken
_BLOCK = 256  # leaderboards that are fitted together


@dataclass(frozen=True)
class NeighbourBattles:
    """`n_battles` of `n_systems`, of which every two meet equally often and in both orders.

    `effect` is the share that prefers the better of two neighbours, ties counted half, minus 1/2; the other
    systems are between the two. `tie_share` that of equal systems (Davidson 1970). `design_effect` is the
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
        refuse(problems)

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
