"""What every paired test is asked and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import DEFAULT_RESAMPLES
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.compare.resamples import Resamples
from humeval_power.inference.ranked_values import exact_difference

Floats = NDArray[np.float64]

MAX_RESAMPLES = 10_000_000


@dataclass(frozen=True, slots=True)
class TestSettings:
    """What is tested against what: B - A against `null`, at level `alpha`.

    'greater' asks whether B - A is larger than `null`. Intervals have confidence 1 - alpha, for a
    one-sided test 1 - 2 alpha, so that test and interval agree. `n_resamples` and `seed` matter to
    permutation and bootstrap alone.
    """

    null: float = 0.0
    alternative: Direction = "two-sided"
    alpha: float = 0.05
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 1

    __test__ = False  # its name starts as pytest's classes do

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise InputError(f"alpha must lie between 0 and 0.5; got {self.alpha:g}.")
        if not math.isfinite(self.null):
            raise InputError(f"The null difference must be a finite number; got {self.null}.")
        if not 1 <= self.n_resamples <= MAX_RESAMPLES:
            raise InputError(
                f"The number of resamples must lie between 1 and {MAX_RESAMPLES:,}; got {self.n_resamples:,}."
            )

    def moved(self, differences: Floats) -> Floats:
        """Differences less the null difference, such that ties and zeros do not hang on rounding."""
        return exact_difference(differences, self.null)

    @property
    def confidence(self) -> float:
        """Confidence of the intervals that go with the test."""
        return 1 - self.alpha if self.alternative == "two-sided" else 1 - 2 * self.alpha


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One test on the differences of one pair.

    `estimate` is of what the test is about (`estimand`), with its interval of `confidence`; NaN where the
    test has none. `lead` is above 0 where what the test looks at speaks for B being above the null
    difference: with ties the median may be 0 while B is better on more items. `exact` says that the p-value
    is no approximation; `p_interval` is the 95 % Monte Carlo interval of a p-value that was drawn. `remarks`
    are what a reader must know before using the numbers. `resamples` are those of a bootstrap.
    """

    name: str
    label: str
    estimand: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    statistic_name: str
    statistic: float
    p_value: float
    lead: float
    n: int
    method: str
    exact: bool = False
    p_interval: tuple[float, float] | None = None
    remarks: tuple[str, ...] = ()
    resamples: Resamples | None = None


def score_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """B - A of each item, shape (n,), exact where the scores are decimals: 0.65 - 0.61 is 0.04.

    Raises
    ------
    InputError
        Scores of different lengths, fewer than two, or not all finite numbers.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(
            f"Both systems need one score for each item; got {a.size:,} and {b.size:,}. Scores are paired by "
            "their place in the list."
        )
    if len(a) < 2:
        raise InputError(f"At least 2 items are needed; got {len(a)}.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("Every score must be a finite number; leave items without a score out.")
    return exact_difference(b, a)


def dropped_ties(ties: int, n: int) -> tuple[str, ...]:
    """What a test by signs or ranks says of `ties` among `n` items."""
    if not ties:
        return ()
    return (f"{ties:,} of {n:,} items are ties between the systems and were left out.",)


def all_alike(differences: Floats) -> bool:
    """Whether the differences have no spread."""
    return bool(np.ptp(differences) == 0)
