"""The tests that people really use on ratings of two systems, over many simulated studies at once.

None of them knows that the ratings of a worker, and those of an item, belong together in both ways;
what that costs is for `studies.power.calibration` to show. Agrees with scipy.stats to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.designs import Assignment, Codes
from humeval_power.inference.exact_comparison import rounded

Floats = NDArray[np.float64]
EXACT_UP_TO = 50  # pairs: beyond, scipy's Wilcoxon test takes the normal approximation too
_NO_SPREAD = 1e-24  # a variance of ratings on [0, 1] that is rounding alone


class TwoSided(NamedTuple):
    """Two-sided p-values, and the sign of the observed difference B - A; both of shape (replicates,).

    NaN marks a study in which the test has no answer, because its ratings are all alike.
    """

    p_value: Floats
    direction: Floats


@dataclass(frozen=True, slots=True)
class CommonTest:
    """A test as people name it: `run(responses, rows)` on ratings of shape (replicates, n_ratings) in
    the order of an assignment, where `is_defined(rows)`."""

    label: str
    run: Callable[[Floats, Assignment], TwoSided]
    is_defined: Callable[[Assignment], bool]


def t_test_on_item_means(responses: Floats, rows: Assignment) -> TwoSided:
    """Paired t test on the means of each item under A and B; items without both are left out."""
    return _one_sample_t(mean_differences(responses, rows.item, rows.system))


def t_test_on_worker_means(responses: Floats, rows: Assignment) -> TwoSided:
    """Paired t test on the means of each worker under A and B; workers without both are left out."""
    return _one_sample_t(mean_differences(responses, rows.worker, rows.system))


def t_test_on_ratings(responses: Floats, rows: Assignment) -> TwoSided:
    """Student's t test with pooled variance, as if all ratings were independent."""
    a, b = (responses[:, rows.system == system] for system in (0, 1))
    df = a.shape[1] + b.shape[1] - 2
    squares = sum(((part - part.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for part in (a, b))
    variance = squares / df * (1 / a.shape[1] + 1 / b.shape[1])
    return _student(b.mean(axis=1) - a.mean(axis=1), variance, df)


def mann_whitney_on_ratings(responses: Floats, rows: Assignment) -> TwoSided:
    """Mann-Whitney U (Wilcoxon rank sum) on all ratings as if they were independent: normal
    approximation with corrections for ties and continuity, as the large samples of a study get."""
    is_b = rows.system == 1
    n_b, n = int(is_b.sum()), len(is_b)
    n_a = n - n_b
    ranks = _ranked(rounded(responses, largest=1.0))
    rank_sum = np.where(is_b[ranks.order], ranks.rank, 0.0).sum(axis=1)
    excess = rank_sum - n_b * (n_b + 1) / 2 - n_a * n_b / 2
    variance = n_a * n_b / 12 * (n + 1 - ranks.tie_term / (n * (n - 1)))
    p_value = 2 * special.ndtr(-_ratio(np.abs(excess) - 0.5, variance))
    return TwoSided(np.minimum(p_value, 1.0), np.sign(excess))


def wilcoxon_on_item_means(responses: Floats, rows: Assignment) -> TwoSided:
    """Wilcoxon signed-rank test on the means of each item under A and B; equal means are dropped.

    Exact for a study of at most 50 items without ties or equal means, else the normal approximation
    with correction for ties and none for continuity: scipy's choices, but for its permutations with
    ties among at most 13 items.
    """
    difference = rounded(mean_differences(responses, rows.item, rows.system), largest=1.0)
    ranks = _ranked(np.abs(difference))
    n_zero = (difference == 0).sum(axis=1)
    n = difference.shape[1] - n_zero.astype(float)
    is_up = np.take_along_axis(difference, ranks.order, axis=1) > 0
    rank_sum = np.where(is_up, ranks.rank - n_zero[:, None], 0.0).sum(axis=1)
    excess = rank_sum - n * (n + 1) / 4
    tie_term = ranks.tie_term - (n_zero.astype(float) ** 3 - n_zero)
    variance = (n * (n + 1) * (2 * n + 1) - tie_term / 2) / 24
    p_value = 2 * special.ndtr(-_ratio(np.abs(excess), variance))
    exact = (ranks.tie_term == 0) & (n_zero == 0)
    if difference.shape[1] <= EXACT_UP_TO and exact.any():
        p_value[exact] = signed_rank_p(difference.shape[1])[rank_sum[exact].astype(np.int64)]
    return TwoSided(p_value, np.sign(excess))


def mean_differences(responses: Floats, group: Codes, system: Codes) -> Floats:
    """Mean under B minus mean under A, shape (replicates, groups that have both)."""
    from scipy import sparse

    kept, count = _groups_with_both(group, system)
    row = np.searchsorted(kept, group)
    used = np.flatnonzero(np.isin(group, kept))
    share = np.where(system == 1, 1.0, -1.0)[used] / count[system[used], group[used]]
    weights = sparse.csr_array((share, (row[used], used)), shape=(len(kept), len(group)))
    return np.asarray((weights @ responses.T).T)


@lru_cache(maxsize=64)
def signed_rank_p(n: int) -> Floats:
    """Exact two-sided p-value of each rank sum 0 to n (n + 1) / 2 of Wilcoxon's signed-rank test."""
    share = np.ones(1)
    for rank in range(1, n + 1):  # each rank is in the sum or not, with equal chances
        without, within = np.pad(share, (0, rank)), np.pad(share, (rank, 0))
        share = (without + within) / 2
    at_most = np.cumsum(share)
    return np.asarray(np.minimum(2 * np.minimum(at_most, at_most[::-1]), 1.0))


class _Ranked(NamedTuple):
    """Rows in increasing order: positions, mid-ranks, and the sum of t^3 - t over groups of t ties."""

    order: NDArray[np.int64]
    rank: Floats
    tie_term: Floats


def _ranked(values: Floats) -> _Ranked:
    n = values.shape[1]
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    place = np.arange(n)
    starts = np.ones(values.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if starts.all():
        return _Ranked(order, np.broadcast_to(place + 1.0, values.shape), np.zeros(len(values)))
    ends = np.ones_like(starts)
    ends[:, :-1] = starts[:, 1:]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, place, n)[:, ::-1], axis=1)[:, ::-1]
    size = last - first + 1.0
    return _Ranked(order, (first + last) / 2 + 1, (size**2 - 1).sum(axis=1))


def _one_sample_t(difference: Floats) -> TwoSided:
    n = difference.shape[1]
    return _student(difference.mean(axis=1), difference.var(axis=1, ddof=1) / n, n - 1)


def _student(difference: Floats, variance: Floats, df: int) -> TwoSided:
    variance = np.where(variance > _NO_SPREAD, variance, 0.0)
    p_value = 2 * special.stdtr(df, -np.abs(_ratio(difference, variance)))
    return TwoSided(p_value, np.sign(difference))


def _ratio(difference: Floats, variance: Floats) -> Floats:
    """In standard errors; NaN without variance."""
    return difference / np.sqrt(np.where(variance > 0, variance, np.nan))


def _groups_with_both(group: Codes, system: Codes) -> tuple[Codes, Codes]:
    """Codes of the groups seen under both systems, and ratings (systems, groups)."""
    n_groups = int(group.max()) + 1
    count = np.stack([np.bincount(group[system == s], minlength=n_groups) for s in (0, 1)])
    return np.flatnonzero(count.min(axis=0) > 0), count


def _has_paired_items(rows: Assignment) -> bool:
    return len(_groups_with_both(rows.item, rows.system)[0]) >= 2


def _has_paired_workers(rows: Assignment) -> bool:
    return len(_groups_with_both(rows.worker, rows.system)[0]) >= 2


def _has_both_systems(rows: Assignment) -> bool:
    return len(rows.system) >= 3 and len(np.unique(rows.system)) == 2


COMMON_TESTS: Mapping[str, CommonTest] = {
    "item-means-t": CommonTest("Paired t, item means", t_test_on_item_means, _has_paired_items),
    "ratings-t": CommonTest("t, all ratings", t_test_on_ratings, _has_both_systems),
    "worker-means-t": CommonTest("Paired t, worker means", t_test_on_worker_means, _has_paired_workers),
    "mann-whitney": CommonTest("Mann-Whitney U, all ratings", mann_whitney_on_ratings, _has_both_systems),
    "wilcoxon": CommonTest("Wilcoxon, item means", wilcoxon_on_item_means, _has_paired_items),
}
