"""The difference of two means whose ratings come in clusters that may hold ratings of both.

CR2 standard errors and Bell-McCaffrey degrees of freedom of a regression on the system (Bell and McCaffrey 2002;
Pustejovsky and Tipton 2018). With two groups the hat matrix has a block of ones for each group in every cluster,
so that its inverse square roots, and the degrees of freedom, have a closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.ranked_values import mid_ranks

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteredDifference:
    """B - A with its CR2 standard error, NaN where the clusters give none, and the degrees of freedom."""

    estimate: float
    standard_error: float
    df: float
    n_clusters: int
    largest: int

    @property
    def p_value(self) -> float:
        """Two-sided, by Student's t; NaN without a standard error."""
        if not self.standard_error > 0:
            return math.nan
        return float(2 * special.stdtr(self.df, -abs(self.estimate) / self.standard_error))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Student's interval."""
        if not self.standard_error > 0:
            return math.nan, math.nan
        reach = -float(special.stdtrit(self.df, (1 - confidence) / 2)) * self.standard_error
        return self.estimate - reach, self.estimate + reach


def clustered_difference(a: Floats, b: Floats, in_a: Codes, in_b: Codes) -> ClusteredDifference:
    """Mean of b minus mean of a; `in_a` and `in_b` are the clusters of their ratings.

    No standard error where all ratings of a system lie in one cluster: of others it says nothing.
    """
    _, code = np.unique(np.concatenate([in_a, in_b]), return_inverse=True)
    n_clusters = int(code.max()) + 1
    parts = [_part(a, code[: len(a)], n_clusters), _part(b, code[len(a) :], n_clusters)]
    largest = int((parts[0].sizes + parts[1].sizes).max())
    estimate = float(b.mean() - a.mean())
    if any((part.sizes == part.n).any() for part in parts):
        return ClusteredDifference(estimate, math.nan, math.nan, n_clusters, largest)
    weights = [1 / (part.n * np.sqrt(1 - part.sizes / part.n)) for part in parts]
    scores = weights[1] * parts[1].sums - weights[0] * parts[0].sums
    diagonal = sum(
        (part.sizes * weight**2 for part, weight in zip(parts, weights, strict=True)), np.zeros(n_clusters)
    )
    own = [part.sizes * weight / math.sqrt(part.n) for part, weight in zip(parts, weights, strict=True)]
    trace = float(diagonal.sum() - sum(float(one @ one) for one in own))
    gram = np.array([[float(one @ other) for other in own] for one in own])
    crossed = sum(float(diagonal @ one**2) for one in own)
    squares = float(diagonal @ diagonal) - 2 * crossed + float((gram**2).sum())
    return ClusteredDifference(
        estimate, math.sqrt(float(scores @ scores)), trace**2 / squares, n_clusters, largest
    )


def clustered_superiority(a: Floats, b: Floats, in_a: Codes, in_b: Codes) -> ClusteredDifference:
    """P(B > A) - 1/2, ties counted half, as a difference of placements (Brunner and Munzel 2000), so that it
    can be tested in clusters as means are (Obuchowski 1997)."""
    ranks = mid_ranks(np.concatenate([a, b]))
    of_a, of_b = ranks[: len(a)], ranks[len(a) :]
    among_b = (of_a - mid_ranks(a)) / len(b)  # share of b below each rating of a
    among_a = (of_b - mid_ranks(b)) / len(a)
    found = clustered_difference(among_b, among_a, in_a, in_b)
    return ClusteredDifference(
        found.estimate / 2, found.standard_error, found.df, found.n_clusters, found.largest
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Of one system: ratings of each cluster, and the sums of their deviations from the mean."""

    n: int
    sizes: Floats
    sums: Floats


def _part(values: Floats, code: Codes, n_clusters: int) -> _Part:
    sizes = np.bincount(code, minlength=n_clusters).astype(np.float64)
    return _Part(
        len(values),
        sizes,
        np.asarray(np.bincount(code, values - values.mean(), n_clusters), dtype=np.float64),
    )
