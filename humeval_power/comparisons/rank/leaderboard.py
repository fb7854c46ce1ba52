"""From estimates of K systems to a leaderboard: pairs, ranks, who may be first, tiers, chances of ranks.

Nothing is larger than K x K, or than draws x K.

Tests of all ordered pairs of K systems at once: Holm's, or by the law of the largest statistic.

The hypotheses are "i is no better than j", one-sided, for both orders of every pair: each rejection has a
direction, and stepping down does not lose it (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import BattleTies, BoardTest, PairTest, Tasks
from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.battles import Battles
from humeval_power.comparisons.rank.bradley_terry import (
    BattleFit,
    clustered_errors,
    exact_tails,
    fit_battles,
    independent_errors,
    newcomers,
    outcome_law,
)
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError, refusal
from humeval_power.inference.clustered import (
    ClusteredMean,
    bell_mccaffrey_df,
    clustered_covariance,
    clustered_mean,
)
from humeval_power.inference.student_t import critical_values
from humeval_power.studies.fit.many_systems import group_letters, groups_of

Floats = NDArray[np.float64]


def one_sided_p(t: Floats, df: Floats) -> Floats:
    """P(T >= t); of the normal distribution where df is infinite."""
    known = np.isinf(df)
    return np.asarray(np.where(known, special.ndtr(-t), special.stdtr(np.where(known, 1.0, df), -t)))


def holm(p: Floats) -> Floats:
    """Adjusted p-values (P,) of pairs in the direction seen, one-sided `p`, among the 2P ordered hypotheses (Holm
    1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((2 * len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)


def max_t(
    p: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64], draws: Floats
) -> tuple[Floats, Floats]:
    """Adjusted p-values (P,) by Romano and Wolf's step-down (2005), and the largest |z| of all pairs in each
    draw (B,). p : (P,), one-sided, of "rows[q] is no better than columns[q]" in the direction seen. draws : (B,
    K) errors of the estimates, of which every pair is divided by its own standard deviation."""
    covariance = np.atleast_2d(draws.T @ draws) / len(draws)
    own = np.diag(covariance)
    variance = own[rows] + own[columns] - 2 * covariance[rows, columns]
    scale = np.zeros(len(rows))
    there = variance > 1e-13 * max(float(own.max()), 1e-300)
    scale[there] = 1 / np.sqrt(variance[there])
    z = -special.ndtri(np.clip(p, 1e-300, 1.0))
    reached, largest = step_down(z, rows, columns, draws, scale)
    order = np.argsort(-z, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + reached[order]) / (1 + len(draws)))
    return adjusted, largest


def step_down(
    statistic: Floats,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    draws: Floats,
    scale: Floats,
) -> tuple[NDArray[np.int64], Floats]:
    """In how many draws the largest statistic of what is left reaches that of each pair (P,); the largest of all
    (B,).

    At place r of the pairs, the largest statistic first, a draw's statistic is the largest of all reversed pairs
    and of the pairs from r on: one pass upwards from the smallest.
    """
    x = np.ascontiguousarray(draws.T)
    largest, one = np.full(len(draws), -np.inf), np.empty(len(draws))
    for i, j, by in zip(rows.tolist(), columns.tolist(), scale.tolist(), strict=True):
        np.subtract(x[j], x[i], out=one)
        np.multiply(one, by, out=one)
        np.maximum(largest, one, out=largest)
    reached = np.zeros(len(rows), dtype=np.int64)
    for q in np.argsort(-statistic, kind="stable")[::-1].tolist():
        np.subtract(x[rows[q]], x[columns[q]], out=one)
        np.multiply(one, scale[q], out=one)
        np.maximum(largest, one, out=largest)
        reached[q] = np.count_nonzero(largest >= statistic[q])
    return reached, largest


# Tests of all pairs of systems by random signs of the clusters' sums, the null hypothesis imposed.

Codes = NDArray[np.int64]
_ALL = 14  # clusters of which every vector of signs is tried
_DRAWS = 10_000
_CLOSE = 1e-9  # statistics that differ by rounding alone are equal


@dataclass(frozen=True, slots=True, eq=False)
class SignTests:
    """One-sided p-values (P,) of the pairs in the direction seen, each `alone` and `adjusted` for all ordered
    pairs; `best` (K,) that of "no other is better", over the rivals of each."""

    alone: Floats
    adjusted: Floats
    best: Floats


def sign_tests(sums: Floats, rows: Codes, columns: Codes, *, level: float, seed: int) -> SignTests:
    """Test pairs by sums (G, K) of the clusters' scores, which are not centred. InputError: so few clusters
    that no pair could be found at this level."""
    G = len(sums)
    if level < 2.0 ** (1 - G):
        rule = (
            f"signs of {G} clusters have no p-value below {2.0 ** (1 - G):.3g}, and alpha is {level:.3g}."
        )
        raise refusal(rule, "Test by Holm's method: leave out --correction signs.")
    if G <= _ALL:
        signs = 1 - 2 * ((np.arange(2**G)[:, None] >> np.arange(G)) & 1)
    else:
        signs = np.random.default_rng([seed, 2]).choice(np.array([-1, 1]), (_DRAWS, G))
    drawn = signs.astype(np.float64) @ sums
    squares = sums.T @ sums
    own = np.diag(squares)
    size = own[:, None] + own[None, :] - 2 * squares
    there = size > 1e-13 * max(float(own.max()), 1e-300)
    scale = np.zeros_like(size)
    scale[there] = 1 / np.sqrt(size[there])
    total = sums.sum(axis=0)
    statistic = (total[:, None] - total) * scale - _CLOSE
    reached, _ = step_down(statistic[rows, columns], rows, columns, drawn, scale[rows, columns])
    x = np.ascontiguousarray(drawn.T)
    alone = np.array(
        [
            np.count_nonzero((x[i] - x[j]) * scale[i, j] >= statistic[i, j])
            for i, j in zip(rows, columns, strict=True)
        ]
    )
    best = np.full(len(total), len(drawn))
    for j in np.unique(columns):
        rivals = np.delete(np.arange(len(total)), j)
        largest = ((x[rivals] - x[j]) * scale[rivals, j, None]).max(axis=0)
        best[j] = np.count_nonzero(largest >= statistic[rivals, j].max())
    identity = 0 if G <= _ALL else 1  # among all vectors it is one; beside those drawn it is one more
    share = [(identity + count) / (identity + len(drawn)) for count in (alone, reached, best)]
    order = np.argsort(-statistic[rows, columns], kind="stable")
    share[1][order] = np.maximum.accumulate(share[1][order])
    return SignTests(*share)


# How many more items, tasks or battles show a difference: by the present standard errors, which shrink as
# 1 / sqrt(n).


@dataclass(frozen=True, slots=True)
class FurtherData:
    """How many times the present data tell the first two systems apart with this power, at their estimated
    difference (`times`) and `at_end` of its interval that is nearest to none (None: it holds none); `alone`: the
    first from all others. `votes` are battles between just the first two that would do. None where there is no
    number."""

    first: str
    second: str
    is_apart: bool
    times: float
    at_end: float | None
    alone: float | None
    votes: float | None
    power: float


def times_needed(difference: float, standard_error: float, critical: float, *, power: float = 0.8) -> float:
    """How many times the present data show this difference; infinite where it is none."""
    if not difference > 0:
        return math.inf
    return float(((critical + special.ndtri(power)) * standard_error / difference) ** 2)


def times_until_alone(
    value: Floats, error_to_first: Floats, critical: float, draws: Floats, *, power: float = 0.8
) -> float:
    """How many times the present data show the first to be better than each of the others. value : (K,), the
    first the largest. error_to_first : (K - 1,), standard errors of the differences from it. draws : (B, K)
    errors of the estimates at the present size."""
    gap = value[0] - value[1:]
    if not (gap > 0).all():
        return math.inf
    short = (critical * error_to_first - (draws[:, :1] - draws[:, 1:])) / gap
    return float(np.quantile(np.maximum(short.max(axis=1), 0.0), power) ** 2)


def direct_votes(
    difference: float,
    variance: float,
    information: float,
    critical: float,
    *,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> float:
    """Battles between just two systems, each with this `information` about their difference, until it is shown
    (Sherman and Morrison's update of the variance)."""
    if not difference > 0:
        return math.inf
    wanted = (difference / (critical + special.ndtri(power))) ** 2
    return max(float(design_effect * (1 / wanted - 1 / variance) / information), 0.0)


Flags = NDArray[np.bool_]
DEFAULT_SEED = 1952
N_DRAWS = 10_000
_ROUNDING = 1e-14  # of a variance
MOST_LETTERED = 26  # systems; of more, tiers are shown
POWER_OF_MORE = 0.8
_CLUSTERS_PER_SYSTEM, _LEAST_DF = 3, 100.0  # with fewer the drawn law is too narrow


@dataclass(frozen=True, slots=True, eq=False)
class StrengthEstimates:
    """What is known of K systems, larger being better.

    `value` (K,) and `covariance` (K, K) are of estimates that may be known up to a constant only; `df` (K, K) of
    the variance of each difference, infinite where it is known. `low` and `high` (K,) are the interval of each
    system's own value. `n_clusters` are what was drawn: clusters, items, voters or battles. `exact` (K, K) are
    one-sided p-values of "the row's system is no better than the column's" that are not from t, NaN elsewhere.
    `part` (K,) is of each system; those of different parts cannot be compared. `sums` (G, K) are of the clusters'
    scores, for tests by signs.
    """

    systems: tuple[str, ...]
    value: Floats
    covariance: Floats
    df: Floats
    low: Floats
    high: Floats
    n_clusters: int
    exact: Floats | None = None
    part: Codes | None = None
    sums: Floats | None = None


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """One system: its value with an interval of its own, what the tests leave of its rank and tier, its groups'
    letters, whether it may be first, and its ranks in draws (`chances` of rank 1, 2, ...; `expected` rank)."""

    system: str
    value: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    may_be_first: bool
    tier_low: int
    tier_high: int
    letters: str
    chances: tuple[float, ...]
    expected: float
    part: int

    @property
    def best(self) -> float:
        """The chance of the first rank; no p-value."""
        return self.chances[0]

    @property
    def width(self) -> int:
        """How many places it may have."""
        return self.rank_high - self.rank_low + 1


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


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """All comparable pairs as arrays (P,); `rows` and `columns` point to the better and the worse in the board's
    order."""

    rows: Codes
    columns: Codes
    difference: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    corrected_p: Floats
    reach: Floats
    significant: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Leaderboard:
    """Systems, best first, part by part, and the pairs that were tested.

    `alpha` is the chance of any false statement about a pair, at this `look` where the board has several. `only` is
    the system that was named beforehand: then its pairs alone were tested. `more` says how many data would tell the
    first apart. `breaks` are the numbers r for which each of the first r is apart from each of the rest.
    """

    places: tuple[BoardPlace, ...]
    tested: Pairs
    alpha: float
    test: BoardTest
    seed: int
    breaks: tuple[int, ...]
    only: str | None = None
    more: FurtherData | None = None
    look: int | None = None
    sign: int = 1

    @property
    def n_draws(self) -> int:
        """Draws of the ranks."""
        return N_DRAWS

    @property
    def n_parts(self) -> int:
        """Parts that never met."""
        return 1 + max(each.part for each in self.places)

    @property
    def n_tiers(self) -> int:
        """Levels that are different, at least."""
        return max(each.tier_high for each in self.places)

    @property
    def has_letters(self) -> bool:
        """Whether groups are shown, or tiers."""
        return len(self.places) <= MOST_LETTERED and self.only is None

    @property
    def n_pairs(self) -> int:
        """Pairs that were tested."""
        return len(self.tested.rows)

    @property
    def n_apart(self) -> int:
        """Pairs in which a difference is shown."""
        return int(self.tested.significant.sum())

    @property
    def pairs(self) -> Iterator[RankPair]:
        """The pairs one by one, in the units of the values."""
        return map(self._pair, range(self.n_pairs))

    @property
    def neighbours(self) -> Iterator[RankPair]:
        """The pairs of systems that follow each other."""
        return map(self._pair, np.flatnonzero(self.tested.columns - self.tested.rows == 1).tolist())

    def _pair(self, q: int) -> RankPair:
        of = self.tested
        difference, reach = self.sign * of.difference[q], of.reach[q]
        return RankPair(
            self.places[of.rows[q]].system,
            self.places[of.columns[q]].system,
            float(difference),
            float(of.standard_error[q]),
            float(of.df[q]),
            float(of.p_value[q]),
            float(of.corrected_p[q]),
            float(difference - reach),
            float(difference + reach),
            bool(of.significant[q]),
        )


def level_of_look(alpha: float, look: int | None) -> float:
    """The level of one of endless looks at a living board, which together err with probability alpha at most."""
    return alpha if look is None else 6 * alpha / (math.pi * look) ** 2


def alpha_of_looks(alpha: float, look: int | None) -> float:
    """The alpha of all looks together, from the level of one of them."""
    return alpha if look is None else alpha * (math.pi * look) ** 2 / 6


def leaderboard(
    known: StrengthEstimates,
    *,
    alpha: float = 0.05,
    test: BoardTest = "holm",
    only: str | None = None,
    seed: int = DEFAULT_SEED,
) -> Leaderboard:
    """All that is said of an order of systems.

    Ranks, tiers and groups follow from tests of all ordered pairs at level `alpha` in total: while no test errs,
    which has probability 1 - alpha, all of them hold (Mogstad, Romano, Shaikh and Wilhelm 2024). Who may be first
    follows from comparisons with the best (Hsu 1984): the best is missing with probability alpha at most. Parts
    share alpha evenly.

    Raises
    ------
    InputError
        `test` is "max-t" or "signs" and the clusters are too few for it; or there is no system `only`.
    """
    K = len(known.systems)
    part = np.zeros(K, dtype=np.int64) if known.part is None else known.part
    order = np.lexsort((-known.value, part))
    names, part, value = [known.systems[k] for k in order], part[order], known.value[order]
    covariance, df = known.covariance[np.ix_(order, order)], known.df[np.ix_(order, order)]
    exact = None if known.exact is None else known.exact[np.ix_(order, order)]
    if only is not None and only not in names:
        raise InputError(f"There is no system {only!r}; the systems are {', '.join(names)}.")
    rows, columns = np.triu_indices(K, 1)
    comparable = part[rows] == part[columns]
    if only is not None:
        comparable &= (rows == names.index(only)) | (columns == names.index(only))
    rows, columns = rows[comparable], columns[comparable]
    draws = _errors(covariance, seed)
    if test == "max-t":
        _check_many_clusters(known.n_clusters, K, float(df[rows, columns].min(initial=np.inf)))
    n_parts = len(np.unique(part)) if only is None else 1
    level = alpha / n_parts
    variance = np.maximum(_variances(covariance)[rows, columns], 0.0)
    error, freedom, difference = np.sqrt(variance), df[rows, columns], value[rows] - value[columns]
    p = _one_sided(difference, variance, freedom, known, float(np.diag(covariance).max()))
    if exact is not None:
        p = np.where(np.isnan(exact[rows, columns]), p, exact[rows, columns])
    signs = None
    if test == "signs":
        assert known.sums is not None
        signs = sign_tests(known.sums[:, order], rows, columns, level=level, seed=seed)
        p = signs.alone
    corrected, reach = np.ones(len(p)), np.zeros(len(p))
    for each in np.unique(part[rows]):
        of = part[rows] == each
        if test == "max-t":
            adjusted, largest = max_t(p[of], rows[of], columns[of], draws)
            corrected[of] = np.maximum(adjusted, p[of])
            critical = np.quantile(largest, 1 - level, method="higher")
            tail = one_sided_p(np.array(critical), np.array(np.inf))
        else:
            corrected[of] = holm(p[of]) if signs is None else signs.adjusted[of]
            tail = np.array(level / (2 * of.sum()))
        reach[of] = critical_values(freedom[of], float(tail)) * error[of]
    corrected = np.minimum(corrected * n_parts, 1.0)
    significant = corrected <= alpha
    apart = np.zeros((K, K), dtype=np.bool_)
    apart[rows[significant], columns[significant]] = True
    single = np.minimum(2 * p, 1.0)
    pairs = Pairs(rows, columns, difference, error, freedom, single, corrected, reach, significant)
    chances = _chances(value, covariance, float(df.min()), draws, part, seed)
    size = np.bincount(part)[part]
    tier_low, tier_high = tiers(apart, part)
    first = (
        _may_be_first(p, columns, part, level, draws if test == "max-t" else None)
        if signs is None
        else signs.best > level
    )
    letters: dict[str, str] = {}
    if only is None and K <= MOST_LETTERED:
        separate = [(names[i], names[j]) for i, j in zip(*np.nonzero(apart), strict=True)]
        separate += [(names[i], names[j]) for i, j in zip(*np.nonzero(part[:, None] < part), strict=True)]
        letters = group_letters(groups_of(names, separate, most=MOST_LETTERED))
    places = tuple(
        BoardPlace(
            name,
            float(value[k]),
            float(known.low[order[k]]),
            float(known.high[order[k]]),
            int(1 + apart[:, k].sum()),
            int(size[k] - apart[k].sum()),
            bool(first[k]),
            int(tier_low[k]),
            int(tier_high[k]),
            letters.get(name, ""),
            tuple(chances[k, : size[k]].tolist()),
            float(chances[k] @ np.arange(1, K + 1)),
            int(part[k]),
        )
        for k, name in enumerate(names)
    )
    if n_parts > 1 or only is not None:
        return Leaderboard(places, pairs, alpha, test, seed, (), only)
    more = _further(names, value, variance[: K - 1], reach[: K - 1], bool(significant[0]), draws)
    return Leaderboard(places, pairs, alpha, test, seed, breaks(apart), None, more)


def _further(
    names: list[str], value: Floats, variance: Floats, reach: Floats, is_apart: bool, draws: Floats
) -> FurtherData | None:
    """By the pairs of the first system, with the critical value of the pair with the second."""
    error = np.sqrt(variance)
    if not (error > 0).all():
        return None
    critical, gap = float(reach[0] / error[0]), float(value[0] - value[1])
    times = times_needed(gap, float(error[0]), critical)
    alone = times_until_alone(value, error, critical, draws)
    end = times_needed(gap - float(reach[0]), float(error[0]), critical)
    return FurtherData(
        names[0], names[1], is_apart, times, _number(end), _number(alone), None, POWER_OF_MORE
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def tiers(apart: Flags, part: Codes | None = None) -> tuple[Codes, Codes]:
    """The lowest and highest tier (K,) of systems in the order of their estimates, `apart[i, j]` where i is better
    than j.

    One more than the longest chain of systems apart above it; the longest chain at all less that below it. Two
    with the same lowest tier are never apart (Mirsky 1971).
    """
    K = len(apart)
    above, below = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)
    for k in range(K):
        above[k] = max((above[:k][apart[:k, k]] + 1), default=0)
    for k in range(K - 1, -1, -1):
        below[k] = max((below[k + 1 :][apart[k, k + 1 :]] + 1), default=0)
    part = np.zeros(K, dtype=np.int64) if part is None else part
    longest = np.array([above[part == each].max() for each in range(int(part.max()) + 1)])
    return above + 1, 1 + longest[part] - below


def breaks(apart: Flags) -> tuple[int, ...]:
    """After how many systems, in the order of the estimates, every one is apart from every one that follows."""
    return tuple(r for r in range(1, len(apart)) if apart[:r, r:].all())


def _one_sided(
    difference: Floats, variance: Floats, df: Floats, known: StrengthEstimates, largest: float
) -> Floats:
    """P-values of the pairs; a difference that never varies has the sign test's."""
    never = variance <= _ROUNDING * largest
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(never, 0.0, difference / np.sqrt(variance))
    p = one_sided_p(t, df)
    alike = difference <= math.sqrt(_ROUNDING * max(largest, 1e-300))
    return np.where(never, np.where(alike, 0.5, 0.5**known.n_clusters), p)


def _may_be_first(p: Floats, columns: Codes, part: Codes, alpha: float, draws: Floats | None) -> Flags:
    """Systems that no other is better than, each tested against all others of its part (Hsu 1984)."""
    stays = np.ones(len(part), dtype=np.bool_)
    for j in np.unique(columns):
        others = np.flatnonzero((part == part[j]) & (np.arange(len(part)) != j))
        smallest, bound = float(p[columns == j].min()), alpha / len(others)
        if draws is not None and bound < smallest <= alpha:  # elsewhere the law cannot decide otherwise
            against = draws[:, others] - draws[:, [j]]
            spread = np.sqrt((against**2).mean(axis=0))
            top = np.divide(against, spread, out=np.zeros_like(against), where=spread > 0).max(axis=1)
            bound = float(one_sided_p(np.quantile(top, 1 - alpha, method="higher"), np.array(np.inf)))
        stays[j] = smallest > bound
    return stays


def _check_many_clusters(n_clusters: int, K: int, df: float) -> None:
    if n_clusters < _CLUSTERS_PER_SYSTEM * K or df < _LEAST_DF:
        rule = (
            f"the law of the largest t is too narrow with {n_clusters:,} clusters and {df:.1f} degrees of "
            f"freedom for {K} systems; it needs {_CLUSTERS_PER_SYSTEM * K:,} and {_LEAST_DF:g}."
        )
        raise refusal(rule, "Test by Holm's method: leave out --correction max-t.")


def _errors(covariance: Floats, seed: int) -> Floats:
    """Draws of the errors of the estimates, (B, K)."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    return np.asarray(np.random.default_rng(seed).standard_normal((N_DRAWS, root.shape[1])) @ root.T)


def _chances(value: Floats, covariance: Floats, df: float, draws: Floats, part: Codes, seed: int) -> Floats:
    """Chances of ranks (K, K) inside parts: one scale a draw, so that every difference has the t of the fewest
    df."""
    K = len(value)
    scale = np.ones(len(draws))
    if math.isfinite(df):
        scale = np.sqrt(df / np.random.default_rng([seed, 1]).chisquare(df, len(draws)))
    chances = np.zeros((K, K))
    for each in np.unique(part):
        of = np.flatnonzero(part == each)
        drawn = value[of] + draws[:, of] * scale[:, None]
        order = np.argsort(-drawn, axis=1)
        at = order * K + np.arange(len(of))
        counts = np.bincount(at.ravel(), minlength=K * len(of)).reshape(len(of), K)
        chances[of] = counts / len(draws)
    largest = float(np.diag(covariance).max())
    near = np.abs(value[:, None] - value[None, :]) <= math.sqrt(_ROUNDING * largest)
    alike = (_variances(covariance) <= _ROUNDING * largest) & near & (part[:, None] == part)
    return np.asarray((alike / alike.sum(axis=1, keepdims=True)) @ chances)


def _variances(covariance: Floats) -> Floats:
    """Variances of all differences, (K, K)."""
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - 2 * covariance)


# Systems in the order of their strengths in battles: wins, ties and losses of two at a time.


@dataclass(frozen=True, slots=True, eq=False)
class OrderEffect:
    """The share that prefers what is shown first of two that are equal, ties half; its interval and p-value."""

    share: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class StyleEffect:
    """What a difference of one `sd` in a covariate adds to the logit of the first."""

    name: str
    sd: float
    slope: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class BattleRanking:
    """Strengths as logits about the mean of their part, and the order that they give.

    `win_share` (K,) is the expected share that a system wins of battles against the others of its part, each as
    often as the others and in both orders, ties counted half; in the order of `battles.systems`. `newcomers` are
    systems with few wins or few losses. `design_effect` is the mean variance of differences over that of
    independent battles; NaN without clusters. `order_reason` says why no effect of the order is estimated. With
    covariates strengths are at equal style. `ties` and `position_bias` are what was asked.
    """

    battles: Battles
    fit: BattleFit
    board: Leaderboard
    win_share: Floats
    newcomers: tuple[str, ...]
    order: OrderEffect | None
    order_reason: str
    tie_share_if_equal: float
    design_effect: float
    smallest_df: float
    alpha: float
    ties: BattleTies
    position_bias: bool
    style: tuple[StyleEffect, ...]


def rank_battles(
    battles: Battles,
    *,
    ties: BattleTies = "davidson",
    position_bias: bool = True,
    alpha: float = 0.05,
    test: PairTest = "holm",
    only: str | None = None,
    look: int | None = None,
    seed: int = DEFAULT_SEED,
) -> BattleRanking:
    """Rank systems by Bradley and Terry's model; errors by clusters of battles where they are known.
    InputError: battles that put nothing into an order, or what `leaderboard` refuses."""
    whole_alpha, alpha = alpha, level_of_look(alpha, look)
    reason = "" if position_bias else "It was not asked for."
    if position_bias and not battles.both_orders:
        reason = "No two systems were shown in both orders, so that it cannot be told from their strengths."
    fit = fit_battles(battles, ties=ties, with_order=not reason)
    plain = independent_errors(fit)
    known = battles.clusters
    errors = plain if known is None else clustered_errors(fit, battles, known)
    K = fit.n_systems
    covariance = errors.covariance[:K, :K]
    few = newcomers(battles, fit)
    reach = critical_values(np.diag(errors.df), alpha / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    low, high = fit.strengths - reach, fit.strengths + reach
    for k, one in few.items():
        low[k], high[k] = (-math.inf, math.inf) if one is None else one.bounds(alpha)
    estimates = StrengthEstimates(
        battles.systems,
        fit.strengths,
        covariance,
        errors.df,
        low,
        high,
        battles.n if known is None else known.n_clusters,
        exact_tails(few, fit),
        fit.part,
    )
    board = replace(leaderboard(estimates, alpha=alpha, test=test, only=only, seed=seed), look=look)
    if board.more is not None and not board.more.is_apart:
        votes = _votes(battles.systems, fit, covariance, board)
        board = replace(board, more=replace(board.more, votes=votes))
    return BattleRanking(
        battles=battles,
        fit=fit,
        board=board,
        win_share=_win_shares(fit),
        newcomers=tuple(battles.systems[k] for k in few),
        order=_order_effect(fit, errors.covariance, float(errors.df.min()), alpha),
        order_reason=reason,
        tie_share_if_equal=_half(fit, 0.0)[1],
        design_effect=math.nan
        if known is None
        else float(np.trace(covariance) / np.trace(plain.covariance[:K, :K])),
        smallest_df=float(errors.df.min()),
        alpha=whole_alpha,
        ties=ties,
        position_bias=position_bias,
        style=tuple(_style_effects(battles, fit, errors.covariance, float(errors.df.min()), alpha)),
    )


def _votes(names: tuple[str, ...], fit: BattleFit, covariance: Floats, board: Leaderboard) -> float | None:
    """Battles between just the first two, in both orders, that show their difference."""
    i, j = (names.index(board.places[place].system) for place in (0, 1))
    variance, plain = (of[i, i] + of[j, j] - 2 * of[i, j] for of in (covariance, fit.covariance))
    gap = float(fit.strengths[i] - fit.strengths[j])
    etas = gap + np.array([1, -1]) * (fit.order or 0.0)
    known = float(outcome_law(etas, fit.tie, fit.ties or "davidson").information[:, 0].mean())
    critical = float(board.tested.reach[0] / board.tested.standard_error[0])
    votes = direct_votes(gap, variance, known, critical, design_effect=float(variance / plain))
    return votes if math.isfinite(votes) else None


def _half(fit: BattleFit, eta: float) -> tuple[float, float]:
    """The share of wins with ties half, and that of ties, at a strength."""
    share = outcome_law(np.array([eta]), fit.tie, fit.ties or "davidson").share[0]
    return float(share[0] + share[1] / 2), float(share[1])


def _win_shares(fit: BattleFit) -> Floats:
    value, bias = fit.strengths, fit.order or 0.0
    difference = value[:, None] - value[None, :]
    wins = np.zeros_like(difference)
    for eta in (difference + bias, difference - bias):
        share = outcome_law(eta, fit.tie, fit.ties or "davidson").share
        wins += (share[..., 0] + share[..., 1] / 2) / 2
    others = fit.part[:, None] == fit.part
    np.fill_diagonal(others, False)
    return np.asarray((wins * others).sum(axis=1) / others.sum(axis=1))


def _style_effects(
    battles: Battles, fit: BattleFit, covariance: Floats, df: float, alpha: float
) -> Iterator[StyleEffect]:
    if battles.covariates is None:
        return
    freedom = np.array(df)
    error = np.sqrt(np.diag(covariance)[fit.slopes])
    reach = float(critical_values(freedom, alpha / 2)) * error
    slope = fit.parameters[fit.slopes]
    p = 2 * one_sided_p(np.abs(slope) / error, freedom)
    columns = (battles.covariates.sd, slope, slope - reach, slope + reach, p)
    for name, *row in zip(fit.covariates, *(each.tolist() for each in columns), strict=True):
        yield StyleEffect(name, *row)


def _order_effect(fit: BattleFit, covariance: Floats, df: float, alpha: float) -> OrderEffect | None:
    if fit.order is None:
        return None
    error, freedom = math.sqrt(covariance[fit.n_systems, fit.n_systems]), np.array(df)
    reach = float(critical_values(freedom, alpha / 2)) * error
    share, low, high = (_half(fit, eta)[0] for eta in (fit.order, fit.order - reach, fit.order + reach))
    p = 2 * float(one_sided_p(np.array(abs(fit.order) / error), freedom))
    return OrderEffect(share, low, high, p)


# Systems in the order of their mean scores on the same items, which may come in clusters.


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRanking:
    """Mean scores of `table` and the order that they give, at `df` degrees of freedom, the fewest of a pair. Where
    less is better the first of the board have the smallest means. `top` is the difference of the first two, as
    clusters change it. `tasks` says whether the clusters are a sample of what could be asked, or all that
    matters."""

    table: ScoreTable
    board: Leaderboard
    lower_is_better: bool
    tasks: Tasks
    df: float
    top: ClusteredMean


def rank_scores(
    table: ScoreTable,
    *,
    lower_is_better: bool = False,
    tasks: Tasks = "sampled",
    alpha: float = 0.05,
    test: BoardTest = "holm",
    only: str | None = None,
    look: int | None = None,
    seed: int = DEFAULT_SEED,
) -> ScoreRanking:
    """Rank systems by their means; errors are CR2's with the degrees of freedom of Bell and McCaffrey (2002),
    or of strata. InputError: tasks are fixed, and there are none or one has a single item; or what
    `leaderboard` refuses."""
    alpha = level_of_look(alpha, look)
    n, K = table.n_items, len(table.systems)
    sign = -1.0 if lower_is_better else 1.0
    sums = None
    if tasks == "fixed":
        if test == "signs":
            rule = "--correction signs draws the signs of whole tasks, which are a sample then."
            raise refusal(rule, "Leave out --tasks fixed, or test by Holm's method.")
        covariance, df, own_df = stratified_covariance(table.scores, _strata(table))
        n_clusters = n
    else:
        clusters = table.clusters or Clusters(np.arange(n), tuple(map(str, range(n))))
        covariance, sums = clustered_covariance(table.scores, clusters), sign * clusters.sums(table.scores)
        freedom = bell_mccaffrey_df(clusters.sizes.astype(np.float64))
        df, own_df, n_clusters = np.full((K, K), freedom), np.full(K, freedom), clusters.n_clusters
    value = sign * table.scores.mean(axis=0)
    reach = critical_values(own_df, alpha / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = StrengthEstimates(
        table.systems, value, covariance, df, value - reach, value + reach, n_clusters, sums=sums
    )
    board = replace(leaderboard(known, alpha=alpha, test=test, only=only, seed=seed), look=look)
    first, second = (board.places[place].system for place in (0, 1))
    top = clustered_mean(sign * (table.column(first) - table.column(second)), table.clusters)
    if lower_is_better:
        places = (replace(one, value=-one.value, low=-one.high, high=-one.low) for one in board.places)
        board = replace(board, places=tuple(places), sign=-1)
    return ScoreRanking(table, board, lower_is_better, tasks, float(df.min()), top)


def stratified_covariance(scores: Floats, strata: Clusters) -> tuple[Floats, Floats, Floats]:
    """Covariance (K, K) of the K means where the strata are all that matters and their items a sample, and the df
    of Satterthwaite (1946) of differences (K, K) and of means (K,)."""
    n, K = scores.shape
    covariance, squares, own_squares = np.zeros((K, K)), np.zeros((K, K)), np.zeros(K)
    for members in strata.members():
        inside = scores[members] - scores[members].mean(axis=0)
        part = inside.T @ inside * (len(members) / (len(members) - 1) / n**2)
        own = np.diag(part)
        covariance += part
        squares += (own[:, None] + own[None, :] - 2 * part) ** 2 / (len(members) - 1)
        own_squares += own**2 / (len(members) - 1)
    own = np.diag(covariance)
    variance = own[:, None] + own[None, :] - 2 * covariance
    most = float(n - strata.n_clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, variance**2 / squares, most)
        own_df = np.where(own_squares > 0, own**2 / own_squares, most)
    return covariance, np.maximum(df, 1.0), np.maximum(own_df, 1.0)


def _strata(table: ScoreTable) -> Clusters:
    if table.clusters is None:
        rule = "--tasks fixed needs the column of the tasks: task means do not show how well each is known."
        raise refusal(rule, "Give scores of single items, and --cluster.", table.source or None)
    alone = table.clusters.sizes < 2
    if alone.any():
        name = table.clusters.labels[int(np.flatnonzero(alone)[0])]
        many = int(alone.sum())
        rule = f"--tasks fixed needs 2 items or more in every task; {many:,} have one, {name!r} the first."
        remedy = "Leave these out, or take tasks as a sample: --tasks sampled."
        raise refusal(rule, remedy, table.source or None)
    return table.clusters
