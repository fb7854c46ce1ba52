"""Pairs of systems compared by independent ratings, in each group of a table.

The observed minimum detectable effect of a collection of comparisons (Wei et al. 2022, section 5.2).

Sort comparisons by the size of their observed difference; the threshold is a difference such that a
share of 95 % of the comparisons with this difference or a larger one are significant. It is a summary
of what was significant, not a property of the procedure: difference and p-value come from the same
ratings, so comparisons that were lucky enough to be significant also look larger than they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import FEWEST_ABOVE, SHARE, ScoreTest
from humeval_power.errors import InputError
from humeval_power.inference.corrections import correct
from humeval_power.inference.exact_comparison import mid_ranks
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.kernels.metrics.sign_flips import mann_whitney_counts

# The difference of two means whose ratings come in clusters that may hold ratings of both.

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
    clustered = clustered_difference(among_b, among_a, in_a, in_b)
    return ClusteredDifference(
        clustered.estimate / 2,
        clustered.standard_error,
        clustered.df,
        clustered.n_clusters,
        clustered.largest,
    )


@dataclass(frozen=True, slots=True)
class _SystemSums:
    """Of one system: ratings of each cluster, and the sums of their deviations from the mean."""

    n: int
    sizes: Floats
    sums: Floats


def _part(values: Floats, code: Codes, n_clusters: int) -> _SystemSums:
    sizes = np.bincount(code, minlength=n_clusters).astype(np.float64)
    return _SystemSums(
        len(values),
        sizes,
        np.asarray(np.bincount(code, values - values.mean(), n_clusters), dtype=np.float64),
    )


# Tests of two samples of independent ratings, over many pairs of samples at once.

_ROUNDING = 1e-12  # of the largest rating: what is left of a spread of equal ones


class RankSumTest(NamedTuple):
    """`superiority` is P(B > A), ties counted half; `p_value` is NaN where all ratings are alike."""

    superiority: Floats
    p_value: Floats


class MeanTest(NamedTuple):
    """The difference of the means, B - A, its standard error (NaN where nothing varies), and Student's t of it."""

    difference: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats


def rank_sum_test(a: Floats, b: Floats, *, continuity: bool = True) -> RankSumTest:
    """Two-sided Mann-Whitney tests of samples of shape (replicates, n_a) and (replicates, n_b)."""
    n_a, n_b = a.shape[1], b.shape[1]
    n = n_a + n_b
    u, tie_term = mann_whitney_counts(a, b)
    variance = n_a * n_b / 12 * (n + 1 - tie_term / (n * (n - 1)))
    excess = np.abs(u - n_a * n_b / 2) - (0.5 if continuity else 0.0)
    return RankSumTest(u / (n_a * n_b), np.minimum(2 * special.ndtr(-excess / _root(variance)), 1.0))


def mean_test(a: Floats, b: Floats, *, pooled: bool) -> MeanTest:
    """Two-sided t tests of samples of shape (replicates, n_a) and (replicates, n_b): Student's where the
    variances are pooled, else Welch's."""
    n_a, n_b = a.shape[1], b.shape[1]
    difference = b.mean(axis=1) - a.mean(axis=1)
    squares_a, squares_b = _spread(a), _spread(b)
    if pooled:
        df = np.full(len(a), n_a + n_b - 2.0)
        variance = ((n_a - 1) * squares_a + (n_b - 1) * squares_b) / df
        error = _root(variance * (1 / n_a + 1 / n_b))
    else:
        of_a, of_b = squares_a / n_a, squares_b / n_b
        error = _root(of_a + of_b)
        df = error**4 / (of_a**2 / (n_a - 1) + of_b**2 / (n_b - 1))
    return MeanTest(difference, error, df, 2 * special.stdtr(df, -np.abs(difference) / error))


def _spread(ratings: Floats) -> Floats:
    """Variances of samples, (replicates, n); 0 where nothing but rounding varies."""
    squares = ratings.var(axis=1, ddof=1)
    return np.where(squares <= (_ROUNDING * np.abs(ratings).max(axis=1)) ** 2, 0.0, squares)


def _root(variance: Floats) -> Floats:
    return np.sqrt(np.where(variance > 0, variance, np.nan))


FEWEST = 2  # ratings of a system that can be compared


@dataclass(frozen=True, slots=True, eq=False)
class RatedOutputs:
    """Ratings (n,) in any order, and whose they are; codes (n,) count from 0.

    `groups` are parts that are compared by themselves, such as language pairs: ('',) where there are none.
    `worker`, `item` and `cluster` are None where nothing is known of them.
    """

    rating: Floats
    system: Codes
    systems: tuple[str, ...]
    group: Codes
    groups: tuple[str, ...]
    worker: Codes | None = None
    item: Codes | None = None
    cluster: Codes | None = None
    cluster_name: str = ""
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairTest:
    """Systems a and b of a group: the means of their ratings, their difference B - A, and the test.

    `superiority` is P(B > A), ties counted half; `df` and `n_clusters` are of a test that knows clusters.
    `p_value` is NaN where there is no test.
    """

    group: str
    a: str
    b: str
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    sd_a: float
    sd_b: float
    difference: float
    interval: tuple[float, float]
    superiority: float
    p_value: float
    corrected_p: float = math.nan
    df: float | None = None
    n_clusters: int | None = None

    @property
    def is_torn(self) -> bool:
        """Whether means and ranks point in different directions."""
        return self.difference * (self.superiority - 0.5) < 0


@dataclass(frozen=True, slots=True)
class PairTests:
    """The tests of all pairs, and what could not be tested, in words."""

    pairs: tuple[PairTest, ...]
    test: ScoreTest
    continuity: bool
    alpha: float
    baseline: str | None
    left_out: tuple[str, ...] = field(default=())

    @property
    def n_significant(self) -> int:
        """Pairs with p < alpha, uncorrected."""
        return sum(pair.p_value < self.alpha for pair in self.pairs)

    @property
    def n_corrected(self) -> int:
        """Pairs that are significant after Holm's correction."""
        return sum(pair.corrected_p < self.alpha for pair in self.pairs)


def compare_pairs(
    rated: RatedOutputs,
    *,
    test: ScoreTest = "mann-whitney",
    baseline: str | None = None,
    continuity: bool = True,
    alpha: float = 0.05,
) -> PairTests:
    """Test every pair of systems of each group, or every system against `baseline`; p-values corrected by Holm."""
    if baseline is not None and baseline not in rated.systems:
        raise InputError(
            f"--baseline {baseline}: there is no such system in {rated.source or 'the table'}."
        )
    if rated.cluster is not None and test == "student":
        raise InputError("Errors robust to clusters are not pooled: take --test welch, or mann-whitney.")
    tests: list[PairTest] = []
    left_out: list[str] = []
    for group, name in enumerate(rated.groups):
        rows = np.flatnonzero(rated.group == group)
        count = np.bincount(rated.system[rows], minlength=len(rated.systems))
        left_out += [
            f"{_in(name)}{rated.systems[code]} has one rating and is left out."
            for code in np.flatnonzero((count > 0) & (count < FEWEST))
        ]
        pairs = _pairs(rated.systems, count, baseline)
        if not pairs:
            left_out.append(f"{_in(name)}no pair can be compared.")
        for a, b in pairs:
            of_a, of_b = rows[rated.system[rows] == a], rows[rated.system[rows] == b]
            tests.append(_pair(rated, name, (a, b), (of_a, of_b), test, continuity, alpha))
    if not tests:
        raise InputError(
            f"{rated.source or 'The table'}: no two systems have {FEWEST} ratings each"
            f"{'' if len(rated.groups) == 1 else ' in any group'}; a test needs them."
        )
    corrected = correct([pair.p_value for pair in tests], "holm")
    pairs_tested = tuple(
        replace(pair, corrected_p=float(p)) for pair, p in zip(tests, corrected, strict=True)
    )
    return PairTests(pairs_tested, test, continuity, alpha, baseline, tuple(left_out))


def _pairs(systems: Sequence[str], count: Codes, baseline: str | None) -> list[tuple[int, int]]:
    usable = [code for code in range(len(systems)) if count[code] >= FEWEST]
    if baseline is None:
        return list(combinations(usable, 2))
    first = list(systems).index(baseline)
    return [(first, other) for other in usable if other != first] if first in usable else []


def _in(name: str) -> str:
    return f"{name}: " if name else ""


def _pair(
    rated: RatedOutputs,
    group: str,
    systems: tuple[int, int],
    rows: tuple[Codes, Codes],
    test: ScoreTest,
    continuity: bool,
    alpha: float,
) -> PairTest:
    a, b = rated.rating[rows[0]], rated.rating[rows[1]]
    by_rank = rank_sum_test(a[None], b[None], continuity=continuity)
    by_mean = mean_test(a[None], b[None], pooled=test == "student")
    p = by_rank.p_value if test == "mann-whitney" else by_mean.p_value
    error, df = float(by_mean.standard_error[0]), float(by_mean.df[0])
    reach = -float(special.stdtrit(df, alpha / 2)) * error
    difference = float(by_mean.difference[0])
    result = PairTest(
        group=group,
        a=rated.systems[systems[0]],
        b=rated.systems[systems[1]],
        n_a=len(a),
        n_b=len(b),
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        sd_a=float(a.std(ddof=1)),
        sd_b=float(b.std(ddof=1)),
        difference=difference,
        interval=(difference - reach, difference + reach),
        superiority=float(by_rank.superiority[0]),
        p_value=float(p[0]),
    )
    if rated.cluster is None:
        return result
    clusters = (rated.cluster[rows[0]], rated.cluster[rows[1]])
    means = clustered_difference(a, b, *clusters)
    tested: ClusteredDifference = (
        clustered_superiority(a, b, *clusters) if test == "mann-whitney" else means
    )
    return replace(
        result,
        interval=means.interval(1 - alpha),
        p_value=tested.p_value,
        df=tested.df,
        n_clusters=tested.n_clusters,
    )


@dataclass(frozen=True, slots=True)
class Threshold:
    """A difference, how many comparisons have it or more, and how many of those are significant."""

    difference: float
    n_above: int
    n_significant: int

    @property
    def rate(self) -> float:
        """Share of significant comparisons at or above the difference."""
        return self.n_significant / self.n_above

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the rate, 95 %; the choice of the threshold is not in it."""
        return wilson_interval(self.n_significant, self.n_above)


@dataclass(frozen=True, slots=True)
class ObservedMDE:
    """Thresholds of a collection; None where no difference with enough comparisons above it will do.

    `first` is the smallest difference that reaches the share, `stable` the smallest from which on every
    larger one with enough comparisons reaches it too. `curve` holds every different difference;
    `difference` (sizes) and `p_value` are those of the comparisons.
    """

    n: int
    n_significant: int
    median_difference: float
    first: Threshold | None
    stable: Threshold | None
    share: float
    fewest_above: int
    curve: tuple[Threshold, ...]
    difference: tuple[float, ...]
    p_value: tuple[float, ...]


def observed_mde(
    difference: ArrayLike,
    p_value: ArrayLike,
    *,
    alpha: float = 0.05,
    share: float = SHARE,
    fewest_above: int = FEWEST_ABOVE,
) -> ObservedMDE:
    """Thresholds above which a share of comparisons is significant at `alpha` (p < alpha).

    difference : (n,), observed differences; the sign does not matter. Comparisons with the same
        difference are on the same side of every threshold.
    fewest_above : comparisons that must lie at or above a threshold for it to count.
    """
    size, p = np.abs(np.asarray(difference, dtype=float)), np.asarray(p_value, dtype=float)
    if size.ndim != 1 or size.shape != p.shape or len(size) == 0:
        raise InputError("An observed MDE needs one difference and one p-value for each comparison.")
    if not (np.isfinite(size).all() and ((p >= 0) & (p <= 1)).all()):
        raise InputError("Differences must be finite numbers, and p-values lie between 0 and 1.")
    if not 0 < share < 1 or not 0 < alpha < 1 or fewest_above < 1:
        raise InputError("share and alpha lie between 0 and 1, and fewest_above is at least 1.")
    significant = p < alpha
    values, place = np.unique(size, return_inverse=True)
    n_at = np.bincount(place, minlength=len(values))
    significant_at = np.bincount(place, significant, len(values))
    above = np.cumsum(n_at[::-1])[::-1]
    significant_above = np.cumsum(significant_at[::-1])[::-1]
    curve = tuple(
        Threshold(float(value), int(n), int(hits))
        for value, n, hits in zip(values, above, significant_above, strict=True)
    )
    counted = [threshold for threshold in curve if threshold.n_above >= fewest_above]
    will_do = [threshold.rate >= share for threshold in counted]
    first = next((t for t, reached in zip(counted, will_do, strict=True) if reached), None)
    last_failing = max((place for place, reached in enumerate(will_do) if not reached), default=-1)
    stable = counted[last_failing + 1] if last_failing + 1 < len(counted) else None
    return ObservedMDE(
        n=len(size),
        n_significant=int((p < alpha).sum()),
        median_difference=float(np.median(size)),
        first=first,
        stable=stable,
        share=share,
        fewest_above=fewest_above,
        curve=curve,
        difference=tuple(size.tolist()),
        p_value=tuple(p.tolist()),
    )
