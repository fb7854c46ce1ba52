"""Resampling of items: how often each is drawn, medians of resamples, and order statistics of pair means.

The sums of a resample are its counts times the values, so one matrix product serves every column at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel

Floats = NDArray[np.float64]

_COUNTED_BY_NUMPY = 1000  # items up to which it counts as fast as compiled code, which must be loaded


def drawn_counts(rng: np.random.Generator, n_items: int, n_resamples: int) -> Floats:
    """How often each item is in each resample of `n_items` draws, shape (n_resamples, n_items)."""
    index = rng.integers(n_items, size=(n_resamples, n_items))
    if n_items <= _COUNTED_BY_NUMPY:
        index += n_items * np.arange(n_resamples)[:, None]
        counted = np.bincount(index.ravel(), minlength=n_items * n_resamples)
        return counted.reshape(n_resamples, n_items).astype(np.float64)
    counts = np.zeros((n_resamples, n_items))
    _count(index, counts)
    return counts


def drawn_signs(rng: np.random.Generator, n_items: int, n_resamples: int) -> Floats:
    """Fair signs, -1 or +1, shape (n_resamples, n_items)."""
    bits = np.unpackbits(
        rng.integers(256, size=(n_resamples, -(-n_items // 8)), dtype=np.uint8), axis=1, count=n_items
    )
    return np.asarray(2.0 * bits - 1.0)


@kernel
def _count(index, counts):
    for row in range(index.shape[0]):
        for place in range(index.shape[1]):
            counts[row, index[row, place]] += 1.0


@kernel
def resample_medians(counts, ordered):
    """Median of each resample.

    counts : (n_resamples, n_items), how often each item is drawn, columns in the order of `ordered`; whole
        clusters make resamples of different sizes.
    ordered : (n_items,), the values in rising order.
    """
    found = np.empty(counts.shape[0])
    for row in range(counts.shape[0]):
        n = int(counts[row].sum())
        lower, upper = (n + 1) // 2, n // 2 + 1
        seen, place = 0.0, -1
        while seen < lower:
            place += 1
            seen += counts[row, place]
        below = ordered[place]
        while seen < upper:
            place += 1
            seen += counts[row, place]
        found[row] = (below + ordered[place]) / 2
    return found


@kernel
def pair_mean(ordered, rank):
    """The pair mean (w_i + w_j) / 2, i <= j, that has this rank (from 1) among all n (n + 1) / 2.

    ordered : (n,), in rising order. The pair means are never listed: a bisection counts them.
    """
    low, high = 2.0 * ordered[0], 2.0 * ordered[-1]
    if _pairs_up_to(ordered, low) >= rank:
        return ordered[0]
    close = 1e-12 * (high - low)
    while high - low > close:
        middle = low + (high - low) / 2
        if _pairs_up_to(ordered, middle) >= rank:
            high = middle
        else:
            low = middle
    while True:  # the few sums that are left between low and high, one by one
        low = _next_sum(ordered, low)
        if _pairs_up_to(ordered, low) >= rank:
            return low / 2


@inner
def _pairs_up_to(ordered, total):
    """Number of pairs i <= j with w_i + w_j <= total."""
    count, last = 0, ordered.shape[0] - 1
    for first in range(ordered.shape[0]):
        while last >= first and ordered[first] + ordered[last] > total:
            last -= 1
        if last < first:
            break
        count += last - first + 1
    return count


@inner
def _next_sum(ordered, total):
    """The smallest w_i + w_j, i <= j, above total; infinite where there is none."""
    found, last, n = np.inf, ordered.shape[0] - 1, ordered.shape[0]
    for first in range(n):
        while last >= first and ordered[first] + ordered[last] > total:
            last -= 1
        place = max(last + 1, first)
        if place < n and ordered[first] + ordered[place] < found:
            found = ordered[first] + ordered[place]
    return found


@kernel
def hodges_lehmann_rows(ordered):
    """Median of the pair means of each row, shape (rows,); rows of `ordered` (rows, n) in rising order."""
    n = ordered.shape[1]
    n_pairs = n * (n + 1) // 2
    found = np.empty(ordered.shape[0])
    for row in range(ordered.shape[0]):
        low = pair_mean(ordered[row], (n_pairs + 1) // 2)
        found[row] = low if n_pairs % 2 == 1 else (low + pair_mean(ordered[row], n_pairs // 2 + 1)) / 2
    return found
