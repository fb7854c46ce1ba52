"""The mean of values that come in clusters: CR2 standard errors and Bell-McCaffrey degrees of freedom.

Source: Bell and McCaffrey (2002); Pustejovsky and Tipton (2018). For a mean the matrices of CR2 have a closed
form, since the vector of ones is an eigenvector of each block of the hat matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Direction = Literal["two-sided", "greater", "less"]

FEW_DF = 5.0  # below it even Bell-McCaffrey intervals are rough, and the reader is told


def student_p(t: float, df: float, alternative: Direction = "two-sided") -> float:
    """P-value of Student's t test."""
    if alternative == "two-sided":
        return float(2 * special.stdtr(df, -abs(t)))
    return float(special.stdtr(df, -t if alternative == "greater" else t))


def student_interval(
    estimate: float, standard_error: float, df: float, confidence: float
) -> tuple[float, float]:
    """Student's interval of an estimate."""
    reach = -float(special.stdtrit(df, (1 - confidence) / 2)) * standard_error
    return estimate - reach, estimate + reach


def sum_of_variances(variance: Any, df: Any, other: Any, other_df: Any) -> tuple[Any, Any]:
    """Variance of a sum of two independent parts, and Satterthwaite's df of it; numbers or arrays."""
    total = variance + other
    return total, total**2 / (variance**2 / df + other**2 / other_df)


def normal_p(z: float, alternative: Direction = "two-sided") -> float:
    """P-value of a statistic that is standard normal without an effect."""
    if alternative == "two-sided":
        return float(2 * special.ndtr(-abs(z)))
    return float(special.ndtr(-z if alternative == "greater" else z))


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """The mean of n values in clusters.

    `standard_error` is CR2's, tested by Student's t with `df` of Bell and McCaffrey; `cr1_error` is the usual
    correction by G / (G - 1), for which others use z; `independent_error` ignores the clusters. `icc` is the
    intraclass correlation of the values (analysis of variance; may be negative).
    """

    estimate: float
    standard_error: float
    df: float
    cr1_error: float
    independent_error: float
    icc: float
    n: int
    n_clusters: int
    largest: int

    @property
    def design_effect(self) -> float:
        """The variance over that of as many independent items; NaN where those have none."""
        return (
            (self.standard_error / self.independent_error) ** 2 if self.independent_error > 0 else math.nan
        )

    @property
    def effective_n(self) -> float:
        """Independent items that would tell as much."""
        return self.n / self.design_effect if self.design_effect > 0 else math.nan

    @property
    def is_rough(self) -> bool:
        """Whether the clusters are so few, or one so large, that the interval is no more than a hint."""
        return self.df < FEW_DF

    def p_value(self, null: float = 0.0, alternative: Direction = "two-sided") -> float:
        """Of Student's t test against `null`; NaN where values do not vary between clusters."""
        if not self.standard_error > 0:
            return math.nan
        return student_p((self.estimate - null) / self.standard_error, self.df, alternative)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval."""
        return student_interval(self.estimate, self.standard_error, self.df, confidence)


def clustered_mean(values: ArrayLike, clusters: Clusters | None) -> ClusteredMean:
    """Estimate a mean whose values come in clusters; without clusters every value is one of its own.

    Parameters
    ----------
    values : (n,), such as differences B - A of items, or influence values about an estimate.
    clusters : of the items, in the same order.

    Returns
    -------
    ClusteredMean
        In the units of the values.

    Raises
    ------
    InputError
        Clusters of another number of items, fewer than two clusters, or values that are not finite.
    """
    of = np.asarray(values, dtype=np.float64)
    if of.ndim != 1 or len(of) < 2 or not np.isfinite(of).all():
        raise InputError("A mean with a standard error needs at least 2 values, all finite.")
    known = Clusters(np.arange(len(of)), tuple(map(str, range(len(of))))) if clusters is None else clusters
    if known.n_items != len(of):
        raise InputError(f"There are {len(of):,} values, and clusters of {known.n_items:,} items.")
    n, sizes = len(of), known.sizes.astype(np.float64)
    estimate = float(of.mean())
    centered = of - estimate
    sums, n_clusters = known.sums(centered), known.n_clusters
    cr0 = float(sums @ sums) / n**2
    return ClusteredMean(
        estimate=estimate,
        standard_error=math.sqrt(float(sums**2 @ (1 / (1 - sizes / n))) / n**2),
        df=bell_mccaffrey_df(sizes),
        cr1_error=math.sqrt(cr0 * n_clusters / (n_clusters - 1)),
        independent_error=math.sqrt(float(centered @ centered) / (n * (n - 1))),
        icc=intraclass_correlation(of, known),
        n=n,
        n_clusters=n_clusters,
        largest=int(sizes.max()),
    )


def clustered_covariance(values: Floats, clusters: Clusters) -> Floats:
    """CR2 covariance of the k means of values (n, k), shape (k, k)."""
    n = len(values)
    sums = clusters.sums(values - values.mean(axis=0))
    weights = 1 / (1 - clusters.sizes / n)
    return np.asarray((sums * weights[:, None]).T @ sums / n**2)


def bell_mccaffrey_df(sizes: Floats) -> float:
    """Degrees of freedom of the CR2 variance of a mean, from the sizes of the clusters; equal ones: G - 1.

    (sum lambda)^2 / sum lambda^2 over the eigenvalues of the matrix with entries
    n_g (1 - s_g) w_g^2 on the diagonal and -n_g n_h w_g w_h / n beside it, w_g = (1 - s_g)^-1/2, s_g = n_g / n.
    """
    shares = np.asarray(sizes, dtype=np.float64) / np.sum(sizes)
    beside = shares**2 / (1 - shares)  # of s_g s_h w_g w_h, squared: beside_g * beside_h
    off_diagonal = float(beside.sum() ** 2 - beside @ beside)
    return 1 / (float(shares @ shares) + off_diagonal)


def intraclass_correlation(values: Floats, clusters: Clusters) -> float:
    """Of one-way analysis of variance with unequal sizes; NaN where no cluster has two values, 0 without spread."""
    n, n_clusters, sizes = len(values), clusters.n_clusters, clusters.sizes
    if n == n_clusters:
        return math.nan
    means = clusters.sums(values) / sizes
    between = float(sizes @ (means - values.mean()) ** 2) / (n_clusters - 1)
    within = float(np.sum((values - means[clusters.codes]) ** 2)) / (n - n_clusters)
    size = (n - float(sizes @ sizes) / n) / (n_clusters - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread > 0 else 0.0
