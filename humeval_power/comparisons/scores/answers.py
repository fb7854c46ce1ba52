"""What every paired test is asked and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import DEFAULT_RESAMPLES
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.exact_comparison import CLOSE, exact_difference

# What the resamples of a bootstrap came to: a histogram of them, fine enough to be looked at.

Floats = NDArray[np.float64]
What = Literal["mean", "median", "t"]
MOST_BINS = 40
_FEW = 20  # distinct values that get a bin each
_SLACK = 1e-9  # relative: values closer than this are equal
_OUTER = 0.0005  # share of the resamples beyond either end, which are drawn at the end


@dataclass(frozen=True, slots=True)
class Resamples:
    """A histogram of resampled means, medians or t: `shares` of them between neighbouring `edges`.

    `at` is what they are held against (the null difference, or the observed t); `not_above` is the share of the
    resamples at it or below, which are those before the edge `cut`.
    """

    what: What
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    at: float
    not_above: float

    @property
    def cut(self) -> float:
        """The edge before which the resamples at `at` or below lie, as closely as the bins tell."""
        reached = np.concatenate([[0.0], np.cumsum(self.shares)])
        return self.edges[min(int(np.searchsorted(reached, self.not_above - _SLACK)), len(self.shares))]


def resamples_of(
    what: What, values: Floats, *, at: float, shares: Floats | None = None, step: float = 0.0
) -> Resamples:
    """The histogram of values that were drawn, or of all that can be with their probabilities.

    values : infinite ones count at the ends.
    shares : probability of each value, adding up to 1; equal ones if None.
    step : of the lattice on which the values lie: bins are whole steps then, for no comb to appear.
    """
    weights = np.full(len(values), 1 / len(values)) if shares is None else shares
    # Between which nearly all of the values lie; both finite.
    order = np.argsort(values, kind="stable")
    reached, ordered = np.cumsum(weights[order]), values[order]
    places = np.searchsorted(reached, (_OUTER, reached[-1] - _OUTER))
    finite = ordered[np.isfinite(ordered)]
    low, high = np.clip(ordered[places], finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
    low, high = float(low), float(high)
    slack = _SLACK * max(abs(at), step, abs(low), abs(high))
    edges = _edges(low, high, values[weights > 0], at, step, slack)
    counted, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges, weights=weights)
    below = float(weights[values <= at + slack].sum())
    return Resamples(what, tuple(edges.tolist()), tuple(counted.tolist()), at, min(1.0, below))


def _edges(low: float, high: float, possible: Floats, at: float, step: float, slack: float) -> Floats:
    """Even bins; `at` lies on an edge, or on a lattice an edge is half a step above the last value that is at it or
    below."""
    if not step:
        distinct = np.unique(possible[np.isfinite(possible)])
        step = float(np.diff(distinct).min()) if 2 <= len(distinct) <= _FEW else 0.0
    if not low < high:
        reach = step or max(abs(low), 1.0)
        return np.array([low - reach / 2, low + reach / 2])
    width = (high - low) / MOST_BINS
    width = step * max(1.0, float(np.ceil(width / step))) if step else width
    below = possible[possible <= at + slack]
    nearest = float(below.max() if len(below) else possible.min())
    anchor = nearest + step / 2 if step and np.isfinite(nearest) else at
    first, last = np.floor((low - anchor) / width), np.floor((high - anchor) / width) + 1
    return np.asarray(anchor + width * np.arange(first, last + 1))


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
    """B - A of each item, shape (n,), exact where the scores are decimals: 0.65 - 0.61 is 0.04."""
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


# Evaluation units: groups of items that have one metric value together (Zhu et al. 2020, definition 1).

UnitStatistic = Literal["mean", "median"]
Output = TypeVar("Output")


def evaluation_units(n_items: int, *, size: int, shuffle_seed: int | None = None) -> NDArray[np.int64]:
    """Positions of the items of each unit, shape (n_units, size).

    Adjacent items, or random ones where a seed is given. Items left over are in no unit: a smaller unit
    would have another variance.
    """
    if size < 1 or n_items // size < 2:
        raise InputError(
            f"A unit size of {size:,} must leave at least 2 units, and there are {n_items:,} items."
        )
    n_units = n_items // size
    order = np.arange(n_items)
    if shuffle_seed is not None:
        order = np.random.default_rng(shuffle_seed).permutation(n_items)
    return np.asarray(order[: n_units * size].reshape(n_units, size))


def unit_scores(scores: Floats, units: NDArray[np.int64], *, by: UnitStatistic = "mean") -> Floats:
    """Mean or median of each unit; scores (n_items,) or (n_items, n_systems), units first in the result."""
    return np.asarray(np.mean(scores[units], axis=1) if by == "mean" else np.median(scores[units], axis=1))


def unit_metric(
    metric: Callable[[Sequence[Output], Sequence[Output]], float],
    units: NDArray[np.int64],
    *,
    outputs: Sequence[Output],
    references: Sequence[Output],
) -> Floats:
    """A metric of the user's computed on each unit, such as a corpus BLEU of 15 sentences; shape (n_units,).

    metric : from the outputs and the references of a unit to one number.
    """
    if len(outputs) != len(references):
        raise InputError(
            f"Each output needs its reference; got {len(outputs):,} outputs and {len(references):,} references."
        )
    result = np.array(
        [metric([outputs[i] for i in unit], [references[i] for i in unit]) for unit in units], dtype=float
    )
    bad = np.flatnonzero(~np.isfinite(result))
    if len(bad):
        raise InputError(f"The metric gave no finite number for unit {bad[0] + 1} of {len(units):,}.")
    return result


# Resamples of whole clusters: means of many columns in the errors of each resample's own clusters.

ROUNDING = CLOSE  # of the largest value: an error or a mean below is a sum of rounding
_FLAT = 1e-14  # of the squares: what is left of a spread by rounding


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """Sums of centred columns in each cluster, shape (n_clusters, k), and the sizes, (n_clusters, 1)."""

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, centred: Floats, clusters: Clusters) -> ClusterSums:
        """Of columns (n_items, k)."""
        sums, sizes = clusters.sums(centred), clusters.sizes[:, None].astype(np.float64)
        by_rounding = np.abs(sums) <= ROUNDING * sizes * np.abs(centred).max(axis=0)
        return cls(np.where(by_rounding, 0.0, sums), sizes)

    def errors(self, counts: Floats) -> tuple[Floats, Floats]:
        """Means and their CR1 errors in resamples, both (rows, k).

        counts : (rows, n_clusters), how often each cluster is in each resample.
        """
        n, n_clusters = counts @ self.sizes, len(self.sizes)
        mean = counts @ self.sums / n
        squares = counts @ self.sums**2
        spread = (
            squares - 2 * mean * (counts @ (self.sums * self.sizes)) + mean**2 * (counts @ self.sizes**2)
        )
        spread = np.where(spread <= _FLAT * np.maximum(squares, 1e-300), 0.0, spread)
        return mean, np.sqrt(spread * n_clusters / (n_clusters - 1)) / n

    def ratios(self, counts: Floats) -> Floats:
        """t of resamples, (rows, k); a resample without spread is infinitely far."""
        mean, error = self.errors(counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num(mean / error, nan=0.0, posinf=np.inf, neginf=-np.inf))


# The sum of as many draws with replacement as there are differences, exactly, where these lie on a
# lattice.

MOST_CELLS = 20_000  # of the lattice on which the sum of all draws is found by convolution
_FINEST = 4  # decimals of a lattice that is looked for
_DUST = 1e-15  # a probability below is rounding of the transform


@dataclass(frozen=True, slots=True, eq=False)
class ExactSums:
    """Probabilities of the sums `low`, `low + 1`, ... in steps of `unit`, of `n` draws."""

    low: int
    probabilities: Floats
    unit: float
    n: int

    @property
    def means(self) -> Floats:
        """The means that belong to the sums."""
        return np.asarray((self.low + np.arange(len(self.probabilities))) * self.unit / self.n)

    def possible(self) -> tuple[Floats, Floats, float]:
        """The means that can be, their probabilities, and the least step between them (0 for a single one)."""
        kept = self.probabilities > 0
        means = self.means[kept]
        return means, self.probabilities[kept], float(np.diff(means).min()) if len(means) > 1 else 0.0

    def at_most_zero(self) -> float:
        """P(sum <= 0)."""
        return float(min(1.0, self.probabilities[: max(1 - self.low, 0)].sum()))

    def zero(self) -> float:
        """P(sum = 0)."""
        inside = 0 <= -self.low < len(self.probabilities)
        return float(self.probabilities[-self.low]) if inside else 0.0


def lattice_of(differences: Floats) -> tuple[NDArray[np.int64], float] | None:
    """The differences in whole steps of their common unit, and the unit; None without one of a few decimals."""
    for decimals in range(_FINEST + 1):
        scaled = differences * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() <= 1e-9 * max(1.0, float(np.abs(scaled).max())):
            steps = whole.astype(np.int64)
            unit = int(np.gcd.reduce(steps))
            return (np.asarray(steps // unit), unit / 10.0**decimals) if unit else (steps, 1.0)
    return None


def exact_sums(differences: Floats) -> ExactSums | None:
    """The distribution of the sum; None where no coarse lattice holds the differences."""
    lattice = lattice_of(differences)
    if lattice is None:
        return None
    (steps, unit), n = lattice, len(differences)
    low, high = int(steps.min()), int(steps.max())
    if low >= -1 and high <= 1:
        return sums_of_counts(n, int((steps == 1).sum()), int((steps == -1).sum()), unit=unit)
    if n * (high - low) > MOST_CELLS:
        return None
    one = np.bincount(steps - low, minlength=high - low + 1) / n
    total = np.ones(1)
    for bit in bin(n)[2:]:  # the n-fold convolution by squaring
        total = np.convolve(total, total)
        total = np.convolve(total, one) if bit == "1" else total
    return ExactSums(n * low, total, unit, n)


def sums_of_counts(n_items: int, n_helped: int, n_hurt: int, *, unit: float = 1.0) -> ExactSums:
    """The same for differences of which `n_helped` are one step up and `n_hurt` one down, of any number of items.

    The characteristic function to the power n, transformed back: probabilities are good to about 1e-13, and below
    1e-15 they are 0.
    """
    size = 2 * n_items + 1
    turn = np.exp(-2j * np.pi * np.arange(n_items + 1) / size)
    same = n_items - n_helped - n_hurt
    one = (same + n_helped * turn + n_hurt * turn.conj()) / n_items
    values = np.fft.irfft(one**n_items, size)
    values = np.where(values < _DUST, 0.0, values)
    probabilities = np.roll(values, n_items) / values.sum()
    return ExactSums(-n_items, probabilities, unit, n_items)
