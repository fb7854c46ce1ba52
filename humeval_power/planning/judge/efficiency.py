"""What a metric or an automatic judge is worth in ratings: control variates and prediction-powered inference.

Two names of one estimator: the mean rating, corrected by the judge's mean on items that humans did not
rate. With f the true quality of an output and a the annotators' noise, gamma = var(a) / var(f) and
phi = var(f) / (var(f) + var(a)) = 1 / (1 + gamma), the reducible share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.errors import InputError


def data_efficiency(
    gamma: float, correlation: float, *, n: int | None = None, extra: int | None = None
) -> float:
    """How many times as many ratings the plain mean would need: (1 + gamma) / (1 - rho^2 + gamma).

    Wei et al. (2022, eq. 2), after Chaganty et al. (2018); `correlation` rho is that of the metric with
    the true quality, without annotators' noise. With `n` rated items and `extra` others the metric's
    mean is itself uncertain: rho^2 becomes rho^2 extra / (extra + n).

    Raises
    ------
    InputError
        A negative gamma, a correlation outside [-1, 1], or impossible numbers of items.
    """
    if gamma < 0 or math.isnan(gamma):
        raise InputError(f"gamma is a ratio of variances and cannot be negative; got {gamma:g}.")
    explained = correlation**2 * finite_share(correlation, n, extra)
    if gamma == 0 and explained == 1:
        return math.inf
    return (1 + gamma) / (1 - explained + gamma) if math.isfinite(gamma) else 1.0


def finite_share(correlation: float, n: int | None, extra: int | None) -> float:
    """extra / (extra + n), the part of a judge's use that `extra` items leave; 1 where it is unlimited."""
    if not -1 <= correlation <= 1:
        raise InputError(f"A correlation lies between -1 and 1; got {correlation:g}.")
    if (n is None) != (extra is None):
        raise InputError("Give both the rated and the extra items, or neither.")
    if n is None or extra is None:
        return 1.0
    if n < 1 or extra < 0:
        raise InputError(
            f"There must be rated items and no negative number of others; got {n} and {extra}."
        )
    return extra / (extra + n)


def observed_correlation(gamma: float, correlation: float) -> float:
    """Correlation of a metric with single noisy ratings, from that with the true quality: rho sqrt(phi)."""
    return correlation / math.sqrt(1 + gamma)


@dataclass(frozen=True, slots=True)
class PredictionPower:
    """A mean of `n` human values with a judge's scores of those items and of `extra` others.

    `variance` is that of the estimate with the best weight (`weight`) of the judge, `plain_variance`
    with weight 1, `human_variance` without the judge. Source: Angelopoulos, Duchi and Zrnic (2023),
    PPI++.
    """

    n: int
    extra: int
    correlation: float
    sd: float
    sd_judge: float

    def __post_init__(self) -> None:
        finite_share(self.correlation, self.n, self.extra)
        if not (self.sd > 0 and self.sd_judge > 0):
            raise InputError("Standard deviations of human values and of the judge must be above 0.")

    @property
    def human_variance(self) -> float:
        """Variance of the mean of the human values alone."""
        return self.sd**2 / self.n

    @property
    def weight(self) -> float:
        """The weight of the judge that makes the variance smallest: Cov(Y, f) / ((1 + n/N) Var f)."""
        if self.extra == 0:
            return 0.0
        return self.correlation * self.sd / self.sd_judge / (1 + self.n / self.extra)

    def variance_at(self, weight: float) -> float:
        """Variance for any weight: Var(Y - w f) / n + w^2 Var(f) / N."""
        of_difference = (
            self.sd**2
            - 2 * weight * self.correlation * self.sd * self.sd_judge
            + (weight * self.sd_judge) ** 2
        )
        if weight == 0:
            return self.human_variance
        if self.extra == 0:
            return math.inf
        return of_difference / self.n + (weight * self.sd_judge) ** 2 / self.extra

    @property
    def variance(self) -> float:
        """Variance with the best weight: Var(Y) / n (1 - rho^2 N / (N + n))."""
        return self.variance_at(self.weight)

    @property
    def plain_variance(self) -> float:
        """Variance with weight 1, plain prediction-powered inference: it can exceed the human one."""
        return self.variance_at(1.0)

    @property
    def effective_n(self) -> float:
        """Human values without a judge that would be as precise."""
        return self.n * self.human_variance / self.variance if self.variance > 0 else math.inf

    @property
    def plain_effective_n(self) -> float:
        """The same for weight 1."""
        return self.n * self.human_variance / self.plain_variance if self.plain_variance > 0 else math.inf
