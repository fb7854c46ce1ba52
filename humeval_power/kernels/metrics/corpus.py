"""BLEU and chrF of whole corpora from summed counts, for many corpora at once.

A row of counts is what sacreBLEU keeps of a corpus: for BLEU the lengths of output and reference, the
matched n-grams (4 orders) and all n-grams (4 orders); for chrF the n-grams of output, of reference, and in
both, order after order. Counts of sentences add up to those of a corpus.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel

Floats = NDArray[np.float64]
ORDERS = 4
BETA = 2  # of chrF: recall counts twice as much as precision


def bleu(counts: Floats) -> Floats:
    """BLEU, 0 to 100, with exponential smoothing (Papineni et al. 2002; NIST's mteval).

    counts : shape (..., 10), hypothesis length, reference length, 4 matches, 4 totals. Returns shape (...).
    """
    length, reference = counts[..., 0], counts[..., 1]
    matched, total = counts[..., 2 : 2 + ORDERS], counts[..., 2 + ORDERS :]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Each further order without a match counts as half as much of one match.
        halved = 2.0 ** np.cumsum(matched == 0, axis=-1)
        share = np.where(matched == 0, 1 / halved, matched) / total
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        score = 100 * brevity * np.exp(np.log(share).mean(axis=-1))
    return np.asarray(np.where((matched[..., 0] > 0) & (total > 0).all(axis=-1), score, 0.0))


def chrf(counts: Floats) -> Floats:
    """chrF, 0 to 100 (Popovic 2015): F-score of the average precision and recall over orders.

    counts : shape (..., 3 k), for each of k orders the n-grams of hypothesis, of reference, and matched;
    orders that either side lacks are left out. Returns shape (...).
    """
    output, reference, matched = counts[..., 0::3], counts[..., 1::3], counts[..., 2::3]
    present = (output > 0) & (reference > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(present, matched / output, 0.0).sum(axis=-1) / orders
        recall = np.where(present, matched / reference, 0.0).sum(axis=-1) / orders
        score = 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
    return np.asarray(np.where(precision + recall > 0, score, 0.0))


# Resampling of items: how often each is drawn, medians of resamples, and order statistics of pair means.

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
    values = np.empty(counts.shape[0])
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
        values[row] = (below + ordered[place]) / 2
    return values


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
    smallest, last, n = np.inf, ordered.shape[0] - 1, ordered.shape[0]
    for first in range(n):
        while last >= first and ordered[first] + ordered[last] > total:
            last -= 1
        place = max(last + 1, first)
        if place < n and ordered[first] + ordered[place] < smallest:
            smallest = ordered[first] + ordered[place]
    return smallest


@kernel
def hodges_lehmann_rows(ordered):
    """Median of the pair means of each row, shape (rows,); rows of `ordered` (rows, n) in rising order."""
    n = ordered.shape[1]
    n_pairs = n * (n + 1) // 2
    values = np.empty(ordered.shape[0])
    for row in range(ordered.shape[0]):
        low = pair_mean(ordered[row], (n_pairs + 1) // 2)
        values[row] = low if n_pairs % 2 == 1 else (low + pair_mean(ordered[row], n_pairs // 2 + 1)) / 2
    return values
