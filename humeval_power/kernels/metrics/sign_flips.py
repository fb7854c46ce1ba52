"""Random signs on the terms of many sums: how often a sum is as large as the one observed.

Eight terms at a time have 256 signed sums; one random byte picks one of them, so a flip of n terms costs
n / 8 additions. Random bits are those of SplitMix64 (Steele, Lea and Flood 2014), which passes BigCrush.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel

CLOSE = 1e-9  # of the sum of sizes: sums that differ by rounding alone are equal


@kernel
def extreme_flips(terms, seeds, n_flips):
    """For each row of `terms`, how many of `n_flips` random sign changes give |sum| >= |sum of the row|.

    terms : (rows, n). seeds : (rows,) unsigned 64-bit, one stream of random bits for each row.
    """
    rows, n = terms.shape
    values = np.zeros(rows, dtype=np.int64)
    table = np.empty(256)
    sums = np.empty(n_flips)
    for row in range(rows):
        state = seeds[row]
        observed, size = 0.0, 0.0
        for place in range(n):
            observed += terms[row, place]
            size += abs(terms[row, place])
        sums[:] = 0.0
        for begin in range(0, n, 8):
            _signed_sums(terms[row], begin, min(begin + 8, n), table)
            bits = np.uint64(0)
            for flip in range(n_flips):
                if flip % 8 == 0:
                    state += np.uint64(0x9E3779B97F4A7C15)
                    bits = _mixed(state)
                sums[flip] += table[np.int64(bits & np.uint64(255))]
                bits >>= np.uint64(8)
        limit = abs(observed) - CLOSE * size
        for flip in range(n_flips):
            if abs(sums[flip]) >= limit:
                values[row] += 1
    return values


@inner
def _signed_sums(terms, begin, end, table):
    """table[byte] = sum of terms[begin:end], each minus where its bit is set."""
    table[0] = 0.0
    for place in range(begin, end):
        table[0] += terms[place]
    for byte in range(1, 256):
        lowest = 0
        while not (byte >> lowest) & 1:
            lowest += 1
        before = table[byte & (byte - 1)]
        table[byte] = before - 2 * terms[begin + lowest] if begin + lowest < end else before


@inner
def _mixed(state):
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# Rank sums of many pairs of samples at once.

Floats = NDArray[np.float64]

_LAST_BIT = np.int64(1)


def mann_whitney_counts(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return U and the tie term of each pair of samples.

    Parameters
    ----------
    a, b : shape (replicates, n_a), (replicates, n_b); finite.

    Returns
    -------
    u : shape (replicates,), pairs in which b exceeds a, ties counted half.
    tie_term : shape (replicates,), the sum of t^3 - t over groups of t equal values.
    """
    n_a, n_b = a.shape[1], b.shape[1]
    n = n_a + n_b
    pooled = np.empty((len(a), n))
    np.add(a, 0.0, out=pooled[:, :n_a])  # turns -0.0 into 0.0, whose bits differ
    np.add(b, 0.0, out=pooled[:, n_a:])
    bits = pooled.view(np.int64)
    bits &= ~_LAST_BIT
    bits[:, n_a:] |= _LAST_BIT
    pooled.sort(axis=1)
    is_b = (bits & _LAST_BIT).astype(np.bool_)
    bits &= ~_LAST_BIT
    tied = np.flatnonzero((bits[:, 1:] == bits[:, :-1]).any(axis=1))
    place = np.arange(1, n + 1)
    rank_sum = is_b @ place.astype(np.float64)
    tie_term = np.zeros(len(a))
    if len(tied):
        rank_sum[tied], tie_term[tied] = _with_ties(bits[tied], is_b[tied])
    return rank_sum - n_b * (n_b + 1) / 2, tie_term


def _with_ties(ordered: NDArray[np.int64], is_b: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Rank sum of b with mid-ranks, and the tie term, of rows in increasing order."""
    rows, n = ordered.shape
    opens = np.ones((rows, n), dtype=np.bool_)
    opens[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    start = np.flatnonzero(opens.ravel())
    size = np.diff(np.append(start, rows * n)).astype(np.float64)
    row = start // n
    middle = start % n + (size + 1) / 2
    of_b = np.add.reduceat(is_b.ravel().astype(np.float64), start)
    return (
        np.bincount(row, middle * of_b, rows).astype(np.float64),
        np.bincount(row, size**3 - size, rows).astype(np.float64),
    )
