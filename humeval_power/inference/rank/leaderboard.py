"""From estimates of K systems to a leaderboard: pairs, groups, intervals of ranks, chances of being best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.rank.largest_t import LargestT, two_sided_p, two_sided_t
from humeval_power.inference.study.many_systems import group_letters, groups_of
from humeval_power.inference.study.ranks import Differences, draw_means, ranks_of

Floats = NDArray[np.float64]
DEFAULT_SEED = 1952
_ROUNDING = 1e-14  # of a variance
MOST_GROUPS = 26  # with more, letters tell nobody anything


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What is known of K systems, larger being better.

    `value` (K,) and `covariance` (K, K) are of estimates that may be known up to a constant only; `df` (K, K) of
    the variance of each difference, infinite where it is known. `own_error` and `own_df` (K,) are of each system's
    own value, as it is shown.
    """

    systems: tuple[str, ...]
    value: Floats
    covariance: Floats
    df: Floats
    own_error: Floats
    own_df: Floats


@dataclass(frozen=True, slots=True)
class Place:
    """One system: its value with an interval of its own, the ranks that the tests leave, its groups' letters, and
    its ranks in draws (`chances` of rank 1, 2, ...; `expected` rank)."""

    system: str
    value: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    letters: str
    chances: tuple[float, ...]
    expected: float

    @property
    def best(self) -> float:
        """The chance of the first rank; no p-value."""
        return self.chances[0]


@dataclass(frozen=True, slots=True)
class RankPair:
    """The difference `better` - `worse` by their estimates; its interval holds for all pairs at once."""

    better: str
    worse: str
    difference: float
    standard_error: float
    df: float
    p_value: float
    corrected_p: float
    low: float
    high: float
    significant: bool


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Systems, best first, and all their pairs; `alpha` is the chance of any false statement about a pair."""

    places: tuple[Place, ...]
    pairs: tuple[RankPair, ...]
    alpha: float
    seed: int
    n_draws: int

    @property
    def has_groups(self) -> bool:
        """Whether systems have letters; not where there would be more than `MOST_GROUPS` of them."""
        return any(each.letters for each in self.places)

    @property
    def n_apart(self) -> int:
        """Pairs that are told apart."""
        return sum(each.significant for each in self.pairs)


def leaderboard(known: Estimates, *, alpha: float = 0.05, seed: int = DEFAULT_SEED) -> Leaderboard:
    """All that is said of an order of systems.

    P-values, intervals of differences, groups and intervals of ranks come from one law, of the largest |t| of all
    pairs: while no test errs, which has probability 1 - alpha, all of them hold at once (Mogstad, Romano, Shaikh
    and Wilhelm 2024). Chances of ranks come from draws of variances and of effects.
    """
    order = np.argsort(-known.value, kind="stable")
    names = [known.systems[k] for k in order]
    covariance, df = known.covariance[np.ix_(order, order)], known.df[np.ix_(order, order)]
    pairs = _pairs(names, known.value[order], covariance, df, alpha, seed)
    apart = {(one.better, one.worse) for one in pairs if one.significant}
    variance = _variances(covariance)
    drawn = draw_means(Differences(known.value[order], variance, df), seed=seed)
    simulated = ranks_of(names, drawn, alpha=alpha, seed=seed)
    chances = _shared(np.array([one.chances for one in simulated.systems]), known.value[order], covariance)
    expected = chances @ np.arange(1, len(names) + 1)
    letters = group_letters(groups_of(names, apart, most=MOST_GROUPS))
    reach = two_sided_t(known.own_df[order], alpha) * known.own_error[order]
    places = tuple(
        Place(
            name,
            float(known.value[order[k]]),
            float(known.value[order[k]] - reach[k]),
            float(known.value[order[k]] + reach[k]),
            1 + sum((other, name) in apart for other in names),
            len(names) - sum((name, other) in apart for other in names),
            letters.get(name, ""),
            tuple(chances[k].tolist()),
            float(expected[k]),
        )
        for k, name in enumerate(names)
    )
    return Leaderboard(places, pairs, alpha, seed, len(drawn))


def _pairs(
    names: Sequence[str], value: Floats, covariance: Floats, df: Floats, alpha: float, seed: int
) -> tuple[RankPair, ...]:
    rows, columns = np.triu_indices(len(names), 1)
    freedom, variance = df[rows, columns], _variances(covariance)[rows, columns]
    error = np.sqrt(np.maximum(variance, 0.0))
    difference = value[rows] - value[columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, difference / error, np.where(difference == 0, 0.0, np.inf))
    law = LargestT(covariance, np.stack([rows, columns], axis=1), seed)
    corrected = law.p_values(t, freedom)
    reach = law.critical_values(freedom, alpha) * error
    single = two_sided_p(t, freedom)
    return tuple(
        RankPair(
            names[i],
            names[j],
            float(difference[k]),
            float(error[k]),
            float(freedom[k]),
            float(single[k]),
            float(max(corrected[k], single[k])),
            float(difference[k] - reach[k]),
            float(difference[k] + reach[k]),
            bool(max(corrected[k], single[k]) <= alpha),
        )
        for k, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))
    )


def _shared(chances: Floats, value: Floats, covariance: Floats) -> Floats:
    """Chances of ranks (K, K), shared evenly by systems that nothing tells apart: the same score on every item."""
    scale = float(np.diag(covariance).max())
    apart = np.abs(value[:, None] - value[None, :])
    alike = (_variances(covariance) <= _ROUNDING * scale) & (apart <= math.sqrt(_ROUNDING * scale))
    return np.asarray((alike / alike.sum(axis=1, keepdims=True)) @ chances)


def _variances(covariance: Floats) -> Floats:
    """Variances of all differences, (K, K)."""
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - 2 * covariance)
