"""What paired scores look like before they are tested, and what that says about a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from humeval_power.choices import NORMALITY_ALPHA as NORMALITY_ALPHA
from humeval_power.inference.compare.result import Floats, all_alike, score_differences
from humeval_power.inference.compare.shapiro_wilk import shapiro_wilk
from humeval_power.inference.ranked_values import rounded

Skew = Literal["roughly symmetric", "slightly skewed", "highly skewed"]
SLIGHT, HIGH = 0.5, 1.0  # Bulmer's (1979) thresholds of |skewness|
SHAPIRO_RANGE = (3, 5000)  # items between which the p-value of the test is trusted


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary statistics of one column; the SD has n - 1."""

    name: str
    n: int
    mean: float
    median: float
    sd: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class DataAnalysis:
    """Both columns and their difference, and the shape of the difference.

    `skewness` is m3 / m2^1.5, NaN without spread. The Shapiro-Wilk test is run only where the difference is
    not skewed, else its fields are None. B scores higher on `n_helped` items and lower on `n_hurt`. `is_binary`:
    all scores are 0 or 1.
    """

    first: Summary
    second: Summary
    difference: Summary
    skewness: float
    skew: Skew
    shapiro_w: float | None
    shapiro_p: float | None
    normality_alpha: float
    n_ties: int
    n_helped: int
    n_hurt: int
    is_binary: bool

    @property
    def is_normal(self) -> bool | None:
        """Whether normality is not rejected; None where it was not tested."""
        return None if self.shapiro_p is None else self.shapiro_p >= self.normality_alpha

    @property
    def nlpstattest_statistic(self) -> Literal["mean", "median"]:
        """What Zhu et al. (2020, section 3.1.3) would test: the mean unless the difference is skewed."""
        return "mean" if self.skew == "roughly symmetric" else "median"

    @property
    def t_is_safe(self) -> bool:
        """Whether Student's t may be trusted with the mean: no sign against normality, or
        n > 25 skewness^2 (Cochran 1977, p. 42) and n at least 30."""
        n = self.difference.n
        return bool(self.is_normal) or (n >= 30 and n > 25 * self.skewness**2)


def analyse(
    first: Floats,
    second: Floats,
    *,
    names: tuple[str, str] = ("A", "B"),
    normality_alpha: float = NORMALITY_ALPHA,
    is_clustered: bool = False,
) -> DataAnalysis:
    """Summaries of A, B and B - A, skewness, and normality where the difference is not skewed.

    is_clustered : items come in clusters, for which the test of normality does not hold and is not run.

    Raises
    ------
    InputError
        As `score_differences`.
    """
    difference = score_differences(first, second)
    skewness = sample_skewness(difference)
    skew = skew_words(skewness)
    w, p = None, None
    low, high = SHAPIRO_RANGE
    if (
        skew == "roughly symmetric"
        and not is_clustered
        and low <= len(difference) <= high
        and not all_alike(difference)
    ):
        w, p = shapiro_wilk(difference)
    return DataAnalysis(
        first=summarise(first, name=names[0]),
        second=summarise(second, name=names[1]),
        difference=summarise(difference, name=f"{names[1]} - {names[0]}"),
        skewness=skewness,
        skew=skew,
        shapiro_w=w,
        shapiro_p=p,
        normality_alpha=normality_alpha,
        n_ties=int((difference == 0).sum()),
        n_helped=int((difference > 0).sum()),
        n_hurt=int((difference < 0).sum()),
        is_binary=bool(np.isin(first, (0.0, 1.0)).all() and np.isin(second, (0.0, 1.0)).all()),
    )


def summarise(values: Floats, *, name: str) -> Summary:
    """Summary statistics of at least two values."""
    largest = float(np.abs(values).max())
    return Summary(
        name=name,
        n=len(values),
        mean=float(rounded(np.array([values.mean()]), largest=largest)[0]),
        median=float(np.median(values)),
        sd=float(values.std(ddof=1)),
        minimum=float(values.min()),
        maximum=float(values.max()),
    )


def sample_skewness(values: Floats) -> float:
    """m3 / m2^1.5, NaN without spread."""
    if all_alike(values):
        return math.nan
    off = values - values.mean()
    return float((off * off * off).mean() / (off * off).mean() ** 1.5)


def skew_words(skewness: float) -> Skew:
    """Bulmer's (1979) rule of thumb; differences without spread are symmetric."""
    size = abs(skewness)
    if size >= HIGH:
        return "highly skewed"
    return "slightly skewed" if size >= SLIGHT else "roughly symmetric"
