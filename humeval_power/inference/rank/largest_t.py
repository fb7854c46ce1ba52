"""The largest |t| of all pairs of K systems whose estimates share one covariance, estimated with few df.

Every pair has a standard error of its own from one estimated covariance matrix, so that the t statistics are no
multivariate t with a common scale. Their law is drawn: normal estimates, and a Wishart matrix (Bartlett 1933).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

N_DRAWS = 20_000
_CELLS = 2_000_000  # numbers in memory at once
_SLACK = 1e-6  # rounding does not cost a degree of freedom
_GRID = (*range(1, 31), 35, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1_000)


@dataclass(frozen=True, slots=True, eq=False)
class LargestT:
    """Law of the largest |t| over `pairs` (n_pairs, 2) of estimates with this covariance (K, K), up to scale.

    Degrees of freedom are rounded down to a grid (cautious), for each of which the law is drawn once from `seed`.
    """

    covariance: Floats
    pairs: Codes
    seed: int
    n_draws: int = N_DRAWS
    _known: dict[float, Floats] = field(default_factory=dict)

    def p_values(self, t: Floats, df: Floats) -> Floats:
        """P(largest |t| >= |t|) of each pair, at that pair's degrees of freedom; shape of `t`."""
        if len(self.pairs) == 1:
            return two_sided_p(t, df)
        found = np.empty(len(t))
        for place, (value, freedom) in enumerate(zip(np.abs(t), df, strict=True)):
            drawn = self._drawn(float(freedom))
            reached = len(drawn) - np.searchsorted(drawn, value, side="left")
            found[place] = (1 + reached) / (1 + len(drawn))
        return found

    def critical_values(self, df: Floats, alpha: float) -> Floats:
        """What the largest |t| exceeds with probability alpha, at each of `df`."""
        if len(self.pairs) == 1:
            return two_sided_t(df, alpha)
        return np.array([np.quantile(self._drawn(float(each)), 1 - alpha, method="higher") for each in df])

    def _drawn(self, df: float) -> Floats:
        """Sorted draws at a number of degrees of freedom, rounded down."""
        if not df > 0:
            raise InputError(f"The degrees of freedom must be positive; got {df}.")
        known = (
            math.inf
            if math.isinf(df)
            else float(max([each for each in _GRID if each <= df + _SLACK], default=1))
        )
        if known not in self._known:
            self._known[known] = np.sort(self._draw(known))
        return self._known[known]

    def _draw(self, df: float) -> Floats:
        rng = np.random.default_rng([self.seed, 0 if math.isinf(df) else int(df)])
        values, vectors = np.linalg.eigh(self.covariance)
        kept = values > 1e-12 * max(float(values[-1]), 0.0)
        root = vectors[:, kept] * np.sqrt(values[kept])
        size = max(1, min(self.n_draws, _CELLS // max(len(root) ** 2, 1)))
        found = [
            _largest(rng, root, self.pairs, df, min(size, self.n_draws - start))
            for start in range(0, self.n_draws, size)
        ]
        return np.concatenate(found)


def two_sided_t(df: Floats, alpha: float) -> Floats:
    """What |t| exceeds with probability alpha; of the normal distribution where df is infinite."""
    normal = -float(special.ndtri(alpha / 2))
    return np.where(np.isinf(df), normal, -special.stdtrit(np.where(np.isinf(df), 1.0, df), alpha / 2))


def two_sided_p(t: Floats, df: Floats) -> Floats:
    """P(|T| >= |t|)."""
    away = -np.abs(t)
    known = np.isinf(df)
    return np.asarray(
        2 * np.where(known, special.ndtr(away), special.stdtr(np.where(known, 1.0, df), away))
    )


def _largest(rng: np.random.Generator, root: Floats, pairs: Codes, df: float, n: int) -> Floats:
    """Draws of the largest |t| where the covariance of the estimates is root root'."""
    rank = root.shape[1]
    first, second = pairs.T
    drawn = rng.standard_normal((n, rank)) @ root.T
    top = np.abs(drawn[:, first] - drawn[:, second])
    if math.isinf(df):
        error = np.broadcast_to(np.sqrt(((root[first] - root[second]) ** 2).sum(axis=1)), top.shape)
    else:
        moved = root @ _wishart_root(rng, df, rank, n)  # (n, K, rank or df)
        covariance = moved @ moved.transpose(0, 2, 1) / df
        own = np.diagonal(covariance, axis1=1, axis2=2)
        square = own[:, first] + own[:, second] - 2 * covariance[:, first, second]
        error = np.sqrt(np.maximum(square, 0.0))
    return np.asarray(np.divide(top, error, out=np.zeros_like(top), where=error > 0).max(axis=1))


def _wishart_root(rng: np.random.Generator, df: float, rank: int, n: int) -> Floats:
    """Factors of n Wishart matrices of the identity; with fewer df than rows they are of that rank."""
    if df < rank:
        return rng.standard_normal((n, rank, int(df)))
    factor = np.tril(rng.standard_normal((n, rank, rank)), -1)
    factor[:, np.arange(rank), np.arange(rank)] = np.sqrt(rng.chisquare(df - np.arange(rank), (n, rank)))
    return factor
