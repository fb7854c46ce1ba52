"""Adjusted p-values and critical values of correlated t statistics, and a pair of systems as a design of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.designs import Design, crossed, from_table
from humeval_power.errors import InputError
from humeval_power.inference.student_t import critical_value
from humeval_power.roots import root_between

Floats = NDArray[np.float64]
DEFAULT_SEED = 1955
_LOG2_DIRECTIONS = 15
_AT_ONCE = 1024  # directions that are projected at once


@dataclass(frozen=True, eq=False)
class MaxT:
    """Largest of t statistics that share one estimated scale: a multivariate t with `df` (infinite: normal), whose
    correlations are the products of the rows of `factor` (n, r), each of length 1. With all pairs of equally
    precise means it is Tukey's distribution, with comparisons against a baseline Dunnett's (1955); other
    correlations are as good.

    A statistic is a length times a direction, T = d a'u with a its row of the factor, u uniform on the unit sphere
    of r dimensions and d^2 / r distributed as F(r, df). Given u the tail is that of F; its mean is taken over
    scrambled Sobol points made from `seed` (Deak 1980; Somerville 1998), to about 1 in 1,000 for p-values above
    0.001. Smaller ones are kept between a single t's tail and Bonferroni's bound.
    """

    factor: Floats
    df: float
    two_sided: bool = True
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not self.df > 0:
            raise InputError(f"The degrees of freedom must be positive; got {self.df}.")

    def at(self, df: float) -> MaxT:
        """The same correlation with other df: where standard errors are not one estimated scale, each comparison
        is referred to the largest of statistics with its own df (Hasler and Hothorn 2008)."""
        other = replace(self, df=df)
        other.__dict__["_largest"] = self._largest  # it does not depend on df
        return other

    def p_value(self, t: Floats) -> Floats:
        """P(max >= t) (of |T| if two-sided), shape of `t`; NaN for NaN."""
        values = np.abs(t) if self.two_sided else np.asarray(t, dtype=float)
        return np.array([self._beyond(float(value)) for value in values.ravel()]).reshape(values.shape)

    def critical_value(self, alpha: float) -> float:
        """What the largest statistic exceeds with probability alpha."""
        tail = alpha / 2 if self.two_sided else alpha
        low, high = critical_value(self.df, tail), critical_value(self.df, tail / len(self.factor))
        if len(self.factor) == 1 or self._beyond(low) <= alpha:
            return low
        if self._beyond(high) >= alpha:  # Bonferroni's bound, which the points may pass by their error
            return high
        return root_between(lambda t: self._beyond(t) - alpha, low, high, xtol=1e-8)

    @cached_property
    def _largest(self) -> tuple[int, Floats]:
        """Rank, and the largest projection of each direction."""
        from scipy.stats import qmc

        rank = self.factor.shape[1]
        points = qmc.Sobol(rank, rng=np.random.default_rng(self.seed)).random_base2(_LOG2_DIRECTIONS)
        normal = special.ndtri(np.clip(points, 1e-15, 1 - 1e-15))
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        largest = np.empty(len(directions))
        for begin in range(0, len(directions), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            projected = directions[part] @ self.factor.T
            largest[part] = (np.abs(projected) if self.two_sided else projected).max(axis=1)
        return rank, np.clip(largest, -1.0, 1.0)  # rounding must not pass 1

    def _beyond(self, t: float) -> float:
        if math.isnan(t):
            return math.nan
        rank, largest = self._largest
        if self.two_sided or t >= 0:
            beyond = float(self._tail(t, largest[largest > 0], rank).sum() / len(largest))
            single = float(special.ndtr(-t) if math.isinf(self.df) else special.stdtr(self.df, -t))
            single *= 2.0 if self.two_sided else 1.0
            return min(max(beyond, single), len(self.factor) * single)
        # below zero the largest stays under t only where every projection is negative
        return 1.0 - float(self._tail(t, largest[largest < 0], rank).sum() / len(largest))

    def _tail(self, t: float, projection: Floats, rank: int) -> Floats:
        """P(d |projection| >= |t|)."""
        square = (t / projection) ** 2
        if math.isinf(self.df):
            return np.asarray(special.chdtrc(rank, square))
        return np.asarray(special.fdtrc(rank, self.df, square / rank))


_STEP = 0.05  # of 1 / df, between which critical values are interpolated
_MOST = 10.0  # of 1 / df


class CriticalValues:
    """What the largest t exceeds with probability `alpha`, for any df at once: logarithms of the values on a grid
    of 1 / df, each found once, with cubics between them. They are nearly straight in 1 / df."""

    def __init__(self, factor: Floats, alpha: float, two_sided: bool = True) -> None:
        self._largest = MaxT(factor, math.inf, two_sided)
        self._alpha = alpha
        self._known: dict[int, float] = {}

    @classmethod
    def of(cls, factor: Floats, alpha: float, two_sided: bool) -> CriticalValues:
        """Those of this process: what was found for one study serves the next with the same factor."""
        same = np.round(factor, 10) + 0.0  # of studies that are alike, but for rounding; and no -0
        return _critical_values(same.tobytes(), len(factor), alpha, two_sided)

    def __call__(self, df: Floats) -> Floats:
        """Critical values at `df`, of the same shape; those of less than a tenth of a df are that of a tenth."""
        where = np.minimum(1.0 / np.asarray(df, dtype=float), _MOST) / _STEP
        first = np.maximum(where.astype(np.int64) - 1, 0)
        log_value = np.zeros(where.shape)
        for node in range(4):
            others = [other for other in range(4) if other != node]
            weight = np.prod([(where - first - other) / (node - other) for other in others], axis=0)
            log_value += weight * self._at(first + node)
        return np.exp(log_value)

    def _at(self, nodes: NDArray[np.int64]) -> Floats:
        """Logarithms at places of the grid."""
        different, place = np.unique(nodes, return_inverse=True)
        return np.array([self._log_value(int(node)) for node in different])[place].reshape(nodes.shape)

    def _log_value(self, node: int) -> float:
        if node not in self._known:
            df = math.inf if node == 0 else 1.0 / (node * _STEP)
            self._known[node] = math.log(self._largest.at(df).critical_value(self._alpha))
        return self._known[node]


@lru_cache(maxsize=32)
def _critical_values(factor: bytes, n: int, alpha: float, two_sided: bool) -> CriticalValues:
    return CriticalValues(np.frombuffer(factor).reshape(n, -1), alpha, two_sided)


def factor_of(matrix: Floats) -> Floats:
    """F (n, r) with F F' = `matrix` (n, n) of rank r."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-9 * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def contrasts_of(pairs: Sequence[tuple[int, int]], n_systems: int) -> Floats:
    """second - first of each pair of places, shape (pairs, K)."""
    matrix = np.zeros((len(pairs), n_systems))
    rows, (first, second) = np.arange(len(pairs)), np.array(pairs).T
    matrix[rows, first], matrix[rows, second] = -1.0, 1.0
    return matrix


def contrast_factor(covariance: Floats, contrasts: Floats) -> Floats:
    """Rows of length 1, (n, r) with r < K, whose products are the correlations of contrasts (n, K) of means with
    this covariance (K, K). It is the same for covariances that differ in scale, and by what all means share."""
    less_first = np.eye(len(covariance))[1:] - np.eye(len(covariance))[0]  # all contrasts are sums of these
    known = less_first @ covariance @ less_first.T
    try:
        root = np.linalg.cholesky(known)
    except np.linalg.LinAlgError:
        root = factor_of(known)
    rows = contrasts[:, 1:] @ root
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


# Two systems of a design of several, as a design of two.


def pair_rows(design: Design, first: int, second: int) -> NDArray[np.int64]:
    """The ratings of the two by worker, item and system, `first` before `second`: the order of `pair_design`."""
    rows = design.assignment
    kept = np.flatnonzero((rows.system == first) | (rows.system == second))
    order = np.lexsort((rows.system[kept] == second, rows.item[kept], rows.worker[kept]))
    return np.asarray(kept[order])


def pair_design(design: Design, first: int, second: int) -> Design:
    """Their ratings alone, with codes of the workers, items and documents that occur."""
    if design.is_crossed:
        two = crossed(design.n_workers, design.n_items, n_repeats=design.n_repeats)
        return replace(two, n_documents=design.n_documents, document_of_item=design.document_of_item)
    rows, kept = design.assignment, pair_rows(design, first, second)
    columns = (rows.worker, rows.item, *(() if rows.document is None else (rows.document,)))
    worker, item, *document = (np.unique(codes[kept], return_inverse=True)[1] for codes in columns)
    system = (rows.system[kept] == second).astype(np.int64)
    return from_table(worker, item, system, document=document[0] if document else None)
