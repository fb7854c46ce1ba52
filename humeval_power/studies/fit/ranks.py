"""Which place a system has: intervals of ranks that follow from tests, and chances of ranks by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.rules import DecisionRule
from humeval_power.studies.fit.joint_comparison import referred
from humeval_power.studies.fit.many_systems import SystemsAnalysis
from humeval_power.studies.fit.max_t import DEFAULT_SEED, contrasts_of, factor_of

Floats = NDArray[np.float64]

_VARIANCE_DRAWS = 4_000
_DRAWS_OF_EACH = 10  # of the means at drawn variances: half of them, and their mirror images
_AT_ONCE = 256  # drawn variances of all pairs that stand in matrices at once
_LEAST_CHANCE = 1e-15


@dataclass(frozen=True, slots=True)
class SystemRank:
    """The place of one system in simulated orders.

    `chances` (K,) are those of the ranks 1, 2, ...; `expected` is the mean rank, and `low` to `high` holds all but
    alpha / 2 of the draws at each end. These describe what the ratings leave open; none is a p-value.
    """

    system: str
    chances: tuple[float, ...]
    expected: float
    low: int
    high: int

    @property
    def best(self) -> float:
        """The chance of the first rank."""
        return self.chances[0]


@dataclass(frozen=True, slots=True)
class SimulatedRanks:
    """Places of all systems in `n_draws` draws made from `seed`; without draws `reason` says why."""

    systems: tuple[SystemRank, ...] = ()
    n_draws: int = 0
    seed: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """What is known of the differences of K systems.

    `centre` (K,) are means up to a constant. `variance` (K, K) is that of each difference as its test takes it,
    `df` (K, K) how well it is known. The rows of `together` (pairs, q), of length 1, have the correlations of these
    variances as products, pairs in the order of `combinations`; None for one that moves all of them at once.
    """

    centre: Floats
    variance: Floats
    df: Floats
    together: Floats | None = None


def rank_intervals(analysis: SystemsAnalysis) -> dict[str, tuple[int, int]]:
    """First and last rank of each system that the corrected tests leave: 1 + the systems that are significantly
    better, to K - those that are significantly worse.

    While no test errs all of these intervals hold the ranks, whatever the ties: together they cover with the
    confidence of the correction (Al Mohamad, Goeman and van Zwet 2022; Mogstad, Romano, Shaikh and Wilhelm 2024).
    Empty against a baseline, and where the tests are of a margin.
    """
    if not analysis.groups:
        return {}
    shown = [one for one in analysis.results if one.significant]
    losers = [one.first if one.test.estimate > 0 else one.second for one in shown]
    winners = [one.second if one.test.estimate > 0 else one.first for one in shown]
    K = len(analysis.means)
    return {
        one.system: (1 + losers.count(one.system), K - winners.count(one.system)) for one in analysis.means
    }


def simulate_ranks(analysis: SystemsAnalysis, *, seed: int = DEFAULT_SEED) -> SimulatedRanks:
    """Ranks of the systems in draws of their means, from the fits whose tests are shown.

    Variances are drawn first, each so that its difference has the t distribution of its test, then the means.
    With flat priors on the differences this is their distribution after the ratings.
    """
    names = tuple(one.system for one in analysis.means)
    reason = _why_not(analysis)
    if reason:
        return SimulatedRanks(reason=reason)
    rule = analysis.results[0].test.rule
    known = joint_differences(analysis, rule) if analysis.joint is not None else pair_differences(analysis)
    pairs = np.triu_indices(len(names), 1)
    if not (np.isfinite(known.variance[pairs]).all() and (known.df[pairs] > 0).all()):
        return SimulatedRanks(reason="the standard errors of the differences do not exist")
    drawn = draw_means(known, seed=seed)
    return ranks_of(names, drawn, alpha=rule.alpha, seed=seed)


def _why_not(analysis: SystemsAnalysis) -> str:
    untested = [one for one in analysis.results if one.test.reason]
    if untested:
        first = untested[0]
        return f"there is no test of {first.second} - {first.first}: {first.test.reason}"
    K = len(analysis.means)
    if analysis.joint is None and len(analysis.results) < K * (K - 1) // 2:
        return (
            "fits in pairs against a baseline do not tell how the differences of the other systems go together: "
            "compare all pairs, or fit the systems together"
        )
    return ""


def ranks_of(names: Sequence[str], drawn: Floats, *, alpha: float, seed: int | None) -> SimulatedRanks:
    """Ranks in draws of the means (n, K), of which the largest is the best."""
    n, K = drawn.shape
    rank = np.argsort(np.argsort(-drawn, axis=1, kind="stable"), axis=1)
    count = np.array([np.bincount(rank[:, k], minlength=K) for k in range(K)])
    below = np.cumsum(count, axis=1)
    low = (below < alpha / 2 * n).sum(axis=1) + 1
    high = (below < (1 - alpha / 2) * n).sum(axis=1) + 1
    expected = count @ np.arange(1, K + 1) / n
    systems = tuple(
        SystemRank(name, tuple((count[k] / n).tolist()), float(expected[k]), int(low[k]), int(high[k]))
        for k, name in enumerate(names)
    )
    return SimulatedRanks(systems, n, seed)


def joint_differences(analysis: SystemsAnalysis, rule: DecisionRule) -> Differences:
    """The differences of all pairs by one fit of all systems."""
    fitted = analysis.joint
    assert fitted is not None
    K = len(analysis.means)
    contrasts = contrasts_of(list(combinations(range(K), 2)), K)
    _, error, df = referred(fitted, contrasts, rule)
    slopes = np.einsum("ck,qkl,cl->cq", contrasts, fitted.derivatives, contrasts)
    rows = slopes @ factor_of(fitted.uncertainty)
    length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-150)
    return Differences(fitted.means, _square(error**2, K), _square(df, K), rows / length)


def pair_differences(analysis: SystemsAnalysis) -> Differences:
    """The differences of all pairs, each by its own fit; the centre has the differences nearest to theirs."""
    names = [one.system for one in analysis.means]
    K = len(names)
    estimate = np.zeros((K, K))
    variance, df = np.zeros((K, K)), np.zeros((K, K))
    for one in analysis.results:
        i, j = names.index(one.first), names.index(one.second)
        estimate[j, i], estimate[i, j] = one.test.estimate, -one.test.estimate
        variance[i, j] = variance[j, i] = one.test.standard_error**2
        df[i, j] = df[j, i] = one.test.df
    return Differences(estimate.mean(axis=1), variance, df)


def draw_means(
    known: Differences,
    *,
    seed: int,
    n_variances: int = _VARIANCE_DRAWS,
    n_each: int = _DRAWS_OF_EACH,
) -> Floats:
    """Draws of the means up to a constant, shape (n_variances * n_each, K).

    A variance is drawn as its estimate times df / chi-squared(df). With v_ij the drawn variance of a difference,
    the covariance of means about their average is -J v J / 2 (J = I - 1 / K): that of two differences is
    (v_il + v_jk - v_ik - v_jl) / 2. What is negative in it is set to zero: no difference gets less uncertain.
    """
    rng = np.random.default_rng(seed)
    K = len(known.centre)
    rows, columns = np.triu_indices(K, 1)
    variance, df = known.variance[rows, columns], known.df[rows, columns]
    if known.together is None:
        chance = ((np.arange(n_variances) + rng.random(n_variances)) / n_variances)[:, None]
    else:
        score = rng.standard_normal((n_variances, known.together.shape[1]))
    normal = rng.standard_normal((n_variances, K, n_each // 2))
    centring = np.eye(K) - 1 / K
    away = np.empty((n_variances, 2 * (n_each // 2), K))
    for begin in range(0, n_variances, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        tail = chance[part] if known.together is None else special.ndtr(score[part] @ known.together.T)
        drawn = np.zeros((len(tail), K, K))
        drawn[:, rows, columns] = variance * _multiple(df, np.clip(tail, _LEAST_CHANCE, 1 - _LEAST_CHANCE))
        drawn += drawn.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(-0.5 * centring @ drawn @ centring)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        both = np.concatenate([normal[part], -normal[part]], axis=2)
        away[part] = (root @ both).transpose(0, 2, 1)
    return np.asarray(known.centre - known.centre.mean() + away.reshape(-1, K))


def _multiple(df: Floats, chance: Floats) -> Floats:
    """df / chi-squared of that upper tail; 1 where the variance is known."""
    infinite = np.isinf(df)
    finite = np.where(infinite, 1.0, df)
    return np.where(infinite, 1.0, finite / special.chdtri(finite, chance))


def _square(values: Floats, K: int) -> Floats:
    """Values of the pairs as a symmetric matrix, zero on its diagonal."""
    matrix = np.zeros((K, K))
    matrix[np.triu_indices(K, 1)] = values
    return matrix + matrix.T
